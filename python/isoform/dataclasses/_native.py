"""Classes for types that were declared natively."""

# The modules of this package are private to it, not to each other.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from isoform import _core, registry
from isoform.core import _schema_text

from . import _field

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._field import Field

_T = TypeVar("_T", bound=type)


def c_class(
    type_key: str,
    *,
    frozen: bool = False,
    init: bool = True,
    repr: bool = True,  # noqa: A002, ARG001
    eq: bool = False,
    order: bool = False,
    unsafe_hash: bool = False,
    match_args: bool = True,
) -> Callable[[_T], _T]:
    """Makes a class the Python view of a type that was declared natively.

    Without the decorator, a natively declared type gets a generated class; the
    decorator adds methods, and the attributes that `py_class` reads from a body: hooks,
    traits and published names. Annotations in the body are for readers and type
    checkers: the fields are those of the type.

    Args:
        type_key: the key of the type.
        frozen: accepted for symmetry with `py_class`; only their own language
            writes fields of native types.
        init: let calls of the class construct objects.
        repr: accepted for symmetry; objects always show their fields.
        eq: compare by fields with `==`.
        order: compare by fields with `<`, `<=`, `>` and `>=`.
        unsafe_hash: hash by fields.
        match_args: let `match` take the fields by position.

    Raises:
        KeyError: no type has this key.
        ValueError: the type has a class already, or an attribute that the body
            defines; `order` without `eq`.
        TypeError: a trait lacks a method or an argument.

    Example:
        >>> from isoform.dataclasses import Object, c_class
        >>> @c_class("demo.none.Such")
        ... class Such(Object):
        ...     pass
        Traceback (most recent call last):
        KeyError: "no type is registered as 'demo.none.Such'"
    """
    del frozen
    from . import _again, _dunder

    if order and not eq:
        raise ValueError("order=True requires eq=True")

    def decorate(cls: _T) -> _T:
        own_init = "__init__" in cls.__dict__
        own_match_args = "__match_args__" in cls.__dict__
        attributes = _attributes_for(cls, type_key)
        registry.check_methods(cls, type_key, set())
        if (existing := _again.native(cls, type_key)) is not None:
            return existing
        if not init and not own_init:
            # First: a class with a constructor keeps the constructor on binding.
            _dunder.forbid_construction(cls)
            own_init = True
        body = frozenset(cls.__dict__)
        _core.bind_class(cls, type_key)
        _again.note_native(type_key, cls, body)
        for name, value in attributes:
            _core.type_attrs_set(type_key, name, value, False)
        _complete(cls, own_init=own_init)
        registry.register_methods(cls)
        registry.install_methods(cls)
        _dunder.install(cls, eq=eq, order=order, unsafe_hash=unsafe_hash)
        if not match_args and not own_match_args:
            target: Any = cls
            target.__match_args__ = ()
        return cls

    return decorate


def _attributes_for(cls: type, type_key: str) -> list[tuple[str, Any]]:
    """The attributes that the body of a class adds to a native type.

    Raises:
        ValueError: the type has an attribute of this name.
        TypeError: an attribute cannot have the value.
        KeyError: no type has the key.
    """
    from ._attributes import of_body
    from ._collect import registered_parent

    attributes = [*of_body(cls, type_key, registered_parent(cls))]
    for name, value in attributes:
        _core.type_attrs_check(type_key, name, value)
    return attributes


def adopt(cls: Any) -> None:
    """Completes a class made by the core for a natively declared type."""
    from . import _dunder

    _complete(cls, own_init=False)
    registry.install_methods(cls)
    _dunder.install(cls, eq=False, order=False, unsafe_hash=False)


def _complete(cls: Any, *, own_init: bool) -> None:
    from isoform import _signature

    from . import _dunder
    from ._collect import all_fields

    info = _core.type_info(cls)
    cls.__isoform_type_info__ = info
    if info.is_builtin or own_init:
        return
    if info.init_function is not None:
        cls.__init__.__signature__ = _signature.of_method(info.init_function, with_self=True)
        return
    fields = {known.name: known for known in all_fields(cls)}
    names, positional = info.init_parameters
    parameters = [fields[name] for name in names]
    cls.__init__.__signature__ = _dunder.signature(parameters[:positional], parameters[positional:])


def fields_of(cls: type) -> tuple[Field, ...]:
    """The fields of a class of a natively declared type, without the parent's."""
    return tuple(map(_describe, _core.type_info(cls).fields))


def _describe(known: _core.TypeField) -> Field:
    schema = _schema_text.parse(known.annotation)
    declared = _field.make(
        default=known.default,
        default_factory=known.default_factory,
        frozen=known.frozen,
        init=known.init,
        repr=known.repr,
        hash=known.hash,
        compare=known.compare,
        structural_eq=known.structural_eq,
        doc=known.doc,
    )
    return declared._bound(
        known.name, known.annotation, schema, frozen=known.frozen, kw_only=known.kw_only
    )


_core._set_native_hook(adopt)
