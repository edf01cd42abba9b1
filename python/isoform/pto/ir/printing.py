"""Programs as text that reads like Python."""

from __future__ import annotations

from typing import Any

from isoform.ir import _api

__all__ = ["python_print"]


def python_print(node: Any, prefix: str = "pl", *, spans: bool = False) -> str:
    """Return the text of a program, function, statement, expression or type.

    It is for people: files are written by `serialize` and `isoform.text`.
    Variables are called by their hints, with a number behind a hint that another
    variable of the function has. A large part of an expression that is used
    several times is written once, as `(s := ...)`, and a statement that stands
    at several places is labelled.

    Args:
        node: The node.
        prefix: What the language is imported as; empty if its names stand alone.
        spans: Whether comments say where statements were written.

    Raises TypeError for another value. The same node has the same text whenever
    it is printed; linear in its size.

    >>> from isoform.pto import DataType, ir
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
    >>> print(ir.python_print(ir.AssignStmt(x, (x + 1) * 2)), end="")
    x: pl.INT64 = (x + 1) * 2
    """
    return _print(node, prefix, spans)


_print = _api.function("pto.python_print")
