"""The site has every public name of the package; `make test-site` builds it.

The pages are made from sources and stubs, without the native module, so a name could be missing
that exists when the package runs.
"""

import html
import importlib
import os
import pkgutil
import re
from pathlib import Path

import pytest

import isoform

SITE = os.environ.get("ISOFORM_TEST_SITE")
pytestmark = pytest.mark.skipif(SITE is None, reason="no site; `make test-site` builds one")
# A namespace for types with longer keys: stubs leave it out, and `isoform.relay.evaluation` has
# its classes.
NAMESPACES = {"value"}
IDENTIFIER = re.compile(r'\bid="([\w.]+)"|<code>([\w.]+)</code>')


def is_public(module):
    return not any(part.startswith("_") for part in module.split("."))


FOUND = pkgutil.walk_packages(isoform.__path__, "isoform.")
MODULES = ["isoform", *(found.name for found in FOUND if is_public(found.name))]


def lacking(module, names, page):
    """The names that are neither documented nor linked on the page of the module."""
    shown = {part for found in IDENTIFIER.findall(html.unescape(page)) for part in found}
    return [name for name in names if not {name, f"{module}.{name}"} & shown]


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_there(module):
    page = (Path(SITE) / "api" / module / "index.html").read_text(encoding="utf-8")
    names = getattr(importlib.import_module(module), "__all__", [])
    assert set(lacking(module, names, page)) <= NAMESPACES


def test_a_name_that_is_missing_is_noticed():
    page = '<h2 id="isoform.x.documented"></h2><td><a href="y"><code>linked</code></a></td>'
    assert lacking("isoform.x", ["documented", "linked", "gone"], page) == ["gone"]
