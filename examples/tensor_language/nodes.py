"""The classes of nodes: expressions, statements, functions, modules."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from isoform import Object
from isoform.dataclasses import KW_ONLY, Enum, StrEnum, entry, field, py_class, replace
from isoform.transform import Root
from isoform.type_attrs import implement


class DType(StrEnum, type_key="tensor_language.DType"):
    """The types of elements."""

    F32 = "f32"
    I32 = "i32"


class BinaryOp(Enum, type_key="tensor_language.BinaryOp"):
    """The operators of two numbers."""

    symbol: str
    precedence: int

    ADD = entry("+", 1)
    SUB = entry("-", 1)
    MUL = entry("*", 2)
    MIN = entry("min", 3)
    MAX = entry("max", 3)


COMPUTE: Mapping[BinaryOp, Callable[[float, float], float]] = {
    BinaryOp.ADD: operator.add,
    BinaryOp.SUB: operator.sub,
    BinaryOp.MUL: operator.mul,
    BinaryOp.MIN: min,
    BinaryOp.MAX: max,
}


@py_class("tensor_language.Node", frozen=True)
class Node(Object):
    """The base of all nodes; comparison ignores the place in the source."""

    _: KW_ONLY
    line: int | None = field(default=None, structural_eq="ignore", repr=False)


@py_class("tensor_language.Expr", frozen=True)
class Expr(Node):
    """The base of expressions."""


@py_class("tensor_language.Var", structural_eq="var", frozen=True)
class Var(Expr):
    """A variable of a loop or a `let`; its name does not matter."""

    name: str = field(structural_eq="ignore")
    dtype: DType = DType.I32


@py_class("tensor_language.Int", frozen=True)
class Int(Expr):
    """An integer."""

    value: int


@py_class("tensor_language.Float", frozen=True)
class Float(Expr):
    """A floating-point number."""

    value: float


@py_class("tensor_language.Binary", frozen=True)
class Binary(Expr):
    """An operator and its operands."""

    op: BinaryOp
    lhs: Expr
    rhs: Expr


@py_class("tensor_language.Buffer", structural_eq="var", frozen=True)
class Buffer(Node):
    """A tensor in memory."""

    name: str = field(structural_eq="ignore")
    dtype: DType
    shape: Sequence[int]


@py_class("tensor_language.Load", frozen=True)
class Load(Expr):
    """An element of a buffer."""

    buffer: Buffer
    indices: Sequence[Expr]


@py_class("tensor_language.Stmt", frozen=True)
class Stmt(Node):
    """The base of statements."""


@py_class("tensor_language.Store", frozen=True)
class Store(Stmt):
    """Sets an element of a buffer."""

    buffer: Buffer
    indices: Sequence[Expr]
    value: Expr


@py_class("tensor_language.Seq", frozen=True)
class Seq(Stmt):
    """Statements in order."""

    stmts: Sequence[Stmt]


@py_class("tensor_language.Let", frozen=True, scope=True, defs_first=False)
class Let(Stmt):
    """Names a value in the statements that follow; the value does not see the name."""

    value: Expr
    var: Var = field(structural_eq="def")
    body: Stmt


@py_class("tensor_language.For", frozen=True, scope=True)
class For(Stmt):
    """Runs the body for each number below the extent."""

    var: Var = field(structural_eq="def")
    extent: int
    body: Stmt

    def __verify__(self) -> None:
        """A loop runs at least once."""
        if self.extent < 1:
            raise ValueError(f"a loop needs a positive extent, got {self.extent}")


@py_class("tensor_language.Function", frozen=True, scope=True)
class Function(Node):
    """A kernel; its buffers are bound in the body."""

    name: str
    params: Sequence[Buffer] = field(structural_eq="def")
    body: Stmt


@py_class("tensor_language.Module", frozen=True)
class Module(Node):
    """A program."""

    functions: Sequence[Function]

    def __getitem__(self, name: str) -> Function:
        """The function of a name; KeyError without."""
        for function in self.functions:
            if function.name == name:
                return function
        raise KeyError(name)


def _functions(module: Module) -> list[tuple[str, Function]]:
    return [(function.name, function) for function in module.functions]


def _with_functions(module: Module, changed: Sequence[tuple[str, Function]]) -> Module:
    new = dict(changed)
    return replace(module, functions=[new.get(old.name, old) for old in module.functions])


# Passes over functions find them here. The class has a field of the same name, so that the
# trait is not in its body.
implement(Module, Root, {"functions": _functions, "with_functions": _with_functions})


def sequence(stmts: Sequence[Stmt]) -> Stmt:
    """One statement for several, without sequences inside of sequences."""
    flat: list[Stmt] = []
    for stmt in stmts:
        flat.extend(stmt.stmts if isinstance(stmt, Seq) else [stmt])
    return flat[0] if len(flat) == 1 else Seq(flat)
