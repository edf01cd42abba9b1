"""The features of a class declared with `py_class` other than comparison.

It has what dataclasses have: defaults, keyword-only fields, `__post_init__`,
`replace`, `match`. Beyond that, fields convert their values, enums carry
attributes, and a class can check itself.
"""

from isoform import Array
from isoform.dataclasses import KW_ONLY, Object, field, fields, py_class, replace


@py_class("features.Type", frozen=True)
class Type(Object):
    """A type."""


@py_class("features.TensorType", frozen=True, eq=True, unsafe_hash=True)
class TensorType(Type):
    """The type of a tensor; equal by value."""

    shape: Array[int]
    _: KW_ONLY
    dtype: str = "float32"

    def __post_init__(self) -> None:
        """Refuse shapes that no tensor has."""
        if any(extent < 0 for extent in self.shape):
            raise ValueError(f"an extent is negative: {list(self.shape)}")


@py_class("features.Op")
class Op(Object):
    """An operation with a list of attributes that may grow."""

    name: str = field(converter=str.strip, doc="How the operation is called.")
    types: list[Type] = field(default_factory=list[Type])
    cost: float = field(default=1, structural_eq="ignore")


def describe(node: Object) -> str:
    """Say what a node is."""
    match node:
        case TensorType(shape, dtype=dtype):
            return f"{dtype}[{', '.join(str(extent) for extent in shape)}]"
        case Op(name, types):
            return f"{name}({', '.join(describe(one) for one in types)})"
        case _:
            return "something else"


def main() -> None:
    """Use the features."""
    image = TensorType(Array([1, 3, 224, 224]))
    half = replace(image, dtype="float16")
    assert image == TensorType(Array([1, 3, 224, 224]))
    assert len({image, half, replace(half, dtype="float32")}) == 2

    conv = Op("  Conv ", [image, half])
    assert conv.cost == 1.0
    assert conv.types[0] is image
    print(describe(conv))

    for known in fields(Op):
        print(f"  {known.name}: {known.doc or 'no documentation'}")

    try:
        TensorType(Array([-1]))
    except ValueError as error:
        print("refused:", error)
    else:
        raise AssertionError("a negative extent was accepted")


if __name__ == "__main__":
    main()
