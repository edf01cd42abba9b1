"""Operators on the elements of one tensor, or of two with broadcasting.

>>> from isoform import relay
>>> x = relay.var("x", shape=(2, 1))
>>> relay.op.infer_type_local(relay.add(x, relay.exp(relay.var("y", shape=(3,))))).concrete_shape
(2, 3)
"""

from __future__ import annotations

from ._make import binary, unary

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "ceil",
    "copy",
    "cos",
    "cosh",
    "divide",
    "equal",
    "erf",
    "exp",
    "floor",
    "floor_divide",
    "floor_mod",
    "greater",
    "greater_equal",
    "isfinite",
    "isinf",
    "isnan",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "not_equal",
    "ones_like",
    "power",
    "right_shift",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "trunc_divide",
    "trunc_mod",
    "zeros_like",
]

log = unary("log")
log2 = unary("log2")
log10 = unary("log10")
exp = unary("exp")
sqrt = unary("sqrt")
rsqrt = unary("rsqrt")
sigmoid = unary("sigmoid")
tanh = unary("tanh")
cos = unary("cos")
cosh = unary("cosh")
sin = unary("sin")
sinh = unary("sinh")
tan = unary("tan")
acos = unary("acos")
acosh = unary("acosh")
asin = unary("asin")
asinh = unary("asinh")
atan = unary("atan")
atanh = unary("atanh")
erf = unary("erf")
floor = unary("floor")
ceil = unary("ceil")
trunc = unary("trunc")
round = unary("round")  # noqa: A001
abs = unary("abs")  # noqa: A001
sign = unary("sign")
negative = unary("negative")
copy = unary("copy")
logical_not = unary("logical_not")
bitwise_not = unary("bitwise_not")
zeros_like = unary("zeros_like")
ones_like = unary("ones_like")
isnan = unary("isnan")
isfinite = unary("isfinite")
isinf = unary("isinf")

add = binary("add")
subtract = binary("subtract")
multiply = binary("multiply")
divide = binary("divide")
mod = binary("mod")
floor_divide = binary("floor_divide")
floor_mod = binary("floor_mod")
trunc_divide = binary("trunc_divide")
trunc_mod = binary("trunc_mod")
power = binary("power")
maximum = binary("maximum")
minimum = binary("minimum")
right_shift = binary("right_shift")
left_shift = binary("left_shift")
bitwise_and = binary("bitwise_and")
bitwise_or = binary("bitwise_or")
bitwise_xor = binary("bitwise_xor")
logical_and = binary("logical_and")
logical_or = binary("logical_or")
logical_xor = binary("logical_xor")
equal = binary("equal")
not_equal = binary("not_equal")
less = binary("less")
less_equal = binary("less_equal")
greater = binary("greater")
greater_equal = binary("greater_equal")
