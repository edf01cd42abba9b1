"""The pages of the Python API: one for each public module, with every public name.

The package is read, not imported, so the pages need neither a compiler nor the native module. A
name is documented once, on the page of the module that defines it, or of the first module that
exports it; other modules that export it have a table of links.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import griffe

PACKAGE = "isoform"


@dataclass
class ModulePage:
    """A public module, and the names that its page documents or links to."""

    path: str
    summary: str
    names: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    # The name, where it is documented (empty for names of other packages), and what it is.
    links: list[tuple[str, str, str]] = field(default_factory=list)

    def text(self) -> str:
        """Return the page in Markdown, with the directive that inserts the documentation."""
        lines = [f"# {self.path}", "", f"::: {self.path}", "    options:"]
        if self.own:
            lines.append("      members:")
            lines += [f"        - {name}" for name in self.own]
        else:
            lines.append("      members: false")
        if self.links:
            title = "Also exported" if self.own else "Exported names"
            lines += ["", f"## {title}", "", "| name | is |", "|---|---|"]
            lines += [f"| {linked(*link[:2])} | {cell(link[2])} |" for link in self.links]
        return "\n".join([*lines, ""])


def read(folder: Path) -> griffe.Module:
    """Return the package in this folder."""
    extensions = griffe.load_extensions(str(Path(__file__).with_name("docstrings.py")))
    package = griffe.load(
        PACKAGE,
        search_paths=[str(folder)],
        allow_inspection=False,
        resolve_aliases=True,
        extensions=extensions,
    )
    assert isinstance(package, griffe.Module)
    return package


def pages(package: griffe.Module) -> list[ModulePage]:
    """Return the pages of all public modules, the package first."""
    modules = list(public_modules(package))
    public = {f"{module.path}.{name}" for module in modules for name in public_names(module)}
    homes: dict[str, str] = {}
    for module in sorted(modules, key=rank):
        for name in public_names(module):
            target = definition(package, module, name)
            if target is None or isinstance(target, griffe.Module):
                continue
            home = target.path if target.path in public else f"{module.path}.{name}"
            homes.setdefault(target.path, home)
    result = []
    for module in modules:
        page = ModulePage(module.path, first_line(module), public_names(module))
        for name in page.names:
            target = definition(package, module, name)
            if isinstance(target, griffe.Module):
                page.links.append((name, f"{target.path}.md", first_line(target)))
                continue
            home = "" if target is None else homes[target.path]
            if home == f"{module.path}.{name}":
                page.own.append(name)
            else:
                page.links.append((name, home, "" if target is None else first_line(target)))
        result.append(page)
    return result


def rank(module: griffe.Module) -> tuple[bool, bool, int, str]:
    """Return the place of a module among those that may document a native name.

    Modules with a topic come first, then packages, which collect names, and the root is last.
    """
    is_package = any(isinstance(member, griffe.Module) for member in module.members.values())
    return module.path == PACKAGE, is_package, module.path.count("."), module.path


def public_modules(module: griffe.Module) -> Iterator[griffe.Module]:
    """Yield a module and the modules inside of it whose names are public."""
    yield module
    for name, member in sorted(module.members.items()):
        if isinstance(member, griffe.Module) and not name.startswith("_"):
            yield from public_modules(member)


def public_names(module: griffe.Module) -> list[str]:
    """Return the names in `__all__`, or else the public ones that the module defines."""
    if module.exports is not None:
        return sorted({str(name) for name in module.exports}, key=str.lower)
    return sorted(
        (
            name
            for name, member in module.members.items()
            if not name.startswith("_")
            and not isinstance(member, griffe.Alias | griffe.Module)
            and not (member.is_attribute and member.docstring is None)
        ),
        key=str.lower,
    )


def definition(package: griffe.Module, module: griffe.Module, name: str) -> griffe.Object | None:
    """Return the definition of a name; None if another package has it.

    Classes declared in Rust are in the stubs of `isoform.types`, whatever module exports them.
    """
    member = module.members.get(name)
    if member is None:
        types = package["types"]
        part = module.path.split(".")[1]
        member = types[part].members.get(name) if part in types.members else None
        if member is None:
            raise LookupError(f"{module.path}.{name}: exported, but not defined")
    if isinstance(member, griffe.Alias):
        if not member.target_path.startswith(f"{PACKAGE}."):
            return None
        try:
            return member.final_target
        except griffe.AliasResolutionError as error:
            if not error.alias.target_path.startswith(f"{PACKAGE}."):
                return None
            raise LookupError(f"{module.path}.{name}: no definition: {error}") from error
    return member


def first_line(item: griffe.Object) -> str:
    """Return the first sentence of a docstring, or nothing."""
    if item.docstring is None:
        return ""
    return item.docstring.value.strip().split("\n\n")[0].replace("\n", " ")


def linked(name: str, home: str) -> str:
    """Return a link to the place of a name, in Markdown."""
    if not home:
        return f"`{name}`"
    return f"[`{name}`]({home})" if home.endswith(".md") else f"[`{name}`][{home}]"


def cell(text: str) -> str:
    """Return a text as the cell of a table."""
    return text.replace("|", "\\|")
