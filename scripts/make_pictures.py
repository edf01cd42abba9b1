"""Make the pictures of README and of docs/ from real models.

    .venv/bin/python scripts/make_pictures.py COMMAND [NAME ...]

COMMAND is the program `isoform`. The pictures go to `docs/pictures`; with names, only those
are made. Pages are photographed by the browser of `scripts/browser.py`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import browser
from packages import ROOT, environment, quietly

FOLDER = ROOT / "docs" / "pictures"
MODELS = ROOT / ".cache" / "models"
TOOLS = ROOT / ".venv" / "bin" / "python"
LARGEST = 150_000


@dataclass(frozen=True)
class Photograph:
    """A page of the command, and how it is photographed."""

    command: list[str]
    scheme: str = "light"
    size: tuple[int, int] = (1280, 800)
    keys: list[str] = field(default_factory=list)
    part: str | None = None


@dataclass(frozen=True)
class Drawing:
    """A picture that the command itself prints."""

    command: list[str]


BEFORE, AFTER = "squeezenet.onnx", "squeezenet_edited.onnx"
DIFF = ["diff", BEFORE, AFTER]
PICTURES: dict[str, Photograph | Drawing] = {
    "diff-page.png": Photograph([*DIFF, "--html", "{page}"]),
    "diff-page-dark.png": Photograph([*DIFF, "--html", "{page}"], scheme="dark", keys=["n"]),
    "diff-page-narrow.png": Photograph([*DIFF, "--html", "{page}"], size=(360, 720)),
    "change.svg": Drawing([*DIFF, "--format", "svg"]),
    "model-page.png": Photograph(["show", "resnet50.onnx", "--html", "{page}"]),
    "optimize-page.png": Photograph(
        ["optimize", "shufflenet.onnx", "optimized.onnx", "--html", "{page}"]
    ),
}


def copy_models(folder: Path) -> None:
    """Copy the models under short names, which the pictures show.

    One more is a copy with other names, another order, and three changes.
    """
    for name in ["squeezenet", "resnet50", "shufflenet"]:
        shutil.copyfile(MODELS / f"light_{name}.onnx", folder / f"{name}.onnx")
    model = folder / BEFORE
    for number, edit in enumerate(["scramble", "edit-attribute", "edit-weight", "edit-random"]):
        target = folder / f"squeezenet_{edit}.onnx"
        script = str(ROOT / "scripts" / "edit_model.py")
        quietly([str(TOOLS), script, edit, str(model), str(target), "--seed", str(number)])
        model = target
    model.rename(folder / AFTER)


def run(isoform: str, command: list[str], page: Path) -> str:
    """Run the command beside its models, where it may find a difference; return its output."""
    words = [isoform, *(word.format(page=page.name) for word in command)]
    done = subprocess.run(words, cwd=page.parent, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise OSError(f"isoform {' '.join(words[1:])}: {done.stderr.strip()}")
    return done.stdout


def photograph(engine, page: Path, how: Photograph, target: Path) -> None:
    """Write what a reader sees of a page."""
    width, height = how.size
    window = engine.new_page(
        viewport={"width": width, "height": height},
        color_scheme=how.scheme,
        reduced_motion="reduce",
    )
    window.goto(page.as_uri())
    for key in how.keys:
        window.keyboard.press(key)
    place = window if how.part is None else window.locator(how.part).first
    place.screenshot(path=target)
    window.close()


def make(isoform: str, wanted: list[str]) -> None:
    """Make the pictures with these names."""
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as client:
        folder = Path(scratch)
        program = browser.browser()
        engine = client.chromium.launch(executable_path=program, args=["--disable-gpu"])
        copy_models(folder)
        for number, name in enumerate(wanted):
            target, how = FOLDER / name, PICTURES[name]
            page = folder / f"{number}.html"
            output = run(isoform, how.command, page)
            if isinstance(how, Photograph):
                photograph(engine, page, how, target)
            else:
                target.write_text(output, encoding="utf-8")
            size = target.stat().st_size
            print(f"{target.relative_to(ROOT)}: {size:,} bytes")
            if size > LARGEST:
                raise OSError(f"{name} is larger than {LARGEST:,} bytes")
        engine.close()


def main() -> int | str:
    """Make pictures, in the environment that has the client of the browser."""
    if len(sys.argv) < 2:
        return "usage: make_pictures.py COMMAND [NAME ...]"
    unknown = [name for name in sys.argv[2:] if name not in PICTURES]
    if unknown:
        return f"error: no picture '{unknown[0]}'; there are {', '.join(PICTURES)}"
    try:
        python = environment(
            browser.CACHE / "browser-venv", ROOT / "scripts" / "requirements-browser.txt"
        )
        if Path(sys.prefix) != python.parent.parent:
            os.execv(python, [str(python), *sys.argv])
        make(str(Path(sys.argv[1]).resolve()), sys.argv[2:] or list(PICTURES))
    except OSError as error:
        return f"error: {error}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
