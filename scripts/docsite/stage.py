"""The sources of the site, made from the pages where they are.

Pages are written for code hosts, which read CommonMark. The generator reads a relative of it, and
knows the folder of the site alone. So each page is copied with other links: to pages of the site,
or to the repository for everything that the site does not have.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = "docs"
NAVIGATION = "docs/navigation.toml"
_FENCE = re.compile(r"^ *(```+)(\S*)", re.MULTILINE)
_LINK = re.compile(r"(?P<before>\]\()(?P<target>[^()\s]+)(?P<after>\))")
# A link whose text is the name of a page.
_NAMED = re.compile(r"\[[\w./-]+\.md\]\((?P<target>[^()\s]+)\)")
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_CODE = re.compile(r"(`+)(?:(?!\1).)+?\1")


class PageError(Exception):
    """A page that cannot become part of the site, with its path and line."""


@dataclass(frozen=True)
class Section:
    """A part of the navigation: its title, and its pages by their paths in the repository.

    A page may have another title in the navigation than its own.
    """

    title: str
    pages: tuple[str, ...]
    titles: dict[str, str]

    def entries(self) -> list[object]:
        """Return the pages for the settings of the generator."""
        named = self.titles.get
        return [{named(it): place(it)} if named(it) else place(it) for it in self.pages]


def sections(root: Path) -> list[Section]:
    """Return the navigation; raise an error for pages that are missing, twice or left out."""
    table = tomllib.loads((root / NAVIGATION).read_text(encoding="utf-8"))
    result = []
    for part in table["section"]:
        entries = [
            (it, "") if isinstance(it, str) else (it["page"], it["title"]) for it in part["pages"]
        ]
        titles = {posixpath.normpath(f"{DOCS}/{page}"): title for page, title in entries}
        named = {page: title for page, title in titles.items() if title}
        pages = [posixpath.normpath(f"{DOCS}/{page}") for page, _ in entries]
        result.append(Section(part["title"], tuple(pages), named))
    listed = [page for section in result for page in section.pages]
    for page in listed:
        if not (root / page).is_file():
            raise PageError(f"{NAVIGATION}: no page {page}")
        if listed.count(page) > 1:
            raise PageError(f"{NAVIGATION}: {page} is listed twice")
    for file in sorted((root / DOCS).rglob("*.md")):
        if (page := file.relative_to(root).as_posix()) not in listed:
            raise PageError(f"{NAVIGATION}: {page} is in no section")
    return result


def place(page: str) -> str:
    """Return the path of a page in the sources of the site."""
    folder, name = posixpath.split(page.lower())
    if folder.startswith("bench"):
        parts = ["benchmarks", *folder.split("/")[1:]]
        return "-".join(parts) + ".md"
    return posixpath.join(folder.removeprefix(DOCS).lstrip("/"), name)


def staged(root: Path, page: str, pages: set[str], repository: str) -> str:
    """Return the text of a page for the site.

    `pages` has the paths of all pages in the repository, and `repository` is the address of its
    files on the web.
    """
    text = (root / page).read_text(encoding="utf-8")

    def link(target: str, line: int) -> str:
        path, mark, anchor = target.partition("#")
        if not path or "://" in path or path.startswith("mailto:"):
            return target
        source = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if source in pages or is_picture(source):
            here = posixpath.dirname(place(page))
            there = place(source) if source in pages else source.removeprefix(f"{DOCS}/")
            return posixpath.relpath(there, here or ".") + mark + anchor
        if not (root / source).exists():
            raise PageError(f"{page}:{line}: no file {source}")
        return f"{repository}/{source}{mark}{anchor}"

    def titled(found: re.Match[str]) -> str:
        path = found["target"].partition("#")[0]
        source = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        return f"[{title(root, source)}]({found['target']})" if source in pages else found[0]

    lines = text.splitlines()
    fence, is_rust, hidden = "", False, set[int]()
    for index, line in enumerate(lines):
        found = _FENCE.match(line)
        if found and (not fence or line.strip() == fence):
            is_rust = not fence and found[2].startswith("rust")
            fence = "" if fence else found[1]
            lines[index] = line.replace(found[2], language(found[2])) if fence else line
        elif fence and is_rust and (line == "#" or line.startswith("# ")):
            # Rust's documentation leaves these lines out, too.
            hidden.add(index)
        elif not fence:
            line = _NAMED.sub(titled, line)
            lines[index] = outside_code(line, lambda part, at=index: with_links(part, link, at + 1))
            if line.lstrip().startswith("|"):
                lines[index] = _CODE.sub(lambda code: code[0].replace("\\|", "|"), lines[index])
    shown = (line for index, line in enumerate(lines) if index not in hidden)
    return "\n".join([*shown, ""])


def title(root: Path, page: str) -> str:
    """Return the title of a page, without the marks of code."""
    found = _HEADING.search((root / page).read_text(encoding="utf-8"))
    if found is None:
        raise PageError(f"{page}: no title")
    return found[1].replace("`", "")


def is_picture(path: str) -> bool:
    """Return whether the file is a picture that is copied to the site."""
    return path.startswith(f"{DOCS}/pictures/")


def language(info: str) -> str:
    """Return the language of a block of code: `rust,no_run` is `rust`."""
    return {"py": "python", "iso": "text"}.get(info.split(",")[0], info.split(",")[0])


def outside_code(line: str, change: Callable[[str], str]) -> str:
    """Return a line with changes to the parts that are not code.

    The text of a link may contain code, so a link is recognised by its target.
    """
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(line):
        parts += [change(line[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, change(line[end:])])


def with_links(part: str, link: Callable[[str, int], str], line: int) -> str:
    """Return a part of a line with other targets of links."""
    return _LINK.sub(lambda it: it["before"] + link(it["target"], line) + it["after"], part)
