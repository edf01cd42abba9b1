"""Information in a module, besides the functions."""

from __future__ import annotations

from isoform.dataclasses import c_class
from isoform.structural import structural_equal, structural_hash

from .base import Node


@c_class("ir.GlobalInfo", init=False)
class GlobalInfo(Node):
    """Base node for all global info that can appear in the IR.

    `==` is structural equality; `same_as` tests identity.
    """

    def __eq__(self, other: object) -> bool:
        """Return whether both are structurally equal."""
        return isinstance(other, GlobalInfo) and bool(structural_equal(self, other))

    def __ne__(self, other: object) -> bool:
        """Return whether both are not structurally equal."""
        return not self == other

    def __hash__(self) -> int:
        """The structural hash, which agrees with `==`."""
        return structural_hash(self)

    def same_as(self, other: object) -> bool:
        """Return whether the other one is the same object."""
        return super().same_as(other)


# The classes of their parents are declared by now.
from isoform.types.ir import (  # noqa: E402
    DummyGlobalInfo as DummyGlobalInfo,
    Target as Target,
    VDevice as VDevice,
)
