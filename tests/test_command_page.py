"""The page about the command shows the help of today."""

import importlib.util
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts" / "command_page.py"


def script():
    spec = importlib.util.spec_from_file_location("command_page", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*arguments):
    command = [sys.executable, SCRIPT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_page_is_fresh():
    done = run("--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_another_help_is_noticed(tmp_path):
    program = tmp_path / "isoform"
    program.write_text("#!/bin/sh\necho 'Another help.'\n")
    program.chmod(0o755)
    done = run("--check", "--command", program)
    assert done.returncode == 1
    assert "-| [`isoform hash`]" in done.stdout
    assert "make command-page" in done.stderr


def test_a_program_that_fails_is_named(tmp_path):
    program = tmp_path / "isoform"
    program.write_text("#!/bin/sh\necho 'no such thing' >&2\nexit 2\n")
    program.chmod(0o755)
    done = run("--check", "--command", program)
    assert done.returncode == 1
    assert "isoform --help: no such thing" in done.stderr


def test_subcommands_and_their_purpose_are_found():
    text = "Do it\nwell.\n\nCommands:\n  cut-out  Cut,\n           or not\n  run      Run\n  help     Help\n\nOptions:\n  -q\n"
    assert script().commands(text) == ["cut-out", "run"]
    assert script().purpose(text) == "Do it well"
