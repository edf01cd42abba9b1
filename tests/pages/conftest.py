"""A real browser for the tests of pages; `make test-pages` runs them."""

import os
from pathlib import Path

import pytest

# Other runs of the whole suite have no browser, and collect nothing here. A run has either the
# pages of the command or the documentation site.
if "ISOFORM_TEST_BROWSER" not in os.environ:
    collect_ignore_glob = ["*.py"]
else:
    if "ISOFORM_TEST_SITE" not in os.environ:
        collect_ignore = ["test_site.py"]
    from playwright.sync_api import sync_playwright
    from visit import Visit

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def browser():
    """The browser, which is started once."""
    with sync_playwright() as client:
        program = os.environ["ISOFORM_TEST_BROWSER"]
        browser = client.chromium.launch(executable_path=program, args=["--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Opens files; each page must stay silent and alone until the end of the test.

    Arguments are those of `Visit`.
    """
    visits = []

    def open_file(file, **options):
        visits.append(Visit(browser, file if "site" in options else Path(file), **options))
        return visits[-1].page

    yield open_file
    for one in visits:
        one.close()


@pytest.fixture(scope="session")
def samples():
    """The folder of the pages that the example program `test_pages` wrote."""
    return Path(os.environ["ISOFORM_TEST_PAGES"])


@pytest.fixture(scope="session")
def program():
    """Finds a program or a script that may be missing: `program("DOT")`."""

    def find(name):
        path = os.environ.get(f"ISOFORM_TEST_{name}")
        if not path:
            pytest.skip(f"no {name.lower()} here")
        return path

    return find
