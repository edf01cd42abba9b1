"""Rules and partitions: what dataflow patterns do to expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform._messages import key_of
from isoform.ir import _api
from isoform.relay.expr import dedup
from isoform.structural import structural_equal
from isoform.types.relay import Call, Function, Var

from .graph import ExprGraph, Inference, checked_expr, checked_pattern
from .patterns import FunctionPattern

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoform._graph_groups import Group
    from isoform._graph_search import GraphMatch

__all__ = [
    "DFPatternCallback",
    "NodeMap",
    "match",
    "partition",
    "rewrite",
]

# Rounds over all callbacks, after which a rewrite is an error.
MAX_ROUNDS = 100


class DFPatternCallback:
    """A rule: a pattern, and a function that makes the replacement of a match.

    A subclass sets `pattern`, and defines `callback`.

    Args:
        require_type: Infer the types of the program before each round.
        rewrite_once: Use the rule in the first round only.
    """

    pattern: Any = None
    require_type: bool = False
    rewrite_once: bool = False

    def __init__(self, require_type: bool = False, rewrite_once: bool = False) -> None:
        """Make a rule without a pattern."""
        self.pattern = None
        self.require_type = require_type
        self.rewrite_once = rewrite_once

    def rewrite(self, expr: Any) -> Any:
        """Return an expression rewritten by this rule alone; see `rewrite`.

        Args:
            expr: The expression.
        """
        return rewrite(self, expr)

    def callback(self, pre: Any, post: Any, node_map: NodeMap) -> Any:
        """Return the replacement of a match; `post` keeps the expression.

        Args:
            pre: The expression that matched.
            post: The same expression after the rewrites below.
            node_map: The expressions of the patterns after the rewrites below.
        """
        raise NotImplementedError(f"{type(self).__name__}.callback")


class NodeMap(dict[Any, Any]):
    """The expressions of a match by pattern, each a tuple, as a callback receives them."""

    def __missing__(self, pattern: Any) -> Any:
        """Raise KeyError for a pattern that the match does not involve."""
        raise KeyError(
            f"node_map: the match does not involve this {type(pattern).__name__}; write "
            "`pattern in node_map` to ask for an optional part"
        )


def match(pattern: Any, expr: Any) -> bool:
    """Return whether a pattern matches an expression.

    Args:
        pattern: The pattern.
        expr: The expression.
    """
    graph = ExprGraph(checked_expr(expr, "match"))
    return graph.match(checked_pattern(pattern, "match.pattern"), graph.root) is not None


def rewrite(callbacks: Any, expr: Any, mod: Any = None) -> Any:
    """Return an expression rewritten by rules until none of them changes anything.

    In each round, every rule in turn replaces the disjoint matches of the present expression,
    found from the root downwards. A match is left alone if an expression inside belongs to
    another match of the round, or has a user outside that does not lead back to the root of the
    match. An expression that matches only after the replacements below is replaced in the same
    round if nothing but inputs, operators and constants are inside.

    Args:
        callbacks: A `DFPatternCallback`, or several.
        expr: The expression.
        mod: The module that defines the functions named in the expression, for inference.

    Raises ValueError if the rules still change the expression in the round number 100,
    TypeError for a callback that does not return an expression. A round is linear in the
    expression, plus an attempt to match for each expression outside of the matches.

    >>> from isoform import relay
    >>> from isoform.relay.dataflow_pattern import is_expr, wildcard
    >>> class NoZero(DFPatternCallback):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.x = wildcard()
    ...         self.pattern = self.x + is_expr(relay.const(0))
    ...
    ...     def callback(self, pre, post, node_map):
    ...         return node_map[self.x][0]
    >>> x = relay.var("x")
    >>> rewrite(NoZero(), relay.const(0) + (x + relay.const(0))) is x
    True
    """
    rules = [callbacks] if isinstance(callbacks, DFPatternCallback) else list(callbacks)
    for rule in rules:
        if not isinstance(rule, DFPatternCallback):
            raise TypeError(f"rewrite.callbacks: expected DFPatternCallbacks, got {key_of(rule)}")
        checked_pattern(rule.pattern, f"{type(rule).__name__}.pattern")
    post = checked_expr(expr, "rewrite")
    active = rules
    inference = Inference(mod)
    for round_number in range(MAX_ROUNDS):
        last = post
        if round_number == 1:
            active = [rule for rule in rules if not rule.rewrite_once]
        for rule in active:
            post = _rewritten(rule, post, inference)
        if not active or structural_equal(last, post, map_free_vars=True):
            return post
    names = ", ".join(type(rule).__name__ for rule in active)
    raise ValueError(
        f"rewrite: {names} changed the expression in each of {MAX_ROUNDS} rounds; return `post` "
        "where nothing is left to do, or set `rewrite_once`"
    )


def partition(
    pattern: Any,
    expr: Any,
    attrs: Mapping[str, Any] | None = None,
    check: Callable[[Any], bool] = lambda _expr: True,
) -> Any:
    """Return an expression with calls of new functions in the place of matches.

    The function computes the match from its inputs: the expressions of the patterns without
    parts. Constants of `is_constant()` and `is_expr` are part of the function. Its attribute
    `PartitionedFromPattern` lists the operators inside: `nn.conv2d_nn.relu_`. Matches are
    disjoint, and uses outside of an expression inside lead back to the root of the match.
    Functions made by an earlier partition, and everything inside, are left alone. A
    `FunctionPattern` alone makes no functions.

    A match stays as it is if an input lies in a branch or a scope inside of the match, or if an
    effect would occur twice or in another order; `ExprGraph.refusals` gives the reasons.

    Args:
        pattern: The pattern.
        expr: The expression.
        attrs: More attributes of the functions.
        check: Returns whether to replace a match, given the expression that matched.

    Linear in the expression, plus an attempt to match for each expression outside of the
    matches.

    >>> from isoform import relay
    >>> from isoform.relay.dataflow_pattern import is_op, wildcard
    >>> x = relay.var("x")
    >>> pattern = is_op("nn.relu")(is_op("exp")(wildcard()))
    >>> made = partition(pattern, relay.nn.relu(relay.exp(x)), {"Composite": "demo"})
    >>> made.op.attrs["PartitionedFromPattern"], made.op.attrs["Composite"], made.args[0] is x
    ('exp_nn.relu_', 'demo', True)
    """
    graph = ExprGraph(checked_expr(expr, "partition"))
    if isinstance(checked_pattern(pattern, "partition.pattern"), FunctionPattern):
        return graph.root
    groups = [
        group
        for group in graph.groups(pattern, to_extract=True)
        if not graph.is_common(group.root)
        and not any(value is group.root for value in group.inputs)
    ]
    numbers = {id(group): number for number, group in enumerate(groups)}

    def function_call(group: Group, post: Any, image: Callable[[Any], Any]) -> Any:
        if not check(group.root):
            return post
        name = f"FunctionVar_{numbers[id(group)]}_"
        params = [_api.made(Var, f"{name}{position}") for position in range(len(group.inputs))]
        function = _api.made(Function, params, graph.extract(group, params))
        if len(graph.closure(group)) > len(group.members):
            # Parts of a copied function may have other users, and bind variables.
            function = dedup(function)
        function = function.with_attr("PartitionedFromPattern", graph.group_name(group))
        for key, value in (attrs or {}).items():
            function = function.with_attr(key, value)
        return _api.made(Call, function, [image(value) for value in group.inputs])

    return graph.replace(groups, function_call)


def _rewritten(rule: DFPatternCallback, expr: Any, inference: Inference) -> Any:
    """An expression after one round of a rule."""
    if rule.require_type:
        expr = inference.typed(expr)
    graph = ExprGraph(expr, inference)

    def replacement(found: GraphMatch, post: Any, image: Callable[[Any], Any]) -> Any:
        node_map = NodeMap(
            {part: tuple(image(value) for value in bound) for part, bound in found.bindings.items()}
        )
        made = rule.callback(found.root, post, node_map)
        return checked_expr(made, f"{type(rule).__name__}.callback")

    cascade = not (rule.require_type or rule.rewrite_once)
    return graph.rewrite(rule.pattern, replacement, cascade=cascade)
