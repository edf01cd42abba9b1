"""Operators, and functions that construct calls of operators.

The operators themselves, with the relations between the types of their calls, are declared
in the core; a function here converts its arguments and calls the constructor function of
the same operator under the global name `relay.op._make.` and its name.
"""

from isoform.ir import _api

from . import annotation, nn, op, reduce, tensor, transform
from .op import (
    OpPattern,
    get,
    register,
    register_kernel,
    register_pattern,
    register_stateful,
)
from .reduce import *  # noqa: F403
from .tensor import *  # noqa: F403
from .transform import *  # noqa: F403

infer_type_local = _api.function("relay._transform.InferTypeLocal")

__all__ = [
    "OpPattern",
    "annotation",
    "get",
    "infer_type_local",
    "nn",
    "op",
    "reduce",
    "register",
    "register_kernel",
    "register_pattern",
    "register_stateful",
    "tensor",
    "transform",
]
__all__ += reduce.__all__
__all__ += tensor.__all__
__all__ += transform.__all__
