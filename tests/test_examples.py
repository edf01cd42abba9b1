"""Every example runs, without a warning."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from isoform import relay, serialization

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
MODELS = os.environ.get("ISOFORM_MODELS")
TAKE_MODELS = {"onnx_diff.py", "relay_resnet.py"}
needs_models = pytest.mark.skipif(MODELS is None, reason="ISOFORM_MODELS names no folder of models")


def run(name, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "name",
    sorted(path.name for path in EXAMPLES.glob("*.py") if path.name not in TAKE_MODELS),
)
def test_example(name):
    done = run(name)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr


@needs_models
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


@needs_models
def test_a_residual_network_becomes_kernels(tmp_path):
    """Each convolution is a kernel with its bias, and Rust finishes the file of Python."""
    program, done = tmp_path / "program.isob", tmp_path / "done.isob"
    model = Path(MODELS) / "light_resnet50.onnx"
    ran = run("relay_resnet.py", model, program)
    assert (ran.returncode, ran.stderr) == (0, "")
    before, after, *kernels = ran.stdout.splitlines()
    assert "53 nn.batch_norm, 1 nn.bias_add, 53 nn.conv2d" in before
    assert "nn.batch_norm" not in after and "multiply" not in after
    assert kernels[:3] == [
        "33 x (1 add, 1 nn.conv2d, 1 nn.relu)",
        "16 x (2 add, 1 nn.conv2d, 1 nn.relu)",
        "4 x (1 add, 1 nn.conv2d)",
    ]
    passes = "SimplifyInference,FoldConstant,FoldScaleAxis,FuseOps"
    command = ["isoform", "run", "--opt-level", "3", passes, program, "-o", done]
    subprocess.run([sys.executable, "-m", *command], check=True, timeout=60)
    main = serialization.from_bytes(done.read_bytes())["main"]
    assert main.ret_type.shape == [1, 1000]
    assert relay.testing.count_ops(main)["nn.conv2d"] == 53
    # Existing files stay.
    again = run("relay_resnet.py", model, program)
    assert again.returncode == 2 and "File exists" in again.stderr


@needs_models
def test_a_residual_network_has_known_operators():
    ran = run("relay_resnet.py", Path(MODELS) / "light_vgg19.onnx")
    assert ran.returncode == 2
    assert "Conv of 3 inputs" in ran.stderr
