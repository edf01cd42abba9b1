"""Runs all rows and prints the tables."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.__main__ import machine
from bench.diff import documents, models
from bench.diff.timing import alone, beside
from bench.diff.tools import Ours, Tool, tools

# The required speed of Isoform as a multiple of onnx-diff.
MODEL_TARGET = 500

DOCUMENT_HEAD = (
    "nodes",
    "beside",
    "isoform, µs",
    "the other, µs",
    "ratio",
    "ratio with conversion",
    "target",
    "patch, bytes",
    "its patch",
    "apply, µs",
    "it applies, µs",
)
MODEL_HEAD = ("nodes", "isoform as", "isoform, ms", "onnx-diff, ms", "ratio", "target", "changes")


def micro(nanoseconds: float) -> str:
    """Write a time in microseconds."""
    value = nanoseconds / 1_000
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def milli(nanoseconds: float) -> str:
    """Write a time in milliseconds."""
    return micro(nanoseconds / 1_000)


def times(ratio: float, target: float | None) -> str:
    """Write a ratio, in bold if it reaches its target."""
    text = f"{ratio:,.1f}" if ratio < 100 else f"{ratio:,.0f}"
    return f"**{text}**" if target is not None and ratio >= target else text


def document_rows(records: int, tool: Tool, pairs: int) -> list[str]:
    """Compare both sides on one document, with verified patches."""
    left = documents.document(records)
    right = documents.edited(left)
    ours = Ours(left, right)
    our_patch = ours.patch_of(ours.diff())
    made: list[Any] = []

    def theirs() -> None:
        made[:] = [tool.diff(left, right)]

    main, with_conversion = beside([ours.diff, ours.diff_of_documents], theirs, pairs=pairs)
    our_apply, their_size, their_apply = alone(lambda: ours.apply(our_patch)), "", ""
    if tool.size is not None:
        their_size = f"{tool.size(made[0]):,}"
    if tool.apply is not None:
        their_apply = micro(check_and_time(tool, made[0], left, right))
    return [
        f"{documents.nodes(left):,}",
        tool.name,
        micro(main.ours),
        micro(main.theirs),
        times(main.ratio, tool.target),
        times(with_conversion.ratio, tool.target),
        "" if tool.target is None else f"{tool.target:.0f}",
        f"{len(our_patch.to_json()):,}",
        their_size,
        micro(our_apply),
        their_apply,
    ]


def check_and_time(tool: Tool, patch: Any, left: Any, right: Any) -> float:
    """Apply the patch of a tool, check the patched document, and take the time."""
    assert tool.apply is not None
    apply = tool.apply
    original = documents.document(len(left["records"]))
    if apply(patch, left) != right:
        raise AssertionError(f"the patch of {tool.name} leads elsewhere")
    if left != original:
        raise AssertionError(f"{tool.name} changed the document that it was given")
    return alone(lambda: apply(patch, left))


def model_rows(folder: Path, nodes: int, command: str | None, pairs: int) -> list[list[str]]:
    """Compare the library and the command with onnx-diff on one pair of models."""
    paths = models.write_models(folder, nodes)
    sides: dict[str, Callable[[], Any]] = {"library": lambda: models.by_library(paths)}
    if command is not None:
        sides["command"] = lambda: models.by_command(command, paths)
    found = sides["library"]()
    models.check(found)
    results = beside(list(sides.values()), lambda: models.by_peer(paths), pairs=pairs)
    return [
        [
            f"{nodes:,}",
            name,
            milli(times_of.ours),
            milli(times_of.theirs),
            times(times_of.ratio, MODEL_TARGET),
            str(MODEL_TARGET),
            found.summary() if name == "library" else "",
        ]
        for name, times_of in zip(sides, results, strict=True)
    ]


def line(cells: list[str] | tuple[str, ...]) -> str:
    """Write one row of a table."""
    return "| " + " | ".join(cells) + " |"


def rule(head: tuple[str, ...]) -> str:
    """Write the line below a head."""
    return "|" + "---|" * len(head)


def report(about_documents: list[list[str]], about_models: list[list[str]]) -> str:
    """Write the whole page."""
    from importlib.metadata import version

    from isoform import __version__

    others = ("deepdiff", "jsondiff", "graphtage", "jsonpatch", "onnx-diff")
    versions = [f"isoform {__version__}", *(f"{name} {version(name)}" for name in others)]
    text = [
        "# Differences, beside those of other tools",
        "",
        "Written by `make bench-diff`.",
        "Both sides of a row ran alternately in one session; the ratio is the median over the pairs, and more is better.",
        "It is in bold where it reaches its target.",
        "A call that takes longer than two seconds was measured once.",
        "",
        f"Measured on {machine()}, {', '.join(versions)}.",
        "",
        "## Documents",
        "",
        "A list of records; one value is changed, one record inserted and one deleted.",
        "Isoform compares values that are converted already; the ratio with conversion includes turning both documents into values.",
        "Every patch was applied and led to the right document, ours also after it was written and read; graphtage makes none.",
        "",
        line(DOCUMENT_HEAD),
        rule(DOCUMENT_HEAD),
        *(line(row) for row in about_documents),
        "",
        "## Models",
        "",
        "A chain of blocks in which one operator is replaced.",
        "All sides read both files; onnx-diff is called as a library, so its start does not count, and that of the command does.",
        "",
        line(MODEL_HEAD),
        rule(MODEL_HEAD),
        *(line(row) for row in about_models),
    ]
    return "\n".join(text) + "\n"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.diff")
    parser.add_argument("--quick", action="store_true", help="small inputs, few pairs")
    parser.add_argument("--command", help="the command isoform, to measure it, too")
    parser.add_argument("--markdown", type=Path, help="store the page in this file")
    args = parser.parse_args()
    try:
        others = tools()
        __import__("isoform.diff")
    except ImportError as error:
        print(f"bench.diff: {error}; run `make bench-diff`", file=sys.stderr)
        return 2
    pairs = 3 if args.quick else 11
    about_documents = []
    for records in documents.RECORDS[: 2 if args.quick else None]:
        for tool in others:
            about_documents.append(document_rows(records, tool, pairs))
            print(line(about_documents[-1]), flush=True)
    about_models = []
    with tempfile.TemporaryDirectory() as folder:
        for nodes in models.NODES[: 1 if args.quick else None]:
            for row in model_rows(Path(folder), nodes, args.command, pairs):
                about_models.append(row)
                print(line(row), flush=True)
    if args.markdown is not None:
        args.markdown.write_text(report(about_documents, about_models), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
