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

from typing import TYPE_CHECKING

from isoform.container import (
    Array,
    Map,
)

from .base import (
    Node,
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
    DiagnosticError,
    DiagnosticLevel,
    get_renderer,
    override_renderer,
)
from .function import (
    CallingConv,
)
from .op import (
    register_intrin_lowering,
    register_op_attr,
)
from .type import (
    TypeKind,
)

if TYPE_CHECKING:
    # What is declared in Rust, and what Python adds to it, in one place.
    from isoform.types.ir import (
        AllocatedPoolInfo,
        AttrFieldInfo,
        Attrs,
        BaseExpr,
        BaseFunc,
        ConstantInfo,
        ConstantMemoryPools,
        ConstantPoolInfo,
        Constructor,
        Diagnostic,
        DiagnosticContext,
        DiagnosticRenderer,
        DictAttrs,
        DummyGlobalInfo,
        EnvFunc,
        FuncType,
        GlobalInfo,
        GlobalTypeVar,
        GlobalVar,
        GlobalVarSupply,
        IncompleteType,
        IRModule,
        NameSupply,
        Op,
        PointerType,
        PoolInfo,
        PoolInfoProperties,
        PrimExpr,
        PrimType,
        Range,
        RelayExpr,
        RelayRefType,
        SequentialSpan,
        Source,
        SourceMap,
        SourceName,
        Span,
        Target,
        TensorAffineType,
        TensorType,
        TupleAffineType,
        TupleType,
        Type,
        TypeCall,
        TypeConstraint,
        TypeData,
        TypeRelation,
        TypeVar,
        VDevice,
        WorkspaceMemoryPools,
        WorkspacePoolInfo,
    )
else:
    from .attrs import (
        AttrFieldInfo,
        Attrs,
        DictAttrs,
    )
    from .base import (
        EnvFunc,
        SequentialSpan,
        Source,
        SourceMap,
        SourceName,
        Span,
    )
    from .diagnostics import (
        Diagnostic,
        DiagnosticContext,
        DiagnosticRenderer,
    )
    from .expr import (
        BaseExpr,
        Constructor,
        GlobalVar,
        PrimExpr,
        Range,
        RelayExpr,
    )
    from .function import (
        BaseFunc,
    )
    from .global_info import (
        DummyGlobalInfo,
        GlobalInfo,
        Target,
        VDevice,
    )
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
    from .module import (
        IRModule,
    )
    from .op import (
        Op,
    )
    from .supply import (
        GlobalVarSupply,
        NameSupply,
    )
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
