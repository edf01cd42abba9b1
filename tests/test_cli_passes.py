"""The command `isoform` with passes and node types of Python, in pipes and on a terminal."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
# Interpreters of a busy machine may take a while; no test waits this long.
PATIENCE = 60

PASSES = '''
"""An IR of one number, and passes over it."""

import time
from pathlib import Path

from isoform import Object
from isoform.dataclasses import py_class, replace
from isoform.transform import function_pass, register_pass


@py_class("test_cli_passes.Number")
class Number(Object):
    value: int


@register_pass("my.Add")
@function_pass(opt_level=0, name="my.Add")
class Add:
    """Adds a number."""

    def __init__(self, amount: int = 1):
        self.amount = amount

    def transform_function(self, number, root, ctx):
        print("adding", self.amount)
        return replace(number, value=number.value + self.amount)


@register_pass("my.Wait")
@function_pass(opt_level=0, name="my.Wait")
def Wait(number, root, ctx):
    """Waits until it may go on."""
    Path("waiting").touch()
    while not Path("go on").exists():
        time.sleep(0.01)
    return number
'''
PROGRAM = "test_cli_passes.Number(value=3)\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "passes.py").write_text(PASSES)
    (tmp_path / "three.iso").write_text(PROGRAM)
    return tmp_path


def command(*arguments):
    return [sys.executable, "-m", "isoform", *map(str, arguments)]


def run(folder, *arguments):
    # Not from the checkout's own folder, and without the folder that Python adds.
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=PATIENCE, cwd=folder
    )


@pytest.mark.parametrize("module", ["passes", "passes.py", "./passes.py"])
def test_passes_and_types_of_a_module_are_known(folder, module):
    done = run(folder, "run", "--import", module, "my.Add,my.Add{amount=5}", "three.iso")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "adding 1\nadding 5\ntest_cli_passes.Number(value=9)\n"


def test_types_of_a_module_can_be_shown(folder):
    assert run(folder, "hash", "three.iso").returncode == 2
    assert run(folder, "show", "-q", "three.iso", "--import", "passes").stdout == PROGRAM


def test_the_list_has_their_options_and_documentation(folder):
    done = run(folder, "--import", "passes.py", "passes")
    assert "\nmy.Add{amount: int = 1}  (level 0)\n    Adds a number.\n" in done.stdout
    assert "\nmy.Wait  (level 0)\n    Waits until it may go on.\n" in done.stdout
    assert "my.Add" not in run(folder, "passes").stdout


def test_a_file_in_another_folder_finds_its_neighbours(folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "near.py").write_text("NAME = 'my.Near'\n")
    (folder / "inner" / "far.py").write_text(
        "import near\nfrom isoform.transform import FunctionPass, PassInfo, register_pass\n"
        "register_pass(near.NAME, FunctionPass(lambda f, r, c: f, PassInfo(0, near.NAME)))\n"
    )
    done = run(folder, "passes", "--import", "inner/far.py", "--import", "passes")
    assert "my.Near  (level 0)" in done.stdout
    assert "my.Add" in done.stdout
    # The same file once more causes no error, although its passes are registered.
    done = run(folder, "passes", "--import", "inner/far.py", "--import", "inner/../inner/far.py")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("missing.py", None, "FileNotFoundError: "),
        ("missing", None, "ModuleNotFoundError: No module named 'missing'\n"),
        ("bad.py", "def f(:\n", "SyntaxError: invalid syntax\n  File "),
        (
            "bad.py",
            "def f():\n    raise ValueError('no')\nf()\n",
            "ValueError: no\nTraceback (most recent call last):\n  File ",
        ),
        ("bad.py", "raise SystemExit(0)\n", "SystemExit: 0\n"),
        (
            "subprocess.py",
            "",
            "ImportError: a module named 'subprocess' is imported already, from ",
        ),
    ],
)
def test_what_cannot_be_imported_is_trouble(folder, name, source, message):
    if source is not None:
        (folder / "inner").mkdir()
        (folder / "inner" / name).write_text(source)
        name = f"inner/{name}"
    arguments = ["run", "my.Add", "three.iso", "-o", "out.iso", "--import", name]
    if "subprocess" in name:
        (folder / "first.py").write_text("import subprocess, passes\n")
        arguments += ["--import", "first.py"]
        arguments[-4:] = [*arguments[-2:], *arguments[-4:-2]]
    done = run(folder, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    shown = done.stderr.replace("  File ", "File ")
    assert shown.startswith(f"isoform: --import {name}: {message.replace('  File ', 'File ')}")
    # The text has no import machinery between the user and the mistake.
    assert "importlib" not in done.stderr
    assert "_importing" not in done.stderr
    assert not (folder / "out.iso").exists()


def test_a_failing_pass_is_named(folder):
    (folder / "failing.py").write_text(
        PASSES.replace("print(", "raise ArithmeticError(").replace("my.", "failing.")
    )
    done = run(folder, "run", "--import", "failing.py", "failing.Add", "three.iso")
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines[0] == (
        "isoform: three.iso: ArithmeticError: ('adding', 1) (in pass 'failing.Add')"
    )
    assert lines[1] == "Traceback (most recent call last):"
    place = next(line for line in lines if "failing.py" in line)
    assert place.endswith(", in transform_function")


def test_the_passes_of_the_example_are_found(folder):
    done = run(folder, "passes", "--import", EXAMPLES / "onnx_passes.py")
    assert "onnx.CollapseIfs  (level 1)" in done.stdout
    assert "onnx.FoldConstants{limit: int = 65536}  (level 2)" in done.stdout


class Terminal:
    """A process with a controlling terminal as standard error."""

    def __init__(self, folder, command):
        self.screen, terminal = pty.openpty()
        self.text = b""

        def take_control():
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command,
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=terminal,
            cwd=folder,
            start_new_session=True,
            preexec_fn=take_control,
        )
        os.close(terminal)

    def read_until(self, condition):
        """Read the screen until the condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, self.text
            if not select.select([self.screen], [], [], 0.01)[0]:
                continue
            try:
                self.text += os.read(self.screen, 1 << 16)
            except OSError:  # The process has closed the terminal.
                return

    def close(self):
        self.process.kill()
        self.process.communicate()
        os.close(self.screen)


