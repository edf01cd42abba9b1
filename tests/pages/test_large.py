"""Large pages: their sizes, how soon they are seen, and whether a reader gets anywhere."""

import pytest
from visit import comes_into_sight, screenshot, show_listing

PAINT = """() => new Promise((resolve) => {
  const seen = (entries) => {
    const entry = entries.find(({name}) => name === "first-contentful-paint");
    if (entry) resolve(entry.startTime);
  };
  new PerformanceObserver((list) => seen(list.getEntries())).observe({type: "paint", buffered: true});
})"""


def end_of(page):
    """Scroll to the end of the page, which grows while its rows are built."""
    height = 0
    while height != (height := page.evaluate("document.documentElement.scrollHeight")):
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.wait_for_timeout(100)


def test_a_page_of_a_thousand_nodes_is_small(samples):
    assert (samples / "pair-1000.html").stat().st_size <= 1_500_000


def test_a_page_of_a_thousand_nodes_is_seen_at_once(visit, samples):
    # The best of several visits, because other programs run on the machine, too.
    times = []
    for _ in range(5):
        times.append(visit(samples / "pair-1000.html").evaluate(PAINT))
        if times[-1] <= 1_000:
            break
    assert min(times) <= 1_000


@pytest.mark.parametrize("name", ["pair-1000", "pair-20000"])
def test_every_change_can_be_reached(visit, samples, name):
    page = visit(samples / f"{name}.html")
    changes = 25 if name == "pair-1000" else 200
    numbers = range(1, changes + 1) if changes < 50 else [1, 2, 49, 50, 51, 99, 150, 151, 199, 200]
    for number in numbers:
        page.evaluate("(anchor) => { location.hash = anchor; }", f"change-{number}")
        comes_into_sight(page.locator(f"[id=change-{number}]"))
        page.locator(f"[id=change-{number}]").get_by_role("button", name="Show lines").click()
        row = page.locator(".row[aria-current=true]")
        comes_into_sight(row)
        distance = (1_000 if changes == 25 else 20_000) // changes
        place = (number - 1) * distance + distance // 2
        assert row.get_attribute("data-row") == str(place)


def test_twenty_thousand_nodes_are_usable(visit, samples):
    page = visit(samples / "pair-20000.html")
    assert page.evaluate(PAINT) <= 5_000
    assert page.evaluate("document.querySelectorAll('*').length") < 25_000
    page.keyboard.press("n")
    assert page.locator("[aria-current=true]").get_attribute("id") == "change-1"
    page.get_by_role("searchbox").fill("%15000 =")
    page.get_by_role("status").get_by_text("1 match").wait_for()
    page.get_by_role("searchbox").press("Enter")
    comes_into_sight(page.get_by_role("row", name="%15000 = ").first)
    end_of(page)
    screenshot(page, "pair-20000-end")
    assert page.locator("footer").is_visible()
    nodes = page.locator("section").last.locator("svg .node")
    nodes.first.wait_for()
    assert 2 < nodes.count() < 5_000


def test_a_hundred_thousand_rows_open(visit, samples):
    page = visit(samples / "rows-100000.html")
    assert page.evaluate(PAINT) <= 10_000
    assert "100000 rows" in page.get_by_role("heading", level=1).inner_text()
    show_listing(page)
    assert page.evaluate("document.querySelectorAll('*').length") < 100_000
    page.get_by_role("searchbox").fill("%99990 =")
    page.get_by_role("status").get_by_text("1 match").wait_for()
    page.get_by_role("searchbox").press("Enter")
    row = page.get_by_role("row", name="%99990 = ").first
    comes_into_sight(row)
    screenshot(page, "rows-100000-found")
    use = row.locator("[data-binding]").nth(1)
    use.hover()
    assert use.get_attribute("title") == "defined in line 99,990, 1 use"
    end_of(page)
    last = page.get_by_role("row", name="%99999 = ")
    assert last.is_visible()
    # The number 100,000 fits into its column.
    assert last.bounding_box()["height"] == row.bounding_box()["height"]
