"""Models of ONNX with one replaced operator, with the command and onnx-diff."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any

# The number of nodes; a block has twelve.
NODES = (240, 1_200, 3_600)
WIDTH = 8

BLOCK = [
    "MatMul",
    "Add",
    "Relu",
    "MatMul",
    "Add",
    "Sigmoid",
    "Mul",
    "Tanh",
    "MatMul",
    "Add",
    "Sub",
    "Abs",
]
WEIGHTED = {"MatMul", "Add", "Mul", "Sub"}


def write_models(folder: Path, nodes: int) -> tuple[Path, Path]:
    """Write a model with this number of nodes, and a copy with a different node in the middle."""
    paths = folder / f"{nodes}.onnx", folder / f"{nodes}-edited.onnx"
    for path, is_edited in zip(paths, (False, True), strict=True):
        path.write_bytes(model(nodes, is_edited=is_edited).SerializeToString())
    return paths


def model(nodes: int, *, is_edited: bool) -> Any:
    """Return a chain of blocks with weights of their own."""
    from onnx import TensorProto, helper

    made, weights = [], []
    value = "input"
    for number in range(nodes):
        op = BLOCK[number % len(BLOCK)]
        inputs = [value]
        if op in WEIGHTED:
            shape = [WIDTH, WIDTH] if op == "MatMul" else [WIDTH]
            name = f"weight{number}"
            count = WIDTH * len(shape) if op != "MatMul" else WIDTH * WIDTH
            numbers = [(number * 31 + at) % 101 / 101 for at in range(count)]
            weights.append(helper.make_tensor(name, TensorProto.FLOAT, shape, numbers))
            inputs.append(name)
        if is_edited and number == replaced(nodes):
            op = "Elu"
        value = "output" if number == nodes - 1 else f"value{number}"
        made.append(helper.make_node(op, inputs, [value], name=f"node{number}"))
    shape = ["batch", WIDTH]
    graph = helper.make_graph(
        made,
        "blocks",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, shape)],
        weights,
    )
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def replaced(nodes: int) -> int:
    """Return the number of the replaced node, a Relu."""
    blocks = nodes // len(BLOCK)
    return blocks // 2 * len(BLOCK) + BLOCK.index("Relu")


def by_command(command: str, paths: tuple[Path, Path]) -> Any:
    """Run the whole command, with its start and the reading of both files."""
    run = subprocess.run(
        [command, "diff", "--json", *map(str, paths)], capture_output=True, text=True, check=False
    )
    if run.returncode != 1:
        raise AssertionError(f"isoform diff ended with {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)


def by_library(paths: tuple[Path, Path]) -> Any:
    """Read both files and make all differences of the programs."""
    from isoform import onnx
    from isoform.diff import diff

    left, right = (onnx.load(path).program for path in paths)
    return diff(left, right)


def check(difference: Any) -> None:
    """Check that a difference of two models is the edit, and gives the right model.

    Raises:
        AssertionError: if not.
    """
    from isoform import structural_equal

    if difference.summary() != "1 replaced":
        raise AssertionError(f"expected one operator replaced, got {difference.summary()}")
    if not structural_equal(difference.apply(difference.left), difference.right):
        raise AssertionError("the difference of two models leads elsewhere")


def by_peer(paths: tuple[Path, Path]) -> Any:
    """Read both files and let onnx-diff compare them, in this process."""
    import onnx
    from onnx_diff.diff import OnnxDiff

    # It says which inputs have no producer.
    with contextlib.redirect_stdout(None):
        found = OnnxDiff(*(onnx.load(str(path)) for path in paths)).summary()
    nodes = found.graph_matches["nodes"]
    if found.exact_match or nodes.same != nodes.a_total - 1:
        raise AssertionError(f"onnx-diff found {nodes}")
    return found
