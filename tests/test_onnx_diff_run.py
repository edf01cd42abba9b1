"""The first divergence of two models, judged by onnxruntime with all values exposed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx as onnx_package
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from isoform import onnx

MODELS = Path(os.environ.get("ISOFORM_MODELS", "nowhere"))
RTOL, ATOL = 1e-3, 1e-5
FLOAT = TensorProto.FLOAT


def exposed(model, feed):
    """The values of all nodes of the main graph by name, from onnxruntime itself."""
    model = onnx_package.ModelProto.FromString(model.SerializeToString())
    names = [name for node in model.graph.node for name in node.output if name]
    del model.graph.output[:]
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return dict(zip(names, session.run(None, feed), strict=True))


def differs(left, right):
    if left.shape != right.shape:
        return True
    if left.dtype.kind != "f":
        return not np.array_equal(left, right)
    return not np.isclose(left, right, rtol=RTOL, atol=ATOL, equal_nan=True).all()


def origins(model, left, right):
    """The nodes with different results although those that they use agree."""
    wrong = {name for name in left if differs(left[name], right[name])}
    return [
        node.name
        for node in model.graph.node
        if wrong.intersection(node.output) and not wrong.intersection(node.input)
    ]


def renamed(model):
    """A model with other names of nodes and values, and its nodes in another order."""
    model = onnx_package.ModelProto.FromString(model.SerializeToString())
    graph = model.graph
    constants = {tensor.name for tensor in graph.initializer}
    keep = {value.name for value in (*graph.input, *graph.output)} | constants | {""}

    def name(old):
        return old if old in keep else f"other/{old}"

    nodes = list(graph.node)
    for node in nodes:
        node.name = f"node/{node.name}"
        node.input[:] = map(name, node.input)
        node.output[:] = map(name, node.output)
    for value in graph.value_info:
        value.name = name(value.name)
    rest, ordered = nodes[::-1], []
    while rest:
        made = {output for node in rest for output in node.output}
        node = next(node for node in rest if not made.intersection(node.input))
        rest.remove(node)
        ordered.append(onnx_package.NodeProto.FromString(node.SerializeToString()))
    del graph.node[:]
    graph.node.extend(ordered)
    return model


def mutated(model, random):
    """A model with one fault, or None if the drawn node cannot have one."""
    model = onnx_package.ModelProto.FromString(model.SerializeToString())
    graph = model.graph
    node = graph.node[random.integers(len(graph.node))]
    weights = {tensor.name: tensor for tensor in graph.initializer}
    uses = [name for other in graph.node for name in other.input]
    kind = random.integers(3)
    if kind == 0:
        for name in node.input:
            if name in weights and weights[name].data_type == FLOAT and uses.count(name) == 1:
                values = numpy_helper.to_array(weights[name]).copy()
                values.reshape(-1)[random.integers(values.size)] += 1
                weights[name].CopyFrom(numpy_helper.from_array(values, name))
                return model
    if kind == 1:
        swaps = {"Relu": "Sigmoid", "MaxPool": "AveragePool", "Add": "Mul", "Sigmoid": "Tanh"}
        if node.op_type in swaps and len(node.attribute) < 3:
            node.op_type = swaps[node.op_type]
            return model
    for attribute in node.attribute:
        if attribute.name in ("alpha", "epsilon", "bias"):
            attribute.f = attribute.f * 3 + 0.5
            return model
    return None


def network(random, layers):
    """Layers of convolutions, normalisations and activations with sums across layers."""
    nodes, weights, last = [], [], ["x"]

    def add(op, inputs, **attributes):
        output = f"v{len(nodes)}"
        node = helper.make_node(op, inputs, [output], name=f"n{len(nodes)}", **attributes)
        nodes.append(node)
        return output

    def weight(*shape):
        name = f"w{len(weights)}"
        values = random.normal(size=shape).astype(np.float32) / 2
        weights.append(numpy_helper.from_array(values, name))
        return name

    for _ in range(layers):
        source = last[random.integers(max(0, len(last) - 3), len(last))]
        match random.integers(5):
            case 0:
                value = add("Conv", [source, weight(3, 3, 3, 3), weight(3)], pads=[1] * 4)
            case 1:
                value = add("Relu", [source])
            case 2:
                value = add("LeakyRelu", [source], alpha=0.25)
            case 3:
                value = add("Add", [source, last[random.integers(len(last))]])
            case _:
                value = add("Mul", [add("Sigmoid", [source]), weight(3, 1, 1)])
        last.append(value)
    shape = ["batch", 3, 6, 6]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", FLOAT, shape)],
        [helper.make_tensor_value_info(last[-1], FLOAT, None)],
        weights,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return made


def needed(model):
    """A model without nodes that no output needs."""
    wanted, kept = {value.name for value in model.graph.output}, []
    for node in reversed(model.graph.node):
        if wanted.intersection(node.output):
            wanted.update(node.input)
            kept.append(onnx_package.NodeProto.FromString(node.SerializeToString()))
    del model.graph.node[:]
    model.graph.node.extend(kept[::-1])
    return model


def test_faults_in_random_networks_are_those_that_onnxruntime_shows():
    random = np.random.default_rng(5)
    judged = 0
    while judged < 8:
        left = needed(network(random, 14))
        right = mutated(left, random)
        if right is None:
            continue
        feed = {"x": random.normal(size=(2, 3, 6, 6)).astype(np.float32)}
        expected = origins(left, exposed(left, feed), exposed(right, feed))
        runs = onnx.diff_run(left, renamed(right), inputs=feed, rtol=RTOL, atol=ATOL)
        found = [runs.pairs[at] for at in runs.origins]
        assert sorted(pair.left.node.name for pair in found) == sorted(expected), str(runs)
        for pair in found:
            assert pair.right.node.name == f"node/{pair.left.node.name}", str(runs)
        assert runs.is_same == (not expected)
        assert runs.runner.startswith("onnxruntime")
        judged += bool(expected)


def check_numbers(pair, left, right):
    left, right = left.astype(np.float64), right.astype(np.float64)
    apart = np.abs(left - right)
    assert pair.shape == list(left.shape)
    assert pair.max_abs == pytest.approx(apart.max())
    relative = np.linalg.norm(apart) / np.linalg.norm(left)
    assert pair.relative_l2 == pytest.approx(relative)
    assert pair.snr_db == pytest.approx(-20 * np.log10(relative))
    cosine = (left * right).sum() / np.linalg.norm(left) / np.linalg.norm(right)
    assert pair.cosine == pytest.approx(cosine)
    assert pair.beyond == (~np.isclose(left, right, rtol=RTOL, atol=ATOL)).sum()


def test_numbers_are_those_of_numpy():
    random = np.random.default_rng(7)
    left = needed(network(random, 12))
    right = onnx_package.ModelProto.FromString(left.SerializeToString())
    weight = next(tensor for tensor in right.graph.initializer)
    weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * 1.5, weight.name))
    feed = {"x": random.normal(size=(1, 3, 6, 6)).astype(np.float32)}
    values = exposed(left, feed), exposed(right, feed)
    runs = onnx.diff_run(left, right, inputs=feed)
    checked = 0
    for pair in runs.pairs:
        if pair.status == "different":
            check_numbers(pair, *(side[pair.left.value] for side in values))
            checked += 1
    assert checked >= 1
    assert len(runs.pairs) == len(left.graph.node)


@pytest.mark.parametrize("name", ["light_squeezenet", "light_resnet50", "light_shufflenet"])
def test_faults_in_real_models(name):
    path = MODELS / f"{name}.onnx"
    if not path.is_file():
        pytest.skip("ISOFORM_MODELS is not set, so no real model was tested")
    left = onnx_package.load(path)
    for position, node in enumerate(left.graph.node):
        node.name = node.name or f"unnamed/{position}"
    # Old models list weights among the inputs.
    weights = {tensor.name for tensor in left.graph.initializer}
    source = next(value for value in left.graph.input if value.name not in weights)
    shape = [dim.dim_value for dim in source.type.tensor_type.shape.dim]
    random = np.random.default_rng(3)
    judged = 0
    while judged < 2:
        right = mutated(left, random)
        if right is None:
            continue
        feed = {source.name: random.normal(size=shape).astype(np.float32)}
        expected = origins(left, exposed(left, feed), exposed(right, feed))
        runs = onnx.diff_run(left, renamed(right), inputs=feed)
        found = [runs.pairs[at].left.node.name for at in runs.origins]
        assert sorted(found) == sorted(expected), str(runs)
        judged += bool(expected)


def quantized(model):
    """A model with a pair of quantisation nodes after each activation."""
    model = onnx_package.ModelProto.FromString(model.SerializeToString())
    nodes = []
    for node in model.graph.node:
        node = onnx_package.NodeProto.FromString(node.SerializeToString())
        nodes.append(node)
        if node.op_type in ("Relu", "LeakyRelu"):
            output, before = node.output[0], f"{node.output[0]}_raw"
            node.output[0] = before
            code = f"{output}_code"
            nodes.append(helper.make_node("QuantizeLinear", [before, "s", "z"], [code]))
            dequantize = helper.make_node("DequantizeLinear", [code, "s", "z"], [output])
            dequantize.name = f"dq_{node.name}"
            nodes.append(dequantize)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.append(numpy_helper.from_array(np.float32(0.05), "s"))
    model.graph.initializer.append(numpy_helper.from_array(np.uint8(100), "z"))
    return model


def test_quantized_against_float():
    random = np.random.default_rng(11)
    left = needed(network(random, 14))
    right = quantized(left)
    feed = {"x": random.normal(size=(1, 3, 6, 6)).astype(np.float32)}
    values = exposed(left, feed), exposed(right, feed)
    runs = onnx.diff_run(left, renamed(right), inputs=feed)
    assert runs.unpaired == (0, 0)
    forms = [pair for pair in runs.pairs if pair.kind == "quantized"]
    assert len(forms) == sum(node.op_type == "DequantizeLinear" for node in right.graph.node) > 0
    for pair in forms:
        assert pair.right.node.name == f"node/dq_{pair.left.node.name}"
        other = values[1][pair.left.value]
        check_numbers(pair, values[0][pair.left.value], other)
    # Before the first form, nothing differs.
    first = runs.pairs.index(forms[0])
    assert all(pair.status in ("same", "close") for pair in runs.pairs[:first])
    assert runs.first == forms[0]


def test_the_report():
    random = np.random.default_rng(2)
    left = needed(network(random, 8))
    same = onnx.diff_run(left, renamed(left), runtime=False, thresholds=[1e-3])
    assert same.is_same
    assert same.first is None
    assert [crossing.pair for crossing in same.crossings] == [None]
    assert str(same).startswith("same: ")
    assert same.inputs == ["batch=2", "batch=3"]
    for options in ({"rtol": -1.0}, {"atol": float("nan")}, {"sets": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            onnx.diff_run(left, left, **options)
    with pytest.raises(KeyError, match="input 'q'"):
        onnx.diff_run(left, left, inputs={"q": np.zeros(1, np.float32)})
    with pytest.raises(ValueError, match="expected 4 sizes"):
        onnx.diff_run(left, left, shapes={"x": [1]})
    shaped = onnx.diff_run(left, left, runtime=False, shapes={"x": [1, 3, 6, 6]}, sets=1)
    assert shaped.inputs == ["batch=1"]


def test_the_command_runs_onnxruntime(tmp_path):
    random = np.random.default_rng(11)
    left = needed(network(random, 14))
    onnx_package.save(left, tmp_path / "a.onnx")
    onnx_package.save(quantized(left), tmp_path / "b.onnx")
    np.savez(tmp_path / "x.npz", x=np.ones((1, 3, 6, 6), np.float32))
    command = [sys.executable, "-m", "isoform", "diff", "--run", "--inputs", "x.npz"]
    ran = subprocess.run([*command, "a.onnx", "b.onnx"], cwd=tmp_path, capture_output=True)
    assert (ran.returncode, ran.stderr) == (1, b"")
    assert b"run by onnxruntime" in ran.stdout
    assert b"the given inputs" in ran.stdout
    ran = subprocess.run([*command, "a.onnx", "a.onnx"], cwd=tmp_path, capture_output=True)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_an_output_without_a_partner_is_a_difference():
    def network(outputs):
        nodes = [helper.make_node("Abs", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["z"])]
        values = [helper.make_tensor_value_info(name, FLOAT, [2]) for name in ["x", *outputs]]
        graph = helper.make_graph(nodes, "g", values[:1], values[1:])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    runs = onnx.diff_run(network("y"), network("yz"), runtime=False)
    assert runs.first is None and runs.open_outputs == (0, 1)
    assert not runs.is_same and str(runs).startswith("different")
    assert onnx.diff_run(network("yz"), network("yz"), runtime=False).is_same
