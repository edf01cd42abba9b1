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
# A project that uses the package; `scripts/check_wheels.py` checks it with an installed wheel.
OUTSIDE = ROOT / "tests" / "outside_project"
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


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_project_elsewhere(checker, tmp_path):
    """The package says that it has types, so checkers read them without any setting."""
    assert (Path(isoform.__file__).parent / "py.typed").is_file()
    shutil.copy(OUTSIDE / "project.py", tmp_path)
    assert problems(checker, tmp_path) == ""
    # A wrong call is an error there, too: the types are not `Any`.
    shutil.copy(OUTSIDE / "wrong.py", tmp_path)
    found = problems(checker, tmp_path)
    assert "wrong.py" in found and "Kind" in found
