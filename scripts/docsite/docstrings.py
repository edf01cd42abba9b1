"""An extension of griffe, which reads the Python package for the site.

It prepares docstrings and stubs for the pages of the API: examples become blocks of code, and
functions of which a stub has only overloads become functions with these overloads.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_HEADING = re.compile(r"[A-Z][A-Za-z ]*:$")


class Docstrings(griffe.Extension):
    """Prepares each object as soon as it has been read."""

    def on_instance(self, *, obj: griffe.Object | griffe.Alias, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = with_fences(obj.docstring.value)

    def on_members(self, *, obj: griffe.Object, **_: Any) -> None:
        """Give a module or class its functions that only have overloads."""
        if isinstance(obj, griffe.Module | griffe.Class):
            for name, overloads in obj.overloads.items():
                if name not in obj.members:
                    obj.set_member(name, one_function(overloads))


def with_fences(text: str) -> str:
    """Return a docstring whose examples have fences.

    Markdown reads `>>>` as quotations. Griffe itself knows the examples in a section, which has
    the plural as its title.
    """
    lines: list[str] = []
    in_section = in_example = False
    for line in text.splitlines():
        if in_example:
            if not line.strip():
                lines.append("```")
                in_example = False
        elif line.lstrip().startswith(">>>") and not in_section:
            lines += ["", "```pycon"] if lines and lines[-1] else ["```pycon"]
            in_example = True
        elif line and not line.startswith(" "):
            in_section = _HEADING.match(line) is not None
            line = "Examples:" if line == "Example:" else line
        lines.append(line.removeprefix("    ") if in_example else line)
    if in_example:
        lines.append("```")
    return "\n".join(lines)


def one_function(overloads: list[griffe.Function]) -> griffe.Function:
    """Return the function that has these overloads, with the docstring of one of them."""
    last = overloads[-1]
    documented = next((one for one in overloads if one.docstring is not None), last)
    function = griffe.Function(
        last.name,
        parameters=last.parameters,
        returns=last.returns,
        docstring=documented.docstring,
        lineno=last.lineno,
        endlineno=last.endlineno,
        runtime=last.runtime,
    )
    function.overloads = overloads
    function.labels |= last.labels
    for one in overloads:
        one.docstring = None
    return function
