"""Sequences and mappings of values: `Array`, `List`, `Map` and `Dict`.

`Array` and `Map` never change and can be hashed. `List` and `Dict` are mutable and
shared: every holder sees changes made by others. All four take ordinary Python values
and convert them on entry: a list or tuple becomes an `Array`, a dict a `Map`, a
callable a `Function`. Reading an object out returns the same object that was put in.

Sequences equal sequences and mappings equal mappings by content, regardless of their
class, including Python's own. Ints, bools and floats are different values, as in
structural comparison.

The bodies of most methods are native; see `isoform._core`.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
    ValuesView,
)
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeVar, overload

from isoform import _core
from isoform._core import MISSING, Object

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MISSING", "Array", "Dict", "List", "Map"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class Array(Object, Sequence[T]):
    """An immutable sequence.

    Args:
        items: any iterable; by default the array is empty.

    >>> a = Array([1, 2, 3])
    >>> a[0], a[-1], a[1:], len(a)
    (1, 3, [2, 3], 3)
    >>> a == [1, 2, 3], a + [4] == [1, 2, 3, 4]
    (True, True)
    >>> hash(a) == hash((1, 2, 3))
    True
    """

    if TYPE_CHECKING:

        def __init__(self, items: Iterable[T] = (), /) -> None: ...

    def __len__(self) -> int:
        """The number of elements."""
        ...

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> T: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[T]: ...
    def __getitem__(self, key: Any, /) -> Any:
        """The element at an index, or a list of the elements of a slice."""
        ...

    def __iter__(self) -> Iterator[T]:
        """An iterator over the elements."""
        ...

    def __reversed__(self) -> Iterator[T]:
        """An iterator over the elements in reverse order."""
        ...

    def __contains__(self, item: object, /) -> bool:
        """Returns whether an element equals the item. O(n)."""
        ...

    def __eq__(self, other: object, /) -> bool:
        """Returns whether `other` is a sequence with equal elements. O(n)."""
        ...

    def __ne__(self, other: object, /) -> bool:
        """Returns whether `other` is not a sequence with equal elements. O(n)."""
        ...

    def __hash__(self) -> int:
        """The hash of a tuple of the elements. O(n)."""
        ...

    def __add__(self, other: Iterable[T], /) -> Array[T]:
        """A new array with the elements of both. O(n)."""
        ...

    def __radd__(self, other: Iterable[T], /) -> Array[T]:
        """A new array with the elements of both. O(n)."""
        ...

    def __mul__(self, times: SupportsIndex, /) -> Array[T]:
        """A new array that repeats the elements. O(n)."""
        ...

    def __rmul__(self, times: SupportsIndex, /) -> Array[T]:
        """A new array that repeats the elements. O(n)."""
        ...

    def count(self, item: Any, /) -> int:
        """The number of elements equal to the item. O(n)."""
        ...

    def index(self, item: Any, start: int = 0, stop: int = 9223372036854775807, /) -> int:
        """The index of the first element that equals the item. O(n).

        Raises ValueError if there is none.
        """
        ...

    def __copy__(self) -> Self:
        """The array itself, since it never changes."""
        ...


class List(Object, MutableSequence[T]):
    """A mutable sequence, shared by all holders.

    Changing the length or order while iterating raises RuntimeError at the next step;
    replacing an element is allowed, as in Python.

    A list in a typed field converts new elements like the constructor does, and raises
    TypeError for elements that the field forbids. The restriction applies from then on,
    through every reference to the list, and for all fields with the list. Lists made
    from its elements, for example by `copy()`, slices and `+`, accept any element
    again.

    Args:
        items: any iterable; by default the list is empty.

    >>> a = List([1, 2])
    >>> b = a
    >>> b.append(3)
    >>> a == [1, 2, 3]
    True
    >>> a[1:] = "xy"
    >>> list(a)
    [1, 'x', 'y']
    """

    if TYPE_CHECKING:

        def __init__(self, items: Iterable[T] = (), /) -> None: ...

    def __len__(self) -> int:
        """The number of elements."""
        ...

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> T: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[T]: ...
    def __getitem__(self, key: Any, /) -> Any:
        """The element at an index, or a Python list of those of a slice."""
        ...

    @overload
    def __setitem__(self, key: SupportsIndex, value: T, /) -> None: ...
    @overload
    def __setitem__(self, key: slice, value: Iterable[T], /) -> None: ...
    def __setitem__(self, key: Any, value: Any, /) -> None:
        """Replaces the element at an index, or the elements of a slice."""
        ...

    def __delitem__(self, key: SupportsIndex | slice, /) -> None:
        """Takes the element at an index out, or those of a slice. O(n)."""
        ...

    def __iter__(self) -> Iterator[T]:
        """An iterator over the elements."""
        ...

    def __reversed__(self) -> Iterator[T]:
        """An iterator over the elements in reverse order."""
        ...

    def __contains__(self, item: object, /) -> bool:
        """Returns whether an element equals the item. O(n)."""
        ...

    def __eq__(self, other: object, /) -> bool:
        """Returns whether `other` is a sequence with equal elements. O(n)."""
        ...

    def __ne__(self, other: object, /) -> bool:
        """Returns whether `other` is not a sequence with equal elements. O(n)."""
        ...

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Iterable[T], /) -> List[T]:
        """A new list with the elements of both. O(n)."""
        ...

    def __radd__(self, other: Iterable[T], /) -> List[T]:
        """A new list with the elements of both. O(n)."""
        ...

    def __mul__(self, times: SupportsIndex, /) -> List[T]:
        """A new list that repeats the elements. O(n)."""
        ...

    def __rmul__(self, times: SupportsIndex, /) -> List[T]:
        """A new list that repeats the elements. O(n)."""
        ...

    def __iadd__(self, items: Iterable[T], /) -> Self:
        """Appends the elements of an iterable."""
        ...

    def __imul__(self, times: SupportsIndex, /) -> Self:
        """Repeats the elements in place. O(n)."""
        self[:] = self * times
        return self

    def append(self, value: T, /) -> None:
        """Appends an element. Amortised O(1)."""
        ...

    def extend(self, values: Iterable[T], /) -> None:
        """Appends the elements of an iterable.

        All are converted first: after an error the list is unchanged.
        """
        ...

    def insert(self, index: SupportsIndex, value: T, /) -> None:
        """Puts an element before an index. O(n)."""
        ...

    def pop(self, index: SupportsIndex = -1, /) -> T:
        """Takes the element at an index out and returns it.

        Raises IndexError if there is none.
        """
        ...

    def remove(self, value: T, /) -> None:
        """Takes the first element out that equals the value. O(n).

        Raises ValueError if there is none.
        """
        ...

    def reverse(self) -> None:
        """Turns the order round. O(n)."""
        ...

    def clear(self) -> None:
        """Takes all elements out."""
        ...

    def copy(self) -> List[T]:
        """A new list with the same elements. O(n)."""
        ...

    def __copy__(self) -> List[T]:
        """A new list with the same elements. O(n)."""
        ...

    def sort(self, *, key: Callable[[T], Any] | None = None, reverse: bool = False) -> None:
        """Sorts the elements like a Python list. O(n log n).

        Raises ValueError if the list changes meanwhile.
        """
        self._sort({"key": key, "reverse": reverse})

    def _sort(self, options: dict[str, Any], /) -> None: ...

    def count(self, item: Any, /) -> int:
        """The number of elements equal to the item. O(n)."""
        ...

    def index(self, item: Any, start: int = 0, stop: int = 9223372036854775807, /) -> int:
        """The index of the first element that equals the item. O(n).

        Raises ValueError if there is none.
        """
        ...


class _Keys(KeysView[K], Generic[K]):
    """The keys of a mapping."""

    __slots__ = ()

    def __reversed__(self) -> Iterator[K]:
        return reversed(self._mapping)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"keys({list(self)!r})"


class _Values(ValuesView[V], Generic[V]):
    """The values of a mapping."""

    __slots__ = ()

    def __iter__(self) -> Iterator[V]:
        return self._mapping._iter_values()  # type: ignore[attr-defined]

    def __reversed__(self) -> Iterator[V]:
        return self._mapping._reversed_values()  # type: ignore[attr-defined]

    def __contains__(self, value: object) -> bool:
        return self._mapping._has_value(value)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"values({list(self)!r})"


class _Items(ItemsView[K, V], Generic[K, V]):
    """The items of a mapping, as pairs."""

    __slots__ = ()

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return self._mapping._iter_items()  # type: ignore[attr-defined]

    def __reversed__(self) -> Iterator[tuple[K, V]]:
        return self._mapping._reversed_items()  # type: ignore[attr-defined]

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, (tuple, Array)) or len(item) != 2:
            return False
        return self._mapping._has_item(item[0], item[1])  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"items({list(self)!r})"


class Map(Object, Mapping[K, V]):
    """An immutable mapping that keeps the order of insertion.

    Keys that are plain values match by type and value: 1, True and 1.0 are three keys;
    objects, arrays among them, match by identity. In a Python dict, 1, True and 1.0 are
    a single key, so pass pairs to keep all three.

    Args:
        entries: a mapping, or an iterable of pairs.
        named: further entries.

    >>> len(Map({1: "a", True: "b", 1.0: "c"})), len(Map([(1, "a"), (True, "b"), (1.0, "c")]))
    (1, 3)
    >>> m = Map({"a": 1}, b=2)
    >>> m["a"], m.get("z", 0), list(m.items())
    (1, 0, [('a', 1), ('b', 2)])
    >>> m == {"b": 2, "a": 1}, 2 in m.values()
    (True, True)
    >>> m["z"]
    Traceback (most recent call last):
    ...
    KeyError: 'z'
    """

    if TYPE_CHECKING:

        def __init__(
            self, entries: Mapping[K, V] | Iterable[tuple[K, V]] = (), /, **named: V
        ) -> None: ...

    def __len__(self) -> int:
        """The number of entries."""
        ...

    def __getitem__(self, key: K, /) -> V:
        """The value of a key. Raises KeyError if it is not there."""
        ...

    def __iter__(self) -> Iterator[K]:
        """An iterator over the keys."""
        ...

    def __reversed__(self) -> Iterator[K]:
        """An iterator over the keys in reverse order."""
        ...

    def __contains__(self, key: object, /) -> bool:
        """Returns whether the key is present."""
        ...

    def __eq__(self, other: object, /) -> bool:
        """Returns whether `other` is a mapping with equal entries. O(n)."""
        ...

    def __ne__(self, other: object, /) -> bool:
        """Returns whether `other` is not a mapping with equal entries. O(n)."""
        ...

    def __hash__(self) -> int:
        """A hash of the entries, in which their order does not matter. O(n)."""
        ...

    @overload
    def get(self, key: Any, default: None = None, /) -> V | None: ...
    @overload
    def get(self, key: Any, default: V | T, /) -> V | T: ...
    def get(self, key: Any, default: Any = None, /) -> Any:
        """The value of a key, or the default for a missing key."""
        ...

    def keys(self) -> KeysView[K]:
        """A view of the keys."""
        return _Keys(self)

    def values(self) -> ValuesView[V]:
        """A view of the values."""
        return _Values(self)

    def items(self) -> ItemsView[K, V]:
        """A view of the entries, as pairs."""
        return _Items(self)

    def __or__(self, other: Mapping[K, V], /) -> Map[K, V]:
        """A new map with the entries of both; values of the right operand win."""
        ...

    def __ror__(self, other: Mapping[K, V], /) -> Map[K, V]:
        """A new map with the entries of both; this one's values win."""
        ...

    def __copy__(self) -> Self:
        """The map itself, since it never changes."""
        ...

    @classmethod
    def fromkeys(cls, keys: Iterable[K], value: Any = None, /) -> Map[K, Any]:
        """A new map with these keys and one value for all keys."""
        return cls([(key, value) for key in keys])


