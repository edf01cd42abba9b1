"""Node types with the attributes that rules ask for."""

from isoform import Object, py_class, type_attrs
from isoform.dataclasses import field


@py_class("rewriting.Expr", structural_eq="tree")
class Expr(Object):
    pass


@py_class("rewriting.Var", structural_eq="var")
class Var(Expr):
    name: str = field(default="", structural_eq="ignore")


@py_class("rewriting.Int", structural_eq="tree")
class Int(Expr):
    value: int


@py_class("rewriting.Add", structural_eq="tree")
class Add(Expr):
    lhs: Expr
    rhs: Expr


@py_class("rewriting.Node", structural_eq="dag")
class Node(Expr):
    op: str
    args: tuple


@py_class("rewriting.Assign", structural_eq="tree")
class Assign(Object):
    var: Var = field(structural_eq="def")
    value: Expr


type_attrs.set(Expr, "rewrite.pure", True)
type_attrs.set(Int, "rewrite.constant", True)
type_attrs.set(Add, "rewrite.commutative", ["lhs", "rhs"])
type_attrs.set(Assign, "rewrite.binding", {"var": "var", "value": "value"})
