"""Pages in both colour schemes and at both widths: barriers, overflow, screenshot, show_listings."""

from pathlib import Path

import pytest
from visit import NARROW, WIDE, overflow, screenshot, show_listing

LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (WIDE, NARROW)]
NAMES = ["equal", "different", "hostile", "notebook", "pair-1000"]
DOCUMENTS = [name for name in NAMES if name != "notebook"]
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
@pytest.mark.parametrize("name", NAMES)
def test_nobody_meets_a_barrier(visit, samples, program, name, scheme, width):
    page = visit(samples / f"{name}.html", scheme=scheme, width=width)
    if page.locator(".listing").count() > 0:
        show_listing(page)
    found = barriers(page, Path(program("AXE")))
    assert not found, "\n" + "\n".join(found)


def barriers(page, axe):
    """Return what axe-core finds, with the first elements of each kind.

    The browser lays chunks of a listing out when a reader comes near, and until then they
    overlap; axe-core, which reads the whole page, must see the final places.
    """
    page.evaluate(axe.read_text(encoding="utf-8"))
    page.locator(".chunk").evaluate_all(
        "(chunks) => chunks.forEach((chunk) => { chunk.style.contentVisibility = 'visible'; })"
    )
    return page.evaluate(
        """async (rules) => (await axe.run(document, rules)).violations.map(({id, help, nodes}) =>
          [`${id}: ${help} (${nodes.length})`, ...nodes.slice(0, 4).map((node) =>
            `    ${node.html.slice(0, 160)}: ${node.any[0]?.message ?? ""}`)].join("\\n"))""",
        RULES,
    )


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
@pytest.mark.parametrize("name", NAMES)
def test_no_page_scrolls_sideways(visit, samples, name, scheme, width):
    page = visit(samples / f"{name}.html", scheme=scheme, width=width, height=1600)
    screenshot(page, f"{name}-{scheme}-{width}")
    if page.locator(".listing").count() > 0:
        show_listing(page)
        screenshot(page, f"{name}-listing-{scheme}-{width}")
    assert overflow(page) == []


def test_the_scheme_is_that_of_the_reader(visit, samples):
    def colours(scheme):
        """The brightness of the page and of its text."""
        page = visit(samples / "different.html", scheme=scheme)
        return [
            page.evaluate(
                """(name) => getComputedStyle(document.body)[name].match(/\\d+/g).slice(0, 3)
                  .reduce((sum, part) => sum + Number(part), 0)""",
                name,
            )
            for name in ("backgroundColor", "color")
        ]

    ground, text = colours("light")
    assert ground > text
    ground, text = colours("dark")
    assert ground < text


def test_schemes_need_no_script(visit, samples):
    light, dark = (
        screenshot(
            visit(samples / "different.html", scheme=scheme, script=False), f"no-script-{scheme}"
        )
        for scheme in ("light", "dark")
    )
    assert light != dark


@pytest.mark.parametrize("zoom", [2, 4])
def test_zoomed_text_stays_inside(visit, samples, zoom):
    page = visit(samples / "different.html", width=WIDE // zoom)
    assert overflow(page) == []
