"""Patterns over the vertices of a program graph; exported by `isoform.pattern`.

A template compares whole values up to renaming, and a hole stands for one part. A graph
pattern is a graph itself: every node of the pattern is bound to a vertex, may have
alternatives, and may ask for the users of a vertex. Both kinds of pattern therefore have
their own matcher: this module holds the second kind, in one loop without recursion.

| class | vertices |
|---|---|
| `AnyVertex` | all |
| `VertexOf` | of a class, with patterns for fields |
| `EqualVertex` | structurally equal to a value |
| `Condition` | accepted by a function |
| `Alternatives` | of one of several patterns |
| `Dominance` | that all paths from another vertex lead to |

A new form is a subclass of `GraphPattern` with `parts` and `branches`.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform._graph import Graph
from isoform._graph_search import NOTE, GraphMismatch, Plan, Search, is_equal
from isoform._messages import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Goal = tuple[Any, Any]
    Branch = Sequence[Goal]

__all__ = [
    "Alternatives",
    "AnyVertex",
    "Condition",
    "Dominance",
    "EqualVertex",
    "GraphPattern",
    "VertexOf",
]


class GraphPattern:
    """A pattern of vertices; within a match, each pattern is bound to a single vertex.

    Subclasses define `parts`, the patterns inside, and `branches`, the ways to match.

    Example:
        >>> from isoform import tir
        >>> from isoform.pattern import AnyVertex, VertexOf
        >>> a, b = (tir.Var(name, "int32") for name in "ab")
        >>> x = AnyVertex()
        >>> square = VertexOf(tir.Mul, a=x, b=x)
        >>> square.match(tir.Mul(a, a))[x] is a
        True
        >>> print(square.explain(tir.Mul(a, b)))
        <root>.b: expected the vertex bound to the same pattern before, got tir.Var
    """

    # True for a pattern that other patterns make for their own use; matches do not list it.
    is_hidden = False
    # True if `branches` looks at nothing but the vertex and its parts.
    is_local = False
    # The reason of a failure after all branches.
    exhausted = "no alternative matches"

    def parts(self) -> Sequence[GraphPattern]:
        """Return the patterns inside, in the order of the inputs of a group."""
        return ()

    def aliases(self) -> Sequence[GraphPattern]:
        """Return the patterns inside that are matched with the vertex itself, not a part of it.

        A pattern that leads to itself along these is an error.
        """
        return ()

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:
        """Return the ways to match a vertex, or the reason why there is none.

        A way is a sequence of pairs of a pattern and a vertex that it has to match; the first
        way that leads to a match counts.

        Args:
            value: The vertex.
            graph: The program.
        """
        raise NotImplementedError(f"{type(self).__name__}.branches")

    def interior(self) -> Sequence[GraphPattern]:
        """Return the patterns inside whose vertices are never inputs of a group."""
        return ()

    def inputs(self, value: Any) -> Sequence[Any]:
        """Return the vertices that a group reads where the pattern matched a vertex.

        Args:
            value: The vertex. By default, it is the input of a pattern without parts.
        """
        return () if self.parts() else (value,)

    def match(self, root: Any, /) -> Any:
        """Return the `GraphMatch` of the pattern with a value, or None.

        Args:
            root: The value, or a `Graph`, which is matched at its root.

        Raises ValueError after a million returns to an earlier alternative, for a cyclic
        value, and for a pattern that redirects to itself. O(vertices) for the graph; linear in
        the pattern for the match if no part occurs twice in the pattern, otherwise at most
        exponential in those of its alternatives whose failure depends on bound vertices.
        """
        graph = Graph.of(root)
        return graph.match(self, graph.root)

    def explain(self, root: Any, /) -> GraphMismatch | None:
        """Return the place and the reason why a value does not match; None if it does.

        Of several alternatives, the one that bound the most patterns is explained. Arguments,
        errors and cost are those of `match`.

        Args:
            root: The value, or a `Graph`.
        """
        graph = Graph.of(root)
        search = Search(graph, Plan(self))
        return None if search.run(self, graph.root) else search.mismatch()

    def __or__(self, other: GraphPattern) -> Any:
        """Return the pattern for vertices of this pattern or, if it fails, of another one."""
        return Alternatives(self, other)

    def optional(self, wrap: Callable[[Any], GraphPattern]) -> Any:
        """Return the pattern that also matches a vertex around: `self | wrap(self)`.

        Args:
            wrap: Returns the pattern of the vertex around, from this pattern.
        """
        return self | wrap(self)


class AnyVertex(GraphPattern):
    """Matches any vertex."""

    is_local = True

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the only way, which asks for nothing."""
        return ((),)


