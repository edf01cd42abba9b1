"""The source location of the code that calls this package."""

from __future__ import annotations

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
    make: Any = _core.class_of("pto.Span")
    span: Span = make(frame.f_code.co_filename, frame.f_lineno, 1)
    return span
