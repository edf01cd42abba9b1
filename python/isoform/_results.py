"""Results of the core as objects of the classes that declare them."""

from __future__ import annotations

from functools import cache
from itertools import repeat
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

__all__ = ["result"]

T = TypeVar("T")


def result(kind: type[T], data: Any) -> T:
    """Return the data of a result as its class, or as a list or dict of classes, declares it.

    An object gets the entries of a dict that are fields of its class. Linear in the data.

    >>> from isoform.onnx import FunctionSummary
    >>> result(list[FunctionSummary], [{"name": "f", "nodes": 3}])
    [FunctionSummary(name='f', nodes=3)]
    """
    return _converted(kind, data)


def _converted(kind: Any, data: Any) -> Any:
    arguments = get_args(kind)
    match get_origin(kind):
        case _ if data is None:
            return None
        case origin if origin is UnionType or origin is Union:
            return _converted(arguments[0], data)
        case origin if origin is list:
            return [_converted(arguments[0], item) for item in data]
        case origin if origin is tuple:
            kinds = repeat(arguments[0]) if arguments[-1] is ... else arguments
            return tuple(map(_converted, kinds, data))
        case origin if origin is dict:
            return {key: _converted(arguments[1], item) for key, item in data.items()}
        case _ if isinstance(data, dict):
            fields = _fields(kind).items()
            return kind(**{name: _converted(field, data[name]) for name, field in fields})
        case _:
            return data


_fields = cache(get_type_hints)
