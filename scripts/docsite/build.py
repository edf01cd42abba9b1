"""Build the documentation site.

    .cache/site-venv/bin/python scripts/docsite/build.py [--rustdoc FOLDER] [--output FOLDER]

The pages are those of docs/navigation.toml, the API of the Python package, and, with `--rustdoc`,
the API of the crates, whose pages `cargo doc` has written to the folder. A warning is an error. The
site asks for no file from elsewhere; serve it with `python -m http.server -d FOLDER`.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import compare
import reference
import stage

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / ".cache" / "site-source"
OUTPUT = ROOT / ".cache" / "site"
HERE = Path(__file__).parent
_WARNING = re.compile(r"^(Warning|Error|WARNING|ERROR)\b", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def main() -> int | str:
    """Build the site; return the status."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--rustdoc", type=Path, metavar="FOLDER", help="what cargo doc has written")
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FOLDER")
    options = parser.parse_args()
    try:
        build(options.output, options.rustdoc)
    except (stage.PageError, LookupError, OSError) as error:
        return f"error: {error.args[0] if isinstance(error, LookupError) else error}"
    print(f"built {options.output}")
    return 0


def build(output: Path, rustdoc: Path | None) -> None:
    """Write the site to a folder, which is replaced."""
    for name, _ in public_crates() if rustdoc is not None else []:
        if not (rustdoc / name.replace("-", "_") / "index.html").is_file():
            raise stage.PageError(f"{rustdoc}: no documentation of the crate {name} in it")
    shutil.rmtree(SOURCE, ignore_errors=True)
    docs = SOURCE / "docs"
    shutil.copytree(ROOT / "docs" / "pictures", docs / "pictures")
    shutil.copytree(HERE / "assets", docs / "assets")
    written = write_pages(docs)
    modules = write_reference(docs)
    write(docs / "rust.md", crates_page(rustdoc is not None))
    write(SOURCE / "zensical.toml", configuration(modules))
    run_generator()
    compare.check(docs, SOURCE / "site", written)
    if rustdoc is not None:
        copy_rustdoc(rustdoc, SOURCE / "site" / "crates")
    shutil.rmtree(output, ignore_errors=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(SOURCE / "site", output)


def write(file: Path, text: str) -> None:
    """Write a text file, in folders that are made for it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def write_pages(docs: Path) -> list[str]:
    """Write the pages of the navigation; return their paths."""
    pages = [page for section in stage.sections(ROOT) for page in section.pages]
    files = f"{repository()}/blob/main"
    for page in pages:
        text = stage.staged(ROOT, page, set(pages), files)
        write(docs / stage.place(page), dated(text, page) if page.startswith("bench/") else text)
    return [stage.place(page) for page in pages]


def dated(text: str, page: str) -> str:
    """Return a page of results with the day of their last change, if git knows it."""
    command = ["git", "log", "-1", "--format=%cs", "--", page]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return text
    day = done.stdout.strip()
    title, _, rest = text.partition("\n")
    return f"{title}\n\nResults of {day}.\n{rest}" if day else text


def write_reference(docs: Path) -> list[reference.ModulePage]:
    """Write the pages of the Python API and their table of contents; return the modules."""
    modules = reference.pages(reference.read(ROOT / "python"))
    rows = ["# Python API", "", "Every public module, with every public name.", ""]
    rows += ["| module | contents |", "|---|---|"]
    for module in modules:
        write(docs / "api" / f"{module.path}.md", module.text())
        rows.append(f"| [`{module.path}`]({module.path}.md) | {reference.cell(module.summary)} |")
    write(docs / "api" / "index.md", "\n".join([*rows, ""]))
    return modules


def crates_page(is_there: bool) -> str:
    """Return the page about the crates, with links to their documentation if it is there."""
    rows = ["# Rust API", ""]
    if not is_there:
        rows += ["This copy of the site is without the documentation of the crates.", ""]
    rows += ["| crate | purpose |", "|---|---|"]
    for name, purpose in public_crates():
        folder = name.replace("-", "_")
        # Not a link of Markdown: the files are copied after the links have been checked.
        label = f'<a href="../crates/{folder}/index.html">{name}</a>' if is_there else f"`{name}`"
        rows.append(f"| {label} | {reference.cell(purpose)} |")
    return "\n".join([*rows, ""])


def public_crates() -> list[tuple[str, str]]:
    """Return the names and descriptions of the library crates that users depend on."""
    found = []
    for manifest in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        package = stage.tomllib.loads(manifest.read_text(encoding="utf-8"))["package"]
        if package.get("publish") is not False and (manifest.parent / "src" / "lib.rs").is_file():
            found.append((package["name"], package["description"]))
    return sorted(found, key=lambda it: (it[0] != "isoform", it[0]))


def copy_rustdoc(source: Path, target: Path) -> None:
    """Copy the documentation of the public crates, with what their pages share."""
    names = {name.replace("-", "_") for name, _ in public_crates()}
    shared = {"static.files", "search.index", "trait.impl", "type.impl"}
    target.mkdir()
    for item in sorted(source.iterdir()):
        if item.is_file() and not item.name.startswith("."):
            shutil.copy2(item, target / item.name)
        elif item.name in names | shared or (item.name == "src" and item.is_dir()):
            shutil.copytree(item, target / item.name)


def repository() -> str:
    """Return the address of the repository on the web."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return stage.tomllib.loads(text)["project"]["urls"]["Repository"]


def configuration(modules: list[reference.ModulePage]) -> str:
    """Return the settings of the generator: those that are written, and the navigation."""
    settings = (HERE / "zensical.toml").read_text(encoding="utf-8")
    nav: list[dict[str, object]] = [{it.title: it.entries()} for it in stage.sections(ROOT)]
    nav.insert(-1, {"Python API": ["api/index.md", *module_tree(modules)]})
    reference_section = next(it for it in nav if "Reference" in it)
    reference_section["Reference"] = [*reference_section["Reference"], "rust.md"]  # type: ignore[misc]
    nav.append({"Repository": repository()})
    paths, extension = json.dumps(str(ROOT / "python")), json.dumps(str(HERE / "docstrings.py"))
    settings = settings.replace('"PYTHON"', paths).replace('"DOCSTRINGS"', extension)
    return settings.replace('nav = "NAVIGATION"', f"nav = {inline(nav)}")


def module_tree(modules: list[reference.ModulePage]) -> list[object]:
    """Return the navigation of modules: packages with many modules are folders."""
    tree: list[object] = []
    groups: dict[str, list[object]] = {}
    for module in modules:
        page = f"api/{module.path}.md"
        top = ".".join(module.path.split(".")[:2])
        inside = [it.path for it in modules if it.path.startswith(f"{top}.")]
        if not inside or module.path == reference.PACKAGE:
            tree.append({module.path: page})
        else:
            if top not in groups:
                groups[top] = []
                tree.append({top: groups[top]})
            # In the column of navigation, long paths would be cut off.
            label = module.path if module.path == top else module.path.removeprefix(f"{top}.")
            groups[top].append({label: page})
    return tree


def inline(value: object) -> str:
    """Return lists, tables and strings as TOML in one line."""
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {inline(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    return json.dumps(value)


def run_generator() -> None:
    """Run the generator; raise an error with its output if it warns."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=False)
    output = _COLOUR.sub("", done.stdout + done.stderr)
    if done.returncode != 0 or _WARNING.search(output):
        raise stage.PageError(f"the generator complains:\n{output}")


if __name__ == "__main__":
    sys.exit(main())
