"""Unpack a browser without windows, and graphviz, into `.cache`; print where they are.

    .venv/bin/python scripts/browser.py [browser|dot]

The programs of the machine come first. Otherwise they are those of Debian, with the
libraries that this machine lacks and with fonts of their own, unpacked without root.
If that fails, a line says why, and the status is 1.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from packages import ROOT, launcher, npm_file, quietly, unpack, with_dependencies

CACHE = ROOT / ".cache"
BROWSER = CACHE / "browser"
GRAPHVIZ = CACHE / "graphviz"
FONTS = CACHE / "fonts"
BROWSERS = ["chromium-headless-shell", "chromium", "google-chrome"]
# Latin, Greek, Cyrillic, Arabic, Hebrew and symbols; Chinese, Japanese, Korean; emoji.
FONT_PACKAGES = ["fonts-dejavu-core", "fonts-droid-fallback", "fonts-noto-color-emoji"]
AXE = ("axe-core", "4.14.1", "axe.min.js")
MERMAID = ("mermaid", "12.3.0", "dist/mermaid.min.js")
FONT_SETTINGS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>{fonts}/usr/share/fonts</dir>
  <cachedir>{fonts}/cache</cachedir>
  {families}
</fontconfig>
"""
FAMILY = "<alias><family>{}</family><prefer><family>{}</family></prefer></alias>"


def browser() -> Path:
    """Return a program that starts the browser."""
    own = next(filter(None, map(shutil.which, BROWSERS)), None)
    if own:
        return Path(own)
    program = BROWSER / "start"
    if not program.exists():
        unpack(BROWSER, with_dependencies(["chromium-headless-shell"]))
        executable = first(BROWSER, "usr/lib/chromium/*headless*shell")
        launcher(program, executable, {**libraries(BROWSER), **fonts()})
    return program


def dot() -> Path:
    """Return a program that starts the `dot` of graphviz."""
    own = shutil.which("dot")
    if own:
        return Path(own)
    program = GRAPHVIZ / "start"
    if not program.exists():
        unpack(GRAPHVIZ, with_dependencies(["graphviz"]))
        plugins = first(GRAPHVIZ, "usr/lib/*/graphviz")
        variables = {**libraries(GRAPHVIZ), **fonts(), "GVBINDIR": str(plugins)}
        # The first run lists the plugins beside them.
        lister = launcher(GRAPHVIZ / "list", GRAPHVIZ / "usr/bin/dot", variables)
        quietly([str(lister), "-c"])
        lister.rename(program)
    return program


def axe() -> Path:
    """Return the script that finds barriers for people with disabilities."""
    return npm_file(CACHE / "npm", *AXE)


def mermaid() -> Path:
    """Return the script that draws mermaid's graphs."""
    return npm_file(CACHE / "npm", *MERMAID)


def fonts() -> dict[str, str]:
    """Unpack fonts; return the variable that makes programs use them and no others."""
    settings = FONTS / "fonts.conf"
    if not settings.exists():
        unpack(FONTS, FONT_PACKAGES)
        names = [("sans-serif", "DejaVu Sans"), ("serif", "DejaVu Serif")]
        names += [("monospace", "DejaVu Sans Mono"), ("emoji", "Noto Color Emoji")]
        families = "\n  ".join(FAMILY.format(*pair) for pair in names)
        text = FONT_SETTINGS.format(fonts=FONTS, families=families)
        settings.write_text(text, encoding="utf-8")
    return {"FONTCONFIG_FILE": str(settings)}


def first(folder: Path, pattern: str) -> Path:
    """Return the first file with such a path."""
    for file in sorted(folder.glob(pattern)):
        return file
    raise OSError(f"no {pattern} in the packages")


def libraries(folder: Path) -> dict[str, str]:
    """Return the variable that makes an unpacked program find its libraries."""
    places = {file.parent for file in folder.glob("usr/lib/**/*.so*")}
    return {"LD_LIBRARY_PATH": ":".join(sorted(map(str, places)))}


def main() -> int | str:
    """Print the path of each program."""
    programs = {"browser": browser, "dot": dot}
    wanted = sys.argv[1:] or list(programs)
    unknown = [name for name in wanted if name not in programs]
    if unknown:
        return f"error: no program '{unknown[0]}' here; there are {', '.join(programs)}"
    for name in wanted:
        try:
            print(programs[name]())
        except OSError as error:
            return f"the {name} cannot be had here: {error}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
