"""The base of the parts of a program, and source locations."""

from __future__ import annotations

from typing import Any

from isoform.core import Object
from isoform.dataclasses import c_class
from isoform.ir import _api

from .printing import python_print

__all__ = ["IRNode", "Span"]


@c_class("pto.Span")
class Span(Object):
    """A place in a source text.

    Args:
        filename: The name of the text.
        begin_line: The first line, from 1.
        begin_column: The column of the first character, from 1.
        end_line: The last line; -1 if unknown.
        end_column: The column after the last character; -1 if unknown.

    >>> from isoform.pto import ir
    >>> ir.Span("kernel.py", 3, 5).to_string(), ir.Span.unknown().is_valid()
    ('kernel.py:3:5', False)
    """

    filename: str
    begin_line: int
    begin_column: int
    end_line: int
    end_column: int

    @staticmethod
    def unknown() -> Span:
        """Return the place that is not known."""
        return _unknown()

    def __str__(self) -> str:
        """Return `file:line:column`."""
        text: Any = self
        return text.to_string()


_unknown = _api.function("pto.Span.unknown")


@c_class("pto.IRNode", init=False)
class IRNode(Object):
    """The base of the parts of a program: expressions, statements, functions."""

    span: Span

    def __str__(self) -> str:
        """Return the text of the node, as printed by `python_print`."""
        return python_print(self)

    def as_python(self, prefix: str = "pl") -> str:
        """Return the text of the node, as printed by `python_print`.

        Args:
            prefix: The name under which the text imports the language.

        >>> from isoform.pto import DataType, ir
        >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
        >>> ((x + 1) * x).as_python()
        '(x + 1) * x'
        """
        return python_print(self, prefix)
