"""The members of an enum, in messages."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# More members than this are not listed.
_SHOWN = 10


def members_text(names: Iterable[str]) -> str:
    """The names of the members of an enum, for the end of a message."""
    shown = [repr(name) for name in itertools.islice(names, _SHOWN + 1)]
    if len(shown) > _SHOWN:
        shown[-1] = "…"
    return f"; its members are {', '.join(shown)}" if shown else "; it has no members"
