"""The functions of the core used by this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core

if TYPE_CHECKING:
    from collections.abc import Callable


def function(name: str) -> Callable[..., Any]:
    """The function of the core under a global name."""
    found: Any = _core.get_global_func(name)
    return found


def method(key: str, name: str) -> Callable[..., Any]:
    """A method registered by Rust for a type, called with the object."""

    def call(this: Any, *args: Any) -> Any:
        return _core.call_method(this, name, *args)

    call.__name__ = name
    call.__doc__ = f"Call the method `{name}` of {key}."
    return call


def made(cls: Any, *args: Any) -> Any:
    """Call a class with a constructor declared in Rust."""
    return cls(*args)
