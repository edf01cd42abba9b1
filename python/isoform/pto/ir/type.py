"""Types of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.core import Object
from isoform.dataclasses import c_class
from isoform.ir import _api
from isoform.structural import structural_equal, structural_hash

from .printing import python_print

if TYPE_CHECKING:
    from isoform.pto.datatype import DataType
    from isoform.types.pto import Expr, MemorySpace, MemRef

__all__ = [
    "ArrayType",
    "PtrType",
    "ShapedType",
    "TensorView",
    "TileView",
    "Type",
    "UnknownType",
]


def _equal(self: Object, other: object) -> Any:
    """Return whether both are structurally equal; a free variable equals only itself."""
    return structural_equal(self, other) if isinstance(other, Object) else NotImplemented


def _hash(self: Object) -> int:
    """Return the structural hash, which agrees with `==`."""
    return structural_hash(self)


@c_class("pto.Type", init=False)
class Type(Object):
    """The base of all types. A `DataType` becomes a scalar type where a type is expected.

    `==` is structural equality, so types can be keys; `same_as` tests identity.

    >>> from isoform.pto import DataType, ir
    >>> x = ir.Var("x", DataType.INT64)
    >>> x.type == ir.ScalarType(DataType.INT64), ir.TensorType([8], DataType.FP32) in {x.type}
    (True, False)
    """

    __eq__ = _equal
    __hash__ = _hash

    def __str__(self) -> str:
        """Return the text of the type, as printed by `python_print`."""
        return python_print(self)


@c_class("pto.TensorView")
class TensorView(Object):
    """The memory layout of a tensor; `==` is structural equality."""

    __eq__ = _equal
    __hash__ = _hash


@c_class("pto.TileView")
class TileView(Object):
    """The layout of a tile in the buffer of a core; `==` is structural equality."""

    __eq__ = _equal
    __hash__ = _hash


@c_class("pto.UnknownType")
class UnknownType(Type):
    """The type of something without a type, or with one that is not yet known."""

    @staticmethod
    def get() -> UnknownType:
        """Return the type."""
        return _unknown_type()


@c_class("pto.PtrType")
class PtrType(Type):
    """The type of a pointer to memory."""

    @staticmethod
    def get() -> PtrType:
        """Return the type."""
        return _ptr_type()


@c_class("pto.ShapedType")
class ShapedType(Type):
    """The base of the types of many numbers of one format."""

    shape: Any
    dtype: DataType
    memref: MemRef | None

    @property
    def memory_space(self) -> MemorySpace | None:
        """The memory in which the elements are, if it is known."""
        return _memory_space(self)


@c_class("pto.ArrayType")
class ArrayType(ShapedType):
    """The type of an array of scalars on a core.

    Args:
        dtype: The format of its elements.
        extent: How many there are; an int becomes a literal of format INDEX.

    >>> from isoform.pto import DataType, ir
    >>> ir.ArrayType(DataType.INT32, 16).extent.value
    16
    """

    @property
    def extent(self) -> Expr:
        """The number of elements."""
        return _extent(self)


_unknown_type = _api.function("pto.UnknownType.get")
_ptr_type = _api.function("pto.PtrType.get")
_memory_space = _api.function("pto.ShapedType.memory_space")
_extent = _api.function("pto.ArrayType.extent")
