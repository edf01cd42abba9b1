"""The constructor functions of operators, and conversions of their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.ir import _api
from isoform.types.ir import PrimExpr

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoform.types.relay import Call


def make(name: str) -> Callable[..., Any]:
    """The function that makes calls of an operator: inputs, then fields of attributes."""
    return _api.function(f"relay.op._make.{name}")


def unary(name: str) -> Callable[[Any], Call]:
    """The constructor function of an operator with one input and no attributes."""
    function = make(name)

    def operation(data: Any) -> Any:
        return function(data)

    return _documented(operation, name, function, "        data: The input.")


def binary(name: str) -> Callable[[Any, Any], Call]:
    """The constructor function of an operator with two inputs and no attributes."""
    function = make(name)

    def operation(lhs: Any, rhs: Any) -> Any:
        return function(lhs, rhs)

    args = "        lhs: The left input.\n        rhs: The right input."
    return _documented(operation, name, function, args)


def _documented(operation: Any, name: str, function: Any, args: str) -> Any:
    operation.__name__ = operation.__qualname__ = name.rpartition(".")[2]
    # The documentation comes from Rust.
    operation.__doc__ = (
        f"{function.__doc__}\n\n    Args:\n{args}\n\n    Returns a call of `{name}`.\n"
    )
    return operation


def dtype_or_void(dtype: Any) -> Any:
    """The data type; void for an empty text, which leaves the type open."""
    return "void" if isinstance(dtype, str) and not dtype else dtype


def listed(value: Any) -> Any:
    """Wrap a single size in a list; return lists and None unchanged."""
    if value is None or not (isinstance(value, PrimExpr) or hasattr(value, "__index__")):
        return value
    return [value]


def pair(name: str, value: Any) -> Any:
    """Return the sizes for height and width; a single size is used for both."""
    if isinstance(value, PrimExpr) or hasattr(value, "__index__"):
        return (value, value)
    if len(value) == 1:
        return (value[0], value[0])
    if len(value) != 2:
        raise ValueError(f"{name}: expected one size, or two for height and width, got {value!r}")
    return tuple(value)


def padding(value: Any) -> Any:
    """The sizes of all four sides: top, left, bottom, right."""
    if isinstance(value, PrimExpr) or hasattr(value, "__index__"):
        return (value,) * 4
    sizes = tuple(value)
    if len(sizes) == 1:
        return sizes * 4
    if len(sizes) == 2:
        return sizes * 2
    if len(sizes) != 4:
        raise ValueError(f"padding: expected one, two or four sizes, got {value!r}")
    return sizes
