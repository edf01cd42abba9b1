"""The search for one match of a graph pattern, in one loop without recursion.

A pattern says which goals a vertex has to meet (`GraphPattern.branches`); the search meets the
goals in order, and returns to the last choice after a failure.
"""

from __future__ import annotations

import graphlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform._messages import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from isoform._graph import Graph
    from isoform._graph_pattern import GraphPattern
    from isoform.access_path import AccessPath

__all__ = ["NOTE", "GraphMatch", "GraphMismatch", "Plan", "Search", "find_match", "is_equal"]

# Returns from failures to an earlier choice, after which a search is an error.
MAX_RETURNS = 1_000_000

# Goals that are not patterns: forget the choices made since, a choice met its goals, and note
# bindings.
_COMMIT = object()
_MET = object()
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


@dataclass(slots=True, eq=False)
class _Choice:
    """A pattern at a vertex with several branches, to return to."""

    pattern: GraphPattern
    value: Any
    branches: Iterator[Any]
    goals: Any
    #: The number of bindings before.
    height: int
    #: `Search.oldest` of the choice before.
    outer: float
    #: Whether a branch met its goals, so that a later failure has another cause.
    is_met: bool = False


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
        self.places: dict[GraphPattern, int] = {}
        self.choices: list[_Choice] = []
        # The place on the trail of the oldest binding asked for since the last choice.
        self.oldest = math.inf
        self.returns = 0
        # The failure after the most bindings.
        self.failure: tuple[int, Any, Any, str] = (-1, None, None, "")

    def run(self, pattern: GraphPattern, value: Any) -> bool:
        """Return whether a vertex matches."""
        goals: Any = ((pattern, value), None)
        while goals:
            (pattern, value), goals = goals
            if pattern is _COMMIT:
                self.oldest = min([self.oldest, *(choice.outer for choice in self.choices[value:])])
                del self.choices[value:]
            elif pattern is _MET:
                value.is_met = True
            elif pattern is NOTE:
                for part, bound in value:
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
        if known and not pattern.is_hidden and pattern not in self.plan.repeated:
            self.oldest = min(self.oldest, self.places[pattern])
            if known[0] is value:
                return goals
            reason = "expected the vertex bound to the same pattern before, got "
            return self._return(pattern, value, reason + key_of(value))
        failures = self.plan.failures
        if failures and (getattr(pattern, "dominance", pattern), id(value)) in failures:
            return self._return(pattern, value, None)
        branches = pattern.branches(value, self.graph)
        if isinstance(branches, str):
            return self._return(pattern, value, branches)
        if isinstance(branches, tuple) and len(branches) == 1:
            # Nothing to return to.
            self._bind(pattern, value)
            for goal in reversed(branches[0]):
                goals = (goal, goals)
            return goals
        choice = _Choice(pattern, value, iter(branches), goals, len(self.trail), self.oldest)
        self.oldest = math.inf
        following = self._follow(choice)
        if following is False:
            return self._return(pattern, value, pattern.exhausted)
        return following

    def _follow(self, choice: _Choice) -> Any:
        """The goals of the next branch; False if there is none."""
        pattern, value = choice.pattern, choice.value
        owner = getattr(pattern, "dominance", pattern)
        branch = next(choice.branches, None)
        if branch is None:
            # No branch met its goals, so the failure is not that of a later goal. No pattern was
            # compared with a vertex bound before, and nothing else of a search can make a
            # difference: the pattern fails at this vertex in every search of the graph. Only
            # patterns that may meet the vertex again are worth the memory.
            is_same = not choice.is_met and self.oldest >= choice.height
            if is_same and (owner is not pattern or pattern in self.plan.shared):
                self.plan.failures[owner, id(value)] = value
            self.oldest = min(self.oldest, choice.outer)
            return False
        linear = owner in self.plan.linear
        goals = ((_COMMIT, len(self.choices)) if linear else (_MET, choice), choice.goals)
        self.choices.append(choice)
        self._bind(pattern, value)
        for goal in reversed(branch):
            goals = (goal, goals)
        return goals

    def _return(self, pattern: GraphPattern, value: Any, reason: str | None) -> Any:
        """The goals of the last choice with a branch left; None for a reason given before."""
        if reason is not None and len(self.trail) > self.failure[0]:
            self.failure = (len(self.trail), pattern, value, reason)
        while self.choices:
            choice = self.choices.pop()
            while len(self.trail) > choice.height:
                bound = self.bindings[self.trail[-1]]
                bound.pop()
                if not bound:
                    del self.bindings[self.trail[-1]]
                self.trail.pop()
            following = self._follow(choice)
            if following is not False:
                self.returns += 1
                if self.returns <= MAX_RETURNS:
                    return following
                raise ValueError(
                    f"the pattern returned to alternatives {MAX_RETURNS} times without a match; "
                    "use fewer patterns that occur twice, or fewer alternatives around them"
                )
        return False

    def _bind(self, pattern: GraphPattern, value: Any) -> None:
        self.bindings.setdefault(pattern, []).append(value)
        self.places[pattern] = len(self.trail)
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
        # The vertices, by pattern and identity, where a pattern fails whatever is bound, in one
        # graph. They are kept, as another object could take over the identity.
        self.failures: dict[tuple[GraphPattern, int], Any] = {}
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
        # The others.
        self.shared = set(self.order) - self.linear
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
        repeated = [pattern for pattern in self.order if pattern in self.repeated]
        try:
            graphlib.TopologicalSorter({part: part.aliases() for part in repeated}).prepare()
        except graphlib.CycleError as error:
            names = " -> ".join(type(pattern).__name__ for pattern in error.args[1])
            raise ValueError(
                f"{names}: a pattern that redirects to itself; expected a pattern of another "
                "vertex between"
            ) from None


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


def find_match(graph: Graph, pattern: GraphPattern, plan: Plan, value: Any) -> GraphMatch | None:
    """Return the match of a pattern, whose plan is at hand, at a vertex; None without a match."""
    search = Search(graph, plan)
    if not search.run(pattern, value):
        return None
    bindings = {part: tuple(bound) for part, bound in search.bindings.items() if not part.is_hidden}
    return GraphMatch(value, bindings)


def is_equal(left: Any, right: Any) -> bool:
    """Return whether two vertices are structurally equal; vertices of two classes never are."""
    return left is right or (type(left) is type(right) and _core.structural_equal(left, right))
