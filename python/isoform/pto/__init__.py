"""A statement IR for tiled tensor programs, under the names of PyPTO.

>>> from isoform.pto import DataType, ir
>>> x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
>>> y = ir.Var("y", ir.ScalarType(DataType.INT64), ir.Span.unknown())
>>> ir.structural_equal(x + 1, y + 1), ir.structural_equal(x + 1, y + 1, enable_auto_mapping=True)
(False, True)
"""

from .datatype import DataType

from . import ir  # isort: skip

__all__ = ["DataType", "ir"]
