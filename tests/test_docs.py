"""The Python blocks of the pages run; pytest itself runs those of docstrings."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import isoform

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
# Pages whose blocks are one program, in their order.
PROGRAMS = {ROOT / "docs" / "tutorial-python.md"}
# Pages whose blocks need other packages; `make test-interop` runs them.
ELSEWHERE = {ROOT / "docs" / "stablehlo.md"}


def program(text):
    """The blocks of a page as one program, each in the lines where it is."""
    lines = [""] * text.count("\n")
    for found in BLOCK.finditer(text):
        start = text.count("\n", 0, found.start(1))
        block = found[1].splitlines()
        lines[start : start + len(block)] = block
    return "\n".join(lines)


def blocks():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if page in ELSEWHERE:
            continue
        if page in PROGRAMS:
            yield pytest.param(program(text), str(page), id=str(page.relative_to(ROOT)))
            continue
        for found in BLOCK.finditer(text):
            line = text.count("\n", 0, found.start(1))
            name = f"{page.relative_to(ROOT)}:{line + 1}"
            # Errors then name the line of the page.
            yield pytest.param("\n" * line + found[1], str(page), id=name)


def test_there_are_blocks():
    assert list(blocks())


@pytest.fixture
def slow_machine():
    """Examples may take their time, because other work on the machine says nothing about a page."""
    default = settings.get_current_profile_name()
    settings.register_profile("slow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("slow")
    yield
    settings.load_profile(default)


@pytest.mark.usefixtures("slow_machine")
@pytest.mark.parametrize(("source", "page"), list(blocks()))
def test_block(source, page):
    exec(compile(source, page, "exec"), {"__name__": "__main__"})  # noqa: S102


def test_the_blocks_of_a_program_stay_where_they_are():
    text = "# A\n```python\nx = 1\n```\ntext\n```python\ny = x\n```\n"
    assert program(text).split("\n") == ["", "", "x = 1", "", "", "", "y = x", ""]


FOUND = pkgutil.walk_packages(isoform.__path__, "isoform.")
MODULES = ["isoform", *(found.name for found in FOUND if not found.name.endswith("__main__"))]


def test_no_example_in_a_docstring_is_left_out():
    assert "isoform.onnx" in MODULES
    for name in MODULES:
        for found in doctest.DocTestFinder().find(importlib.import_module(name)):
            for example in found.examples:
                assert doctest.SKIP not in example.options, f"{found.name}: {example.source}"
