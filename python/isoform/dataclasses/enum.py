"""Enums with members that are objects of the core.

A member is an object of the structural kind `singleton`: it has an index, a name, and
the fields declared in its class. Copies, pickles and files restore the member itself.
"""

# The modules of this package are private to it, not to each other.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import operator
import sys
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from isoform import _core
from isoform._traits import is_trait
from isoform.core import MISSING, Object, ObjectMeta
from isoform.core._annotations import own_annotations

from . import _attributes, _collect, _dunder, _field, _py_class
from ._field import field
from ._members import members_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ._field import Field

_T = TypeVar("_T")

ENUM_STATE_ATTR = "__isoform_enum__"
"""The attribute of an enum class that holds its `EnumState`."""

_INT64 = range(-(2**63), 2**63)


class _Entry:
    """A member that a class body declares."""

    __slots__ = ("args", "kwargs")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args = args
        self.kwargs = kwargs

    def __repr__(self) -> str:
        parts = [repr(value) for value in self.args]
        parts += [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"entry({', '.join(parts)})"


def entry(*args: Any, **kwargs: Any) -> Any:
    """Declares a member of an enum, with values for the fields of its class.

    Args:
        *args: values of fields, in the order of declaration.
        **kwargs: values of fields by name; `value` is the value of a member of
            an `IntEnum` or `StrEnum`.

    Example:
        >>> from isoform.dataclasses import Enum, entry
        >>> class Shape(Enum, type_key="doc.entry.Shape"):
        ...     corners: int
        ...     square = entry(corners=4)
        >>> Shape.square.corners
        4
    """
    return _Entry(args, kwargs)


def auto() -> Any:
    """Declares a member of an enum that has no fields to set.

    Example:
        >>> from isoform.dataclasses import Enum, auto
        >>> class Side(Enum, type_key="doc.auto.Side"):
        ...     left = auto()
        ...     right = auto()
        >>> list(Side)
        [doc.auto.Side.left, doc.auto.Side.right]
    """
    return _Entry((), {})


@dataclass(frozen=True, eq=False)
class _Member:
    """A member to be made."""

    number: int
    text: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class EnumState:
    """The members of an enum class, and their data.

    Attributes:
        entries: the members, in the order of declaration.
        indexes: the members by number and by name.
        attrs: the values of extensible attributes: by name, then by member.
        names: the members by the names of their attributes of the class.
    """

    __slots__ = ("attrs", "entries", "indexes", "names")

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.indexes: dict[int | str, Any] = {}
        self.attrs: dict[str, dict[Any, Any]] = {}
        self.names: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"EnumState(entries={self.entries!r}, attrs={self.attrs!r})"


class EnumAttrMap:
    """The values of one extensible attribute of an enum, by member.

    Made by `Enum.def_attr`.

    Example:
        >>> from isoform.dataclasses import Enum, auto
        >>> class Op(Enum, type_key="doc.EnumAttrMap.Op"):
        ...     add = auto()
        ...     mul = auto()
        >>> cost = Op.def_attr("cost", default=1)
        >>> cost[Op.mul] = 3
        >>> cost[Op.add], cost[Op.mul], Op.add in cost
        (1, 3, False)
    """

    __slots__ = ("_cls", "_column", "_default", "_name")

    def __init__(self, cls: type[Enum], name: str, default: Any = MISSING) -> None:
        self._cls = cls
        self._name = name
        self._default = default
        self._column: dict[Any, Any] = _state(cls).attrs.setdefault(name, {})

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self._name

    def _check(self, member: object) -> None:
        if not isinstance(member, self._cls):
            raise TypeError(f"expected {self._cls.__name__}, got {type(member).__name__}")

    def __setitem__(self, member: Any, value: Any) -> None:
        self._check(member)
        self._column[member] = value

    def __getitem__(self, member: Any) -> Any:
        self._check(member)
        if member in self._column:
            return self._column[member]
        if self._default is MISSING:
            raise KeyError(f"{member!r} has no value for attribute '{self._name}'")
        return self._default

    def __contains__(self, member: object) -> bool:
        return isinstance(member, self._cls) and member in self._column

    def get(self, member: Any, default: Any = None) -> Any:
        """The value set for a member, or `default`.

        Raises:
            TypeError: `member` is not a member of the enum.
        """
        self._check(member)
        return self._column.get(member, default)

    def __repr__(self) -> str:
        return f"<attribute '{self._name}' of {self._cls.__name__}: {self._column!r}>"


class EnumMeta(ObjectMeta):
    """The metaclass of enums: members, iteration, lookup by call."""

    def __new__(
        metacls,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, Any],
        *,
        type_key: str | None = None,
        frozen: bool = True,
        override: bool = False,
        aliases: Sequence[str] = (),
        **options: Any,
    ) -> Any:
        """Makes an enum class and registers class and members."""
        given: dict[str, Any] = {"type_key": type_key, "frozen": frozen, "override": override}
        given["aliases"] = _field.names("aliases", aliases)
        cls: Any = super().__new__(metacls, name, bases, body, **options)
        frame = sys._getframe(1)
        if "_int_index" in own_annotations(cls):
            # `Enum` itself.
            _declare(cls, given, frame, {})
            return cls
        declared = _take_members(cls)
        if type_key is None and not declared:
            # A base for other enums.
            return cls
        members = _number(cls, declared)
        found = _declare(cls, given, frame, members)
        # Texts show the name of a member in each of its places.
        _core.type_attrs_set(found, "text.member", _text_names(cls, members), True)
        # The same declaration again has its members.
        if found is cls:
            _make_members(cls, members)
        return found

    def __init__(cls, name: str, bases: Any, body: Any, **_options: Any) -> None:  # noqa: N805
        """Takes the options that `__new__` used."""
        super().__init__(name, bases, body)

    def __iter__(cls: type[_T]) -> Iterator[_T]:  # noqa: N805
        return iter(list(_state(cls).entries))

    def __len__(cls) -> int:  # noqa: N805
        return len(_state(cls).entries)

    def __bool__(cls) -> bool:  # noqa: N805
        return True

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """The member with this number, name or value."""
        if len(args) == 1 and not kwargs:
            if isinstance(args[0], cls):
                return args[0]
            if type(args[0]) in (int, str) and args[0] in _state(cls).indexes:
                return _state(cls).indexes[args[0]]
            raise ValueError(f"{args[0]!r} is not a valid {cls.__name__}{_choice(cls)}")
        raise TypeError(
            f"{cls.__name__} has the members of its class body; more cannot be constructed"
        )

    @property
    def __members__(cls) -> Mapping[str, Any]:  # noqa: N805
        """The members by the names that the class body gives them, in its order."""
        return MappingProxyType(_state(cls).names)

    def __getitem__(cls, name: str) -> Any:  # noqa: N805
        """The member that the class body calls by this name; KeyError without."""
        return _state(cls).names[name]

    def __setattr__(cls, name: str, value: Any) -> None:  # noqa: N805
        """Sets an attribute of the class, unless it is a member."""
        held = cls.__dict__.get(name)
        if held is not None and any(held is member for member in _state(cls).entries):
            raise AttributeError(f"{cls.__name__}.{name} is a member and cannot be replaced")
        super().__setattr__(name, value)


