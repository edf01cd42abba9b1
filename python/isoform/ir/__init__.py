"""The data structures that compiler IRs share, under the names of `tvm.ir`.

Types, expressions, functions, modules, operators, attributes, source locations, memory
pools. Each class is declared once, in Rust; properties, constructors, comparison and
files come from that declaration.

>>> from isoform import ir
>>> identity = lambda name: (t := ir.TypeVar(name)) and ir.FuncType([t], t, [t])
>>> identity("A") == identity("B")
True
>>> ir.load_json(ir.save_json(identity("A"))) == identity("C")
True
"""

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

# isort: split
# The additions in Python must be made before the classes are imported.
from isoform.tir import expr as _literals  # noqa: F401

from . import attrs, expr, global_info, module  # noqa: F401

# isort: split
import isoform.types.ir as _types
from isoform.types.ir import *  # noqa: F403  # Every class declared in Rust.

__all__ = [
    "Array",
    "CallingConv",
    "DiagnosticError",
    "DiagnosticLevel",
    "Map",
    "Node",
    "TypeKind",
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
__all__ += _types.__all__
