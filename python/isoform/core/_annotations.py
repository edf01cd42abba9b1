"""From Python annotations to schemas."""

from __future__ import annotations

import ast
import collections.abc
import ctypes
import enum
import inspect
import sys
import types
import typing
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from isoform import _core

from . import _classes
from ._schema import TypeSchema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_ANY = TypeSchema("Any")
_PLAIN = {
    None: "None",
    type(None): "None",
    Any: "Any",
    object: "Any",
    bool: "bool",
    int: "int",
    float: "float",
    complex: "complex",
    str: "str",
    bytes: "bytes",
    ctypes.c_void_p: "ctypes.c_void_p",
}
# Python's own containers, and the containers that store their elements.
_CONTAINERS = {
    list: "List",
    dict: "Dict",
    collections.abc.Sequence: "Array",
    collections.abc.MutableSequence: "List",
    collections.abc.Mapping: "Map",
    collections.abc.MutableMapping: "Dict",
}
_ELEMENTS = {"Array": 1, "List": 1, "Map": 2, "Dict": 2}
_CALLABLES: tuple[Any, ...] = (
    cast("Any", collections.abc).Callable,
    cast("Any", typing).Callable,
)
_SELF = getattr(typing, "Self", None)


class AnySize:
    """Marks an int of any size."""

    def __repr__(self) -> str:
        return "any size"


BigInt: TypeAlias = typing.Annotated[int, AnySize()]
"""An annotation for fields whose ints may need more than 64 bits.

>>> from isoform import BigInt
>>> from isoform.dataclasses import Object, py_class
>>> @py_class("doc.BigInt.Limit")
... class Limit(Object):
...     number: BigInt
>>> Limit(2**64 - 1).number
18446744073709551615
"""


class Unresolved(Exception):  # noqa: N818
    """A name in an annotation that does not exist yet.

    Not an error by itself: the class waits until the name exists.
    """


def type_key_of(cls: type) -> str | None:
    """The type key of exactly this class, also while it waits for names."""
    body = cls.__dict__
    key = body.get("__isoform_type_key__") or body.get("__isoform_pending_key__")
    return key if isinstance(key, str) else None


