"""Passes over ONNX programs in Python: a visitor, three mutators, and pipelines of them.

docs/writing-a-pass.md explains them. They run on files, too:

    python -m isoform run --import examples/onnx_passes.py --changes \\
        "onnx.GuardDropout,onnx.CollapseIfs,onnx.FoldConstants{limit=4096}" model.onnx
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

from isoform import Tensor, ir, onnx, relay
from isoform.transform import (
    PassContext,
    PrintChanges,
    analysis,
    function_pass,
    parse_pipeline,
    register_pass,
)
from isoform.visitors import Later, NodeMutator, NodeVisitor

# A method may wait for results: `yield` sends what it waits for, and returns it.
Steps = Generator[Any, Any, Any]


class OperatorCounter(NodeVisitor, dialect="onnx"):
    """Counts the calls of each operator, those inside of branches and loops included."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def visit_call(self, call: onnx.Call) -> Steps:
        """Count one call, and go on below it."""
        self.counts[call.op] += 1
        yield Later(super().generic_visit, call)


@analysis(name="onnx.operators")
def operators(function: Any) -> Counter[str]:
    """Return the number of calls of each operator."""
    counter = OperatorCounter()
    counter.visit(function)
    return counter.counts


class DropoutGuard(NodeMutator, dialect="onnx"):
    """Puts each Dropout into an If, as exporters do whose models have a flag for training."""

    def __init__(self, training: bool) -> None:
        self.training = relay.const(training).data

    def visit_output(self, output: onnx.Output) -> Steps:
        """Replace the first output of a Dropout by that of the If."""
        output = yield Later(super().generic_visit, output)
        call = output.call
        if (call.domain, call.op, output.index) != ("", "Dropout", 0):
            return output
        branches = {
            name: onnx.Graph([], [None], [value])
            for name, value in (("then_branch", output), ("else_branch", call.inputs[0]))
        }
        names = [f"{name}_guarded" for name in call.output_names[:1]]
        choice = onnx.Call(
            "", "If", call.version, None, branches, [self.training], 1, output_names=names
        )
        return onnx.Output(choice, 0)


class IfCollapser(NodeMutator, dialect="onnx"):
    """Replaces each If with a constant condition by the branch that it takes."""

    def visit_output(self, output: onnx.Output) -> Steps:
        """Replace an output of such an If."""
        output = yield Later(super().generic_visit, output)
        call = output.call
        if (call.domain, call.op) != ("", "If") or not isinstance(call.inputs[0], Tensor):
            return output
        taken = "then_branch" if call.inputs[0].numpy().item() else "else_branch"
        return call.attrs[taken].results[output.index]


def full(call: onnx.Call, inputs: list[Any]) -> Any:
    """Return a tensor of one number."""
    dims = inputs[0]
    value = call.attrs.get("value")
    fill = relay.const(0.0, "float32") if value is None else relay.reshape(relay.const(value), ())
    return relay.full(fill, dims.data.numpy().tolist())


def unsqueeze(call: onnx.Call, inputs: list[Any]) -> Any:
    """Return the tensor with axes of size 1."""
    x = inputs[0]
    shape = list(x.data.shape)
    # The axes are an attribute up to version 12, and an input later.
    axes = inputs[1].data.numpy().tolist() if len(inputs) > 1 else call.attrs["axes"]
    for axis in sorted(axis % (len(shape) + len(axes)) for axis in axes):
        shape.insert(axis, 1)
    return relay.reshape(x, shape)


# The expression of Relay with the value of a call, by operator.
KERNELS: dict[str, Callable[[onnx.Call, list[Any]], Any]] = {
    "Add": lambda _, inputs: inputs[0] + inputs[1],
    "ConstantOfShape": full,
    "Mul": lambda _, inputs: inputs[0] * inputs[1],
    "Shape": lambda _, inputs: relay.shape_of(inputs[0], "int64"),
    "Sub": lambda _, inputs: inputs[0] - inputs[1],
    "Transpose": lambda call, inputs: relay.transpose(inputs[0], call.attrs.get("perm")),
    "Unsqueeze": unsqueeze,
}


class ConstantFolder(NodeMutator, dialect="onnx"):
    """Replaces calls on constants by their values, unless these take too many bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.evaluate = relay.create_executor().evaluate

    def visit_output(self, output: onnx.Output) -> Steps:
        """Replace an output of a call on constants."""
        output = yield Later(super().generic_visit, output)
        value = self.value(output.call)
        return output if value is None else value

    def value(self, call: onnx.Call) -> Any:
        """Return the value of a call; None if it is not known, or too large."""
        if call.domain or call.op not in KERNELS:
            return None
        if not call.inputs or not all(isinstance(value, Tensor) for value in call.inputs):
            return None
        if any(isinstance(value, onnx.AttrRef) for value in call.attrs.values()):
            return None
        try:
            expr = KERNELS[call.op](call, [relay.const(value) for value in call.inputs])
            ty = relay.transform.InferTypeLocal(expr)
            if math.prod(map(int, ty.shape)) * ty.dtype.itemsize > self.limit:
                return None
            return self.evaluate(expr)
        except (ValueError, ir.DiagnosticError):  # It has no value, or is ill-typed.
            return None


@register_pass("onnx.GuardDropout")
@function_pass(opt_level=1, name="onnx.GuardDropout")
class GuardDropout:
    """Puts each Dropout into an If with a constant condition, `training`."""

    def __init__(self, training: bool = False) -> None:
        self.training = training

    def transform_function(self, function: Any, program: Any, ctx: PassContext) -> Any:  # noqa: ARG002
        """Return the function with these."""
        return DropoutGuard(self.training).visit(function)


@register_pass("onnx.CollapseIfs")
@function_pass(opt_level=1, name="onnx.CollapseIfs")
def collapse_ifs(function: Any, program: Any, ctx: PassContext) -> Any:  # noqa: ARG001
    """Replaces each If with a constant condition by the branch that it takes."""
    return IfCollapser().visit(function)


@register_pass("onnx.FoldConstants")
@function_pass(opt_level=2, name="onnx.FoldConstants")
class FoldConstants:
    """Replaces operators on constants by their values, unless these exceed `limit` bytes."""

    def __init__(self, limit: int = 65536) -> None:
        self.limit = limit

    def transform_function(self, function: Any, program: Any, ctx: PassContext) -> Any:  # noqa: ARG002
        """Return the function with these."""
        return ConstantFolder(self.limit).visit(function)


def example() -> onnx.Program:
    """Return a program with a Dropout, and a sum of constants."""
    x = onnx.Input(ty=None, default=None, name="x")
    terms = [relay.const(number, "float32").data for number in (0.5, 1.5)]
    value: Any = x
    for op, inputs, name in (("Add", terms, "sum"), ("Mul", [x], "product"), ("Dropout", [], "y")):
        previous = [] if op == "Add" else [value]
        call = onnx.Call("", op, 10, None, {}, [*inputs, *previous], 1, output_names=[name])
        value = onnx.Output(call, 0)
    return onnx.Program(onnx.Graph([x], [None], [value], name="example"), [])


if __name__ == "__main__":
    program = example()
    with PassContext(instruments=[PrintChanges()]) as ctx:
        print("before:", dict(ctx.analysis(operators, program.graph)), end="\n\n")
        passes = parse_pipeline("onnx.GuardDropout,onnx.CollapseIfs,onnx.FoldConstants")
        done = passes(program)
        print("after:", dict(ctx.analysis(operators, done.graph)))
    assert operators(done.graph) == {"Mul": 1}
