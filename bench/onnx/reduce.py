"""Reduce seeded failures in models of 1,000 nodes with two tools, and print a table.

    python -m bench.onnx.reduce --ours 'isoform reduce {in} -o {out} -- {check}'

Six structures of models with five failures each, as in the tests of `isoform reduce`. The
other tool is `polygraphy debug reduce`. A run of the check counts for either tool, and a
result that passes does not count.
"""

from __future__ import annotations

import argparse
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from bench.onnx.failing import fails, read

SIZE = 1000
USUAL = ("Relu", "Neg", "Abs", "Tanh", "Sigmoid")
FAMILIES = ("chain", "residual", "wide", "random", "shapes", "bodies")
# Operators that a model has nowhere else, at a part of its length in thousandths.
PLANTED: dict[str, list[tuple[int, list[str]]]] = {
    "single": [(630, ["Erf"])],
    "edge": [(210, ["Softsign"]), (420, ["Softsign", "Erf"])],
    "row": [(770, ["Softsign", "Exp", "Erf"])],
    "path": [(50, ["Softsign"]), (930, ["Erf"])],
    "apart": [(120, ["Softsign"]), (510, ["Exp"]), (840, ["Erf"])],
}
POLYGRAPHY = "polygraphy debug reduce {in} -o {out} --mode bisect --check {check}"


