"""All differences of two values, as data.

`diff` finds all differences, modulo renaming of bound variables, and returns for each
change its kind, both places, both values and sizes. A difference can be applied, inverted,
and written as JSON.

    >>> from isoform.diff import diff
    >>> found = diff([1, 2, 3, 4], [1, 5, 2, 3])
    >>> print(found)
    1 inserted, 1 deleted
    inserted at <root>[1]: 5
    deleted at <root>[3]: 4
    >>> list(found.apply([1, 2, 3, 4]))
    [1, 5, 2, 3]
    >>> list(found.invert().apply([1, 5, 2, 3]))
    [1, 2, 3, 4]

A patch is enough to apply the change elsewhere:

    >>> from isoform.diff import Patch
    >>> text = found.patch.to_json()
    >>> list(Patch.from_json(text).apply([1, 2, 3, 4]))
    [1, 5, 2, 3]

Tolerances and `ignore` leave changes out:

    >>> bool(diff([1.0], [1.001], atol=0.01))
    False
    >>> diff([1, [2]], [0, [3]], ignore=lambda change: change.left_path.depth > 1).summary()
    '1 value'

`merge` applies the changes of two values since a third one together:

    >>> from isoform.diff import merge
    >>> merged = merge([1, 2, 3], [1, 5, 3], [0, 1, 2, 3])
    >>> merged.is_clean, list(merged.merged)
    (True, [0, 1, 5, 3])
    >>> merged = merge([1, 2, 3], [1, 5, 3], [1, 6, 3, 4])
    >>> print(merged)
    1 conflict (left: 1 value; right: 1 value, 1 inserted)
    conflict at <root>[1]
      base: 2
      left: 5
      right: 6
    >>> list(merged.resolve("left"))
    [1, 5, 3, 4]
    >>> list(merged.resolve(lambda conflict: conflict.left + conflict.right))
    [1, 11, 3, 4]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from isoform._core import (
    Change,
    ChangeRecord,
    Conflict,
    Difference,
    DifferenceRecord,
    Merge,
    Patch,
    _diff,
    _merge,
)
from isoform.core._annotations import type_key_of

__all__ = [
    "Change",
    "ChangeRecord",
    "Conflict",
    "Difference",
    "DifferenceRecord",
    "Merge",
    "Patch",
    "diff",
    "merge",
]

_T = TypeVar("_T")

#: What `ignore` takes: a class, a field as `"Class.field"` with the type key of the class, or a
#: function of a change.
Ignore = type | str | Callable[[Change], Any]


def diff(
    left: _T,
    right: _T,
    *,
    map_free_vars: bool = False,
    skip_tensor_content: bool = False,
    rtol: float = 0.0,
    atol: float = 0.0,
    ignore: Ignore | Iterable[Ignore] = (),
) -> Difference[_T]:
    """Returns all differences of two values: empty if and only if they are structurally equal.

    Lists are aligned, and an insertion is one change; a changed shared part is one
    change, regardless of the number of occurrences.

    Args:
        left: the value from which the difference starts.
        right: the value that it leads to.
        map_free_vars: whether free variables are equal up to renaming.
        skip_tensor_content: whether the elements of tensors are not compared.
        rtol: see `atol`.
        atol: two floats, or elements of tensors, are the same if they differ by at most
            `atol + rtol * abs(right)`.
        ignore: the differences to leave out: a class, whose objects are all the same; a field
            as `"type.key.field"`; a function that returns true for changes to leave out; or
            several of these. Applying the difference keeps the left contents of ignored
            classes and fields.

    Raises:
        TypeError: an incomparable value, or an unregistered class.
        ValueError: a value contains itself, with the path.
        AttributeError: a field missing in the class.

    O(n) for n distinct objects of values that are nearly the same.
    """
    types, fields, predicates = _by_kind(ignore)
    return _diff(
        left, right, map_free_vars, skip_tensor_content, (rtol, atol), types, fields, predicates
    )


def merge(
    base: _T,
    left: _T,
    right: _T,
    *,
    map_free_vars: bool = False,
    ignore: type | str | Iterable[type | str] = (),
) -> Merge[_T]:
    """Merges the changes of two values since a base that both were made from.

    A change of one side alone is taken over, and the same change of both sides is taken over once.
    Bound variables may have different names on the two sides. A place that both sides changed in
    different ways is a conflict, and the merged value keeps the part of the base there: other
    values, elements inserted at the same position of a list, a part deleted or moved away by one
    side and edited by the other.

    Args:
        base: the value from which both sides were made.
        left: the value of one side.
        right: the value of the other side.
        map_free_vars: whether free variables are equal up to renaming.
        ignore: the differences to leave out: a class, whose objects are all the same; a field as
            `"type.key.field"`; or several of these. Parts that the merge keeps from the base keep
            the ignored objects and fields of the base, too.

    Raises:
        TypeError: a value that cannot be compared, a class that is not registered, or a function
            to ignore changes.
        ValueError: a value contains itself, with the path.
        AttributeError: a field missing in the class.

    O(n) for n distinct objects of values that are nearly the same.
    """
    types, fields, predicates = _by_kind(ignore)
    if predicates:
        raise TypeError(
            "ignore: expected a class or a field as 'type.key.field', got a function; a merge has "
            "all changes"
        )
    return _merge(base, left, right, map_free_vars, types, fields)


def _by_kind(
    ignore: Ignore | Iterable[Ignore],
) -> tuple[list[str], list[tuple[str, str]], list[Callable[[Change], Any]]]:
    """The keys of types, the fields and the functions in what `diff` is to ignore."""
    types: list[str] = []
    fields: list[tuple[str, str]] = []
    predicates: list[Callable[[Change], Any]] = []
    single = isinstance(ignore, (type, str)) or callable(ignore)
    for item in [ignore] if single else ignore:  # type: ignore[union-attr]
        if isinstance(item, str):
            key, dot, field = item.rpartition(".")
            if not dot:
                raise ValueError(
                    f"ignore: expected a field as 'type.key.field', got {item!r}; "
                    "for a type, give its class"
                )
            fields.append((key, field))
        elif isinstance(item, type):
            types.append(_type_key(item))
        elif callable(item):
            predicates.append(item)
        else:
            raise TypeError(
                "ignore: expected a class, a field as 'type.key.field' or a function, got "
                f"{type(item).__name__}"
            )
    return types, fields, predicates


def _type_key(cls: type) -> str:
    key = type_key_of(cls)
    if key is None:
        raise TypeError(f"ignore: expected a class of objects, got {cls.__name__}")
    return key
