"""The base classes of expressions, global variables, ranges."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from isoform.dataclasses import c_class
from isoform.structural import structural_equal, structural_hash

from . import _api
from .base import Node
from .printing import str_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoform.types.ir import Span, Type

__all__ = ["BaseExpr", "Constructor", "GlobalVar", "PrimExpr", "Range", "RelayExpr"]


@c_class("ir.BaseExpr", init=False)
class BaseExpr(Node):
    """Base class of all the expressions."""

    span: Span | None


def _operation(name: str, doc: str, *, swapped: bool = False) -> Any:
    """The method of an operator: a function of the core with two expressions."""
    apply = _lazy(name)

    def method(self: Any, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        return apply(other, self) if swapped else apply(self, other)

    method.__doc__ = doc
    return method


def _lazy(name: str) -> Any:
    found: Any = None

    def call(*args: Any) -> Any:
        nonlocal found
        if found is None:
            found = _api.function(name)
        return found(*args)

    return call


def _is_operand(other: Any) -> bool:
    if isinstance(other, (PrimExpr, Number, DeferredComparison)):
        return True
    # Scalars of NumPy and similar objects count as numbers.
    return hasattr(other, "__index__") or hasattr(other, "__float__")


@c_class("ir.PrimExpr", init=False)
class PrimExpr(BaseExpr):
    """Base class of all primitive expressions, which low-level code and integer analysis use.

    Numbers become literals where an expression is expected. Operators convert both
    sides to one data type, and fold constants:

    >>> from isoform import tir
    >>> x = tir.Var("x", "int32")
    >>> type(x + 1), (x + 1).b.value, (tir.const(2) * 3).value
    (<class 'tir.Add'>, 1, 6)
    """

    dtype: Any

    __add__ = _operation("tir.add", "`self + other`.")
    __radd__ = _operation("tir.add", "`other + self`.", swapped=True)
    __sub__ = _operation("tir.subtract", "`self - other`.")
    __rsub__ = _operation("tir.subtract", "`other - self`.", swapped=True)
    __mul__ = _operation("tir.multiply", "`self * other`.")
    __rmul__ = _operation("tir.multiply", "`other * self`.", swapped=True)
    __floordiv__ = _operation("tir.floordiv", "`self / other` rounded down.")
    __rfloordiv__ = _operation("tir.floordiv", "`other / self` rounded down.", swapped=True)
    __mod__ = _operation("tir.floormod", "The remainder of `self // other`.")
    __rmod__ = _operation("tir.floormod", "The remainder of `other // self`.", swapped=True)
    __lshift__ = _operation("tir.shift_left", "`self << other`.")
    __rlshift__ = _operation("tir.shift_left", "`other << self`.", swapped=True)
    __rshift__ = _operation("tir.shift_right", "`self >> other`.")
    __rrshift__ = _operation("tir.shift_right", "`other >> self`.", swapped=True)
    __and__ = _operation("tir.bitwise_and", "`self & other`.")
    __rand__ = _operation("tir.bitwise_and", "`other & self`.", swapped=True)
    __or__ = _operation("tir.bitwise_or", "`self | other`.")
    __ror__ = _operation("tir.bitwise_or", "`other | self`.", swapped=True)
    __xor__ = _operation("tir.bitwise_xor", "`self ^ other`.")
    __rxor__ = _operation("tir.bitwise_xor", "`other ^ self`.", swapped=True)
    __lt__ = _operation("tir.less", "The comparison `self < other`.")
    __le__ = _operation("tir.less_equal", "The comparison `self <= other`.")
    __gt__ = _operation("tir.greater", "The comparison `self > other`.")
    __ge__ = _operation("tir.greater_equal", "The comparison `self >= other`.")

    def __truediv__(self, other: Any) -> Any:
        """`self / other`, unless both are integers: then it would be ambiguous."""
        return _true_division(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        """`other / self`, unless both are integers: then it would be ambiguous."""
        return _true_division(other, self)

    def __neg__(self) -> Any:
        """`-self`."""
        return _constant(-1, self.dtype) * self

    def __invert__(self) -> Any:
        """`~self`; the negation of a truth value."""
        if str(self.dtype).startswith("bool"):
            return _not(self)
        return _bitwise_not(self)

    # The operator returns an expression that may become a bool.
    def __eq__(self, other: object) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Compares for equality, as an expression; as a bool, tests identity."""
        return EqualOp(self, other)

    def __ne__(self, other: object) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The negation of `==`."""
        return NotEqualOp(self, other)

    def __hash__(self) -> int:
        """The hash of the object's identity."""
        return Node.__hash__(self)

    def __bool__(self) -> bool:
        """Refuse to be a condition: raises ValueError."""
        raise ValueError(
            "Cannot use and / or / not operator to Expr, hint: use isoform.tir.all / "
            "isoform.tir.any instead"
        )

    def astype(self, dtype: Any, span: Span | None = None) -> Any:  # noqa: ARG002
        """Return the expression converted to a data type."""
        return _cast(dtype, self)


