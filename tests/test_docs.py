"""The Python blocks of the pages run, and so do the examples in docstrings."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import isoform

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def blocks():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            line = text.count("\n", 0, found.start(1))
            name = f"{page.relative_to(ROOT)}:{line + 1}"
            # Errors then name the line of the page.
            yield pytest.param("\n" * line + found[1], str(page), id=name)


def test_there_are_blocks():
    assert list(blocks())


@pytest.mark.parametrize(("source", "page"), list(blocks()))
def test_block(source, page):
    exec(compile(source, page, "exec"), {"__name__": "__main__"})  # noqa: S102


FOUND = pkgutil.walk_packages(isoform.__path__, "isoform.")
MODULES = ["isoform", *(found.name for found in FOUND if not found.name.endswith("__main__"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert not results.failed


def test_no_example_in_a_docstring_is_left_out():
    assert "isoform.onnx" in MODULES
    for name in MODULES:
        for found in doctest.DocTestFinder().find(importlib.import_module(name)):
            for example in found.examples:
                assert doctest.SKIP not in example.options, f"{found.name}: {example.source}"
