"""The base of functions."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from isoform import _core

from .expr import RelayExpr  # noqa: F401  # The parent's class comes first.

if TYPE_CHECKING:
    from isoform.types.ir import BaseFunc
else:
    BaseFunc = _core.class_of("ir.BaseFunc")

__all__ = ["BaseFunc", "CallingConv"]


class CallingConv(IntEnum):
    """Possible kinds of calling conventions."""

    DEFAULT = 0
    C_PACKED_FUNC = 1
    DEVICE_KERNEL_LAUNCH = 2
