"""The harness notices what pages must not do: a test that cannot fail proves nothing."""

from pathlib import Path

import pytest
from visit import NARROW, Visit, overflow

FAULTS = {
    "complains": "<script>console.warn('look')</script>",
    "complains of an error": "<script>undefinedName.x</script>",
    "complains of a dialog": "<script>alert(1)</script>",
    "asks for other files": "<img src='https://example.org/x.png' alt=''>",
    "asks for another file": "<link rel='stylesheet' href='other.css'>",
    "breaks its own policy": "<p style='color: red'>text</p>",
}
POLICY = "<meta http-equiv=Content-Security-Policy content=\"style-src 'none'; img-src data:\">"


def written(folder: Path, body: str, head: str = "") -> Path:
    file = folder / "page.html"
    file.write_text(f"<!doctype html><title>x</title>{head}{body}", encoding="utf-8")
    return file


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(browser, tmp_path, fault):
    head = POLICY if "policy" in fault else ""
    visit = Visit(browser, written(tmp_path, FAULTS[fault], head))
    visit.page.wait_for_timeout(50)
    with pytest.raises(AssertionError, match=r"page\.html (complains|asks|breaks)"):
        visit.close()


def test_a_quiet_page_passes(visit, tmp_path):
    page = visit(written(tmp_path, "<p>text</p>"))
    assert page.inner_text("p") == "text"
    assert overflow(page) == []


def test_overflow_is_noticed(visit, tmp_path):
    page = visit(written(tmp_path, f"<pre>{'x' * 200}</pre>"), width=NARROW)
    assert "<pre>" in overflow(page)[1]


def test_barriers_are_noticed(visit, program, tmp_path):
    body = "<p><font color='#bbb' style='background: #fff'>pale</font><img src='data:,'></p>"
    page = visit(written(tmp_path, body))
    page.evaluate(Path(program("AXE")).read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run().then((result) => result.violations.map((v) => v.id))")
    assert {"color-contrast", "image-alt"} <= set(violations)
