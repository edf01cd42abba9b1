"""Source locations, files, and other objects shared by all IRs."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from isoform import _core
from isoform._core import Object as Node
from isoform.dataclasses import c_class
from isoform.structural import (
    assert_structural_equal,
    get_first_structural_mismatch,
    structural_equal,
    structural_hash,
)
from isoform.types.ir import SequentialSpan, Source, SourceMap, SourceName, Span

from . import _api

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "EnvFunc",
    "Node",
    "SequentialSpan",
    "Source",
    "SourceMap",
    "SourceName",
    "Span",
    "assert_structural_equal",
    "deprecated",
    "get_first_structural_mismatch",
    "load_json",
    "make_node",
    "save_json",
    "structural_equal",
    "structural_hash",
]

_F = TypeVar("_F", bound="Callable[..., Any]")


@c_class("ir.EnvFunc")
class EnvFunc(Node):
    """A global function, stored by name in files.

    Two are equal if their names are. The name is the only field; the function
    itself is looked up when it is called.

    >>> from isoform import ir, register_global_func
    >>> _ = register_global_func("doc.env.triple", lambda x: 3 * x)
    >>> ir.EnvFunc.get("doc.env.triple")(5)
    15
    """

    name: str

    @property
    def func(self) -> Any:
        """The function currently registered; KeyError if it is no longer registered."""
        return _func_of(self)

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        return self.func(*args)

    @staticmethod
    def get(name: str) -> EnvFunc:
        """Return the function of a global name.

        Args:
            name: The name of the function.

        Raises KeyError if none is registered.
        """
        return _api.made(EnvFunc, name)


_func_of = _api.function("ir.EnvFunc.func")


def save_json(node: Any) -> str:
    """Return a value as JSON, with the version of the library.

    Args:
        node: The value.

    Raises ValueError for a cyclic value, TypeError for a value that cannot be in a
    file. The work is linear in the number of distinct objects.

    >>> from isoform import ir
    >>> ir.structural_equal(ir.load_json(ir.save_json(ir.PrimType("int8"))), ir.PrimType("int8"))
    True
    """
    return _core.to_json_graph_str(node, {"isoform_version": _core.__version__})


def load_json(json_str: str) -> Any:
    """Return the value in a JSON text of `save_json`.

    Args:
        json_str: The text.

    Raises ValueError for text that is not JSON or contains no value, KeyError for an
    unregistered type, TypeError for a field that does not fit.
    """
    return _core.from_json_graph_str(json_str)


# Where the names of classic type keys are looked up.
_NAMESPACES = ("ir", "tir", "relay")


def make_node(type_key: str, **kwargs: Any) -> Any:
    """Return a new node from the key of the type and the fields.

    Args:
        type_key: The key, also without the beginning of keys of `isoform.ir`,
            `isoform.tir` and `isoform.relay`.
        kwargs: The fields; missing fields take their defaults.

    `__post_init__` of a class that was declared in Python is run.

    Raises KeyError for an unknown key, AttributeError for an unknown field, TypeError
    for a missing or unsuitable field. Nodes of attributes are also verified, and a
    missing or out-of-bounds field is an AttributeError.

    >>> from isoform import ir, tir
    >>> x = ir.make_node("IntImm", dtype="int32", value=10)
    >>> isinstance(x, tir.IntImm), x.value
    (True, 10)
    """
    known = set(_core.registered_type_keys())
    keys = [type_key, *(f"{namespace}.{type_key}" for namespace in _NAMESPACES)]
    key = next((key for key in keys if key in known), None)
    if key is None:
        raise KeyError(f"no type is registered as '{type_key}'")
    if key == "ir.DictAttrs":
        kwargs = {"dict": kwargs}
    if issubclass(_core.class_of(key), _core.class_of("ir.Attrs")):
        return _attributes(key, kwargs)
    return _core.make_node(key, kwargs)


def _attributes(key: str, given: dict[str, Any]) -> Any:
    """A node of attributes, whose fields are complete and within their bounds."""
    for field in _core.type_info(key).fields:
        if field.name not in given and not field.has_default:
            raise AttributeError(f"{key}: missing field '{field.name}'")
    made = _core.make_node(key, given)
    for _, failure in _core.verify(made):
        raise failure
    return made


def deprecated(method_name: str, new_method_name: str) -> Callable[[_F], _F]:
    """Return a decorator that warns of the use of a method.

    Args:
        method_name: What the method was called.
        new_method_name: What to use instead.

    >>> import warnings
    >>> @deprecated("old", "new")
    ... def old(): return 1
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     old(), str(caught[0].message)
    (1, 'old is deprecated, use new instead')
    """

    def decorate(function: _F) -> _F:
        @functools.wraps(function)
        def warn(*args: Any, **kwargs: Any) -> Any:
            message = f"{method_name} is deprecated, use {new_method_name} instead"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        wrapped: Any = warn
        return wrapped

    return decorate
