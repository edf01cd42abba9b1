"""Attributes of types: any value under any name on any type.

Passes can ask types for information that only the types have: whether an operator
commutes, how to simplify it, the cost. Anyone can set an attribute, under any name, on
their own types or on other types. The library's own hooks, for example `__s_equal__`,
are ordinary attributes, and Rust and Python share all attributes.

>>> from isoform import Object, type_attrs
>>> from isoform.dataclasses import py_class
>>> @py_class("doc.type_attrs.Add")
... class Add(Object):
...     lhs: int
...     rhs: int
>>> type_attrs.set(Add, "doc.type_attrs.cost", 4)
>>> type_attrs.get(Add(1, 2), "doc.type_attrs.cost")
4

A type can be given as a class, a type key or a `TypeInfo`; a lookup also takes a
node. Values without a class of their own here have Python's class: `int`, `float`,
`bool`, `str`, `bytes`, `type(None)`; `Object` is the root of all node types.

An attribute is set once, or replaced deliberately with `override=True`. An equal value, or
the function of the same name of a module that is loaded again, may be set again. Values are
converted like those of an `Any` field; functions and objects are returned unchanged, and stay
alive until the process ends. A lookup covers the type itself, or with
`inherit=True` the nearest ancestor that has the attribute. Lookups never wait for a
lock.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from isoform import _core
from isoform._core import Column, TypeInfo
from isoform._traits import Trait, implement, implements, is_again, provided, schema_of, trait

__all__ = [
    "AttrInfo",
    "Column",
    "Trait",
    "attrs_of",
    "column",
    "declare",
    "declare_dense",
    "get",
    "has",
    "implement",
    "implements",
    "info",
    "owner",
    "provided",
    "trait",
    "types_with",
]

# Looked up once: `get` is called often.
_get = _core.type_attrs_get

Type: TypeAlias = type[Any] | str | TypeInfo
Name: TypeAlias = str | type[Trait]
# Any value; checkers know the parameters of a lambda by the functions.
Value: TypeAlias = Callable[[Any], Any] | Callable[[Any, Any], Any] | object


@dataclass(frozen=True)
class AttrInfo:
    """The description of an attribute.

    Attributes:
        name: its name.
        doc: the documentation; empty without declaration.
        type: the type of the values, in text form; None for any value.
        methods: the methods of the Rust trait of the attribute, if any.
        dense: True if it is in the hot tier.
        builtin: True if the library itself reads the attribute.
        count: the number of types with the attribute.
        bytes: the memory of the attribute, without the values.
    """

    name: str
    doc: str
    type: str | None
    methods: tuple[str, ...]
    dense: bool
    builtin: bool
    count: int
    bytes: int


def set(  # noqa: A001
    of: Type, name: Name, value: Value, override: bool = False
) -> None:
    """Sets an attribute of a type.

    Args:
        of: the type.
        name: the name of the attribute, or its trait.
        value: the value.
        override: allow replacing an existing value.

    Raises:
        ValueError: the attribute is already set to another value, or the name is empty.
        TypeError: the attribute is declared for other values, or `of` is not a type.
        KeyError: no type has the key.

    Example:
        >>> from isoform import type_attrs
        >>> type_attrs.set(float, "doc.set.cost", 2)
        >>> type_attrs.set(float, "doc.set.cost", 3)
        Traceback (most recent call last):
        ValueError: attribute 'doc.set.cost' of type isoform.Float is set already, to 2; ...
        >>> type_attrs.set(float, "doc.set.cost", 3, override=True)
    """
    _core.type_attrs_set(of, name, value, override or is_again(of, name, value))


def get(of: object, name: Name, default: Any = None, *, inherit: bool = False) -> Any:
    """An attribute of a type, or of the type of a node. O(1).

    Args:
        of: the type, or a node.
        name: the name of the attribute, or its trait.
        default: the return value if the attribute is not set.
        inherit: include the nearest ancestor if the type lacks the attribute.

    Raises:
        TypeError: `of` is neither a type nor a node.
        KeyError: no type has the key.

    Example:
        >>> from isoform import Array, Object, type_attrs
        >>> type_attrs.set(Object, "doc.get.cost", 1)
        >>> type_attrs.get(Array, "doc.get.cost", "none")
        'none'
        >>> type_attrs.get(Array([1, 2]), "doc.get.cost", inherit=True)
        1
    """
    return _get(of, name, default, inherit)


def has(of: object, name: Name, *, inherit: bool = False) -> bool:
    """Returns whether an attribute is set, even to None or False. O(1).

    Raises:
        TypeError: `of` is neither a type nor a node.
        KeyError: no type has the key.

    Example:
        >>> from isoform import type_attrs
        >>> type_attrs.has(int, "doc.has.cost")
        False
    """
    return _core.type_attrs_has(of, name, inherit)


def owner(of: object, name: Name) -> type[Any] | None:
    """The type itself or the nearest ancestor that has an attribute, if any does.

    Raises:
        TypeError: `of` is neither a type nor a node.
        KeyError: no type has the key.

    Example:
        >>> from isoform import Array, Object, type_attrs
        >>> type_attrs.set(Object, "doc.owner.cost", 1)
        >>> type_attrs.owner(Array, "doc.owner.cost").__name__
        'Object'
    """
    return _core.type_attrs_owner(of, name)


def attrs_of(of: object, *, inherit: bool = False) -> dict[str, Any]:
    """The attributes of a type by name, sorted. O(known attributes).

    Args:
        of: the type, or a node.
        inherit: include the attributes of ancestors.

    Raises:
        TypeError: `of` is neither a type nor a node.
        KeyError: no type has the key.

    Example:
        >>> from isoform import type_attrs
        >>> from isoform import Device
        >>> type_attrs.set(Device, "doc.attrs_of.cost", 1)
        >>> type_attrs.attrs_of(Device)["doc.attrs_of.cost"]
        1
    """
    return _core.type_attrs_of(of, inherit)


def list(of: object = None) -> builtins.list[str]:  # noqa: A001
    """The names of all set or declared attributes, or of the attributes of a type.

    Args:
        of: a type or a node; None for all attributes.

    Raises:
        TypeError: `of` is neither a type nor a node.
        KeyError: no type has the key.

    Example:
        >>> from isoform import type_attrs
        >>> "__s_equal__" in type_attrs.list()
        True
    """
    return _core.type_attrs_list() if of is None else [*attrs_of(of)]


def types_with(name: Name) -> builtins.list[type[Any]]:
    """The types on which an attribute is set, in the order of their registration.

    Takes linear time in their number.

    Example:
        >>> from isoform import List, type_attrs
        >>> type_attrs.set(List, "doc.types_with.mutable", True)
        >>> type_attrs.types_with("doc.types_with.mutable") == [List]
        True
    """
    return [cls for cls, _ in _core.Column(name).items()]


def declare(name: str, doc: str = "", type: Any = Any, dense: bool = False) -> None:  # noqa: A002
    """Declares the meaning of an attribute and the type of its values.

    An attribute need not be declared. The type of its values is enforced from then on;
    values set before must be of this type.

    Args:
        name: the name of the attribute.
        doc: its meaning.
        type: an annotation, as for a field.
        dense: put it in the hot tier; see `declare_dense`.

    Raises:
        ValueError: it is already declared, with another type or documentation.
        TypeError: a value that is set already is not of the type.

    Example:
        >>> from isoform import type_attrs
        >>> type_attrs.declare("doc.declare.cost", "What it costs.", int)
        >>> type_attrs.set(str, "doc.declare.cost", "much")
        Traceback (most recent call last):
        TypeError: attribute 'doc.declare.cost' of type isoform.Str: expected int, got str
    """
    _core.type_attrs_declare(name, doc, _schema(type), dense)


def _schema(annotation: Any) -> Any:
    return None if annotation is Any else schema_of(annotation)


def declare_dense(name: Name) -> None:
    """Moves an attribute to the hot tier.

    The hot tier takes a word for each registered type, and a lookup is an access to an
    array. Otherwise it takes memory only for set values, and a lookup is one step in a
    small hash table. The tiers have no other difference.

    Raises:
        ValueError: the name is empty.

    Example:
        >>> from isoform import type_attrs
        >>> type_attrs.declare_dense("doc.declare_dense.cost")
        >>> type_attrs.info("doc.declare_dense.cost").dense
        True
    """
    _core.type_attrs_declare_dense(name)


def info(name: Name) -> AttrInfo | None:
    """Returns the description of an attribute; None without setting or declaration.

    Example:
        >>> from isoform import type_attrs
        >>> type_attrs.info("__s_hash__").builtin
        True
        >>> type_attrs.info("doc.info.unknown") is None
        True
    """
    known = _core.type_attrs_info(name)
    if known is None:
        return None
    schema = known.pop("schema")
    methods = tuple(name for name, _, _ in known.pop("methods"))
    return AttrInfo(type=None if schema is None else repr(schema), methods=methods, **known)


def column(name: Name, type: Any = None) -> Column:  # noqa: A002
    """A handle of an attribute, which looks the name up once.

    Args:
        name: the name of the attribute, or its trait.
        type: the type of the values, as for `declare`; None to leave the type
            unchanged.

    Raises:
        ValueError: the attribute is declared with another type.
        TypeError: a value that is set already is not of the type.

    Example:
        >>> from isoform import Shape, Tensor, type_attrs
        >>> cost = type_attrs.column("doc.column.cost", int)
        >>> cost.set(Shape, 3)
        >>> cost[Shape], cost.get(Tensor, 0), Tensor in cost, len(cost)
        (3, 0, False, 1)
    """
    handle = _core.Column(name)
    if type is not None and type is not Any:
        known = _core.type_attrs_info(handle.name)
        doc = known["doc"] if known else ""
        _core.type_attrs_declare(handle.name, doc, _schema(type), False)
    return handle
