"""ONNX models as objects of Python."""

import inspect
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

import isoform
from isoform import onnx, structural_digest, structural_equal, structural_walk

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
