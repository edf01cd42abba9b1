"""The node types of the MLIR bridge, which are declared in Rust."""

from typing import Any

from isoform.types._namespace import find, names

# The names, for `from ... import *`, before anybody else declares such types.
__all__ = names("mlir")  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    return find("mlir", name)


def __dir__() -> list[str]:
    return names("mlir")
