"""Texts of files that try to leave their place: they are shown, and do nothing."""

import pytest
from visit import NARROW, WIDE, overflow, show_listing

MARKUP = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '" onmouseover="alert(3)" x="',
    "' onfocus='alert(4)' autofocus x='",
    "</style><style>body{display:none}</style>",
    "</title><h1>broken</h1>",
    "<!-- <![CDATA[ ]]> --> &lt;b&gt; &amp;",
    "${alert(5)}{{alert(6)}}`",
    "javascript:alert(7)",
]


@pytest.fixture(params=[True, False], ids=["script", "no-script"])
def page(visit, samples, request):
    page = visit(samples / "hostile.html", script=request.param)
    if request.param:
        show_listing(page)
    return page


@pytest.mark.parametrize("text", MARKUP)
def test_markup_is_shown_as_text(page, text):
    cards = page.locator("article h3").all_inner_texts()
    assert any(text in heading for heading in cards)
    cells = page.locator("td").all_inner_texts()
    assert any(text == cell.strip() for cell in cells)
    assert any(text in line for line in page.locator(".code, pre.text").all_inner_texts())


@pytest.mark.quick
def test_no_element_comes_from_a_text(page):
    assert page.locator("h1").count() == 1
    assert page.locator("body").is_visible()
    assert page.locator("img, iframe, object, embed, form").count() == 0
    handlers = page.evaluate("""[...document.querySelectorAll("*")].flatMap((element) =>
      element.getAttributeNames().filter((name) => name.startsWith("on")))""")
    assert handlers == []
    links = page.evaluate("""[...document.querySelectorAll("[href]")].map((element) =>
      element.getAttribute("href"))""")
    assert [link for link in links if not link.startswith("#")] == []
    assert page.title().startswith("</script>")


def test_pointing_at_everything_runs_nothing(page):
    for piece in page.locator("article, td, .code bdi, figure a").all()[:120]:
        piece.dispatch_event("mouseover")
        piece.dispatch_event("focus")
    # The end of the visit checks that nothing spoke up.
    assert page.locator("article").count() == 15


@pytest.mark.quick
def test_direction_cannot_leak(page):
    """An override is drawn as a sign, or ends with its own element."""
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page.locator("article h3").nth(7).inner_text()
    directions = page.evaluate("""[...document.querySelectorAll("article")].map((element) =>
      getComputedStyle(element).direction)""")
    assert set(directions) == {"ltr"}


def test_characters_without_a_shape_are_seen(page):
    heading = page.locator("article h3").nth(8).inner_text()
    assert not set(heading) & set("\0\x1b\x7f\ufeff\u2028\ufffe")
    assert "[31m" in heading


def test_people_and_scripts_of_the_world_are_kept(page):
    heading = page.locator("article h3").nth(9).inner_text()
    for word in [
        "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
        "é ü ß",
        "漢字",
        "עברית",
    ]:
        assert word in heading


def test_a_long_text_is_cut_and_shown_whole_on_request(page):
    card = page.locator("article").nth(14)
    heading = card.locator("h3").inner_text()
    assert 100 < len(heading) < 1_000
    card.locator("details").first.locator("summary").click()
    assert "x" * 10_000 in card.locator("details").first.inner_text()


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_nothing_sticks_out(visit, samples, width):
    page = visit(samples / "hostile.html", width=width)
    page.evaluate("document.querySelectorAll('details').forEach((element) => element.open = true)")
    show_listing(page)
    assert page.locator(".names").bounding_box()["height"] < 200
    heights = page.locator(".row").evaluate_all("(rows) => rows.map((row) => row.offsetHeight)")
    # The last row is the long text.
    assert max(heights[:-1]) < 300
    assert overflow(page) == []
