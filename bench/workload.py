"""The programs that are measured, for any package with the API of both sides."""

import dataclasses as standard
from collections.abc import Callable
from types import ModuleType
from typing import Any


class Side:
    """One package, and the node types of workload W declared with it.

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

    def build(self, depth: int, *, last: int = 0) -> Any:
        """Build workload W; `last` is added to the value of its last integer."""
        x = self.Var("x")
        body = tree(self.Add, self.Int, x, depth, last)
        return self.Lambda([x], body)


def noted(cls: Any, note: Callable[[], Any], depth: int) -> Any:
    """Build a balanced tree of nodes of one class, each with a note of its own."""
    level = [cls(None, None, note()) for _ in range(1 << depth)]
    while len(level) > 1:
        pairs = iter(level)
        level = [cls(lhs, rhs, note()) for lhs, rhs in zip(pairs, pairs, strict=True)]
    return level[0]


def tree(add: Any, integer: Any, x: Any, depth: int, last: int = 0) -> Any:
    """Build the body of W with these constructors, level by level."""
    count = 1 << depth
    level = [x if i % 2 == 0 else integer(i // 2) for i in range(count - 1)]
    level.append(integer(count // 2 - 1 + last))
    while len(level) > 1:
        pairs = iter(level)
        level = [add(lhs, rhs) for lhs, rhs in zip(pairs, pairs, strict=True)]
    return level[0]


def positions(depth: int) -> int:
    """Return how many nodes the body of W has, uses of the variable included."""
    return (2 << depth) - 1


@standard.dataclass(slots=True)
class PlainVar:
    """The variable, as a dataclass."""

    name: str


@standard.dataclass(slots=True)
class PlainInt:
    """An integer, as a dataclass."""

    value: int


@standard.dataclass(slots=True)
class PlainAdd:
    """A sum, as a dataclass."""

    lhs: Any
    rhs: Any


def plain_builder(depth: int) -> Callable[[], Any]:
    """Return the builder of the body of W from dataclasses with slots."""
    return lambda: tree(PlainAdd, PlainInt, PlainVar("x"), depth)
