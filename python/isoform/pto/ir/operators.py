"""The operators of the language, as functions.

Constants take the format of the other operand; operands of different formats are cast
to a common format; comparisons give truth values. Nothing is computed. Without a `span`,
nodes get the location of the calling line.

>>> from isoform.pto import DataType, ir
>>> x = ir.Var("x", ir.ScalarType(DataType.FP16))
>>> ir.mul(x, 2).right.dtype, ir.lt(x, 1.5).dtype
(DataType.FP16, DataType.BOOL)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.ir import _api

from .location import caller

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoform.pto.datatype import DataType
    from isoform.types.pto import Expr, Span

_Operand = Any


def _binary(name: str, doc: str) -> Callable[..., Any]:
    apply = _api.function(f"pto.op.{name}")

    def operator(lhs: _Operand, rhs: _Operand, span: Span | None = None) -> Expr:
        return apply(_operand(lhs), _operand(rhs), span or caller())

    return _described(operator, name, doc)


def _unary(name: str, doc: str) -> Callable[..., Any]:
    apply = _api.function(f"pto.op.{name.rstrip('_') if name == 'abs_' else name}")

    def operator(operand: _Operand, span: Span | None = None) -> Expr:
        return apply(_operand(operand), span or caller())

    return _described(operator, name, doc)


def _described(operator: Any, name: str, doc: str) -> Any:
    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = (
        f"{doc}\n\n    Raises TypeError for incompatible operands, ValueError for a\n"
        "    constant outside the range of the format.\n    "
    )
    return operator


def _operand(value: Any) -> Any:
    """Convert a scalar of another library, for example NumPy, to a Python number."""
    if type(value) in (int, float, bool):
        return value
    item = getattr(value, "item", None)
    return item() if item is not None and getattr(value, "ndim", None) == 0 else value


add = _binary("add", "`lhs + rhs`.")
sub = _binary("sub", "`lhs - rhs`.")
mul = _binary("mul", "`lhs * rhs`.")
truediv = _binary("truediv", "`lhs / rhs`; integers become floats.")
floordiv = _binary("floordiv", "`lhs / rhs`, rounded down.")
mod = _binary("mod", "The remainder of `floordiv`.")
pow = _binary("pow", "`lhs` to the power of `rhs`.")  # noqa: A001
min_ = _binary("min_", "The smaller one.")
max_ = _binary("max_", "The larger one.")
eq = _binary("eq", "Compares for equality.")
ne = _binary("ne", "Compares for inequality.")
lt = _binary("lt", "The comparison `lhs < rhs`.")
le = _binary("le", "The comparison `lhs <= rhs`.")
gt = _binary("gt", "The comparison `lhs > rhs`.")
ge = _binary("ge", "The comparison `lhs >= rhs`.")
and_ = _binary("and_", "True if both operands are true.")
or_ = _binary("or_", "True if at least one operand is true.")
xor_ = _binary("xor_", "True if exactly one operand is true.")
bit_and = _binary("bit_and", "The bits set in both.")
bit_or = _binary("bit_or", "The bits set in at least one of the two.")
bit_xor = _binary("bit_xor", "The bits set in exactly one of the two.")
bit_shift_left = _binary("bit_shift_left", "`lhs` shifted left by `rhs` bits.")
bit_shift_right = _binary("bit_shift_right", "`lhs` shifted right by `rhs` bits.")
abs_ = _unary("abs_", "The absolute value.")
neg = _unary("neg", "`-operand`.")
not_ = _unary("not_", "True if the operand is false.")
bit_not = _unary("bit_not", "All bits inverted.")

_cast = _api.function("pto.op.cast")


def cast(operand: _Operand, dtype: DataType, span: Span | None = None) -> Expr:
    """Return the number in another format: itself if unchanged.

    Raises TypeError for anything but numbers, ValueError for a constant outside
    the range of the format.
    """
    return _cast(_operand(operand), dtype, span or caller())
