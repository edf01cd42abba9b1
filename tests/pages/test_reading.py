"""Pages as readers see and use them: the first screen, keys, filters, folds, links."""

import re

import pytest
from visit import NARROW, WIDE, comes_into_sight, show_listing

CHANGES = 4


@pytest.fixture
def page(visit, samples):
    return visit(samples / "different.html")


def changed_row(page):
    """The first row that changed; rows exist when a reader comes near."""
    show_listing(page)
    row = page.locator(".row.mark-changed").first
    row.scroll_into_view_if_needed()
    return row


def current(page):
    """The change that the keys went to: its anchor or its row, which the reader sees."""
    target = page.locator("[aria-current=true]")
    comes_into_sight(target)
    return target.evaluate("(element) => element.id || `row ${element.dataset.row}`")


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_first_screen_answers(visit, samples, width, script):
    page = visit(samples / "different.html", width=width, script=script)
    heading = page.get_by_role("heading", level=1)
    assert "Different" in heading.inner_text()
    assert "4 of 48 nodes differ, first the stride of relu_6." in heading.inner_text()
    seen = [
        heading,
        page.get_by_text("nodes the same"),
        page.get_by_role("banner").get_by_text("44"),
    ]
    seen.append(page.get_by_text("relu_6: the stride is 2 instead of 1").first)
    for locator in seen:
        box = locator.bounding_box()
        assert box["y"] + box["height"] <= 800
        assert box["x"] + box["width"] <= width


def test_an_equal_pair_says_so_and_no_more(visit, samples):
    page = visit(samples / "equal.html")
    assert "Equal" in page.get_by_role("heading", level=1).inner_text()
    assert page.locator("article").count() == 0


@pytest.mark.quick
def test_every_change_has_all_that_is_known_about_it(page):
    cards = page.locator("article")
    assert [card.get_attribute("id") for card in cards.all()] == [
        f"change-{number}" for number in range(1, CHANGES + 1)
    ]
    first = cards.first
    assert first.locator("del").inner_text() == "1"
    assert first.locator("ins").inner_text() == "2"
    assert "\N{MULTIPLICATION SIGN} 3" in first.inner_text()
    reason = first.get_by_text("Both read the same values, and")
    assert not reason.is_visible()
    first.get_by_text("Why these two were matched").click()
    assert reason.is_visible()
    assert first.locator("svg").count() >= 3
    assert first.get_by_role("cell", name="0.013").is_visible()
    assert cards.nth(2).get_by_text("Why these two were matched").count() == 0


def test_marks_are_not_told_by_colour_alone(page):
    signs = [card.locator("h3 .sign").inner_text() for card in page.locator("article").all()]
    assert signs == ["~", "~", "+", "-"]
    styles = page.locator("article").evaluate_all(
        "(cards) => cards.map((card) => getComputedStyle(card).borderLeftStyle)"
    )
    assert styles == ["double", "double", "solid", "dashed"]


@pytest.mark.quick
def test_n_and_p_walk_the_changes(page):
    page.keyboard.press("n")
    assert current(page) == "change-1"
    page.keyboard.press("n")
    assert current(page) == "change-2"
    page.keyboard.press("p")
    assert current(page) == "change-1"
    stops = []
    for _ in range(2 * CHANGES):
        page.keyboard.press("n")
        stops.append(current(page))
    assert len(set(stops)) == 2 * CHANGES
    assert [stop for stop in stops if stop.startswith("row")] == [
        f"row {row}" for row in (6, 18, 30, 42)
    ]


def test_every_stop_is_reached_backwards(page):
    page.keyboard.press("p")
    last = current(page)
    assert last == "row 42"


@pytest.mark.quick
def test_slash_searches_and_enter_goes_on(page):
    page.keyboard.press("/")
    field = page.get_by_role("searchbox")
    assert field.evaluate("(element) => element === document.activeElement")
    page.keyboard.type("maxpool(%6,")
    page.get_by_role("status").get_by_text("1 match").wait_for()
    page.keyboard.press("Enter")
    row = page.locator(".row.match")
    assert row.count() == 1
    assert "%7 = MaxPool(%6, stride=1)" in row.inner_text()
    comes_into_sight(row)
    # Letters in the field are text, not keys.
    assert field.input_value() == "maxpool(%6,"
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    assert current(page) == "change-1"


def test_a_search_without_matches_says_so(page):
    page.get_by_role("searchbox").fill("no such text")
    page.get_by_role("status").get_by_text("0 matches").wait_for()
    assert page.locator(".match").count() == 0


def test_a_search_finds_what_is_folded(page):
    page.get_by_role("searchbox").fill("%24 = Conv")
    page.get_by_role("status").get_by_text("1 match").wait_for()
    page.get_by_role("searchbox").press("Enter")
    assert page.get_by_role("row", name="%24 = Conv").first.is_visible()


def test_question_mark_shows_every_key(page):
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    assert dialog.is_visible()
    keys = [key.inner_text() for key in dialog.locator("kbd").all()]
    assert {"n", "p", "/", "?", "u"} <= set(keys)
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    page.get_by_role("button", name="Help on keys").click()
    assert dialog.is_visible()
    dialog.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()


