"""References to memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoform import _core
from isoform.dataclasses import c_class
from isoform.ir import _api

if TYPE_CHECKING:
    from isoform.types.pto import Expr, Var
else:
    Var = _core.class_of("pto.Var")

__all__ = ["MemRef"]


@c_class("pto.MemRef")
class MemRef(Var):
    """A piece of memory.

    `MemRef(name, slots=...)` declares a separate allocation, `MemRef(base, byte_offset, size)`
    is a piece of one, at a pointer or at a new pointer of a name, and
    `MemRef(space, address, size, id)` a piece of a memory space. A location may follow
    the last of these arguments.

    Args:
        base: The pointer to the surrounding allocation, a name, or a memory space.
        byte_offset: The offset in the allocation, an int or an expression.
        size: The size in bytes; 0 if unknown.
        span: The source location.
        is_pinned: Whether the place must not be changed.
        slots: The number of consecutive pieces of this size, used in turn.
        slot: The index of this piece among the pieces, from 0.
        name: The name, for people; by default the name of the base.

    >>> from isoform.pto import ir
    >>> ir.MemRef(ir.MemorySpace.Vec, 64, 1024, 3).name_hint
    'mem_vec_3'
    >>> ir.MemRef("buffers", slots=2)[1].slot.value
    1
    """

    base: Var | None
    byte_offset: Expr
    size: int
    is_pinned: bool
    slots: int
    slot: Expr | None

    # The names of PyPTO.
    @property
    def base_(self) -> Var | None:
        """The field `base`."""
        return self.base

    @property
    def byte_offset_(self) -> Expr:
        """The field `byte_offset`."""
        return self.byte_offset

    @property
    def size_(self) -> int:
        """The field `size`."""
        return self.size

    @property
    def is_pinned_(self) -> bool:
        """The field `is_pinned`."""
        return self.is_pinned

    @property
    def slot_count_(self) -> int:
        """The field `slots`."""
        return self.slots

    @property
    def slot_index_(self) -> Expr | None:
        """The field `slot`."""
        return self.slot

    def __getitem__(self, slot: Expr | int) -> MemRef:
        """Return the piece of a separate allocation at a slot.

        Raises ValueError for a place in an allocation, and for an int outside of the slots.
        """
        return _at_slot(self, slot)

    # Python would otherwise ask for one slot after another until an IndexError.
    __iter__ = None


_at_slot = _api.function("pto.MemRef.at_slot")
