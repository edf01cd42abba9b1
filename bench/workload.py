"""The programs that are measured, for any package with the API of both sides."""

import dataclasses as standard
import random
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any


class Side:
    """A package, with declarations of the node types of workload W.

    W of depth d is `Lambda([x], body)`, where the body is a balanced tree of sums
    whose leaves are, in turn, the variable and an integer counting up. It has
    2^(d+1) - 1 positions in its body.
    """

    def __init__(self, name: str, module: ModuleType, classes: ModuleType) -> None:
        """Declare the types; `classes` is the package's module of declarations."""
        self.name = name
        self.module = module
        py_class, field, base = classes.py_class, classes.field, module.Object

        @py_class("bench.Var", structural_eq="var")
        class Var(base):
            name: str = field(structural_eq="ignore")

        @py_class("bench.Int", structural_eq="tree")
        class Int(base):
            value: int

        @py_class("bench.Add", structural_eq="tree")
        class Add(base):
            lhs: base
            rhs: base

        @py_class("bench.Lambda", structural_eq="tree")
        class Lambda(base):
            params: module.Array = field(structural_eq="def")
            body: base

        @py_class("bench.WithInt", structural_eq="tree")
        class WithInt(base):
            lhs: base | None
            rhs: base | None
            note: int

        @py_class("bench.WithList", structural_eq="tree")
        class WithList(base):
            lhs: base | None
            rhs: base | None
            note: list

        @py_class("bench.WithDict", structural_eq="tree")
        class WithDict(base):
            lhs: base | None
            rhs: base | None
            note: dict

        self.WithInt, self.WithList, self.WithDict = WithInt, WithList, WithDict
        self.Var, self.Int, self.Add, self.Lambda = Var, Int, Add, Lambda
        # A pickle names classes by module and name.
        for cls in (Var, Int, Add, Lambda):
            cls.__module__ = __name__
            cls.__qualname__ = f"{module.__name__}_{cls.__name__}"
            globals()[cls.__qualname__] = cls

    def build(self, depth: int, *, last: int = 0, order: str = "children first") -> Any:
        """Build workload W; `last` is added to the value of its last integer."""
        x = self.Var("x")
        end = (1 << depth) - 1

        def leaf(number: int) -> Any:
            if number % 2 == 0:
                return x
            return self.Int(number // 2 + (last if number == end else 0))

        return self.Lambda([x], ORDERS[order](depth, leaf, self.Add))


def noted(cls: Any, note: Callable[[], Any], depth: int) -> Any:
    """Build a balanced tree of nodes of one class, with a note in every node."""
    level = [cls(None, None, note()) for _ in range(1 << depth)]
    while len(level) > 1:
        pairs = iter(level)
        level = [cls(lhs, rhs, note()) for lhs, rhs in zip(pairs, pairs, strict=True)]
    return level[0]


def path_copied(side: Side, program: Any) -> Any:
    """Copy the path from the root to the last leaf, like an edit of the leaf."""
    path = []
    node = program.body
    while isinstance(node, side.Add):
        path.append(node)
        node = node.rhs
    for above in reversed(path):
        node = side.Add(above.lhs, node)
    return side.Lambda(program.params, node)


# A constructor of leaves by number, and a constructor of sums.
Leaf = Callable[[int], Any]
Sum = Callable[[Any, Any], Any]


def children_first(depth: int, leaf: Leaf, add: Sum, first: int = 0) -> Any:
    """Build the left child, the right child, then their parent: as most builders work."""
    if depth == 0:
        return leaf(first)
    lhs = children_first(depth - 1, leaf, add, first)
    return add(lhs, children_first(depth - 1, leaf, add, first + (1 << (depth - 1))))


def right_first(depth: int, leaf: Leaf, add: Sum, first: int = 0) -> Any:
    """Build the right child, the left child, then their parent."""
    if depth == 0:
        return leaf(first)
    rhs = right_first(depth - 1, leaf, add, first + (1 << (depth - 1)))
    return add(right_first(depth - 1, leaf, add, first), rhs)


def by_level(depth: int, leaf: Leaf, add: Sum) -> Any:
    """Build all leaves, then all their parents, and so on, from left to right."""
    return levels(depth, leaf, add, lambda count: range(count))


def shuffled(depth: int, leaf: Leaf, add: Sum) -> Any:
    """Build level by level, in random order."""
    numbers = random.Random(1)
    return levels(depth, leaf, add, lambda count: numbers.sample(range(count), count))


def levels(depth: int, leaf: Leaf, add: Sum, arrange: Callable[[int], Iterable[int]]) -> Any:
    """Build level by level, in the order of `arrange`."""
    nodes: list[Any] = [None] * (1 << depth)
    for at in arrange(len(nodes)):
        nodes[at] = leaf(at)
    while len(nodes) > 1:
        below, nodes = nodes, [None] * (len(nodes) // 2)
        for at in arrange(len(nodes)):
            nodes[at] = add(below[2 * at], below[2 * at + 1])
    return nodes[0]


# The order decides where the nodes lie in memory, and this how fast a program that
# does not fit the cache is walked.
ORDERS: dict[str, Callable[[int, Leaf, Sum], Any]] = {
    "children first": children_first,
    "right first": right_first,
    "by level": by_level,
    "shuffled": shuffled,
}


def positions(depth: int) -> int:
    """Return how many nodes the body of W has, uses of the variable included."""
    return (2 << depth) - 1


@standard.dataclass(slots=True, unsafe_hash=True)
class PlainVar:
    """The variable, as a dataclass."""

    name: str


@standard.dataclass(slots=True, unsafe_hash=True)
class PlainInt:
    """An integer, as a dataclass."""

    value: int


@standard.dataclass(slots=True, unsafe_hash=True)
class PlainAdd:
    """A sum, as a dataclass."""

    lhs: Any
    rhs: Any


@standard.dataclass(slots=True)
class PlainNoted:
    """A node with two children and a note, as a dataclass."""

    lhs: Any
    rhs: Any
    note: Any


def plain_body(depth: int) -> Any:
    """Build the body of W from dataclasses with slots."""
    x = PlainVar("x")
    return children_first(
        depth, lambda number: PlainInt(number // 2) if number % 2 else x, PlainAdd
    )
