"""The nodes of primitive expressions."""

from __future__ import annotations

from typing import Any

from isoform.dataclasses import c_class
from isoform.ir import _api
from isoform.ir.expr import PrimExpr

_equal = _api.function("tir.equal")
_not_equal = _api.function("tir.not_equal")


def _compared(compare: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        try:
            return compare(self, other)
        except TypeError:
            return NotImplemented

    return method


@c_class("ir.IntImm")
class IntImm(PrimExpr):
    """An integer or a bool.

    Args:
        dtype: The data type.
        value: The number.
        span: The source location.

    Raises ValueError for a number outside the range of the data type.

    >>> from isoform import tir
    >>> int(tir.IntImm("int32", 5)), bool(tir.IntImm("int32", 5) == 5)
    (5, True)
    """

    value: int

    __eq__ = _compared(_equal)
    __ne__ = _compared(_not_equal)

    def __hash__(self) -> int:
        """The hash of the number."""
        return hash(self.value)

    def __int__(self) -> int:
        """Return the number."""
        return self.value

    def __index__(self) -> int:
        """Return the number."""
        return self.value

    def __bool__(self) -> bool:
        """Return whether the number is not 0."""
        return self.value != 0


@c_class("ir.FloatImm")
class FloatImm(PrimExpr):
    """A float.

    Args:
        dtype: The data type.
        value: The number.
        span: The source location.

    Raises ValueError for a finite number outside the range of the data type.
    """

    value: float

    def __float__(self) -> float:
        """Return the number."""
        return self.value


@c_class("tir.StringImm")
class StringImm(PrimExpr):
    """A string.

    Args:
        value: The text.
        span: The source location.
    """

    value: str

    def __eq__(self, other: object) -> bool:
        """Return whether the text is the same."""
        if isinstance(other, StringImm):
            return self.value == other.value
        return self.value == other

    def __ne__(self, other: object) -> bool:
        """Return whether the text is different."""
        return not self == other

    def __hash__(self) -> int:
        """The hash of the text."""
        return hash(self.value)


# The classes of their parents are declared by now.
from isoform.types.tir import *  # noqa: E402, F403  # pyright: ignore[reportAssignmentType]
