"""Shapes: tuples of 64-bit integers."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

__all__ = ["Shape"]

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class Shape(tuple[int, ...]):
    """A tuple of integers that stays a `Shape` on the way through fields.

    It equals any tuple of the same integers; structural comparison distinguishes shapes
    from arrays.

    Args:
        dims: integers, also those of NumPy.

    Raises:
        TypeError: an element is not an integer.
        OverflowError: an element needs more than 64 bits.

    >>> Shape([2, 3]) == (2, 3)
    True
    """

    __slots__ = ()

    def __new__(cls, dims: Iterable[Any] = ()) -> Shape:
        """See the class."""
        if type(dims) is cls:
            return dims
        made = super().__new__(cls, map(operator.index, dims))
        for position, dim in enumerate(made):
            if not _SMALLEST <= dim <= _LARGEST:
                raise OverflowError(f"Shape element [{position}]: {dim} needs more than 64 bits")
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the shape in the form of a tuple of elements."""
        return Shape, (tuple(self),)
