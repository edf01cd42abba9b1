"""The node types of primitive expressions, which are declared in Rust."""

from typing import Any

from isoform.types._namespace import find, names


def __getattr__(name: str) -> Any:
    return find("tir", name)


def __dir__() -> list[str]:
    return names("tir")
