"""Check that the library works in WebAssembly, where pointers have 32 bits.

    .venv/bin/python scripts/wasm.py

The crates that a browser could use are compiled, and `examples/portable` runs under the WASI of
node: its digests have to be those of every other platform. The standard library for
WebAssembly is that of rustup, if it is installed, or else Debian's, which comes with a compiler.
If neither can be had, a line says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from debian_rust import debian_rust
from packages import ROOT, quietly

FOLDER = ROOT / ".cache" / "wasm"
CARGO = os.environ.get("CARGO", "cargo")
BROWSER, WASI = "wasm32-unknown-unknown", "wasm32-wasip1"
CRATES = ["isoform", "isoform-ir", "isoform-relay", "isoform-pto", "isoform-onnx", "isoform-page"]
# Reads a program and runs it without any folder or network.
RUNNER = """import { WASI } from "node:wasi";
import { readFileSync } from "node:fs";
const wasi = new WASI({ version: "preview1" });
const program = await WebAssembly.compile(readFileSync(process.argv[2]));
process.exitCode = wasi.start(await WebAssembly.instantiate(program, wasi.getImportObject()));
"""


def compiler() -> dict[str, str]:
    """Return the variables that make cargo use a compiler with the standard library."""
    rustc = os.environ.get("RUSTC", "rustc")
    needed = [Path(library_of(rustc, target)) for target in (BROWSER, WASI)]
    if all(folder.is_dir() for folder in needed):
        return {}
    linker = Path(library_of(rustc, None)).parent / "bin" / "rust-lld"
    if not linker.exists():
        raise OSError(f"there is no {linker}")
    return {"RUSTC": str(debian_rust()), "CARGO_TARGET_WASM32_WASIP1_LINKER": str(linker)}


def library_of(rustc: str, target: str | None) -> str:
    """Return the folder of the standard library, which may not exist."""
    options = ["--target", target] if target else []
    return quietly([rustc, "--print", "target-libdir", *options]).strip()


def main() -> None:
    """Run the command."""
    try:
        if shutil.which("node") is None:
            raise OSError("node is not installed")
        variables = compiler()
    except OSError as error:
        print(f"skipped: no compiler for WebAssembly: {error}")
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    target = FOLDER / "target"
    environment = {**os.environ, **variables, "CARGO_TARGET_DIR": str(target)}
    crates = [word for crate in CRATES for word in ("-p", crate)]
    for command in (["check", "--target", BROWSER, *crates], ["build", "--target", WASI]):
        options = ["-p", "portable"] if command[0] == "build" else []
        subprocess.run(
            [CARGO, *command, *options, "--locked"], cwd=ROOT, env=environment, check=True
        )
    print(f"{len(CRATES)} crates compile for {BROWSER}")
    runner = FOLDER / "run.mjs"
    runner.write_text(RUNNER, encoding="utf-8")
    program = target / WASI / "debug" / "portable.wasm"
    node = ["node", "--no-warnings", str(runner), str(program)]
    lines = subprocess.run(node, capture_output=True, text=True, check=True).stdout
    expected = ROOT / "examples" / "portable" / "tests" / "digests.txt"
    if lines != expected.read_text(encoding="utf-8"):
        sys.exit(f"wasm: {WASI} prints other digests than {expected}:\n{lines}")
    print(f"the digests of {WASI} are those of every platform")


if __name__ == "__main__":
    main()
