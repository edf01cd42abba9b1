"""Run the Python tests in a free-threaded CPython.

    .venv/bin/python scripts/free_threading_tests.py [--quick] [arguments of pytest]

The interpreter is the one of the machine or of `scripts/pythons.py`; its
packages go to `.cache/free-threading-venv`, with the pins of
`scripts/requirements-free-threading.txt`. The extension modules are built for it in
`target/free-threaded`, and the package runs from its sources. With `--quick`, only the
tests of threads run. If the interpreter or the packages cannot be had, a line says so, and
the tests are skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from packages import ROOT, environment
from pythons import interpreter

ENVIRONMENT = ROOT / ".cache" / "free-threading-venv"
REQUIREMENTS = ROOT / "scripts" / "requirements-free-threading.txt"
QUICK = ["tests/test_free_threading.py", "tests/test_threads.py"]
# They need DuckDB, which has no wheel for a free-threaded Python.
WITHOUT = ["tests/test_notebook.py", "tests/test_docs.py::test_block[docs/corpora.md"]


def main() -> int:
    """Make the environment, build the modules, and run the tests."""
    try:
        python = environment(ENVIRONMENT, REQUIREMENTS, interpreter("3.14t"))
    except (OSError, ValueError) as error:
        print(f"skipped: no free-threaded Python can be had here: {error}")
        return 0
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "free-threaded"
    variables = {
        **os.environ,
        "CARGO_TARGET_DIR": str(target),
        "ISOFORM_EXAMPLE_MODULE": "calc_ir",
        "ISOFORM_MODELS": str(ROOT / ".cache" / "models"),
        "ISOFORM_PYTHON": str(python),
        "PYO3_PYTHON": str(python),
        # Other packages must not turn the GIL on.
        "PYTHON_GIL": "0",
    }
    cargo = [os.environ.get("CARGO", "cargo"), "build", "--locked", "--all-features"]
    cargo += ["-p", "isoform-python", "-p", "isoform-remote-python", "-p", "calc-ir"]
    arguments = sys.argv[1:]
    chosen = ["tests"]
    if arguments[:1] == ["--quick"]:
        chosen, arguments = QUICK, arguments[1:]
    pytest = [str(python), "-m", "pytest", "-q", "-n", os.environ.get("PYTEST_JOBS", "auto")]
    pytest += ["--dist", "loadfile", "-p", "no:cacheprovider", *chosen, *arguments]
    pytest += [f"--deselect={name}" for name in WITHOUT]
    for command in (
        cargo,
        [str(python), "scripts/link_modules.py", str(target / "debug")],
        pytest,
    ):
        done = subprocess.run(command, cwd=ROOT, env=variables, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
