"""Declaring node types as Python classes.

A class that extends `Object` and is decorated with `py_class` is a type of the core:
its annotations are fields, and every algorithm of Isoform works on it.

Example:
    >>> from isoform.dataclasses import Object, field, py_class
    >>> @py_class("doc.dataclasses.Var", structural_eq="var")
    ... class Var(Object):
    ...     name: str = field(structural_eq="ignore")
    >>> @py_class("doc.dataclasses.Lam")
    ... class Lam(Object):
    ...     params: list[Var] = field(structural_eq="def")
    ...     body: Var
    >>> x = Var("x")
    >>> Lam([x], x).params[0].name
    'x'
"""

from isoform.core import MISSING, Object

from ._field import KW_ONLY, Field, field
from ._functions import asdict, astuple, fields, is_dataclass, replace
from ._init_property import init_property
from ._native import c_class
from ._py_class import py_class
from .enum import Enum, EnumAttrMap, EnumState, IntEnum, StrEnum, auto, entry

__all__ = [
    "KW_ONLY",
    "MISSING",
    "Enum",
    "EnumAttrMap",
    "EnumState",
    "Field",
    "IntEnum",
    "Object",
    "StrEnum",
    "asdict",
    "astuple",
    "auto",
    "c_class",
    "entry",
    "field",
    "fields",
    "init_property",
    "is_dataclass",
    "py_class",
    "replace",
]