class VertexOf(GraphPattern):
    """Matches the objects of a class, with patterns or values for their fields.

    Args:
        cls: The class; subclasses count.
        fields: The pattern of the value in each field, or a plain value equal to the value in
            the field. A list of patterns is matched with the items of an array.

    Example:
        >>> from isoform import tir
        >>> from isoform.pattern import AnyVertex, VertexOf
        >>> a = tir.Var("a", "int32")
        >>> four = VertexOf(tir.IntImm, value=4)
        >>> scaled = VertexOf(tir.Mul, a=AnyVertex(), b=four)
        >>> print(scaled.explain(tir.Mul(a, tir.IntImm("int32", 5))))
        <root>.b: field value: expected 4, got 5
    """

    is_local = True

    def __init__(self, cls: type[Any], **fields: Any) -> None:
        """Make the pattern from a class and the patterns of fields."""
        _core.type_info(cls)
        self.cls = cls
        self.fields = fields

    def parts(self) -> Sequence[GraphPattern]:
        """Return the patterns of the fields."""
        found: list[GraphPattern] = []
        for wanted in self.fields.values():
            items = wanted if isinstance(wanted, list | tuple) else [wanted]
            found.extend(item for item in items if isinstance(item, GraphPattern))
        return found

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the goals for the fields, or the first difference."""
        if not isinstance(value, self.cls):
            return f"expected {key_of(self.cls)}, got {key_of(value)}"
        goals: list[Goal] = []
        for name, wanted in self.fields.items():
            given = getattr(value, name)
            if isinstance(wanted, GraphPattern):
                goals.append((wanted, given))
            elif isinstance(wanted, list | tuple):
                if len(wanted) != len(given):
                    return f"field {name}: expected {len(wanted)} items, got {len(given)}"
                goals.extend(zip(wanted, given, strict=True))
            elif not _core.structural_equal(wanted, given):
                return f"field {name}: expected {wanted!r}, got {given!r}"
        return (goals,)


class EqualVertex(GraphPattern):
    """Matches the vertices that are structurally equal to a value.

    Args:
        value: The value.
    """

    is_local = True

    def __init__(self, value: Any) -> None:
        """Make the pattern of a value."""
        self.value = value

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the only way if the values are equal."""
        return ((),) if is_equal(self.value, value) else "the values are not structurally equal"


class Condition(GraphPattern):
    """Matches the vertices of a pattern that a function accepts.

    Args:
        pattern: The pattern.
        test: The function of the vertex.
        reason: The explanation for vertices that the function refuses.
    """

    is_local = True

    def __init__(
        self, pattern: GraphPattern, test: Callable[[Any], bool], reason: str = "refused"
    ) -> None:
        """Make the pattern from another pattern and a function."""
        self.pattern = pattern
        self.test = test
        self.reason = reason

    def parts(self) -> Sequence[GraphPattern]:
        """Return the pattern inside."""
        return (self.pattern,)

    aliases = parts

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the goal for the pattern inside if the function accepts the vertex."""
        return (((self.pattern, value),),) if self.test(value) else self.reason


class Alternatives(GraphPattern):
    """Matches the vertices of one of several patterns; the first that fits counts.

    Args:
        patterns: The patterns.
    """

    is_local = True

    def __init__(self, *patterns: GraphPattern) -> None:
        """Make the pattern of alternatives."""
        self.patterns = patterns

    def parts(self) -> Sequence[GraphPattern]:
        """Return the alternatives."""
        return self.patterns

    aliases = parts

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return a way for each alternative."""
        return [((pattern, value),) for pattern in self.patterns]