class Dict(Object, MutableMapping[K, V]):
    """A mutable mapping that keeps the order of insertion.

    Every holder sees all changes. Adding or removing keys while iterating raises
    RuntimeError at the next step; changing the value of an existing key is allowed, as
    in Python. Keys match like those of `Map`. In a typed field, the entries keep to the
    types of the field, as in `List`.

    Args:
        entries: a mapping, or an iterable of pairs.
        named: further entries.

    >>> d = Dict({"a": 1})
    >>> d["b"] = 2
    >>> d |= {"c": 3}
    >>> d.pop("a"), list(d)
    (1, ['b', 'c'])
    """

    if TYPE_CHECKING:

        def __init__(
            self, entries: Mapping[K, V] | Iterable[tuple[K, V]] = (), /, **named: V
        ) -> None: ...

    def __len__(self) -> int:
        """The number of entries."""
        ...

    def __getitem__(self, key: K, /) -> V:
        """The value of a key. Raises KeyError if it is not there."""
        ...

    def __setitem__(self, key: K, value: V, /) -> None:
        """Sets the value of a key."""
        ...

    def __delitem__(self, key: K, /) -> None:
        """Takes a key and its value out. O(n).

        Raises KeyError if it is not there.
        """
        ...

    def __iter__(self) -> Iterator[K]:
        """An iterator over the keys."""
        ...

    def __reversed__(self) -> Iterator[K]:
        """An iterator over the keys in reverse order."""
        ...

    def __contains__(self, key: object, /) -> bool:
        """Returns whether the key is present."""
        ...

    def __eq__(self, other: object, /) -> bool:
        """Returns whether `other` is a mapping with equal entries. O(n)."""
        ...

    def __ne__(self, other: object, /) -> bool:
        """Returns whether `other` is not a mapping with equal entries. O(n)."""
        ...

    __hash__ = None  # type: ignore[assignment]

    @overload
    def get(self, key: Any, default: None = None, /) -> V | None: ...
    @overload
    def get(self, key: Any, default: V | T, /) -> V | T: ...
    def get(self, key: Any, default: Any = None, /) -> Any:
        """The value of a key, or the default for a missing key."""
        ...

    def keys(self) -> KeysView[K]:
        """A view of the keys, which shows all later changes."""
        return _Keys(self)

    def values(self) -> ValuesView[V]:
        """A view of the values, which shows all later changes."""
        return _Values(self)

    def items(self) -> ItemsView[K, V]:
        """A view of the entries, in pairs, which shows all later changes."""
        return _Items(self)

    @overload
    def pop(self, key: Any, /) -> V: ...
    @overload
    def pop(self, key: Any, default: V | T, /) -> V | T: ...
    def pop(self, key: Any, default: Any = MISSING, /) -> Any:
        """Takes a key out and returns the value. O(n).

        If the key is missing, the default is returned or, without a default, KeyError
        is raised.
        """
        ...

    def popitem(self) -> tuple[K, V]:
        """Takes the last entry out and returns the entry.

        Raises KeyError if there is none.
        """
        ...

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """The value of a key, set to the default for a missing key."""
        ...

    def update(self, entries: Any = (), /, **named: Any) -> None:
        """Sets all entries of a mapping or an iterable of pairs.

        All are converted first: after an error the dict is unchanged.
        """
        self._update(entries, named)

    def _update(self, entries: Any, named: dict[str, Any], /) -> None: ...

    def clear(self) -> None:
        """Takes all entries out."""
        ...

    def copy(self) -> Dict[K, V]:
        """A new dict with the same entries. O(n)."""
        ...

    def __copy__(self) -> Dict[K, V]:
        """A new dict with the same entries. O(n)."""
        ...

    def __or__(self, other: Mapping[K, V], /) -> Dict[K, V]:
        """A new dict with the entries of both; values of the right operand win."""
        ...

    def __ror__(self, other: Mapping[K, V], /) -> Dict[K, V]:
        """A new dict with the entries of both; this one's values win."""
        ...

    def __ior__(self, other: Any, /) -> Self:
        """Sets all entries of a mapping or an iterable of pairs."""
        ...

    @classmethod
    def fromkeys(cls, keys: Iterable[K], value: Any = None, /) -> Dict[K, Any]:
        """A new dict with these keys and one value for all keys."""
        return cls([(key, value) for key in keys])


for _class in (Array, List, Map, Dict):
    _core._install_container(_class, _class.__name__)
del _class
