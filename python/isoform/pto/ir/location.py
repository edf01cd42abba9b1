"""The source location of the code that calls this package."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from isoform import _core

if TYPE_CHECKING:
    from isoform.types.pto import Span

__all__ = ["caller"]

_OWN = f"{__package__}."


def caller() -> Span:
    """Return the file and line of the nearest caller outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OWN):
        frame = frame.f_back
    return _span(frame.f_code.co_filename, frame.f_lineno)


# A location is frozen, and has no other contents than these, so expressions of one line
# may share it.
@functools.lru_cache(maxsize=1024)
def _span(file: str, line: int) -> Span:
    make: Any = _core.class_of("pto.Span")
    return make(file, line, 1)
