"""The node types of graphs of tensors, which are declared in Rust."""

# A class of the dialect is called `Any`.
import typing

from isoform.types._namespace import find, names

# The names, for `from ... import *`, before anybody else declares such types.
__all__ = names("relay")  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> typing.Any:
    return find("relay", name)


def __dir__() -> list[str]:
    return names("relay")
