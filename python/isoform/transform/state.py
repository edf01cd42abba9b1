"""The data of a pure pass written in Python, besides its arguments."""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import weakref
from typing import TYPE_CHECKING, Any

from isoform.container import Map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["DESCRIPTION", "state_of"]

#: The attributes that describe a pass.
DESCRIPTION = ("_inner", "__doc__", "__module__")

#: Values that never change: a module or class variable that holds one is part of the state.
_PLAIN = (bool, int, float, str, bytes, type(None))

#: Code, which the version of the pass stands for.
_CODE = (type, types.ModuleType, types.BuiltinFunctionType, types.MethodWrapperType)


def state_of(this: Any, func: Any) -> Callable[[], Any]:
    """Return the function that returns the data of a pass, by name.

    The data is named in its code: variables captured by a closure, defaults of parameters,
    attributes of the pass and of the instance whose method it runs, and plain values of
    module and class variables. Captured functions count with their own data; all other
    functions, classes and modules are code.

    Args:
        this: The pass.
        func: The function, method, partial application or object to call.
    """
    owner = weakref.ref(this)

    def state() -> Any:
        found = dict(_data_of(func))
        found.update((f"attribute {n}", v) for n, v in _own_attributes(owner()))
        try:
            return Map({name: _value(value) for name, value in found.items()})
        except (TypeError, ValueError, RecursionError):
            # A function has no digest, so no result is kept.
            return print

    return state


def _own_attributes(owner: Any) -> Iterator[tuple[str, Any]]:
    """The attributes set on a pass by users."""
    attributes = {} if owner is None else vars(owner)
    return ((name, value) for name, value in attributes.items() if name not in DESCRIPTION)


def _data_of(func: Any) -> Iterator[tuple[str, Any]]:
    """The data of a function and of its captured functions."""
    from .passes import Pass

    pending, seen = [("", func)], set()
    while pending:
        prefix, one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for name, value in _parts_of(one):
            if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
                pending.append((f"{prefix}{name}.", value))
            elif isinstance(value, Pass):
                for attribute, own in _own_attributes(value):
                    yield f"{prefix}{name}.{attribute}", own
            elif not isinstance(value, _CODE):
                yield prefix + name, value


def _parts_of(one: Any) -> Iterator[tuple[str, Any]]:
    """The data and the functions in a function, method, partial application or object."""
    if isinstance(one, functools.partial):
        yield "func", one.func
        yield from ((f"argument {at}", value) for at, value in enumerate(one.args))
        yield from one.keywords.items()
    elif isinstance(one, types.MethodType):
        yield "func", one.__func__
        yield from _attributes_of(one.__self__)
    elif isinstance(one, types.FunctionType):
        yield from _variables_of(one)
    elif not isinstance(one, _CODE):
        call = type(one).__call__
        # A function of the core has no attributes.
        if isinstance(call, types.FunctionType):
            yield "__call__", call
            yield from _attributes_of(one)


def _variables_of(func: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The captured variables, the defaults and the plain global variables of a function."""
    from .passes import Pass

    code = func.__code__
    for name, cell in zip(code.co_freevars, func.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            # A variable that has no value yet.
            continue
    yield from ((f"default {at}", value) for at, value in enumerate(func.__defaults__ or ()))
    yield from (func.__kwdefaults__ or {}).items()
    for name in _global_names(code):
        value = func.__globals__.get(name)
        if name in func.__globals__ and isinstance(value, (*_PLAIN, Pass)):
            yield name, value


@functools.lru_cache(maxsize=1024)
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    """The names of global variables, and of attributes, in code and the functions inside."""
    pending, names = [code], set()
    while pending:
        one = pending.pop()
        names.update(one.co_names)
        pending.extend(part for part in one.co_consts if isinstance(part, types.CodeType))
    return tuple(sorted(names))


def _attributes_of(instance: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an instance, and the plain attributes of its class."""
    if isinstance(instance, _CODE):
        return
    for base in reversed(type(instance).__mro__):
        for name, value in vars(base).items():
            if isinstance(value, _PLAIN) and not name.startswith("__"):
                yield name, value
            elif isinstance(value, types.MemberDescriptorType) and hasattr(instance, name):
                yield name, getattr(instance, name)
    yield from getattr(instance, "__dict__", {}).items()


def _value(data: Any) -> Any:
    """The data as a value of the core; entries and items in the order seen by code.

    Raises TypeError for data that the core cannot hold.
    """
    if isinstance(data, enum.Enum):
        return f"{type(data).__qualname__}.{data.name}"
    if isinstance(data, (list, tuple)):
        return [_value(item) for item in data]
    if isinstance(data, dict):
        return ["dict", *([_value(key), _value(value)] for key, value in data.items())]
    if isinstance(data, (set, frozenset)):
        if not all(isinstance(item, _PLAIN) for item in data):
            raise TypeError("a set of values whose order is not known")
        return ["set", *sorted(map(repr, data))]
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        fields = ((field.name, getattr(data, field.name)) for field in dataclasses.fields(data))
        return [type(data).__qualname__, *([name, _value(value)] for name, value in fields)]
    return data
