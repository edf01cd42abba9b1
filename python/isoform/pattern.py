"""Patterns: templates with holes, found in values and replaced by rule.

A `Pattern` is a value of any IR, the template, with a selection of variables declared
holes. It matches any value that is structurally equal after filling every hole with a
part; a `Rule` replaces the matches of a pattern, and `rewrite` applies rules until none
applies. The page `docs/pattern.md` explains the matches of holes and variables.

    >>> from isoform import tir
    >>> from isoform.pattern import Pattern, Rule, rewrite
    >>> x, a, b = (tir.Var(name, "int32") for name in "xab")
    >>> times_one = Pattern(tir.Mul(x, 1), holes=[x])
    >>> found = times_one.match(tir.Mul(tir.Add(a, b), 1))
    >>> found[x].same_as(found.value.a)
    True
    >>> times_one.match(tir.Mul(a, 2)) is None
    True
    >>> rule = Rule(times_one, x)
    >>> done = rewrite(tir.Min(tir.Mul(a, 1), tir.Mul(tir.Mul(b, 1), 1)), [rule])
    >>> done.value.a.same_as(a), done.value.b.same_as(b), done.applied
    (True, True, (3,))

A hole may ask for a class, or a function about the part:

    >>> from isoform.pattern import Hole
    >>> n = tir.Var("n", "int32")
    >>> even = Hole(n, cls=tir.IntImm, guard=lambda part: part.value % 2 == 0)
    >>> halves = Pattern(tir.FloorDiv(x, n), holes=[x, even])
    >>> halves.match(tir.FloorDiv(a, 4))[n].value
    4
    >>> halves.match(tir.FloorDiv(a, 3)) is None
    True
    >>> halves.explain(tir.FloorDiv(a, 3)).reason
    'the guard of the hole says no'

`rewrite_greedily` visits again only what a replacement may have changed, and its rules may ask
for the users of objects and look through definitions:

    >>> from isoform.pattern import rewrite_greedily
    >>> times_one = Pattern(tir.Mul(x, 1), x, commutative=True)
    >>> rewrite_greedily(tir.Mul(tir.Mul(a, 1), 1), Rule(times_one, x)).value is a
    True

A `GraphPattern` binds each of its nodes to a vertex of the program, with alternatives, paths of
any length and groups that nothing else uses:

    >>> from isoform.pattern import AnyVertex, VertexOf
    >>> y = AnyVertex()
    >>> either = VertexOf(tir.Mul, a=y, b=y) | VertexOf(tir.Add, a=y, b=y)
    >>> either.match(tir.Add(a, a))[y] is a, either.match(tir.Add(a, b))
    (True, None)
"""

from isoform._core import Hole, Match, Pattern, Rewritten, Rule, rewrite, rewrite_greedily
from isoform._graph import Graph
from isoform._graph_groups import Group
from isoform._graph_pattern import (
    Alternatives,
    AnyVertex,
    Condition,
    Dominance,
    EqualVertex,
    GraphPattern,
    VertexOf,
)
from isoform._graph_search import GraphMatch, GraphMismatch

__all__ = [
    "Alternatives",
    "AnyVertex",
    "Condition",
    "Dominance",
    "EqualVertex",
    "Graph",
    "GraphMatch",
    "GraphMismatch",
    "GraphPattern",
    "Group",
    "Hole",
    "Match",
    "Pattern",
    "Rewritten",
    "Rule",
    "VertexOf",
    "rewrite",
    "rewrite_greedily",
]
