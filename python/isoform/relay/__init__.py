"""A graph IR of tensors, under the classic names of Relay: variables, calls, functions.

>>> from isoform import relay, structural_equal
>>> x, y = relay.Var("x"), relay.Var("y")
>>> structural_equal(relay.Function([x], x), relay.Function([y], y))
True

The page `docs/relay.md` lists the contents and the differences from TVM.
"""

from typing import TYPE_CHECKING

# The additions in Python must be made before the classes are imported.
from . import expr, function  # noqa: F401

# isort: split
import isoform.types.relay as _types
from isoform.types.ir import (
    Constructor,
    FuncType,
    GlobalTypeVar,
    GlobalVar,
    IncompleteType,
    RelayExpr,
    SequentialSpan,
    SourceName,
    Span,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeConstraint,
    TypeData,
    TypeRelation,
    TypeVar,
)
from isoform.types.relay import *  # noqa: F403  # Every class declared in Rust.

from . import (
    adt,
    analysis,
    attrs,
    build_module,
    dataflow_pattern,
    expr_functor,
    op,
    testing,
    transform,
    ty,
    type_functor,
)
from .evaluation import Executor, create_executor, evaluate_call
from .expr import (
    Expr,
    TupleWrapper,
    bind,
    const,
    dedup,
    post_order_rewrite,
    pretty_print,
    var,
)
from .expr_functor import ExprFunctor, ExprMutator, ExprVisitor
from .op import annotation, nn, reduce as _reduce, tensor as _tensor, transform as _transform
from .op.reduce import *  # noqa: F403  # The constructor functions of operators.
from .op.tensor import *  # noqa: F403
from .op.transform import *  # noqa: F403
from .pattern_functor import PatternMutator, PatternVisitor
from .prelude import Prelude
from .scope_builder import ScopeBuilder
from .ty import RefType, ShapeVar, TypeKind, scalar_type
from .type_functor import TypeFunctor, TypeMutator, TypeVisitor
from .with_fields import (
    CallWithFields,
    ConstantWithFields,
    FunctionWithFields,
    IfWithFields,
    LetWithFields,
    RefCreateWithFields,
    RefReadWithFields,
    RefWriteWithFields,
    TupleGetItemWithFields,
    TupleWithFields,
    VarWithFields,
)

__all__ = [
    "CallWithFields",
    "ConstantWithFields",
    "Constructor",
    "Executor",
    "Expr",
    "ExprFunctor",
    "ExprMutator",
    "ExprVisitor",
    "FuncType",
    "FunctionWithFields",
    "GlobalTypeVar",
    "GlobalVar",
    "IfWithFields",
    "IncompleteType",
    "LetWithFields",
    "PatternMutator",
    "PatternVisitor",
    "Prelude",
    "RefCreateWithFields",
    "RefReadWithFields",
    "RefType",
    "RefWriteWithFields",
    "RelayExpr",
    "ScopeBuilder",
    "SequentialSpan",
    "ShapeVar",
    "SourceName",
    "Span",
    "TensorType",
    "TupleGetItemWithFields",
    "TupleType",
    "TupleWithFields",
    "TupleWrapper",
    "Type",
    "TypeCall",
    "TypeConstraint",
    "TypeData",
    "TypeFunctor",
    "TypeKind",
    "TypeMutator",
    "TypeRelation",
    "TypeVar",
    "TypeVisitor",
    "VarWithFields",
    "adt",
    "analysis",
    "annotation",
    "attrs",
    "bind",
    "build_module",
    "const",
    "create_executor",
    "dataflow_pattern",
    "dedup",
    "evaluate_call",
    "expr_functor",
    "nn",
    "op",
    "post_order_rewrite",
    "pretty_print",
    "scalar_type",
    "testing",
    "transform",
    "ty",
    "type_functor",
    "var",
]
# The namespace of attributes is among the types, too. Checkers do not read comprehensions.
if TYPE_CHECKING:
    __all__ += _types.__all__
else:
    __all__ += [name for name in _types.__all__ if name not in __all__]
__all__ += _reduce.__all__
__all__ += _tensor.__all__
__all__ += _transform.__all__