def _choice(cls: Any) -> str:
    """The existing members, for the end of a message."""
    return members_text(member._str_index for member in _state(cls).entries)


def _state(cls: type) -> EnumState:
    """The state of exactly this class; an empty state without members."""
    found = cls.__dict__.get(ENUM_STATE_ATTR)
    return EnumState() if found is None else found


def _text_names(cls: Any, members: dict[str, _Member]) -> Any:
    """The names that texts have instead of the numbers of members."""
    if cls.__isoform_payload__ is not int:
        return True
    names: dict[int, str] = {}
    for name, member in members.items():
        names.setdefault(member.number, name)
    return names


def _declare(cls: Any, given: dict[str, Any], frame: Any, members: dict[str, _Member]) -> Any:
    options = _py_class.Options(
        **given,
        repr=False,
        structural_eq="singleton",
        match_args="__match_args__" in cls.__dict__,
        to_json=_to_json,
        from_json=lambda data: _from_json(cls, data),
        convert=_converter_for(cls),
        inspect=lambda positional, keyword: _check(cls, members, positional, keyword),
        # The members are made with the class.
        wait=False,
        members=[
            (name, member.number, member.text, member.args, member.kwargs)
            for name, member in members.items()
        ],
    )
    return _py_class.declare(cls, options, _py_class.names_around(cls, frame))


