"""Supplies of names that are not taken yet.

>>> from isoform import ir
>>> names = ir.NameSupply("pre")
>>> names.fresh_name("x"), names.fresh_name("x"), names.contains_name("x")
('pre_x', 'pre_x_1', True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoform import _core

if TYPE_CHECKING:
    from isoform.types.ir import GlobalVarSupply, NameSupply
else:
    NameSupply = _core.class_of("ir.NameSupply")
    GlobalVarSupply = _core.class_of("ir.GlobalVarSupply")

__all__ = ["GlobalVarSupply", "NameSupply"]
