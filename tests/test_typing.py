"""Both type checkers, in their strict modes, know the types of the package.

`tests/typing` has a file for each topic. It states the type of each result, and has wrong
calls with the errors that checkers report; an error that is not reported is a failure, too.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import isoform

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "tests" / "typing").glob("*.py"))
EXAMPLES = ROOT / "examples"
NAMES = [path.stem for path in FILES]


def mypy(folder):
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10"]
    return [*command, "--no-incremental", "."]


def pyright(folder):
    options = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.10",
        # Else it heeds the comments for mypy, too.
        "enableTypeIgnoreComments": False,
        "reportUnnecessaryTypeIgnoreComment": "error",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(options))
    return [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]


CHECKERS = [
    pytest.param(
        checker,
        marks=pytest.mark.skipif(
            importlib.util.find_spec(checker.__name__) is None,
            reason=f"{checker.__name__} is not installed",
        ),
    )
    for checker in (mypy, pyright)
]


def problems(checker, folder):
    """The output of a checker about the files of a folder; empty if there is no problem."""
    command = checker(folder)
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize("checker", CHECKERS)
def test_files_of_types(checker, tmp_path):
    for path in FILES:
        shutil.copy(path, tmp_path)
    assert problems(checker, tmp_path) == ""


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_files_of_types_run(path):
    done = subprocess.run(
        [sys.executable, "-W", "error", path],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("checker", CHECKERS)
def test_examples(checker, tmp_path):
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, tmp_path)
    shutil.copytree(EXAMPLES / "tensor_language", tmp_path / "tensor_language")
    assert problems(checker, tmp_path) == ""


PROJECT = '''
"""A project of its own."""

import isoform
from isoform import Object, ir, onnx, relay, structural_map, tir
from isoform.dataclasses import StrEnum, py_class


class Kind(StrEnum, type_key="project.Kind"):
    """Kinds."""

    SMALL = "small"


@py_class("project.Node")
class Node(Object):
    """A node."""

    kind: Kind


def renamed(node: Node) -> Node:
    """A node of another kind."""
    return structural_map(node, (Kind, lambda kind: Kind.SMALL))


def both(node: Node) -> tuple[bool, relay.Var, isoform.relay.Var]:
    """Dialects are there, in both ways to write them."""
    x = relay.var("x")
    return isoform.structural_equal(node, renamed(node)), x, isoform.relay.var("y")


def function_of(module: ir.IRModule, name: str) -> ir.BaseFunc:
    """Dialects export the types that Rust declares."""
    found: ir.BaseFunc = module[name]
    return found


def operators(graph: onnx.Graph, bound: tir.Var) -> tuple[onnx.Graph, tir.Var]:
    """The types of other dialects."""
    return graph, bound
'''


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_project_elsewhere(checker, tmp_path):
    """The package says that it has types, so checkers read them without any setting."""
    assert (Path(isoform.__file__).parent / "py.typed").is_file()
    (tmp_path / "project.py").write_text(PROJECT.lstrip())
    assert problems(checker, tmp_path) == ""
    # A wrong call is an error there, too: the types are not `Any`.
    (tmp_path / "wrong.py").write_text("from project import Kind, Node\n\nNode(kind=3)\n")
    found = problems(checker, tmp_path)
    assert "wrong.py" in found and "Kind" in found
