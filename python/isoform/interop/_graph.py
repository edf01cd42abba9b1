"""Programs of other libraries as graphs.

A program has no list of operations: its outputs refer to the calls that compute them. The
order of independent operations, unused ones and names therefore do not matter, and
whether a result is shared or computed twice does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isoform.dataclasses import Object, field, py_class

__all__ = ["Call", "Constant", "Input", "Item", "Program"]


@py_class("isoform.interop.Input", structural_eq="var", frozen=True)
class Input(Object):
    """An input of a program; `type` is what the library says about its values."""

    type: Any


@py_class("isoform.interop.Constant", frozen=True)
class Constant(Object):
    """A value that a program contains: a literal, or an array it was traced with."""

    value: Any
    type: Any


@py_class("isoform.interop.Call", structural_eq="dag", frozen=True)
class Call(Object):
    """An operation on values.

    Attributes:
        op: the name of the operation.
        args: the operands.
        options: operands by name, and parameters.
        type: the types of the results.
        after: the last operation with effects before this one, if its order counts.
    """

    op: str
    args: Sequence[Any]
    options: Mapping[str, Any]
    type: Any
    after: Any


@py_class("isoform.interop.Item", frozen=True)
class Item(Object):
    """A result of a call."""

    call: Call
    index: int


@py_class("isoform.interop.Program", scope=True, frozen=True)
class Program(Object):
    """A program: its outputs as expressions over its inputs.

    Attributes:
        inputs: the inputs, in order.
        outputs: the structure of outputs.
        effects: the calls with effects, in order; they count although nothing may use
            their results.
    """

    inputs: Sequence[Input] = field(structural_eq="def")
    outputs: Any
    effects: Sequence[Call]
