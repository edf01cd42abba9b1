"""Runs the rows and prints the table."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.measure import Pair, Timed, alone, compare
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
    """Import the remaining parts of the peer."""
    __import__(f"{module.__name__}.serialization")
    return module


@dataclass
class Figures:
    """The figures of a row; a text gives the reason for a missing figure."""

    row: Row
    # Beside the peer, or beside another figure of ours; alone, if there is neither.
    main: Pair | float | str
    plain: Pair | str | None = None


def measure(row: Row, ours: Side, theirs: Side, pairs: int) -> Figures:
    """Measure one row."""

    def our_side() -> Timed:
        return row.make(ours)

    def paired(name: str, make: Callable[[], Timed]) -> Pair | str:
        return apart(name, lambda: compare(our_side(), make(), row.units, pairs=pairs))

    main: Pair | float | str
    if row.beside is not None:
        other = row.beside[1]
        main = paired(row.beside[0], lambda: other(ours))
    elif row.has_peer:
        main = paired(theirs.name, lambda: row.make(theirs))
    else:
        main = apart("alone", lambda: alone(our_side(), row.units, turns=pairs))
    return Figures(row, main, None if row.plain is None else paired("dataclass", row.plain))


def apart(name: str, body: Callable[[], Any]) -> Any:
    """Measure a function in a separate process.

    A heap that held another program hands out its blocks in the order of their release,
    and a walk then waits for memory.
    """

    def run() -> None:
        try:
            sender.send(body())
        except (AttributeError, TypeError) as error:
            sender.send(f"beside {name}: {error}")

    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=run)
    process.start()
    sender.close()
    try:
        result = receiver.recv()
    except EOFError:
        process.join()
        return f"beside {name}: the process ended with status {process.exitcode}"
    process.join()
    return result


def number(value: float) -> str:
    """Write a time with two significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def cells(main: Pair | float | str | None) -> tuple[str, str, str]:
    """Write our time, the time of the other side, and the ratio."""
    if isinstance(main, Pair):
        return number(main.ours), number(main.theirs), f"**{main.ratio:.1f}**"
    if isinstance(main, float):
        return number(main), "", ""
    return ("", "", "") if main is None else ("-", "-", "-")


def line(figures: Figures) -> str:
    """Write one row of the table, beside the figures of peers."""
    ours, theirs, ratio = cells(figures.main)
    _, plain, plain_ratio = cells(figures.plain)
    columns = (figures.row.title, ours, theirs, ratio, plain, plain_ratio)
    return "| " + " | ".join(columns) + " |"


def line_beside(figures: Figures) -> str:
    """Write one row of the table, beside our own figures."""
    ours, other, _ = cells(figures.main)
    name = figures.row.beside[0] if figures.row.beside else ""
    times = "-"
    if isinstance(figures.main, Pair):
        times = f"**{1 / figures.main.ratio:.1f}**"
    return f"| {figures.row.title} | {ours} | {name} | {other} | {times} |"


def by_order(results: list[Figures]) -> list[str]:
    """Write a table with a column for each order of construction."""
    table: dict[str, dict[str, str]] = {}
    for figures in results:
        order = figures.row.order
        if order is None:
            continue
        ours, theirs, ratio = cells(figures.main)
        cell = f"{ours} / {theirs}, {ratio}" if ratio else ours
        table.setdefault(figures.row.name, {})[order] = cell
    lines = ["| figure | " + " | ".join(ORDERS) + " |", "|---|" + "---:|" * len(ORDERS)]
    for name, found in table.items():
        lines.append(f"| {name} | " + " | ".join(found.get(order, "") for order in ORDERS) + " |")
    return lines


def machine() -> str:
    """Describe the machine of the measurements, without its name."""
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


def report(ours: Side, theirs: Side, results: list[Figures]) -> str:
    """Write the whole page."""
    versions = [(side.name, side.module.__version__) for side in (ours, theirs)]
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
        "## Beside tvm-ffi and dataclasses",
        "",
        "A dataclass with slots neither converts nor checks what it is given.",
        "Cells are empty where a side has nothing like it; text is beside the `repr` of a dataclass.",
        "",
        "| figure | isoform, ns | tvm-ffi, ns | ratio | dataclass, ns | ratio |",
        "|---|---:|---:|---:|---:|---:|",
        *(line(figures) for figures in results if is_main(figures.row)),
        "",
        "## By the order of construction",
        "",
        "Where the nodes lie in memory decides how long a walk waits for them.",
        "Each cell has the times of isoform and tvm-ffi in ns, and the ratio; both sides are built alike.",
        "All other figures are of programs built children first.",
        "",
        *by_order(results),
        "",
        "## Beside other figures of Isoform",
        "",
        "How many times as long one figure takes as another: less is better.",
        "",
        "| figure | ns | beside | ns | times |",
        "|---|---:|---|---:|---:|",
        *(line_beside(figures) for figures in results if figures.row.beside is not None),
    ]
    return "\n".join(text) + "\n"


def is_main(row: Row) -> bool:
    """Tell whether a row belongs to the first table."""
    return row.order is None and row.beside is None


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
    results: list[Figures] = []
    depths: Any = DEPTHS[:1] if args.quick else DEPTHS
    for row in rows(depths):
        if args.only not in row.title:
            continue
        figures = measure(row, ours, theirs, 3 if args.quick else PAIRS)
        results.append(figures)
        print(line(figures) if row.beside is None else line_beside(figures), flush=True)
        for why in (figures.main, figures.plain):
            if isinstance(why, str):
                print(f"bench: {row.title}: {why}", file=sys.stderr)
    if args.markdown is not None:
        args.markdown.write_text(report(ours, theirs, results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
