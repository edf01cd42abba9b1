"""Objects of other libraries as values: syntax trees, dataclasses, graphs.

`from_fields` makes a value of any tree of Python objects, so it can be compared, hashed,
searched and stored like any other:

    >>> import ast
    >>> from isoform import structural_equal
    >>> from isoform.interop import from_fields
    >>> left, right = (from_fields(ast.parse(text)) for text in ("x = 1", "x  =  1"))
    >>> structural_equal(left, right), structural_equal(left, from_fields(ast.parse("x = 1.0")))
    (True, False)

An object without fields is refused, never replaced by its text: text may contain an
address, and then no two runs of a program have the same digest.

`isoform.interop.ast` reads Python programs, `isoform.jax` the programs of JAX, and
`isoform.fx` the graphs of torch.fx; see `docs/interop.md`.
"""

from . import ast
from ._graph import Call, Constant, Input, Item, Program
from ._record import Record, from_fields

__all__ = ["Call", "Constant", "Input", "Item", "Program", "Record", "ast", "from_fields"]
