"""Run the tests of indexes that a Ray cluster makes.

    .venv/bin/python scripts/ray_tests.py

Ray and its dependencies go to an environment of their own, `.cache/ray-venv`, with the
pins of `scripts/requirements-ray.txt`. If they cannot be installed, a line says so, and the
tests are skipped. With `--install`, only the environment is made.
"""

from __future__ import annotations

import os
import subprocess
import sys

from packages import ROOT, environment

ENVIRONMENT = ROOT / ".cache" / "ray-venv"
REQUIREMENTS = ROOT / "scripts" / "requirements-ray.txt"
PYTHON = ENVIRONMENT / "bin" / "python"


def install() -> str | None:
    """Make the environment unless it is up to date; return the reason of a failure."""
    try:
        environment(ENVIRONMENT, REQUIREMENTS)
    except OSError as error:
        return str(error)
    return None


def variables() -> dict[str, str]:
    """Return the variables of the environment, in which the package runs from its sources."""
    # The nodes take the package from where the driver has it. They listen on this machine
    # only for the time of the tests, and need no token, which would outlive them.

    return {
        **os.environ,
        "ISOFORM_TEST_RAY": "1",
        "ISOFORM_MODELS": str(ROOT / ".cache" / "models"),
        "PYTHONPATH": str(ROOT / "python"),
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
    }


def main() -> int | str:
    """Install the packages, and run the tests."""
    failure = install()
    if sys.argv[1:] == ["--install"]:
        return 0 if failure is None else f"Ray cannot be installed here: {failure}"
    if failure is not None:
        print(f"skipped: Ray cannot be installed here: {failure}")
        return 0
    command = [
        str(PYTHON),
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/test_corpus_ray.py",
    ]
    command += sys.argv[1:]
    return subprocess.run(command, cwd=ROOT, env=variables(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
