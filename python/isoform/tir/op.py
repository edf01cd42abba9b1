"""Operations on primitive expressions, as functions.

They convert operands to a common data type, and fold constants. An operand is an
expression, a number, or a comparison of expressions.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from isoform.ir import _api

if TYPE_CHECKING:
    from isoform.ir.expr import PrimExpr

__all__ = [
    "add",
    "all",
    "any",
    "cast",
    "const",
    "div",
    "floordiv",
    "floormod",
    "indexdiv",
    "indexmod",
    "max",
    "max_value",
    "min",
    "min_value",
    "multiply",
    "subtract",
    "truncdiv",
    "truncmod",
]

_const = _api.function("tir.const")
_min_value = _api.function("tir.min_value")
_max_value = _api.function("tir.max_value")
_cast = _api.function("tir.cast")
_and = _api.function("tir.logical_and")
_or = _api.function("tir.logical_or")


def const(value: Any, dtype: Any = None, span: Any = None) -> PrimExpr:
    """Return the literal of a number.

    Args:
        value: The number.
        dtype: The data type; by default bool for a bool, int32 for an int or int64 if
            it is larger, float32 for a float or float64 if it is larger.
        span: The source location.

    Raises ValueError for a number outside the range of the data type.
    """
    return _const(value, dtype, span)


def min_value(dtype: Any, span: Any = None) -> PrimExpr:
    """Return the literal of the least finite number of a data type.

    Args:
        dtype: The data type; of a vector, every lane has the number.
        span: The source location.

    Raises ValueError for a data type without numbers.

    >>> from isoform import tir
    >>> tir.min_value("int8").value, tir.max_value("float16").value
    (-128, 65504.0)
    """
    return _min_value(dtype, span)


def max_value(dtype: Any, span: Any = None) -> PrimExpr:
    """Return the literal of the greatest finite number of a data type.

    Args:
        dtype: The data type; of a vector, every lane has the number.
        span: The source location.

    Raises ValueError for a data type without numbers, and for unsigned integers of 64
    bits, because literals are signed.
    """
    return _max_value(dtype, span)


def cast(dtype: Any, value: Any) -> PrimExpr:
    """Return an expression converted to a data type; a literal becomes a literal."""
    return _cast(dtype, value)


def _function(name: str, key: str, doc: str) -> Any:
    apply = _api.function(key)

    def operation(a: Any, b: Any) -> PrimExpr:
        return apply(a, b)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = doc
    return operation


add = _function("add", "tir.add", "Return `a + b`.")
subtract = _function("subtract", "tir.subtract", "Return `a - b`.")
multiply = _function("multiply", "tir.multiply", "Return `a * b`.")
div = _function("div", "tir.div", "Return `a / b`, of integers rounded towards zero.")
truncdiv = _function("truncdiv", "tir.div", "Return `a / b` rounded towards zero.")
truncmod = _function("truncmod", "tir.truncmod", "Return the remainder of `truncdiv(a, b)`.")
floordiv = _function("floordiv", "tir.floordiv", "Return `a / b` rounded down.")
floormod = _function("floormod", "tir.floormod", "Return the remainder of `floordiv(a, b)`.")
indexdiv = _function(
    "indexdiv", "tir.floordiv", "Return `a / b` of indices, which are not negative."
)
indexmod = _function("indexmod", "tir.floormod", "Return the remainder of `indexdiv(a, b)`.")
min = _function("min", "tir.min", "Return the smaller one.")  # noqa: A001
max = _function("max", "tir.max", "Return the larger one.")  # noqa: A001


def all(*args: Any) -> PrimExpr:  # noqa: A001
    """Return whether all operands are true.

    >>> from isoform import tir
    >>> x = tir.Var("x", "int32")
    >>> type(tir.all(x > 0, x == 3))
    <class 'tir.And'>

    Raises ValueError without operands.
    """
    return _combined("all", _and, args)


def any(*args: Any) -> PrimExpr:  # noqa: A001
    """Return whether at least one operand is true; ValueError without operands."""
    return _combined("any", _or, args)


def _combined(name: str, combine: Any, args: tuple[Any, ...]) -> PrimExpr:
    if not args:
        raise ValueError(f"tir.{name}: expected at least one operand")
    if len(args) == 1:
        return _cast("bool", args[0])
    return functools.reduce(combine, args)
