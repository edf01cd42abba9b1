"""The documentation site as readers see it, served from this machine."""

import functools
import http.server
import os
import threading
from pathlib import Path

import pytest
from visit import NARROW, WIDE, Visit, overflow, screenshot

SITE = Path(os.environ["ISOFORM_TEST_SITE"])
PAGES = {
    "start": "",
    "guide": "identity/",
    "picture": "onnx/",
    "module": "api/isoform.structural/",
    "types": "api/isoform.types.ir/",
    "command": "command/",
    "tables": "complexity/",
    "changelog": "changelog/",
}
SCHEMES = ["light", "dark"]


@pytest.fixture(scope="session")
def site():
    """The address of the site."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_page(visit, program, site, name, scheme, width):
    page = visit(PAGES[name], site=site, scheme=scheme, width=width)
    page.locator("article h1").wait_for()
    # The theme puts wide tables into frames after the page has loaded.
    page.wait_for_timeout(100)
    screenshot(page, f"site-{name}-{scheme}-{width}")
    assert overflow(page) == []
    page.evaluate(Path(program("AXE")).read_text(encoding="utf-8"))
    barriers = page.evaluate("""async () => (await axe.run()).violations
        .filter(({impact}) => impact === "serious" || impact === "critical")
        .map(({id, nodes}) => [id, nodes.length, nodes[0].html.slice(0, 200)])""")
    assert barriers == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_colours_are_those_of_the_system(visit, site, scheme):
    page = visit("", site=site, scheme=scheme)
    page.locator("article h1").wait_for()
    channels = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g)")
    light = sum(map(float, channels[:3])) > 3 * 128
    assert light == (scheme == "light"), channels


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_search_finds_a_function(visit, site, width):
    page = visit("", site=site, width=width)
    page.locator("article h1").wait_for()
    page.keyboard.press("Control+k")
    page.wait_for_timeout(300)
    page.keyboard.type("structural_equal")
    result = page.locator("a[role='option'][href*='api/isoform.structural/']").first
    result.wait_for()
    screenshot(page, f"site-search-{width}")
    result.click()
    page.wait_for_url("**/api/isoform.structural/**")
    assert "structural_equal" in page.locator("article").inner_text()


def test_requests_to_elsewhere_are_noticed(browser, site):
    visit = Visit(browser, "", site=site)
    visit.page.evaluate("fetch('https://example.org/x').catch(() => {})")
    visit.page.wait_for_timeout(100)
    with pytest.raises(AssertionError, match=r"complains|asks"):
        visit.close()


def test_a_missing_page_is_noticed(browser, site):
    visit = Visit(browser, "no-such-page/", site=site)
    with pytest.raises(AssertionError, match="complains"):
        visit.close()
