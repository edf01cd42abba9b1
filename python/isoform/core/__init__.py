"""The object model: the base classes of nodes and the descriptions of fields.

Most names come from the native module. This package defines `TypeSchema`, the
description of the values that a field accepts.
"""

from typing import TYPE_CHECKING, Any

from isoform._core import (
    KWARGS,
    MISSING,
    Object,
    ObjectMeta,
    Property as FFIProperty,
    TypeField,
    TypeInfo,
)

from . import _classes
from ._annotations import BigInt
from ._schema import TypeSchema

if TYPE_CHECKING:
    from isoform.dtype import dtype as DataType  # noqa: N812
    from isoform.error import Error
    from isoform.function import Function, ObjectConvertible, OpaquePyObject

    String = str
    Bytes = bytes

__all__ = [
    "KWARGS",
    "MISSING",
    "BigInt",
    "Bytes",
    "DataType",
    "Error",
    "FFIProperty",
    "Function",
    "Object",
    "ObjectConvertible",
    "ObjectMeta",
    "OpaquePyObject",
    "String",
    "TypeField",
    "TypeInfo",
    "TypeSchema",
]


def __getattr__(name: str) -> Any:
    # The modules of these names need this module, so the names are looked up on first
    # use instead of being imported.
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = _classes.find(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
