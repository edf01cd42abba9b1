"""A graph IR of tensors, under the classic names: variables, calls, functions.

>>> from isoform import relay, structural_equal
>>> x, y = relay.Var("x"), relay.Var("y")
>>> structural_equal(relay.Function([x], x), relay.Function([y], y))
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoform import _core

# The classes of their parents come first.
from isoform.ir.function import BaseFunc  # noqa: F401

if TYPE_CHECKING:
    from isoform.types.relay import Call, Function, Var
else:
    Var = _core.class_of("relay.Var")
    Call = _core.class_of("relay.Call")
    Function = _core.class_of("relay.Function")

__all__ = ["Call", "Function", "Var"]
