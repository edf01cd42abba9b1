"""Comparison in a class's own way: sums whose operands may be swapped.

`__s_equal__` and `__s_hash__` stand for the fields of a class. They compare and
hash parts through the callbacks they are given, which know what is bound. Two
sums are hashed by a function that does not know left from right, because equal
values must have equal hashes.
"""

from collections.abc import Callable

from isoform import get_first_structural_mismatch, structural_equal, structural_hash
from isoform.dataclasses import Object, field, py_class
from isoform.testing import check_laws


@py_class("hooks_example.Expr")
class Expr(Object):
    """Anything with a value."""


@py_class("hooks_example.Int")
class Int(Expr):
    """A number."""

    value: int


@py_class("hooks_example.Sum")
class Sum(Expr):
    """A sum; the order of its operands does not matter."""

    lhs: Expr
    rhs: Expr
    comment: str = field(default="")

    def __s_equal__(self, other: "Sum", equal: Callable[..., bool]) -> bool:
        """Compare the operands in order, else crosswise."""
        straight = equal(self.lhs, other.lhs, False, "lhs") and equal(
            self.rhs, other.rhs, False, "rhs"
        )
        # The names are for the paths in explanations.
        return straight or (
            equal(self.lhs, other.rhs, False, "lhs") and equal(self.rhs, other.lhs, False, "rhs")
        )

    def __s_hash__(self, init: int, hash_of: Callable[..., int]) -> int:
        """Hash the operands regardless of their order."""
        return hash_of(self.lhs, init) ^ hash_of(self.rhs, init)


def main() -> None:
    """Compare sums."""
    one, two, three = Int(1), Int(2), Int(3)
    left = Sum(Sum(one, two), three, "as written")
    right = Sum(three, Sum(two, one), "as sorted")

    assert structural_equal(left, right)
    assert structural_hash(left) == structural_hash(right)
    print("(1 + 2) + 3  is  3 + (2 + 1)")

    paths = get_first_structural_mismatch(left, Sum(three, Sum(two, two)))
    assert paths is not None
    print("and differs from  3 + (2 + 2)  at", *paths)

    # Custom equality must obey some laws; this checks them on examples.
    check_laws([left, right, one, Sum(one, one)])
    print("the laws of equality hold")


if __name__ == "__main__":
    main()
