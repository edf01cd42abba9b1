"""Write docs/command.md: the help of the command and of each of its subcommands.

    .venv/bin/python scripts/command_page.py [--check] [--command PROGRAM]

Without `--command`, the program is `python -m isoform` of this Python. With `--check`, nothing is
written, and the status is 1 if the page differs from the help.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "command.md"
NAME = "isoform"
_COMMANDS = re.compile(r"^Commands:\n((?: .*\n)+)", re.MULTILINE)
_COMMAND = re.compile(r"^  ([a-z][a-z-]*) +\S", re.MULTILINE)
_COMMON = re.compile(r"^Common options:\n(?:(?: .*)?\n)+", re.MULTILINE)
INTRODUCTION = """\
# The command `isoform`

Compare, name, print, transform and index models and IR files from a shell.
This page is the help of the command, as `isoform COMMAND --help` prints it.
`cargo install --path crates/isoform-cli` installs the command; the Python package has it as well, also as `python -m isoform`.
[onnx.md](onnx.md), [passes.md](passes.md), [corpora.md](corpora.md), [stores.md](stores.md) and [git.md](git.md) show the commands at work.

"""


def help_of(program: list[str], path: list[str]) -> str:
    """Return the help of a command, in lines of at most 100 characters."""
    variables = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [*program, *path, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)}: {done.stderr.strip()}")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def commands(text: str) -> list[str]:
    """Return the subcommands that a help lists."""
    found = _COMMANDS.search(text)
    return [name for name in _COMMAND.findall(found[1]) if name != "help"] if found else []


def purpose(text: str) -> str:
    """Return the first paragraph of a help in one line."""
    return " ".join(text.split("\n\n")[0].split()).removesuffix(".")


def section(path: list[str], text: str) -> str:
    """Return the part of the page about one command."""
    # Each command repeats the common options, which the first part has.
    shown = _COMMON.sub("", text) if path else text
    shown = re.sub(r"\n{3,}", "\n\n", shown).strip()
    level = "#" * min(len(path) + 1, 3) if path else "##"
    return f"{level} {' '.join([NAME, *path])}\n\n```text\n{shown}\n```\n"


def page(program: list[str]) -> str:
    """Return the whole page."""
    table = ["| command | purpose |", "|---|---|"]
    parts: list[str] = []

    def add(path: list[str]) -> None:
        text, words = help_of(program, path), [NAME, *path]
        parts.append(section(path, text))
        if path:
            table.append(f"| [`{' '.join(words)}`](#{'-'.join(words)}) | {purpose(text)} |")
        for name in commands(text):
            add([*path, name])

    add([])
    return INTRODUCTION + "\n".join(table) + "\n\n" + "\n".join(parts)


def main() -> int:
    """Write the page, or check it; return the status."""
    parser = argparse.ArgumentParser(description="Write docs/command.md.")
    parser.add_argument("--check", action="store_true", help="only say whether the page is fresh")
    parser.add_argument("--command", metavar="PROGRAM", help="the program of the command")
    options = parser.parse_args()
    text = page([options.command] if options.command else [sys.executable, "-m", NAME])
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if text == old:
        return 0
    if options.check:
        lines = difflib.unified_diff(old.splitlines(), text.splitlines(), lineterm="", n=0)
        print("\n".join([*lines][:40]))
        print(f"{PAGE.name} is not fresh; run `make command-page`", file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
