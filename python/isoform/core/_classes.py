"""Finds the classes of values without importing them too early.

Annotations name classes, for example `Array` and `dtype`. The modules of these classes
need `isoform.core`, so this module imports them only when an annotation is read.
"""

import sys
from typing import Any

from isoform import _core

_MODULES = ("isoform._core", "isoform.container", "isoform.error", "isoform")

# Maps the names of classes in schemas to their names in Python.
_ORIGINS = {
    "Array": "Array",
    "List": "List",
    "Map": "Map",
    "Dict": "Dict",
    "Shape": "Shape",
    "Tensor": "Tensor",
    "Device": "Device",
    "dtype": "dtype",
    "Function": "Callable",
}
_OTHER_NAMES = {"DataType": "dtype", "String": "String", "Bytes": "Bytes"}
_PLAIN = {"String": str, "Bytes": bytes}


def find(name: str) -> Any:
    """The class of this name, from the first module with the name.

    Raises:
        AttributeError: no loaded module has it.
    """
    wanted = _OTHER_NAMES.get(name, name)
    for module in _MODULES:
        loaded = sys.modules.get(module)
        # `__dict__` instead of getattr: a package still under import responds to names
        # that it does not have yet.
        if loaded is not None and wanted in loaded.__dict__:
            return loaded.__dict__[wanted]
    if name in _PLAIN:
        return _PLAIN[name]
    raise AttributeError(f"module 'isoform.core' has no attribute '{name}'")


def origin_of(cls: type) -> str | None:
    """The name in schemas of a class of values, None for any other class."""
    if cls is _core.Object:
        return "Object"
    for name, origin in _ORIGINS.items():
        for module in _MODULES:
            loaded = sys.modules.get(module)
            if loaded is not None and loaded.__dict__.get(name) is cls:
                return origin
    return None


def class_of(origin: str) -> type | None:
    """The class for a name in schemas; None for an unloaded class."""
    for name, known in _ORIGINS.items():
        if known == origin:
            try:
                found = find(name)
            except AttributeError:
                return None
            return found if isinstance(found, type) else None
    return None
