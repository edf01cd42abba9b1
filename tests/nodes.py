"""Node types shared by several files of the suite.

`Lam` is not a scope, so its bindings last until the comparison ends; `Fun` is the same
with `scope=True`.
"""

from typing import Any

from isoform import Object
from isoform.dataclasses import field, py_class


@py_class("nodes.Var", structural_eq="var")
class Var(Object):
    name: str = field(structural_eq="ignore")


@py_class("nodes.TypedVar", structural_eq="var")
class TypedVar(Object):
    name: str = field(structural_eq="ignore")
    ty: Any


@py_class("nodes.Add")
class Add(Object):
    lhs: Any
    rhs: Any


@py_class("nodes.DAdd", structural_eq="dag")
class DAdd(Object):
    lhs: Any
    rhs: Any


@py_class("nodes.CT", structural_eq="const-tree", frozen=True)
class CT(Object):
    v: Any


@py_class("nodes.Box")
class Box(Object):
    v: Any = None


@py_class("nodes.Lam")
class Lam(Object):
    params: Any = field(structural_eq="def")
    body: Any


@py_class("nodes.Fun", scope=True)
class Fun(Object):
    params: Any = field(structural_eq="def")
    body: Any


@py_class("nodes.Let")
class Let(Object):
    value: Any
    target: Any = field(structural_eq="def-simple")


@py_class("nodes.Op", structural_eq="singleton")
class Op(Object):
    name: str


@py_class("nodes.Hidden", structural_eq=None)
class Hidden(Object):
    v: Any


@py_class("nodes.Spanned")
class Spanned(Object):
    value: Any
    span: Any = field(default=None, structural_eq="ignore")


def chain(depth: int, leaf: Any = 0) -> Any:
    """`depth` boxes inside each other."""
    node = leaf
    for _ in range(depth):
        node = Box(node)
    return node


def doubled(levels: int, leaf: Any = 1) -> Any:
    """`x = Add(x, x)`, repeated: 2 ** levels paths lead to the leaf."""
    node = Add(leaf, leaf)
    for _ in range(levels):
        node = Add(node, node)
    return node


def depth_of(node: Any) -> int:
    """How many boxes are inside each other."""
    depth = 0
    while isinstance(node, Box):
        node = node.v
        depth += 1
    return depth
