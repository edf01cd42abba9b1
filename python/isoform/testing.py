"""Tools for testing node types: laws, promises, and an independent judge."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from isoform import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoform.ir import IRModule
    from isoform.pto.ir import Program

__all__ = [
    "check_laws",
    "check_types",
    "oracle_canonical",
    "oracle_equal",
    "random_module",
    "random_program",
    "rust_family",
]


def check_laws(
    values: Iterable[Any], map_free_vars: bool = False, skip_tensor_content: bool = False
) -> None:
    """Checks the laws of comparison on the given values.

    Equality must be reflexive, symmetric and transitive, and equal values must have the
    same hash and, where defined, the same digest. Meant for types with `__s_equal__`
    and `__s_hash__`: pass values that exercise the hooks. The cost is cubic in the
    number of values.

    Raises:
        ValueError: with the law, and the violating values.

    Example:
        >>> check_laws([1, 1.0, True, "1"])
    """
    _core.check_laws(list(values), map_free_vars, skip_tensor_content)


def check_types(values: Iterable[Any]) -> None:
    """Checks on given values the promises that their types make by their kind.

    A `const-tree` promises to contain no variable and no `dag` node. Linear in the size
    of the values.

    Raises:
        ValueError: with the type, and the path to the offending part.

    Example:
        >>> check_types([[1, 2], {"k": 3}])
    """
    _core.check_types(list(values))


def oracle_equal(
    lhs: Any, rhs: Any, map_free_vars: bool = False, skip_tensor_content: bool = False
) -> bool:
    """The correct result of `structural_equal`, by a slow and independent rule.

    Raises:
        RecursionError: the values are nested deeper than some hundred levels.
        TypeError, ValueError: as `structural_equal`.

    Example:
        >>> oracle_equal([1, "a"], (1, "a"))
        True
    """
    return _core.oracle_equal(lhs, rhs, map_free_vars, skip_tensor_content)


def oracle_canonical(
    value: Any, map_free_vars: bool = False, skip_tensor_content: bool = False
) -> str:
    """A text that two values share exactly if they are structurally equal.

    Free variables and singletons are named by identity, so the text means
    something in this process only.

    Raises:
        TypeError: a type has its own hooks.
        RecursionError: the value is nested too deeply.

    Example:
        >>> oracle_canonical([1]) == oracle_canonical((1,))
        True
    """
    return _core.oracle_canonical(value, map_free_vars, skip_tensor_content)


def random_module(seed: int, size: int = 100) -> IRModule:
    """A random module of about `size` nodes: the same one for the same seed.

    It may contain any comparable class of `isoform.ir`, `isoform.tir` and
    `isoform.relay`, with shared nodes, and with free and bound variables.
    Meant for tests of passes, printers and the like, which have to cope with
    every module; expressions of `isoform.tir` have the data types that their
    constructors require, and apart from that the module has no meaning.

    Linear in the size.

    Raises:
        OverflowError: the seed is negative or has more than 64 bits, or the
            size is negative.

    Example:
        >>> from isoform import structural_equal
        >>> module = random_module(7, 50)
        >>> structural_equal(module, random_module(7, 50), map_free_vars=True)
        True
        >>> structural_equal(module, random_module(8, 50), map_free_vars=True)
        False
    """
    import isoform.ir  # noqa: F401  # the classes of the module

    return _core.random_module(seed, size)


def random_program(seed: int, size: int = 100) -> Program:
    """A random program of `isoform.pto` of about `size` nodes, the same one for the same seed.

    The program may contain any class of `isoform.pto.ir`. The program is well-formed:
    operands have compatible types, loops yield the values they carry, every variable is
    defined at its uses, and functions call each other with matching arguments.
    Expressions, statements, types and memory references are shared.

    Linear in the size.

    Raises:
        OverflowError: the seed is negative or has more than 64 bits, or the
            size is negative.

    Example:
        >>> from isoform.pto import ir
        >>> program = random_program(7, 50)
        >>> ir.structural_equal(program, random_program(7, 50))
        True
        >>> ir.structural_equal(program, random_program(8, 50), enable_auto_mapping=True)
        False
    """
    import isoform.pto  # noqa: F401  # the classes of the program

    return _core.random_program(seed, size)


@functools.cache
def rust_family() -> SimpleNamespace:
    """Node types of every kind, declared in Rust, in the form of Python classes.

    Example:
        >>> family = rust_family()
        >>> family.Add(1, 2).rhs
        2
    """
    return SimpleNamespace(**_core.rust_family())
