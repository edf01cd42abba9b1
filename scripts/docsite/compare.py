"""A check that the generator reads pages as code hosts do.

The generator does not read CommonMark but a relative of it, in which a list without an empty line
before it is text, for example. The check counts the elements of each page in both readings.
"""

from __future__ import annotations

import re
from pathlib import Path

import stage
from markdown_it import MarkdownIt

_ELEMENTS = ("li", "table", "td", "pre", "h1", "h2", "h3", "h4", "strong", "em", "img")
_COMMONMARK = MarkdownIt("commonmark").enable("table")


def check(sources: Path, site: Path, pages: list[str]) -> None:
    """Raise an error for a page with other elements in the site."""
    for page in pages:
        name = page.removesuffix(".md")
        folder = site if name == "index" else site / name.removesuffix("/index")
        html = (folder / "index.html").read_text(encoding="utf-8")
        expected = elements(_COMMONMARK.render((sources / page).read_text(encoding="utf-8")))
        found = elements(article(html))
        for element, count in expected.items():
            if found[element] != count:
                raise stage.PageError(
                    f"{page}: the site has {found[element]} elements <{element}>, and code hosts "
                    f"show {count}"
                )


def article(html: str) -> str:
    """Return the contents of a page, without its frame."""
    found = re.search(r"<article[^>]*>(.*)</article>", html, re.DOTALL)
    if found is None:
        raise stage.PageError("a page of the site has no article")
    return found[1]


def elements(html: str) -> dict[str, int]:
    """Return how often each kind of element occurs."""
    return {name: len(re.findall(rf"<{name}[ >]", html)) for name in _ELEMENTS}
