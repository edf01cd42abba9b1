"""Operators: found by name, registered, and given what passes need to know."""

from __future__ import annotations

import enum
from typing import Any

from isoform.ir import _api
from isoform.ir.op import Op, register_op_attr

__all__ = [
    "OpPattern",
    "get",
    "register",
    "register_kernel",
    "register_pattern",
    "register_stateful",
]


class OpPattern(enum.IntEnum):
    """How an operator computes, which determines the operators for fusion."""

    ELEMWISE = 0
    """Each element from the elements at the same position."""
    BROADCAST = 1
    """As element-wise, with inputs repeated along axes of size 1."""
    INJECTIVE = 2
    """Each element from one element of each input."""
    COMM_REDUCE = 3
    """A reduction over axes."""
    OUT_ELEMWISE_FUSABLE = 4
    """A complex computation whose result element-wise operators can consume in place."""
    TUPLE = 7
    """The forming or taking apart of a tuple."""
    OPAQUE = 8
    """Anything else: never fused."""


_register = _api.function("ir.RegisterOp")


def get(op_name: str) -> Op:
    """Return the operator of a name; AttributeError if none is registered.

    Args:
        op_name: The name.

    >>> from isoform import relay
    >>> relay.op.get("nn.dense").num_inputs
    2
    """
    return Op.get(op_name)


def register(op_name: str, describe: str = "") -> Op:
    """Return the operator of a name, added if missing.

    Args:
        op_name: The name.
        describe: Its description.

    `add_type_rel` adds a relation between the types of its calls, with a function of the
    types of inputs and the attributes that returns the type of the result, or None for too
    little information:

    >>> from isoform import ir, relay
    >>> rows = relay.op.register("doc.rows", "The first column of a matrix.")
    >>> rows.set_num_inputs(1)
    >>> rows.add_type_rel("DocRows", lambda types, attrs: ir.TensorType(
    ...     types[0].shape[:1], types[0].dtype))
    >>> call = relay.Call(rows, [relay.var("x", shape=(3, 4))])
    >>> infer = relay.op.infer_type_local
    >>> infer(call).concrete_shape
    (3,)
    """
    return _register(op_name, describe)


def register_pattern(op_name: str, pattern: int, level: int = 10) -> Any:
    """Register the pattern of an operator, one of `OpPattern`.

    Args:
        op_name: The name of the operator, added if missing.
        pattern: The pattern.
        level: The priority: the highest one wins.

    Raises ValueError for a second pattern with the same priority.
    """
    return register_op_attr(op_name, "TOpPattern", int(OpPattern(pattern)), level)


def register_stateful(op_name: str, stateful: bool, level: int = 10) -> Any:
    """Register whether an operator has an effect, or its results differ between calls.

    Args:
        op_name: The name of the operator, added if missing.
        stateful: True if it is.
        level: The priority: the highest one wins.

    Raises ValueError if this is known with the same priority.
    """
    return register_op_attr(op_name, "TOpIsStateful", stateful, level)


_register_kernel = _api.function("relay.eval.register_kernel")


def register_kernel(op_name: str, func: Any = None) -> Any:
    """Set the function by which calls of an operator are evaluated and folded.

    It replaces the kernel of this library, or an earlier custom kernel.

    Args:
        op_name: The name of the registered operator.
        func: A function of a list of inputs, tensors or lists of tensors for tuples, and
            the attributes. It returns an array or tensor, a list of them for a tuple, or
            None for inputs without a result, which leaves the call in the program.
            Without a function, the result is a decorator.

    Raises AttributeError if the operator is not registered.

    >>> import numpy as np
    >>> from isoform import relay
    >>> cube = relay.op.register("doc.cube")
    >>> @relay.op.register_kernel("doc.cube")
    ... def compute(inputs, attrs):
    ...     return inputs[0].numpy() ** 3
    >>> call = relay.Call(cube, [relay.const(2.0)])
    >>> relay.transform.FoldConstantExpr(call).data.numpy().item()
    8.0
    """
    if func is None:
        return lambda func: register_kernel(op_name, func)

    def kernel(inputs: Any, attrs: Any) -> Any:
        return _tensors(func(inputs, attrs))

    _register_kernel(op_name, kernel)
    return func


def _tensors(result: Any) -> Any:
    """The result of a kernel, in which NumPy may have made scalars of arrays without axes."""
    if isinstance(result, (tuple, list)):
        return [_tensors(part) for part in result]
    if type(result).__module__ == "numpy" and getattr(result, "shape", None) == ():
        import numpy as np

        return np.asarray(result)
    return result
