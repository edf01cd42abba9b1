"""Functors, visitors and mutators of expressions.

They are functors of `isoform.visitors`, with the names and orders of Relay. A method
that needs the result for another expression may be a generator: `yield expr` waits for
it without nesting in Python, limited only by memory. All defaults are generators;
`yield Later(super().visit_call, call)` goes on with a default. A method that calls
`self.visit(expr)` nests in Python.

    >>> from isoform import relay
    >>> from isoform.visitors import Later
    >>> class Depth(relay.ExprVisitor):
    ...     deepest = depth = 0
    ...
    ...     def visit_tuple(self, tup):
    ...         self.depth += 1
    ...         self.deepest = max(self.deepest, self.depth)
    ...         yield Later(super().visit_tuple, tup)
    ...         self.depth -= 1
    >>> expr = relay.var("x")
    >>> for _ in range(100_000):
    ...     expr = relay.Tuple([expr])
    >>> depth = Depth()
    >>> depth.visit(expr)
    >>> depth.deepest
    100000
"""

from __future__ import annotations

from types import GeneratorType
from typing import TYPE_CHECKING, Any

from isoform.ir import _api

from ._functor import Functor
from .with_fields import (
    CallWithFields,
    FunctionWithFields,
    IfWithFields,
    LetWithFields,
    RefCreateWithFields,
    RefReadWithFields,
    RefWriteWithFields,
    TupleGetItemWithFields,
    TupleWithFields,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    Steps = Generator[Any, Any, Any]

__all__ = ["ExprFunctor", "ExprMutator", "ExprVisitor"]

_with_fields = _api.function("relay.ir.with_fields")


class ExprFunctor(Functor):
    """A function of expressions, with a method for each class.

    The result for an expression is computed once and kept in `memo_map`, even a None,
    until the functor ends: a second `visit` of the same expression returns it. The
    methods of this class raise NotImplementedError.

    >>> from isoform import relay
    >>> class Size(relay.ExprFunctor):
    ...     def visit_var(self, var):
    ...         return 1
    ...
    ...     def visit_tuple(self, tup):
    ...         size = 1
    ...         for field in tup.fields:
    ...             size += yield field
    ...         return size
    >>> x = relay.var("x")
    >>> Size().visit(relay.Tuple([x, relay.Tuple([x, x])]))
    5
    """

    def __init__(self) -> None:
        """Begin without results."""
        self.memo_map: dict[Any, Any] = {}

    def _call(self, node: Any) -> Any:
        # A subclass that does not call this class's constructor has results, too.
        memo = self.__dict__.setdefault("memo_map", {})
        if node in memo:
            return memo[node]
        result = super()._call(node)
        if isinstance(result, GeneratorType):
            return _remembered(memo, node, result)
        memo[node] = result
        return result

    def visit_function(self, fn: Any) -> Any:
        """The result for a function."""
        raise NotImplementedError

    def visit_let(self, let: Any) -> Any:
        """The result for a binding."""
        raise NotImplementedError

    def visit_call(self, call: Any) -> Any:
        """The result for a call."""
        raise NotImplementedError

    def visit_var(self, var: Any) -> Any:
        """The result for a variable."""
        raise NotImplementedError

    def visit_type(self, typ: Any) -> Any:
        """The result for a type: by default the type itself."""
        return typ

    def visit_if(self, if_: Any) -> Any:
        """The result for a choice."""
        raise NotImplementedError

    def visit_tuple(self, tup: Any) -> Any:
        """The result for a tuple."""
        raise NotImplementedError

    def visit_tuple_getitem(self, op: Any) -> Any:
        """The result for an item of a tuple."""
        raise NotImplementedError

    def visit_global_var(self, gvar: Any) -> Any:
        """The result for a global variable."""
        raise NotImplementedError

    def visit_op(self, op: Any) -> Any:
        """The result for an operator."""
        raise NotImplementedError

    def visit_constant(self, const: Any) -> Any:
        """The result for a constant."""
        raise NotImplementedError

    def visit_ref_create(self, ref: Any) -> Any:
        """The result for the creation of a reference."""
        raise NotImplementedError

    def visit_ref_write(self, ref: Any) -> Any:
        """The result for the writing to a reference."""
        raise NotImplementedError

    def visit_ref_read(self, ref: Any) -> Any:
        """The result for the reading of a reference."""
        raise NotImplementedError

    def visit_constructor(self, con: Any) -> Any:
        """The result for a constructor."""
        raise NotImplementedError

    def visit_match(self, m: Any) -> Any:
        """The result for a match."""
        raise NotImplementedError


def _remembered(memo: dict[Any, Any], node: Any, running: Steps) -> Steps:
    result = yield from running
    memo[node] = result
    return result


class ExprVisitor(ExprFunctor):
    """Visits every expression below one, each once.

    The order is that of the fields: parameters and body of a function; variable, value
    and body of a binding; callee and arguments of a call; data and results of a match.
    Types, attributes and patterns are not visited. Depth is limited by memory only if
    overrides are generators. Linear in the number of expressions.

    >>> from isoform import relay
    >>> class Names(relay.ExprVisitor):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.names = []
    ...
    ...     def visit_var(self, var):
    ...         self.names.append(var.name_hint)
    >>> x, y = relay.var("x"), relay.var("y")
    >>> names = Names()
    >>> names.visit(relay.Let(x, y, relay.Tuple([x, y])))
    >>> names.names
    ['x', 'y']
    """

    def visit_tuple(self, tup: Any) -> Any:
        """Visit the fields."""
        yield from _each(tup.fields)

    def visit_call(self, call: Any) -> Any:
        """Visit the callee and the arguments."""
        yield call.op
        yield from _each(call.args)

    def visit_var(self, var: Any) -> Any:
        """Do nothing."""

    def visit_let(self, let: Any) -> Any:
        """Visit variable, value and body."""
        yield let.var
        yield let.value
        yield let.body

    def visit_function(self, fn: Any) -> Any:
        """Visit parameters and body."""
        yield from _each(fn.params)
        yield fn.body

    def visit_if(self, if_: Any) -> Any:
        """Visit the condition and both branches."""
        yield if_.cond
        yield if_.true_branch
        yield if_.false_branch

    def visit_global_var(self, gvar: Any) -> Any:
        """Do nothing."""

    def visit_constructor(self, con: Any) -> Any:
        """Do nothing."""

    def visit_op(self, op: Any) -> Any:
        """Do nothing."""

    def visit_constant(self, const: Any) -> Any:
        """Do nothing."""

    def visit_ref_create(self, ref: Any) -> Any:
        """Visit the value."""
        yield ref.value

    def visit_ref_read(self, ref: Any) -> Any:
        """Visit the reference."""
        yield ref.ref

    def visit_ref_write(self, ref: Any) -> Any:
        """Visit the reference and the value."""
        yield ref.ref
        yield ref.value

    def visit_tuple_getitem(self, op: Any) -> Any:
        """Visit the tuple."""
        yield op.tuple_value

    def visit_match(self, m: Any) -> Any:
        """Visit the value and the result of each clause."""
        yield m.data
        yield from _each(clause.rhs for clause in m.clauses)


def _each(exprs: Any) -> Steps:
    """Visit expressions, whose results are sent here."""
    for expr in exprs:  # noqa: UP028
        yield expr


def _all(exprs: Any) -> Steps:
    """The results for expressions."""
    results = []
    for expr in exprs:
        results.append((yield expr))
    return results


class ExprMutator(ExprFunctor):
    """Rewrites expressions: the result of a method comes in place of its expression.

    By default an expression is rebuilt if something below it changes, and is the same
    object otherwise; the copy keeps span, checked type and attributes. The order is that
    of `ExprVisitor`. Depth is limited by memory only if overrides are generators. Linear
    in the number of expressions.

    >>> from isoform import relay
    >>> class Collapse(relay.ExprMutator):
    ...     def visit_if(self, if_):
    ...         return (yield if_.true_branch)
    >>> c, x, y = (relay.var(name) for name in "cxy")
    >>> Collapse().visit(relay.Tuple([relay.If(c, relay.If(c, x, y), y)]))[0] is x
    True
    """

    def visit_function(self, fn: Any) -> Any:
        """Rewrite parameters and body."""
        params = yield from _all(fn.params)
        body = yield fn.body
        return FunctionWithFields(fn, params, body)

    def visit_let(self, let: Any) -> Any:
        """Rewrite variable, value and body."""
        var = yield let.var
        value = yield let.value
        body = yield let.body
        return LetWithFields(let, var, value, body)

    def visit_call(self, call: Any) -> Any:
        """Rewrite the callee and the arguments."""
        op = yield call.op
        args = yield from _all(call.args)
        return CallWithFields(call, op, args)

    def visit_var(self, var: Any) -> Any:
        """Keep the variable."""
        return var

    def visit_global_var(self, gvar: Any) -> Any:
        """Keep the global variable."""
        return gvar

    def visit_if(self, if_: Any) -> Any:
        """Rewrite the condition and both branches."""
        cond = yield if_.cond
        true_branch = yield if_.true_branch
        false_branch = yield if_.false_branch
        return IfWithFields(if_, cond, true_branch, false_branch)

    def visit_tuple(self, tup: Any) -> Any:
        """Rewrite the fields."""
        fields = yield from _all(tup.fields)
        return TupleWithFields(tup, fields)

    def visit_tuple_getitem(self, op: Any) -> Any:
        """Rewrite the tuple."""
        return TupleGetItemWithFields(op, (yield op.tuple_value))

    def visit_op(self, op: Any) -> Any:
        """Keep the operator."""
        return op

    def visit_constant(self, const: Any) -> Any:
        """Keep the constant."""
        return const

    def visit_constructor(self, con: Any) -> Any:
        """Keep the constructor."""
        return con

    def visit_match(self, m: Any) -> Any:
        """Rewrite the value and the result of each clause."""
        data = yield m.data
        clauses = []
        for clause in m.clauses:
            clauses.append(_with_fields(clause, {"rhs": (yield clause.rhs)}))
        return _with_fields(m, {"data": data, "clauses": clauses})

    def visit_ref_create(self, ref: Any) -> Any:
        """Rewrite the value."""
        return RefCreateWithFields(ref, (yield ref.value))

    def visit_ref_write(self, ref: Any) -> Any:
        """Rewrite the reference and the value."""
        reference = yield ref.ref
        value = yield ref.value
        return RefWriteWithFields(ref, reference, value)

    def visit_ref_read(self, ref: Any) -> Any:
        """Rewrite the reference."""
        return RefReadWithFields(ref, (yield ref.ref))
