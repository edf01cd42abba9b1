"""The search for one match of a graph pattern, in one loop without recursion.

A pattern says which goals a vertex has to meet (`GraphPattern.branches`); the search meets the
goals in order, and returns to the last choice after a failure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isoform import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from isoform._graph import Graph
    from isoform._graph_pattern import GraphPattern
    from isoform.access_path import AccessPath

__all__ = ["NOTE", "GraphMatch", "GraphMismatch", "Plan", "Search", "is_equal", "key_of"]

# Returns from failures to an earlier choice, after which a search is an error.
MAX_RETURNS = 1_000_000

# Goals that are not patterns: forget the choices made since, and note bindings.
_COMMIT = object()
NOTE: Any = object()


@dataclass(frozen=True, eq=False)
class GraphMatch:
    """A match: the vertices bound to the patterns."""

    #: The vertex that matched the whole pattern.
    root: Any
    #: The vertices by pattern; only a path, or a pattern inside of itself, has several.
    bindings: Mapping[GraphPattern, tuple[Any, ...]]

    def __getitem__(self, pattern: GraphPattern) -> Any:
        """Return the first vertex of a pattern; KeyError if the match does not involve it."""
        return self.bindings[pattern][0]

    def __contains__(self, pattern: GraphPattern) -> bool:
        """Return whether the match involves a pattern."""
        return pattern in self.bindings


@dataclass(frozen=True, eq=False)
class GraphMismatch:
    """The place and the reason why a value does not match; its `str` is one line."""

    #: The pattern that failed.
    pattern: GraphPattern
    #: The vertex.
    value: Any
    #: The reason.
    reason: str
    #: The root of the program.
    root: Any = field(repr=False)

    @property
    def path(self) -> AccessPath | None:
        """The path to a place of the vertex. O(vertices)."""
        uses: Any = _core.Uses
        return uses(self.root).path(self.value)

    def __str__(self) -> str:
        """Return the place and the reason."""
        return f"{self.path}: {self.reason}"


class Search:
    """The search for one match: goals, bindings, and choices to return to.

    Goals are a linked list, so that a choice keeps the goals of its time.
    """

    def __init__(self, graph: Graph, plan: Plan) -> None:
        self.graph = graph
        self.plan = plan
        self.bindings: dict[GraphPattern, list[Any]] = {}
        # The bound patterns, in order.
        self.trail: list[GraphPattern] = []
        self.choices: list[tuple[Any, ...]] = []
        self.returns = 0
        # The failure after the most bindings.
        self.failure: tuple[int, Any, Any, str] = (-1, None, None, "")

    def run(self, pattern: GraphPattern, value: Any) -> bool:
        """Return whether a vertex matches."""
        goals: Any = ((pattern, value), None)
        while goals:
            (pattern, value), goals = goals
            if pattern is _COMMIT:
                del self.choices[value:]
            elif pattern is NOTE:
                notes, count = value
                for part, bound in notes[:count]:
                    self._bind(part, bound)
            else:
                goals = self._enter(pattern, value, goals)
        return goals is None

    def mismatch(self) -> GraphMismatch:
        """Return the explanation of a failure."""
        _, pattern, value, reason = self.failure
        return GraphMismatch(pattern, value, reason, self.graph.root)

    def _enter(self, pattern: GraphPattern, value: Any, goals: Any) -> Any:
        """The goals after a goal; False if nothing is left to try."""
        known = self.bindings.get(pattern)
        if known and pattern not in self.plan.repeated:
            if known[0] is value:
                return goals
            reason = "expected the vertex bound to the same pattern before, got "
            return self._return(pattern, value, reason + key_of(value))
        branches = pattern.branches(value, self.graph)
        if isinstance(branches, str):
            return self._return(pattern, value, branches)
        if isinstance(branches, tuple) and len(branches) == 1:
            # Nothing to return to.
            self._bind(pattern, value)
            for goal in reversed(branches[0]):
                goals = (goal, goals)
            return goals
        following = self._follow(pattern, value, iter(branches), goals)
        if following is False:
            return self._return(pattern, value, pattern.exhausted)
        return following

    def _follow(self, pattern: GraphPattern, value: Any, branches: Any, goals: Any) -> Any:
        """The goals of the next branch; False if there is none."""
        branch = next(branches, None)
        if branch is None:
            return False
        height = len(self.choices)
        self.choices.append((pattern, value, branches, goals, len(self.trail)))
        self._bind(pattern, value)
        owner = getattr(pattern, "owner", pattern)
        goals = ((_COMMIT, height), goals) if owner in self.plan.linear else goals
        for goal in reversed(branch):
            goals = (goal, goals)
        return goals

    def _return(self, pattern: GraphPattern, value: Any, reason: str) -> Any:
        """The goals of the last choice with a branch left."""
        if len(self.trail) > self.failure[0]:
            self.failure = (len(self.trail), pattern, value, reason)
        while self.choices:
            pattern, value, branches, goals, height = self.choices.pop()
            while len(self.trail) > height:
                bound = self.bindings[self.trail[-1]]
                bound.pop()
                if not bound:
                    del self.bindings[self.trail[-1]]
                self.trail.pop()
            self.returns += 1
            if self.returns > MAX_RETURNS:
                raise ValueError(
                    f"the pattern returned to alternatives {MAX_RETURNS} times without a match; "
                    "use fewer patterns that occur twice, or fewer alternatives around them"
                )
            following = self._follow(pattern, value, branches, goals)
            if following is not False:
                return following
        return False

    def _bind(self, pattern: GraphPattern, value: Any) -> None:
        self.bindings.setdefault(pattern, []).append(value)
        self.trail.append(pattern)


class Plan:
    """The facts about a pattern that all its matches share."""

    def __init__(self, root: GraphPattern) -> None:
        # The patterns, parts first.
        self.order: list[GraphPattern] = []
        # Patterns inside of themselves, which may match several vertices.
        self.repeated: set[GraphPattern] = set()
        # Patterns of which every part occurs once: a first match of such a pattern is as good
        # as any other, because the rest of the pattern does not see the difference.
        self.linear: set[GraphPattern] = set()
        counts: dict[GraphPattern, int] = {root: 1}
        again: list[GraphPattern] = []
        closed: set[GraphPattern] = set()
        stack = [(root, iter(root.parts()))]
        while stack:
            pattern, pending = stack[-1]
            part = next(pending, None)
            if part is None:
                stack.pop()
                closed.add(pattern)
                self.order.append(pattern)
            elif part not in counts:
                counts[part] = 1
                stack.append((part, iter(part.parts())))
            else:
                counts[part] += 1
                if part not in closed:
                    again.append(part)
        for pattern in self.order:
            parts = pattern.parts()
            if all(counts[part] == 1 and part in self.linear for part in parts):
                self.linear.add(pattern)
        if again:
            self._find_repeated(again)

    def _find_repeated(self, starts: Sequence[GraphPattern]) -> None:
        users: dict[GraphPattern, list[GraphPattern]] = {}
        for pattern in self.order:
            for part in pattern.parts():
                users.setdefault(part, []).append(pattern)
        for start in starts:
            if start not in self.repeated:
                below = _reached(start, lambda pattern: pattern.parts())
                above = _reached(start, lambda pattern: users.get(pattern, ()))
                self.repeated |= below & above


def _reached(
    start: GraphPattern, following: Callable[[GraphPattern], Sequence[GraphPattern]]
) -> set[GraphPattern]:
    found = {start}
    pending = [start]
    while pending:
        for pattern in following(pending.pop()):
            if pattern not in found:
                found.add(pattern)
                pending.append(pattern)
    return found


def key_of(value: Any) -> str:
    """Return the type key of an object or a class, for messages."""
    try:
        return _core.type_info(value).type_key
    except (TypeError, KeyError):
        return type(value).__name__


def is_equal(left: Any, right: Any) -> bool:
    """Return whether two vertices are structurally equal; vertices of two classes never are."""
    return left is right or (type(left) is type(right) and _core.structural_equal(left, right))
