"""The classes of all registered types, by type key.

A type key is a name with dots, and so is the way to its class:

>>> from isoform import types
>>> types.onnx.Graph
<class 'onnx.Graph'>
>>> types.onnx
<namespace of types 'onnx'>

Types that a library declares in Rust are here without a line of Python, as are
classes declared with `isoform.dataclasses.py_class`. Where the key of a type is
also the beginning of other keys, the class wins; `class_of` finds the others.
"""

from __future__ import annotations

from typing import Any

from isoform import _core

__all__ = ["Namespace", "class_of"]


def class_of(type_key: str) -> type[Any]:
    """Return the Python class of a registered type.

    A type declared in Rust gets its class on first use.

    Raises KeyError for an unknown key.

    >>> class_of("onnx.Call").__name__
    'Call'
    """
    return _core.class_of(type_key)


class Namespace:
    """The types whose keys begin alike; see the module."""

    __slots__ = ("_prefix",)

    def __init__(self, prefix: str) -> None:
        """Make the namespace of the keys that begin with `prefix` and a dot."""
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        """Return the class or the namespace of this name; AttributeError without."""
        return _find(self._prefix, name)

    def __dir__(self) -> list[str]:
        """Return the names of the next level."""
        return _names(self._prefix)

    def __repr__(self) -> str:
        """Name the common beginning of the keys."""
        return f"<namespace of types '{self._prefix}'>"


def _find(prefix: str, name: str) -> Any:
    key = f"{prefix}.{name}" if prefix else name
    # Python asks any object for such names; no type has one.
    if not name.startswith("__"):
        try:
            return _core.class_of(key)
        except KeyError:
            pass
        if any(other.startswith(key + ".") for other in _core.registered_type_keys()):
            return Namespace(key)
    where = f"namespace '{prefix}'" if prefix else "isoform.types"
    raise AttributeError(f"{where}: no type is registered as '{key}' or below it")


def _names(prefix: str) -> list[str]:
    start = f"{prefix}." if prefix else ""
    keys = _core.registered_type_keys()
    return sorted(
        {key[len(start) :].partition(".")[0] for key in keys if key.startswith(start)}
    )


def __getattr__(name: str) -> Any:
    return _find("", name)


def __dir__() -> list[str]:
    return [*__all__, *_names("")]
