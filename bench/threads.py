"""Times of single operations in one thread, and of several threads that share a processor.

`python -m bench.threads` measures the installed package in this interpreter. With
`--against PYTHON`, an interpreter that has the package, too, both run alternately in
processes of their own, and the table has the ratio of their times: that of a free-threaded
Python to one of the same version with a GIL, say.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

from .measure import alone, loop

TURNS = 7
SIDES = 3
# Calls in each thread of the second part.
ROUNDS = 40


def operations() -> dict[str, Callable[[], Any]]:
    """Return what is measured, by name."""
    from isoform import (
        List,
        Object,
        structural_equal,
        structural_hash,
        structural_map,
        structural_walk,
    )
    from isoform.dataclasses import py_class

    @py_class("bench.threads.Leaf")
    class Leaf(Object):
        v: int = 0

    @py_class("bench.threads.Pair")
    class Pair(Object):
        lhs: Any
        rhs: Any

    def tree(depth: int) -> Any:
        return Leaf(depth) if depth == 0 else Pair(tree(depth - 1), tree(depth - 1))

    small, left, right = Pair(Leaf(1), Leaf(2)), tree(12), tree(12)
    kept = small.lhs
    items = List(range(1000))

    def write() -> None:
        small.rhs = kept

    def change() -> None:
        items[1] = 3

    def pass_by(_leaf: Any) -> None:
        pass

    return {
        "make a node of two fields": lambda: Pair(1, 2),
        "read a field: a node whose Python object exists": lambda: small.lhs,
        "read a field: a node whose Python object is made": lambda: right.rhs,
        "read a field: a number": lambda: kept.v,
        "write a field": write,
        "write an element of a `List`": change,
        "compare two leaves": lambda: structural_equal(kept, kept),
        "hash a leaf": lambda: structural_hash(kept),
        "compare two trees of 8,191 nodes": lambda: structural_equal(left, right),
        "hash a tree of 8,191 nodes": lambda: structural_hash(left),
        "walk over 8,191 nodes with 4,096 callbacks": lambda: structural_walk(
            left, (Leaf, pass_by)
        ),
        "rewrite 4,096 of 8,191 nodes": lambda: structural_map(left, (Leaf, lambda leaf: leaf)),
    }


def speedup(work: Callable[[], Any], threads: int) -> float:
    """Return how much more work per second several threads do than one."""

    def seconds(count: int) -> float:
        barrier = threading.Barrier(count + 1)

        def run() -> None:
            barrier.wait()
            for _ in range(ROUNDS):
                work()

        running = [threading.Thread(target=run) for _ in range(count)]
        for thread in running:
            thread.start()
        barrier.wait()
        start = perf_counter()
        for thread in running:
            thread.join()
        return perf_counter() - start

    ratios = [threads * seconds(1) / seconds(threads) for _ in range(3)]
    return statistics.median(ratios)


def measured(threads: int) -> dict[str, Any]:
    """Return nanoseconds per call, and speedups of the long operations."""
    found = operations()
    times = {name: alone(loop(body), 1, turns=TURNS) for name, body in found.items()}
    long = [name for name, taken in times.items() if taken > 100_000]
    return {
        "python": sys.version.split()[0],
        "gil": getattr(sys, "_is_gil_enabled", lambda: True)(),
        "times": times,
        "speedups": {name: speedup(found[name], threads) for name in long},
    }


def in_process(python: str, threads: int) -> dict[str, Any]:
    """Measure in a new process of an interpreter."""
    command = [python, "-m", "bench.threads", "--json", "--threads", str(threads)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    """Return the medians as a table of Markdown."""
    head = "| operation | time |" if not theirs else "| operation | time | other | ratio |"
    lines = [head, "|---" * (head.count("|") - 1) + "|"]

    def median(side: list[dict[str, Any]], name: str) -> float:
        return statistics.median(one["times"][name] for one in side)

    for name in ours[0]["times"]:
        time = median(ours, name)
        cells = [name, f"{time:,.0f} ns"]
        if theirs:
            other = median(theirs, name)
            cells += [f"{other:,.0f} ns", f"{time / other:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    for side in (ours, theirs):
        for name in side[0]["speedups"] if side else ():
            gain = statistics.median(one["speedups"][name] for one in side)
            kind = "with a GIL" if side[0]["gil"] else "without a GIL"
            lines.append(f"{name}, {kind}, in several threads: {gain:.2f} times the work")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", metavar="PYTHON", help="another interpreter")
    parser.add_argument("--threads", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--json", action="store_true", help="print the measurements as JSON")
    given = parser.parse_args()
    if given.json:
        print(json.dumps(measured(given.threads)))
        return
    ours: list[dict[str, Any]] = []
    theirs: list[dict[str, Any]] = []
    for _ in range(SIDES if given.against else 1):
        ours.append(in_process(sys.executable, given.threads))
        if given.against:
            theirs.append(in_process(given.against, given.threads))
    print(table(ours, theirs))


if __name__ == "__main__":
    main()
