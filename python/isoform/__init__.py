"""Isoform: declare the node types of an IR once, and compare, hash and rewrite programs."""

from isoform._core import MISSING, Object
from isoform.container import Array, Dict, List, Map

__all__ = [
    "MISSING",
    "Array",
    "Dict",
    "List",
    "Map",
    "Object",
]
