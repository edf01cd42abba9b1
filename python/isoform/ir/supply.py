"""Supplies of unused names.

>>> from isoform import ir
>>> names = ir.NameSupply("pre")
>>> names.fresh_name("x"), names.fresh_name("x"), names.contains_name("x")
('pre_x', 'pre_x_1', True)
"""

from isoform.types.ir import GlobalVarSupply as GlobalVarSupply, NameSupply as NameSupply
