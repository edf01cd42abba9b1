"""How long the passes of the dialects take, beside another version of the package.

`python -m bench.passes` measures the installed package. With `--against PYTHON`, the
interpreter of an environment that has another version, both versions run alternately in
processes of their own, and the table has the ratio of their times.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

LAYERS = 150
OPERATORS = 3_000
TURNS = 5

RELAY_PASSES = (
    "InferType",
    "SimplifyExpr",
    "FoldConstant",
    "EliminateCommonSubexpr",
    "DeadCodeElimination",
    "FuseOps",
    "ToANormalForm",
    "ToGraphNormalForm",
    "ToBasicBlockNormalForm",
    "RemoveUnusedFunctions",
    "Inline",
    "DefuseOps",
)


def residual_network() -> Any:
    """Return a module of one function: residual layers that leave work for the passes."""
    from isoform import ir, relay

    x: Any = relay.var("x", shape=(1, 8, 16, 16), dtype="float32")
    params, here = [x], x
    for number in range(LAYERS):
        weight = relay.var(f"w{number}", shape=(8, 8, 3, 3), dtype="float32")
        bias = relay.var(f"b{number}", shape=(8,), dtype="float32")
        params += [weight, bias]
        call = relay.nn.conv2d(here, weight, padding=(1, 1), channels=8, kernel_size=(3, 3))
        call = relay.nn.relu(relay.nn.bias_add(call, bias))
        call = relay.add(call, relay.const(0.0, "float32"))
        here = relay.add(relay.multiply(call, relay.const(1.0, "float32")), here)
    return ir.IRModule.from_expr(relay.Function(params, here))


def sums_of_scalars() -> None:
    """Build a sum of scalars with Python's operators."""
    from isoform.pto import DataType, ir

    total = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    for _ in range(OPERATORS):
        total = total + 1


def sums_of_nodes() -> None:
    """Build a sum of scalars with the constructor of its nodes."""
    from isoform.pto import DataType, ir

    span = ir.Span.unknown()
    x = ir.Var("x", ir.ScalarType(DataType.INT64), span)
    total = x
    for _ in range(OPERATORS):
        total = ir.Add(total, x, DataType.INT64, span)


def figures() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the names of the figures and the functions to be timed."""
    from isoform import relay

    class Visitor(relay.ExprVisitor):
        """A visitor with the methods of its base."""

    class Mutator(relay.ExprMutator):
        """A mutator with the methods of its base."""

    typed = relay.transform.InferType()(residual_network())
    for name in RELAY_PASSES:
        run = getattr(relay.transform, name)()
        yield f"relay {name}", lambda run=run: run(typed)
    bound = relay.transform.ToANormalForm()(typed)
    infer = relay.transform.InferType()
    yield "relay InferType of bindings", lambda: infer(bound)
    yield "relay ExprVisitor", lambda: Visitor().visit(typed["main"])
    yield "relay ExprMutator", lambda: Mutator().visit(typed["main"])
    yield "relay network", residual_network
    yield "pto operators", sums_of_scalars
    yield "pto nodes", sums_of_nodes


def shortest_times() -> dict[str, float]:
    """Return the shortest time of each figure, in milliseconds."""

    def shortest(run: Callable[[], object]) -> float:
        times: list[float] = []
        for _ in range(TURNS):
            gc.collect()
            start = perf_counter()
            run()
            times.append(perf_counter() - start)
        return 1_000 * min(times)

    return {name: shortest(run) for name, run in figures()}


def times_of(python: str) -> dict[str, float]:
    """Return the times that a process of another interpreter measures."""
    command = [python, "-m", "bench.passes", "--json"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(result.stdout)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.passes")
    parser.add_argument("--against", metavar="PYTHON", help="an interpreter with another version")
    parser.add_argument("--rounds", type=int, default=7, help="processes for each version")
    parser.add_argument("--json", action="store_true", help="print the times as JSON")
    options = parser.parse_args()
    if options.json:
        print(json.dumps(shortest_times()))
        return
    if options.against is None:
        for name, time in shortest_times().items():
            print(f"{name:32} {time:9.3f} ms")
        return
    rounds = [(times_of(sys.executable), times_of(options.against)) for _ in range(options.rounds)]
    print(f"{'':32} {'here':>12} {'there':>12}  ratio")
    for name in rounds[0][0]:
        here, there = (min(pair[side][name] for pair in rounds) for side in (0, 1))
        ratio = statistics.median(ours[name] / theirs[name] for ours, theirs in rounds)
        print(f"{name:32} {here:9.3f} ms {there:9.3f} ms {ratio:6.2f}")


if __name__ == "__main__":
    main()
