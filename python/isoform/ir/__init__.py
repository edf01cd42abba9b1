"""The data structures that compiler IRs share, under the names of `tvm.ir`.

Types, expressions, functions, modules, operators, attributes, source
locations, memory pools. Each class is declared once, in Rust; properties,
constructors, comparison and files come from that declaration.

>>> from isoform import ir
>>> identity = lambda name: (t := ir.TypeVar(name)) and ir.FuncType([t], t, [t])
>>> identity("A") == identity("B")
True
>>> ir.load_json(ir.save_json(identity("A"))) == identity("C")
True
"""

from isoform.container import Array, Map

from .attrs import AttrFieldInfo, Attrs, DictAttrs
from .base import (
    EnvFunc,
    Node,
    SequentialSpan,
    Source,
    SourceMap,
    SourceName,
    Span,
    assert_structural_equal,
    deprecated,
    get_first_structural_mismatch,
    load_json,
    make_node,
    save_json,
    structural_equal,
    structural_hash,
)
from .diagnostics import (
    Diagnostic,
    DiagnosticContext,
    DiagnosticError,
    DiagnosticLevel,
    DiagnosticRenderer,
    get_renderer,
    override_renderer,
)
from .expr import BaseExpr, Constructor, GlobalVar, PrimExpr, Range, RelayExpr
from .function import BaseFunc, CallingConv
from .global_info import DummyGlobalInfo, GlobalInfo, Target, VDevice
from .memory_pools import (
    AllocatedPoolInfo,
    ConstantInfo,
    ConstantMemoryPools,
    ConstantPoolInfo,
    PoolInfo,
    PoolInfoProperties,
    WorkspaceMemoryPools,
    WorkspacePoolInfo,
)
from .module import IRModule
from .op import Op, register_intrin_lowering, register_op_attr
from .supply import GlobalVarSupply, NameSupply
from .type import (
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    PointerType,
    PrimType,
    RelayRefType,
    TensorAffineType,
    TensorType,
    TupleAffineType,
    TupleType,
    Type,
    TypeCall,
    TypeConstraint,
    TypeData,
    TypeKind,
    TypeRelation,
    TypeVar,
)

__all__ = [
    "AllocatedPoolInfo",
    "Array",
    "AttrFieldInfo",
    "Attrs",
    "BaseExpr",
    "BaseFunc",
    "CallingConv",
    "ConstantInfo",
    "ConstantMemoryPools",
    "ConstantPoolInfo",
    "Constructor",
    "Diagnostic",
    "DiagnosticContext",
    "DiagnosticError",
    "DiagnosticLevel",
    "DiagnosticRenderer",
    "DictAttrs",
    "DummyGlobalInfo",
    "EnvFunc",
    "FuncType",
    "GlobalInfo",
    "GlobalTypeVar",
    "GlobalVar",
    "GlobalVarSupply",
    "IRModule",
    "IncompleteType",
    "Map",
    "NameSupply",
    "Node",
    "Op",
    "PointerType",
    "PoolInfo",
    "PoolInfoProperties",
    "PrimExpr",
    "PrimType",
    "Range",
    "RelayExpr",
    "RelayRefType",
    "SequentialSpan",
    "Source",
    "SourceMap",
    "SourceName",
    "Span",
    "Target",
    "TensorAffineType",
    "TensorType",
    "TupleAffineType",
    "TupleType",
    "Type",
    "TypeCall",
    "TypeConstraint",
    "TypeData",
    "TypeKind",
    "TypeRelation",
    "TypeVar",
    "VDevice",
    "WorkspaceMemoryPools",
    "WorkspacePoolInfo",
    "assert_structural_equal",
    "deprecated",
    "get_first_structural_mismatch",
    "get_renderer",
    "load_json",
    "make_node",
    "override_renderer",
    "register_intrin_lowering",
    "register_op_attr",
    "save_json",
    "structural_equal",
    "structural_hash",
]
