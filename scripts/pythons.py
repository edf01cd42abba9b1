"""Build interpreters of CPython into `.cache`; print where they are.

    .venv/bin/python scripts/pythons.py [3.13 | 3.14 | 3.14t | 3.14t-tsan ...]

An interpreter of the machine comes first. Otherwise the script downloads the source that
Debian's archive has for its package, compares its checksum with the pinned one, and
builds and installs it, without root. Modules of the standard library whose headers this
machine lacks are left out, except for those that pip needs. For each interpreter that
cannot be had, a line says why, and the status is 1.
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
from dataclasses import dataclass
from pathlib import Path

from packages import ROOT, quietly

CACHE = ROOT / ".cache"
OPTIONS = ["--disable-test-modules", "--with-ensurepip=no"]
# Headers of the modules that pip imports, with the packages that have them.
HEADERS = {"zlib.h": "zlib1g-dev", "openssl/ssl.h": "libssl-dev", "ffi.h": "libffi-dev"}
# A test of the version, and of the modules that pip needs.
PROBE = """
import ctypes, ensurepip, ssl, sys, sysconfig, venv, zlib
free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
races = "-tsan" if "--with-thread-sanitizer" in sysconfig.get_config_var("CONFIG_ARGS") else ""
print(*sys.version_info[:2], sep=".", end=free + races)
"""


@dataclass(frozen=True)
class Source:
    """The source of an interpreter in Debian's archive.

    The archive drops old versions after a while; the checksum of another one is in its .dsc.
    """

    version: str
    checksum: str

    @property
    def place(self) -> str:
        """The path in the archive."""
        package = f"python{self.version.rpartition('.')[0]}"
        return f"pool/main/p/{package}/{package}_{self.version}.orig.tar.xz"


_NEWEST = Source("3.14.7", "3b48dac8fb59f62eaa67ac83c1eb12bda1b7a08406dd286e252c11a66be27f81")
# A `t` at the end of a version asks for a free-threaded interpreter, and `-tsan` for one whose
# accesses to memory ThreadSanitizer watches.
SOURCES = {
    "3.13": Source("3.13.5", "93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640"),
    "3.14": _NEWEST,
    "3.14t": _NEWEST,
    "3.14t-tsan": _NEWEST,
}


def works(python: Path, name: str) -> bool:
    """Return whether an interpreter is the one of a name and has the modules of pip."""
    if not python.exists():
        return False
    done = subprocess.run([python, "-I", "-c", PROBE], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout == name


def archives() -> list[str]:
    """Return the addresses of the package archives that this machine uses."""
    wanted = ["--format", "$(REPO_URI)", "Created-By: Packages"]
    lines = quietly(["apt-get", "indextargets", *wanted]).splitlines()
    return sorted({line for line in lines if line.startswith(("http://", "https://"))})


def download(source: Source, target: Path) -> None:
    """Put a source into a file, from the first archive that has it."""
    for archive in archives():
        try:
            with urllib.request.urlopen(
                f"{archive.rstrip('/')}/{source.place}", timeout=120
            ) as answer:
                content = answer.read()
        except urllib.error.HTTPError:
            continue
        found = hashlib.sha256(content).hexdigest()
        if found != source.checksum:
            raise OSError(f"{source.place} has the checksum {found}, not {source.checksum}")
        target.write_bytes(content)
        return
    raise OSError(f"no archive of packages has the source of Python {source.version}")


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


def build(name: str, folder: Path) -> None:
    """Download, compile and install an interpreter."""
    for tool in ("cc", "make", "tar", "xz"):
        if shutil.which(tool) is None:
            raise OSError(f"{tool} is not installed")
    check_headers()
    work = folder.with_name(f"{folder.name}-build")
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    work.mkdir(parents=True)
    archive = work / "source.tar.xz"
    download(SOURCES[name], archive)
    quietly(["tar", "-xJf", archive.name, "--strip-components=1"], work)
    archive.unlink()
    jobs = re.sub(r"\D", "", os.environ.get("CARGO_BUILD_JOBS", "")) or "1"
    version, _, sanitizer = name.partition("-")
    options = [*OPTIONS, "--disable-gil"] if version.endswith("t") else [*OPTIONS]
    if sanitizer:
        options.append("--with-thread-sanitizer")
    quietly([str(work / "configure"), f"--prefix={folder}", *options], work)
    quietly(["make", f"-j{jobs}"], work)
    quietly(["make", "install"], work)
    if sanitizer:
        # The races that CPython knows of in itself.
        shutil.copy(work / "Tools" / "tsan" / "suppressions_free_threading.txt", folder)
    shutil.rmtree(work)


def interpreter(name: str) -> Path:
    """Return an interpreter by a name of `SOURCES`, which is built if need be.

    Raises:
        OSError: it can neither be found nor built; the message says why.
    """
    own = shutil.which(f"python{name}")
    if own and works(Path(own), name):
        return Path(own)
    folder = CACHE / f"python{name}"
    python = folder / "bin" / f"python{name.partition('-')[0]}"
    if not works(python, name):
        build(name, folder)
        if not works(python, name):
            raise OSError("the interpreter that was built lacks modules")
    return python


def main() -> int:
    """Print the paths of interpreters."""
    status = 0
    for name in sys.argv[1:] or SOURCES:
        if name not in SOURCES:
            sys.exit(f"pythons: expected one of {', '.join(SOURCES)}, got {name!r}")
        try:
            print(interpreter(name), flush=True)
        except (OSError, ValueError) as error:
            status = 1
            print(f"skipped: Python {name} cannot be had here: {error}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
