"""The functions that make dataflow patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.ir.op import Op

from .patterns import (
    AltPattern,
    AttrPattern,
    ConstantPattern,
    DataTypePattern,
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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
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
    "wildcard",
]


def wildcard() -> WildcardPattern:
    """Return the pattern of any expression.

    >>> from isoform import relay
    >>> wildcard().match(relay.var("x"))
    True
    """
    return WildcardPattern()


def is_var(name: str = "") -> VarPattern:
    """Return the pattern of variables.

    Args:
        name: The name; by default, any.

    >>> from isoform import relay
    >>> is_var("x").match(relay.var("x")), is_var("x").match(relay.var("y"))
    (True, False)
    """
    return VarPattern(name)


def is_constant() -> ConstantPattern:
    """Return the pattern of constants.

    >>> from isoform import relay
    >>> is_constant().match(relay.const(1)), is_constant().match(relay.var("x"))
    (True, False)
    """
    return ConstantPattern()


def is_expr(expr: Any) -> ExprPattern:
    """Return the pattern of expressions structurally equal to an expression.

    Args:
        expr: The expression.

    >>> from isoform import relay
    >>> is_expr(relay.const(0)).match(relay.const(0))
    True
    """
    return ExprPattern(expr)


def is_op(op_name: str) -> ExprPattern:
    """Return the pattern of an operator; call it with patterns for a call of the operator.

    Args:
        op_name: The name.

    Raises AttributeError for an unregistered name.

    >>> from isoform import relay
    >>> is_op("exp")(wildcard()).match(relay.exp(relay.var("x")))
    True
    """
    return ExprPattern(Op.get(op_name))


def is_tuple(fields: Sequence[Any] | None = None) -> TuplePattern:
    """Return the pattern of tuples.

    Args:
        fields: The patterns of the fields; None for any fields.

    >>> from isoform import relay
    >>> is_tuple([wildcard()]).match(relay.Tuple([relay.const(1)]))
    True
    """
    return TuplePattern(fields)


def is_tuple_get_item(tuple_value: Any, index: int | None = None) -> TupleGetItemPattern:
    """Return the pattern of items of tuples.

    Args:
        tuple_value: The pattern of the tuple.
        index: The index; None for any index.
    """
    return TupleGetItemPattern(tuple_value, index)


def is_if(cond: Any, true_branch: Any, false_branch: Any) -> IfPattern:
    """Return the pattern of choices.

    Args:
        cond: The pattern of the condition.
        true_branch: The pattern of the value for a true condition.
        false_branch: The pattern of the value for a false condition.
    """
    return IfPattern(cond, true_branch, false_branch)


def is_let(var: Any, value: Any, body: Any) -> LetPattern:
    """Return the pattern of bindings.

    Args:
        var: The pattern of the variable.
        value: The pattern of its value.
        body: The pattern of the result.
    """
    return LetPattern(var, value, body)


def is_function(params: Sequence[Any] | None, body: Any) -> FunctionPattern:
    """Return the pattern of functions.

    Args:
        params: The patterns of the parameters; None for any parameters.
        body: The pattern of the body.
    """
    return FunctionPattern(params, body)


def is_alt(left: Any, right: Any) -> AltPattern:
    """Return the pattern of expressions of either pattern: `left | right`.

    Args:
        left: A pattern.
        right: The other pattern.
    """
    return AltPattern(left, right)


def has_attr(attrs: Mapping[str, Any], pattern: Any = None) -> AttrPattern:
    """Return the pattern of expressions with attributes; see `AttrPattern`.

    Args:
        attrs: The values by name.
        pattern: The pattern of the expression; by default, anything.

    >>> from isoform import relay
    >>> x = relay.var("x")
    >>> has_attr({"axis": 1}).match(relay.nn.softmax(x, axis=1))
    True
    """
    return AttrPattern(wildcard() if pattern is None else pattern, attrs)


def has_type(ttype: Any, pattern: Any = None) -> TypePattern:
    """Return the pattern of expressions of a type; see `TypePattern`.

    Args:
        ttype: The type.
        pattern: The pattern of the expression; by default, anything.
    """
    return TypePattern(wildcard() if pattern is None else pattern, ttype)


def has_dtype(dtype: Any, pattern: Any = None) -> DataTypePattern:
    """Return the pattern of tensors of a data type.

    Args:
        dtype: The data type.
        pattern: The pattern of the expression; by default, anything.

    >>> from isoform import relay
    >>> has_dtype("int8").match(relay.var("x", shape=(2,), dtype="int8"))
    True
    """
    return DataTypePattern(wildcard() if pattern is None else pattern, dtype)


def has_shape(shape: Sequence[Any], pattern: Any = None) -> ShapePattern:
    """Return the pattern of tensors of a shape.

    Args:
        shape: The sizes.
        pattern: The pattern of the expression; by default, anything.

    >>> from isoform import relay
    >>> has_shape((2, 3)).match(relay.var("x", shape=(2, 3)))
    True
    """
    return ShapePattern(wildcard() if pattern is None else pattern, shape)


def dominates(parent: Any, path: Any, child: Any) -> DominatorPattern:
    """Return the pattern of a child that all paths from a parent lead to.

    Args:
        parent: The pattern of the expression above.
        path: The pattern of every expression between.
        child: The pattern of the expression below.
    """
    return DominatorPattern(parent, path, child)
