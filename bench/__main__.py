"""Runs the rows and prints the table."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.measure import Pair, compare
from bench.rows import Row, rows
from bench.workload import ORDERS, Side

DEPTHS = (10, 16)
PAIRS = 11

# A copy of this process has both packages, and a heap that held no program yet.
FORK = multiprocessing.get_context("fork")


def load_sides() -> tuple[Side, Side]:
    """Import both packages and declare the node types with each."""
    import tvm_ffi
    import tvm_ffi.dataclasses

    import isoform
    import isoform.dataclasses

    ours = Side("isoform", isoform, isoform.dataclasses)
    theirs = Side("tvm-ffi", complete(tvm_ffi), tvm_ffi.dataclasses)
    return ours, theirs


def complete(module: ModuleType) -> ModuleType:
    """Import the parts of the peer that it does not import by itself."""
    __import__(f"{module.__name__}.serialization")
    return module


def measure(row: Row, ours: Side, theirs: Side, pairs: int) -> Pair | str:
    """Measure one row; text says why there is no figure."""
    name = ours.name
    try:
        our_side = row.make(ours)
        name = theirs.name
        their_side = row.plain() if row.plain is not None else row.make(theirs)
    except (AttributeError, TypeError) as error:
        return f"{name}: {error}"
    return compare(our_side, their_side, row.units, pairs=pairs)


def measure_apart(row: Row, ours: Side, theirs: Side, pairs: int) -> Pair | str:
    """Measure one row in a process of its own.

    A heap that held another program gives its blocks out again in the order in
    which they were freed, and a walk then waits for memory.
    """
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=lambda: sender.send(measure(row, ours, theirs, pairs)))
    process.start()
    sender.close()
    try:
        result: Pair | str = receiver.recv()
    except EOFError:
        process.join()
        return f"the process ended with status {process.exitcode}"
    process.join()
    return result


def number(value: float) -> str:
    """Write a time with two digits that mean something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def line(row: Row, result: Pair | str) -> str:
    """Write one row of the table."""
    if isinstance(result, str):
        return f"| {row.title} | - | - | - |"
    return (
        f"| {row.title} | {number(result.ours)} | {number(result.theirs)} "
        f"| **{result.ratio:.1f}** |"
    )


def by_order(results: list[tuple[Row, Pair | str]]) -> list[str]:
    """Write a table with a column for each order of construction."""
    figures: dict[str, dict[str, str]] = {}
    for row, result in results:
        if row.order is None:
            continue
        cell = "-"
        if isinstance(result, Pair):
            times = f"{number(result.ours)} / {number(result.theirs)}"
            cell = f"{times}, **{result.ratio:.1f}**"
        figures.setdefault(row.name, {})[row.order] = cell
    lines = ["| figure | " + " | ".join(ORDERS) + " |", "|---|" + "---:|" * len(ORDERS)]
    for name, cells in figures.items():
        lines.append(f"| {name} | " + " | ".join(cells.get(order, "") for order in ORDERS) + " |")
    return lines


def machine() -> str:
    """Say what the figures were measured on, without names of machines."""
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        for text in info.read_text(encoding="utf-8").splitlines():
            if text.startswith("model name"):
                model = text.partition(":")[2].strip()
                break
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    )


def report(ours: Side, theirs: Side, results: list[tuple[Row, Pair | str]]) -> str:
    """Write the whole page."""
    versions = [(side.name, side.module.__version__) for side in (ours, theirs)]
    header = "| figure | isoform, ns | {}, ns | ratio |\n|---|---:|---:|---:|"
    against: dict[str, list[str]] = {"tvm-ffi": [], "dataclass": []}
    for row, result in results:
        if row.order is None:
            against["dataclass" if row.plain else "tvm-ffi"].append(line(row, result))
    text = [
        "# Isoform beside its peers",
        "",
        "Written by `make bench-python`.",
        "Figures of workload W (`fun x -> sum`, a balanced tree of depth *d*) are per node, the others per call.",
        "The sides of a row ran alternately in a process of their own; the ratio is the median over the pairs, and more is better.",
        "Absolute times do not carry over to another machine.",
        "",
        f"Measured on {machine()}, " + ", ".join(f"{n} {v}" for n, v in versions) + ".",
        "",
        "## Beside tvm-ffi",
        "",
        header.format("tvm-ffi"),
        *against["tvm-ffi"],
        "",
        "## By the order of construction",
        "",
        "Where the nodes lie in memory decides how long a walk waits for them.",
        "Each cell has the times of isoform and tvm-ffi in ns, and the ratio; both sides are built alike.",
        "All other figures are of programs built children first.",
        "",
        *by_order(results),
        "",
        "## Beside a dataclass with slots",
        "",
        "It neither converts nor checks what it is given, and can do none of the above.",
        "",
        header.format("dataclass"),
        *against["dataclass"],
    ]
    return "\n".join(text) + "\n"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--quick", action="store_true", help="small programs, few pairs")
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--markdown", type=Path, help="store the page in this file")
    args = parser.parse_args()
    try:
        ours, theirs = load_sides()
    except ImportError as error:
        print(f"bench: {error}; run `make bench-python`", file=sys.stderr)
        return 2
    results: list[tuple[Row, Pair | str]] = []
    depths: Any = DEPTHS[:1] if args.quick else DEPTHS
    for row in rows(depths):
        if args.only not in row.title:
            continue
        result = measure_apart(row, ours, theirs, 3 if args.quick else PAIRS)
        results.append((row, result))
        print(line(row, result), flush=True)
        if isinstance(result, str):
            print(f"bench: {row.title}: {result}", file=sys.stderr)
    if args.markdown is not None:
        args.markdown.write_text(report(ours, theirs, results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
