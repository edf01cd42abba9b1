"""The notebooks run, and show what is in their files."""

import base64
import html
import importlib.util
import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "examples" / "corpus.ipynb"
PAGES = ROOT / "examples" / "pages.ipynb"
MODELS = os.environ.get("ISOFORM_MODELS")
PLOTS = importlib.util.find_spec("matplotlib") is not None

needs_models = pytest.mark.skipif(MODELS is None, reason="ISOFORM_MODELS names no folder of models")


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def tags(cell):
    return cell["metadata"].get("tags", [])


def texts(cell):
    data = [output.get("text") or output["data"].get("text/plain") for output in cell["outputs"]]
    return ["".join(lines) for lines in data if lines]


def images(cell):
    data = [output.get("data", {}).get("image/png") for output in cell["outputs"]]
    return [base64.b64decode(image) for image in data if image]


def run_notebook(path, *options):
    """The notebook as written, and with the outputs of a run."""
    command = [sys.executable, ROOT / "scripts" / "run_notebook.py", path, *options]
    environment = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text(encoding="utf-8")), json.loads(done.stdout)


@pytest.fixture(scope="module")
def run():
    return run_notebook(NOTEBOOK, *([] if PLOTS else ["--without", "plot"]))


@pytest.fixture(scope="module")
def run_of_pages():
    return run_notebook(PAGES)


@needs_models
def test_the_numbers_are_those_of_the_file(run):
    written, told = (code_cells(notebook) for notebook in run)
    assert len(written) == len(told) > 8
    for before, after in zip(written, told, strict=True):
        assert before["source"] == after["source"]
        assert texts(before) == texts(after)
    assert sum(len(texts(cell)) for cell in told) >= 6
    assert texts(told[0])[0].startswith("<CorpusReport: ")


@needs_models
@pytest.mark.skipif(not PLOTS, reason="matplotlib draws the plots: not installed")
def test_each_plot_is_a_picture(run):
    plots = [cell for cell in code_cells(run[1]) if "plot" in tags(cell)]
    assert len(plots) == 4
    for cell in plots:
        (image,) = images(cell)
        assert image.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">2I", image[16:24])
        assert 300 < width < 1000 and 200 < height < 1000
        # An empty picture is smaller.
        assert len(image) > 4000


def test_the_file_has_outputs_and_no_plot_without_its_tag():
    for cell in code_cells(json.loads(NOTEBOOK.read_text(encoding="utf-8"))):
        assert bool(images(cell)) == ("plot" in tags(cell))
        assert cell["execution_count"] or not cell["outputs"]
        assert ("plt." in "".join(cell["source"])) == ("plot" in tags(cell))


def test_an_exception_of_a_cell_ends_the_run(tmp_path):
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["1 / 0"]}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell]}))
    command = [sys.executable, ROOT / "scripts" / "run_notebook.py", tmp_path / "a.ipynb"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "a.ipynb[1]" in done.stderr and "ZeroDivisionError" in done.stderr


def htmls(cell):
    data = [output.get("data", {}).get("text/html") for output in cell["outputs"]]
    return ["".join(lines) for lines in data if lines]


def test_the_pages_are_those_of_the_file(run_of_pages):
    written, told = (code_cells(notebook) for notebook in run_of_pages)
    assert len(written) == len(told) == 8
    for before, after in zip(written, told, strict=True):
        assert before["source"] == after["source"]
        assert texts(before) == texts(after)
        assert len(htmls(before)) == len(htmls(after))


#: The words, in this order, and the elements that a reader finds in the output of each cell.
SEEN = [
    ("≠ Different|Softmax|probabilities|axis|Tanh|became|Relu", "<svg|<del>|<ins>"),
    ("3 nodes|Add|Softmax", "<svg|<table>"),
    ("fn (%x|%0 = add(%x, %x)|exp(%0)", "data-binding|definition"),
    ("≠ Different|exp|tanh", "<svg|<del>|<ins>"),
    ("≠ Different|exp|tanh", "<del>|<ins>"),
    ("✓ Optimized|3 → 1 nodes|merge-transposes|Why the results stay the same", "<table>"),
    ("the first 2000 parts|List[1, 2, 3]|%0|...", "data-binding"),
    (None, None),
]


def test_the_outputs_have_verdict_changes_and_pictures(run_of_pages):
    cells = code_cells(run_of_pages[1])
    for cell, (words, elements) in zip(cells, SEEN, strict=True):
        if words is None:
            assert not htmls(cell)
            continue
        (page,) = htmls(cell)
        body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
        text = html.unescape(re.sub(r"<[^>]*>", "", body))
        for word in words.split("|"):
            assert word in text, word
        for element in elements.split("|"):
            assert element in body, element
        assert "<script" not in page and len(page) < 100_000
        # Without styles, as on the pages of code hosts, the order is that of a text.
        assert body.index("verdict") < body.index("</strong>")
    (printed,) = texts(cells[-1])
    assert printed.startswith("<!DOCTYPE html>\n**≠ Different.**")
    assert "flowchart" in printed and "Softmax" in printed
