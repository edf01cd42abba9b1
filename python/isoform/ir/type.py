"""Types of values, and functions over types."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from isoform.dataclasses import c_class
from isoform.structural import structural_equal, structural_hash

from . import _api
from .base import Node
from .printing import str_of

if TYPE_CHECKING:
    from isoform.types.ir import Span


class TypeKind(IntEnum):
    """Possible kinds of type variables."""

    Type = 0
    ShapeVar = 1
    BaseType = 2
    Constraint = 4
    AdtHandle = 5
    TypeData = 6


@c_class("ir.Type", init=False)
class Type(Node):
    """The base class of all types.

    `==` is structural equality; `same_as` tests identity.
    """

    span: Span | None

    def __str__(self) -> str:
        """Return the text in the format of Relay.

        >>> from isoform import ir
        >>> str(ir.TupleType([ir.TensorType([2, 3]), ir.TensorType([], "int32")]))
        '(Tensor[(2, 3), float32], int32)'
        """
        return str_of(self)

    def __eq__(self, other: object) -> bool:
        """Return whether the types are structurally equal."""
        return isinstance(other, Type) and bool(structural_equal(self, other))

    def __ne__(self, other: object) -> bool:
        """Return whether the types are not structurally equal."""
        return not self == other

    def __hash__(self) -> int:
        """The structural hash, which agrees with `==`."""
        return structural_hash(self)

    def same_as(self, other: object) -> bool:
        """Return whether the other one is the same object."""
        return super().same_as(other)


@c_class("ir.TypeVar")
class TypeVar(Type):
    """A type parameter: equal by where it is bound; the name is only a hint.

    Args:
        name_hint: The name, for people.
        kind: Its meaning.
    """

    name_hint: str
    kind: int

    def __call__(self, *args: Type) -> TypeCall:
        """Apply it to types."""
        return _api.made(TypeCall, self, args)


@c_class("ir.GlobalTypeVar")
class GlobalTypeVar(Type):
    """The name of an algebraic data type or of a type alias.

    Args:
        name_hint: The name, a hint ignored by equality; a module finds definitions by
            name.
        kind: Its meaning.
    """

    name_hint: str
    kind: int

    def __call__(self, *args: Type) -> TypeCall:
        """Apply it to types."""
        return _api.made(TypeCall, self, args)


@c_class("ir.TensorType")
class TensorType(Type):
    """The type of a tensor whose data type and shape are known.

    Args:
        shape: The sizes of its dimensions.
        dtype: The data type of its elements.

    >>> from isoform import ir
    >>> ir.TensorType([2, 3]).concrete_shape
    (2, 3)
    """

    shape: Any
    dtype: Any

    @property
    def concrete_shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions as numbers; TypeError if one is symbolic."""
        return tuple(_concrete_shape(self))


_concrete_shape = _api.function("ir.TensorType.concrete_shape")


# The classes of their parents are declared by now.
from isoform.types.ir import (  # noqa: E402
    FuncType as FuncType,
    IncompleteType as IncompleteType,
    PointerType as PointerType,
    PrimType as PrimType,
    RelayRefType as RelayRefType,
    TensorAffineType as TensorAffineType,
    TupleAffineType as TupleAffineType,
    TupleType as TupleType,
    TypeCall as TypeCall,
    TypeConstraint as TypeConstraint,
    TypeData as TypeData,
    TypeRelation as TypeRelation,
)