class DeferredComparison:
    """`a == b` or `a != b` of expressions.

    The result is an expression where an expression is expected, and in a condition a
    bool for identity, which makes searching lists of expressions possible.
    """

    __slots__ = ("a", "b")
    _name = ""

    def __init__(self, a: Any, b: Any) -> None:
        """Compare two expressions."""
        self.a = a
        self.b = b

    def _same(self) -> bool:
        return isinstance(self.a, Node) and isinstance(self.b, Node) and self.a.same_as(self.b)

    def asobject(self) -> Any:
        """Return the comparison as an expression."""
        return _comparisons[self._name](self.a, self.b)

    def __repr__(self) -> str:
        """Show the expression."""
        return repr(self.asobject())


class EqualOp(DeferredComparison):
    """`a == b`."""

    __slots__ = ()
    _name = "equal"

    def __bool__(self) -> bool:
        """Return whether both are the same object."""
        return self._same()


class NotEqualOp(DeferredComparison):
    """`a != b`."""

    __slots__ = ()
    _name = "not_equal"

    def __bool__(self) -> bool:
        """Return whether they are different objects."""
        return not self._same()


_comparisons = {"equal": _lazy("tir.equal"), "not_equal": _lazy("tir.not_equal")}
_constant = _lazy("tir.const")
_cast = _lazy("tir.cast")
_not = _lazy("tir.logical_not")
_bitwise_not = _lazy("tir.bitwise_not")
_div = _lazy("tir.div")


def _true_division(left: Any, right: Any) -> Any:
    if not (_is_operand(left) and _is_operand(right)):
        return NotImplemented

    def is_integer(side: Any) -> bool:
        if isinstance(side, PrimExpr):
            return str(side.dtype).startswith(("int", "uint", "bool"))
        return hasattr(side, "__index__")

    if is_integer(left) and is_integer(right):
        raise RuntimeError(
            "there are several divisions of integers: call isoform.tir.div, floordiv, floormod, "
            "truncdiv or truncmod to say which"
        )
    return _div(left, right)


@c_class("ir.RelayExpr", init=False)
class RelayExpr(BaseExpr):
    """Base class of all non-primitive expressions."""

    checked_type_: Type | None
    struct_info_: Any

    @property
    def checked_type(self) -> Type:
        """The type that type inference has found; ValueError if there is none yet."""
        found = noted_types.get(self) if noted_types else None
        return _checked_type(self) if found is None else found

    @property
    def struct_info(self) -> Any:
        """Information about the structure of the value, or None."""
        return self.struct_info_

    def __str__(self) -> str:
        """Return the text in the format of Relay; the repr for other expressions.

        >>> from isoform import relay
        >>> x = relay.var("x")
        >>> str(relay.Tuple([x, relay.const(1)]))
        'free_var %x;\\n(%x, 1)'
        """
        return str_of(self)

    def astext(
        self,
        show_meta_data: bool = True,
        annotate: Callable[[Any], str | None] | None = None,
    ) -> str:
        """Return the text format of the expression, without spans.

        `isoform.text.from_text` reads it, unless some parts cannot be printed
        and are shown as `<...>`.

        Args:
            show_meta_data: Print large constants in a section after the text;
                without it, the text cannot be read back.
            annotate: Returns the comment to print after an object, or an empty
                text for no comment.

        Raises ValueError for an expression that contains itself.

        >>> from isoform import ir
        >>> print(ir.GlobalVar("main").astext(), end="")
        %main = ir.GlobalVar()
        %main
        """
        return text_of(self, show_meta_data, annotate)


