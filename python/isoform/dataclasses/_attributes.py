"""Collects the attributes defined by a class body for the type."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, cast

from isoform import _core
from isoform._traits import Trait, function_of, is_trait, plan_of, value_for
from isoform.core import Object
from isoform.core._annotations import own_annotations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

HOOKS = frozenset(_core.type_attrs_hooks())
"""The names that the library itself reads."""

# The library runs the verifiers of all ancestors, and a conversion to objects of a
# class does not make objects of its subclasses.
_OWN_ONLY = frozenset(["__verify__", "__ffi_convert__"])

# In tvm-ffi the object is the second argument, which requires a static method.
_OBJECT_SECOND = frozenset(["__s_visit__", "__s_mutate__"])


def of_class(
    cls: type, key: str, parent: type | None, given: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """Returns the attributes of a class under registration.

    Args:
        cls: the class.
        key: the key of the type.
        parent: the registered class that it extends.
        given: hooks from outside of the body.

    Raises:
        TypeError: a trait lacks a method or an argument, or a list of names has
            the wrong type.
        ValueError: a trait is given twice.
    """
    wanted = _names(cls, "__ffi_inherit_type_attrs__")
    found = dict(of_body(cls, key, parent))
    for name in (HOOKS - _OWN_ONLY) if wanted is None else wanted:
        if not any(name in base.__dict__ for base in _bodies(cls, parent)):
            value = _inherited(cls, parent, name)
            if value is not None:
                found[name] = value
    found.update({name: value for name, value in given.items() if value is not None})
    return sorted(found.items())


def of_body(cls: type, key: str, parent: type | None) -> Iterator[tuple[str, Any]]:
    """The attributes defined by a class and its plain mixins.

    Raises:
        TypeError: a trait lacks a method or an argument, or a list of names has
            the wrong type.
        ValueError: a trait is given twice.
    """
    bodies = [*_bodies(cls, parent)]
    extra = (_names(cls, "__ffi_type_attr_names__") or ()) + (
        _names(cls, "__ffi_inherit_type_attrs__") or ()
    )
    seen: set[str] = set()
    for name in (*sorted(HOOKS), *extra):
        if name not in seen and any(name in base.__dict__ for base in bodies):
            value = getattr(cls, name)
            if value is not None:
                seen.add(name)
                if name in _OBJECT_SECOND and isinstance(
                    inspect.getattr_static(cls, name), staticmethod
                ):
                    value = _with_object_first(value)
                yield name, value
    for name, traits in _traits_of(bodies).items():
        if name not in seen:
            seen.add(name)
            values = [_core.opaque(trait) for trait in _each(traits)]
            yield name, values if isinstance(traits, (tuple, list)) else values[0]
        for trait in _each(traits):
            attribute = plan_of(trait).name
            if attribute in seen:
                raise ValueError(f"{key}: attribute '{attribute}' is given twice, by {name}")
            seen.add(attribute)
            yield (
                attribute,
                value_for(key, trait, lambda method: function_of(cls, method), _fields_of(cls)),
            )


def _fields_of(cls: type) -> set[str]:
    """The names that the class and its bases annotate."""
    return {name for base in cls.__mro__ for name in own_annotations(base)}


def _with_object_first(static: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A static method `(engine, node)` as the equivalent hook `(node, engine)`."""

    @functools.wraps(static)
    def hook(node: Any, engine: Any) -> Any:
        return static(engine, node)

    return hook


def _bodies(cls: type, parent: type | None) -> Iterator[type]:
    """The class and the plain classes among its bases, except bases of the parent."""
    for base in cls.__mro__:
        if not issubclass(parent or Object, base):
            yield base


def _names(cls: type, attribute: str) -> tuple[str, ...] | None:
    """A list of names held by a class or a base."""
    for base in cls.__mro__:
        if attribute in base.__dict__:
            names = base.__dict__[attribute]
            if not isinstance(names, (tuple, list)):
                raise TypeError(
                    f"{cls.__qualname__}.{attribute}: expected a tuple or list of names, got "
                    f"{type(names).__name__}"
                )
            for name in cast("Iterable[Any]", names):
                if not isinstance(name, str):
                    raise TypeError(
                        f"{cls.__qualname__}.{attribute}: expected names, got {type(name).__name__}"
                    )
            return tuple(cast("Iterable[str]", names))
    return None


def _inherited(cls: type, parent: type | None, name: str) -> Any:
    """The value inherited by a class under a name; None ends the search."""
    for base in parent.__mro__ if parent else ():
        if name in base.__dict__ and (name in HOOKS or base.__dict__[name] is None):
            # A class method then makes objects of this class.
            return getattr(cls, name)
        if "__isoform_type_key__" in base.__dict__:
            # Set from outside, or in another language.
            value = _core.type_attrs_get(base, name, None, False)
            if value is not None:
                return value
    return None


def _each(traits: Any) -> Iterable[type[Trait] | Trait]:
    if isinstance(traits, (tuple, list)):
        return cast("Iterable[Any]", traits)
    return (traits,)


def _traits_of(bodies: list[type]) -> dict[str, Any]:
    """The traits assigned in bodies, by the name of the variable."""
    found: dict[str, Any] = {}
    for base in reversed(bodies):
        for name, value in base.__dict__.items():
            parts = cast("list[Any]", list(_each(value)))
            if parts and any(map(is_trait, parts)):
                wrong = next((part for part in parts if not is_trait(part)), None)
                if wrong is not None:
                    raise TypeError(f"{base.__qualname__}.{name}: expected traits, got {wrong!r}")
                found[name] = value
    return found