def _take_members(cls: Any) -> dict[str, _Entry]:
    """Removes the declarations of members from a class body."""
    payload: type | None = cls.__isoform_payload__
    annotations = own_annotations(cls)
    fields = {name for name, kind in annotations.items() if not _collect.is_class_variable(kind)}
    if payload is not None and "value" in fields:
        raise TypeError(f"{cls.__name__}: 'value' is the value of a member, not a field")
    members: dict[str, _Entry] = {}
    # `name: ClassVar` without a value declares a member, too.
    for name in annotations:
        if name not in fields and not name.startswith("_") and name not in cls.__dict__:
            members[name] = _Entry((), {})
    for name, value in list(cls.__dict__.items()):
        if name.startswith("_") or name in fields:
            continue
        if isinstance(value, _Entry):
            members[name] = value
        elif payload is not None and not _is_no_member(value):
            # A value of another type is a separate error.
            members[name] = _Entry((), {"value": value})
        else:
            continue
        type.__delattr__(cls, name)
    return members


def _is_no_member(value: Any) -> bool:
    """Returns whether an attribute of a class body is code or a trait, not a literal."""
    is_code = callable(value) or hasattr(value, "__get__")
    return is_code or any(map(is_trait, _attributes._each(value)))


def _number(cls: Any, declared: dict[str, _Entry]) -> dict[str, _Member]:
    """The members with their indices; members of equal value are one."""
    payload: type | None = cls.__isoform_payload__
    members: dict[str, _Member] = {}
    known: dict[int | str, _Member] = {}
    for name, given in declared.items():
        position = len({id(member) for member in members.values()})
        member = _index(cls, name, position, given)
        found = known.get(member.number if payload is int else member.text)
        if found is None:
            if member.number in known or member.text in known:
                raise ValueError(f"{cls.__name__}.{name}: its index is another member's")
            found = known[member.number] = known[member.text] = member
        members[name] = found
    return members


def _index(cls: Any, name: str, position: int, given: _Entry) -> _Member:
    payload: type | None = cls.__isoform_payload__
    kwargs = dict(given.kwargs)
    for index in ("_int_index", "_str_index"):
        if index in kwargs:
            raise TypeError(f"{cls.__name__}.{name}: {index} is given by the declaration")
    if payload is None:
        return _Member(position, name, given.args, kwargs)
    if "value" not in kwargs:
        raise TypeError(f"{cls.__name__}.{name}: a value of type {payload.__name__} is required")
    value = kwargs.pop("value")
    if type(value) is not payload:
        raise TypeError(
            f"{cls.__name__}.{name}: expected a value of type {payload.__name__}, "
            f"got {type(value).__name__}; names of other attributes start with '_'"
        )
    if payload is int:
        if value not in _INT64:
            raise ValueError(f"{cls.__name__}.{name}: {value} is out of int64 range")
        return _Member(value, name, given.args, kwargs)
    return _Member(position, value, given.args, kwargs)


def _check(
    cls: Any, members: dict[str, _Member], positional: list[Field], keyword: list[Field]
) -> None:
    """Raises TypeError for a member with unsuitable fields.

    Checking first avoids leaving a registered type after an error.
    """
    signature = _dunder.signature(positional, keyword)
    schemas = {field.name: field.schema for field in (*positional, *keyword)}
    for name, member in members.items():
        indices = {"_int_index": member.number, "_str_index": member.text}
        try:
            bound = signature.bind(None, *member.args, **member.kwargs, **indices)
            for parameter, value in list(bound.arguments.items())[1:]:
                schemas[parameter].check_value(value)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}.{name}: invalid entry: {error}") from None


