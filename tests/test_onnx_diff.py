"""Differences of models, as printed by the command `isoform diff`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx as onnx_package
import pytest
from onnx import TensorProto, helper, numpy_helper, version_converter

from isoform import assert_structural_equal, onnx

LIGHT = Path(onnx_package.__file__).parent / "backend/test/data/light"
#: The lines that fit on a screen.
SCREEN = 24


def model(axis=-1, weight=0.5, opset=17, width=3):
    """Softmax(Relu(x + w) @ m)."""
    nodes = [
        helper.make_node("Add", ["x", "w"], ["s"], name="add"),
        helper.make_node("Relu", ["s"], ["r"], name="relu"),
        helper.make_node("MatMul", ["r", "m"], ["p"], name="mm"),
        helper.make_node("Softmax", ["p"], ["y"], name="sm", axis=axis),
    ]
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", width])]
    out = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    matrix = np.arange(9, dtype=np.float32).reshape(3, 3)
    matrix[1, 2] = weight
    weights = [
        numpy_helper.from_array(np.float32([1, 2, 3]), "w"),
        numpy_helper.from_array(matrix, "m"),
    ]
    graph = helper.make_graph(nodes, "g", values, out, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 8
    return made


def diff(left, right, **options):
    return onnx.diff(onnx.load(left), onnx.load(right), **options)


def texts(found):
    return [str(change) for change in found.changes]


def test_one_change_of_each_kind():
    found = diff(model(), model(axis=0))
    assert not found.equal
    (change,) = found.changes
    assert (change.kind, change.count, change.node, change.op) == ("attribute", 1, "sm", "Softmax")
    assert change.nodes == ("sm",)
    assert texts(found) == ["attribute 'axis' of Softmax 'sm': -1 (default) -> 0"]
    found = diff(model(), model(weight=0.75))
    assert texts(found) == [
        "weight 'm' (input 1 of MatMul 'mm'): 1 of 9 elements differ, max abs 0.25, "
        "max rel 0.333333, first at [1, 2]: 0.5 -> 0.75"
    ]
    assert found.changes[0].kind == "tensor"
    assert found.changes[0].place == "<node 2 of 'g'>.inputs[1]"


def test_levels_and_tolerances():
    assert diff(model(), model(opset=20)).equal
    assert not diff(model(), model(opset=20), strict=True).equal
    assert "opset ai.onnx 17 -> 20" in diff(model(), model(opset=20), strict=True).summary()
    assert not diff(model(), model(width=4)).equal
    assert diff(model(), model(width=4), ignore_shapes=True).equal
    assert diff(model(), model(weight=0.75), atol=0.25).equal
    assert diff(model(), model(weight=0.75), rtol=0.34).equal
    assert not diff(model(), model(weight=0.75), rtol=0.33).equal
    assert diff(model(), model(weight=0.75), skip_tensor_content=True).equal
    for wrong in (-1, float("nan")):
        with pytest.raises(ValueError, match="rtol: expected a number that is not negative"):
            diff(model(), model(), rtol=wrong)
    with pytest.raises(TypeError, match=r"isoform\.onnx\.load"):
        onnx.diff(1, onnx.load(model()))


def test_everything_that_load_takes(tmp_path):
    left, right = model(), model(axis=0)
    file = tmp_path / "a.onnx"
    onnx_package.save(left, file)
    expected = texts(diff(left, right))
    for source in (left, left.SerializeToString(), str(file), file, onnx.load(file).program):
        assert texts(onnx.diff(source, right)) == expected
        assert onnx.summary(source, right).operators == onnx.summary(left, right).operators
        assert onnx.summary(source).nodes == 4
    with pytest.raises(OSError, match=r"missing\.onnx"):
        onnx.diff(tmp_path / "missing.onnx", right)


def test_renamed_dimensions_are_no_changes():
    def renamed(axis, name):
        made = model(axis=axis)
        made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
        return made

    found = diff(renamed(-1, "unk__1"), renamed(0, "s77"))
    assert len(found.changes) == 1
    assert "unk__1" not in str(found)


def test_a_deep_model_with_many_edits():
    def chain(op, layers=500):
        ops = ("MatMul", "Add", op, "Sigmoid")
        nodes = [
            helper.make_node(ops[at % 4], [f"t{at}", *("w" * (at % 4 < 2))], [f"t{at + 1}"])
            for at in range(4 * layers)
        ]
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2])
            for name in ("t0", f"t{4 * layers}")
        ]
        weight = numpy_helper.from_array(np.eye(2, dtype=np.float32), "w")
        graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [weight])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    (change,) = diff(chain("Relu"), chain("Tanh")).changes
    assert (change.kind, change.count) == ("replaced", 500)
    assert change.place.startswith("<node ")
    assert len(change.place) < 80


def test_the_text_is_that_of_the_command(tmp_path):
    files = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    for file, made in zip(files, [model(), model(axis=0, weight=2)], strict=True):
        onnx_package.save(made, file)
    for options, wanted in (([], str), (["--stat"], lambda found: found.summary())):
        command = [sys.executable, "-m", "isoform", "diff", *options, *map(str, files)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (1, "")
        assert ran.stdout.rstrip("\n") == wanted(onnx.diff(*map(onnx.load, files)))


def test_a_mismatch_names_nodes_and_elements():
    left, right = (onnx.load(made).program for made in (model(), model(weight=0.75)))
    with pytest.raises(ValueError, match=r"first at \[1, 2\]: 0.5 -> 0.75") as caught:
        assert_structural_equal(left, right)
    assert "weight 'm' (input 1 of MatMul 'mm')" in str(caught.value)
    assert_structural_equal(left, left)


def perturbed(made, scale):
    """A copy with weights multiplied by random numbers near 1, and the number of weights."""
    random = np.random.default_rng(0)
    copy = onnx_package.ModelProto.FromString(made.SerializeToString())
    count = 0
    for tensor in copy.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            values = numpy_helper.to_array(tensor)
            noise = random.uniform(1 - scale, 1 + scale, values.shape)
            tensor.CopyFrom(numpy_helper.from_array((values * noise).astype("f4"), tensor.name))
            count += 1
    return copy, count


@pytest.mark.parametrize("name", ["light_squeezenet", "light_resnet50"])
def test_perturbed_weights_of_a_real_model(name):
    made = onnx_package.load(LIGHT / f"{name}.onnx")
    other, count = perturbed(made, 1e-3)
    found = diff(made, other)
    screen = "\n".join(str(found).splitlines()[:SCREEN])
    changed = sum(change.count for change in found.changes)
    assert 0 < changed <= count
    assert f"weights: {len(found.changes)} of " in screen
    assert all(change.kind == "tensor" for change in found.changes)
    assert diff(made, other, rtol=2e-3).equal
    assert not diff(made, other, rtol=1e-6).equal


def test_another_opset_of_a_real_model():
    made = onnx_package.load(LIGHT / "light_squeezenet.onnx")
    other = version_converter.convert_version(made, 13)
    old, new = (it.opset_import[0].version for it in (made, other))
    found = diff(made, other)
    screen = "\n".join(str(found).splitlines()[:SCREEN])
    assert f"opset ai.onnx {old} -> {new}" in screen
    # Dropout got new inputs. The remaining operators kept their meaning or were replaced by
    # different operators.
    versions = [change for change in found.changes if change.kind == "opset"]
    assert [change.op for change in versions] == ["Dropout"]
    assert str(versions[0]).startswith("version of Dropout ")
    # Counted by number, the operator set is one change.
    strict = diff(made, other, strict=True)
    assert [change.text.split(",")[0] for change in strict.changes if change.kind == "opset"] == [
        f"opset ai.onnx: {old} -> {new}"
    ]


def test_ten_edits_of_a_real_model():
    made = onnx_package.load(LIGHT / "light_squeezenet.onnx")
    other = onnx_package.ModelProto.FromString(made.SerializeToString())
    convs = [node for node in other.graph.node if node.op_type == "Conv"]
    relus = [node for node in other.graph.node if node.op_type == "Relu"]
    expected = []
    for conv in convs[:4]:
        for attribute in conv.attribute:
            if attribute.name == "strides":
                attribute.ints[:] = [5, 5]
        expected.append((conv.name, "'strides'"))
    for relu, op in zip(relus[:4], ["Tanh", "Sigmoid", "Abs", "Neg"], strict=True):
        relu.op_type = op
        expected.append((relu.name, f"became {op}"))
    weights = [tensor for tensor in other.graph.initializer if tensor.data_type == 1][:2]
    for weight in weights:
        values = numpy_helper.to_array(weight).copy()
        values.flat[3] += 1
        weight.CopyFrom(numpy_helper.from_array(values, weight.name))
        expected.append((weight.name, "1 of "))
    found = diff(made, other)
    screen = str(found).splitlines()[:SCREEN]
    for name, words in expected:
        assert any(f"'{name}'" in line and words in line for line in screen), (name, screen)
