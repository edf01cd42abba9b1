"""The hooks for pre-commit, and the files for model-explorer, with the real tools."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
import yaml
from onnx import helper
from review_runner import COMMAND, ROOT, Repository, write_model

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def repository(tmp_path):
    """A repository with one commit."""
    folder = tmp_path / "repository"
    folder.mkdir()
    return Repository(folder)


# ---- the hooks -----------------------------------------------------------------------


def hooks():
    """The hooks by id, with the command of this environment."""
    listed = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    return {hook["id"]: hook for hook in listed}


def run_hook(hook, folder):
    """Run a hook on all files, as pre-commit would."""
    entry = hook["entry"]
    assert entry.startswith("python -m isoform ")
    words = shlex.split(COMMAND) + shlex.split(entry)[3:]
    names = subprocess.run(
        ["git", "ls-files"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    files = [name for name in names if re.search(hook["files"], name)]
    assert files
    return subprocess.run([*words, *files], cwd=folder, capture_output=True, text=True)


def test_hooks_check_and_format(repository):
    folder, known = repository.folder, hooks()
    assert run_hook(known["isoform-check"], folder).returncode == 0
    assert run_hook(known["isoform-format"], folder).returncode == 0
    (folder / "map.iso").write_text('{"lr":    0.1}\n')
    assert run_hook(known["isoform-check"], folder).returncode == 0
    # A hook that changes files fails, and succeeds when it is run again.
    assert run_hook(known["isoform-format"], folder).returncode == 1
    assert (folder / "map.iso").read_text() == '{"lr": 0.1}\n'
    assert run_hook(known["isoform-format"], folder).returncode == 0
    (folder / "gone.onnx").write_bytes(b"\x0a\xff\xff\xff\xff\xff\xff\xff")
    ran = run_hook(known["isoform-check"], folder)
    assert ran.returncode == 2 and "gone.onnx" in ran.stderr


def installed(package, module):
    """The Python of an environment in the cache with a package; skips if there is none."""
    folder = ROOT / ".cache" / f"{module}-venv"
    python = folder / "bin/python"
    if (
        subprocess.run([python, "-c", f"import {module}"], check=False).returncode
        if (python.exists())
        else True
    ):
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        ran = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *package],
            capture_output=True,
            text=True,
        )
        if ran.returncode != 0:
            pytest.skip(f"{package[0]} cannot be installed")
    return python


def test_pre_commit_runs_the_hooks(repository):
    python = installed(["pre-commit"], "pre_commit")
    local = []
    for hook in hooks().values():
        entry = hook["entry"].replace("python -m isoform", COMMAND)
        local.append(hook | {"entry": entry, "language": "system"})
    config = {"repos": [{"repo": "local", "hooks": local}]}
    file = repository.folder / ".pre-commit-config.yaml"
    file.write_text(yaml.safe_dump(config))
    repository.git("add", ".pre-commit-config.yaml")

    def run():
        home = str(ROOT / ".cache/pre-commit-home")
        return subprocess.run(
            [python, "-m", "pre_commit", "run", "--all-files"],
            cwd=repository.folder,
            env=dict(os.environ) | {"PRE_COMMIT_HOME": home},
            capture_output=True,
            text=True,
        )

    ran = run()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("Passed") == 2, ran.stdout
    (repository.folder / "map.iso").write_text('{"lr":    0.1}\n')
    ran = run()
    assert ran.returncode == 1 and "files were modified by this hook" in ran.stdout, ran.stdout
    (repository.folder / "gone.onnx").write_bytes(b"nothing")
    ran = run()
    assert ran.returncode == 1 and "gone.onnx" in ran.stdout, ran.stdout


# ---- model-explorer ------------------------------------------------------------------

ADAPTER = """
import json, sys
from dataclasses import fields
from model_explorer import node_data_builder as ndb
from model_explorer_onnx.main import ONNXAdapter

folder, *models = sys.argv[1:]
found = []
for name, model in zip(("left", "right"), models):
    graphs = ONNXAdapter().convert(model, {})["graphs"]
    data = json.load(open(f"{folder}/{name}.json"))
    built = ndb.ModelNodeData({
        graph: ndb.GraphNodeData(
            name=given["name"],
            results={id: ndb.NodeDataResult(**value) for id, value in given["results"].items()},
        )
        for graph, given in data.items()
    })
    # What their own writer makes of it is what was read.
    again = json.loads(built.to_json_string())
    for graph, given in data.items():
        kept = {key: value for key, value in again[graph].items() if key in given}
        assert kept == given, (kept, given)
    assert set(data) == {graphs[0].id}, (list(data), graphs[0].id)
    ids = {node.id for node in graphs[0].nodes}
    marks = {id: value["value"] for id, value in data[graphs[0].id]["results"].items()}
    assert set(marks) <= ids, (marks, ids)
    found.append((ids, marks))
mapping = json.load(open(f"{folder}/mapping.json"))
pairs = mapping["mapping"]
(left, left_marks), (right, right_marks) = found
assert set(pairs) <= left and set(pairs.values()) <= right, (pairs, left, right)
print(json.dumps([left_marks, right_marks, pairs, sorted(left - set(pairs))]))
"""


def explore(tmp_path, left, right):
    """The files for two models, as model-explorer reads them with its adapter."""
    python = installed(["model-explorer-onnx", "ai-edge-model-explorer"], "model_explorer_onnx")
    command = [*shlex.split(COMMAND), "diff", "--model-explorer", "out", "--force", left, right]
    ran = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode in (0, 1), ran.stderr
    ran = subprocess.run(
        [python, "-c", ADAPTER, tmp_path / "out", left, right], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_model_explorer_knows_the_ids(tmp_path):
    left, right = tmp_path / "left.onnx", tmp_path / "right.onnx"
    write_model(left)
    model = onnx.load(left)
    # Names that are missing or not unique get the ids that the adapter makes up.
    for node in model.graph.node:
        node.name = ""
    model.graph.node.insert(3, helper.make_node("Neg", ["s"], ["n"]))
    model.graph.node[4].input[0] = "n"
    onnx.save(model, right)
    left_marks, right_marks, pairs, alone = explore(tmp_path, left, right)
    assert left_marks == {"last": "changed"}
    assert right_marks == {"node_3": "inserted", "node_4": "changed"}
    assert pairs["add"] == "node" and pairs["last"] == "node_4"
    assert pairs["[value] x"] == "[value] x" and pairs["[value] b"] == "[value] b"
    assert not alone


def test_model_explorer_on_a_real_model(tmp_path):
    models = Path(os.environ.get("ISOFORM_MODELS", ROOT / ".cache/models"))
    source = models / "light_squeezenet.onnx"
    if not source.exists():
        pytest.skip("the models of the demo are not there")
    right = tmp_path / "right.onnx"
    script = ROOT / "scripts/edit_model.py"
    command = [sys.executable, script, "scramble", source, right, "--seed", "1"]
    subprocess.run(command, check=True, capture_output=True)
    left_marks, right_marks, pairs, alone = explore(tmp_path, source, right)
    assert left_marks == {} and right_marks == {}
    assert len(pairs) > 100 and not alone, alone
