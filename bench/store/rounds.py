"""Rounds in which all sides do the same work in turn."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter_ns

# Does a number of calls with fresh inputs, and returns the nanoseconds that they took.
Batch = Callable[[int], int]


@dataclass(frozen=True)
class Row:
    """A workload: the side, its median time, and the median of the ratios to the first side."""

    side: str
    nanoseconds: float
    ratio: float


def alternately(sides: Sequence[tuple[str, Batch]], calls: int, *, rounds: int) -> list[Row]:
    """Time all sides in turn, `rounds` times; the first side is the one that is compared."""
    for _, batch in sides:
        # The first calls make folders and open connections.
        batch(min(calls, 10))
    samples: list[list[float]] = []
    gc.collect()
    for turn in range(rounds):
        sample = [0.0] * len(sides)
        order = list(enumerate(sides))
        # The first side changes, to share the advantage of warm caches.
        for position, (_, batch) in order if turn % 2 == 0 else reversed(order):
            sample[position] = batch(calls) / calls
        samples.append(sample)
    return [
        Row(
            name,
            statistics.median(sample[position] for sample in samples),
            statistics.median(sample[position] / sample[0] for sample in samples),
        )
        for position, (name, _) in enumerate(sides)
    ]


def timed(call: Callable[[], object], calls: int) -> int:
    """Return the nanoseconds of repeated calls."""
    start = perf_counter_ns()
    for _ in range(calls):
        call()
    return perf_counter_ns() - start