_checked_type = _api.function("ir.RelayExpr.checked_type")

noted_types: WeakKeyDictionary[RelayExpr, Type] = WeakKeyDictionary()
"""Types found for single expressions: programs share expressions, which therefore never
change, so the types are noted beside them."""


def _call(callee: RelayExpr, args: tuple[Any, ...]) -> Any:
    """A call of a callee with expressions: of relay, or primitive expressions."""
    from isoform import relay, tir

    if all(isinstance(arg, RelayExpr) for arg in args):
        return _api.made(relay.Call, callee, args)
    if all(isinstance(arg, PrimExpr) or _is_operand(arg) for arg in args):
        return tir.Call(_result_dtype(callee), callee, args)
    kinds = ", ".join(type(arg).__name__ for arg in args)
    raise RuntimeError(f"Do not know how to call {type(callee).__name__} for types {kinds}")


def _result_dtype(callee: RelayExpr) -> Any:
    """The data type of a function's result, if its type is known."""
    result = getattr(callee.checked_type_, "ret_type", None)
    return getattr(result, "dtype", "handle")


@c_class("ir.GlobalVar")
class GlobalVar(RelayExpr):
    """A global variable in the IR, which refers to a function of an `IRModule`.

    Args:
        name_hint: The name.
        type_annot: The type of the variable, if known.
    """

    name_hint: str

    def __call__(self, *args: Any) -> Any:
        """Return a call of the function."""
        return _call(self, args)


@c_class("ir.Constructor")
class Constructor(RelayExpr):
    """A constructor of an algebraic data type.

    Args:
        name_hint: The name.
        inputs: The types of its fields.
        belong_to: The data type.
    """

    name_hint: str
    inputs: Any
    belong_to: Any

    @property
    def tag(self) -> int:
        """A number for the constructor; no two names have the same one in a process."""
        return _tag(self)

    def __call__(self, *args: Any) -> Any:
        """Return a call of the constructor."""
        return _call(self, args)


_tag = _api.function("ir.Constructor.tag")


@c_class("ir.Range")
class Range(Node):
    """The integers from `begin` up to and without `end`, or from 0 up to `begin`.

    Lists and tuples of one or two numbers become ranges where a range is expected. `==`
    is structural equality.

    Args:
        begin: The first number; if `end` is None, the extent.
        end: The end.
        span: The source location.

    >>> from isoform import ir
    >>> r = ir.Range(2, 10)
    >>> r.min.value, r.extent.value
    (2, 8)
    >>> ir.Range(8) == ir.Range.from_min_extent(0, 8)
    True
    """

    min: PrimExpr
    extent: PrimExpr
    span: Span | None

    @staticmethod
    def from_min_extent(min_value: Any, extent: Any, span: Span | None = None) -> Range:
        """Return the range [min_value, min_value + extent).

        Args:
            min_value: The first one.
            extent: How many there are.
            span: The source location.
        """
        return _from_min_extent(min_value, extent, span)

    def __eq__(self, other: object) -> bool:
        """Return whether the ranges are structurally equal."""
        return isinstance(other, Range) and bool(structural_equal(self, other))

    def __ne__(self, other: object) -> bool:
        """Return whether the ranges are not structurally equal."""
        return not self == other

    def __hash__(self) -> int:
        """The structural hash, which agrees with `==`."""
        return structural_hash(self)


_from_min_extent = _api.function("ir.Range.from_min_extent")
