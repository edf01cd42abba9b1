"""Expressions."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.core import Object
from isoform.dataclasses import c_class
from isoform.ir import _api

from . import operators
from .node import IRNode

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoform.pto.datatype import DataType
    from isoform.types.pto import Type

__all__ = ["Call", "Expr", "IterArg", "Op"]


def _operation(apply: Callable[..., Any], doc: str, *, swapped: bool = False) -> Any:
    """The method of an operator."""

    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, (Expr, Number)):
            return NotImplemented
        return apply(other, self) if swapped else apply(self, other)

    method.__doc__ = doc
    return method


@c_class("pto.Expr", init=False)
class Expr(IRNode):
    """The base of all expressions.

    Operators build expressions, like the functions of the same names; `==` tests
    identity, and `ir.eq` builds the comparison:

    >>> from isoform.pto import DataType, ir
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT32))
    >>> type(2 * x - 1).__name__, (x < 5).right.dtype, x == x, x == x + 0
    ('Sub', DataType.INT32, True, False)
    """

    type: Type

    @property
    def dtype(self) -> DataType | None:
        """The format of the value or of the elements; None for a type without a format."""
        return _dtype(self)

    __add__ = _operation(operators.add, "`self + other`.")
    __radd__ = _operation(operators.add, "`other + self`.", swapped=True)
    __sub__ = _operation(operators.sub, "`self - other`.")
    __rsub__ = _operation(operators.sub, "`other - self`.", swapped=True)
    __mul__ = _operation(operators.mul, "`self * other`.")
    __rmul__ = _operation(operators.mul, "`other * self`.", swapped=True)
    __truediv__ = _operation(operators.truediv, "`self / other`.")
    __rtruediv__ = _operation(operators.truediv, "`other / self`.", swapped=True)
    __floordiv__ = _operation(operators.floordiv, "`self / other` rounded down.")
    __rfloordiv__ = _operation(operators.floordiv, "`other / self` rounded down.", swapped=True)
    __mod__ = _operation(operators.mod, "The remainder of `self // other`.")
    __rmod__ = _operation(operators.mod, "The remainder of `other // self`.", swapped=True)
    __pow__ = _operation(operators.pow, "`self` to the power of `other`.")
    __rpow__ = _operation(operators.pow, "`other` to the power of `self`.", swapped=True)
    __and__ = _operation(operators.bit_and, "The bits set in both.")
    __rand__ = _operation(operators.bit_and, "The bits set in both.", swapped=True)
    __or__ = _operation(operators.bit_or, "The bits set in at least one of the two.")
    __ror__ = _operation(operators.bit_or, "The bits set in at least one of the two.", swapped=True)
    __xor__ = _operation(operators.bit_xor, "The bits set in exactly one of the two.")
    __rxor__ = _operation(
        operators.bit_xor, "The bits set in exactly one of the two.", swapped=True
    )
    __lshift__ = _operation(operators.bit_shift_left, "`self << other`.")
    __rlshift__ = _operation(operators.bit_shift_left, "`other << self`.", swapped=True)
    __rshift__ = _operation(operators.bit_shift_right, "`self >> other`.")
    __rrshift__ = _operation(operators.bit_shift_right, "`other >> self`.", swapped=True)
    __lt__ = _operation(operators.lt, "The comparison `self < other`.")
    __le__ = _operation(operators.le, "The comparison `self <= other`.")
    __gt__ = _operation(operators.gt, "The comparison `self > other`.")
    __ge__ = _operation(operators.ge, "The comparison `self >= other`.")

    def __neg__(self) -> Any:
        """`-self`."""
        return operators.neg(self)

    def __abs__(self) -> Any:
        """The number without its sign."""
        return operators.abs_(self)

    def __invert__(self) -> Any:
        """`~self`."""
        return operators.bit_not(self)


_dtype = _api.function("pto.Expr.dtype")


@c_class("pto.Op")
class Op(Object):
    """An operator; operators with the same name are equal.

    `isoform.ir.register_op_attr` sets the attributes of an operator by name.

    Args:
        name: The name.

    >>> from isoform.ir import register_op_attr
    >>> from isoform.pto import ir
    >>> _ = register_op_attr("doc.tile.load", "pipe", "MTE2")
    >>> ir.Op("doc.tile.load").get_attr("pipe"), list(ir.Op("doc.tile.load").get_attr_keys())
    ('MTE2', ['pipe'])
    """

    name: str


# The parent's class comes first.
if TYPE_CHECKING:
    from isoform.types.pto import Var
else:
    Var = _core.class_of("pto.Var")


@c_class("pto.IterArg")
class IterArg(Var):
    """A variable that a loop carries from one iteration to the next.

    Args:
        name_hint: For people.
        type: The type of its value.
        initValue: Its value in the first iteration; the field is `init_value`.
        span: The source location.
    """

    init_value: Expr

    @property
    def initValue(self) -> Expr:  # noqa: N802
        """Its value in the first iteration."""
        return self.init_value


@c_class("pto.Call")
class Call(Expr):
    """The call of an operator or of a function of the program.

    The positional arguments are followed, in any order, by the keyword
    arguments, the type of the result and the source location.

    Args:
        op: The callee, an `Op` or a `GlobalVar`.
        args: The arguments.
        kwargs: The keyword arguments, which are not expressions.
        type: The type of the result; unknown by default.
        span: The source location.
        attrs: Results of passes about the call.

    >>> from isoform.pto import DataType, ir
    >>> load = ir.Op("tile.load")
    >>> ir.Call(load, [1], {"space": ir.MemorySpace.Vec}).kwargs["space"]
    MemorySpace.Vec
    >>> ir.Call(load, [1], ir.ScalarType(DataType.FP32), ir.Span("a.py", 1, 1)).dtype
    DataType.FP32
    """

    attrs: Any

    @property
    def arg_directions(self) -> list[Any]:
        """The direction of each argument, from the attribute of this name; empty without it."""
        return list(self.attrs.get("arg_directions", ()))
