"""The base of functions."""

from __future__ import annotations

from enum import IntEnum

# The classes of its parents come first.
from . import expr as _parents  # noqa: F401

# isort: split
from isoform.types.ir import BaseFunc as BaseFunc


class CallingConv(IntEnum):
    """Possible kinds of calling conventions."""

    DEFAULT = 0
    C_PACKED_FUNC = 1
    DEVICE_KERNEL_LAUNCH = 2