@pytest.fixture
def terminal(folder):
    opened = []

    def start(command):
        opened.append(Terminal(folder, command))
        return opened[0]

    yield start
    for one in opened:
        one.close()


PIPELINE = "my.Add,my.Wait,my.Add"


def test_progress_is_shown_on_a_terminal_and_leaves_no_trace(folder, terminal):
    shown = terminal(command("run", "--import", "passes.py", PIPELINE, "three.iso"))
    # The running pass: two have ended, the sequence and one pass are left.
    shown.read_until(lambda: b"my.Wait" in shown.text and b"1/4 passes" in shown.text)
    assert shown.process.poll() is None
    (folder / "go on").touch()
    assert shown.process.wait(PATIENCE) == 0
    shown.read_until(lambda: False)
    # Finally, the line is erased.
    assert shown.text.rstrip(b"\r").endswith((b"\x1b[2K", b"\x1b[K")), shown.text
    assert shown.process.stdout.read().endswith(b"test_cli_passes.Number(value=5)\n")


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_pipes_and_quiet_runs_show_no_progress(folder, terminal, quiet):
    (folder / "go on").touch()
    arguments = command("run", *quiet, "--import", "passes.py", PIPELINE, "three.iso")
    if quiet:
        shown = terminal(arguments)
        assert shown.process.wait(PATIENCE) == 0
        shown.read_until(lambda: False)
        assert shown.text == b""
    else:
        done = subprocess.run(arguments, capture_output=True, timeout=PATIENCE, cwd=folder)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("replaced", [False, True])
def test_ctrl_c_leaves_the_output_as_it_was(folder, terminal, replaced):
    output = folder / "out.iso"
    if replaced:
        output.write_text("old\n")
    arguments = ["run", "--import", "passes.py", PIPELINE, "three.iso", "--force", "-o", "out.iso"]
    # The shell catches the signal, which the command gets as well.
    line = " ".join(f"'{argument}'" for argument in command(*arguments))
    shown = terminal(["sh", "-c", f"trap : INT; {line}; echo status $?"])
    shown.read_until((folder / "waiting").exists)
    os.write(shown.screen, b"\x03")
    assert shown.process.wait(PATIENCE) == 0
    assert shown.process.stdout.read().splitlines()[-1] == f"status {128 + signal.SIGINT}".encode()
    names = {path.name for path in folder.iterdir()} - {"__pycache__", "waiting"}
    assert names == {"passes.py", "three.iso", *(["out.iso"] if replaced else [])}
    assert not replaced or output.read_text() == "old\n"


def test_ctrl_c_leaves_nothing_of_a_bisection(folder, terminal):
    temporary = folder / "temporary"
    temporary.mkdir()
    arguments = command("bisect", "--import", "passes.py", PIPELINE, "three.iso", "--", "true")
    line = " ".join(f"'{argument}'" for argument in arguments)
    shown = terminal(["sh", "-c", f"trap : INT; TMPDIR={temporary} {line}; echo status $?"])
    shown.read_until((folder / "waiting").exists)
    assert len(list(temporary.iterdir())) == 1
    os.write(shown.screen, b"\x03")
    assert shown.process.wait(PATIENCE) == 0
    assert shown.process.stdout.read().splitlines()[-1] == f"status {128 + signal.SIGINT}".encode()
    end = time.monotonic() + PATIENCE
    while list(temporary.iterdir()):
        assert time.monotonic() < end
        time.sleep(0.01)
