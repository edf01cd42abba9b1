"""The sources of the site: links, blocks of code, tables and the navigation."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "docsite"))

import stage  # noqa: E402

FILES = "https://example.org/files"


@pytest.fixture
def repository(tmp_path):
    """Writes files, which are a repository with a navigation."""

    def write(**files):
        for name, text in files.items():
            file = tmp_path / name.replace("__", "/")
            file = file.with_suffix(".toml" if file.stem == "navigation" else ".md")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path

    return write


def section(*pages):
    return f'[[section]]\ntitle = "T"\npages = {list(pages)}\n'


def test_every_page_of_docs_is_in_the_navigation():
    pages = [page for section in stage.sections(ROOT) for page in section.pages]
    assert "docs/identity.md" in pages and "ARCHITECTURE.md" in pages
    places = [stage.place(page) for page in pages]
    assert len(set(places)) == len(places)
    assert stage.place("bench/onnx/RESULTS.md") == "benchmarks-onnx.md"


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        (["a.md"], "docs/b.md is in no section"),
        (["a.md", "b.md", "c.md"], "no page docs/c.md"),
        (["a.md", "b.md", "a.md"], "docs/a.md is listed twice"),
    ],
)
def test_the_navigation_is_complete(repository, pages, message):
    root = repository(docs__navigation=section(*pages), docs__a="# A\n", docs__b="# B\n")
    with pytest.raises(stage.PageError, match=re.escape(message)):
        stage.sections(root)


def test_a_page_may_have_another_title(repository):
    entry = '[[section]]\ntitle = "T"\npages = ["a.md", { page = "b.md", title = "Short" }]\n'
    root = repository(docs__navigation=entry, docs__a="# A\n", docs__b="# A long title\n")
    (found,) = stage.sections(root)
    assert found.entries() == ["a.md", {"Short": "b.md"}]


def staged(root, page, *pages):
    return stage.staged(root, page, set(pages), FILES)


def test_links_lead_to_pages_or_to_the_repository(repository):
    root = repository(
        docs__a="# A\n[b](b.md#x) [up](../TOP.md) [code](../src/x.md) [w](https://w.org) [h](#h)\n",
        docs__b="# B\n",
        TOP="# Top\n[a](docs/a.md), `[a](b.md)`\n",
        src__x="",
    )
    pages = ["docs/a.md", "docs/b.md", "TOP.md"]
    assert staged(root, "docs/a.md", *pages) == (
        f"# A\n[b](b.md#x) [up](top.md) [code]({FILES}/src/x.md) [w](https://w.org) [h](#h)\n"
    )
    assert staged(root, "TOP.md", *pages) == "# Top\n[a](a.md), `[a](b.md)`\n"


def test_a_link_to_nothing_is_an_error(repository):
    root = repository(docs__a="# A\n\n[gone](gone.md)\n")
    with pytest.raises(stage.PageError, match=r"docs/a\.md:3: no file docs/gone\.md"):
        staged(root, "docs/a.md", "docs/a.md")


def test_the_name_of_a_page_becomes_its_title(repository):
    root = repository(
        docs__a="# A\nSee [docs/b.md](b.md#x) and [b](b.md).\n", docs__b="# The `b`\n"
    )
    text = staged(root, "docs/a.md", "docs/a.md", "docs/b.md")
    assert text == "# A\nSee [The b](b.md#x) and [b](b.md).\n"


def test_blocks_of_code_stay(repository):
    block = "```rust,no_run\n[a](gone.md)\n| `a \\| b` |\n````\n```\n"
    root = repository(docs__a=f"# A\n{block}| `a \\| b` | c \\| d |\n")
    expected = block.replace("rust,no_run", "rust") + "| `a | b` | c \\| d |\n"
    assert staged(root, "docs/a.md", "docs/a.md") == f"# A\n{expected}"


def test_lines_that_rust_hides_are_left_out(repository):
    rust = "```rust\n#[test]\nf();\n# hidden\n#\n```\n"
    python = "```python\n# shown\n```\n"
    root = repository(docs__a=f"# A\n{rust}{python}")
    shown = "```rust\n#[test]\nf();\n```\n"
    assert staged(root, "docs/a.md", "docs/a.md") == f"# A\n{shown}{python}"
