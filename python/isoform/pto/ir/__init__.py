"""The nodes of the statement IR, and the functions over them.

>>> from isoform.pto import DataType, ir
>>> i = ir.Var("i", ir.ScalarType(DataType.INDEX))
>>> loop = ir.ForStmt(i, 0, 8, 1, [], ir.EvalStmt(ir.Call(ir.Op("step"), [i])), [])
>>> loop.kind, loop.stop.value, ir.field_kinds(ir.ForStmt)["loop_var"]
(ForKind.Sequential, 8, 'definition')
"""

from __future__ import annotations

from isoform.structural import structural_digest

# The additions in Python must be made before the classes are imported.
from . import enums, expr, memory, node, program, stmt, type  # noqa: A004, F401
from .comparison import (
    assert_structural_equal,
    field_kinds,
    structural_equal,
    structural_hash,
)
from .functions import (
    attach_leading_comments,
    collect_def_vars,
    collect_free_vars,
    deep_clone,
    deserialize,
    deserialize_from_file,
    find_yield_stmt,
    flatten_to_stmts,
    get_last_yield_stmt,
    serialize,
    serialize_to_file,
    substitute_expr,
    substitute_stmt,
)
from .operators import (
    abs_,
    add,
    and_,
    bit_and,
    bit_not,
    bit_or,
    bit_shift_left,
    bit_shift_right,
    bit_xor,
    cast,
    eq,
    floordiv,
    ge,
    gt,
    le,
    lt,
    max_,
    min_,
    mod,
    mul,
    ne,
    neg,
    not_,
    or_,
    pow,  # noqa: A004
    sub,
    truediv,
    xor_,
)
from .passes import cse, simplify

# isort: split
import isoform.types.pto as _types
from isoform.types.pto import *  # noqa: F403  # Every class declared in Rust.

from .builder import IRBuilder, ProgramBuilder
from .printing import python_print
from .verification import VerificationFailure, verify
from .visitor import IRMutator, IRVisitor

__all__ = [
    "IRBuilder",
    "IRMutator",
    "IRVisitor",
    "ProgramBuilder",
    "VerificationFailure",
    "abs_",
    "add",
    "and_",
    "assert_structural_equal",
    "attach_leading_comments",
    "bit_and",
    "bit_not",
    "bit_or",
    "bit_shift_left",
    "bit_shift_right",
    "bit_xor",
    "cast",
    "collect_def_vars",
    "collect_free_vars",
    "cse",
    "deep_clone",
    "deserialize",
    "deserialize_from_file",
    "eq",
    "field_kinds",
    "find_yield_stmt",
    "flatten_to_stmts",
    "floordiv",
    "ge",
    "get_last_yield_stmt",
    "gt",
    "le",
    "lt",
    "max_",
    "min_",
    "mod",
    "mul",
    "ne",
    "neg",
    "not_",
    "or_",
    "pow",
    "python_print",
    "serialize",
    "serialize_to_file",
    "simplify",
    "structural_digest",
    "structural_equal",
    "structural_hash",
    "sub",
    "substitute_expr",
    "substitute_stmt",
    "truediv",
    "verify",
    "xor_",
]
__all__ += _types.__all__
