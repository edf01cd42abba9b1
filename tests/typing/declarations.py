"""Constructors, fields and enums, as checkers see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from typing_extensions import assert_type

from isoform import Array, Object
from isoform.dataclasses import (
    KW_ONLY,
    Enum,
    IntEnum,
    StrEnum,
    entry,
    field,
    init_property,
    py_class,
)


class DType(StrEnum, type_key="typing_declarations.DType"):
    """Members have strings."""

    F32 = "float32"
    I8 = "int8"

    @property
    def bits(self) -> int:
        """A method of members."""
        return 32 if self is DType.F32 else 8


class Level(IntEnum, type_key="typing_declarations.Level"):
    """Members have ints."""

    low = 1
    high = 10


class Op(Enum, type_key="typing_declarations.Op"):
    """Members have fields."""

    symbol: str
    add = entry(symbol="+")
    mul = entry(symbol="*")


def takes(dtype: DType) -> DType:
    """Takes a member."""
    return dtype


assert_type(takes(DType.F32), DType)
assert_type(DType.F32.value, str)
assert_type(DType.F32.name, str)
assert_type(DType.F32.bits, int)
assert_type(DType["F32"], DType)
assert_type(DType("float32"), DType)
assert_type(DType.get("int8"), DType)
assert_type([member for member in DType], list[DType])  # noqa: C416
assert_type(sorted(DType.__members__), list[str])
assert_type(Level.low < Level.high, bool)
assert_type(int(Level.high), int)
assert_type(Level.high.value, int)
assert_type(Op.add.symbol, str)
assert_type(takes(DType.I8), DType)
if TYPE_CHECKING:
    takes("float32")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def digits(dtype: DType) -> int:
    """Every member has a branch, so no return is missing at the end."""
    match dtype:
        case DType.F32:
            return 7
        case DType.I8:
            return 2


@py_class("typing_declarations.Node", frozen=True)
class Node(Object):
    """Fields with and without options."""

    dtype: DType
    parts: Sequence[Node] = field(default_factory=list["Node"])
    names: Mapping[str, int] = field(default_factory=dict[str, int])
    level: Level = field(default=Level.low, structural_eq="ignore")
    _: KW_ONLY
    span: str | None = field(default=None, structural_eq="ignore", repr=False)

    @init_property
    def count(self) -> int:
        """Computed once."""
        return len(self.parts)


node = Node(DType.F32, [Node(DType.I8)], {"x": 1}, span="a:1")
assert_type(node.dtype, DType)
assert_type(node.parts[0], Node)
assert_type(node.names["x"], int)
assert_type(node.count, int)
if TYPE_CHECKING:
    Node(DType.F32, [3])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    Node()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Node(DType.F32, [], {}, Level.low, "a:1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    field(defualt=3)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]


@py_class("typing_declarations.Exact")
class Exact(Object):
    """A field of the type `Array` takes arrays only, for checkers."""

    parts: Array[int]


Exact(Array([1, 2]))
if TYPE_CHECKING:
    Exact([1, 2])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
