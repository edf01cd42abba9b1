"""Build the wheel, install the wheel into a fresh environment, and try it there.

    python scripts/check_wheels.py [--all] [--python PATH ...]
    python scripts/check_wheels.py --dist FOLDER

With `--dist`, only the sizes and contents of the wheels in the folder are checked. Without
options the wheel is for the Python that runs the script. With `--all` every supported Python
of this machine, and every one that `scripts/pythons.py` can build, gets a wheel, the newest
one as for a release, and the package isoform-remote is tried beside it; the source archive
is built without a network. Run the script with the Python of `.venv`, where
maturin is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from packages import ROOT
from pythons import SOURCES, interpreter, works

VERSIONS = ["3.10", "3.11", "3.12", "3.13", "3.14", "3.14t"]
MATURIN = Path(sys.executable).with_name("maturin")
# A project of a user, and a file with a wrong call.
PROJECT = ROOT / "tests" / "outside_project"
PYRIGHT = {"typeCheckingMode": "strict", "pythonVersion": "3.10"}

# The package with the client of servers.
REMOTE = ROOT / "crates" / "isoform-remote-python"

# What every wheel has to bring along.
NOTICES = [
    ".dist-info/licenses/LICENSE-APACHE",
    ".dist-info/licenses/LICENSE-MIT",
    # Names, versions and licences of the crates inside.
    ".cyclonedx.json",
]
WANTED = [
    "isoform/__init__.py",
    "isoform/_core.pyi",
    "isoform/py.typed",
    "isoform/types/onnx.pyi",
    ".dist-info/entry_points.txt",
    *NOTICES,
]

# In bytes; what a wheel may need on the disk of a registry, for each platform and version.
MAX_SIZE = 12_000_000

# What an installed package has to do.
PROGRAM = """
import pathlib, sys
import isoform
from isoform import types
from isoform.dataclasses import Object, field, py_class

@py_class("wheel.Var", structural_eq="var")
class Var(Object):
    name: str = field(structural_eq="ignore")

@py_class("wheel.Fun")
class Fun(Object):
    params: list[Var] = field(structural_eq="def")
    body: Object

def identity(name):
    var = Var(name)
    return Fun([var], var)

assert isoform.structural_equal(identity("x"), identity("y"))
assert types.onnx.Graph.__doc__
assert pathlib.Path(isoform.__file__).is_relative_to(sys.prefix), isoform.__file__
print(f"Python {sys.version_info.major}.{sys.version_info.minor}: isoform {isoform.__version__} works")
"""

# Without the package isoform-remote, and with it; nobody listens at the port.
SERVERS = """
from isoform.store import Store

try:
    store = Store.open("redis://127.0.0.1:1")
    store.put(b"bytes")
except (ImportError, OSError) as error:
    print(error)
