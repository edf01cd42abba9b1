"""Summaries of models and of pairs, and the table of operators that levels use."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx as onnx_package
import pytest
from onnx import TensorProto, defs, helper, numpy_helper

from isoform import dtype, onnx

TABLE = Path(__file__).parents[1] / "crates/isoform-onnx/src/schema/operators.txt"


def model(weights, op="Relu", opset=17, outputs=("y",)):
    """A model that adds the weights to the input, one weight per node."""
    nodes, last = [], "x"
    for name in weights:
        nodes.append(helper.make_node("Add", [last, name], [f"{name}_sum"]))
        last = f"{name}_sum"
    nodes.append(helper.make_node(op, [last], list(outputs)))
    ty = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])]
    out = [helper.make_tensor_value_info(outputs[0], TensorProto.FLOAT, None)]
    initializers = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "g", ty, out, initializers)
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="pytest"
    )
    made.ir_version = 8
    return made


def test_every_number_of_a_model():
    weights = {"a": np.ones((3, 4), np.float32), "b": np.ones(4, np.float64)}
    summary = onnx.summary(onnx.load(model(weights)))
    assert summary.ir_version == 8
    assert summary.producer == "pytest"
    assert summary.opsets == {"": (17,)}
    assert summary.inputs == (onnx.ValueSummary("x", "float32", "[batch, 4]"),)
    assert summary.outputs == (onnx.ValueSummary("y", "float32", "[...]"),)
    assert summary.operators == {"Add": 2, "Relu": 1}
    assert (summary.nodes, summary.depth, summary.nesting, summary.constants) == (3, 3, 0, 2)
    assert summary.weights == {
        "float32": onnx.WeightsOfType(1, 12, 48),
        "float64": onnx.WeightsOfType(1, 4, 32),
    }
    assert summary.functions == ()
    with pytest.raises(AttributeError):
        summary.nodes = 4
    assert "_text" not in repr(summary)


def test_a_pair():
    left = model({"a": np.float32([3, 4]), "b": np.float32([1, 1, 1])})
    right = model({"a": np.float32([3, 5]), "c": np.float32([2])}, op="Tanh", opset=18)
    summary = onnx.summary(onnx.load(left), onnx.load(right))
    assert summary.left == onnx.summary(onnx.load(left))
    assert summary.right.opsets == {"": (18,)}
    assert summary.opsets == {"": ((17,), (18,))}
    assert summary.inputs == summary.outputs == {}
    assert summary.operators == {"Add": (2, 2), "Relu": (1, 0), "Tanh": (0, 1)}
    weights = summary.weights
    # Both are the second input of the second Add.
    assert (weights.pairs, weights.left_only, weights.right_only) == (2, (), ())
    assert (weights.elements, weights.differing, weights.max_abs) == (2, 1, 1.0)
    changed, other = weights.changed
    assert (other.left.name, other.right.name, other.max_abs) == ("b", "c", None)
    assert changed.left == onnx.WeightSummary("a", "float32", (2,))
    assert (changed.elements, changed.differing, changed.first) == (2, 1, 1)
    assert changed.relative_l2 == pytest.approx(1 / 5)
    assert changed.cosine == pytest.approx(29 / (5 * np.sqrt(34)))


def test_weights_of_other_shapes_have_no_numbers():
    pair = [onnx.load(model({"a": np.ones(size, np.float32)})) for size in (1, 4)]
    [changed] = onnx.summary(*pair).weights.changed
    assert changed.left.shape == (1,)
    assert changed.right.shape == (4,)
    assert changed.elements is changed.max_abs is changed.cosine is None


@pytest.mark.parametrize(
    "name",
    ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "uint64", "bool"],
)
def test_the_numbers_are_those_of_numpy(name):
    random = np.random.default_rng(7)
    left, right = (random.integers(0, 3, (50, 40)).astype(name) for _ in range(2))
    if name.startswith("float"):
        left, right = left * np.dtype(name).type(0.3), right * np.dtype(name).type(0.3)
    pair = [onnx.load(onnx_model_of(value)) for value in (left, right)]
    [found] = onnx.summary(*pair).weights.changed
    a, b = left.astype(np.float64).ravel(), right.astype(np.float64).ravel()
    apart = np.abs(a - b)
    assert found.elements == a.size
    assert found.differing == np.count_nonzero(left != right)
    assert found.first == np.flatnonzero(a != b)[0]
    assert found.max_abs == apart.max()
    exact = None if name.startswith("float") else int(apart.max())
    assert found.max_abs_int == exact
    assert found.relative_l2 == pytest.approx(np.linalg.norm(a - b) / np.linalg.norm(a))
    assert found.cosine == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def onnx_model_of(weight):
    """A model that passes a weight on."""
    node = helper.make_node("Reshape", ["w", "s"], ["y"])
    shape = numpy_helper.from_array(np.int64([-1]), "s")
    out = [helper.make_empty_tensor_value_info("y")]
    weights = [numpy_helper.from_array(weight, "w"), shape]
    graph = helper.make_graph([node], "g", [], out, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_the_text_is_that_of_the_command(tmp_path):
    paths = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    for path, value in zip(paths, ([1, 2], [1, 3]), strict=True):
        onnx_package.save(model({"w": np.float32(value)}), path)
    for files in (paths[:1], paths):
        command = [sys.executable, "-m", "isoform", "summary", *map(str, files)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        assert ran.stdout == f"{onnx.summary(*map(onnx.load, files))}\n"


def test_programs_are_summarised_too():
    x = onnx.Input(ty=onnx.TensorType(dtype("float32"), [2]), default=None, name="x")
    call = onnx.Call("", "Relu", 13, None, {}, [x], 1)
    program = onnx.Program(onnx.Graph([x], [None], [onnx.Output(call, 0)]), [])
    assert onnx.summary(program).operators == {"Relu": 1}
    assert onnx.summary(program, program).weights.changed == ()


@pytest.mark.parametrize("arguments", [(1,), (None,)])
def test_other_values_are_refused(arguments):
    with pytest.raises(TypeError, match=r"expected a model or an onnx\.Program"):
        onnx.summary(*arguments)


def table():
    """The table of operators as read by the package, by domain, name and version."""
    found, domain, op = {}, "", ""
    for line in TABLE.read_text().splitlines():
        words = line.split(" ")
        if line.startswith(("#", "ir ")):
            continue
        if words[0] == "opset":
            domain = "" if words[1] == "." else words[1]
        elif words[0] == "op":
            op = words[1]
        else:
            words = [word for word in words[3:] if word != "deprecated"]
            names = (word.partition("=") for word in words)
            attributes = {name.partition(":")[0]: value for name, _, value in names}
            found[domain, op, int(line.split(" ")[0].partition("=")[0])] = attributes
    return found


needs_the_version_of_the_table = pytest.mark.skipif(
    onnx_package.__version__ not in TABLE.read_text().splitlines()[0],
    reason="the table is that of another version of onnx",
)


@needs_the_version_of_the_table
def test_every_default_is_that_of_the_standard():
    def read(kind, text):
        one = {"INT": int, "FLOAT": float, "STRING": str}[kind.removesuffix("S")]
        return [one(item) for item in text.split(",")] if kind.endswith("S") else one(text)

    def given(value):
        if isinstance(value, list):
            return [given(item) for item in value]
        return value.decode() if isinstance(value, bytes) else value

    rows, checked = table(), 0
    for schema in defs.get_all_schemas_with_history():
        row = rows[schema.domain, schema.name, schema.since_version]
        assert set(row) == set(schema.attributes)
        for name, attribute in schema.attributes.items():
            place = (schema.domain, schema.name, schema.since_version, name)
            default = attribute.default_value
            if not default.type:
                assert row[name] == "", place
                continue
            expected = given(helper.get_attribute_value(default))
            found = read(attribute.type.name, row[name])
            assert (found, repr(found)) == (expected, repr(expected)), place
            checked += 1
    assert checked > 600


@needs_the_version_of_the_table
def test_the_table_has_every_version():
    schemas = defs.get_all_schemas_with_history()
    expected = {(schema.domain, schema.name, schema.since_version) for schema in schemas}
    assert set(table()) == expected
