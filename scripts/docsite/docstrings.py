"""An extension of griffe, which reads the Python package for the site.

It prepares what it reads for the pages of the API: examples in docstrings become blocks of code,
functions of which a stub has only overloads become functions with these overloads, and so do
names whose value is a function that another function makes, such as the operators of Relay.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

import griffe

# The generator loads this file by its path.
sys.path.append(str(Path(__file__).parent))
import stage

ROOT = Path(__file__).resolve().parents[2]
_PAGE = re.compile(r"`(docs/[a-z-]+\.md)`")
_SECTION = re.compile(r"(Args|Attributes|Examples?|Raises|Returns|Yields):$")


class Docstrings(griffe.Extension):
    """Prepares each object as soon as it has been read."""

    def __init__(self) -> None:
        # The functions that functions make and document, by the paths of their makers.
        self.made: dict[str, griffe.Function] = {}

    def on_function_instance(
        self, *, node: ast.AST | griffe.ObjectNode, func: griffe.Function, **_: Any
    ) -> None:
        """Remember the function that this one makes."""
        if isinstance(node, ast.FunctionDef):
            inner = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            if len(inner) == 1:
                module = griffe.visit("made", func.filepath, ast.unparse(inner[0]))
                made = module.members[inner[0].name]
                assert isinstance(made, griffe.Function)
                self.made[func.path] = made

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Replace values that are made functions."""
        for module in modules(pkg):
            for name, member in list(module.members.items()):
                if isinstance(member, griffe.Attribute) and member.docstring is None:
                    made = self.maker(member)
                    if made is not None:
                        module.set_member(name, named(member, made))

    def maker(self, attribute: griffe.Attribute) -> griffe.Function | None:
        """Return the function that is the value of a name; None for other values."""
        value = attribute.value
        if not isinstance(value, griffe.ExprCall) or isinstance(value.function, str):
            return None
        texts = all(str(argument)[0] in "'\"" for argument in value.arguments)
        return self.made.get(value.function.canonical_path) if texts else None

    def on_instance(self, *, obj: griffe.Object | griffe.Alias, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if not obj.is_alias and obj.docstring is not None:
            # The documentation of a constructor is shown below that of its class.
            if obj.docstring.value.strip() == "See the class.":
                obj.docstring = None
                return
            obj.docstring.value = with_links(with_fences(obj.docstring.value))

    def on_members(self, *, obj: griffe.Object, **_: Any) -> None:
        """Give a module or class its functions that only have overloads.

        Other functions are shown as they are written: their overloads are for checkers.
        """
        if isinstance(obj, griffe.Module | griffe.Class):
            for member in obj.members.values():
                if isinstance(member, griffe.Function):
                    member.overloads = None
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
            in_section = _SECTION.match(line) is not None
            line = "Examples:" if line == "Example:" else line
        lines.append(line.removeprefix("    ") if in_example else line)
    if in_example:
        lines.append("```")
    return "\n".join(lines)


def with_links(text: str) -> str:
    """Return a docstring that leads to the pages it mentions."""
    return _PAGE.sub(lambda it: f"[{stage.title(ROOT, it[1])}](../{stage.place(it[1])})", text)


def modules(module: griffe.Module) -> list[griffe.Module]:
    """Return a module and all modules inside of it."""
    inner = [it for it in module.members.values() if isinstance(it, griffe.Module)]
    return [module, *(part for it in inner for part in modules(it))]


def named(attribute: griffe.Attribute, made: griffe.Function) -> griffe.Function:
    """Return a made function under its name.

    The last argument of its maker is its documentation, or the only one names its operator.
    """
    assert isinstance(attribute.value, griffe.ExprCall)
    arguments = [ast.literal_eval(str(it)) for it in attribute.value.arguments]
    text = arguments[-1] if len(arguments) > 1 else f"Return a call of `{arguments[0]}`."
    return griffe.Function(
        attribute.name,
        parameters=made.parameters,
        returns=made.returns,
        docstring=griffe.Docstring(text),
        lineno=attribute.lineno,
        endlineno=attribute.endlineno,
        runtime=attribute.runtime,
        parent=attribute.parent,
    )


def one_function(overloads: list[griffe.Function]) -> griffe.Function:
    """Return the function that has these overloads, with the docstring of one of them.

    The signature of the last one is that of the function.
    """
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
    function.overloads = overloads[:-1]
    function.labels |= last.labels
    for one in overloads:
        one.docstring = None
    return function
