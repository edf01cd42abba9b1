"""The classes of all registered types, by type key.

A type key is a name with dots, like the path to its class:

>>> from isoform import types
>>> types.onnx.Graph
<class 'onnx.Graph'>

Types declared by a library in Rust are here without a line of Python, as are classes
declared with `isoform.dataclasses.py_class`. If the key of a type is also the beginning
of other keys, the class wins; `class_of` finds the other types.

A namespace of types that come with Isoform is a module with a stub; for your own
types, `python -m isoform.stubgen` writes one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.types import ir, mlir, onnx, pto, relay, tir, transform
from isoform.types._namespace import Namespace, find, names

__all__ = ["Namespace", "class_of", "ir", "mlir", "onnx", "pto", "relay", "tir", "transform"]


def class_of(type_key: str) -> type[Any]:
    """Return the Python class of a registered type.

    A type declared in Rust gets its class on first use.

    Raises KeyError for an unknown key.

    >>> class_of("onnx.Call").__name__
    'Call'
    """
    return _core.class_of(type_key)


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:

    def __getattr__(name):
        return find("", name)


def __dir__() -> list[str]:
    return sorted({*__all__, *names("")})
