"""Classes for enums that were declared natively."""

# The modules of this package are private to it, not to each other.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import operator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from isoform import _core
from isoform.core import Object, ObjectMeta

from ._members import members_text
from ._native import c_class

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_T = TypeVar("_T", bound=type)

_STATE = "__isoform_native_enum__"


class NativeEnumMeta(ObjectMeta):
    """The metaclass of native enums: iteration, lookup by call and by name."""

    def __iter__(cls) -> Iterator[Any]:  # noqa: N805
        """The members, in the order of declaration."""
        return iter(_members(cls)[0])

    @property
    def __members__(cls) -> Mapping[str, Any]:  # noqa: N805
        """The members by name, in the order of declaration, then by second name."""
        return MappingProxyType(_members(cls)[1])

    def __len__(cls) -> int:  # noqa: N805
        """The number of members, without aliases."""
        return len(_members(cls)[0])

    def __bool__(cls) -> bool:  # noqa: N805
        """True, as for any class."""
        return True

    def __contains__(cls, member: object) -> bool:  # noqa: N805
        """Returns whether an object is a member."""
        return isinstance(member, cls)

    def __getitem__(cls, name: str) -> Any:  # noqa: N805
        """The member with this name or second name; KeyError without."""
        return _members(cls)[1][name]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """The member with this name or number; ValueError without."""
        if kwargs or len(args) != 1:
            raise TypeError(f"{cls.__name__}: expected one name or number of a member")
        (given,) = args
        if isinstance(given, cls):
            return given
        members, by_name = _members(cls)
        if isinstance(given, str) and given in by_name:
            return by_name[given]
        if type(given) is int and 0 <= given < len(members):
            return members[given]
        choice = members_text(member.name for member in members)
        raise ValueError(f"{given!r} is not a valid {cls.__name__}{choice}")

    def __setattr__(cls, name: str, value: Any) -> None:  # noqa: N805
        """Set an attribute of the class, unless it is a member."""
        state = cls.__dict__.get(_STATE)
        if state is not None and name in state[1]:
            raise AttributeError(f"{cls.__name__}.{name} is a member and cannot be replaced")
        super().__setattr__(name, value)


def _members(cls: type) -> tuple[list[Any], dict[str, Any]]:
    found: Any = cls.__dict__.get(_STATE, ([], {}))
    return found


def _restore(type_key: str, name: str) -> Any:
    """The member that a pickle names."""
    cls: Any = _core.class_of(type_key)
    return cls[name]


def _repr(self: Any) -> str:
    """Name the class and the member."""
    return f"{type(self).__name__}.{self.name}"


def _number(self: Any) -> int:
    """Its position among the members."""
    return self.value


def _order(holds: Callable[[int, int], bool]) -> Callable[[Any, Any], Any]:
    """A comparison of members of one enum by their positions."""

    def method(self: Any, other: Any) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        return holds(self.value, other.value)

    return method


def _copy(self: Any, _memo: Any = None) -> Any:
    """Returns the member itself: a member exists only once."""
    return self


def _reduce(self: Any) -> Any:
    """By type and name."""
    return _restore, (self.__isoform_type_key__, self.name)


_METHODS: dict[str, Any] = {
    "__repr__": _repr,
    "__str__": _repr,
    "__int__": _number,
    "__lt__": _order(operator.lt),
    "__le__": _order(operator.le),
    "__gt__": _order(operator.gt),
    "__ge__": _order(operator.ge),
    "__copy__": _copy,
    "__deepcopy__": _copy,
    "__reduce__": _reduce,
}


def native_enum(type_key: str) -> Callable[[_T], _T]:
    """Makes a class the Python view of an enum that was declared natively.

    The members become attributes of the class, under their names and aliases. There is
    one object per member, restored by copies, pickles and files; members are ordered by
    declaration.

    Args:
        type_key: the key of the type. The class extends `Object` and has the
            metaclass `NativeEnumMeta`.

    Raises:
        KeyError: no type has this key.
        TypeError: the type is not an enum.

    Example:
        >>> from isoform.pto import ir
        >>> list(ir.SplitMode)
        [SplitMode.NONE, SplitMode.UP_DOWN, SplitMode.LEFT_RIGHT]
        >>> ir.SplitMode("UP_DOWN") is ir.SplitMode(1) is ir.SplitMode.UP_DOWN
        True
    """

    def decorate(cls: _T) -> _T:
        names: Any = _core.type_attrs_get(type_key, "enum.members", None, False)
        if names is None:
            raise TypeError(f"{type_key} is not declared as an enum")
        # Defined before the class is bound, to make them belong to the class itself.
        for name, method in _METHODS.items():
            if name not in cls.__dict__:
                type.__setattr__(cls, name, method)
        cls = c_class(type_key, init=False)(cls)
        make: Any = _core.type_info(cls).init_function
        members = [make(str(name)) for name in names]
        by_name = {member.name: member for member in members}
        aliases: Any = _core.type_attrs_get(type_key, "enum.aliases", None, False)
        for alias in aliases or ():
            by_name[str(alias)] = by_name[str(aliases[alias])]
        for name, member in by_name.items():
            type.__setattr__(cls, name, member)
        type.__setattr__(cls, _STATE, (members, by_name))
        return cls

    return decorate


def make_native_enum(type_key: str, module: str) -> Any:
    """The class of an enum that was declared natively and needs no methods.

    Args:
        type_key: the key of the type; the class has the last part of the key as its
            name.
        module: the module of the class.

    Raises:
        KeyError: no type has this key.
        TypeError: the type is not an enum.
    """
    name = type_key.rpartition(".")[2]
    body = {"__module__": module, "__qualname__": name, "__slots__": ()}
    cls: Any = NativeEnumMeta(name, (Object,), body)
    return native_enum(type_key)(cls)
