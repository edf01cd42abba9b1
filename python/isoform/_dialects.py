"""The parts of the package that are imported when the first object of a type needs them."""

from __future__ import annotations

from importlib import import_module

# The modules with classes for types that are declared in Rust, by the beginnings of type keys.
_MODULES = {
    "ir": "isoform.ir",
    "pto": "isoform.pto",
    "relay": "isoform.relay",
    "tir": "isoform.tir",
    "transform": "isoform.transform",
}


def load(type_key: str) -> None:
    """Imports the module with the class of a type, if there is one.

    A module that is being imported already is left alone: its classes come later.
    """
    # The completion of classes that Rust makes, for types without a module, too.
    import_module("isoform.dataclasses")
    module = _MODULES.get(type_key.partition(".")[0])
    if module is not None:
        import_module(module)
