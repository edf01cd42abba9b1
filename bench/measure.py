"""Timing two functions alternately."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns

# The duration of a timed batch; long enough to make the cost of the clock negligible.
BATCH_NS = 10_000_000
MAX_CALLS = 200_000

Timed = Callable[[int], object]


@dataclass(frozen=True)
class Pair:
    """The result of one comparison: times per unit, and the median of the ratios."""

    ours: float
    theirs: float
    ratio: float


def loop(body: Callable[[], object]) -> Timed:
    """Return a function that calls `body` a given number of times.

    The time includes dropping the results after every call.
    """

    def run(calls: int) -> None:
        for _ in range(calls):
            body()

    return run


def calls_for(run: Timed, budget: int) -> int:
    """Return how many calls fill a batch."""
    calls = 1
    while True:
        taken = elapsed(run, calls)
        if taken * 2 >= budget or calls >= MAX_CALLS:
            return max(1, min(MAX_CALLS, round(calls * budget / max(taken, 1))))
        calls *= 4


def elapsed(run: Timed, calls: int) -> int:
    """Return the time of the calls in nanoseconds."""
    start = perf_counter_ns()
    run(calls)
    return perf_counter_ns() - start


def alone(run: Timed, units: int, *, turns: int) -> float:
    """Return the median time of one function per unit of a call."""
    calls = calls_for(run, BATCH_NS)
    gc.collect()
    return statistics.median(elapsed(run, calls) / (calls * units) for _ in range(turns))


def compare(ours: Timed, theirs: Timed, units: int, *, pairs: int) -> Pair:
    """Time both, alternately, `pairs` times; times are per unit of one call."""
    batch = BATCH_NS
    our_calls, their_calls = calls_for(ours, batch), calls_for(theirs, batch)
    our_times: list[float] = []
    their_times: list[float] = []
    gc.collect()
    for turn in range(pairs):
        # The first side changes, to share the advantage of warm caches.
        sides = [(ours, our_calls, our_times), (theirs, their_calls, their_times)]
        for run, calls, times in sides if turn % 2 == 0 else reversed(sides):
            times.append(elapsed(run, calls) / (calls * units))
    ratios = [theirs / ours for ours, theirs in zip(our_times, their_times, strict=True)]
    return Pair(
        statistics.median(our_times), statistics.median(their_times), statistics.median(ratios)
    )
