"""Build a free-threaded CPython into `.cache/python3.14t`; print where it is.

    .venv/bin/python scripts/free_threaded_python.py

A `python3.14t` of the machine comes first. Otherwise the script downloads the source
that Debian's archive has for its package `python3.14`, compares its checksum with the
pinned one, and builds and installs it, without root. Modules of the standard library
whose headers this machine lacks are left out, except for those that pip needs. If that
fails, a line says why, and the status is 1.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from packages import ROOT, quietly

CACHE = ROOT / ".cache"
FOLDER = CACHE / "python3.14t"
BUILD = CACHE / "python3.14t-build"
PYTHON = FOLDER / "bin" / "python3.14t"
# The archive drops old versions after a while; the checksum of another one is in its .dsc.
VERSION = "3.14.7"
CHECKSUM = "3b48dac8fb59f62eaa67ac83c1eb12bda1b7a08406dd286e252c11a66be27f81"
POOL = f"pool/main/p/python3.14/python3.14_{VERSION}.orig.tar.xz"
OPTIONS = ["--disable-gil", "--disable-test-modules", "--with-ensurepip=no"]
# Headers of the modules that pip imports, with the packages that have them.
HEADERS = {"zlib.h": "zlib1g-dev", "openssl/ssl.h": "libssl-dev", "ffi.h": "libffi-dev"}
# A test of what the options promise, and of what pip needs.
PROBE = """
import ctypes, ensurepip, ssl, sys, sysconfig, venv, zlib
assert sysconfig.get_config_var("Py_GIL_DISABLED") == 1 and not sys._is_gil_enabled()
"""


def works(python: Path) -> bool:
    """Return whether an interpreter is free-threaded and has the modules of pip."""
    if not python.exists():
        return False
    done = subprocess.run([python, "-I", "-c", PROBE], capture_output=True, check=False)
    return done.returncode == 0


def archives() -> list[str]:
    """Return the addresses of the package archives that this machine uses."""
    wanted = ["--format", "$(REPO_URI)", "Created-By: Packages"]
    lines = quietly(["apt-get", "indextargets", *wanted]).splitlines()
    return sorted({line for line in lines if line.startswith(("http://", "https://"))})


def download(target: Path) -> None:
    """Put the source into a file, from the first archive that has it."""
    for archive in archives():
        try:
            with urllib.request.urlopen(f"{archive.rstrip('/')}/{POOL}", timeout=120) as answer:
                content = answer.read()
        except urllib.error.HTTPError:
            continue
        found = hashlib.sha256(content).hexdigest()
        if found != CHECKSUM:
            raise OSError(f"{target.name} has the checksum {found} in place of {CHECKSUM}")
        target.write_bytes(content)
        return
    raise OSError(f"no archive of packages has the source of Python {VERSION}")


def check_headers() -> None:
    """Raise an error that names the packages without which pip would not work."""
    compiler = os.environ.get("CC", "cc")
    lacking = []
    for header, package in HEADERS.items():
        command = [*compiler.split(), "-E", "-x", "c", "-"]
        text = f"#include <{header}>\n"
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lacking.append(package)
    if lacking:
        raise OSError(f"the headers of {', '.join(lacking)} are not installed")


def build() -> None:
    """Download, compile and install the interpreter."""
    for tool in ("cc", "make", "tar", "xz"):
        if shutil.which(tool) is None:
            raise OSError(f"{tool} is not installed")
    check_headers()
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    BUILD.mkdir(parents=True)
    source = BUILD / "source.tar.xz"
    download(source)
    quietly(["tar", "-xJf", source.name, "--strip-components=1"], BUILD)
    source.unlink()
    jobs = re.sub(r"\D", "", os.environ.get("CARGO_BUILD_JOBS", "")) or "1"
    quietly([str(BUILD / "configure"), f"--prefix={FOLDER}", *OPTIONS], BUILD)
    quietly(["make", f"-j{jobs}"], BUILD)
    quietly(["make", "install"], BUILD)
    shutil.rmtree(BUILD)


def free_threaded_python() -> Path:
    """Return a free-threaded interpreter, which is built if need be."""
    own = shutil.which("python3.14t")
    if own and works(Path(own)):
        return Path(own)
    if not works(PYTHON):
        build()
        if not works(PYTHON):
            raise OSError("the interpreter that was built lacks modules")
    return PYTHON


def main() -> int | str:
    """Print the path of the interpreter."""
    try:
        print(free_threaded_python())
    except (OSError, ValueError) as error:
        return f"skipped: no free-threaded Python can be had here: {error}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
