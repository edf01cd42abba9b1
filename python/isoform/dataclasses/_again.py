"""Declares a class again, as notebooks and reloaded modules do.

The same declaration keeps its type and its class, which gets the methods of the new body: old
and new objects are of one class. Another declaration under the key has to ask for it, and
makes another type.
"""

# The modules of this package are private to it, not to each other.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import dataclasses
import functools
import types
from typing import TYPE_CHECKING, Any, cast

from isoform import _core, registry
from isoform.core import MISSING, Object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._collect import Body
    from ._field import Field
    from ._py_class import Options

DECLARATION = "__isoform_declaration__"
"""The attribute of a class with its `Declaration`."""

# Parts of a body that the native module looks at once, with the class.
_FIXED = ("__init__", "__new__", "__post_init__", "__del__", "__slots__", "__match_args__")
# Parts of every class that belong to the class object itself.
_OWN = frozenset(
    ["__dict__", "__weakref__", "__module__", "__qualname__", "__slots__", "__abstractmethods__"]
)
_OWN_PARTS = frozenset(["__dict__", "__weakref__", "__slots__", "__abstractmethods__", "_abc_impl"])
_FLAGS = ("frozen", "init", "repr", "hash", "compare", "kw_only", "structural_eq", "aliases")


@dataclasses.dataclass(frozen=True)
class Declaration:
    """All that makes two declarations the same, apart from methods."""

    place: tuple[str, str]
    options: dict[str, Any]
    parent: type | None
    fields: tuple[Field, ...]
    properties: tuple[str, ...]
    fixed: tuple[str, ...]
    attributes: tuple[str, ...]
    body: frozenset[str]
    """The names in the body, which are not compared."""


def declaration_of(
    cls: type, options: Options, body: Body, attributes: Iterable[tuple[str, Any]]
) -> Declaration:
    """The declaration of a class whose registration has not begun."""
    compared = ("to_json", "from_json", "convert", "inspect", "wait", "type_key", "override")
    return Declaration(
        (cls.__module__, cls.__qualname__),
        {name: value for name, value in vars(options).items() if name not in compared},
        body.parent,
        body.fields,
        tuple(body.properties),
        tuple(name for name in _FIXED if name in cls.__dict__),
        tuple(name for name, _ in attributes),
        frozenset(cls.__dict__),
    )


def known(type_key: str) -> type | None:
    """The class that Python declared under a key, if any."""
    try:
        # A class of a native type need not be made for this.
        _core.type_info(type_key)
        cls = _core.class_of(type_key)
    except KeyError:
        return None
    return cls if DECLARATION in cls.__dict__ else None


def difference(old: Declaration, new: Declaration) -> str | None:
    """The first difference, for a message; None for the same declaration."""
    if old.place != new.place:
        return f"class {'.'.join(old.place)} has it"
    if old.parent is not new.parent:
        named = [None if one is None else one.__qualname__ for one in (old.parent, new.parent)]
        if named[0] == named[1]:
            return f"its parent {named[0]} was declared again, as another type"
        return "its parent was {} and is now {}".format(*named)
    for name, value in new.options.items():
        if not _is_alike(old.options[name], value):
            if name == "members":
                return _member_difference(old.options[name], value)
            return f"{name} was {old.options[name]!r} and is now {value!r}"
    names = [field.name for field in old.fields]
    for field in new.fields:
        if field.name not in names:
            return f"field '{field.name}' is new"
    for one, other in zip(old.fields, new.fields, strict=False):
        if one.name != other.name:
            return f"field '{one.name}' is gone, or not in its place"
        changed = _field_difference(one, other)
        if changed:
            return f"field '{one.name}' {changed}"
    if len(old.fields) > len(new.fields):
        return f"field '{old.fields[len(new.fields)].name}' is gone"
    for kind in ("properties", "fixed", "attributes"):
        former, later = set(getattr(old, kind)), set(getattr(new, kind))
        for name in sorted(former ^ later):
            return f"{name} is {'gone' if name in former else 'new'}"
    return None


def _member_difference(old: Iterable[Any], new: Iterable[Any]) -> str:
    former, later = ({name: rest for name, *rest in members} for members in (old, new))
    for name in later:
        if name not in former:
            return f"member '{name}' is new"
    for name in former:
        if name not in later:
            return f"member '{name}' is gone"
    for name, rest in later.items():
        if not _is_alike(former[name], rest):
            return f"member '{name}' has another number, value or fields"
    return "its members are in another order"


def _field_difference(old: Field, new: Field) -> str | None:
    if repr(old.schema) != repr(new.schema):
        return f"was of type {old.schema!r} and is now of type {new.schema!r}"
    for name in _FLAGS:
        if getattr(old, name) != getattr(new, name):
            return f"had {name}={getattr(old, name)!r} and now has {name}={getattr(new, name)!r}"
    for name in ("default", "default_factory", "converter"):
        if not _is_alike(getattr(old, name), getattr(new, name)):
            return f"has another {name}"
    return None


