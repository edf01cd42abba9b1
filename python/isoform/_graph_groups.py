"""The groups of a graph pattern: disjoint matches that can be replaced as a whole."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isoform._graph_search import GraphMismatch, Plan, find_match
from isoform._messages import key_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoform._graph import Graph
    from isoform._graph_pattern import GraphPattern
    from isoform._graph_search import GraphMatch

__all__ = ["Group", "GroupSearch"]


@dataclass(frozen=True, eq=False)
class Group:
    """A match whose inner vertices have no users outside, so the match can be replaced as a whole."""

    #: The match.
    match: GraphMatch
    #: The vertices that the group reads, in the order of the patterns.
    inputs: tuple[Any, ...]
    #: The numbers of the vertices from the inputs to the root, in post-order; of a common vertex
    #: only the vertex itself.
    members: tuple[int, ...] = field(repr=False)

    @property
    def root(self) -> Any:
        """The vertex that others use: the result of the group."""
        return self.match.root


class GroupSearch:
    """The search for the groups of a pattern, from the root of a program on.

    A vertex belongs to one group at most, and below a sealed vertex no group begins.
    """

    def __init__(self, graph: Graph, pattern: GraphPattern, to_extract: bool = False) -> None:
        self.graph = graph
        self.plan = Plan(pattern)
        self.to_extract = to_extract
        self.groups: list[Group] = []
        self.refusals: list[GraphMismatch] = []
        self.taken: set[int] = set()
        self.sealed: set[int] = set()
        # Whether there are effects in a vertex or below, from the first group that asks.
        self.effects: list[bool] = []
        for number in reversed(range(len(graph.vertices))):
            vertex = graph.vertices[number]
            if number not in self.sealed and graph.is_sealed(vertex):
                self._seal(number)
            if self.is_covered(number) or not graph.is_root(vertex):
                continue
            match = find_match(graph, pattern, self.plan, vertex)
            group = match and self._group(match)
            if isinstance(group, Group):
                self._take(group)
            elif group:
                self.refusals.append(group)

    def is_covered(self, number: int) -> bool:
        """Return whether a vertex is inside of a group or sealed."""
        return number in self.taken or number in self.sealed

    def _take(self, group: Group) -> None:
        self.groups.append(group)
        self.taken.update(group.members)
        for member in group.members:
            if self.graph.parts(member) and self.graph.is_common(self.graph.vertices[member]):
                self._seal(member)

    def _seal(self, number: int) -> None:
        pending = [number]
        while pending:
            inner = pending.pop()
            if inner not in self.sealed:
                self.sealed.add(inner)
                pending.extend(self.graph.parts(inner))

    def _group(self, match: GraphMatch) -> Group | GraphMismatch:
        """The group of a match, or why the match cannot be replaced as a whole."""
        graph = self.graph
        inputs = self._inputs(match)
        root = graph.number(match.root)
        if root in inputs:
            return Group(match, (match.root,), (root,))
        owned, common = self._members(root, inputs)
        obstacle = self._leak(root, owned)
        if self.to_extract:
            obstacle = (
                obstacle
                or self._outside_of_scope(root, inputs, owned)
                or self._disorder(root, inputs, owned)
            )
        if obstacle:
            number, reason = obstacle
            return GraphMismatch(self.plan.order[-1], graph.vertices[number], reason, graph.root)
        return Group(match, tuple(inputs.values()), tuple(sorted(owned | common)))

    def _inputs(self, match: GraphMatch) -> dict[int, Any]:
        """The inputs of a match by their numbers, in the order of the patterns."""
        interior = {
            id(value)
            for pattern in self.plan.order
            for inner in pattern.interior()
            for value in match.bindings.get(inner, ())
        }
        inputs: dict[int, Any] = {}
        for pattern in self.plan.order:
            for value in match.bindings.get(pattern, ()):
                for item in pattern.inputs(value):
                    is_outside = id(item) not in interior and self.graph.is_vertex(item)
                    if is_outside and self.graph.is_input(item):
                        inputs.setdefault(self.graph.number(item), item)
        return inputs

    def _members(self, root: int, inputs: Mapping[int, Any]) -> tuple[set[int], set[int]]:
        """The vertices from a root up to inputs, and the common vertices that they use."""
        owned, common = {root}, set()
        pending = [root]
        while pending:
            for part in self.graph.parts(pending.pop()):
                if part in inputs or part in owned:
                    continue
                if self.graph.is_common(self.graph.vertices[part]):
                    common.add(part)
                else:
                    owned.add(part)
                    pending.append(part)
        return owned, common

    def _leak(self, root: int, owned: set[int]) -> tuple[int, str] | None:
        """A vertex inside with a user outside, and the reason.

        No vertex belongs to two groups: in an earlier one, the vertex has a user that leads to
        the root of that group, past the root of this one.
        """
        for number in owned - {root}:
            for user in self.graph.users(number):
                if user not in owned and self.graph.is_leak(user, root):
                    inner, name = map(self._key, (number, user))
                    return number, f"the {inner} is used outside of the match, by {name}"
        return None

    def _outside_of_scope(
        self, root: int, inputs: Mapping[int, Any], owned: set[int]
    ) -> tuple[int, str] | None:
        """A vertex that cannot be computed before a group or inside, and the reason."""
        graph = self.graph
        always, sometimes, bound = set[int](), set[int](), set[int]()
        later: list[int] = []
        for reached, pending in ((always, [root]), (sometimes, later)):
            while pending:
                number = pending.pop()
                if number in always or number in reached:
                    continue
                reached.add(number)
                if number not in inputs:
                    vertex = graph.vertices[number]
                    bound.update(id(variable) for variable in graph.bound(vertex))
                    certain = {id(part) for part in graph.certain_parts(vertex)}
                    for part in graph.parts(number):
                        is_certain = id(graph.vertices[part]) in certain
                        (pending if is_certain else later).append(part)
        inside = (always | sometimes) - inputs.keys()
        for number in sorted(sometimes - owned):
            vertex = graph.vertices[number]
            is_leaf = graph.is_leaf(number)
            if number in inputs and (id(vertex) in bound or not is_leaf):
                return number, f"the input {key_of(vertex)} is in a scope or a branch of the match"
            is_free = number in inputs or is_leaf or graph.is_common(vertex)
            if not is_free and not inside.issuperset(graph.users(number)):
                name = key_of(vertex)
                return number, f"the {name} in a function of the match is used outside of it"
        return None

    def _disorder(
        self, root: int, inputs: Mapping[int, Any], owned: set[int]
    ) -> tuple[int, str] | None:
        """A vertex whose effect would occur twice or in another order, and the reason."""
        graph = self.graph
        if not self.effects:
            for number, vertex in enumerate(graph.vertices):
                inner = any(self.effects[part] for part in graph.parts(number))
                self.effects.append(inner or graph.has_effect(vertex))
        inside = owned | inputs.keys()
        effects = [
            number
            for number in sorted(owned)
            if graph.has_effect(graph.vertices[number])
            or any(self.effects[part] for part in graph.parts(number) if part not in inside)
        ]
        for number in sorted(owned - {root}) if effects else ():
            is_shared = not owned.issuperset(graph.users(number))
            if is_shared and number >= effects[0] and not graph.is_leaf(number):
                name = self._key(number)
                return number, f"the {name} has effects, and is used outside of the match"
        order = [*(number for number in inputs if self.effects[number]), *effects]
        # Vertices are computed in post-order.
        for number, after in itertools.pairwise(order):
            if number > after:
                name, other = map(self._key, (number, after))
                return number, f"the {name} and the {other} have effects, in the other order"
        return None

    def _key(self, number: int) -> str:
        return key_of(self.graph.vertices[number])
