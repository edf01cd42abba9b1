"""Isoform: declare the node types of an IR once, and compare, hash and rewrite programs."""

from isoform import core, dataclasses
from isoform._core import MISSING, Object

__all__ = ["MISSING", "Object", "core", "dataclasses"]
