"""Names of objects in messages."""

from __future__ import annotations

from typing import Any

from isoform import _core

__all__ = ["key_of"]


def key_of(value: Any) -> str:
    """Return the type key of an object or a class, for messages."""
    try:
        return _core.type_info(value).type_key
    except (TypeError, KeyError):
        return type(value).__name__