"""
WITHOUT_REMOTE = "pip install 'isoform[remote]'"
WITH_REMOTE = "store redis: at redis://127.0.0.1:1: cannot"


def run(*command: str | Path, fails: bool = False, **options: object) -> str:
    """Run a command, and end the script with the output on failure; `fails` asks for one."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")
    }
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=options.get("cwd", ROOT),  # pyright: ignore[reportArgumentType]
        env=environment,
        check=False,
    )
    if bool(done.returncode) is not fails:
        shown = " ".join(str(part) for part in command[:4])
        sys.exit(f"check_wheels: '{shown} ...' ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def installed(version: str) -> Path | None:
    """Return an interpreter of this machine, or None."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [
        folder / f"python{version}" for folder in (*sorted(versions.glob("*/bin")), *folders)
    ]
    return next((candidate for candidate in candidates if works(candidate, version)), None)


def pythons() -> list[Path]:
    """Return an interpreter for every supported version that can be had here."""
    found: list[Path] = []
    for version in VERSIONS:
        python = installed(version)
        if python is None and version in SOURCES:
            try:
                python = interpreter(version)
            except (OSError, ValueError) as error:
                print(f"skipped: Python {version} cannot be had here: {error}", flush=True)
        if python is not None:
            found.append(python)
    return found


def check_contents(wheel: Path, profile: str = "release") -> None:
    """Look for the required and the forbidden files of a wheel, and at its size."""
    size = wheel.stat().st_size
    # Other profiles are for tests, and do without the optimisations that make code small.
    if profile == "release" and size > MAX_SIZE:
        sys.exit(f"check_wheels: {wheel.name} has {size:,} bytes, more than {MAX_SIZE:,}")
    print(f"{wheel.name}: {size / 1e6:.1f} MB", flush=True)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for wanted in NOTICES if wheel.name.startswith("isoform_remote-") else WANTED:
        if not any(name.endswith(wanted) for name in names):
            sys.exit(f"check_wheels: {wheel.name} has no {wanted}; it has\n  " + "\n  ".join(names))
    modules = [name for name in names if name.endswith((".so", ".pyd"))]
    if len(modules) != 1:
        sys.exit(f"check_wheels: {wheel.name} should have one extension module, has {modules}")


def try_wheel(wheel: Path, python: Path, scratch: Path) -> None:
    """Install a wheel, or a source archive, into a fresh environment and use it."""
    environment = scratch / f"venv-{python.name}-{wheel.suffix[1:]}"
    run(python, "-m", "venv", environment)
    inside = environment / "bin"
    command = [inside / "python", "-m", "pip", "install", "--disable-pip-version-check"]
    run(*command, "--no-index", "--no-deps", wheel)
    print(run(inside / "python", "-I", "-c", PROGRAM, cwd=scratch).strip(), flush=True)
    for command in ([inside / "isoform"], [inside / "python", "-m", "isoform"]):
        output = run(*command, "--version", cwd=scratch)
        if not output.startswith("isoform "):
            sys.exit(f"check_wheels: --version printed {output!r}")
    check_types(inside, scratch)


def check_types(inside: Path, scratch: Path) -> None:
    """Check a project with the types of the wheel that an environment has.

    The checkers are those beside the Python that runs the script; they read the packages of
    the environment alone.
    """
    folder = scratch / f"project-{inside.parent.name}"
    folder.mkdir()
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT), encoding="utf-8")
    checkers: list[list[str | Path]] = [
        [sys.executable, "-m", "pyright", "--pythonpath", inside / "python"],
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-incremental"),
            *("--python-version", "3.10", "--python-executable", inside / "python", "."),
        ],
    ]
    shutil.copy(PROJECT / "project.py", folder)
    for checker in checkers:
        run(*checker, cwd=folder)
    # A wrong call is an error: the types are not `Any`.
    shutil.copy(PROJECT / "wrong.py", folder)
    for checker in checkers:
        output = run(*checker, cwd=folder, fails=True)
        if "wrong.py" not in output or "Kind" not in output:
            sys.exit(f"check_wheels: {checker[2]} did not report the wrong call\n{output}")
    print("a project has the types of the wheel", flush=True)


def check_python(python: Path, scratch: Path, profile: str) -> None:
    """Build and try the wheel for a Python version."""
    out = scratch / f"dist-{python.name}"
    options = (
        "--locked",
        "--profile",
        profile,
        "--compression-level",
        "9",
        "--interpreter",
        python,
        "--out",
        out,
    )
    run(MATURIN, "build", *options)
    (wheel,) = out.glob("*.whl")
    check_contents(wheel, profile)
    try_wheel(wheel, python, scratch)


def check_remote(python: Path, scratch: Path) -> None:
    """Build the package isoform-remote, and try it beside the wheel of this Python."""
    out = scratch / "dist-remote"
    manifest = ("--manifest-path", REMOTE / "Cargo.toml")
    options = ("--locked", "--profile", "quick", "--interpreter", python, "--out", out)
    run(MATURIN, "build", *manifest, *options)
    (wheel,) = out.glob("*.whl")
    check_contents(wheel, "quick")
    inside = scratch / f"venv-{python.name}-whl" / "bin"
    for expected in (WITHOUT_REMOTE, WITH_REMOTE):
        output = run(inside / "python", "-I", "-c", SERVERS, cwd=scratch)
        if expected not in output:
            sys.exit(f"check_wheels: expected {expected!r}, got {output!r}")
        run(inside / "python", "-m", "pip", "install", "--no-index", "--no-deps", wheel)
    print("stores on servers work with isoform-remote", flush=True)


def check_source(python: Path, scratch: Path) -> None:
    """Build the source archive, and the wheel from its contents alone."""
    out = scratch / "sdist"
    run(MATURIN, "sdist", "--out", out)
    (archive,) = out.glob("*.tar.gz")
    with tarfile.open(archive) as contents:
        contents.extractall(scratch / "source", filter="data")
    (source,) = (scratch / "source").iterdir()
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "Cargo.lock", "python/isoform/__init__.py"):
        if not (source / name).exists():
            sys.exit(f"check_wheels: the source archive has no {name}")
    # The lock file also names the crates of the workspace that the archive leaves out, so
    # the build must be allowed to drop these lines, as pip's build of the archive is. Distributors
    # build without a network, from crates that they have already.
    os.environ["CARGO_NET_OFFLINE"] = "true"
    options = ("--profile", "quick", "--interpreter", python, "--out", out)
    run(MATURIN, "build", *options, cwd=source)
    (wheel,) = out.glob("*.whl")
    check_contents(wheel, "quick")
    print(f"the source archive builds: {wheel.name}")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="every Python, and the source archive")
    parser.add_argument("--dist", type=Path, help="a folder with wheels to look at")
    parser.add_argument("--python", type=Path, action="append", help="an interpreter to check")
    args = parser.parse_args()
    if args.dist is not None:
        wheels = sorted(args.dist.glob("*.whl"))
        for wheel in wheels:
            check_contents(wheel)
        sys.exit(None if wheels else f"check_wheels: no wheels in {args.dist}")
    interpreters: list[Path] = args.python or (pythons() if args.all else [Path(sys.executable)])
    scratch = Path(tempfile.mkdtemp(prefix="isoform-wheels-"))
    try:
        for python in interpreters:
            # A build for a release takes minutes, and differs in speed and size alone.
            is_release = args.all and python == interpreters[-1]
            check_python(python, scratch, "release" if is_release else "quick")
        if args.all:
            check_remote(interpreters[-1], scratch)
            check_source(interpreters[-1], scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"{len(interpreters)} wheels checked")


if __name__ == "__main__":
    main()
