"""Run the tests of threads under ThreadSanitizer, in Rust and in a free-threaded CPython.

    .venv/bin/python scripts/races.py [--rust | --python] [arguments of the tests]

Two accesses to one place that nothing orders are an error. The standard library is compiled,
too, because ThreadSanitizer has to see what its locks order: by the Rust compiler of this
machine if it has the sources (`rustup component add rust-src`), or else by Debian's. The
runtime of the sanitizer is the C compiler's. CPython 3.14t is built with the sanitizer by
`scripts/pythons.py`, and the races that CPython lists as its own are left out. Sizes are
divided by ISOFORM_TEST_SCALE, 50 unless it is set. If something cannot be had, a line says so.

The helgrind and drd of valgrind are no replacement: they know the locks of pthreads, not
atomics, and report thousands of places of the standard library in a sound test.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from debian_rust import debian_rust
from packages import ROOT, environment, quietly
from pythons import interpreter

ENVIRONMENT = ROOT / ".cache" / "races-venv"
REQUIREMENTS = ROOT / "scripts" / "requirements-races.txt"
CARGO = os.environ.get("CARGO", "cargo")
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "races"
NAMES = TARGET / "tsan_names.o"
# rustc links without the default libraries, so the runtime has to be named.
FLAGS = f"-Zsanitizer=thread -Zexternal-clangrt -Clink-arg={NAMES} -Clink-arg=-ltsan"
RUST_TESTS = ["threads::", "mutation::", "collect::", "host::", "host_lock::"]
PYTHON_TESTS = ["tests/test_free_threading.py", "tests/test_threads.py"]


def compiler() -> tuple[str, dict[str, str]]:
    """Return the platform, and the variables that make cargo watch accesses to memory."""
    cc = os.environ.get("CC", "cc")
    runtime = quietly([cc, "-print-file-name=libtsan.so"]).strip()
    if not Path(runtime).is_absolute():
        raise OSError(f"{cc} has no libtsan")
    TARGET.mkdir(parents=True, exist_ok=True)
    quietly([cc, "-c", "-fPIC", "-fno-builtin", "-O1", "-o", str(NAMES), "scripts/tsan_names.c"])
    rustc = os.environ.get("RUSTC", "rustc")
    root = Path(quietly([rustc, "--print", "sysroot"]).strip())
    if not (root / "lib" / "rustlib" / "src" / "rust" / "library").is_dir():
        rustc = str(debian_rust())
    lines = quietly([rustc, "-vV"]).splitlines()
    (host,) = [line.removeprefix("host: ") for line in lines if line.startswith("host: ")]
    variables = {
        # Options of the sanitizer are for nightly compilers; builds have a folder of their own.
        "RUSTC_BOOTSTRAP": "1",
        "RUSTC": rustc,
        "RUSTFLAGS": f"{os.environ.get('RUSTFLAGS', '')} {FLAGS}".strip(),
        "CARGO_TARGET_DIR": str(TARGET),
        # The runtime finds the functions that it watches in the libraries after it.
        f"CARGO_TARGET_{host.upper().replace('-', '_')}_RUNNER": f"env LD_PRELOAD={runtime}",
        "ISOFORM_TEST_SCALE": os.environ.get("ISOFORM_TEST_SCALE", "50"),
    }
    return host, variables


def cargo(host: str, *words: str) -> list[str]:
    """Return a command of cargo that compiles the standard library, too."""
    return [CARGO, *words, "--locked", "-Zbuild-std", "--target", host]


def rust_commands(host: str, arguments: list[str]) -> list[list[str]]:
    """Return the commands that test the crates."""
    crates = ["-p", "isoform", "-p", "isoform-tests", "--lib", "--test", "it"]
    return [[*cargo(host, "test", *crates), "--", *(arguments or RUST_TESTS)]]


def python_commands(host: str, python: Path, arguments: list[str]) -> list[list[str]]:
    """Return the commands that test the Python package."""
    crates = [
        "-p",
        "isoform-python",
        "-p",
        "isoform-remote-python",
        "-p",
        "calc-ir",
        "--all-features",
    ]
    # Reports are for standard error, which pytest would keep to itself.
    pytest = [str(python), "-m", "pytest", "-q", "--capture=no"]
    pytest += ["-p", "no:cacheprovider", "-p", "no:xdist"]
    return [
        cargo(host, "build", *crates),
        [str(python), "scripts/link_modules.py", str(TARGET / host / "debug")],
        [*pytest, *(arguments or PYTHON_TESTS)],
    ]


def main() -> int:
    """Run the command."""
    arguments = sys.argv[1:]
    only = arguments.pop(0) if arguments and arguments[0] in ("--rust", "--python") else None
    try:
        host, variables = compiler()
    except OSError as error:
        print(f"skipped: no ThreadSanitizer for Rust can be had here: {error}")
        return 0
    commands: list[list[str]] = []
    options = "halt_on_error=1 second_deadlock_stack=1"
    if only != "--python":
        commands += rust_commands(host, arguments)
    if only != "--rust":
        try:
            base = interpreter("3.14t-tsan")
            python = environment(ENVIRONMENT, REQUIREMENTS, base)
        except (OSError, ValueError) as error:
            print(f"skipped: no CPython with ThreadSanitizer can be had here: {error}")
        else:
            known = base.parent.parent / "suppressions_free_threading.txt"
            options += f" suppressions={known}"
            variables |= {
                "ISOFORM_EXAMPLE_MODULE": "calc_ir",
                "ISOFORM_PYTHON": str(python),
                "PYO3_PYTHON": str(python),
                "PYTHON_GIL": "0",
            }
            commands += python_commands(host, python, arguments)
    variables["TSAN_OPTIONS"] = f"{options} {os.environ.get('TSAN_OPTIONS', '')}".strip()
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
