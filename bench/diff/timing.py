"""Timing a tool beside Isoform, where one call takes from microseconds to a minute."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from bench.measure import BATCH_NS, Pair, Timed, calls_for, elapsed, loop

PAIRS = 11
# A row lasts about this long; a call that takes longer is measured once.
BUDGET_NS = 6_000_000_000

Body = Callable[[], Any]


def alone(body: Body, *, turns: int = PAIRS) -> float:
    """Return the median time of a call in nanoseconds."""
    run = loop(body)
    calls = calls_for(run, BATCH_NS)
    gc.collect()
    return statistics.median(per_call(run, calls) for _ in range(turns))


def beside(ours: Sequence[Body], theirs: Body, *, pairs: int = PAIRS) -> list[Pair]:
    """Time all in turn, and return each of ours beside theirs, in nanoseconds per call."""
    runs = [loop(body) for body in ours]
    calls = [calls_for(run, BATCH_NS) for run in runs]
    their_run = loop(theirs)
    gc.collect()
    first = elapsed(their_run, 1)
    samples: list[list[float]] = []
    if first > BUDGET_NS / 3:
        # Too long for a second time, and for what only a first call does to matter.
        for _ in range(pairs):
            ours_now = [per_call(*each) for each in zip(runs, calls, strict=True)]
            samples.append([*ours_now, float(first)])
    else:
        runs.append(their_run)
        calls.append(calls_for(their_run, BATCH_NS))
        sides = list(enumerate(zip(runs, calls, strict=True)))
        for turn in range(max(3, min(pairs, BUDGET_NS // max(first, 1)))):
            sample = [0.0] * len(runs)
            # The first side changes, to share the advantage of warm caches.
            for side, each in sides if turn % 2 == 0 else reversed(sides):
                sample[side] = per_call(*each)
            samples.append(sample)
    return [
        Pair(
            statistics.median(sample[side] for sample in samples),
            statistics.median(sample[-1] for sample in samples),
            statistics.median(sample[-1] / sample[side] for sample in samples),
        )
        for side in range(len(ours))
    ]


def per_call(run: Timed, calls: int) -> float:
    """Return the nanoseconds of one call out of `calls` calls."""
    return elapsed(run, calls) / calls
