"""A graph IR of tensors, under the classic names: variables, calls, functions.

>>> from isoform import relay, structural_equal
>>> x, y = relay.Var("x"), relay.Var("y")
>>> structural_equal(relay.Function([x], x), relay.Function([y], y))
True
"""

# The classes of their parents come first.
from isoform.ir.function import BaseFunc as _BaseFunc  # noqa: F401

# isort: split
from isoform.types import relay as _types
from isoform.types.relay import *  # noqa: F403  # Every class declared in Rust.

__all__ = []
__all__ += _types.__all__
