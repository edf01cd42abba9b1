"""The viewer of the picture of a whole model: blocks open, the view moves, the map follows."""

import pytest
from visit import screenshot


@pytest.fixture
def page(visit, samples):
    page = visit(samples / "pair-1000.html")
    page.locator(".canvas").scroll_into_view_if_needed()
    page.locator(".canvas .node").first.wait_for()
    return page


def view(page):
    """The part of the picture that is seen: x, y, width, height."""
    page.wait_for_timeout(50)
    box = page.locator(".canvas svg").get_attribute("viewBox")
    return [float(number) for number in box.split()]


def test_labels_can_be_read_at_once(page):
    heights = page.locator(".canvas .node .label").evaluate_all(
        "(labels) => labels.map((label) => label.getBoundingClientRect().height)"
    )
    screenshot(page, "viewer")
    assert min(heights) >= 9


def test_the_view_shows_a_change_at_first(page):
    assert page.locator(".canvas .node.mark-changed").count() > 0


def test_blocks_open_and_close_again(page):
    blocks = page.locator(".canvas [data-opens]")
    label = blocks.first.locator(".label").text_content()
    blocks.first.click()
    crumb = page.locator(".tools nav button[aria-current]")
    assert crumb.inner_text() in label
    page.locator(".canvas .node.shape-operator .label", has_text="Conv").first.wait_for()
    screenshot(page, "viewer-block")
    page.locator(".tools nav button").first.click()
    page.locator(".canvas .shape-group").first.wait_for()


def test_blocks_open_by_keys(page):
    page.locator(".canvas [data-opens]").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".tools nav button").count() == 2


def test_repeated_blocks_say_how_often(page):
    page.get_by_role("button", name="Fit").click()
    page.wait_for_timeout(50)
    text = " ".join(page.locator(".canvas text").all_text_contents())
    assert "\N{MULTIPLICATION SIGN} 24" in text


def test_buttons_keys_and_pointer_move_the_view(page):
    start = view(page)
    page.get_by_role("button", name="Zoom in").click()
    zoomed = view(page)
    assert zoomed[2] < start[2]
    page.locator(".canvas").focus()
    page.keyboard.press("ArrowDown")
    moved = view(page)
    assert moved[1] > zoomed[1]
    page.keyboard.press("-")
    assert view(page)[2] > zoomed[2]
    page.keyboard.press("0")
    whole = view(page)
    page.keyboard.press("+")
    page.keyboard.press("+")
    before = view(page)
    assert before[3] < whole[3]
    box = page.locator(".canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 60, steps=3)
    page.mouse.up()
    assert view(page)[1] > before[1]


def test_the_map_follows_and_leads(page):
    window = page.locator(".map .window")
    page.get_by_role("button", name="Zoom in").click()
    x, y, width, height = view(page)
    shown = [float(window.get_attribute(name)) for name in ("x", "y", "width", "height")]
    assert shown == [x, y, width, height]
    box = page.locator(".map").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 2)
    assert view(page)[1] > y


def test_a_changed_node_leads_to_its_change(page):
    page.locator(".canvas .mark-changed[data-opens]").first.click()
    page.locator(".canvas .mark-changed a").first.click()
    assert page.evaluate("location.hash").startswith("#change-")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_are_told_without_colour(visit, samples, scheme):
    page = visit(samples / "different.html", scheme=scheme)
    picture = page.locator("article figure svg").first
    signs = {
        mark: picture.locator(f".node.mark-{mark} .label").first.text_content()[0]
        for mark in ("changed", "deleted", "inserted")
    }
    assert signs == {"changed": "~", "deleted": "\N{MINUS SIGN}", "inserted": "+"}
    dashes = [
        picture.locator(f".{part}.mark-{mark} .{shape}").first.evaluate(
            "(element) => getComputedStyle(element).strokeDasharray"
        )
        for part, shape in (("node", "shape"), ("edge", "wire"))
        for mark in ("deleted", "inserted")
    ]
    assert [dash != "none" for dash in dashes] == [True, False, True, False]
