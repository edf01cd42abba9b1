"""The node types of the vocabulary shared by IRs, declared in Rust."""

from typing import Any

from isoform.types._namespace import find, names

# The names, for `from ... import *`, before anybody else declares such types.
__all__ = names("ir")  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    return find("ir", name)


def __dir__() -> list[str]:
    return names("ir")
