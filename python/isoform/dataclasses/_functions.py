"""Functions over the fields of any registered class."""

# The native module is private to the package, not to its parts.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from isoform import _core
from isoform.core import Object

from . import _collect, _dunder, _pending
from ._init_property import registered_class
from .enum import Enum

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._field import Field

_T = TypeVar("_T")


def fields(class_or_instance: Any) -> tuple[Field, ...]:
    """The fields of a registered class or of an object, parents' first.

    Takes linear time in the number of fields.

    Raises:
        TypeError: the class is not registered, or waits for names that do not
            exist yet.

    Example:
        >>> from isoform.dataclasses import Object, fields, py_class
        >>> @py_class("doc.fields.Point")
        ... class Point(Object):
        ...     x: int
        ...     y: int = 0
        >>> [(field.name, field.default) for field in fields(Point)]
        [('x', MISSING), ('y', 0)]
    """
    cls = class_or_instance if isinstance(class_or_instance, type) else type(class_or_instance)
    if issubclass(cls, Object):
        _pending.complete(cls)
        known = registered_class(cls)
        if known is not None and known is not Object and not _is_builtin(known):
            return _collect.all_fields(known)
    raise TypeError(f"fields() expects a registered class or its object, got {cls.__name__}")


def is_dataclass(obj: object) -> bool:
    """Returns whether `obj` is a registered class with fields, or an object of one.

    Example:
        >>> from isoform.dataclasses import is_dataclass
        >>> is_dataclass(3)
        False
    """
    cls = obj if isinstance(obj, type) else type(obj)
    if not issubclass(cls, Object):
        return False
    known = registered_class(cls)
    if known is None:
        return "__isoform_pending_key__" in cls.__dict__
    return known is not Object and not _is_builtin(known)


def _is_builtin(cls: type) -> bool:
    return _core.type_info(cls).is_builtin


def replace(obj: _T, /, **changes: Any) -> _T:
    """A shallow copy of an object with some changed fields.

    The values are converted as by the constructor; `__init__` and
    `__post_init__` do not run. Takes linear time in the number of fields.

    Raises:
        AttributeError: there is no such field.
        TypeError: a value does not fit its field, or `obj` is not an object of a
            registered class.

    Example:
        >>> from isoform.dataclasses import Object, py_class, replace
        >>> @py_class("doc.replace.Point")
        ... class Point(Object):
        ...     x: int
        ...     y: int
        >>> replace(Point(1, 2), y=5).y
        5
    """
    if isinstance(obj, type) or not is_dataclass(obj):
        kind = obj.__name__ if isinstance(obj, type) else type(obj).__name__
        raise TypeError(f"replace() expects an object of a registered class, got {kind}")
    own: Any = getattr(type(obj), "__replace__", None)
    if own is not None:
        return own(obj, **changes)
    return _dunder.replace_fields(obj, changes)


def asdict(obj: Any, *, dict_factory: Callable[[list[tuple[str, Any]]], Any] = dict) -> Any:
    """Converts an object to nested dicts; arrays and lists become lists, and maps become dicts.

    An object with several references becomes one shared dict, so the work is linear in
    the number of distinct objects. Members of enums and further values stay unchanged.
    Any depth works.

    Args:
        obj: an object of a registered class.
        dict_factory: makes a dict from a list of names and values.

    Raises:
        TypeError: `obj` is not an object of a registered class.
        ValueError: the object contains itself; the message says where.

    Example:
        >>> from isoform.dataclasses import Object, asdict, py_class
        >>> @py_class("doc.asdict.Node")
        ... class Node(Object):
        ...     items: "list[int | Node]"
        >>> asdict(Node([1, Node([2])]))
        {'items': [1, {'items': [2]}]}
    """
    _check_instance("asdict", obj)
    return _core._to_plain(obj, Enum, True, None if dict_factory is dict else dict_factory)


def astuple(obj: Any, *, tuple_factory: Callable[[list[Any]], Any] = tuple) -> Any:
    """Converts an object to nested tuples; arrays and lists become lists, and maps become dicts.

    Work and depth are as with `asdict`.

    Args:
        obj: an object of a registered class.
        tuple_factory: makes a tuple from a list of values.

    Raises:
        TypeError: `obj` is not an object of a registered class.
        ValueError: the object contains itself; the message says where.

    Example:
        >>> from isoform.dataclasses import Object, astuple, py_class
        >>> @py_class("doc.astuple.Node")
        ... class Node(Object):
        ...     items: "list[int | Node]"
        >>> astuple(Node([1, Node([2])]))
        ([1, ([2],)],)
    """
    _check_instance("astuple", obj)
    return _core._to_plain(obj, Enum, False, None if tuple_factory is tuple else tuple_factory)


def _check_instance(function: str, obj: Any) -> None:
    if isinstance(obj, type) or not is_dataclass(obj):
        name = f"class {obj.__name__}" if isinstance(obj, type) else type(obj).__name__
        raise TypeError(f"{function}() expects an object of a registered class, got {name}")
