"""The notebook about collections runs, and shows what is in its file."""

import base64
import importlib.util
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "examples" / "corpus.ipynb"
MODELS = os.environ.get("ISOFORM_MODELS")
PLOTS = importlib.util.find_spec("matplotlib") is not None

pytestmark = pytest.mark.skipif(MODELS is None, reason="ISOFORM_MODELS names no folder of models")


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


@pytest.fixture(scope="module")
def run():
    """The notebook as written, and with the outputs of a run."""
    command = [sys.executable, ROOT / "scripts" / "run_notebook.py", NOTEBOOK]
    environment = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run(
        [*command, *([] if PLOTS else ["--without", "plot"])],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(NOTEBOOK.read_text(encoding="utf-8")), json.loads(done.stdout)


def test_the_numbers_are_those_of_the_file(run):
    written, told = (code_cells(notebook) for notebook in run)
    assert len(written) == len(told) > 8
    for before, after in zip(written, told, strict=True):
        assert before["source"] == after["source"]
        assert texts(before) == texts(after)
    assert sum(len(texts(cell)) for cell in told) >= 6
    assert texts(told[0])[0].startswith("<CorpusReport: ")


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
