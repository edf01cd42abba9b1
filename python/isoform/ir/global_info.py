"""What a module knows besides its functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoform import _core
from isoform.dataclasses import c_class
from isoform.structural import structural_equal, structural_hash

from .base import Node

if TYPE_CHECKING:
    from isoform.types.ir import DummyGlobalInfo, Target, VDevice

__all__ = ["DummyGlobalInfo", "GlobalInfo", "Target", "VDevice"]


@c_class("ir.GlobalInfo", init=False)
class GlobalInfo(Node):
    """Base node for all global info that can appear in the IR.

    `==` is structural equality; `same_as` asks for the same object.
    """

    def __eq__(self, other: object) -> bool:
        """Whether both are structurally equal."""
        return isinstance(other, GlobalInfo) and bool(structural_equal(self, other))

    def __ne__(self, other: object) -> bool:
        """Whether both are not structurally equal."""
        return not self == other

    def __hash__(self) -> int:
        """The structural hash, which agrees with `==`."""
        return structural_hash(self)

    def same_as(self, other: object) -> bool:
        """Whether the other one is the same object."""
        return super().same_as(other)


if not TYPE_CHECKING:
    DummyGlobalInfo = _core.class_of("ir.DummyGlobalInfo")
    Target = _core.class_of("ir.Target")
    VDevice = _core.class_of("ir.VDevice")
