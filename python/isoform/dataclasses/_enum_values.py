"""Fields of enum types take the values of members as well as the members."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from isoform import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from isoform.core import TypeSchema

    from ._field import Field

# More members than this are not listed in messages.
_SHOWN = 10


def converter_for(declared: Field) -> Callable[[Any], Any] | None:
    """What a field applies to values before their conversion, or None."""
    payload = _payload_of(declared.schema)
    if payload is None:
        return declared.converter
    cls, kind = payload
    before = declared.converter

    def convert(value: Any) -> Any:
        if before is not None:
            value = before(value)
        if type(value) is kind:
            try:
                return cls.get(value)
            except KeyError:
                raise TypeError(
                    f"expected {cls.__isoform_type_key__}, got {value!r}, which is the value of "
                    "no member"
                ) from None
        return value

    return convert


def _payload_of(schema: TypeSchema) -> tuple[Any, type] | None:
    """The enum whose members a field holds, and the type of their values."""
    if schema.origin == "Optional":
        schema = schema.args[0]
    if schema.type_key is None:
        return None
    try:
        cls: Any = _core.class_of(schema.type_key)
    except KeyError:
        return None
    kind = getattr(cls, "__isoform_payload__", None)
    return None if kind is None else (cls, kind)


def members_text(names: Iterable[str]) -> str:
    """The names of the members of an enum, for the end of a message."""
    shown = [repr(name) for name in itertools.islice(names, _SHOWN + 1)]
    if len(shown) > _SHOWN:
        shown[-1] = "…"
    return f"; its members are {', '.join(shown)}" if shown else "; it has no members"
