"""Passes over functions, and the pipeline."""

from __future__ import annotations

from typing import Any

from isoform import NodeMutator, structural_walk, substitute
from isoform.dataclasses import replace
from isoform.transform import PassContext, function_pass, parse_pipeline, register_pass
from isoform.uses import Uses
from isoform.visitors import Later, Steps

from .nodes import (
    COMPUTE,
    Binary,
    BinaryOp,
    Buffer,
    Expr,
    Float,
    For,
    Function,
    Int,
    Let,
    Load,
    Seq,
    Stmt,
    Store,
    Var,
    sequence,
)


def number(expr: Expr) -> float | None:
    """The value of a literal."""
    return expr.value if isinstance(expr, (Int, Float)) else None


class Simplifier(NodeMutator, dialect="tensor_language"):
    """Replaces operators of literals by their results."""

    def visit_binary(self, node: Binary) -> Steps[Expr]:
        """Computes an operator of literals, and drops an operator that changes nothing."""
        node = yield Later(super().generic_visit, node)
        op, lhs, rhs = node.op, number(node.lhs), number(node.rhs)
        if lhs is not None and rhs is not None:
            done = COMPUTE[op](lhs, rhs)
            exact = isinstance(node.lhs, Int) and isinstance(node.rhs, Int)
            return Int(int(done), line=node.line) if exact else Float(done, line=node.line)
        if (op is BinaryOp.ADD and lhs == 0) or (op is BinaryOp.MUL and lhs == 1):
            return node.rhs
        if (op in (BinaryOp.ADD, BinaryOp.SUB) and rhs == 0) or (op is BinaryOp.MUL and rhs == 1):
            return node.lhs
        return node


@register_pass("tensor_language.Simplify")
@function_pass(
    opt_level=1, cls=Function, name="tensor_language.Simplify", pure=True, version="1", ignores=True
)
def Simplify(function: Function, root: Any, ctx: PassContext) -> Function:  # noqa: N802, ARG001
    """Computes operators of literals."""
    return Simplifier().visit(function)


def loads(value: Expr | Stmt) -> set[Buffer]:
    """The buffers that a node reads."""
    found: set[Buffer] = set()
    structural_walk(value, (Load, lambda load: found.add(load.buffer)))
    return found


def stores(stmt: Stmt) -> set[Buffer]:
    """The buffers that a statement writes."""
    found: set[Buffer] = set()
    structural_walk(stmt, (Store, lambda store: found.add(store.buffer)))
    return found


class Inliner(NodeMutator, dialect="tensor_language"):
    """Puts values in the place of their names."""

    def visit_let(self, node: Let) -> Steps[Stmt]:
        """A value that is used once and reads no memory, or that nothing uses."""
        value: Expr = yield node.value
        body: Stmt = yield node.body
        count = Uses(body).use_count(node.var)
        if count == 0 or (count == 1 and not loads(value)) or not isinstance(value, (Binary, Load)):
            return substitute(body, {node.var: value})
        return replace(node, value=value, body=body)


@register_pass("tensor_language.Inline")
@function_pass(
    opt_level=1, cls=Function, name="tensor_language.Inline", pure=True, version="1", ignores=True
)
def Inline(function: Function, root: Any, ctx: PassContext) -> Function:  # noqa: N802, ARG001
    """Removes names of values that are used once."""
    return Inliner().visit(function)


class LoopMutator(NodeMutator, dialect="tensor_language"):
    """Rewrites each loop, from the inside out."""

    def __init__(self, size: int) -> None:
        self.size = size


class Unroller(LoopMutator, dialect="tensor_language"):
    """Writes the body of short loops several times."""

    def visit_for(self, node: For) -> Steps[Stmt]:
        """A loop of at most `size` runs."""
        node = yield Later(super().generic_visit, node)
        if node.extent > self.size:
            return node
        runs = range(node.extent)
        return sequence([substitute(node.body, {node.var: Int(run)}) for run in runs])


class Tiler(LoopMutator, dialect="tensor_language"):
    """Splits each loop whose extent is a multiple of `size` in two."""

    def visit_for(self, node: For) -> Steps[Stmt]:
        """The outer loop counts blocks, the inner one what is in them."""
        node = yield Later(super().generic_visit, node)
        if node.extent % self.size or node.extent == self.size:
            return node
        outer, inner = Var(f"{node.var.name}o"), Var(f"{node.var.name}i")
        index = Binary(BinaryOp.ADD, Binary(BinaryOp.MUL, outer, Int(self.size)), inner)
        body = substitute(node.body, {node.var: index})
        return For(outer, node.extent // self.size, For(inner, self.size, body), line=node.line)


class Unrolling:
    """The function of the pass `Unroll`."""

    def __init__(self, limit: int = 4) -> None:
        self.limit = limit

    def transform_function(self, function: Function, root: Any, ctx: PassContext) -> Function:  # noqa: ARG002
        """Unrolls loops of at most `limit` runs."""
        return Unroller(self.limit).visit(function)


class Tiling:
    """The function of the pass `Tile`."""

    def __init__(self, factor: int = 8) -> None:
        self.factor = factor

    def transform_function(self, function: Function, root: Any, ctx: PassContext) -> Function:  # noqa: ARG002
        """Tiles loops by `factor`."""
        return Tiler(self.factor).visit(function)


Unroll = register_pass(
    "tensor_language.Unroll",
    function_pass(
        opt_level=2,
        cls=Function,
        name="tensor_language.Unroll",
        pure=True,
        version="1",
        ignores=True,
    )(Unrolling),
)
Tile = register_pass(
    "tensor_language.Tile",
    function_pass(
        opt_level=2, cls=Function, name="tensor_language.Tile", pure=True, version="1", ignores=True
    )(Tiling),
)


class Fuser(NodeMutator, dialect="tensor_language"):
    """Joins neighbouring loops of the same extent that share no written buffer."""

    def visit_seq(self, node: Seq) -> Steps[Stmt]:
        """Joins each loop with the loop before it where the two share no written buffer."""
        node = yield Later(super().generic_visit, node)
        done: list[Stmt] = []
        for stmt in node.stmts:
            last = done[-1] if done else None
            if isinstance(stmt, For) and isinstance(last, For) and independent(last, stmt):
                second = substitute(stmt.body, {stmt.var: last.var})
                done[-1] = replace(last, body=sequence([last.body, second]))
            else:
                done.append(stmt)
        return sequence(done) if len(done) < len(node.stmts) else node


def independent(first: For, second: For) -> bool:
    """True if the loops can run at once."""
    written = [stores(first), stores(second)]
    touched = [stores(first) | loads(first), stores(second) | loads(second)]
    disjoint = written[0].isdisjoint(touched[1]) and written[1].isdisjoint(touched[0])
    return first.extent == second.extent and disjoint


@register_pass("tensor_language.Fuse")
@function_pass(
    opt_level=2, cls=Function, name="tensor_language.Fuse", pure=True, version="1", ignores=True
)
def Fuse(function: Function, root: Any, ctx: PassContext) -> Function:  # noqa: N802, ARG001
    """Joins neighbouring loops."""
    return Fuser().visit(function)


PIPELINE = ",".join(
    f"tensor_language.{name}"
    for name in ("Inline", "Fuse", "Tile{factor=8}", "Unroll{limit=2}", "Simplify")
)


def pipeline(text: str = PIPELINE) -> Any:
    """The passes of a text."""
    return parse_pipeline(text)
