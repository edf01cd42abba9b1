"""The command `isoform` that the package installs."""

import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import isoform
from isoform import _core

MODELS = os.environ.get("ISOFORM_MODELS")
# Pipes and interpreters of a busy machine may take a while; no test waits this long.
PATIENCE = 60


def run(*arguments, **options):
    command = [sys.executable, "-m", "isoform", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"isoform {isoform.__version__}\n")


def test_help_names_the_commands():
    done = run("--help")
    assert done.returncode == 0
    for command in ("hash", "diff", "show", "dedup", "convert"):
        assert command in done.stdout


def test_ir_files_can_be_shown_and_converted(tmp_path):
    prim = isoform.ir.PrimType("int8")
    (tmp_path / "prim.json").write_text(isoform.ir.save_json(prim))
    shown = run("show", "prim.json", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == "// JSON graph, ir.PrimType\nir.PrimType(dtype=int8)\n"
    assert run("convert", "prim.json", "prim.iso", cwd=tmp_path).returncode == 0
    done = run("diff", "prim.json", "prim.iso", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "equal\n")


def test_no_command_is_trouble():
    done = run()
    assert done.returncode == 2
    assert not done.stdout
    assert "isoform" in done.stderr


def test_a_file_that_is_missing_is_trouble(tmp_path):
    done = run("hash", tmp_path / "missing.onnx")
    assert done.returncode == 2
    assert done.stderr.startswith(f"isoform: {tmp_path}/missing.onnx: ")


def test_names_of_files_need_not_be_text(tmp_path):
    name = os.fsdecode(b"\xff.onnx")
    done = run("hash", tmp_path / name, errors="surrogateescape")
    assert done.returncode == 2
    assert "No such file" in done.stderr


def test_the_installed_command_is_the_same():
    installed = Path(sys.executable).with_name("isoform")
    if not installed.exists():
        pytest.skip("the package is not installed, only importable")
    done = subprocess.run([installed, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"isoform {isoform.__version__}\n"


def test_the_function_returns_the_status(tmp_path):
    assert _core.cli_main(["isoform", "hash", str(tmp_path / "missing.onnx")]) == 2
    with pytest.raises(TypeError):
        _core.cli_main([1])


@pytest.mark.skipif(MODELS is None, reason="ISOFORM_MODELS names no folder of models")
class TestModels:
    def models(self):
        return sorted(Path(MODELS).glob("light_*.onnx"))

    def test_statuses_of_diff(self, tmp_path):
        first, second, *_ = self.models()
        copy = tmp_path / "copy.onnx"
        shutil.copyfile(first, copy)
        assert run("diff", first, copy).returncode == 0
        assert run("diff", first, second).returncode == 1

    def test_a_reader_that_goes_away_is_no_trouble(self):
        command = f"'{sys.executable}' -m isoform show '{self.models()[0]}' | head -n 1"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "# ONNX model\n"


def test_git_calls_this_python():
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    done = run("git", "install", "--global", "--print", "--json")
    assert done.returncode == 0
    textconv = json.loads(done.stdout)["changes"][0]
    assert shlex.split(shlex.split(textconv)[-1]) == [
        *(sys.executable, "-m", "isoform"),
        *("git", "textconv", "--"),
    ]


def test_ctrl_c_ends_the_command():
    # The pipe is full long before the script is written, so the command waits.
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    command = [sys.executable, "-m", "isoform", "completions", "zsh"]
    started = subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    try:
        assert os.read(reader, 1)
        started.send_signal(signal.SIGINT)
        assert started.wait(PATIENCE) == -signal.SIGINT
    finally:
        started.kill()
        os.close(reader)
    assert started.communicate()[1] == b""


@pytest.mark.parametrize("culprit", ["left", "right"])
def test_a_value_that_cannot_be_compared_is_blamed_on_its_file(tmp_path, culprit):
    (tmp_path / "handles.py").write_text(
        """\
from isoform import Object
from isoform.dataclasses import py_class


@py_class("cli.Handle", structural_eq=None)
class Handle(Object):
    n: int


@py_class("cli.Holder")
class Holder(Object):
    x: object
"""
    )
    make = f"""\
import handles
from isoform.serialization import to_json_graph_str
for side in ("left", "right"):
    value = handles.Handle(2) if side == {culprit!r} else 1
    open(f"{{side}}.json", "w").write(to_json_graph_str(handles.Holder(value)))
"""
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    made = subprocess.run([sys.executable, "-c", make], **options)
    assert made.returncode == 0, made.stderr
    command = [sys.executable, "-m", "isoform", "diff", "--import", "handles.py"]
    ran = subprocess.run([*command, "left.json", "right.json"], **options)
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"isoform: {culprit}.json: "), ran.stderr
