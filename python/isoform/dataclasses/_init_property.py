"""Fields computed once, when an object is made."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")


class init_property(Generic[_T]):  # noqa: N801
    """A field computed once by a method, after the constructor.

    The result is stored as a field of the annotated return type (any value without an
    annotation). The field is absent from the constructor, from `repr`, and from
    comparisons, since the other fields decide it.

    A child class may replace a property of its parents by a property of the same name;
    then only the child's method runs, and the field stays the parent's, with its type.

    Args:
        function: the method; it may read all other fields.

    Example:
        >>> from isoform.dataclasses import Object, init_property, py_class
        >>> @py_class("doc.init_property.Rect")
        ... class Rect(Object):
        ...     width: int
        ...     height: int
        ...
        ...     @init_property
        ...     def area(self) -> int:
        ...         return self.width * self.height
        >>> Rect(2, 3).area
        6
    """

    def __init__(self, function: Callable[[Any], _T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type) -> init_property[_T]: ...
        @overload
        def __get__(self, instance: object, owner: type) -> _T: ...
        def __get__(self, instance: object | None, owner: type) -> Any: ...


def install(cls: Any, own: dict[str, init_property[Any]], own_init: bool) -> None:
    """Makes the constructor of a class compute the properties, also inherited ones.

    Args:
        cls: the class, already registered.
        own: the properties of its body.
        own_init: True if its body has an `__init__`.
    """
    if own:
        cls.__isoform_init_properties__ = own
    for name in own:
        if isinstance(getattr(cls, name), init_property):
            # The property replaces a property of the parent class, and fills the parent's field.
            parent = next(c for c in cls.__mro__[1:] if "__isoform_type_key__" in c.__dict__)
            setattr(cls, name, getattr(parent, name))
    parts = inherited(cls)
    if not parts:
        return

    def compute(node: Any) -> None:
        # The constructor of a subclass with additional properties computes all
        # properties.
        if registered_class(node.__class__) is not cls:
            return
        for name, part in parts.items():
            # The descriptor, since the field may be frozen.
            getattr(cls, name).set(node, part.function(node))

    if own_init:
        _wrap_init(cls, compute)
    else:
        _wrap_post_init(cls, compute)


def inherited(cls: type) -> dict[str, init_property[Any]]:
    """The properties of a class and its parents, parents' first."""
    parts: dict[str, init_property[Any]] = {}
    for ancestor in reversed(cls.__mro__):
        parts |= ancestor.__dict__.get("__isoform_init_properties__", {})
    return parts


def registered_class(cls: type) -> type | None:
    """The nearest class that wraps a type of the core."""
    return next((c for c in cls.__mro__ if "__isoform_type_key__" in c.__dict__), None)


def _wrap_init(cls: Any, compute: Callable[[Any], None]) -> None:
    original = cls.__dict__["__init__"]

    @wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(self, *args, **kwargs)
        compute(self)

    cls.__init__ = __init__


def _wrap_post_init(cls: Any, compute: Callable[[Any], None]) -> None:
    original = getattr(cls, "__post_init__", None)
    # The wrapper of a parent also computes what this class's wrapper computes.
    original = getattr(original, "__isoform_wrapped__", original)

    def __post_init__(self: Any) -> None:  # noqa: N807
        compute(self)
        if original is not None:
            original(self)

    __post_init__.__isoform_wrapped__ = original  # pyright: ignore[reportFunctionMemberAccess]
    cls.__post_init__ = __post_init__
