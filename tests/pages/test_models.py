"""Pages that the command writes about real models and about programs of an IR.

`ISOFORM_COMMAND` names the program, and `ISOFORM_MODELS` the folder of the models.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from test_looks import barriers
from visit import NARROW, WIDE, comes_into_sight, overflow, screenshot, show_listing

ROOT = Path(__file__).resolve().parents[2]
MODELS = Path(os.environ.get("ISOFORM_MODELS", ROOT / ".cache" / "models"))
COMMAND = os.environ.get("ISOFORM_COMMAND", "")
IR_FILES = ROOT / "examples" / "ir"
PAIRS = {
    "squeezenet": ("light_squeezenet.onnx", "squeezenet_edited.onnx"),
    "resnet": ("light_resnet50.onnx", "light_squeezenet.onnx"),
    "inception": ("light_inception_v1.onnx", "light_inception_v2.onnx"),
    "pool": ("converted_AvgPool2d.onnx", "converted_MaxPool2d.onnx"),
    "weights": ("converted_Linear.onnx", "converted_Linear_no_bias.onnx"),
    "equal": ("light_squeezenet.onnx", "light_squeezenet.onnx"),
    "program": ("residual.iso", "residual_edited.iso"),
}

if not Path(COMMAND).is_file():
    pytest.skip("no command; run `make test-pages`", allow_module_level=True)


def isoform(*arguments, status=(0, 1)):
    """Run the command; return its output."""
    words = [COMMAND, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in status, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with edited copies of a model and of a program."""
    folder = tmp_path_factory.mktemp("models")
    source = (IR_FILES / "residual.iso").read_text(encoding="utf-8")
    edited = source.replace("args=[%x, %w]", "args=[%w, %x]")
    assert edited != source
    (folder / "residual.iso").write_text(source, encoding="utf-8")
    (folder / "residual_edited.iso").write_text(edited, encoding="utf-8")
    tools = os.environ.get("ISOFORM_PYTHON", str(ROOT / ".venv" / "bin" / "python"))
    model = MODELS / "light_squeezenet.onnx"
    for number, edit in enumerate(["scramble", "edit-attribute", "edit-weight", "edit-random"]):
        target = folder / f"{edit}.onnx"
        script = ROOT / "scripts" / "edit_model.py"
        words = [tools, script, edit, model, target, "--seed", str(number)]
        subprocess.run([str(word) for word in words], check=True, capture_output=True)
        model = target
    model.rename(folder / "squeezenet_edited.onnx")
    return folder


@pytest.fixture(scope="session")
def pair(folder):
    """Finds the two files of a pair."""

    def find(name):
        return [
            folder / file if (folder / file).exists() else MODELS / file for file in PAIRS[name]
        ]

    return find


@pytest.fixture(scope="session")
def written(folder, pair):
    """Writes the page of a pair once."""

    def write(name):
        page = folder / f"{name}.html"
        if not page.exists():
            isoform("diff", "--html", page, *pair(name))
        return page

    return write


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAIRS)
def test_pages_of_pairs_look_right(visit, written, program, name, scheme, width):
    page = visit(written(name), scheme=scheme, width=width)
    screenshot(page, f"diff-{name}-{scheme}-{width}")
    verdict = "Equal" if name == "equal" else "Different"
    assert verdict in page.get_by_role("heading", level=1).inner_text()
    assert overflow(page) == []
    if page.locator(".listing").count() > 0:
        show_listing(page)
        screenshot(page, f"diff-{name}-listing-{scheme}-{width}")
    assert overflow(page) == []
    found = barriers(page, Path(program("AXE")))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "equal"])
def test_every_change_of_json_is_on_the_page(visit, pair, written, name):
    changes = json.loads(isoform("diff", "--json", *pair(name)))["changes"]
    assert changes
    page = visit(written(name))
    missing = set(range(len(changes)))
    for number in range(1, len(changes) + 1):
        page.evaluate("(anchor) => { location.hash = anchor; }", f"change-{number}")
        card = page.locator(f"[id=change-{number}]")
        comes_into_sight(card)
        # A part that changed with another one has no changes of its own.
        missing -= set(map(int, (card.get_attribute("data-changes") or "").split()))
        if not missing:
            break
    assert missing == set()


@pytest.mark.parametrize("name", ["squeezenet", "inception"])
def test_groups_of_json_are_the_cards(visit, pair, written, name):
    groups = json.loads(isoform("diff", "--json", *pair(name)))["groups"]
    page = visit(written(name))
    for number, group in enumerate(groups[:40], 1):
        card = page.locator(f"[id=change-{number}]")
        page.evaluate("(anchor) => { location.hash = anchor; }", f"change-{number}")
        comes_into_sight(card)
        text = " ".join(card.locator("h3").inner_text().split())
        told = group["text"].replace(" -> ", " → ")
        assert " ".join(told.split())[:60] in text


def test_a_pair_says_why_nodes_were_matched(visit, written):
    page = visit(written("squeezenet"))
    reasons = page.locator("article details", has_text="Why these two were matched")
    assert reasons.count() > 0
    reasons.first.locator("summary").click()
    assert len(reasons.first.inner_text()) > 40


def test_a_change_has_a_picture(visit, written):
    page = visit(written("squeezenet"))
    picture = page.locator("article figure svg").first
    picture.scroll_into_view_if_needed()
    assert picture.locator(".node.mark-changed").count() > 0
    assert page.locator("article figure svg .edge").count() > 0


def test_the_page_does_not_depend_on_the_run(pair, written):
    first = written("squeezenet").read_text(encoding="utf-8")
    assert isoform("diff", "--html", "-", *pair("squeezenet")) == first


def test_models_say_what_is_in_them(visit, folder):
    target = folder / "show.html"
    isoform("show", "--html", target, MODELS / "light_resnet50.onnx")
    for scheme in ("light", "dark"):
        page = visit(target, scheme=scheme)
        screenshot(page, f"show-resnet50-{scheme}")
    narrow = visit(target, width=NARROW)
    screenshot(narrow, "show-resnet50-narrow")
    assert overflow(narrow) == []


@pytest.mark.parametrize("form", ["svg", "dot", "mermaid"])
def test_pictures_of_a_difference_alone(visit, pair, program, tmp_path, form):
    picture = isoform("diff", "--format", form, *pair("squeezenet"))
    assert picture
    if form == "svg":
        file = tmp_path / "change.svg"
        file.write_text(picture, encoding="utf-8")
        screenshot(visit(file), "diff-squeezenet-svg")
    if form == "dot":
        command = [program("DOT"), "-Tsvg"]
        done = subprocess.run(command, input=picture, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
