"""The classes of attributes of operators, which are declared in Rust.

>>> from isoform import ir, relay
>>> relay.attrs.Conv2DAttrs(groups=2).get_int_tuple("strides")
(1, 1)
>>> ir.make_node("relay.attrs.SoftmaxAttrs").axis
-1
"""

import typing

from isoform.types._namespace import find, names

# The names, for `from ... import *`.
__all__ = names("relay.attrs")  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> typing.Any:
    return find("relay.attrs", name)


def __dir__() -> list[str]:
    return names("relay.attrs")