def _make_members(cls: Any, members: dict[str, _Member]) -> None:
    state = EnumState()
    made: dict[int, Any] = {}
    for name, member in members.items():
        if id(member) not in made:
            indices = {"_int_index": member.number, "_str_index": member.text}
            # The call of the class itself looks members up.
            node = ObjectMeta.__call__(cls, *member.args, **member.kwargs, **indices)
            made[id(member)] = node
            state.entries.append(node)
            state.indexes[member.number] = state.indexes[member.text] = node
        type.__setattr__(cls, name, made[id(member)])
        state.names[name] = made[id(member)]
    type.__setattr__(cls, ENUM_STATE_ATTR, state)


def _converter_for(cls: Any) -> Callable[[Any], Any] | None:
    """The conversion of a value to its member wherever a member is expected."""
    payload: type | None = cls.__isoform_payload__
    if payload is None or "__ffi_convert__" in cls.__dict__:
        return None

    def convert(value: Any) -> Any:
        if type(value) is payload and value in _state(cls).indexes:
            return _state(cls).indexes[value]
        raise TypeError(f"{value!r} is the value of no member")

    return convert


def _to_json(member: Any) -> int | str:
    """The representation of a member in files."""
    return member._int_index if member.__isoform_payload__ is int else member._str_index


def _from_json(cls: Any, data: Any) -> Any:
    """The member that files name.

    Raises:
        ValueError: `data` is not the name or number of a member. The reader of the file adds
            the place.
    """
    wanted = int if cls.__isoform_payload__ is int else str
    key = cls.__isoform_type_key__
    # Texts have the names of numbers.
    known = _state(cls).names if wanted is int and type(data) is str else _state(cls).indexes
    if type(data) not in (wanted, str):
        raise _core._DataFault(f"{key}: expected {wanted.__name__}, got {type(data).__name__}")
    if data not in known:
        raise _core._DataFault(f"{key} has no member {data!r}{_choice(cls)}")
    return known[data]


def _restore(type_key: str, name: str, module: str) -> Any:
    """The member named by a pickle, of a class declared in the module."""
    _core._require_type(type_key, module)
    return cast("Any", _core.class_of(type_key)).get(name)


class Enum(Object, metaclass=EnumMeta, type_key="isoform.Enum"):
    """The base of enums with objects of the core as members.

    Class keywords: `type_key` (module and qualified name if left out), `frozen` (True), and
    `override` (False) and `aliases`, as for `py_class`. Annotations declare fields that all members have; `auto()`
    and `entry(…)` declare members. Members are numbered from 0.

    A class without members can be a base for other enums. A derived enum does
    not inherit members.

    A digest names a member by name (for a `StrEnum`, by string) and fields, not by
    number, and members can be added anywhere.

    Example:
        >>> from isoform.dataclasses import Enum, entry
        >>> class Op(Enum, type_key="doc.Enum.Op"):
        ...     symbol: str
        ...     add = entry(symbol="+")
        ...     mul = entry(symbol="*")
        >>> Op.add, Op.add.name, Op.mul.symbol, Op("mul") is Op.mul
        (doc.Enum.Op.add, 'add', '*', True)
    """

    __slots__ = ()
    __isoform_payload__: ClassVar[type | None] = None

    if not TYPE_CHECKING:
        # Not in digests: inserting a member before others changes no digest.
        _int_index: int = field(kw_only=True, frozen=True, structural_eq="ignore")
        _str_index: str = field(kw_only=True, frozen=True)
    else:
        _int_index: ClassVar[int]
        _str_index: ClassVar[str]

    @property
    def name(self) -> str:
        """The name of the member."""
        return self._str_index

    @classmethod
    def get(cls: type[_T], index: int | str) -> _T:
        """The member with this number or name; for enums with values, this value.

        Raises:
            KeyError: there is none.
            TypeError: `index` is neither int nor str.

        Example:
            >>> from isoform.dataclasses import Enum, auto
            >>> class Side(Enum, type_key="doc.Enum.get.Side"):
            ...     left = auto()
            >>> Side.get("left") is Side.get(0)
            True
        """
        given: Any = index
        if not isinstance(given, (int, str)) or isinstance(given, bool):
            raise TypeError(f"expected int or str, got {type(given).__name__}")
        return _state(cls).indexes[index]

    @classmethod
    def all_entries(cls: type[_T]) -> Iterator[_T]:
        """The members, in the order of declaration."""
        return iter(list(_state(cls).entries))

    @classmethod
    def def_attr(cls, name: str, *, default: Any = MISSING) -> EnumAttrMap:
        """An attribute that anybody may give to the members of this enum.

        Calling it again with the same name returns the same values.

        Args:
            name: the name of the attribute.
            default: the value of members without an explicit value.
        """
        if ENUM_STATE_ATTR not in cls.__dict__:
            raise TypeError(f"{cls.__name__} has no members to give attributes to")
        return EnumAttrMap(cls, name, default)

    attr_dict: ClassVar[Mapping[str, Mapping[Any, Any]]]
    """The values of all extensible attributes: by name, then by member."""

    def __repr__(self) -> str:
        return f"{cast('Any', self).__isoform_type_key__}.{self.name}"

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any = None) -> Any:
        return self

    def __replace__(self, /, **_changes: Any) -> Any:
        raise TypeError(f"{self!r} is a member of an enum and cannot be replaced")

    def __reduce__(self) -> Any:
        cls = cast("Any", type(self))
        return _restore, (cls.__isoform_type_key__, self._str_index, cls.__module__)


