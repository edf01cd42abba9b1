"""ONNX models as objects of Python."""

import inspect
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx as onnx_package
import pytest
from onnx import TensorProto, helper

import isoform
from isoform import onnx, structural_digest, structural_equal, structural_hash, structural_walk

MODELS = os.environ.get("ISOFORM_MODELS")
needs_models = pytest.mark.skipif(MODELS is None, reason="ISOFORM_MODELS names no folder of models")


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="missing"):
        onnx.load(tmp_path / "missing.onnx")


def test_nonsense_is_a_value_error_that_names_the_file(tmp_path):
    path = tmp_path / "nonsense.onnx"
    path.write_bytes(b"\xff" * 100)
    with pytest.raises(ValueError, match=r"nonsense\.onnx"):
        onnx.load(path)


def test_an_empty_file_is_refused(tmp_path):
    path = tmp_path / "empty.onnx"
    path.write_bytes(b"")
    with pytest.raises((ValueError, KeyError)):
        onnx.load(str(path))


def test_classes_are_there_before_any_model():
    assert isoform.types.onnx.Graph is onnx.Graph
    assert issubclass(onnx.Graph, isoform.Object)
    assert onnx.Call.op.__doc__ == "Name of the operator; empty for a local function."
    assert list(inspect.signature(onnx.Output).parameters) == ["call", "index"]
    assert "Program" in dir(onnx)
    assert "load" in dir(onnx)


def test_other_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = onnx.Nothing


def test_programs_can_be_built_by_hand():
    def program(name, op="Relu"):
        x = onnx.Input(ty=None, default=None, name=name)
        call = onnx.Call("", op, 13, None, {}, [x], 1)
        graph = onnx.Graph([x], [None], [onnx.Output(call, 0)])
        return onnx.Program(graph, [])

    assert structural_equal(program("x"), program("y"))
    assert not structural_equal(program("x"), program("x", "Sigmoid"))


@needs_models
def odd_models():
    """Models that runtimes run although the standard hardly allows them, or not at all."""

    def of(nodes, inputs, outputs, opset):
        graph = helper.make_graph(nodes, "g", inputs, outputs)
        opsets = [helper.make_opsetid("", opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    info = helper.make_tensor_value_info
    floats = [info("x", TensorProto.FLOAT, [2])], [info("y", TensorProto.FLOAT, [2])]
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Add", ["x", "x"], ["s"])],
        "body",
        [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, [])],
        [info("d", TensorProto.BOOL, []), info("s", TensorProto.FLOAT, [2])],
    )
    loop = helper.make_node("Loop", ["n", ""], ["y"], body=body)
    inputs = [*floats[0], info("n", TensorProto.INT64, [])]
    yield of([loop], inputs, [info("y", TensorProto.FLOAT, ["k", 2])], 17)
    for op, opset, attributes in [
        ("ThresholdedRelu", 9, {"alpha": 0.5}),
        ("ParametricSoftplus", 6, {"alpha": 1.0, "beta": 2.0}),
        ("ScaledTanh", 6, {"alpha": 1.0, "beta": 2.0}),
    ]:
        nodes = [helper.make_node(op, ["x"], ["v"], **attributes)]
        # The optimiser has something to do, and gives the node another output.
        nodes.append(helper.make_node("Identity", ["v"], ["y"]))
        yield of(nodes, *floats, opset)
    image = (
        [info("x", TensorProto.FLOAT, [1, 1, 2, 2])],
        [info("y", TensorProto.FLOAT, [1, 1, 2, 2])],
    )
    yield of([helper.make_node("ImageScaler", ["x"], ["y"], scale=2.0, bias=[1.0])], *image, 7)


