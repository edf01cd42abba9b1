"""Programs as text that reads like Python."""

from __future__ import annotations

from typing import Any

from isoform.ir import _api

__all__ = ["python_print"]


def python_print(node: Any, prefix: str = "pl", *, spans: bool = False) -> str:
    """Return the text of a program, function, statement, expression or type.

    The text is for people; `serialize` and `isoform.text` write files. Variables have
    their hints as names, with a number appended if another variable of the function has
    the same hint. A large part of an expression with several occurrences is written
    once, as `(s := ...)`, and a statement at several places is labelled.

    Args:
        node: The node.
        prefix: The name under which the language is imported; empty to omit the prefix.
        spans: Add comments with the source locations of statements.

    Raises TypeError for another value. The same node has the same text at every
    printing; linear in the size of the node.

    >>> from isoform.pto import DataType, ir
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
    >>> print(ir.python_print(ir.AssignStmt(x, (x + 1) * 2)), end="")
    x: pl.INT64 = (x + 1) * 2
    """
    return _print(node, prefix, spans)


_print = _api.function("pto.python_print")
