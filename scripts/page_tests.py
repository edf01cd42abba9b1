"""Run the tests of pages in a real browser.

    .venv/bin/python scripts/page_tests.py [--quick] [ARGUMENT OF PYTEST ...]
    .venv/bin/python scripts/page_tests.py --site FOLDER [ARGUMENT OF PYTEST ...]

The browser is that of `scripts/browser.py`; its client and the test runner have an
environment of their own, `.cache/browser-venv`, with the pins of
`scripts/requirements-browser.txt`. If these cannot be had, a line says so, and the tests are
skipped. Variables: ISOFORM_COMMAND, the program of the command, whose pages are tested if it
is there; ISOFORM_MODELS, the folder of the models that it reads. Screenshots go to
`.cache/screenshots`.

With `--quick`, nothing is downloaded, and only the tests marked `quick` run. With `--site`, the
tests are those of the documentation site in the folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import browser
from packages import ROOT, environment, is_up_to_date

ENVIRONMENT = ROOT / ".cache" / "browser-venv"
REQUIREMENTS = ROOT / "scripts" / "requirements-browser.txt"
PAGES = ROOT / ".cache" / "pages"
PYTEST = ["-m", "pytest", "--confcutdir", "tests/pages", "-q", "-p", "no:cacheprovider"]
SAMPLES = ["run", "--quiet", "-p", "isoform-page", "--example", "test_pages", "--locked"]


def client() -> Path:
    """Return the Python that drives the browser."""
    return environment(ENVIRONMENT, REQUIREMENTS)


def variables() -> dict[str, str]:
    """Return the paths of everything that the tests use, and name what is missing."""
    paths = {
        "ISOFORM_TEST_BROWSER": str(browser.browser()),
        "ISOFORM_TEST_PAGES": str(PAGES),
        "ISOFORM_MODELS": str(ROOT / ".cache" / "models"),
    }
    for program in [browser.dot, browser.axe, browser.mermaid]:
        name = program.__name__
        try:
            paths[f"ISOFORM_TEST_{name.upper()}"] = str(program())
        except OSError as error:
            print(f"skipped: tests with {name}, which cannot be had here: {error}")
    return {**paths, **os.environ}


def is_at_hand() -> bool:
    """Return whether nothing has to be downloaded."""
    stamp, pins = ENVIRONMENT / ".requirements-stamp", REQUIREMENTS.read_text(encoding="utf-8")
    programs = [browser.BROWSER / "start", browser.GRAPHVIZ / "start", browser.CACHE / "npm"]
    return is_up_to_date(stamp, pins) and all(program.exists() for program in programs)


def main() -> int:
    """Get everything, write the pages, and run the tests."""
    options, quick = sys.argv[1:], "--quick" in sys.argv[1:]
    site = options[1] if options[:1] == ["--site"] else None
    if quick and not is_at_hand():
        print("skipped: no browser in .cache yet; `make test-pages` gets one")
        return 0
    try:
        python, paths = client(), variables()
    except OSError as error:
        print(f"skipped: a browser and its client cannot be had here: {error}")
        return 0
    if quick:
        options = [option for option in options if option != "--quick"] + ["-m", "quick"]
    commands = [
        [os.environ.get("CARGO", "cargo"), *SAMPLES, "--", str(PAGES)],
        [str(python), *PYTEST, "tests/pages", *options],
    ]
    if site is not None:
        paths["ISOFORM_TEST_SITE"] = str(Path(site).resolve())
        commands = [[str(python), *PYTEST, "tests/pages/test_site.py", *options[2:]]]
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, env=paths, check=False)
        if done.returncode != 0:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