def own_annotations(cls: type) -> dict[str, Any]:
    """The annotations in the class's own body, unevaluated where possible."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    return dict(inspect.get_annotations(cls))


class Reader:
    """Turns annotations into schemas.

    Args:
        evaluate: returns the meaning of a string annotation, or raises
            `Unresolved`; None if strings have no meaning.
        owner: the class meant by `typing.Self`.
    """

    def __init__(
        self, evaluate: Callable[[str], Any] | None = None, owner: type | None = None
    ) -> None:
        self._evaluate = evaluate
        self._owner = owner

    def resolve(self, annotation: Any) -> Any:
        """The annotation itself, where a string or forward reference stood for it.

        Raises:
            Unresolved: a name does not exist yet.
            TypeError: strings have no meaning here.
        """
        # A string may evaluate to a string, but nobody writes endless chains.
        for _ in range(16):
            if isinstance(annotation, typing.ForwardRef):
                annotation = annotation.__forward_arg__
            if not isinstance(annotation, str):
                return annotation
            if self._evaluate is None:
                raise TypeError(
                    f"cannot convert {annotation!r} to TypeSchema: a string has a meaning "
                    "inside a class only"
                )
            annotation = self._evaluate(annotation)
        raise TypeError(f"cannot convert {annotation!r} to TypeSchema: strings within strings")

    def read(self, annotation: Any) -> TypeSchema:
        """The schema that an annotation describes.

        Raises:
            TypeError: no value of the core has such a type.
            Unresolved: a name does not exist yet.
        """
        annotation = self.resolve(annotation)
        try:
            plain = _PLAIN.get(annotation)
        except TypeError:
            # Not hashable, so none of the above.
            plain = None
        if plain is not None:
            return TypeSchema(plain)
        if annotation is _SELF and self._owner is not None:
            return self._read_class(self._owner)
        if isinstance(annotation, typing.TypeVar):
            return self._read_type_variable(annotation)
        if annotation is typing.Final or annotation is tuple:
            return _ANY if annotation is typing.Final else TypeSchema("Array")
        if annotation in _CALLABLES:
            return TypeSchema("Callable")
        if isinstance(annotation, typing.NewType):
            return self.read(annotation.__supertype__)
        origin = typing.get_origin(annotation)
        if origin is not None:
            return self._read_generic(annotation, origin, typing.get_args(annotation))
        if hasattr(annotation, "__value__") and hasattr(annotation, "__type_params__"):
            # `type Name = …`
            return self.read(annotation.__value__)
        if isinstance(annotation, type):
            return self._read_class(annotation)
        raise _refuse(annotation)

    def _read_type_variable(self, variable: typing.TypeVar) -> TypeSchema:
        if variable.__constraints__:
            return self._union(variable.__constraints__)
        return _ANY if variable.__bound__ is None else self.read(variable.__bound__)

    def _read_class(self, cls: type) -> TypeSchema:
        container = _CONTAINERS.get(cls)
        if container is not None:
            return TypeSchema(container)
        origin = _classes.origin_of(cls)
        if origin is not None:
            return TypeSchema(origin)
        key = type_key_of(cls)
        if key is not None:
            return TypeSchema(key)
        if issubclass(cls, _core.Object):
            raise TypeError(
                f"cannot convert {cls.__qualname__} to TypeSchema: the class is not registered; "
                "decorate it with py_class"
            )
        if issubclass(cls, enum.Enum):
            from isoform import _value_classes

            return TypeSchema(_value_classes.key_of_enum(cls))
        if any("__dlpack__" in ancestor.__dict__ for ancestor in cls.__mro__):
            return TypeSchema("Tensor")
        raise _refuse(cls)

    def _read_generic(self, annotation: Any, origin: Any, args: tuple[Any, ...]) -> TypeSchema:
        if origin is typing.Union or origin is types.UnionType:
            return self._union(args)
        if origin is typing.Annotated and any(isinstance(mark, AnySize) for mark in args[1:]):
            return TypeSchema("BigInt")
        if origin is typing.Annotated or origin is typing.Final:
            return self.read(args[0])
        if origin is typing.Literal:
            return _literal(annotation, args)
        if origin in _CALLABLES:
            return self._callable(args)
        if origin is tuple:
            if len(args) == 2 and args[1] is Ellipsis:
                return TypeSchema("Array", (self.read(args[0]),))
            return TypeSchema("tuple", tuple(map(self.read, args)))
        if not isinstance(origin, type):
            if hasattr(origin, "__value__"):
                # A generic `type Name[T] = …`: its parameters are not tracked.
                return self.read(origin.__value__)
            raise _refuse(annotation)
        container = _CONTAINERS.get(origin) or _classes.origin_of(origin)
        wanted = _ELEMENTS.get(container or "")
        if container is None or wanted is None:
            # A generic node class: the parameters mean nothing to the core.
            return self._read_class(origin)
        if not args:
            # Such as `typing.Sequence`.
            return TypeSchema(container)
        if len(args) != wanted:
            plural = "" if wanted == 1 else "s"
            raise TypeError(f"{container} requires {wanted} type argument{plural}, got {len(args)}")
        return TypeSchema(container, tuple(map(self.read, args)))

    def _union(self, members: Iterable[Any]) -> TypeSchema:
        parts: list[TypeSchema] = []
        nothing = False
        for member in members:
            schema = self.read(member)
            # Unions and optionals inside of unions are part of the outer one.
            if schema.origin == "Optional":
                nothing, schema = True, schema.args[0]
            flat = schema.args if schema.origin == "Union" else (schema,)
            for part in flat:
                if part.origin == "None":
                    nothing = True
                elif part not in parts:
                    parts.append(part)
        if not parts:
            return TypeSchema("None")
        whole = parts[0] if len(parts) == 1 else TypeSchema("Union", tuple(parts))
        return TypeSchema("Optional", (whole,)) if nothing else whole

    def _callable(self, args: tuple[Any, ...]) -> TypeSchema:
        if len(args) != 2:
            return TypeSchema("Callable")
        params, result = args
        groups: dict[str, tuple[TypeSchema, ...]] = {"return": (self.read(result),)}
        if isinstance(params, (list, tuple)):
            groups["params"] = tuple(map(self.read, cast("list[Any]", params)))
        return TypeSchema("Callable", named_args=groups)


def _literal(annotation: Any, args: tuple[Any, ...]) -> TypeSchema:
    for value in args:
        if value is not None and type(value) not in (bool, int, str):
            raise TypeError(
                f"cannot convert {annotation!r} to TypeSchema: Literal holds None, bool, int and "
                f"str, got {type(value).__name__}"
            )
    return TypeSchema("Literal", values=args)


def _refuse(annotation: Any) -> TypeError:
    return TypeError(f"cannot convert {annotation!r} to TypeSchema; {_instead(annotation)}")


def _instead(annotation: Any) -> str:
    """The annotation to write instead."""
    if annotation in (set, frozenset):
        return "write list[...] or dict[..., None], or Any to keep a Python set as it is"
    if annotation in (bytearray, memoryview):
        return "write bytes"
    return "write Any to keep a Python object as it is"


def is_expression(text: str) -> bool:
    """Returns whether a string annotation can be evaluated at all."""
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True
