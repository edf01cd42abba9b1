"""Visitors, mutators and functors: methods that wait for children, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import assert_type

from isoform import NodeFunctor, NodeMutator, NodeVisitor, Object
from isoform.dataclasses import py_class
from isoform.visitors import Later, Steps


@py_class("typing_visitors.Expr")
class Expr(Object):
    """An expression."""


@py_class("typing_visitors.Num")
class Num(Expr):
    """A number."""

    value: int


@py_class("typing_visitors.Add")
class Add(Expr):
    """A sum."""

    lhs: Expr
    rhs: Expr


class Value(NodeFunctor[int], dialect="typing_visitors"):
    """Computes ints."""

    def visit_num(self, node: Num) -> int:
        """A method may return its result."""
        return node.value

    def visit_add(self, node: Add) -> Steps[int]:
        """A method may wait for children."""
        lhs: int = yield node.lhs
        rhs: int = yield node.rhs
        return lhs + rhs


class Plain(NodeFunctor, dialect="typing_visitors"):
    """Computes anything."""

    def visit_expr(self, node: Expr) -> str:
        """A method for all expressions."""
        return type(node).__name__


class Count(NodeVisitor, dialect="typing_visitors"):
    """Counts sums."""

    def __init__(self) -> None:
        self.sums = 0

    def visit_add(self, node: Add) -> Steps[None]:
        """`generic_visit` goes on below the node."""
        self.sums += 1
        yield Later(super().generic_visit, node)


class Double(NodeMutator, dialect="typing_visitors"):
    """Doubles numbers."""

    def visit_num(self, node: Num) -> Num:
        """The replacement of a number."""
        return Num(2 * node.value)

    def visit_add(self, node: Add) -> Expr:
        """The node with its children rewritten has the type of the node."""
        rewritten = super().generic_visit(node)
        assert_type(rewritten, Add)
        assert_type(self.visit(node.lhs), Expr)
        return rewritten


program = Add(Num(1), Add(Num(2), Num(3)))
assert_type(Value().visit(program), int)
counter = Count()
counter.visit(program)
assert counter.sums == 2
assert_type(Double().visit(program), Add)
assert Value().visit(Double().visit(program)) == 12
if TYPE_CHECKING:
    text: str = Value().visit(program)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
