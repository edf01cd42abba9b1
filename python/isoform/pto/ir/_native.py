"""The classes to which Python adds nothing."""

# pyright: reportUnsupportedDunderAll=false

from __future__ import annotations

from isoform import _core

# The classes of their parents come first.
from . import enums, expr, node, program, stmt, type  # noqa: A004, F401

__all__ = [
    "Abs",
    "Add",
    "And",
    "AssignStmt",
    "BinaryExpr",
    "BitAnd",
    "BitNot",
    "BitOr",
    "BitShiftLeft",
    "BitShiftRight",
    "BitXor",
    "BreakStmt",
    "Cast",
    "ClusterScopeStmt",
    "ConstBool",
    "ConstFloat",
    "ConstInt",
    "ContinueStmt",
    "Eq",
    "EvalStmt",
    "FloatDiv",
    "FloorDiv",
    "FloorMod",
    "ForStmt",
    "Ge",
    "GlobalVar",
    "Gt",
    "HierarchyScopeStmt",
    "IfStmt",
    "InCoreScopeStmt",
    "InlineStmt",
    "Le",
    "Lt",
    "MakeTuple",
    "Max",
    "MemRef",
    "Min",
    "Mul",
    "Ne",
    "Neg",
    "Not",
    "Or",
    "Pow",
    "ReturnStmt",
    "RuntimeScopeStmt",
    "ScalarType",
    "SeqStmts",
    "SpmdScopeStmt",
    "Stmt",
    "Sub",
    "TensorType",
    "TensorView",
    "TileType",
    "TileView",
    "TupleGetItemExpr",
    "TupleType",
    "UnaryExpr",
    "Var",
    "WhileStmt",
    "Xor",
    "YieldStmt",
]

globals().update({name: _core.class_of(f"pto.{name}") for name in __all__})
