"""Timing a tool beside Isoform, where one call takes from microseconds to a minute."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable
from typing import Any

from bench.measure import BATCH_NS, Pair, Timed, calls_for, elapsed, loop

PAIRS = 11
# A comparison lasts about this long; a call that takes longer is measured once.
BUDGET_NS = 6_000_000_000


def alone(body: Callable[[], Any], *, turns: int = PAIRS) -> float:
    """Return the median time of a call in nanoseconds."""
    run = loop(body)
    calls = calls_for(run, BATCH_NS)
    gc.collect()
    return statistics.median(elapsed(run, calls) / calls for _ in range(turns))


def beside(ours: Callable[[], Any], theirs: Callable[[], Any], *, pairs: int = PAIRS) -> Pair:
    """Time both alternately; times are nanoseconds per call."""
    our_run, their_run = loop(ours), loop(theirs)
    our_calls = calls_for(our_run, BATCH_NS)
    gc.collect()
    first = elapsed(their_run, 1)
    if first > BUDGET_NS / 3:
        # Too long for what a first call does in addition to matter.
        times = [(per_call(our_run, our_calls), float(first))]
    else:
        their_calls = calls_for(their_run, BATCH_NS)
        pairs = max(3, min(pairs, BUDGET_NS // max(first, 1)))
        times = []
        for turn in range(pairs):
            # Who goes first changes, so that neither inherits the other's caches.
            if turn % 2 == 0:
                one = per_call(our_run, our_calls)
                times.append((one, per_call(their_run, their_calls)))
            else:
                other = per_call(their_run, their_calls)
                times.append((per_call(our_run, our_calls), other))
    return Pair(
        statistics.median(ours for ours, _ in times),
        statistics.median(theirs for _, theirs in times),
        statistics.median(theirs / ours for ours, theirs in times),
    )


def per_call(run: Timed, calls: int) -> float:
    """Return the nanoseconds of one call among so many."""
    return elapsed(run, calls) / calls
