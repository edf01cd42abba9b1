"""A page opened by the browser, which records whatever a reader must not notice."""

import time
from pathlib import Path

from playwright.sync_api import Browser, Error

FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "screenshots"
WIDE, NARROW = 1280, 360
PATIENCE = 5_000
# Violations of the page's own policy do not always reach the console.
RECORD_VIOLATIONS = """
  window.violations = [];
  document.addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
"""
READ_SIGHT = """(element) => {
  const {top, width} = element.getBoundingClientRect();
  const bar = document.querySelector(".toolbar")?.getBoundingClientRect();
  const highest = bar && bar.top <= 0 ? bar.bottom : 0;
  return [width > 0 && top >= highest - 1 && top < innerHeight - 10, top, highest, innerHeight];
}"""


class Visit:
    """A visit of a file, or of a page of a site, in a window of its own.

    A file asks for nothing, and a page of a site asks only for what is below the address `site`.
    `scheme` is `light` or `dark`, `width` and `height` are those of the window, and
    `script` tells whether the page may run its script.
    """

    def __init__(
        self,
        browser: Browser,
        file: Path | str,
        scheme="light",
        width=WIDE,
        height=800,
        script=True,
        site=None,
    ):
        self.site = site
        self.address = site + file if site else file.resolve().as_uri()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.answers: list[str] = []
        self.has_script = script
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            java_script_enabled=script,
            reduced_motion="reduce",
        )
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(RECORD_VIOLATIONS)
        self.page = self.context.new_page()
        self.page.on("console", self._record_console)
        self.page.on("pageerror", lambda error: self.messages.append(f"error: {error}"))
        self.page.on("dialog", self._record_dialog)
        self.page.on("request", self._record_request)
        self.context.route("**/*", self._route)
        self.page.goto(self.address, timeout=PATIENCE * 6)

    def _record_console(self, message):
        if message.type in ("error", "warning", "assert"):
            self.messages.append(f"{message.type}: {message.text}")

    def _record_dialog(self, dialog):
        self.messages.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _is_own(self, url):
        return url.split("#")[0] == self.address or (self.site and url.startswith(self.site))

    def _record_request(self, request):
        if not self._is_own(request.url) and not request.url.startswith(("data:", "blob:")):
            self.requests.append(request.url)

    def _route(self, route):
        if self._is_own(route.request.url):
            route.continue_()
        else:
            self.answers.append(route.request.url)
            route.abort()

    def close(self) -> None:
        """End the visit; fail if the page said, asked or tried anything."""
        violations = self.page.evaluate("window.violations") if self.has_script else []
        self.context.close()
        assert self.messages == [], f"{self.address} complains"
        assert self.requests == [], f"{self.address} asks for other files"
        assert violations == [], f"{self.address} breaks its own policy"


def screenshot(page, name):
    """Keep a picture of the window for people; return its bytes."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for patience in (200, 1_000, 5_000):
        try:
            return page.screenshot(path=FOLDER / f"{name}.png")
        except Error:
            # A busy machine has no picture of the window now and then.
            page.wait_for_timeout(patience)
    return page.screenshot(path=FOLDER / f"{name}.png")


def show_listing(page):
    """Scroll to the first listing until its rows are there: parts above it may grow."""
    rows = page.locator(".row, .fold")
    deadline = time.monotonic() + PATIENCE / 1000
    while True:
        page.locator(".listing .chunk").first.evaluate("(element) => element.scrollIntoView()")
        page.wait_for_timeout(50)
        if rows.count() > 0:
            return
        assert time.monotonic() < deadline, "the listing has no rows"


def overflow(page):
    """Return how far the page is wider than the window, and the elements that stick out."""
    return page.evaluate("""() => {
      const {clientWidth, scrollWidth} = document.documentElement;
      if (scrollWidth <= clientWidth) return [];
      const sticksOut = (element) => element.getBoundingClientRect().right > clientWidth + 1
        || element.getBoundingClientRect().left + element.scrollWidth > clientWidth + 1;
      const elements = [...document.querySelectorAll("body *")].filter(sticksOut);
      return [`${scrollWidth} > ${clientWidth}`,
              ...elements.slice(0, 8).map((element) => element.outerHTML.slice(0, 120))];
    }""")


def comes_into_sight(locator):
    """Wait until the beginning of an element is in the window, below the bar of tools."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not (top := locator.evaluate(READ_SIGHT))[0]:
        assert time.monotonic() < deadline, f"{locator} is not seen: {top}"
        time.sleep(0.02)