def test_u_shows_one_column_or_two(page):
    button = page.get_by_role("button", name=re.compile("unified", re.IGNORECASE))
    row = changed_row(page)

    def tops():
        return [cell.bounding_box()["y"] for cell in row.locator(".cell").all()[:2]]

    left, right = tops()
    assert left == right
    page.keyboard.press("u")
    assert button.get_attribute("aria-pressed") == "true"
    left, right = tops()
    assert left < right
    button.click()
    left, right = tops()
    assert left == right


@pytest.mark.quick
def test_kinds_can_be_hidden(page):
    page.get_by_text("Kinds", exact=True).click()
    page.get_by_role("checkbox", name="attribute").uncheck()
    visible = [
        card.get_attribute("id") for card in page.locator("article").all() if card.is_visible()
    ]
    assert visible == ["change-2", "change-3", "change-4"]
    assert "3 of 4 changes shown" in page.get_by_role("status").inner_text()
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("n")
    assert current(page) == "change-2"
    page.get_by_role("checkbox", name="attribute").check()
    assert page.locator("#change-1").is_visible()


@pytest.mark.quick
def test_equal_rows_are_folded_and_unfold(page):
    changed_row(page)
    folds = page.locator("button.fold")
    # Three rows on both sides of each of the rows 6, 18, 30 and 42 of 48 stay.
    numbers = [int(re.search(r"\d+", fold.inner_text())[0]) for fold in folds.all()]
    assert numbers == [5, 5, 5]
    before = page.locator(".row").count()
    hidden = numbers[0]
    assert folds.first.get_attribute("aria-expanded") == "false"
    folds.first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".row").count() == before + hidden


def test_the_address_leads_to_a_change(visit, samples, page):
    for link in page.locator("ol a, nav a").all():
        target = link.get_attribute("href").removeprefix("#")
        link.click()
        comes_into_sight(page.locator(f"[id='{target}']"))
        assert page.evaluate("location.hash") == f"#{target}"
    page.goto(page.url.split("#")[0] + "#change-3")
    page.reload()
    assert current(page) == "change-3"


@pytest.mark.quick
def test_hovering_shows_the_definition_and_the_uses(page):
    row = changed_row(page)
    use = row.locator(".left [data-binding]").nth(1)
    name = use.inner_text()
    assert name == "%5"
    use.hover()
    lit = page.locator(".use")
    assert {piece.inner_text() for piece in lit.all()} == {name}
    assert lit.count() == 2
    definition = page.locator(".use.definition")
    assert definition.count() == 1
    assert definition.evaluate("(element) => getComputedStyle(element).outlineStyle") == "solid"
    assert use.get_attribute("title") == "defined in line 6, 1 use"
    page.mouse.move(5, 5)
    page.locator("h1").hover()
    assert lit.count() == 0


def test_a_definition_is_one_click_away(page):
    row = changed_row(page)
    row.locator(".left [data-binding]").nth(1).click()
    assert "%5 = Add" in page.locator(".row[aria-current=true] .left").inner_text()


def test_a_row_says_why_its_lines_were_matched(page):
    row = changed_row(page)
    row.get_by_role("button", name="why?").click()
    assert row.get_by_text("Both read the same values.").is_visible()


def test_card_and_lines_lead_to_each_other(page):
    page.locator("#change-2").get_by_role("button", name="Show lines").click()
    assert current(page) == "row 18"
    page.locator(".row[aria-current=true]").get_by_role("link").click()
    assert current(page) == "change-2"


def test_the_reader_chooses_the_scheme(page):
    colour = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(colour)
    page.get_by_role("button", name="Dark").click()
    after = page.evaluate(colour)
    assert before != after


def test_everything_works_by_tab(page):
    names = []
    for _ in range(60):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate("""() => {
              const element = document.activeElement;
              const {outlineStyle, outlineWidth} = getComputedStyle(element);
              return [element.localName, outlineStyle !== "none" && outlineWidth !== "0px"];
            }""")
        )
    assert names[0][0] == "a"
    reached = {name for name, _ in names}
    assert {"a", "button", "input", "summary"} <= reached
    assert all(is_shown for name, is_shown in names if name != "body")


@pytest.mark.quick
def test_without_script_everything_that_matters_is_there(visit, samples):
    page = visit(samples / "different.html", script=False)
    assert page.locator("article").count() == CHANGES
    for card in page.locator("article").all():
        assert card.is_visible()
        assert card.locator("figure svg").first.is_visible()
    assert not page.get_by_role("searchbox").is_visible()
    assert page.get_by_text("%6 = Relu").first.is_visible()
    page.get_by_text("Why these two were matched").first.click()
    assert page.get_by_text("Both read the same values, and").first.is_visible()


def test_paper_has_every_change_and_no_tools(page):
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert not page.get_by_role("searchbox").is_visible()
    assert all(card.is_visible() for card in page.locator("article").all())
    assert page.get_by_text("Both read the same values, and").first.is_visible()
    assert page.locator(".row.mark-changed").count() == 2
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not page.get_by_text("Both read the same values, and").first.is_visible()
    paper = page.pdf()
    assert paper.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) >= 1
