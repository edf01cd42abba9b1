"""Every example runs, without a warning."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
MODELS = os.environ.get("ISOFORM_MODELS")


def run(name, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "name", sorted(path.name for path in EXAMPLES.glob("*.py") if path.name != "onnx_diff.py")
)
def test_example(name):
    done = run(name)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr


@pytest.mark.skipif(MODELS is None, reason="ISOFORM_MODELS names no folder of models")
def test_onnx_diff():
    first, second = (Path(MODELS) / f"light_{name}.onnx" for name in ("squeezenet", "shufflenet"))
    same, different = run("onnx_diff.py", first, first), run("onnx_diff.py", first, second)
    assert (same.returncode, same.stdout.splitlines()[-1]) == (0, "equal")
    assert different.returncode == 1
    assert "<root>" in different.stdout


def test_onnx_diff_says_what_is_wrong():
    done = run("onnx_diff.py", "missing.onnx", "missing.onnx")
    assert done.returncode == 2
    assert "missing.onnx" in done.stderr
    assert run("onnx_diff.py").returncode == 2