class Dominance(GraphPattern):
    """Matches a child that all paths from a parent lead to.

    Every path from the child upwards along operands reaches the same vertex, which matches
    `parent`; all vertices between match `path`, and only vertices between and the child use
    them or the parent. `path` may match any number of vertices, and its parts are bound to all
    of them. Variables and vertices without parts, such as constants, are not computed: they are
    on no path if the user has other operands, and as a parent, they may have any users.

    Args:
        parent: The pattern of the vertex above.
        path: The pattern of every vertex between.
        child: The pattern of the vertex below.

    The vertices between are visited once: O(m log m) for m vertices. Of all attempts of
    `Graph.groups`, one visits a vertex that is on all paths from the others to a vertex without
    a match.

    Example:
        >>> from isoform import tir
        >>> from isoform.pattern import AnyVertex, Dominance, VertexOf
        >>> a, b = (tir.Var(name, "int32") for name in "ab")
        >>> root = tir.Mul(a, b)
        >>> product = VertexOf(tir.Mul)
        >>> sums = Dominance(product, VertexOf(tir.Min, a=AnyVertex()), VertexOf(tir.Add))
        >>> sums.match(tir.Add(tir.Min(root, root), root))[product] is root
        True
        >>> sums.match(tir.Add(tir.Min(root, tir.Min(a, b)), root)) is None
        True
    """

    def __init__(self, parent: GraphPattern, path: GraphPattern, child: GraphPattern) -> None:
        """Make the pattern from those of the parent, the path and the child."""
        self.parent = parent
        self.path = path
        self.child = child

    def parts(self) -> Sequence[GraphPattern]:
        """Return parent, path and child."""
        return (self.parent, self.path, self.child)

    def interior(self) -> Sequence[GraphPattern]:
        """Return parent and path, whose vertices lie inside of the region."""
        return (self.parent, self.path)

    def aliases(self) -> Sequence[GraphPattern]:
        """Return the child."""
        return (self.child,)

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the goals for the child, then for the vertices above."""
        return (((self.child, value), (_Region(self), value)),)


# Levels of `Dominance` inside of the path of another `Dominance`, which nest natively.
MAX_PATH_LEVELS = 50


class _Region(GraphPattern):
    """The vertices above a vertex of a `Dominance` that lies on all paths, up to the parent."""

    is_hidden = True
    exhausted = "no vertex above matches the parent with all paths between matching the path"

    def __init__(self, dominance: Dominance) -> None:
        self.dominance = dominance
        self._plan: Plan | None = None

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:
        """The parent or the path at the next vertex above that lies on all paths.

        Vertices are taken from the root upwards, users before operands. A vertex that is the
        only one left lies on all paths.
        """
        region, met = set[int](), set[int]()
        notes: list[tuple[GraphPattern, Any]] = []
        number = graph.number(value)
        left: list[int] = []
        while True:
            region.add(number)
            operands = {graph.number(source) for source in graph.sources(graph.vertices[number])}
            if len(operands) > 1:
                operands = {source for source in operands if not graph.is_leaf(source)}
            if not operands:
                return self.exhausted
            for source in operands - met:
                heapq.heappush(left, -source)
            met |= operands
            number = -heapq.heappop(left)
            vertex = graph.vertices[number]
            is_inside = all(user in region for user in graph.users(number))
            if not is_inside and not graph.is_leaf(number):
                return self.exhausted
            if not left:
                return self._ways(vertex, graph, notes)
            if not self._is_on_path(vertex, graph, notes):
                return self.exhausted

    def _ways(
        self, vertex: Any, graph: Graph, notes: list[tuple[GraphPattern, Any]]
    ) -> Iterator[Branch]:
        yield ((self.dominance.parent, vertex), (NOTE, notes))
        notes = [*notes]
        if self._is_on_path(vertex, graph, notes):
            yield ((NOTE, notes), (self, vertex))

    def _is_on_path(self, vertex: Any, graph: Graph, notes: list[tuple[GraphPattern, Any]]) -> bool:
        """True if a vertex matches the path; the bindings are added to the notes."""
        self._plan = self._plan or Plan(self.dominance.path)
        search = Search(graph, self._plan)
        graph.path_levels += 1
        try:
            if graph.path_levels > MAX_PATH_LEVELS:
                raise ValueError(
                    f"Dominance.path: expected at most {MAX_PATH_LEVELS} levels of Dominance in "
                    "paths of each other"
                )
            found = search.run(self.dominance.path, vertex)
        finally:
            graph.path_levels -= 1
        if found:
            notes.extend((part, bound) for part in search.trail for bound in search.bindings[part])
        return found
