"""Functions over programs other than comparison."""

from __future__ import annotations

from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform._messages import key_of
from isoform.container import Array
from isoform.dataclasses import replace
from isoform.ir import _api

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from isoform.types.pto import Expr, Stmt, Var, YieldStmt

    Replacements = Mapping[Var, Any] | Sequence[tuple[Var, Any]]

__all__ = [
    "attach_leading_comments",
    "collect_def_vars",
    "collect_free_vars",
    "deep_clone",
    "deserialize",
    "deserialize_from_file",
    "find_yield_stmt",
    "flatten_to_stmts",
    "get_last_yield_stmt",
    "serialize",
    "serialize_to_file",
    "substitute_expr",
    "substitute_stmt",
]

_deep_clone = _api.function("pto.deep_clone")
_substitute_expr = _api.function("pto.substitute_expr")
_substitute_stmt = _api.function("pto.substitute_stmt")
_find_yield = _api.function("pto.find_yield_stmt")
_last_yield = _api.function("pto.get_last_yield_stmt")
_flatten = _api.function("pto.flatten_to_stmts")
_def_vars = _api.function("pto.collect_def_vars")
_free_vars = _api.function("pto.collect_free_vars")


def _replaced(name: str, function: Any, node: Any, var_map: Any) -> Any:
    """The result of a function with replacements; an error names the pair that is wrong."""
    from isoform.types.pto import Expr, Var

    try:
        return function(node, var_map)
    except TypeError:
        for i, pair in enumerate(var_map if isinstance(var_map, Array | list | tuple) else ()):
            is_pair = isinstance(pair, Array | list | tuple) and len(pair) == 2
            if (
                not is_pair
                or not isinstance(pair[0], Var)
                or not isinstance(pair[1], Expr | Number)
            ):
                parts = ", ".join(map(key_of, pair)) if isinstance(pair, list | tuple) else ""
                raise TypeError(
                    f"pto.{name}() argument 'var_map', item {i}: expected a pair of pto.Var and "
                    "pto.Expr or a number, "
                    f"got {f'({parts})' if parts else key_of(pair)}"
                ) from None
        raise


def deep_clone(node: Any, var_map: Replacements | None = None) -> Any:
    """Return a copy that shares only free variables with a node.

    Args:
        node: The node.
        var_map: Replacements for free variables in the copy, in a map or in pairs.
    """
    return _replaced("deep_clone", _deep_clone, node, var_map)


def substitute_expr(expr: Expr, var_map: Replacements) -> Expr:
    """Return an expression with variables replaced by other expressions.

    Args:
        expr: The expression.
        var_map: The replacements, in a map or in pairs.

    Returns the expression itself if none of the variables occurs in it. Raises
    TypeError for an expression of another class where only a variable is allowed and for
    anything but pairs, ValueError for two pairs with the same variable.

    >>> from isoform.pto import DataType, ir
    >>> x, y = (ir.Var(name, DataType.INT64) for name in "xy")
    >>> ir.substitute_expr(x + 1, [(x, y)]).as_python()
    'y + 1'
    """
    return _replaced("substitute_expr", _substitute_expr, expr, var_map)


def substitute_stmt(stmt: Stmt, var_map: Replacements) -> Stmt:
    """Return a statement with expressions in place of its free variables.

    Args:
        stmt: The statement.
        var_map: The replacements, as for `substitute_expr`.

    Sizes in types are replaced, too: a variable with a changed type becomes a new
    variable, the same at its definition and at all its uses. The type of a variable
    defines a size only if the size has no value yet.
    """
    return _replaced("substitute_stmt", _substitute_stmt, stmt, var_map)


def attach_leading_comments(stmt: Stmt, comments: Sequence[str]) -> Stmt:
    """Return a statement with these comments before it, instead of its own.

    Args:
        stmt: The statement, of which the function returns a copy.
        comments: The comments, one per line.

    >>> from isoform.pto import ir
    >>> print(ir.attach_leading_comments(ir.BreakStmt(), ["done"]))
    # done
    break
    <BLANKLINE>
    """
    return replace(stmt, leading_comments=comments)


def flatten_to_stmts(stmt: Stmt) -> list[Stmt]:
    """Return the statements of a sequence, with nested sequences flattened.

    Any other statement results in a list with the statement.
    """
    return list(_flatten(stmt))


def find_yield_stmt(stmt: Stmt) -> YieldStmt | None:
    """Return the yield that ends a body, also at the end of sequences and scopes.

    None if another statement ends the body. Linear in the last sequences.

    >>> from isoform.pto import ir
    >>> body = ir.InCoreScopeStmt(body=ir.SeqStmts([ir.EvalStmt(1), ir.YieldStmt([2])]))
    >>> ir.find_yield_stmt(body).value[0].value, ir.get_last_yield_stmt(body)
    (2, None)
    """
    return _find_yield(stmt)


def get_last_yield_stmt(stmt: Stmt) -> YieldStmt | None:
    """Return the yield that ends a body, also at the end of sequences, but not of scopes.

    None if another statement ends the body. Linear in the last sequences.
    """
    return _last_yield(stmt)


def collect_def_vars(node: Any) -> list[Var]:
    """Return the variables that a node defines, in the order of their definitions."""
    return list(_def_vars(node))


def collect_free_vars(node: Any) -> list[Var]:
    """Return the free variables of a node."""
    return list(_free_vars(node))


def serialize(node: Any) -> bytes:
    """Encode a node in bytes, with all sharing."""
    return _core.to_bytes(node)


def deserialize(data: bytes) -> Any:
    """Return the node encoded by bytes.

    Raises ValueError for bytes without an encoding, TypeError for encodings of other
    objects.
    """
    node = _core.from_bytes(data)
    key = getattr(type(node), "__isoform_type_key__", "")
    if not key.startswith("pto."):
        raise TypeError(f"expected the bytes of a node, got those of {type(node).__name__}")
    return node


def serialize_to_file(node: Any, path: str | os.PathLike[str]) -> None:
    """Write a node to a file; OSError if writing fails."""
    Path(path).write_bytes(serialize(node))


def deserialize_from_file(path: str | os.PathLike[str]) -> Any:
    """Return the node in a file; OSError for an unreadable file, otherwise as `deserialize`."""
    return deserialize(Path(path).read_bytes())
