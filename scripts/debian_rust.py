"""A Rust compiler of Debian with the sources of its standard library, and for WebAssembly.

Machines whose compiler lacks parts that only rustup could add use this one. It is unpacked
into `.cache/debian-rust` without root, and runs with Debian's own C library.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from packages import ROOT, is_up_to_date, quietly

FOLDER = ROOT / ".cache" / "debian-rust"
# The stable release of Debian has an older compiler than the crates need.
RELEASE = "sid"
PACKAGES = ["libc6", "libffi8", "libgcc-s1", "libstdc++6", "libxml2-16", "libzstd1", "zlib1g"]
PACKAGES += ["rustc", "rust-src", "libstd-rust-dev", "libstd-rust-dev-wasm32"]
START = """#!/bin/sh
exec {libraries}/ld-linux-x86-64.so.2 --library-path {libraries} {root}/bin/rustc \\
    --sysroot {root} "$@"
"""


def debian_rust() -> Path:
    """Return the compiler, which is unpacked if need be.

    Raises:
        OSError: it cannot be had; the message says why.
    """
    start, stamp = FOLDER / "rustc", FOLDER / ".packages"
    content = f"{RELEASE} {' '.join(PACKAGES)}"
    if is_up_to_date(stamp, content):
        return start
    shutil.rmtree(FOLDER, ignore_errors=True)
    for folder in ("lists/partial", "cache/archives/partial", "root"):
        (FOLDER / folder).mkdir(parents=True)
    sources = f"deb {_mirror()} {RELEASE} main\n"
    (FOLDER / "sources.list").write_text(sources, encoding="utf-8")
    apt = [
        *("apt-get", "-o", f"Dir::Etc::SourceList={FOLDER}/sources.list"),
        *("-o", "Dir::Etc::SourceParts=/nonexistent", "-o", f"Dir::State::Lists={FOLDER}/lists"),
        *("-o", f"Dir::Cache={FOLDER}/cache", "-o", "APT::Sandbox::User="),
    ]
    quietly([*apt, "update"])
    cache = ["apt-cache", *apt[1:], "depends", "--important", "rustc", "libstd-rust-dev"]
    words = quietly(cache).split()
    # The names of these two have the version of the compiler and of LLVM.
    (library,) = {word for word in words if word.startswith("libstd-rust-1.")}
    words = quietly([*cache[:-2], library]).split()
    (llvm,) = {word for word in words if word.startswith("libllvm")}
    quietly([*apt, "download", *PACKAGES, library, llvm], FOLDER)
    for package in sorted(FOLDER.glob("*.deb")):
        quietly(["dpkg", "-x", package.name, "root"], FOLDER)
        package.unlink()
    root = FOLDER / "root" / "usr"
    libraries = root / "lib" / "x86_64-linux-gnu"
    start.write_text(START.format(libraries=libraries, root=root), encoding="utf-8")
    start.chmod(0o755)
    quietly([str(start), "--version"])
    stamp.write_text(content, encoding="utf-8")
    return start


def _mirror() -> str:
    """Return the server from which this machine has its packages."""
    lists = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"]
    servers = [server for server in quietly(lists).split() if server.endswith("/debian")]
    if not servers:
        raise OSError("apt-get has no server of Debian")
    return servers[0]
