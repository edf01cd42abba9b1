"""Operators that reduce axes.

>>> from isoform import relay
>>> x = relay.var("x", shape=(2, 3, 4))
>>> relay.op.infer_type_local(relay.sum(x, axis=1)).concrete_shape
(2, 4)
>>> relay.op.infer_type_local(relay.argmax(x, axis=(0, 2), keepdims=True)).concrete_shape
(1, 3, 1)
"""

from __future__ import annotations

from typing import Any

from ._make import listed, make
from .tensor import sqrt

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "max",
    "mean",
    "mean_std",
    "mean_variance",
    "min",
    "prod",
    "std",
    "sum",
    "variance",
]


_ARGS = """

    Args:
        data: The input.
        axis: The axes, or one axis; negative ones count from the end. None means all.
        keepdims: True if reduced axes remain, with size 1.
        exclude: True if the axes are those that are not reduced.
"""


def _reduction(name: str) -> Any:
    function = make(name)

    def operation(
        data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False
    ) -> Any:
        return function(data, listed(axis), keepdims, exclude)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = f"{function.__doc__}{_ARGS}\n    Returns a call of `{name}`.\n"
    return operation


sum = _reduction("sum")  # noqa: A001
max = _reduction("max")  # noqa: A001
min = _reduction("min")  # noqa: A001
mean = _reduction("mean")
prod = _reduction("prod")
all = _reduction("all")  # noqa: A001
any = _reduction("any")  # noqa: A001


def _position(name: str) -> Any:
    function = make(name)

    def operation(
        data: Any,
        axis: Any = None,
        keepdims: bool = False,
        exclude: bool = False,
        select_last_index: bool = False,
    ) -> Any:
        return function(data, listed(axis), keepdims, select_last_index, exclude)

    last = "        select_last_index: True for the last of several equal elements.\n"
    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = f"{function.__doc__}{_ARGS}{last}\n    Returns a call of `{name}`.\n"
    return operation


argmax = _position("argmax")
argmin = _position("argmin")
_variance = make("variance")


def variance(
    data: Any,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
    with_mean: Any = None,
) -> Any:
    """Return the variance of elements over axes.

    Args:
        data: The input.
        axis: The axes, or one axis; negative axes count from the end. None means all.
        keepdims: True if reduced axes remain, with size 1.
        exclude: True to reduce all axes except these.
        unbiased: True to divide by the number of elements minus one.
        with_mean: The mean of the data with axes kept; None to compute it.
    """
    center = mean(data, axis, True, exclude) if with_mean is None else with_mean
    return _variance(data, center, listed(axis), keepdims, exclude, unbiased)


def std(
    data: Any,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
    with_mean: Any = None,
) -> Any:
    """Return the standard deviation of elements over axes: the root of `variance`."""
    return sqrt(variance(data, axis, keepdims, exclude, unbiased, with_mean))


def mean_variance(
    data: Any,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
) -> tuple[Any, Any]:
    """Return the mean and the variance of elements over axes."""
    center = mean(data, axis, True, exclude)
    spread = variance(data, axis, keepdims, exclude, unbiased, with_mean=center)
    return (center if keepdims else mean(data, axis, keepdims, exclude)), spread


def mean_std(
    data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False
) -> tuple[Any, Any]:
    """Return the mean and the standard deviation of elements over axes."""
    center, spread = mean_variance(data, axis, keepdims, exclude)
    return center, sqrt(spread)