def _is_alike(one: Any, other: Any) -> bool:
    """True if two defaults, functions or options do the same, as far as code tells."""
    if one is other:
        return True
    if type(one) is not type(other) or one is MISSING:
        return False
    if isinstance(one, types.FunctionType):
        pairs = [(one.__defaults__, other.__defaults__), (one.__kwdefaults__, other.__kwdefaults__)]
        pairs.append((_captured(one), _captured(other)))
        return one.__code__ == other.__code__ and all(_is_alike(*pair) for pair in pairs)
    if isinstance(one, type):
        return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)
    if isinstance(one, functools.partial):
        parts = [(p.func, p.args, p.keywords) for p in cast("list[Any]", [one, other])]
        return _is_alike(*parts)
    if isinstance(one, (list, tuple)):
        items = list(zip(cast("Any", one), other, strict=False))
        return len(cast("Any", one)) == len(other) and all(_is_alike(*pair) for pair in items)
    if isinstance(one, dict):
        entries = cast("dict[Any, Any]", one)
        return list(entries) == list(other) and all(
            _is_alike(value, other[key]) for key, value in entries.items()
        )
    try:
        # Equality of objects of the core is identity.
        return bool(_core.structural_equal(one, other) if isinstance(one, Object) else one == other)
    except (TypeError, ValueError):
        return False


def _captured(function: types.FunctionType) -> tuple[Any, ...]:
    return tuple(cell.cell_contents for cell in function.__closure__ or ())


def update(old: Any, new: type, body: Body, declaration: Declaration) -> None:
    """Gives a class the methods of a later body of the same declaration."""
    former: Declaration = old.__dict__[DECLARATION]
    fields = {field.name for field in declaration.fields}
    _update_body(old, new, former.body, fields | ({"__init__"} - declaration.body))
    if body.properties:
        old.__isoform_init_properties__ = body.properties
    setattr(old, DECLARATION, declaration)


def _update_body(old: Any, new: type, former: frozenset[str], kept: set[str]) -> None:
    """Gives a class all that is in a later body, apart from the names that it keeps."""
    kept = kept | _OWN
    for name in former - new.__dict__.keys() - kept:
        if name in old.__dict__:
            delattr(old, name)
    for name, value in list(new.__dict__.items()):
        if name not in kept and not name.startswith(("__isoform_", "_abc_", "__annotat")):
            _belong(value, new, old)
            setattr(old, name, value)


def with_dict(cls: Any) -> Any:
    """The class with objects that have a `__dict__`.

    Raises:
        TypeError: the class has `__slots__` of its own.
    """
    if getattr(cls, "__dictoffset__", 0):
        return cls
    if cls.__dict__.get("__slots__", ()):
        raise TypeError(f"{cls.__qualname__}: slots=False, but the class has __slots__")
    body = {name: value for name, value in cls.__dict__.items() if name not in _OWN_PARTS}
    made = type(cls)(cls.__name__, cls.__bases__, {**body, "__slots__": ("__dict__",)})
    made.__qualname__ = cls.__qualname__
    for value in body.values():
        _belong(value, cls, made)
    return made


def _belong(value: Any, new: type, old: type) -> None:
    """Lets `super()` and `__class__` in a function mean the class that gets the function."""
    parts = ("__func__", "__wrapped__", "fget", "fset", "fdel", "func", "function")
    inner = [value, *(getattr(value, name, None) for name in parts)]
    for function in inner:
        for cell in getattr(function, "__closure__", None) or ():
            try:
                if cell.cell_contents is new:
                    cell.cell_contents = old
            except ValueError:
                # An empty cell.
                continue


# The classes of native types with the names in their bodies, by type key.
_natives: dict[str, tuple[Any, frozenset[str]]] = {}


def note_native(type_key: str, cls: Any, body: frozenset[str]) -> None:
    """Notes a class for a native type, and the names in its body."""
    _natives[type_key] = cls, body


def native(cls: type, type_key: str) -> Any:
    """The class that the same code made for a native type before, with the later methods."""
    existing, body = _natives.get(type_key, (None, frozenset[str]()))
    place = cls.__module__, cls.__qualname__
    if existing is None or (existing.__module__, existing.__qualname__) != place:
        return None
    _update_body(existing, cls, body, {"__init__"} - cls.__dict__.keys())
    note_native(type_key, existing, frozenset(cls.__dict__))
    registry.register_methods(existing, replace=True)
    return existing


def update_attributes(key: str, old: Any, attributes: Iterable[tuple[str, Any]]) -> None:
    """Gives a type the functions of a later body for the names that it has."""
    for name, value in attributes:
        _core.type_attrs_set(key, name, value, True)
    registry.register_methods(old, replace=True)
