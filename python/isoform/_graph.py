"""Programs as graphs: vertices, their parts and users, dominators, and replacements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core, type_attrs
from isoform._graph_groups import GroupSearch
from isoform._graph_search import Plan, find_match
from isoform._messages import key_of
from isoform.container import Array, Dict, List, Map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from isoform._graph_groups import Group
    from isoform._graph_pattern import GraphPattern
    from isoform._graph_search import GraphMatch, GraphMismatch

__all__ = ["Graph"]


class Graph:
    """A program as a graph: its vertices in post-order, their parts and their users.

    Args:
        root: The program.

    Subclasses override `parts_of` and the questions below for an IR; by default, every object
    in a compared field is a vertex. Raises ValueError for a cyclic value. Linear in the number
    of vertices and edges.

    Example:
        >>> from isoform import tir
        >>> from isoform.pattern import AnyVertex, Graph, VertexOf
        >>> a, b = (tir.Var(name, "int32") for name in "ab")
        >>> x = AnyVertex()
        >>> ones = VertexOf(tir.Mul, a=VertexOf(tir.Mul, a=x), b=VertexOf(tir.IntImm, value=1))
        >>> graph = Graph(tir.Add(tir.Mul(tir.Mul(a, 1), 1), b))
        >>> [group] = graph.groups(ones)
        >>> graph.replace([group], lambda group, post, image: image(group.match[x])).a is a
        True
    """

    def __init__(self, root: Any) -> None:
        """Make the graph of a program, which is visited at the first question."""
        self.root = root
        self._vertices: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._parts: list[tuple[int, ...]] = []
        self._users: list[list[int]] = []
        self.path_levels = 0
        # The tree of dominators: the depth of each vertex, its parent, and an ancestor farther up.
        self._levels: list[int] = []
        self._parents: list[int] = []
        self._jumps: list[int] = []

    @property
    def vertices(self) -> Sequence[Any]:
        """The vertices, parts first. The first question visits the program."""
        if not self._vertices:
            self._visit(self.root)
        return self._vertices

    @classmethod
    def of(cls, value: Any) -> Any:
        """Return the graph of a value; a graph is returned as it is.

        Args:
            value: The value.
        """
        return value if isinstance(value, Graph) else cls(value)

    def parts_of(self, value: Any) -> Sequence[Any]:
        """Return the vertices directly inside of a vertex, in order.

        Args:
            value: The vertex.
        """
        contents = _contents(value)
        return _objects(contents) if contents is not None else _in_fields(value, _FIELDS)

    def certain_parts(self, value: Any) -> Sequence[Any]:
        """Return the parts of a vertex that are not in a scope or a branch of it.

        Args:
            value: The vertex. By default, these are the parts in all fields but those of
                `rewrite.conditional`, and of a scope only the value of its `rewrite.binding`.
        """
        return self.parts_of(value) if _contents(value) is not None else _in_fields(value, _CERTAIN)

    def bound(self, value: Any) -> Sequence[Any]:
        """Return the variables that a vertex binds.

        Args:
            value: The vertex; by default, everything in fields with definitions.
        """
        return () if _contents(value) is not None else _in_fields(value, _DEFINITIONS)

    def sources(self, value: Any) -> Sequence[Any]:
        """Return the operands of a vertex: the parts that its value is computed from.

        Args:
            value: The vertex; by default, all parts are operands.
        """
        return self.parts_of(value)

    def rebuilt(self, value: Any, image: Callable[[Any], Any]) -> Any:
        """Return a vertex with other parts; the other fields stay.

        Args:
            value: The vertex.
            image: The function from a part to its replacement, which may be the part.
        """
        parts = self.parts_of(value)
        own = {id(part) for part in parts}

        def mutate(part: Any, mutator: Any) -> Any:
            return image(part) if id(part) in own else mutator.default_mutate(part)

        classes = tuple({type(value), *map(type, parts)})
        return _core.structural_mutate(value, [(classes, mutate)], regions_apart=False)

    def is_common(self, value: Any) -> bool:  # noqa: ARG002
        """Return whether groups may share a vertex, and so never own it.

        Args:
            value: The vertex; what is reached through a common vertex is common as well.
        """
        return False

    def is_input(self, value: Any) -> bool:  # noqa: ARG002
        """Return whether a vertex can be an input of a group.

        Args:
            value: The vertex.
        """
        return True

    def is_sealed(self, value: Any) -> bool:  # noqa: ARG002
        """Return whether no group may begin at a vertex and below.

        Args:
            value: The vertex.
        """
        return False

    def is_root(self, value: Any) -> bool:  # noqa: ARG002
        """Return whether a group may begin at a vertex.

        Args:
            value: The vertex.
        """
        return True

    def is_leak(self, user: int, root: int) -> bool:  # noqa: ARG002
        """Return whether a use of an inner vertex forbids to replace a group.

        Args:
            user: The number of the vertex outside that uses the inner vertex.
            root: The number of the root of the group.
        """
        return True

    def has_effect(self, value: Any) -> bool:
        """Return whether computing a vertex, apart from its parts, has or sees an effect.

        Args:
            value: The vertex; by default, its `rewrite.repeatable` or `rewrite.pure` is false.
        """
        for name in ("rewrite.repeatable", "rewrite.pure"):
            role: Any = type_attrs.get(type(value), name, inherit=True)
            if role is not None:
                return not (role if isinstance(role, bool) else role(value))
        return False

    def is_dominated(self, number: int, by: int) -> bool:
        """Return whether all paths from a vertex to the root of the program lead through another.

        Args:
            number: The number of the vertex.
            by: The number of the other vertex.

        O(log vertices), after O(edges * log vertices) for the first question.
        """
        if not self._levels:
            self._dominators()
        return self._ancestor(number, self._levels[by]) == by

    def number(self, value: Any) -> int:
        """Return the number of a vertex in post-order; KeyError for any other object.

        Args:
            value: The vertex.
        """
        if not self.is_vertex(value):
            raise KeyError(f"Graph.number: expected a vertex of the graph, got {key_of(value)}")
        return self._numbers[id(value)]

    def is_vertex(self, value: Any) -> bool:
        """Return whether an object is a vertex of the graph.

        Args:
            value: The object.
        """
        if not self._numbers:
            self._visit(self.root)
        return id(value) in self._numbers

    def parts(self, number: int) -> Sequence[int]:
        """Return the numbers of the parts of a vertex, each once.

        Args:
            number: The number of the vertex.
        """
        if not self._parts:
            self._visit(self.root)
        return self._parts[number]

    def users(self, number: int) -> Sequence[int]:
        """Return the numbers of the vertices with a vertex as a part.

        Args:
            number: The number of the vertex.
        """
        if not self._users:
            self._visit(self.root)
        return self._users[number]

    def is_leaf(self, number: int) -> bool:
        """Return whether a vertex takes no computation: a variable, or one without parts.

        Args:
            number: The number of the vertex.
        """
        cls = type(self._vertices[number])
        return not self._parts[number] or _core.type_info(cls).kind == "var"

    def match(self, pattern: GraphPattern, value: Any) -> GraphMatch | None:
        """Return the match of a pattern at a vertex, or None.

        Args:
            pattern: The pattern.
            value: The vertex.

        Errors and cost are those of `GraphPattern.match`, without the visit of the program.
        """
        return find_match(self, pattern, Plan(pattern), value)

    def groups(self, pattern: GraphPattern, *, to_extract: bool = False) -> list[Group]:
        """Return the disjoint matches that can be replaced, from the root of the program on.

        The vertices of a group are those between its root and the vertices of the patterns
        without parts, which are its inputs. A match is left out if a vertex outside uses a
        vertex inside, such as one of an earlier group.

        Args:
            pattern: The pattern.
            to_extract: Also leave out a match with an input that cannot be computed before
                the group: it is in a scope or a branch inside of the group, a variable bound
                there, or its effects and those inside would change their order. Also leave out
                a match with effects inside that would occur again for a user outside.

        A match for each vertex outside of the groups found so far, plus the sizes of the
        groups and the users of their vertices.
        """
        return GroupSearch(self, pattern, to_extract).groups

    def refusals(self, pattern: GraphPattern, *, to_extract: bool = False) -> list[GraphMismatch]:
        """Return why matches are missing in `groups`: the vertex inside, and the reason.

        Args:
            pattern: The pattern.
            to_extract: As for `groups`.

        The cost is that of `groups`.
        """
        return GroupSearch(self, pattern, to_extract).refusals

    def replace(
        self, groups: Iterable[Group], replacement: Callable[[Group, Any, Callable[..., Any]], Any]
    ) -> Any:
        """Return the program with another vertex in the place of the root of each group.

        Args:
            groups: The groups.
            replacement: Called with a group, its root after the replacements below, and a
                function from vertices to their images, operands first.

        An unchanged vertex stays the same object. Raises TypeError for a replacement that does
        not fit its place. Linear in the number of vertices and edges.
        """
        return self._replaced(groups, replacement, None)

    def rewrite(
        self,
        pattern: GraphPattern,
        replacement: Callable[[GraphMatch, Any, Callable[..., Any]], Any],
        *,
        cascade: bool = True,
    ) -> Any:
        """Return the program with the groups of a pattern replaced.

        Args:
            pattern: The pattern.
            replacement: Called like that of `replace`, with the match instead of the group.
            cascade: Also replace a vertex that matches only after the replacements below, if
                everything inside of that match is an input or common, and the pattern
                `is_local`. A rule that folds constants then folds a tree of any depth at once.

        Errors and cost are those of `groups` and `replace`; the cascade attempts one match for
        each vertex above a replacement.
        """
        search = GroupSearch(self, pattern)
        plan = search.plan

        def replace(group: Group, post: Any, image: Callable[..., Any]) -> Any:
            return replacement(group.match, post, image)

        def replace_late(number: int, post: Any) -> Any:
            if search.is_covered(number) or not self.is_root(self.vertices[number]):
                return post
            match = find_match(self, pattern, plan, post)
            if match is None or not self._is_shallow(match, plan):
                return post
            return replacement(match, post, lambda value: value)

        late = replace_late if cascade and all(part.is_local for part in plan.order) else None
        return self._replaced(search.groups, replace, late)

    def _is_shallow(self, match: GraphMatch, plan: Plan) -> bool:
        """True if a match owns its root alone."""
        found = [(part, value) for part in plan.order for value in match.bindings.get(part, ())]
        inputs = {id(item) for part, value in found for item in part.inputs(value)}
        return all(
            value is match.root or id(value) in inputs or self.is_common(value)
            for _, value in found
        )

    def _replaced(
        self,
        groups: Iterable[Group],
        replacement: Callable[[Group, Any, Callable[..., Any]], Any],
        replace_late: Callable[[int, Any], Any] | None,
    ) -> Any:
        roots = {self.number(group.root): group for group in groups}
        images: dict[int, Any] = {}

        def image(value: Any) -> Any:
            return images.get(self.number(value), value)

        for number, vertex in enumerate(self.vertices):
            post = self._rebuilt(number, images)
            group = roots.get(number)
            if group is not None:
                images[number] = post
                post = replacement(group, post, image)
            elif replace_late and post is not vertex:
                post = replace_late(number, post)
            if post is vertex:
                images.pop(number, None)
            else:
                images[number] = post
        return images.get(len(self.vertices) - 1, self.root)

    def extract(self, group: Group, substitutes: Sequence[Any]) -> Any:
        """Return the root of a group, computed from other inputs.

        Args:
            group: The group.
            substitutes: The objects in the place of the inputs, in order.

        Linear in the size of the group and the common vertices inside.
        """
        given = zip(group.inputs, substitutes, strict=True)
        images = {self.number(old): new for old, new in given}
        for number in self.closure(group):
            if number not in images:
                post = self._rebuilt(number, images)
                if post is not self.vertices[number]:
                    images[number] = post
        return images.get(self.number(group.root), group.root)

    def closure(self, group: Group) -> list[int]:
        """Return the numbers of all vertices from the inputs of a group to its root.

        Args:
            group: The group; unlike `Group.members`, the result also contains the vertices
                inside of common ones. In post-order.
        """
        inputs = {self.number(value) for value in group.inputs}
        found = set(group.members)
        pending = list(group.members)
        while pending:
            for part in self._parts[pending.pop()]:
                if part not in inputs and part not in found:
                    found.add(part)
                    pending.append(part)
        return sorted(found)

    def _visit(self, root: Any) -> None:
        entered: set[int] = {id(root)}
        parts = self.parts_of(root)
        stack: list[tuple[Any, Sequence[Any], Iterator[Any]]] = [(root, parts, iter(parts))]
        while stack:
            value, parts, pending = stack[-1]
            part = next(pending, None)
            if part is None:
                stack.pop()
                number = len(self._vertices)
                self._numbers[id(value)] = number
                self._vertices.append(value)
                below = tuple(dict.fromkeys(self._numbers[id(part)] for part in parts))
                self._parts.append(below)
                self._users.append([])
                for part_number in below:
                    self._users[part_number].append(number)
            elif id(part) not in entered:
                entered.add(id(part))
                inner = self.parts_of(part)
                stack.append((part, inner, iter(inner)))
            elif id(part) not in self._numbers:
                raise ValueError(f"expected a graph without cycles, got {key_of(part)} in itself")

    def _dominators(self) -> None:
        """Make the tree in which the parent of a vertex is the nearest vertex on all paths."""
        count = len(self.vertices)
        root = count - 1
        levels, parents, jumps = [0] * count, [root] * count, [root] * count
        self._levels, self._parents, self._jumps = levels, parents, jumps
        for number in reversed(range(root)):
            first, *others = self._users[number]
            for other in others:
                first = self._meeting(first, other)
            above = jumps[first]
            same = levels[first] - levels[above] == levels[above] - levels[jumps[above]]
            parents[number] = first
            jumps[number] = jumps[above] if same else first
            levels[number] = levels[first] + 1

    def _ancestor(self, number: int, level: int) -> int:
        """The ancestor at a depth in the tree of dominators, or the vertex if it is higher."""
        while self._levels[number] > level:
            jump = self._jumps[number]
            number = jump if self._levels[jump] >= level else self._parents[number]
        return number

    def _meeting(self, left: int, right: int) -> int:
        """The lowest common ancestor in the tree of dominators."""
        left = self._ancestor(left, self._levels[right])
        right = self._ancestor(right, self._levels[left])
        while left != right:
            far = self._jumps[left] != self._jumps[right]
            step = self._jumps if far else self._parents
            left, right = step[left], step[right]
        return left

    def _rebuilt(self, number: int, images: Mapping[int, Any]) -> Any:
        """A vertex with the images of its parts."""
        vertex = self._vertices[number]
        if not images or not any(part in images for part in self._parts[number]):
            return vertex
        numbers = self._numbers

        def image(value: Any) -> Any:
            return images.get(numbers.get(id(value), -1), value)

        return self.rebuilt(vertex, image)


def _contents(value: Any) -> list[Any] | None:
    """The values in a container; None for anything else."""
    if isinstance(value, Array | List):
        return list(value)
    return list(value.values()) if isinstance(value, Map | Dict) else None


def _objects(values: list[Any]) -> list[Any]:
    """The objects in values and in their containers, in order."""
    found: list[Any] = []
    pending = values[::-1]
    while pending:
        part = pending.pop()
        contents = _contents(part)
        if contents is not None:
            pending.extend(reversed(contents))
        elif isinstance(part, _core.Object):
            found.append(part)
    return found


# The compared fields of a class, those with definitions, and those outside of scopes and branches.
_FIELDS, _DEFINITIONS, _CERTAIN = range(3)
_NAMES: dict[type[Any], tuple[list[str], list[str], list[str]]] = {}


def _in_fields(value: Any, kind: int) -> list[Any]:
    """The objects in the fields of one kind."""
    cls = type(value)
    if cls not in _NAMES:
        fields: list[Any] = []
        info = _core.type_info(cls)
        scope = info.scope
        while info is not None:
            fields[:0] = [f for f in info.fields if f.structural_eq != "ignore"]
            info = info.parent_type_info
        names = [f.name for f in fields]
        binding = type_attrs.get(cls, "rewrite.binding", {}, inherit=True)
        conditional = set(type_attrs.get(cls, "rewrite.conditional", (), inherit=True))
        certain = [binding.get("value")] if scope else names
        _NAMES[cls] = (
            names,
            [f.name for f in fields if f.structural_eq == "def"],
            [name for name in certain if name and name not in conditional],
        )
    return _objects([getattr(value, name) for name in _NAMES[cls][kind]])