class Builder:
    """A model under construction."""

    def __init__(self, family: str, failure: str, seed: int) -> None:
        """Begin a model in which the operators of a failure are still to plant."""
        planted = PLANTED[failure]
        if (family, failure) == ("wide", "path"):
            # Ends of one of the ten chains.
            planted = [(505, ["Softsign"]), (590, ["Erf"])]
        self.planted = list(planted)
        self.random = random.Random(seed)
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self.count = self.names = 0
        self.width = 8

    def name(self) -> str:
        """Return a new name."""
        self.names += 1
        return f"v{self.names}"

    def add(self, op: str, *inputs: str) -> str:
        """Add a node, and return the name of its value."""
        name = self.name()
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{name}"))
        self.count += 1
        return name

    def unary(self, value: str) -> str:
        """Add a node with one input, or planted nodes if it is their turn."""
        if self.planted and self.count >= self.planted[0][0] * SIZE // 1000:
            for op in self.planted.pop(0)[1]:
                value = self.add(op, value)
            return value
        return self.add(self.random.choice(USUAL), value)

    def chain(self, value: str, length: int) -> str:
        """Add nodes one after the other."""
        until = self.count + length
        while self.count < until:
            value = self.unary(value)
        return value

    def product(self, value: str, rows: int, columns: int) -> str:
        """Add a product with a weight."""
        name = f"w{len(self.weights)}"
        numbers = [[self.random.random() for _ in range(columns)] for _ in range(rows)]
        self.weights.append(numpy_helper.from_array(np.array(numbers, "float32"), name))
        return self.add("MatMul", value, name)

    def residual(self, changes_shape: bool) -> str:
        """Add blocks around which a value passes unchanged."""
        value, block = "x", 0
        while self.count < SIZE:
            middle = self.unary(self.product(value, self.width, 2 * self.width))
            branch = self.unary(self.product(middle, 2 * self.width, self.width))
            value = self.add("Add", value, branch)
            block += 1
            if changes_shape and block % 10 == 0:
                width = 20 - self.width
                value = self.product(value, self.width, width)
                self.width = width
        return value

    def wide(self) -> str:
        """Add ten chains from one input, whose ends are added."""
        value = self.chain("x", SIZE // 10 - 1)
        for _ in range(9):
            value = self.add("Add", value, self.chain("x", SIZE // 10 - 1))
        return value

    def random_graph(self) -> list[str]:
        """Add nodes that use one or two of the twenty values before."""
        values, unused = ["x"], []
        while self.count < SIZE:
            first = self.random.choice(values[-20:])
            inputs = [first]
            if self.random.randrange(3) == 0:
                inputs.append(self.random.choice(values[-20:]))
                made = self.add(self.random.choice(("Add", "Mul", "Sub")), *inputs)
            else:
                made = self.unary(first)
            unused = [name for name in unused if name not in inputs]
            unused.append(made)
            values.append(made)
        return unused

    def body(self, name: str, inputs: list, results: list) -> GraphProto:
        """Return a body of the nodes since the last body."""
        nodes, self.nodes = self.nodes, []
        return helper.make_graph(nodes, name, inputs, results)

    def bodies(self) -> str:
        """Add chains, and an If or a Loop with a chain inside after each."""
        self.weights.append(numpy_helper.from_array(np.array(3, "int64"), "trips"))
        value, number = "x", 0
        while self.count < SIZE:
            value = self.chain(value, 9)
            number += 1
            outer, self.nodes = self.nodes, []
            if number % 2 == 0:
                then = self.body("then", [], [info(self.chain(value, 5))])
                other = self.body("else", [], [info(self.chain(value, 5))])
                made = helper.make_node(
                    "If", ["flag"], [self.name()], then_branch=then, else_branch=other
                )
            else:
                count, again, state = self.name(), self.name(), self.name()
                result = self.chain(state, 10)
                inputs = [scalar(count, TensorProto.INT64), scalar(again, TensorProto.BOOL)]
                kept = scalar(self.add("Identity", again), TensorProto.BOOL)
                body = self.body("body", [*inputs, info(state)], [kept, info(result)])
                made = helper.make_node("Loop", ["trips", "", value], [self.name()], body=body)
            self.nodes = [*outer, made]
            self.count += 1
            value = made.output[0]
        return value


def info(name: str, width: int = 8) -> onnx.ValueInfoProto:
    """Describe a value."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, width])


def scalar(name: str, kind: int) -> onnx.ValueInfoProto:
    """Describe a value without axes."""
    return helper.make_tensor_value_info(name, kind, [])


def build(family: str, failure: str, seed: int) -> ModelProto:
    """Return a model with a failure."""
    builder = Builder(family, failure, seed)
    ends: list[str] | str
    if family in ("residual", "shapes"):
        ends = builder.residual(family == "shapes")
    elif family == "chain":
        ends = builder.chain("x", SIZE)
    elif family == "random":
        ends = builder.random_graph()
    else:
        ends = builder.wide() if family == "wide" else builder.bodies()
    results = [info(end, builder.width) for end in ([ends] if isinstance(ends, str) else ends)]
    inputs = [info("x")]
    if family == "bodies":
        inputs.append(scalar("flag", TensorProto.BOOL))
    graph = helper.make_graph(builder.nodes, "main", inputs, results, builder.weights)
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=8)


def measure(tool: str, model: Path, failure: str, folder: Path, limit: float) -> tuple[str, int]:
    """Run a tool; returns the number of nodes that are left, or a reason, and of checks."""
    log, out = folder / "log", folder / "out.onnx"
    for file in (log, out):
        file.unlink(missing_ok=True)
    script = Path(__file__).with_name("failing.py")
    check = [sys.executable, "-S", "-E", str(script), failure, str(log)]
    words: list[str] = []
    for word in shlex.split(tool):
        if word == "{check}":
            words += check
            if "polygraphy" in tool:
                words.append("polygraphy_debug.onnx")
        else:
            words.append(word.replace("{in}", str(model)).replace("{out}", str(out)))
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return "timeout", 0
    checks = len(log.read_text().splitlines()) if log.exists() else 0
    if not out.exists():
        return f"exit {done.returncode}", checks
    ops, used = read(out)
    return (str(len(ops)) if fails(failure, ops, used) else "passes"), checks


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.onnx.reduce")
    parser.add_argument("--ours", default="isoform reduce {in} -o {out} -- {check}")
    parser.add_argument("--peer", default=POLYGRAPHY)
    parser.add_argument("--limit", type=float, default=600, help="seconds for one run")
    args = parser.parse_args()
    print("| model | failure | isoform: nodes | checks | polygraphy: nodes | checks |")
    print("|---|---|---:|---:|---:|---:|")
    good = not_worse = cases = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "model.onnx"
        for family in FAMILIES:
            for failure in PLANTED:
                # In a random graph, a path between two given nodes may be missing.
                for seed in range(100):
                    onnx.save(build(family, failure, seed), model)
                    if fails(failure, *read(model)):
                        break
                ours = measure(args.ours, model, failure, folder, args.limit)
                peer = measure(args.peer, model, failure, folder, args.limit)
                cells = (family, failure, *ours, *peer)
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
                cases += 1
                is_small = ours[0].isdigit() and int(ours[0]) <= 5
                good += is_small and ours[1] <= 200
                not_worse += ours[0].isdigit() and (
                    not peer[0].isdigit() or int(ours[0]) <= int(peer[0])
                )
    print()
    print(f"{good} of {cases} with at most 5 nodes after at most 200 checks.")
    print(f"{not_worse} of {cases} with no more nodes than the other tool.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
