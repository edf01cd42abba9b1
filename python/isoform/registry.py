"""Registered names: functions, and the types of classes.

>>> from isoform import get_global_func, register_global_func, remove_global_func
>>> @register_global_func("doc.registry.add_one")
... def add_one(x):
...     return x + 1
>>> get_global_func("doc.registry.add_one")(41)
42
>>> remove_global_func("doc.registry.add_one")
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar, overload

# Before any registration: functions are instances of the class made by this module.
from isoform import _core, function as _function
from isoform._core import call_method, get_global_func, list_global_func_names, remove_global_func

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_C = TypeVar("_C", bound=type)
_F = TypeVar("_F")

__all__ = [
    "call_method",
    "get_global_func",
    "get_global_func_metadata",
    "get_registered_type_keys",
    "init_ffi_api",
    "list_global_func_names",
    "method",
    "register_global_func",
    "register_object",
    "remove_global_func",
]


# The result is called as the function is.
@overload
def register_global_func(
    func_name: str, f: None = None, override: bool = False
) -> Callable[[_F], _F]: ...
@overload
def register_global_func(func_name: str, f: _F, override: bool = False) -> _F: ...
@overload
def register_global_func(func_name: _F, f: None = None, override: bool = False) -> _F: ...
def register_global_func(func_name: Any, f: Any = None, override: bool = False) -> Any:
    """Registers a function under a global name; also a decorator.

    Args:
        func_name: the name, or the function itself, to register under the function's
            name.
        f: the function; None for use as a decorator.
        override: replace an existing function of this name. The function of the same module
            and name, run again in a notebook or reloaded, replaces itself.

    Returns:
        The registered function, or the decorator.

    Raises:
        ValueError: the name is taken.
        TypeError: there is no name, or the object is not callable.

    Example:
        >>> from isoform.registry import register_global_func, remove_global_func
        >>> double = register_global_func("doc.registry.double", lambda x: 2 * x)
        >>> double(4)
        8
        >>> remove_global_func("doc.registry.double")
    """
    if callable(func_name):
        f, func_name = func_name, getattr(func_name, "__name__", "")
    if not isinstance(func_name, str):
        raise TypeError(f"the name of a function is a str, got {type(func_name).__name__}")
    name = func_name
    if f is not None:
        return _register(name, f, override)
    return lambda function: _register(name, function, override)


class Places:
    """Where the registered functions of each name are written.

    A cell that runs again, or a reloaded module, registers the function of the same place.
    """

    def __init__(self) -> None:
        self._places: dict[str, tuple[Any, Any]] = {}

    def is_again(self, name: str, module: Any, written: Any) -> bool:
        """True if the name was registered for this place before."""
        return self._places.get(name) == (module, written)

    def note(self, name: str, module: Any, written: Any) -> None:
        """Notes the place of a registered name."""
        # Functions inside of others, and lambdas, share their places.
        if isinstance(module, str) and isinstance(written, str) and "<" not in written:
            self._places[name] = (module, written)
        else:
            self._places.pop(name, None)


_places = Places()


def _register(name: str, found: Any, override: bool) -> Any:
    place = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    override = override or _places.is_again(name, *place)
    made = _core._register_global_func(name, _described(name, found), override)
    _places.note(name, *place)
    return made


def _described(name: str, found: Any) -> Any:
    if callable(found) and not isinstance(found, _function.Function):
        from isoform import _signature

        return _signature.described(found, name)
    return found


def get_global_func_metadata(name: str) -> dict[str, Any]:
    """Returns the description of a global function.

    Args:
        name: the name of the registration.

    Returns:
        A dict with the keys `type_schema` (the signature as JSON text, see
        `TypeSchema.from_json_str`), `name`, `doc` and `language`, and, if the
        parameters are known, `parameters` (a list of dicts with `name`, `type`
        and, if there is one, `default`) and `returns`.

    Raises:
        ValueError: there is no such function.

    Example:
        >>> from isoform.registry import register_global_func, remove_global_func
        >>> @register_global_func("doc.registry.power")
        ... def power(base: float, exponent: int = 2) -> float:
        ...     "A power."
        ...     return base**exponent
        >>> found = get_global_func_metadata("doc.registry.power")
        >>> found["doc"], found["returns"], found["parameters"][1]
        ('A power.', 'float', {'name': 'exponent', 'type': 'int', 'default': 2})
        >>> from isoform.core import TypeSchema
        >>> TypeSchema.from_json_str(found["type_schema"])
        Callable[[float, int], float]
        >>> remove_global_func("doc.registry.power")
    """
    from isoform import _signature

    return _signature.metadata(get_global_func(name))


def init_ffi_api(namespace: str, target_module_name: str | None = None) -> None:
    """Makes the global functions of a namespace attributes of a module.

    The function `namespace.name` becomes `module.name`; names with further dots
    are left out. O(registered functions).

    Args:
        namespace: the part of the names before the last dot.
        target_module_name: the module, which must be imported; by default the module
            with the namespace's name.

    Raises:
        KeyError: the module is not imported.
    """
    module = sys.modules[target_module_name or namespace]
    prefix = namespace + "."
    for name in list_global_func_names():
        rest = name.removeprefix(prefix)
        if rest != name and "." not in rest:
            setattr(module, rest, get_global_func(name))


@overload
def register_object(type_key: _C, *, init: bool = True) -> _C: ...
@overload
def register_object(type_key: str | None = None, *, init: bool = True) -> Callable[[_C], _C]: ...
def register_object(type_key: str | type | None = None, *, init: bool = True) -> Any:
    """Makes a class the Python view of a type that was declared natively.

    Args:
        type_key: the key of the type; by default the name of the class.
        init: let calls of the class construct objects.

    Raises:
        ValueError: no type has this key, or the type already has a class.
        TypeError: the key is not a str.

    Example:
        >>> from isoform import Object, register_object
        >>> @register_object("doc.registry.Nothing")
        ... class Nothing(Object):
        ...     pass
        Traceback (most recent call last):
        ValueError: no type is registered as 'doc.registry.Nothing'
    """
    if isinstance(type_key, type):
        return _bind(type_key, type_key.__name__, init)
    if type_key is not None and not isinstance(type_key, str):
        raise TypeError(f"a type key is a str, got {type(type_key).__name__}")
    return lambda cls: _bind(cls, type_key or cls.__name__, init)


def _bind(cls: _C, key: str, init: bool) -> _C:
    from isoform.dataclasses import c_class

    try:
        return c_class(key, init=init)(cls)
    except KeyError as error:
        raise ValueError(error.args[0]) from None


def get_registered_type_keys() -> Sequence[str]:
    """The keys of all registered types, sorted."""
    return _core.registered_type_keys()


_NO_CLASS = "Rust has no class to pass, so write a method or a staticmethod"


def method(function: _F) -> _F:
    """Exposes a method of a class of nodes: Rust calls it by name.

    `TypeInfo.methods` lists it, and `call_method` of the core finds it on objects of
    the class and of subclasses.

    Args:
        function: a function in the body of a class, or a `staticmethod`.

    Raises:
        TypeError: the function is a `classmethod` or cannot be called.

    Example:
        >>> from isoform import Object, method
        >>> from isoform.dataclasses import py_class
        >>> @py_class("doc.registry.Named")
        ... class Named(Object):
        ...     name: str
        ...
        ...     @method
        ...     def greet(self) -> str:
        ...         return f"I am {self.name}"
        >>> [found.name for found in Named.__isoform_type_info__.methods]
        ['greet']
        >>> call_method(Named("a node"), "greet")
        'I am a node'
    """
    if isinstance(function, classmethod):
        raise TypeError(f"a classmethod cannot be marked with method; {_NO_CLASS}")
    if not isinstance(function, staticmethod) and not callable(function):
        raise TypeError(f"expected a function, got {type(function).__name__}")
    marked: Any = function
    marked.__isoform_method__ = True
    return function


def _marked(cls: Any) -> list[tuple[str, Any]]:
    return [(name, found) for name, found in list(cls.__dict__.items()) if _is_marked(found)]


def _is_marked(found: Any) -> bool:
    # The mark may be on the function that a static or class method wraps.
    inner = found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    marks = (getattr(part, "__isoform_method__", None) for part in (found, inner))
    return any(mark is not None for mark in marks)


def check_methods(cls: Any, key: str, fields: set[str]) -> None:
    """Checks the marked methods in the body of a class.

    Raises:
        TypeError: one is a `classmethod`.
        ValueError: a method has the name of a field.
    """
    for name, found in cls.__dict__.items():
        if isinstance(found, classmethod) and _is_marked(found):
            raise TypeError(
                f"type {key}: '{name}' is a classmethod marked with method; {_NO_CLASS}"
            )
    for name, _ in _marked(cls):
        if name in fields:
            raise ValueError(f"type {key}: method '{name}' has the name of a field")


def register_methods(cls: Any, *, replace: bool = False) -> None:
    """Exposes the marked methods in the body of a class; for `py_class`."""
    from isoform import _signature

    key = cls.__isoform_type_key__
    for name, found in _marked(cls):
        is_static = isinstance(found, staticmethod)
        inner = found.__func__ if is_static else found
        exposed = _signature.described(inner, f"{key}.{name}")
        _core._register_method(cls, name, exposed, is_static, replace)


def _install_method(cls: Any, name: str, function: Any) -> None:
    """Makes a method registered in Rust a method of the Python class."""
    from isoform import _signature

    if name in cls.__dict__:
        return

    signature = _signature.of_method(function)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if signature is None:
                raise TypeError(f"{method.__qualname__}() takes no keyword arguments")
            try:
                bound = signature.bind(self, *args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{method.__qualname__}() {error}") from None
            bound.apply_defaults()
            return function(*bound.args)
        return function(self, *args)

    method.__name__ = name
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    method.__module__ = cls.__module__
    method.__doc__ = function.__doc__
    if signature is not None:
        method.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    method.__isoform_method__ = True  # pyright: ignore[reportFunctionMemberAccess]
    setattr(cls, name, method)


def install_methods(cls: Any) -> None:
    """Gives a class the methods registered by Rust for the type."""
    for name, function in _core._methods_of(cls):
        _install_method(cls, name, function)


_core._set_method_hook(_install_method)


def _register_own() -> None:
    """Registers the library's functions under the names looked up by other programs."""
    own = {
        "ffi.DeepCopy": _core.deep_copy,
        "ffi.ReprPrint": _core.repr_print,
        "ffi.RecursiveEq": _core.recursive_eq,
        "ffi.RecursiveGe": _core.recursive_ge,
        "ffi.RecursiveGt": _core.recursive_gt,
        "ffi.RecursiveHash": _core.recursive_hash,
        "ffi.RecursiveLe": _core.recursive_le,
        "ffi.RecursiveLt": _core.recursive_lt,
        "ffi.StructuralEqual": _core.structural_equal,
        "ffi.StructuralHash": _core.structural_hash,
        "ffi.GetFirstStructuralMismatch": _core.get_first_structural_mismatch,
        "ffi.ToJSONGraphString": _core.to_json_graph_str,
        "ffi.FromJSONGraphString": _core.from_json_graph_str,
        "ffi.GetRegisteredTypeKeys": _core.registered_type_keys,
    }
    for name, found in own.items():
        _core._register_global_func(name, found, True)


_register_own()