class _AttrDict:
    """`attr_dict` of the class through which the attribute is read."""

    def __get__(self, _member: Any, cls: type) -> dict[str, dict[Any, Any]]:
        return _state(cls).attrs


type.__setattr__(Enum, "attr_dict", _AttrDict())


class _WithValue(Enum):
    """The common base of enums with values."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def value(self) -> Any: ...

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type(self)):
            return self.value == other.value
        if isinstance(other, cast("type", self.__isoform_payload__)):
            return self.value == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        cls = type(self)
        name = next((name for name, it in _state(cls).names.items() if it is self), self.name)
        return f"{cls.__name__}.{name}"


def _ordered(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    """A comparison of a member with an int, or with a member of its enum."""

    def method(self: Any, other: Any) -> Any:
        if type(other) is type(self):
            return holds(self.value, other.value)
        return holds(self.value, other) if isinstance(other, int) else NotImplemented

    return method


class IntEnum(_WithValue, type_key="isoform.IntEnum"):
    """An enum of members declared with ints, and equal to the ints.

    Fields of an int enum take the ints as well.

    Example:
        >>> from isoform.dataclasses import IntEnum
        >>> class Level(IntEnum, type_key="doc.IntEnum.Level"):
        ...     low = 1
        ...     high = 10
        >>> Level.high == 10, Level(10).name, Level.low.value
        (True, 'high', 1)
        >>> Level["low"] < Level.high, int(Level.high), list(Level.__members__)
        (True, 10, ['low', 'high'])
    """

    __slots__ = ()
    __isoform_payload__ = int

    __lt__ = _ordered(operator.lt)
    __le__ = _ordered(operator.le)
    __gt__ = _ordered(operator.gt)
    __ge__ = _ordered(operator.ge)

    def __int__(self) -> int:
        return self._int_index

    @property
    def value(self) -> int:
        """The int the member is declared with."""
        return self._int_index


class StrEnum(_WithValue, type_key="isoform.StrEnum"):
    """An enum of members declared with strings, and equal to the strings.

    Fields of a string enum take the strings as well. The `name` of a member is its string,
    which files and digests contain; the class body's own name is the key in `__members__`.

    Example:
        >>> from isoform.dataclasses import StrEnum
        >>> class Mode(StrEnum, type_key="doc.StrEnum.Mode"):
        ...     read = "r"
        >>> Mode.read == "r", Mode("r") is Mode.read, str(Mode.read)
        (True, True, 'r')
        >>> Mode["read"] is Mode.read, Mode.read.name
        (True, 'r')
    """

    __slots__ = ()
    __isoform_payload__ = str

    @property
    def value(self) -> str:
        """The string the member is declared with."""
        return self._str_index
