"""Passes over programs of the statement IR."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from isoform.ir import _api

if TYPE_CHECKING:
    from isoform.types.pto import IRNode

__all__ = ["cse", "simplify"]

_cse = _api.function("pto.cse")
_simplify = _api.function("pto.simplify")

Node = TypeVar("Node", bound="IRNode")


def cse(program: Node) -> Node:
    """Compute common subexpressions of a Program or a Function once.

    A value is taken over where it has been computed for certain: earlier in the same
    sequence of statements or in one around it, never out of a loop, a branch, a scope
    statement or the right side of `and` and `or`. Operations on numbers are taken over,
    and calls of operators whose attribute `TOpIsStateful` is false. Without a repeated
    computation, the result is the same object. Raises TypeError for another class.
    O(expressions).

    >>> from isoform.pto import DataType, ir
    >>> int64 = ir.ScalarType(DataType.INT64)
    >>> a, x, y = (ir.Var(name, int64) for name in "axy")
    >>> def square():
    ...     return ir.Mul(a, a, DataType.INT64)
    >>> body = ir.SeqStmts([
    ...     ir.AssignStmt(x, ir.Neg(square(), DataType.INT64)),
    ...     ir.AssignStmt(y, ir.Add(square(), x, DataType.INT64)),
    ...     ir.ReturnStmt([y]),
    ... ])
    >>> done = ir.cse(ir.Function("f", [a], [int64], body))
    >>> [type(stmt.value).__name__ for stmt in list(done.body.stmts)[:3]]
    ['Mul', 'Neg', 'Add']
    """
    return _cse(program)


def simplify(program: Node) -> Node:
    """Apply small identities of arithmetic until none applies.

    Works on programs, functions, statements and expressions. `x * 1`, `x + 0`,
    `min(x, x)` become `x`; `x * 8` becomes `x << 3`, `x // 8` becomes `x >> 3` and
    `x % 8` becomes `x & 7`; `docs/pattern.md` has the whole list. Without an applicable
    identity, the result is the same object. O(expressions).

    >>> from isoform.pto import DataType, ir
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
    >>> done = ir.simplify(ir.Mul(ir.Add(x, 0, DataType.INT64), 8, DataType.INT64))
    >>> type(done).__name__, done.left is x, done.right.value
    ('BitShiftLeft', True, 3)
    """
    return _simplify(program)
