"""Tools for testing node types: laws, promises, and an independent judge."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from isoform import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hypothesis.strategies import SearchStrategy

    from isoform._declarations import Finding
    from isoform.ir import IRModule
    from isoform.pto.ir import Program

_T = TypeVar("_T")

__all__ = [
    "check_declarations",
    "check_laws",
    "check_types",
    "oracle_canonical",
    "oracle_equal",
    "random_module",
    "random_program",
    "rust_family",
    "strategy",
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


def check_declarations(*classes: type | str) -> list[Finding]:
    """Finds declarations of classes that are probably not meant as they are.

    - a class of variables that no field binds, and a compared name of a variable;
    - a scope without definitions;
    - a definition without a scope around it, and one that holds no variable;
    - a singleton with fields.

    Fields for any object, such as `Any`, may hold whatever makes the declarations right, so
    that classes with many of them have few findings. Quadratic in the number of registered
    classes, at worst.

    Args:
        classes: classes, type keys, or the beginning of type keys up to a dot; by default,
            all classes that are declared in Python outside of Isoform.

    Returns:
        The findings; `str` of one is a line with the place, the problem and the remedy.

    Raises:
        TypeError: an argument is neither a class nor a str.
        ValueError: no registered class belongs to an argument.

    Example:
        >>> from isoform.dataclasses import Object, field, py_class
        >>> @py_class("doc.check_declarations.Param", structural_eq="var")
        ... class Param(Object):
        ...     name: str = field(structural_eq="ignore")
        >>> @py_class("doc.check_declarations.Lambda", scope=True)
        ... class Lambda(Object):
        ...     params: list[Param]
        ...     body: Param
        >>> for finding in check_declarations("doc.check_declarations"):
        ...     print(f"{finding.type_key}: {finding.reason[:34]}")
        doc.check_declarations.Lambda: is a scope without definitions: no
        doc.check_declarations.Param: is a variable that no field of any
    """
    from isoform import _declarations

    declarations = _declarations.Declarations()
    return declarations.findings(_declarations.chosen(declarations, classes))


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


def strategy(
    cls: type[_T],
    *,
    depth: int = 4,
    size: int = 3,
    nodes: int = 40,
    strategies: Mapping[Any, SearchStrategy[Any]] | None = None,
) -> SearchStrategy[_T]:
    """A strategy of hypothesis for the objects of a class.

    Fields get values of their types: ints of 64 bits, members of enums, objects of classes
    that extend an abstract class. A class without fields that others extend counts as
    abstract. Fields of type `Object` and `Any` get objects of the dialect of `cls`, too.
    Definition fields get new variables, and variables are used where they are bound only;
    where nothing but a variable fits and none is bound, it is a free one. Values pass
    `check_well_formed`.

    Args:
        cls: a registered class.
        depth: how deep objects nest, if the classes have objects of this depth.
        size: the most elements of a container.
        nodes: the number of objects after which a value is completed with the smallest
            objects that fit.
        strategies: strategies for types and classes, instead of the default. A class whose
            constructor does not take its fields needs one.

    Raises:
        ImportError: hypothesis is not installed.
        TypeError: the class is not registered, or, for a drawn value, no value of a field
            can be made.

    Example:
        >>> from hypothesis import given, settings
        >>> from isoform.dataclasses import Object, py_class
        >>> @py_class("doc.strategy.Expr", abstract=True)
        ... class Expr(Object):
        ...     pass
        >>> @py_class("doc.strategy.Num")
        ... class Num(Expr):
        ...     value: int
        >>> @py_class("doc.strategy.Add")
        ... class Add(Expr):
        ...     lhs: Expr
        ...     rhs: Expr
        >>> @settings(database=None)
        ... @given(strategy(Expr))
        ... def test(expr):
        ...     assert isinstance(expr, (Num, Add))
        >>> test()
    """
    from isoform._strategy import strategy_of

    given = strategies or {}
    return strategy_of(cls, depth=depth, size=size, nodes=nodes, strategies=given)
