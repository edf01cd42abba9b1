"""Declare an IR, then compare, hash and explain programs.

A variable is equal by where it is bound, whatever its name; `Fun` binds its
parameters. That is all the algorithms need to know.
"""

from isoform import (
    Array,
    explain_structural_mismatch,
    structural_digest,
    structural_equal,
    structural_hash,
)
from isoform.dataclasses import Object, field, py_class


@py_class("quickstart.Expr")
class Expr(Object):
    """Anything with a value."""


@py_class("quickstart.Var", structural_eq="var")
class Var(Expr):
    """A variable."""

    name: str = field(structural_eq="ignore")


@py_class("quickstart.Add")
class Add(Expr):
    """A sum."""

    lhs: Expr
    rhs: Expr


@py_class("quickstart.Fun", scope=True)
class Fun(Expr):
    """A function; the scope of the parameters is the function."""

    params: Array[Var] = field(structural_eq="def")
    body: Expr


def fun(x: str, y: str, *, swap: bool = False) -> Fun:
    """Make `fun x, y -> x + y`, or `fun x, y -> y + x`."""
    first, second = Var(x), Var(y)
    return Fun(Array([first, second]), Add(second, first) if swap else Add(first, second))


def main() -> None:
    """Show what the declarations give."""
    left, right, other = fun("x", "y"), fun("a", "b"), fun("a", "b", swap=True)

    assert structural_equal(left, right)
    assert structural_hash(left) == structural_hash(right)
    assert structural_digest(left) == structural_digest(right)
    print("fun x, y -> x + y  is  fun a, b -> a + b")

    assert not structural_equal(left, other)
    print("fun x, y -> x + y  is not  fun a, b -> b + a:")
    print(explain_structural_mismatch(left, other))


if __name__ == "__main__":
    main()
