"""The published JSON Schema of `isoform diff --json`."""

import hashlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import isoform

ROOT = Path(__file__).parent.parent
SCHEMA = ROOT / "docs" / "schema" / "diff-2.schema.json"
# A schema is published once: a change of the output gets a new version with a new file.
PUBLISHED = {
    "diff-2.schema.json": "f744d848952d237db40203dfa3881e5e231d0fd81d0b9270419b7c82c344e10d"
}
PATIENCE = 60


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "isoform", "diff", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=cwd)


def valid(validator, *arguments, cwd=None, status=1, lines=1):
    """The objects that a run prints, all of which the schema admits."""
    done = run("--json", *arguments, cwd=cwd)
    assert done.returncode == status, done.stderr
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(objects) == lines, done.stdout
    for each in objects:
        for error in validator.iter_errors(each):
            reasons = [f"{list(it.absolute_path)}: {it.message}" for it in error.context]
            pytest.fail(f"{arguments}: {error.message[:200]} {reasons[:8]}")
    return objects


def save(folder, name, value):
    (folder / name).write_text(isoform.ir.save_json(value), encoding="utf-8")


@pytest.fixture
def values(tmp_path):
    save(tmp_path, "a.json", {"list": [1, 2, 3], "text": "one", "deep": [[1], [2]]})
    save(tmp_path, "b.json", {"list": [1, 3], "text": "two", "deep": [[1], [3, 4]]})
    return tmp_path


def models(folder):
    """Models that differ in every way that the summary tells."""
    onnx = pytest.importorskip("onnx")
    np = pytest.importorskip("numpy")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper

    def model(name, op, weight, inputs=1, version=17, **attributes):
        info = helper.make_tensor_value_info
        kind = onnx.TensorProto.FLOAT
        nodes = [
            helper.make_node("Add", ["x", "w"], ["s"], name="add"),
            helper.make_node(op, ["s"], ["y"], name="act", **attributes),
        ]
        graph = helper.make_graph(
            nodes,
            "main",
            [info(f"{'x' if n == 0 else n}", kind, ["n", 3]) for n in range(inputs)],
            [info("y", kind, ["n", 3])],
            [numpy_helper.from_array(np.asarray(weight, "float32"), "w")],
        )
        opset = [helper.make_opsetid("", version)]
        onnx.save(helper.make_model(graph, opset_imports=opset), folder / name)
        return name

    inf = float("inf")
    return [
        model("a.onnx", "Relu", [0.5, 1, 2]),
        model("operator.onnx", "Tanh", [0.5, 1, 2]),
        model("weight.onnx", "Relu", [0, inf, float("nan")]),
        model("interface.onnx", "Relu", [[0.5, 1, 2]], inputs=2),
        model("attribute.onnx", "LeakyRelu", [0.5, 1, 2], alpha=0.5),
        model("alpha.onnx", "LeakyRelu", [0.5, 1, 2], alpha=0.25, version=15),
    ]


def test_models(validator, tmp_path):
    names = models(tmp_path)
    for left in names:
        for right in names:
            status = int(left != right)
            valid(validator, left, right, cwd=tmp_path, status=status)
            valid(validator, "--stat", left, right, cwd=tmp_path, status=status)
            valid(validator, "--first", left, right, cwd=tmp_path, status=status)
    (found,) = valid(validator, "--strict", "a.onnx", "alpha.onnx", cwd=tmp_path)
    assert found["version"] == 2
    valid(validator, "--rtol", "0.5", "a.onnx", "weight.onnx", cwd=tmp_path)
    valid(validator, "--architecture", "a.onnx", "operator.onnx", cwd=tmp_path)


def test_format_json_prints_the_same(tmp_path, validator):
    models(tmp_path)
    (found,) = valid(validator, "a.onnx", "operator.onnx", cwd=tmp_path)
    done = run("--format", "json", "a.onnx", "operator.onnx", cwd=tmp_path)
    other = json.loads(done.stdout)
    assert other == found


def test_values(validator, values):
    for left, right in [("a.json", "b.json"), ("b.json", "a.json"), ("a.json", "a.json")]:
        status = int(left != right)
        valid(validator, left, right, cwd=values, status=status)
        valid(validator, "--stat", left, right, cwd=values, status=status)
        valid(validator, "--first", left, right, cwd=values, status=status)
    deep = []
    for _ in range(200):
        deep = [deep, 1]
    save(values, "deep.json", deep)
    other = [7]
    for _ in range(200):
        other = [other, 1]
    save(values, "other.json", other)
    (found,) = valid(validator, "deep.json", "other.json", cwd=values)
    assert found["places"]


def test_folders(validator, tmp_path):
    for folder in ("left", "right"):
        (tmp_path / folder).mkdir()
        save(tmp_path / folder, "same.json", [1])
        save(tmp_path / folder, f"{folder}.json", [folder])
        save(tmp_path / folder, f"{folder}2.json", [folder])
    found = valid(validator, "left", "right", cwd=tmp_path, lines=5)
    assert sorted(it["equal"] for it in found) == [False] * 4 + [True]
    assert sum(it["left"] is None for it in found) == 2


def test_failures(validator, tmp_path):
    (found,) = valid(validator, "none.onnx", "none.json", cwd=tmp_path, status=2)
    assert len(found["failed"]) == 2
    valid(validator, "-", "-", cwd=tmp_path, status=2)
    valid(validator, "--html", "no/page.html", "none.onnx", "a", cwd=tmp_path, status=2)


def test_real_models(validator):
    folder = os.environ.get("ISOFORM_MODELS")
    if not folder:
        pytest.skip("ISOFORM_MODELS is not set")
    paths = sorted(Path(folder).glob("*.onnx"))
    for left, right in list(itertools.pairwise(paths))[::40]:
        done = run("--json", left, right)
        assert done.returncode in (0, 1), done.stderr
        for error in validator.iter_errors(json.loads(done.stdout)):
            pytest.fail(f"{left.name} {right.name}: {error.message[:200]}")


def test_the_schema_is_closed(validator, values):
    """A field more, a field less or another type is an error: the test can fail."""
    (found,) = valid(validator, "a.json", "b.json", cwd=values)
    assert not list(validator.iter_errors(found))
    change = found["changes"][0]
    for other in (
        {**found, "more": 1},
        {**found, "version": 3},
        {**found, "summary": {}},
        {name: value for name, value in found.items() if name != "left"},
        {name: value for name, value in found.items() if name != "hunks"},
        {**found, "changes": [{**change, "more": 1}]},
        {**found, "changes": [{**change, "kind": "other"}]},
        {**found, "changes": [{**change, "places": None}]},
        {**found, "groups": []},
    ):
        assert list(validator.iter_errors(other)), other


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_schema_stays(name):
    content = (SCHEMA.parent / name).read_bytes().replace(b"\r\n", b"\n")
    assert hashlib.sha256(content).hexdigest() == PUBLISHED[name], (
        "a change of the output needs a new version, in crates/isoform-cli/src/diff/json.rs and "
        "in the name of a new schema"
    )


def test_the_newest_schema_is_that_of_the_output(values):
    found = json.loads(run("--json", "a.json", "b.json", cwd=values).stdout)
    newest = max(SCHEMA.parent.glob("diff-*.schema.json"))
    assert newest.name == f"diff-{found['version']}.schema.json"
    assert newest == SCHEMA
