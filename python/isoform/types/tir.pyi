# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `tir`."""

import builtins
import collections.abc
import typing

import isoform

__all__ = [
    "EQ",
    "GE",
    "GT",
    "LE",
    "LT",
    "NE",
    "Add",
    "And",
    "BinaryOpExpr",
    "Broadcast",
    "Call",
    "Cast",
    "CmpExpr",
    "Div",
    "FloorDiv",
    "FloorMod",
    "Let",
    "LogicalExpr",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Not",
    "Or",
    "Ramp",
    "Select",
    "SizeVar",
    "StringImm",
    "Sub",
    "Var",
]

class StringImm(isoform.types.ir.PrimExpr):
    """A string, for example an argument of an intrinsic."""

    __match_args__ = ("value", "span")
    @property
    def value(self) -> builtins.str:
        """The text."""
    def __init__(self, value: builtins.str, span: isoform.types.ir.Span | None = ...) -> None: ...
    def __eq__(self, other: builtins.object) -> builtins.bool:
        """Return whether the text is the same."""
    def __ne__(self, other: builtins.object) -> builtins.bool:
        """Return whether the text is different."""
    def __hash__(self) -> builtins.int:
        """The hash of the text."""

class Ramp(isoform.types.ir.PrimExpr):
    """The vector `base, base + stride, base + 2 * stride, ...`."""

    __match_args__ = ("base", "stride", "lanes", "span")
    @property
    def base(self) -> isoform.types.ir.PrimExpr:
        """The first value."""
    @property
    def stride(self) -> isoform.types.ir.PrimExpr:
        """The difference of neighbours."""
    @property
    def lanes(self) -> builtins.int:
        """The number of lanes."""
    def __init__(
        self,
        base: typing.Any,
        stride: typing.Any,
        lanes: builtins.int,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Var(isoform.types.ir.PrimExpr):
    """A variable, identified by its binding; the name is ignored."""

    __match_args__ = ("name", "dtype", "span")
    @property
    def name(self) -> builtins.str:
        """For people."""
    @property
    def type_annotation(self) -> isoform.types.ir.Type:
        """The type of the value."""
    def __init__(
        self, name: builtins.str, dtype: typing.Any = ..., span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class SizeVar(Var):
    """A variable for a size, therefore not negative."""

    __match_args__ = ("name", "dtype", "span")
    def __init__(
        self, name: builtins.str, dtype: typing.Any = ..., span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class Cast(isoform.types.ir.PrimExpr):
    """A conversion to another data type."""

    __match_args__ = ("dtype", "value", "span")
    @property
    def value(self) -> isoform.types.ir.PrimExpr:
        """The expression to convert."""
    def __init__(
        self,
        dtype: isoform.dtype | str,
        value: typing.Any,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class BinaryOpExpr(isoform.types.ir.PrimExpr):
    """An arithmetic operation on two numbers of one data type."""

    __match_args__ = ("dtype", "a", "b", "span")
    @property
    def a(self) -> isoform.types.ir.PrimExpr:
        """The left operand."""
    @property
    def b(self) -> isoform.types.ir.PrimExpr:
        """The right operand."""
    def __init__(
        self,
        dtype: isoform.dtype | str,
        a: typing.Any,
        b: typing.Any,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class CmpExpr(isoform.types.ir.PrimExpr):
    """A comparison of two numbers of one data type."""

    __match_args__ = ("dtype", "a", "b", "span")
    @property
    def a(self) -> isoform.types.ir.PrimExpr:
        """The left operand."""
    @property
    def b(self) -> isoform.types.ir.PrimExpr:
        """The right operand."""
    def __init__(
        self,
        dtype: isoform.dtype | str,
        a: typing.Any,
        b: typing.Any,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class LogicalExpr(isoform.types.ir.PrimExpr):
    """An operation on two truth values."""

    __match_args__ = ("dtype", "a", "b", "span")
    @property
    def a(self) -> isoform.types.ir.PrimExpr:
        """The left operand."""
    @property
    def b(self) -> isoform.types.ir.PrimExpr:
        """The right operand."""
    def __init__(
        self,
        dtype: isoform.dtype | str,
        a: typing.Any,
        b: typing.Any,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Add(BinaryOpExpr):
    """`a + b`."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class Sub(BinaryOpExpr):
    """`a - b`."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class Mul(BinaryOpExpr):
    """`a * b`."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class Div(BinaryOpExpr):
    """`a / b`; of integers rounded towards zero."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class Mod(BinaryOpExpr):
    """The remainder of division rounded towards zero."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class FloorDiv(BinaryOpExpr):
    """`a / b` rounded down."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class FloorMod(BinaryOpExpr):
    """The remainder of division rounded down."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class Min(BinaryOpExpr):
    """The smaller one."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class Max(BinaryOpExpr):
    """The larger one."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class EQ(CmpExpr):
    """Equality, `a == b`."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class NE(CmpExpr):
    """Inequality, `a != b`."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class LT(CmpExpr):
    """The comparison `a < b`."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class LE(CmpExpr):
    """The comparison `a <= b`."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class GT(CmpExpr):
    """The comparison `a > b`."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class GE(CmpExpr):
    """The comparison `a >= b`."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class And(LogicalExpr):
    """True if both operands are true."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class Or(LogicalExpr):
    """True if at least one operand is true."""

    __match_args__ = ("a", "b", "span")
    def __init__(
        self, a: typing.Any, b: typing.Any, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class Not(isoform.types.ir.PrimExpr):
    """True if `a` is false."""

    __match_args__ = ("a", "span")
    @property
    def a(self) -> isoform.types.ir.PrimExpr:
        """The operand."""
    def __init__(self, a: typing.Any, span: isoform.types.ir.Span | None = ...) -> None: ...

class Select(isoform.types.ir.PrimExpr):
    """A choice between two values; both values are computed."""

    __match_args__ = ("condition", "true_value", "false_value", "span")
    @property
    def condition(self) -> isoform.types.ir.PrimExpr:
        """The condition."""
    @property
    def true_value(self) -> isoform.types.ir.PrimExpr:
        """The value if the condition holds."""
    @property
    def false_value(self) -> isoform.types.ir.PrimExpr:
        """The value for a false condition."""
    def __init__(
        self,
        condition: typing.Any,
        true_value: typing.Any,
        false_value: typing.Any,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Let(isoform.types.ir.PrimExpr):
    """The value of `body` with `var` bound to `value`."""

    __match_args__ = ("var", "value", "body", "span")
    @property
    def value(self) -> isoform.types.ir.PrimExpr:
        """The value of the variable. The value comes first because the variable is not
        bound in the value.
        """
    @property
    def var(self) -> Var:
        """Bound in the body."""
    @property
    def body(self) -> isoform.types.ir.PrimExpr:
        """The result."""
    def __init__(
        self,
        var: Var,
        value: typing.Any,
        body: typing.Any,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Call(isoform.types.ir.PrimExpr):
    """The call of an operator or a function."""

    __match_args__ = ("dtype", "op", "args", "span")
    @property
    def op(self) -> isoform.types.ir.RelayExpr:
        """The callee: an operator, or the global variable of a function."""
    @property
    def args(self) -> isoform.Array[isoform.types.ir.PrimExpr]:
        """The arguments."""
    def __init__(
        self,
        dtype: isoform.dtype | str,
        op: typing.Any,
        args: collections.abc.Sequence[typing.Any],
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Broadcast(isoform.types.ir.PrimExpr):
    """A vector repeating one value."""

    __match_args__ = ("value", "lanes", "span")
    @property
    def value(self) -> isoform.types.ir.PrimExpr:
        """The value, a scalar."""
    @property
    def lanes(self) -> builtins.int:
        """The number of lanes."""
    def __init__(
        self, value: typing.Any, lanes: builtins.int, span: isoform.types.ir.Span | None = ...
    ) -> None: ...
