"""Expressions over scalars and vectors of the machine, under the names of `tvm.tir`.

A class makes the node as it is said: `tir.Add(2, 3)` is a sum. Operators and
the functions of this module bring operands to a common data type and compute
what is known:

>>> from isoform import tir
>>> n = tir.Var("n", "int64")
>>> str((n + 1).dtype), (tir.const(7) // -2).value, type(tir.Add(2, 3))
('int64', -4, <class 'tir.Add'>)
"""

from typing import TYPE_CHECKING

from isoform.ir.expr import (
    EqualOp,
    NotEqualOp,
)

from .op import (
    add,
    all,  # noqa: A004
    any,  # noqa: A004
    cast,
    const,
    div,
    floordiv,
    floormod,
    indexdiv,
    indexmod,
    max,  # noqa: A004
    min,  # noqa: A004
    multiply,
    subtract,
    truncdiv,
    truncmod,
)

if TYPE_CHECKING:
    # What is declared in Rust, and what Python adds to it, in one place.
    from isoform.types.ir import (
        FloatImm,
        IntImm,
        PrimExpr,
    )
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
        StringImm,
        Sub,
        Var,
    )
else:
    from isoform.ir.expr import (
        PrimExpr,
    )

    from .expr import (
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
        FloatImm,
        FloorDiv,
        FloorMod,
        IntImm,
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
        StringImm,
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
    "EqualOp",
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
    "NotEqualOp",
    "Or",
    "PrimExpr",
    "Ramp",
    "Select",
    "SizeVar",
    "StringImm",
    "Sub",
    "Var",
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
    "min",
    "multiply",
    "subtract",
    "truncdiv",
    "truncmod",
]
