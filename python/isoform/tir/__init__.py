"""Expressions over scalars and vectors of the machine, under the names of `tvm.tir`.

A class builds the node as written: `tir.Add(2, 3)` is a sum. Operators and the
functions of this module convert operands to a common data type and fold
constants:

>>> from isoform import tir
>>> n = tir.Var("n", "int64")
>>> str((n + 1).dtype), (tir.const(7) // -2).value, type(tir.Add(2, 3))
('int64', -4, <class 'tir.Add'>)
"""

from isoform.ir.expr import EqualOp, NotEqualOp

# The additions in Python must be made before the classes are imported.
from . import expr  # noqa: F401
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
    max_value,
    min,  # noqa: A004
    min_value,
    multiply,
    subtract,
    truncdiv,
    truncmod,
)

# isort: split
import isoform.types.tir as _types
from isoform.types.ir import FloatImm, IntImm, PrimExpr
from isoform.types.tir import *  # noqa: F403  # Every class declared in Rust.

__all__ = ["EqualOp", "FloatImm", "IntImm", "NotEqualOp", "PrimExpr"]
__all__ += [
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
__all__ += _types.__all__
