"""Types of values, under the names of Relay."""

from __future__ import annotations

from typing import Any

from isoform.ir import _api
from isoform.ir.type import TypeKind
from isoform.types.ir import (
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    IntImm,
    RelayRefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeConstraint,
    TypeData,
    TypeRelation,
    TypeVar,
)

__all__ = [
    "FuncType",
    "GlobalTypeVar",
    "IncompleteType",
    "RefType",
    "ShapeVar",
    "TensorType",
    "TupleType",
    "Type",
    "TypeCall",
    "TypeConstraint",
    "TypeData",
    "TypeKind",
    "TypeRelation",
    "TypeVar",
    "is_dynamic",
    "scalar_type",
]

RefType = RelayRefType
"""The type of a reference to a value that changes."""


def ShapeVar(name: str) -> TypeVar:  # noqa: N802
    """Return a type variable that stands for the size of a dimension.

    Args:
        name: The name, for people.
    """
    return _api.made(TypeVar, name, TypeKind.ShapeVar)


def scalar_type(dtype: Any) -> TensorType:
    """Return the type of a tensor without dimensions.

    Args:
        dtype: The data type.
    """
    return _api.made(TensorType, (), dtype)


def is_dynamic(tensor_type: TensorType) -> bool:
    """Return whether the size of some dimension is not a number.

    Args:
        tensor_type: The type.

    >>> from isoform import relay
    >>> [relay.ty.is_dynamic(relay.TensorType(shape)) for shape in ((1, 2), (1, relay.Any()))]
    [False, True]
    """
    return any(not isinstance(size, IntImm) for size in tensor_type.shape)
