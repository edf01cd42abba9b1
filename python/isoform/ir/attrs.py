"""Nodes of named values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.dataclasses import c_class
from isoform.types.ir import AttrFieldInfo

from . import _api
from .base import Node

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AttrFieldInfo", "Attrs", "DictAttrs"]


@c_class("ir.Attrs")
class Attrs(Node):
    """Attribute node: additional information of an operator or a function.

    A class for specific attributes extends this class, and declares the attributes in
    fields:

    >>> from isoform import ir
    >>> from isoform.dataclasses import field, py_class
    >>> @py_class("doc.ConvAttrs")
    ... class ConvAttrs(ir.Attrs):
    ...     strides: tuple[int, int] = (1, 1)
    ...     layout: str = field(default="NCHW", doc="The order of dimensions")
    >>> attrs = ConvAttrs(strides=(2, 2))
    >>> attrs.get_int_tuple("strides"), attrs.get_str("layout"), attrs.keys()
    ((2, 2), 'NCHW', ['strides', 'layout'])
    """

    def get_int(self, key: str) -> int:
        """Return the int under a name; AttributeError without one, TypeError for anything else."""
        return _get_int(self, key)

    def get_int_tuple(self, key: str) -> tuple[int, ...]:
        """Return the ints under a name, as a tuple."""
        return tuple(_get_int_tuple(self, key))

    def get_str(self, key: str) -> str:
        """Return the string under a name."""
        return _get_str(self, key)

    def keys(self) -> list[str]:
        """Return the names of the attributes, in order."""
        return list(_keys(self))

    def list_field_info(self) -> list[AttrFieldInfo]:
        """Return the descriptions of the attributes, in order."""
        return list(_list_field_info(self))

    def __getitem__(self, item: str) -> Any:
        """Return the value under a name; AttributeError without one."""
        return _get(self, item)


@c_class("ir.DictAttrs")
class DictAttrs(Attrs):
    """Untyped attributes: any names, any values.

    Where `DictAttrs` are expected, a dict is converted.

    >>> from isoform import ir
    >>> attrs = ir.DictAttrs({"a": 1})
    >>> attrs["a"], attrs.a, attrs.get("b", 2), "a" in attrs, len(attrs)
    (1, 1, 2, True, 1)
    """

    dict: Any

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value under a name, or the default."""
        return self.dict.get(key, default)

    def items(self) -> Any:
        """Return the names with their values."""
        return self.dict.items()

    def __getattr__(self, name: str) -> Any:
        """Return the value under a name; AttributeError without one."""
        if name.startswith("__"):
            raise AttributeError(f"ir.DictAttrs has no attribute '{name}'")
        return _get(self, name)

    def __getitem__(self, item: str) -> Any:
        """Return the value under a name; KeyError without one."""
        return self.dict[item]

    def __contains__(self, item: object) -> bool:
        """Return whether there is a value under a name."""
        return item in self.dict

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self.dict)

    def __len__(self) -> int:
        """Return the number of attributes."""
        return len(self.dict)


_get = _api.function("ir.Attrs.get")
_get_int = _api.function("ir.Attrs.get_int")
_get_int_tuple = _api.function("ir.Attrs.get_int_tuple")
_get_str = _api.function("ir.Attrs.get_str")
_keys = _api.function("ir.Attrs.keys")
_list_field_info = _api.function("ir.Attrs.list_field_info")
