"""Types for enums of the standard library, whose members are no `Object`.

The core compares, hashes and stores objects of these types, and Python sees the members.
"""

from __future__ import annotations

import enum
import importlib
from typing import Any

from isoform import _core
from isoform.core import Object
from isoform.dataclasses import py_class
from isoform.dataclasses._members import members_text

__all__ = ["key_of_enum"]


# By type key: the class declared last. A cell of a notebook that runs again declares its
# enums again.
_ENUMS: dict[str, type[enum.Enum]] = {}
# The same, once values of the class can be converted.
_READY: dict[str, type[enum.Enum]] = {}
# By type key and name: the member to which the object belongs.
_FIRST: dict[str, dict[str, enum.Enum]] = {}


def key_of_enum(cls: type[enum.Enum]) -> str:
    """The type key of an enum of the standard library, which is declared at its first use.

    Raises:
        TypeError: the enum has flags or no members.
        ValueError: another type has the key, which is the module and name of the class.
    """
    key = f"{cls.__module__}.{cls.__qualname__}"
    if _READY.get(key) is cls:
        return key
    if issubclass(cls, enum.Flag) or not cls.__members__:
        kind = "has no members" if not cls.__members__ else "combines flags; write int"
        raise TypeError(f"cannot convert {cls!r} to TypeSchema: the enum {kind}")
    with _core.class_lock:
        if _READY.get(key) is not cls:
            _declare_enum(key, cls)
    return key


def _declare_enum(key: str, cls: type[enum.Enum]) -> None:
    node = _core.class_of(key) if key in _ENUMS else _declare(key, cls)
    _ENUMS[key] = cls
    first = _FIRST.setdefault(key, {})

    def node_of(member: enum.Enum) -> Any:
        """An object for the first member of a name, and that member for later ones."""
        known = first.setdefault(member.name, member)
        return node(member.name) if known is member else _core._value_object(known)

    _core._set_value_class(node, cls, node_of, lambda found: _member(key, found.name))
    _READY[key] = cls


def _declare(key: str, cls: type[enum.Enum]) -> Any:
    """The class of the type of an enum, whose objects have the name of a member."""

    class Member(Object):
        name: str

        @staticmethod
        def __ffi_convert__(value: Any) -> Any:
            return _core._value_object(_by_value(key, value))

        @staticmethod
        def __data_to_json__(member: Any) -> str:
            return member.name

        @staticmethod
        def __data_from_json__(data: Any) -> Any:
            if data not in _ENUMS[key].__members__:
                raise _core._DataFault(_gone(key, data))
            return _core._value_object(_ENUMS[key][data])

        def __repr__(self) -> str:
            return f"{cls.__qualname__}.{self.name}"

    Member.__module__, Member.__name__ = cls.__module__, cls.__name__
    Member.__qualname__, Member.__doc__ = cls.__qualname__, cls.__doc__
    declared = py_class(key, frozen=True, structural_eq="singleton")(Member)
    # Texts show the name of a member in each of its places.
    _core.type_attrs_set(declared, "text.member", True, True)
    return declared


def _member(key: str, name: str) -> enum.Enum:
    members = _ENUMS[key].__members__
    if name not in members:
        raise ValueError(_gone(key, name))
    return members[name]


def _by_value(key: str, value: Any) -> enum.Enum:
    """The member of an enum that is also an int or a str, by its value."""
    cls = _ENUMS[key]
    if issubclass(cls, (int, str)) and type(value) in (int, str):
        for member in cls:
            if member.value == value and type(member.value) is type(value):
                return member
    raise TypeError(f"{value!r} is the value of no member{_choice(key)}")


def _gone(key: str, name: Any) -> str:
    return f"{key} has no member {name!r}{_choice(key)}"


def _choice(key: str) -> str:
    return members_text(_ENUMS[key].__members__)


def declare_for(member: enum.Enum) -> bool:
    """Declares the enum of a member, and returns whether it can be declared."""
    if isinstance(member, (int, str)):
        return False
    try:
        key_of_enum(type(member))
    except (TypeError, ValueError):
        return False
    return True


def declare_by_name(key: str, module: str) -> None:
    """Declares the enum of a type key, if the module has it; pickles call this."""
    found: Any = importlib.import_module(module)
    for part in key.removeprefix(f"{module}.").split("."):
        found = getattr(found, part, None)
    if isinstance(found, type) and issubclass(found, enum.Enum):
        key_of_enum(found)
