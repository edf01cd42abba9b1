"""Runs functions on lists of numbers: the meaning that passes keep."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .nodes import (
    COMPUTE,
    Binary,
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
)


class Machine:
    """The memory of a run."""

    def __init__(self, memory: dict[Buffer, list[float]]) -> None:
        self.memory = memory
        self.values: dict[Var, float] = {}

    def value(self, expr: Expr) -> float:
        """The value of an expression."""
        match expr:
            case Int() | Float():
                return expr.value
            case Var():
                return self.values[expr]
            case Binary(op, lhs, rhs):
                return COMPUTE[op](self.value(lhs), self.value(rhs))
            case Load(buffer, indices):
                return self.memory[buffer][self.place(buffer, indices)]
            case _:
                raise TypeError(f"no value for {type(expr).__name__}")

    def place(self, buffer: Buffer, indices: Sequence[Expr]) -> int:
        """The position of an element."""
        position = 0
        for index, extent in zip(indices, buffer.shape, strict=True):
            position = position * extent + int(self.value(index))
        return position

    def run(self, stmt: Stmt) -> None:
        """Runs a statement."""
        match stmt:
            case Store(buffer, indices, value):
                self.memory[buffer][self.place(buffer, indices)] = self.value(value)
            case Seq(stmts):
                for inner in stmts:
                    self.run(inner)
            case Let(value, var, body):
                self.values[var] = self.value(value)
                self.run(body)
            case For(var, extent, body):
                for run in range(extent):
                    self.values[var] = run
                    self.run(body)
            case _:
                raise TypeError(f"no statement {type(stmt).__name__}")


def evaluate(function: Function, inputs: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """The contents of all buffers after a run; those without input begin with zeros."""
    memory = {
        param: list(inputs.get(param.name, [0.0] * math.prod(param.shape)))
        for param in function.params
    }
    Machine(memory).run(function.body)
    return {param.name: numbers for param, numbers in memory.items()}
