"""What is registered under names: functions, and the types behind classes.

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
from typing import TYPE_CHECKING, Any, TypeVar

# Before anything is registered: functions are instances of the class it makes.
from isoform import _core, function  # noqa: F401
from isoform._core import get_global_func, list_global_func_names, remove_global_func

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_C = TypeVar("_C", bound=type)
_F = TypeVar("_F")

__all__ = [
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


def register_global_func(
    func_name: str | Callable[..., Any],
    f: Callable[..., Any] | None = None,
    override: bool = False,
) -> Any:
    """Registers a function under a global name; also a decorator.

    Args:
        func_name: the name, or the function itself, to be registered under its
            own name.
        f: the function; None for use as a decorator.
        override: whether a function of this name is replaced.

    Returns:
        The registered function, or the decorator.

    Raises:
        ValueError: the name is taken.
        TypeError: there is no name, or nothing to call.

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
        return _core._register_global_func(name, f, override)
    return lambda function: _core._register_global_func(name, function, override)


def get_global_func_metadata(name: str) -> dict[str, Any]:
    """What is known about a global function besides what it does: nothing yet.

    Raises:
        ValueError: there is no such function.
    """
    get_global_func(name)
    return {}


def init_ffi_api(namespace: str, target_module_name: str | None = None) -> None:
    """Makes the global functions of a namespace attributes of a module.

    The function `namespace.name` becomes `module.name`; names with further dots
    are left out. O(registered functions).

    Args:
        namespace: what comes before the last dot of the names.
        target_module_name: the module, which must be imported; by default the
            one of the namespace's name.

    Raises:
        KeyError: the module is not imported.
    """
    module = sys.modules[target_module_name or namespace]
    prefix = namespace + "."
    for name in list_global_func_names():
        rest = name.removeprefix(prefix)
        if rest != name and "." not in rest:
            setattr(module, rest, get_global_func(name))


def register_object(type_key: str | type | None = None, *, init: bool = True) -> Any:
    """Makes a class the Python view of a type that was declared natively.

    Args:
        type_key: the key of the type; by default the name of the class.
        init: whether calls of the class construct objects.

    Raises:
        ValueError: no type has this key, or the type has a class already.
        TypeError: the key is no str.

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


def method(function: _F) -> _F:
    """Marks a method of a class of nodes, so that `TypeInfo.methods` lists it.

    Args:
        function: a function in the body of a class, or a `staticmethod`.

    Raises:
        TypeError: it is a `classmethod` or nothing that can be called.

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
    """
    if isinstance(function, classmethod):
        raise TypeError("a classmethod cannot be marked; use a method or a staticmethod")
    if not isinstance(function, staticmethod) and not callable(function):
        raise TypeError(f"expected a function, got {type(function).__name__}")
    marked: Any = function
    marked.__isoform_method__ = True
    return function


def _register_own() -> None:
    """The library's own functions under the names that other programs look for."""
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
    for name, function in own.items():
        _core._register_global_func(name, function, True)


_register_own()