@pytest.mark.parametrize("number", range(5))
def test_what_came_in_goes_out(number, tmp_path):
    made = list(odd_models())[number]
    program = onnx.load(made)
    for data in (
        onnx.to_bytes(program),
        onnx.to_bytes(onnx.optimize(program).program),
        onnx.to_bytes(onnx.extract(program, outputs=["y"])),
    ):
        node, expected = onnx_package.ModelProto.FromString(data).graph.node[0], made.graph.node[0]
        assert (node.op_type, list(node.input)) == (expected.op_type, list(expected.input))
        assert {it.name for it in node.attribute} == {it.name for it in expected.attribute}
    onnx_package.save(made, tmp_path / "m.onnx")
    lines = [
        ["optimize", "m.onnx", "a.onnx"],
        ["convert", "m.onnx", "b.onnx"],
        ["extract", "--to", "y", "m.onnx", "c.onnx"],
        ["run", "onnx.Simplify", "m.onnx", "-o", "d.onnx"],
    ]
    code = (
        "import sys\nfrom isoform.__main__ import main\n"
        f"for line in {lines}:\n    sys.argv[1:] = line\n    assert main() == 0\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(tmp_path.glob("[a-d].onnx"))) == 4


def test_merged_sequences_load_in_old_operator_sets():
    made = helper.make_model(
        helper.make_graph(
            [helper.make_node("SequenceConstruct", ["x", "x"], [name]) for name in "ab"],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
            [
                helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None)
                for name in "ab"
            ],
        ),
        opset_imports=[helper.make_opsetid("", 12)],
        ir_version=7,
    )
    data = onnx.to_bytes(onnx.optimize(onnx.load(made)).program)
    written = onnx_package.ModelProto.FromString(data)
    assert [node.op_type for node in written.graph.node] == ["SequenceConstruct"] * 2
    onnx_package.checker.check_model(written, full_check=True)


def test_negative_extents_are_unknown():
    """As Paddle writes them."""

    def made(extent):
        info = helper.make_tensor_value_info
        graph = helper.make_graph(
            [helper.make_node("Relu", ["x"], ["y"])],
            "g",
            [info("x", TensorProto.FLOAT, [extent, 3])],
            [info("y", TensorProto.FLOAT, [extent, 3])],
        )
        return onnx.load(helper.make_model(graph, ir_version=8))

    model = made(-1)
    assert model.program.graph.params[0].ty.shape[0] is None
    assert structural_equal(model.program, made(None).program)
    fixed = onnx.fix_dims(model, input_shapes={"x": [1, 3]})
    assert list(fixed.graph.params[0].ty.shape) == [1, 3]


class TestModels:
    def path(self, name="light_squeezenet.onnx"):
        return Path(MODELS) / name

    def test_a_program(self):
        model = onnx.load(self.path())
        assert type(model) is onnx.Model
        assert type(model.program) is onnx.Program
        assert model.program is model.program
        assert model.path == self.path()
        assert (model.node_count, model.initializer_count) == (105, 52)
        assert model.constant_bytes > 0
        assert "light_squeezenet.onnx" in repr(model)

    def test_the_program_outlives_the_model(self):
        graph = onnx.load(self.path()).program.graph
        assert [type(one) for one in graph.params] == [onnx.Input]

    def test_all_calls_can_be_walked(self):
        found = Counter()
        structural_walk(
            onnx.load(self.path()).program, (onnx.Call, lambda call: found.update([call.op]))
        )
        assert found["Conv"] == 26
        assert found.total() == 105

    def test_a_model_leads_to_its_program(self):
        for question in (structural_digest, structural_hash):
            with pytest.raises(TypeError, match=r"OnnxModel \(pass `\.program` for its program\)"):
                question(onnx.load(self.path()))

    def test_equal_programs(self, tmp_path):
        copy = tmp_path / "copy.onnx"
        shutil.copyfile(self.path(), copy)
        left, right = onnx.load(self.path()), onnx.load(copy, mmap=False)
        assert structural_equal(left.program, right.program)
        assert structural_digest(left.program) == structural_digest(right.program)

    def test_different_programs_are_explained(self):
        left = onnx.load(self.path()).program
        right = onnx.load(self.path("light_shufflenet.onnx")).program
        assert not structural_equal(left, right)
        assert "<root>" in str(isoform.explain_structural_mismatch(left, right))

    def test_names_of_inputs_count_when_asked(self):
        plain, named = onnx.load(self.path()), onnx.load(self.path(), io_names=True)
        assert len(plain.program.io_names) == 0
        assert len(named.program.io_names) == 2
        assert not structural_equal(plain.program, named.program)

    def test_the_command_gives_the_same_digest(self, capfd):
        assert isoform._core.cli_main(["isoform", "hash", str(self.path())]) == 0
        digest = capfd.readouterr().out.split()[0]
        assert structural_digest(onnx.load(self.path()).program).hex() == digest


