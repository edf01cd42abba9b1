"""Runs all rows and prints the tables."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from pathlib import Path

from bench.__main__ import machine
from bench.diff.__main__ import line, micro, rule
from bench.store.rounds import alternately, timed

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

HEAD = ("work", "program", "side", "µs", "ratio to isoform")
INTRODUCTION = """\
# Programs of MLIR, beside MLIR's parser and xDSL

Written by `make bench-mlir`.
All sides of a row ran alternately in one session; times and ratios are medians over the rounds, and a ratio above 1 is in favour of Isoform.

- *parse*: text in the generic form to a program. MLIR's parser is that of jaxlib, in a context that knows the builtin dialect alone; xDSL reads with `allow_unregistered`.
- *equal*: two programs from two copies of one text. MLIR compares by identity in Python, so its row prints both and compares texts.
- *name*: the digest of a program; the others hash the printed text, which is the practice of caches.
- *copy*: Isoform's programs are shared and need no copy; the row copies by writing and reading, the only way between processes.
"""


def programs(quick: bool) -> dict[str, str]:
    """The texts by name: a layer, a large gradient, and many small operations."""
    import jax
    import jax.numpy as jnp
    import mlir_corpus as corpus

    def text(function, *shapes):
        arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
        return corpus.text_of(jax.jit(function).lower(*arguments).compiler_ir("stablehlo"))

    def deep(x):
        for _ in range(2 if quick else 20):
            x = corpus.attention(corpus.norm(x)) + corpus.network(x)
        return x

    small = "\n".join(
        f'    %{at + 1} = "arith.addi"(%{at}, %{at}) : (i32, i32) -> i32'
        for at in range(1000 if quick else 5000)
    )
    function = '"func.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({'
    end = '    "func.return"() : () -> ()\n}) : () -> ()'
    chain = f"{function}\n^bb0(%0: i32):\n{small}\n{end}"
    return {
        "a layer": text(corpus.attention, (64, 64)),
        "20 layers": text(deep, (64, 64)),
        "their gradient": text(jax.grad(lambda x: deep(x).sum()), (64, 64)),
        "5,000 additions": chain,
    }


def rows(quick: bool) -> list[list[str]]:
    """Measure all work on all programs."""
    import mlir_corpus as corpus
    from jaxlib.mlir import ir
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.parser import Parser

    import isoform
    from isoform import mlir

    context = corpus.context()

    def of_xdsl(text: str):
        made = Context(allow_unregistered=True)
        made.load_dialect(Builtin)
        return Parser(made, text).parse_module()

    def of_mlir(text: str):
        return ir.Module.parse(text, context)

    found: list[list[str]] = []

    def measure(work: str, name: str, size: int, sides: dict[str, Callable[[], object]]) -> None:
        rounds = 3 if quick else 5
        calls = max(1, 200_000 // size)
        batches = [
            (side, lambda count, call=call: timed(call, count)) for side, call in sides.items()
        ]
        for row in alternately(batches, calls, rounds=rounds):
            ratio = f"{row.ratio:.2f}"
            found.append([work, name, row.side, micro(row.nanoseconds), ratio])
        gc.collect()

    for name, text in programs(quick).items():
        size = len(text)
        with_xdsl = {}
        try:
            of_xdsl(text)
            with_xdsl["xDSL"] = lambda text=text: of_xdsl(text)
        except Exception as error:  # the peer does not read every program
            print(f"xDSL does not read {name}: {type(error).__name__}", file=sys.stderr)
        sides = {
            "isoform": lambda text=text: mlir.read(text),
            "MLIR": lambda text=text: of_mlir(text),
        }
        measure("parse", name, size, sides | with_xdsl)
        ours = mlir.read(text), mlir.read(text)
        theirs = of_mlir(text), of_mlir(text)
        sides = {
            "isoform": lambda ours=ours: isoform.structural_equal(*ours),
            "MLIR": lambda theirs=theirs: str(theirs[0]) == str(theirs[1]),
        }
        if with_xdsl:
            read = of_xdsl(text), of_xdsl(text)
            sides["xDSL"] = lambda read=read: read[0].is_structurally_equivalent(read[1])
        # A peer that takes two copies of one text for different is named so.
        sides = {side if call() else f"{side}, wrong": call for side, call in sides.items()}
        assert "isoform" in sides
        measure("equal", name, size, sides)
        sides = {
            "isoform": lambda ours=ours: isoform.structural_digest(ours[0]),
            "MLIR": lambda theirs=theirs: hash(str(theirs[0])),
        }
        if with_xdsl:
            sides["xDSL"] = lambda read=read: hash(str(read[0]))
        measure("name", name, size, sides)
        sides = {
            "isoform": lambda ours=ours: mlir.read(mlir.write(ours[0])),
            "MLIR": lambda theirs=theirs: theirs[0].operation.clone(),
        }
        if with_xdsl:
            sides["xDSL"] = lambda read=read: read[0].clone()
        measure("copy", name, size, sides)
        found.append(["", f"{name}: {size:,} bytes", "", "", ""])
    return found


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Programs of MLIR, beside peers.")
    parser.add_argument("--quick", action="store_true", help="small programs and few rounds")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file")
    arguments = parser.parse_args()
    table = rows(arguments.quick)
    lines = [line(HEAD), rule(HEAD), *(line(row) for row in table)]
    text = "\n".join([INTRODUCTION, machine(), "", *lines]) + "\n"
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
