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
    >>> for _ in range(30_000):
    ...     expr = relay.Tuple([expr])
    >>> depth = Depth()
    >>> depth.visit(expr)
    >>> depth.deepest
    30000
"""

from __future__ import annotations

from types import GeneratorType
from typing import TYPE_CHECKING, Any

from ._functor import Functor, identity, refusal, rewrite_of, silence, visit_of, with_fields

if TYPE_CHECKING:
    from collections.abc import Generator

    Steps = Generator[Any, Any, Any]

__all__ = ["ExprFunctor", "ExprMutator", "ExprVisitor"]


class ExprFunctor(Functor):
    """A function of expressions, with a method for each class.

    The result for an expression is computed once and kept in `memo_map`, even a None,
    until the functor ends: a second `visit` of the same expression returns it. Results of
    `visit` with further arguments, which methods get after the expression, depend on these
    and are not kept. The methods of this class raise NotImplementedError.

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

    visit_function = visit_let = visit_call = visit_var = visit_if = visit_tuple = refusal
    visit_tuple_getitem = visit_global_var = visit_op = visit_constant = refusal
    visit_ref_create = visit_ref_write = visit_ref_read = visit_constructor = refusal
    visit_match = refusal

    # The attributes as the last outermost visit left them.
    _left: Any = None

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

    def visit_type(self, typ: Any) -> Any:
        """The result for a type: by default the type itself."""
        return typ


def _remembered(memo: dict[Any, Any], node: Any, running: Steps) -> Steps:
    result = yield from running
    memo[node] = result
    return result


# The attributes of functors that are not those of a subclass.
_OWN = frozenset({"memo_map", "_arriving", "_engine", "_left", "_started"})

_SIZED = (list, set, dict)


def _state(functor: Any) -> dict[str, tuple[Any, int]]:
    """The attributes of a functor: their values, with the sizes of collections."""
    return {
        name: (value, len(value) if isinstance(value, _SIZED) else 0)
        for name, value in vars(functor).items()
        if name not in _OWN
    }


def _is_reset(before: dict[str, tuple[Any, int]], now: dict[str, tuple[Any, int]]) -> bool:
    """True if an attribute is another object, or a collection has become smaller."""
    return before.keys() != now.keys() or any(
        value is not now[name][0] or size > now[name][1] for name, (value, size) in before.items()
    )


class ExprVisitor(ExprFunctor):
    """Visits every expression below one, each once until the visitor is reset.

    A visitor remembers the expressions of earlier calls of `visit` in `memo_map`, with the
    results of their methods. It forgets them if it was reset since the last of these calls: an
    attribute was set to another object, or a list, set or dict of an attribute has become
    smaller. So a check that sets a field before each visit always gives the same answer, and
    a check that looks at results alone never visits an expression twice.

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

    _remembers = True

    visit_var = visit_global_var = visit_op = visit_constant = visit_constructor = silence
    visit_function = visit_of("params", "body")
    visit_let = visit_of("var", "value", "body")
    visit_call = visit_of("op", "args")
    visit_if = visit_of("cond", "true_branch", "false_branch")
    visit_tuple = visit_of("fields")
    visit_tuple_getitem = visit_of("tuple_value")
    visit_ref_create = visit_of("value")
    visit_ref_write = visit_of("ref", "value")
    visit_ref_read = visit_of("ref")

    def _resume(self) -> None:
        if self._left is not None and _is_reset(self._left, _state(self)):
            self.memo_map = {}

    def _pause(self) -> None:
        self._left = _state(self)

    def visit_match(self, m: Any, *args: Any) -> Any:  # noqa: ARG002
        """Visit the value and the result of each clause."""
        yield m.data
        for clause in m.clauses:
            yield clause.rhs


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

    _rewrites = True

    visit_var = visit_global_var = visit_op = visit_constant = visit_constructor = identity
    visit_function = rewrite_of("params", "body")
    visit_let = rewrite_of("var", "value", "body")
    visit_call = rewrite_of("op", "args")
    visit_if = rewrite_of("cond", "true_branch", "false_branch")
    visit_tuple = rewrite_of("fields")
    visit_tuple_getitem = rewrite_of("tuple_value")
    visit_ref_create = rewrite_of("value")
    visit_ref_write = rewrite_of("ref", "value")
    visit_ref_read = rewrite_of("ref")

    def visit_match(self, m: Any, *args: Any) -> Any:  # noqa: ARG002
        """Rewrite the value and the result of each clause."""
        data = yield m.data
        clauses = []
        for clause in m.clauses:
            clauses.append(with_fields(clause, {"rhs": (yield clause.rhs)}))
        return with_fields(m, {"data": data, "clauses": clauses})
