"""Functions and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.dataclasses import c_class

from .node import IRNode

if TYPE_CHECKING:
    from isoform.types.pto import FunctionType, SplitMode

__all__ = ["Function", "Program"]


@c_class("pto.Function")
class Function(IRNode):
    """A function; its bindings end with it.

    Args:
        name: The name, by which a program calls and compares the function.
        params: The parameters, or pairs of a parameter and its direction.
        return_types: The types of the results.
        body: The statement that the function executes.
        span: The source location.
        type: The kind of function, which tells where the function runs.
        level: The level of the machine at which the function runs.
        role: The role of the function at this level. If both are omitted, they follow
            from the type: CHIP and Orchestrator for Orchestration, CHIP_DIE and SubWorker
            for InCore.
        attrs: Attributes, set by passes and users.
        requires_runtime_binding: Whether the run-time system has to bind the function.

    >>> from isoform.pto import DataType, ir
    >>> x = ir.Var("x", ir.ScalarType(DataType.FP32))
    >>> f = ir.Function("f", [(x, ir.ParamDirection.InOut)], [], ir.ReturnStmt(), type="InCore")
    >>> f.param_directions[0], f.func_type, ir.structural_equal(f, ir.deep_clone(f))
    (ParamDirection.InOut, FunctionType.InCore, True)
    """

    name: str
    type: FunctionType
    attrs: Any

    @property
    def func_type(self) -> FunctionType:
        """The place where it runs, the field `type`."""
        return self.type

    @property
    def split(self) -> SplitMode | None:
        """The division of work between vector cores, from the attribute of this name."""
        mode = self.attrs.get("split")
        modes: Any = _core.class_of("pto.SplitMode")
        return None if mode is None else modes(mode)


@c_class("pto.Program")
class Program(IRNode):
    """A program: functions, which calls refer to by name.

    Args:
        functions: The functions, whose names differ.
        name: For people.
        span: The source location.

    The field `functions` maps names to functions.

    >>> from isoform.pto import ir
    >>> program = ir.Program([ir.Function("f", [], [], ir.ReturnStmt())], "p")
    >>> program.get_function("f").name, program.get_global_var("g"), program["f"].name
    ('f', None, 'f')
    """

    name: str
    functions: Any

    def __getitem__(self, name: str) -> Function:
        """Return the function of a name; KeyError if there is none."""
        functions = self.functions
        if name in functions:
            return functions[name]
        raise KeyError(f"no function is named {name!r}, expected one of {sorted(functions)}")
