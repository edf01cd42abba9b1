"""A residual network in Relay: from an ONNX model to kernels for inference.

    python examples/relay_resnet.py MODEL.onnx [PROGRAM.isob]

Translates the model, replaces its normalizations by factors, moves the factors into the
weights of the convolutions, and fuses the rest into kernels; prints the operators before
and after. PROGRAM.isob gets the translated module, for programs in Rust.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from isoform import ir, onnx, relay, serialization, structural_walk
from isoform.transform import PassContext, Sequential


def translate_call(operator: str, attrs: dict[str, Any], operands: list[Any]) -> Any:
    """Return what a call of an operator of ONNX computes, as an expression of Relay.

    Raises ValueError for an operator or form that residual networks do not have.
    """
    windows: dict[str, Any] = {
        "strides": attrs.get("strides", (1, 1)),
        "padding": attrs.get("pads", (0, 0)),
    }
    match operator, operands:
        case "AveragePool", [data]:
            return relay.nn.avg_pool2d(data, attrs["kernel_shape"], **windows)
        case "BatchNormalization", [data, scale, bias, mean, variance]:
            epsilon = attrs["epsilon"]
            return relay.nn.batch_norm(data, scale, bias, mean, variance, epsilon=epsilon)[0]
        case "ConstantOfShape", [shape]:
            element = attrs["value"].numpy()[0]
            return relay.const(np.full(shape.data.numpy(), element))
        case "Conv", [data, weight]:
            return relay.nn.conv2d(data, weight, kernel_size=attrs["kernel_shape"], **windows)
        case "Gemm", [data, weight, bias] if attrs == {"transB": 1}:
            return relay.nn.bias_add(relay.nn.dense(data, weight), bias)
        case "MaxPool", [data]:
            return relay.nn.max_pool2d(data, attrs["kernel_shape"], **windows)
        case "Relu", [data]:
            return relay.nn.relu(data)
        case "Reshape", [data, shape]:
            return relay.reshape(data, shape.data.numpy().tolist())
        case "Softmax", [data]:
            return relay.nn.softmax(data, axis=1)
        case "Sum", [left, right]:
            return left + right
        case _:
            raise ValueError(f"{operator} of {len(operands)} inputs, {attrs}: not translated here")


def translate(model: onnx.Model) -> ir.IRModule:
    """Return the module that computes the same as a model.

    Raises ValueError like `translate_call`.
    """
    graph = model.program.graph
    inputs: dict[Any, Any] = {
        param: relay.var(param.name, shape=param.ty.shape, dtype=param.ty.elem)
        for param in graph.params
    }
    results: dict[onnx.Call, Any] = {}

    def value(operand: Any) -> Any:
        if isinstance(operand, onnx.Output):
            return results[operand.call]
        return inputs.get(operand) or relay.Constant(operand)

    def visit_call(call: onnx.Call) -> None:
        operands = [value(operand) for operand in call.inputs]
        results[call] = translate_call(call.op, dict(call.attrs), operands)

    structural_walk(graph, (onnx.Call, visit_call), order="post")
    params: list[Any] = list(inputs.values())
    return ir.IRModule.from_expr(relay.Function(params, value(graph.results[0])))


def kernels(function: relay.Function) -> Counter[str]:
    """Count the fused functions by their operators."""
    counts: Counter[str] = Counter()

    def count(kernel: relay.Function) -> None:
        if kernel.attrs and "Primitive" in kernel.attrs:
            operators = relay.testing.count_ops(kernel).items()
            counts[", ".join(f"{number} {name}" for name, number in operators)] += 1

    structural_walk(function, (relay.Function, count))
    return counts


def main(arguments: list[str]) -> int:
    """Translate and optimise the model."""
    if len(arguments) not in (1, 2):
        print("usage: relay_resnet.py MODEL.onnx [PROGRAM.isob]", file=sys.stderr)
        return 2
    try:
        module = translate(onnx.load(arguments[0]))
        if len(arguments) == 2:
            with Path(arguments[1]).open("xb") as file:
                file.write(serialization.to_bytes(module))
    except (OSError, ValueError) as error:
        print(f"relay_resnet: {error}", file=sys.stderr)
        return 2
    prepare = Sequential(
        [
            relay.transform.SimplifyInference(),
            relay.transform.FoldConstant(),
            relay.transform.FoldScaleAxis(),
        ]
    )
    with PassContext(opt_level=3):
        done = prepare(module)
        fused = relay.transform.FuseOps()(done)
    for title, each in ("before", module), ("after", done):
        operators = relay.testing.count_ops(each["main"]).items()
        print(f"{title}:", ", ".join(f"{number} {name}" for name, number in operators))
    for operators_of_kernel, number in kernels(fused["main"]).most_common():
        print(f"{number} x ({operators_of_kernel})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
