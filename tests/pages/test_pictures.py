"""Pictures in files of their own, read by those who draw them."""

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from visit import screenshot

NAMES = ["change", "hostile"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_the_browser_shows_an_svg_file(visit, samples, name, scheme):
    page = visit(samples / f"{name}.svg", scheme=scheme)
    screenshot(page, f"svg-{name}-{scheme}")
    root = page.evaluate("document.documentElement.localName")
    assert root == "svg"
    box = page.evaluate(
        "(({width, height}) => [width, height])(document.documentElement.getBBox())"
    )
    assert min(box) > 20


@pytest.mark.parametrize("name", NAMES)
def test_an_svg_file_is_well_formed_and_runs_nothing(samples, name):
    root = ElementTree.parse(samples / f"{name}.svg").getroot()
    assert root.find(f"{SVG}title") is not None
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert not tags & {"script", "foreignObject", "image", "use", "iframe"}
    attributes = {attribute for element in root.iter() for attribute in element.attrib}
    assert not [attribute for attribute in attributes if attribute.startswith("on")]
    links = [
        value for element in root.iter() for key, value in element.attrib.items() if "href" in key
    ]
    assert all(link.startswith("#") for link in links)


@pytest.mark.parametrize("name", NAMES)
def test_graphviz_draws_dot_without_a_warning(samples, program, name, tmp_path):
    target = tmp_path / "drawn.svg"
    command = [program("DOT"), "-Tsvg", "-o", str(target), str(samples / f"{name}.dot")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    drawn = ElementTree.parse(target)
    titles = [element.text for element in drawn.iter(f"{SVG}title")]
    assert len(titles) > 7


def test_graphviz_sees_every_node_and_edge(samples, program):
    command = [program("DOT"), "-Tjson", str(samples / "change.dot")]
    drawn = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    nodes = [entry for entry in drawn["objects"] if "nodes" not in entry]
    assert len(nodes) == 7
    assert len(drawn["edges"]) == 7


@pytest.mark.parametrize("name", NAMES)
def test_mermaid_draws_its_source(browser, samples, program, name):
    source = (samples / f"{name}.mmd").read_text(encoding="utf-8")
    library = Path(program("MERMAID")).read_text(encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.set_content("<!doctype html><body></body>")
    page.add_script_tag(content=library)
    drawn = page.evaluate(
        """async (source) => {
          mermaid.initialize({startOnLoad: false, maxTextSize: 1e6, securityLevel: "strict"});
          await mermaid.parse(source);
          const {svg} = await mermaid.render("drawn", source);
          document.body.innerHTML = svg;
          return document.querySelectorAll("svg .node").length;
        }""",
        source,
    )
    screenshot(page, f"mermaid-{name}")
    context.close()
    assert drawn >= 7


def test_broken_sources_are_noticed(browser, program, tmp_path):
    broken = tmp_path / "broken.dot"
    broken.write_text('digraph { a [label="x" shape=nonsense]; }', encoding="utf-8")
    command = [program("DOT"), "-Tsvg", "-o", str(tmp_path / "x.svg"), str(broken)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "nonsense" in done.stderr
