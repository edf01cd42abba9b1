"""Python programs as values.

>>> from isoform import structural_equal
>>> from isoform.interop.ast import program
>>> structural_equal(program("f(1)"), program("f( 1 )  # one"))
True
>>> structural_equal(program("f(1)"), program("f(True)"))
False
"""

from __future__ import annotations

import ast
from typing import Any

from ._record import Converter

__all__ = ["program"]


def program(source: str | bytes | ast.AST, *, attributes: bool = False) -> Any:
    """The syntax tree of a Python program, as records of the fields of its nodes.

    Comments, layout and lines do not count. Constants of different types are different,
    and strings with unpaired surrogates are kept as their bytes. Takes linear time in the
    size of the tree, of any depth.

    Args:
        source: the text of a module, or a node of the module `ast`.
        attributes: keep the lines and columns of nodes.

    Raises:
        SyntaxError: the text is not Python.
        TypeError: a tree has a constant that is not one of Python's.
        ValueError: a node contains itself.

    Example:
        >>> from isoform.interop.ast import program
        >>> program("x + 1").fields["body"][0].fields["value"].fields["op"].kind
        'ast.Add'
    """
    tree = source if isinstance(source, ast.AST) else ast.parse(source)

    def fields(node: Any) -> dict[str, Any] | None:
        if not isinstance(node, ast.AST):
            return None
        names = (*node._fields, *node._attributes) if attributes else node._fields
        return {name: getattr(node, name) for name in names if hasattr(node, name)}

    return Converter("program", fields=fields).convert(tree)
