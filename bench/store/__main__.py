"""Runs all rows and prints the tables."""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns

from bench.__main__ import machine
from bench.diff.__main__ import line, micro, rule

# The longest time of a hit beyond the digest of the program, in microseconds.
GOAL = 20

HEAD = ("workload", "side", "µs", "ratio to isoform")
SHARING_HEAD = ("side", "µs of a call", "ratio to isoform", "computations")
INTRODUCTION = """\
# Stores, beside those of other tools

Written by `make bench-store`.
All sides of a workload ran alternately in one session, each in a folder of its own; times and ratios are medians over the rounds, and a ratio above 1 is in favour of Isoform.
"""
BYTES = """\
## Bytes under names

A put writes bytes that are not there yet.
Isoform hashes and verifies all bytes; the others do not.
Bare files are written to a temporary file and renamed, by Python, in the layout of the local storage of sccache; sccache itself, with its compression, was not measured.
"""
FUNCTIONS = """\
## Functions that keep their results

The small program is a function with one operator.
For Isoform it counts by its structure, and a renamed program hits; the others compare or hash its pickle.
A miss computes nothing, and stores 1 kB.
"""
SHARING = """\
## Eight processes

Eight processes call one function with 200 different arguments, in random order.
A computation takes 5 ms; each further computation of the same result is wasted.
"""


