"""Access paths: where inside a value something is.

>>> from isoform.access_path import AccessPath
>>> path = AccessPath.root().map_item("k").array_item(1)
>>> path
<root>["k"][1]
>>> path.get({"k": [10, 20]})
20
>>> AccessPath.parse(str(path)) == path
True
>>> path.step.kind
<AccessKind.ARRAY_ITEM: 1>
"""

from __future__ import annotations

from enum import IntEnum

from isoform import _core
from isoform._core import AccessPath, AccessStep

__all__ = ["AccessKind", "AccessPath", "AccessStep"]


class AccessKind(IntEnum):
    """The kind of a step, and whether the path ends at something missing."""

    ATTR = 0
    ARRAY_ITEM = 1
    MAP_ITEM = 2
    ATTR_MISSING = 3
    ARRAY_ITEM_MISSING = 4
    MAP_ITEM_MISSING = 5


_core._set_access_kind(AccessKind)