def relu_program(**fields):
    x = onnx.Input(ty=None, default=None, name="x")
    call = onnx.Call("", "Relu", 13, None, {}, [x], 1, name="relu", output_names=["y"])
    graph = onnx.Graph([x], [None], [onnx.Output(call, 0)], result_names=["y"])
    return onnx.Program(graph, [], **fields)


def test_a_program_is_written_and_loaded(tmp_path):
    program = relu_program(producer="me")
    path = tmp_path / "relu.onnx"
    saved = onnx.save(program, path)
    assert saved == onnx.Saved(7, None, path.stat().st_size, [], 0)
    assert path.read_bytes() == onnx.to_bytes(program)
    for source in (path, str(path), path.read_bytes(), memoryview(path.read_bytes())):
        loaded = onnx.load(source)
        assert structural_equal(loaded.program, program)
        assert loaded.program.producer == "me"
        assert loaded.program.graph.results[0].call.name == "relu"
    assert onnx.load(path.read_bytes()).path is None
    # The source may be the target.
    onnx.save(onnx.load(path), path)
    assert path.read_bytes() == onnx.to_bytes(program)


def test_weights_are_written_beside_a_model(tmp_path):
    weight = isoform.from_dlpack(np.zeros(1000, np.float32))
    x = onnx.Input(ty=None, default=None, name="x")
    add = onnx.Call("", "Add", 13, None, {}, [x, weight], 1, input_names=["x", "w"])
    program = onnx.Program(onnx.Graph([x], [None], [onnx.Output(add, 0)]), [])
    saved = onnx.save(program, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin")
    assert saved.external_files == [tmp_path / "w.bin"]
    assert saved.external_bytes == 4000
    assert saved.bytes < 1000
    assert structural_equal(onnx.load(tmp_path / "m.onnx").program, program)
    with pytest.raises(KeyError, match="no folder"):
        onnx.load((tmp_path / "m.onnx").read_bytes())


def test_what_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(TypeError, match=r"expected a model or an onnx\.Program, got int"):
        onnx.save(1, tmp_path / "m.onnx")
    with pytest.raises(TypeError, match=r"expected a path, bytes or an onnx\.ModelProto, got int"):
        onnx.load(1)
    wrong = relu_program()
    call = wrong.graph.results[0].call
    call = onnx.Call("", "Relu", 13, None, {"alpha": 1.0}, call.inputs, 1, name="relu")
    wrong = onnx.Program(onnx.Graph(wrong.graph.params, [None], [onnx.Output(call, 0)]), [])
    expected = r"node 'relu' \(Relu\) > attribute 'alpha': Relu has no such attribute"
    with pytest.raises(ValueError, match=expected):
        onnx.save(wrong, tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []
    assert structural_equal(onnx.load(onnx.to_bytes(wrong, check=False)).program, wrong)


def test_a_newer_version_is_reported(tmp_path):
    x = onnx.Input(ty=None, default=None, name="x")
    double = onnx.Call("", "Add", 13, None, {}, [x, x], 1)
    function = onnx.Function([x], [], {}, [onnx.Output(double, 0)], name="demo.Double")
    y = onnx.Input(ty=None, default=None, name="y")
    call = onnx.Call("", "", 0, function, {}, [y], 1)
    graph = onnx.Graph([y], [None], [onnx.Output(call, 0)])
    saved = onnx.save(onnx.Program(graph, [], ir_version=7), tmp_path / "m.onnx")
    assert (saved.ir_version, saved.raised_from) == (8, 7)


def test_messages_of_the_onnx_package_are_read_and_made():
    package = pytest.importorskip("onnx", reason="the package onnx is not installed")
    ty = onnx.TensorType(isoform.dtype("float32"), [None])
    x = onnx.Input(ty=ty, default=None, name="x")
    call = onnx.Call("", "Relu", 13, None, {}, [x], 1, name="relu")
    program = onnx.Program(onnx.Graph([x], [ty], [onnx.Output(call, 0)], name="g"), [])
    message = onnx.to_model_proto(program)
    assert isinstance(message, package.ModelProto)
    package.checker.check_model(message)
    assert [node.name for node in message.graph.node] == ["relu"]
    assert structural_equal(onnx.load(message).program, program)


def test_making_a_message_without_the_onnx_package_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"install it, or use isoform\.onnx\.to_bytes"):
        onnx.to_model_proto(relu_program())
