"""Versions of operators with the same meaning, according to the schemas of the `onnx` package."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx as onnx_package
import pytest
from onnx import TensorProto, helper, numpy_helper, shape_inference, version_converter

from isoform import onnx

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts/make_onnx_schemas.py"
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("make_onnx_schemas", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_that_of_the_installed_package():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_wrong_review_is_noticed(script):
    for entry, reason in [
        ("Softmax 13", "does not allow all calls of before"),
        ("Relu 13", "needs no review"),
        ("Relu 15", "are no versions of operators"),
        ("Shape 15", "is listed twice"),
    ]:
        script.REVIEWED["wrong"] = entry
        with pytest.raises(AssertionError, match=reason):
            script.table()
    script.REVIEWED.pop("wrong")
    script.NARROWER.discard(("Erf", 13))
    with pytest.raises(AssertionError, match="does not allow all calls of before"):
        script.table()


def model(nodes, inputs=(("x", FLOAT, [2, 3, 4]),), constants=(), opset=17, outputs=None):
    outputs = outputs or [(nodes[-1].output[0], FLOAT)]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_tensor_value_info(name, elem, None) for name, elem in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants],
    )
    opsets = [helper.make_opsetid("", opset)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    return shape_inference.infer_shapes(made)


def ints(*numbers):
    return np.array(numbers, np.int64)


def branch(op, out):
    node = helper.make_node(op, ["x"], [out])
    result = helper.make_tensor_value_info(out, FLOAT, None)
    return helper.make_graph([node], out, [], [result])


def chain(*ops):
    """Return a model that applies operators with attributes to `x` in turn."""
    nodes, value = [], "x"
    for number, (op, attributes) in enumerate(ops):
        made = f"v{number}"
        nodes.append(helper.make_node(op, [value], [made], **attributes))
        value = made
    return nodes


NODE = helper.make_node
CASES = {
    "moves": (chain(("Transpose", {"perm": [0, 2, 1]}), ("Identity", {}), ("Flatten", {})), ()),
    "shapes": (
        [
            NODE("Reshape", ["x", "s"], ["r"]),
            NODE("Shape", ["r"], ["q"]),
            NODE("Size", ["r"], ["n"]),
            NODE("Cast", ["q"], ["y"], to=FLOAT),
        ],
        [("s", ints(-1))],
    ),
    "axes": (
        [
            NODE("Unsqueeze", ["x", "a"], ["u"]),
            NODE("Squeeze", ["u", "a"], ["s"]),
            NODE("ReduceMean", ["s"], ["m"], axes=[1], keepdims=0),
            NODE("ReduceMax", ["m"], ["y"]),
        ],
        [("a", ints(0))],
    ),
    "reductions": (
        chain(
            *((f"Reduce{name}", {"axes": [-1]}) for name in ("L1", "L2", "Min")),
            *((f"Reduce{name}", {"axes": [0]}) for name in ("LogSum", "Prod", "SumSquare")),
            ("ReduceLogSumExp", {}),
        ),
        (),
    ),
    "parts": (
        [
            NODE("Split", ["x"], ["a", "b"], axis=2),
            NODE("Pad", ["a", "p"], ["c"]),
            NODE("Add", ["c", "c"], ["y"]),
        ],
        [("p", ints(0, 0, 1, 0, 0, 1))],
    ),
    "numbers": (
        [
            NODE("IsNaN", ["x"], ["n"]),
            NODE("IsInf", ["x"], ["i"]),
            NODE("Equal", ["n", "i"], ["e"]),
            NODE("Cast", ["e"], ["y"], to=FLOAT),
        ],
        (),
    ),
    "codes": (
        [
            NODE("QuantizeLinear", ["x", "s", "z"], ["q"]),
            NODE("DequantizeLinear", ["q", "s", "z"], ["y"]),
        ],
        [("s", np.float32(0.5)), ("z", np.uint8(3))],
    ),
    "images": (
        [
            NODE("Resize", ["x", "", "f"], ["r"], mode="linear"),
            NODE("AveragePool", ["r"], ["y"], kernel_shape=[2]),
        ],
        [("f", np.float32([1, 1, 2]))],
    ),
    "choice": (
        [
            NODE("ConstantOfShape", ["e"], ["c"]),
            NODE("Cast", ["c"], ["b"], to=BOOL),
            NODE(
                "If", ["b"], ["y"], then_branch=branch("Relu", "t"), else_branch=branch("Neg", "f")
            ),
        ],
        [("e", np.zeros(0, np.int64))],
    ),
    "places": (
        [
            NODE("ScatterElements", ["x", "i", "u"], ["s"], axis=1),
            NODE("ScatterND", ["s", "n", "w"], ["y"]),
        ],
        [
            ("i", np.zeros((2, 1, 4), np.int64)),
            ("u", np.ones((2, 1, 4), np.float32)),
            ("n", ints(0).reshape(1, 1)),
            ("w", np.ones((1, 3, 4), np.float32)),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("opset", [18, 19, 20, 21])
def test_converted_models_are_equal(name, opset):
    nodes, constants = CASES[name]
    made = model(nodes, constants=constants)
    onnx_package.checker.check_model(made, full_check=True)
    converted = version_converter.convert_version(made, opset)
    found = onnx.diff(onnx.load(made), onnx.load(converted))
    assert found.equal, str(found)
    # Counted by number, they are not.
    assert not onnx.diff(onnx.load(made), onnx.load(converted), strict=True).equal


def test_what_the_new_version_can_do_is_a_difference():
    made = model(chain(("ReduceMean", {"axes": [1]})))
    converted = version_converter.convert_version(made, 21)
    converted.graph.node[-1].attribute.append(helper.make_attribute("noop_with_empty_axes", 1))
    assert not onnx.diff(onnx.load(made), onnx.load(converted)).equal
    softmax = [
        model(chain(("Softmax", {"axis": 1})), opset=opset, inputs=[("x", FLOAT, [2, 3, 4])])
        for opset in (11, 13)
    ]
    found = onnx.diff(*map(onnx.load, softmax))
    assert [str(change) for change in found.changes] == [
        "version of Softmax making 'v0': 11 -> 13",
        "attribute 'axis' of Softmax making 'v0': 1 (default) -> 1",
    ]