def bytes_rows(folder: Path, rounds: int) -> list[list[str]]:
    """Put and get bytes of two sizes."""
    from bench.store.rounds import Batch, alternately
    from bench.store.sides import STORES, Bytes

    serial = itertools.count()

    def fresh(size: int) -> bytes:
        return next(serial).to_bytes(8, "little") * (size // 8)

    def putting(side: Bytes, size: int) -> Batch:
        def batch(calls: int) -> int:
            data = [(f"{next(serial):016x}"[::-1], fresh(size)) for _ in range(calls)]
            start = perf_counter_ns()
            for name, content in data:
                side.put(name, content)
            return perf_counter_ns() - start

        return batch

    def getting(side: Bytes, size: int) -> Batch:
        contents = [fresh(size) for _ in range(16)]
        names = [side.put(f"{next(serial):016x}"[::-1], content) for content in contents]
        assert [side.get(name) for name in names] == contents, side.name

        def batch(calls: int) -> int:
            chosen = [names[number % len(names)] for number in range(calls)]
            start = perf_counter_ns()
            for name in chosen:
                side.get(name)
            return perf_counter_ns() - start

        return batch

    rows: list[list[str]] = []
    for size, calls, text in [(1000, 200, "1 kB"), (1_000_000, 8, "1 MB")]:
        for verb, batch_of in [("put", putting), ("get", getting)]:
            sides: list[Bytes] = []
            for number, make in enumerate(STORES):
                place = folder / f"{verb}-{size}-{number}"
                place.mkdir()
                sides.append(make(place))
            batches = [(side.name, batch_of(side, size)) for side in sides]
            found = alternately(batches, calls, rounds=rounds)
            rows += [
                [f"{verb} of {text}", row.side, micro(row.nanoseconds), f"{row.ratio:.2f}"]
                for row in found
            ]
    return rows


def function_rows(folder: Path, rounds: int) -> tuple[list[list[str]], str]:
    """Hits and misses of functions; also a sentence about the goal of a hit."""
    import isoform
    from bench.store.rounds import Batch, alternately, timed
    from bench.store.sides import KEEPINGS, Function
    from isoform import ir, relay

    var = relay.Var("x", ir.TensorType([2], "float32"))
    program = relay.Function([var], relay.Call(ir.Op.get("add"), [var, var]))
    serial = itertools.count()

    def compiled(program: object, level: int = 2) -> bytes:  # noqa: ARG001
        return b"x" * 1000

    def hitting(function: Function, *args: object) -> Batch:
        assert function(*args) == function(*args) == b"x" * 1000
        return lambda calls: timed(lambda: function(*args), calls)

    def missing(function: Function) -> Batch:
        return lambda calls: timed(lambda: function("plain", next(serial)), calls)

    workloads: list[tuple[str, Callable[[Function], Batch]]] = [
        ("hit, small program", lambda function: hitting(function, program)),
        ("hit, plain arguments", lambda function: hitting(function, "plain", 3)),
        ("miss, and store of 1 kB", missing),
    ]
    rows: list[list[str]] = []
    hits: dict[str, float] = {}
    for number, (workload, batch_of) in enumerate(workloads):
        batches: list[tuple[str, Batch]] = []
        for name, keeping in KEEPINGS.items():
            place = folder / f"function-{number}-{name}"
            batches.append((name, batch_of(keeping(place, compiled))))
        found = alternately(batches, 200, rounds=rounds)
        hits[workload] = found[0].nanoseconds / 1000
        rows += [[workload, row.side, micro(row.nanoseconds), f"{row.ratio:.2f}"] for row in found]
    digests = [timed(lambda: isoform.structural_digest(program), 200) for _ in range(rounds)]
    digest = statistics.median(digests) / 200_000
    rest = hits["hit, small program"] - digest
    verdict = "reached" if rest <= GOAL else "missed"
    sentence = (
        f"The goal of a hit of `@cached` is {GOAL} µs beyond the digest of the program. The digest "
        f"took {digest:.1f} µs and the rest {rest:.1f} µs: the goal is {verdict}. "
        f"A hit with plain arguments took {hits['hit, plain arguments']:.1f} µs."
    )
    return rows, sentence.replace(". ", ".\n")


def sharing_rows(folder: Path, calls: int, rounds: int) -> list[list[str]]:
    """Processes that share results."""
    from bench.store.sharing import shared
    from bench.store.sides import KEEPINGS

    samples: list[dict[str, tuple[float, int]]] = []
    for turn in range(rounds):
        sample: dict[str, tuple[float, int]] = {}
        order = list(KEEPINGS.items())
        for name, keeping in order if turn % 2 == 0 else reversed(order):
            place = folder / f"sharing-{turn}-{name}"
            place.mkdir()
            sample[name] = shared(keeping, place, calls)
        samples.append(sample)
    rows: list[list[str]] = []
    for name in KEEPINGS:
        times = statistics.median(sample[name][0] for sample in samples)
        ratio = statistics.median(sample[name][0] / sample["isoform"][0] for sample in samples)
        count = statistics.median(sample[name][1] for sample in samples)
        rows.append([name, micro(times), f"{ratio:.2f}", f"{count:.0f}"])
    return rows


def table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    """Write a table."""
    return "\n".join([line(head), rule(head), *(line(row) for row in rows)]) + "\n"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.store")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--markdown", type=Path, help="store the page in this file")
    args = parser.parse_args()
    try:
        from importlib.metadata import version

        __import__("bench.store.sides")
    except ImportError as error:
        print(f"bench.store: {error}; run `make bench-store`", file=sys.stderr)
        return 2
    from isoform import __version__

    rounds = 3 if args.quick else 15
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        about_functions, goal = function_rows(folder, rounds)
        about_bytes = bytes_rows(folder, rounds)
        about_sharing = sharing_rows(folder, 100 if args.quick else 500, 1 if args.quick else 5)
    versions = [
        f"isoform {__version__}",
        *(f"{name} {version(name)}" for name in ("diskcache", "joblib")),
    ]
    page = "\n".join(
        [
            INTRODUCTION,
            f"Measured on {machine()}, {', '.join(versions)}.\n",
            FUNCTIONS,
            table(HEAD, about_functions),
            f"{goal}\n",
            BYTES,
            table(HEAD, about_bytes),
            SHARING,
            table(SHARING_HEAD, about_sharing),
        ]
    )
    print(page)
    if args.markdown is not None:
        args.markdown.write_text(page.rstrip("\n") + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
