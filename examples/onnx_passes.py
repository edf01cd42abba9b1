"""Passes over ONNX programs in Python: a visitor, two mutators, and pipelines of them.

They are the passes of docs/writing-a-pass.md, and run from the command line, too:

    python -m isoform run --import examples/onnx_passes.py --changes \\
        "onnx.CollapseIfs,onnx.FoldConstants{limit=4096}" model.onnx
"""

from __future__ import annotations

import math
from collections import Counter

from isoform import Tensor, onnx, relay
from isoform.transform import (
    PassContext,
    PrintChanges,
    analysis,
    function_pass,
    parse_pipeline,
    register_pass,
)
from isoform.visitors import Later, NodeMutator, NodeVisitor


class OperatorCounter(NodeVisitor, dialect="onnx"):
    """Counts the calls of each operator, those inside of branches and loops included."""

    def __init__(self):
        self.counts = Counter()

    def visit_call(self, call):
        self.counts[call.op] += 1
        yield Later(super().visit_call, call)


@analysis(name="onnx.operators")
def operators(function):
    counter = OperatorCounter()
    counter.visit(function)
    return counter.counts


class DropoutGuard(NodeMutator, dialect="onnx"):
    """Puts each Dropout into an If, as exporters do whose models have a flag for training."""

    def __init__(self, training):
        self.training = relay.const(training).data

    def visit_output(self, output):
        output = yield Later(super().visit_output, output)
        call = output.call
        if (call.domain, call.op, output.index) != ("", "Dropout", 0):
            return output
        branches = {
            name: onnx.Graph([], [None], [value])
            for name, value in (("then_branch", output), ("else_branch", call.inputs[0]))
        }
        names = {"output_names": [f"{name}_guarded" for name in call.output_names[:1]]}
        choice = onnx.Call("", "If", call.version, None, branches, [self.training], 1, **names)
        return onnx.Output(choice, 0)


class IfCollapser(NodeMutator, dialect="onnx"):
    """Replaces each If whose condition is a constant by the branch that it takes."""

    def visit_output(self, output):
        output = yield Later(super().visit_output, output)
        call = output.call
        if (call.domain, call.op) != ("", "If") or not isinstance(call.inputs[0], Tensor):
            return output
        taken = "then_branch" if call.inputs[0].numpy().item() else "else_branch"
        return call.attrs[taken].results[output.index]


def full(call, dims):
    value = call.attrs.get("value")
    fill = relay.const(0.0, "float32") if value is None else relay.reshape(relay.const(value), ())
    return relay.full(fill, dims.data.numpy().tolist())


def unsqueeze(call, x):
    shape = list(x.data.shape)
    axes = call.attrs["axes"]
    for axis in sorted(axis % (len(shape) + len(axes)) for axis in axes):
        shape.insert(axis, 1)
    return relay.reshape(x, shape)


KERNELS = {
    "Add": lambda _, a, b: a + b,
    "ConstantOfShape": full,
    "Mul": lambda _, a, b: a * b,
    "Shape": lambda _, x: relay.shape_of(x, "int64"),
    "Sub": lambda _, a, b: a - b,
    "Transpose": lambda call, x: relay.transpose(x, call.attrs.get("perm")),
    "Unsqueeze": unsqueeze,
}


class ConstantFolder(NodeMutator, dialect="onnx"):
    """Replaces calls on constants by their values, unless these take too many bytes."""

    def __init__(self, limit):
        self.limit = limit
        self.evaluate = relay.create_executor().evaluate

    def visit_output(self, output):
        output = yield Later(super().visit_output, output)
        return self.value(output.call) or output

    def value(self, call):
        if call.domain or call.op not in KERNELS:
            return None
        if not call.inputs or not all(isinstance(value, Tensor) for value in call.inputs):
            return None
        expr = KERNELS[call.op](call, *map(relay.const, call.inputs))
        ty = relay.transform.InferTypeLocal(expr)
        if math.prod(map(int, ty.shape)) * ty.dtype.itemsize > self.limit:
            return None
        try:
            return self.evaluate(expr)
        except ValueError:  # It has no value, such as an integer division by zero.
            return None


@register_pass("onnx.GuardDropout")
@function_pass(opt_level=1, name="onnx.GuardDropout")
class GuardDropout:
    """Puts each Dropout into an If with a constant condition, `training`."""

    def __init__(self, training: bool = False):
        self.training = training

    def transform_function(self, function, program, ctx):
        return DropoutGuard(self.training).visit(function)


@register_pass("onnx.CollapseIfs")
@function_pass(opt_level=1, name="onnx.CollapseIfs")
def CollapseIfs(function, program, ctx):
    """Replaces each If whose condition is a constant by the branch that it takes."""
    return IfCollapser().visit(function)


@register_pass("onnx.FoldConstants")
@function_pass(opt_level=2, name="onnx.FoldConstants")
class FoldConstants:
    """Replaces operators on constants by their values, unless these exceed `limit` bytes."""

    def __init__(self, limit: int = 65536):
        self.limit = limit

    def transform_function(self, function, program, ctx):
        return ConstantFolder(self.limit).visit(function)


def example():
    """A program with a Dropout, and a sum of constants."""
    x = onnx.Input(ty=None, default=None, name="x")
    weights = [relay.const(number, "float32").data for number in (0.5, 1.5)]
    total = onnx.Call("", "Add", 10, None, {}, weights, 1, output_names=["total"])
    product = onnx.Call(
        "", "Mul", 10, None, {}, [x, onnx.Output(total, 0)], 1, output_names=["product"]
    )
    dropped = onnx.Call(
        "", "Dropout", 10, None, {}, [onnx.Output(product, 0)], 1, output_names=["y"]
    )
    return onnx.Program(onnx.Graph([x], [None], [onnx.Output(dropped, 0)], name="example"), [])


if __name__ == "__main__":
    program = example()
    with PassContext(instruments=[PrintChanges()]) as ctx:
        print("before:", dict(ctx.analysis(operators, program.graph)), end="\n\n")
        names = "onnx.GuardDropout,onnx.CollapseIfs,onnx.FoldConstants"
        done = parse_pipeline(names)(program)
        print("after:", dict(ctx.analysis(operators, done.graph)))
    assert operators(done.graph) == {"Mul": 1}
