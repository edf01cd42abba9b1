"""Put the extension modules that cargo built into the environment of this Python.

    .venv/bin/python scripts/link_modules.py TARGET_FOLDER

`TARGET_FOLDER` is where cargo puts its results, such as `target/debug`. The package is
used from its sources, as after `maturin develop`, but shares the build of the Rust
tests: maturin would compile the crates once more, with the features of one package.
"""

from __future__ import annotations

import importlib.machinery
import os
import shutil
import stat
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]
COMMAND = """#!{python}
import sys

from isoform.__main__ import main

sys.exit(main())
"""


def library(folder: Path, crate: str) -> Path:
    """The shared library of a crate, or an error that says what to run."""
    name = f"{crate}.dll" if os.name == "nt" else f"lib{crate}.so"
    if sys.platform == "darwin":
        name = f"lib{crate}.dylib"
    path = folder / name
    if not path.is_file():
        sys.exit(f"error: there is no {path}; run `cargo build --workspace --lib --tests` first")
    return path


def place(source: Path, target: Path) -> None:
    """Copy a library in one step, so that a running Python keeps the old file."""
    partial = target.with_name(f".{target.name}.partial")
    shutil.copyfile(source, partial)
    partial.replace(target)


def main() -> None:
    """Place the modules and the command."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    packages = Path(sysconfig.get_path("purelib"))
    place(library(folder, "isoform_python"), ROOT / "python" / "isoform" / f"_core{SUFFIX}")
    # A package of the same name, which maturin installs, would hide the module.
    shutil.rmtree(packages / "calc_ir", ignore_errors=True)
    place(library(folder, "calc_ir"), packages / f"calc_ir{SUFFIX}")
    place(library(folder, "isoform_remote_python"), packages / f"isoform_remote{SUFFIX}")
    (packages / "isoform.pth").write_text(f"{ROOT / 'python'}\n")
    command = Path(sysconfig.get_path("scripts")) / "isoform"
    command.write_text(COMMAND.format(python=sys.executable))
    command.chmod(command.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


if __name__ == "__main__":
    main()
