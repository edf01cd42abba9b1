"""Pages are one file that nothing can be added to, and whose parts find each other."""

import re

import pytest
from test_looks import DOCUMENTS, NAMES
from visit import Visit


@pytest.mark.quick
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_policy_allows_what_is_written_in_it(samples, name):
    text = (samples / f"{name}.html").read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.rstrip(";").split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].startswith("'sha256-")
    assert rules["style-src"].startswith("'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy


@pytest.mark.quick
@pytest.mark.parametrize(
    "addition",
    [
        "Object.assign(document.createElement('script'), {textContent: 'window.added = 1'})",
        "Object.assign(document.createElement('style'), {textContent: 'body {color: red}'})",
        "Object.assign(document.createElement('img'), {src: 'https://example.org/x.png'})",
        "Object.assign(document.createElement('iframe'), {src: 'https://example.org/'})",
    ],
)
def test_nothing_can_be_added(browser, samples, addition):
    visit = Visit(browser, samples / "different.html")
    visit.page.evaluate(f"document.body.append({addition})")
    visit.page.wait_for_timeout(100)
    assert visit.page.evaluate("window.added") is None
    assert visit.page.evaluate("window.violations.length") == 1
    # A picture that the policy stops counts as a request that failed.
    assert visit.answers == []
    with pytest.raises(AssertionError):
        visit.close()


@pytest.mark.parametrize("name", NAMES)
def test_parts_find_each_other(visit, samples, name):
    page = visit(samples / f"{name}.html")
    twice, lost = page.evaluate("""() => {
      const ids = [...document.querySelectorAll("[id]")].map(({id}) => id);
      const known = new Set(ids);
      const names = ["href", "aria-labelledby", "aria-describedby", "aria-controls", "for"];
      const wanted = names.flatMap((name) => [...document.querySelectorAll(`[${name}]`)]
        .flatMap((element) => element.getAttribute(name).split(" ")))
        .map((text) => decodeURIComponent(text.replace(/^#/, "")));
      return [ids.filter((id, place) => ids.indexOf(id) !== place),
              wanted.filter((id) => !known.has(id))];
    }""")
    assert (twice, lost) == ([], [])
