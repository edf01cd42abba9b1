"""The nodes of primitive expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.dataclasses import c_class
from isoform.ir import _api
from isoform.ir.expr import PrimExpr

if TYPE_CHECKING:
    from isoform.types.tir import (
        EQ,
        GE,
        GT,
        LE,
        LT,
        NE,
        Add,
        And,
        BinaryOpExpr,
        Broadcast,
        Call,
        Cast,
        CmpExpr,
        Div,
        FloorDiv,
        FloorMod,
        Let,
        LogicalExpr,
        Max,
        Min,
        Mod,
        Mul,
        Not,
        Or,
        Ramp,
        Select,
        SizeVar,
        Sub,
        Var,
    )

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
    "FloatImm",
    "FloorDiv",
    "FloorMod",
    "IntImm",
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

_equal = _api.function("tir.equal")
_not_equal = _api.function("tir.not_equal")


def _compared(compare: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        try:
            return compare(self, other)
        except TypeError:
            return NotImplemented

    return method


@c_class("ir.IntImm")
class IntImm(PrimExpr):
    """An integer or a bool.

    Args:
        dtype: The data type.
        value: The number.
        span: Where it was written.

    Raises ValueError for a number outside the range of the data type.

    >>> from isoform import tir
    >>> int(tir.IntImm("int32", 5)), bool(tir.IntImm("int32", 5) == 5)
    (5, True)
    """

    value: int

    __eq__ = _compared(_equal)
    __ne__ = _compared(_not_equal)

    def __hash__(self) -> int:
        """The hash of the number."""
        return hash(self.value)

    def __int__(self) -> int:
        """Return the number."""
        return self.value

    def __index__(self) -> int:
        """Return the number."""
        return self.value

    def __bool__(self) -> bool:
        """Whether the number is not 0."""
        return self.value != 0


@c_class("ir.FloatImm")
class FloatImm(PrimExpr):
    """A float.

    Args:
        dtype: The data type.
        value: The number.
        span: Where it was written.

    Raises ValueError for a finite number outside the range of the data type.
    """

    value: float

    def __float__(self) -> float:
        """Return the number."""
        return self.value


@c_class("tir.StringImm")
class StringImm(PrimExpr):
    """A string.

    Args:
        value: The text.
        span: Where it was written.
    """

    value: str

    def __eq__(self, other: object) -> bool:
        """Whether the text is the same."""
        if isinstance(other, StringImm):
            return self.value == other.value
        return self.value == other

    def __ne__(self, other: object) -> bool:
        """Whether the text is another one."""
        return not self == other

    def __hash__(self) -> int:
        """The hash of the text."""
        return hash(self.value)


if not TYPE_CHECKING:
    Var = _core.class_of("tir.Var")
    SizeVar = _core.class_of("tir.SizeVar")
    Cast = _core.class_of("tir.Cast")
    BinaryOpExpr = _core.class_of("tir.BinaryOpExpr")
    CmpExpr = _core.class_of("tir.CmpExpr")
    LogicalExpr = _core.class_of("tir.LogicalExpr")
    Add = _core.class_of("tir.Add")
    Sub = _core.class_of("tir.Sub")
    Mul = _core.class_of("tir.Mul")
    Div = _core.class_of("tir.Div")
    Mod = _core.class_of("tir.Mod")
    FloorDiv = _core.class_of("tir.FloorDiv")
    FloorMod = _core.class_of("tir.FloorMod")
    Min = _core.class_of("tir.Min")
    Max = _core.class_of("tir.Max")
    EQ = _core.class_of("tir.EQ")
    NE = _core.class_of("tir.NE")
    LT = _core.class_of("tir.LT")
    LE = _core.class_of("tir.LE")
    GT = _core.class_of("tir.GT")
    GE = _core.class_of("tir.GE")
    And = _core.class_of("tir.And")
    Or = _core.class_of("tir.Or")
    Not = _core.class_of("tir.Not")
    Select = _core.class_of("tir.Select")
    Let = _core.class_of("tir.Let")
    Call = _core.class_of("tir.Call")
    Broadcast = _core.class_of("tir.Broadcast")
    Ramp = _core.class_of("tir.Ramp")
