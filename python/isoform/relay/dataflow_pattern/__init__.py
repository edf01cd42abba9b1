"""Dataflow patterns under the names of TVM: match, rewrite and partition expressions.

A pattern is built like the expression, from `wildcard()`, `is_op("nn.conv2d")` and the other
functions here:

>>> from isoform import relay
>>> from isoform.relay.dataflow_pattern import DFPatternCallback, is_op, rewrite, wildcard
>>> class ReluMerger(DFPatternCallback):
...     def __init__(self):
...         super().__init__()
...         self.x = wildcard()
...         self.pattern = is_op("nn.relu")(is_op("nn.relu")(self.x))
...
...     def callback(self, pre, post, node_map):
...         return relay.nn.relu(node_map[self.x][0])
>>> x = relay.var("x")
>>> rewrite(ReluMerger(), relay.nn.relu(relay.nn.relu(relay.nn.relu(x)))).args[0] is x
True
>>> print(is_op("nn.relu")(wildcard()).explain(relay.exp(x)))
<root>: expected the operator nn.relu, got exp

Matching, groups and replacement are those of `isoform.pattern.GraphPattern`, for every IR; this
module adds the forms of Relay. The page `docs/relay-patterns.md` shows each form.
"""

from .forms import (
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    has_type,
    is_alt,
    is_constant,
    is_expr,
    is_function,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from .graph import ExprGraph
from .patterns import (
    AltPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataTypePattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
)
from .rewriting import DFPatternCallback, NodeMap, match, partition, rewrite

__all__ = [
    "AltPattern",
    "AttrPattern",
    "CallPattern",
    "ConstantPattern",
    "DFPattern",
    "DFPatternCallback",
    "DataTypePattern",
    "DominatorPattern",
    "ExprGraph",
    "ExprPattern",
    "FunctionPattern",
    "IfPattern",
    "LetPattern",
    "NodeMap",
    "ShapePattern",
    "TupleGetItemPattern",
    "TuplePattern",
    "TypePattern",
    "VarPattern",
    "WildcardPattern",
    "dominates",
    "has_attr",
    "has_dtype",
    "has_shape",
    "has_type",
    "is_alt",
    "is_constant",
    "is_expr",
    "is_function",
    "is_if",
    "is_let",
    "is_op",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "match",
    "partition",
    "rewrite",
    "wildcard",
]
