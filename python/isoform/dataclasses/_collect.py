"""Reads the fields of a class body, in the order of their declaration."""

# The modules of this package are private to it, not to each other.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import builtins
import collections
import dataclasses as _stdlib
import re
import sys
import types
import typing
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, cast

from isoform.core import MISSING, Object
from isoform.core._annotations import (
    AnySize,
    BigInt,
    Reader,
    Unresolved,
    is_expression,
    own_annotations,
    type_key_of,
)

from . import _field, _native
from ._init_property import inherited, init_property, registered_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ._field import Field

_CLASS_VAR = re.compile(r"\s*(\w+\s*\.\s*)?ClassVar\b")
_KEYWORD_ONLY = re.compile(r"\s*(\w+\s*\.\s*)?KW_ONLY\s*$")


class Waiting(Exception):  # noqa: N818
    """The class cannot be registered yet.

    Attributes:
        reasons: the missing names, a text for each field.
    """

    def __init__(self, reasons: list[str]) -> None:
        super().__init__(reasons)
        self.reasons = reasons


@dataclass(frozen=True)
class Body:
    """The declarations in a class body."""

    parent: type | None
    fields: tuple[Field, ...]
    properties: dict[str, init_property[Any]]


def read(
    cls: type,
    *,
    frozen: bool,
    kw_only: bool,
    names: Mapping[str, Any],
    elsewhere: Mapping[str, Any],
) -> Body:
    """Reads the body of a class and of plain mixins.

    Args:
        cls: the class.
        frozen: freeze all its fields.
        kw_only: the default for fields without the option.
        names: meanings of names where the class is declared.
        elsewhere: meanings of names that `names` lacks.

    Raises:
        Waiting: annotations use names that do not exist yet.
        TypeError: an annotation that describes no field, or wrong bases.
        ValueError: a field declared twice.
    """
    parent = registered_parent(cls)
    taken = {field.name for field in all_fields(parent)} if parent else set[str]()
    replaceable = inherited(parent) if parent else {}
    found: dict[str, Field] = {}
    properties: dict[str, init_property[Any]] = {}
    reasons: list[str] = []
    for source in _sources(cls, parent):
        scope = _Scope(source, cls, names, elsewhere)
        keyword_only = kw_only
        for name, annotation in own_annotations(source).items():
            if _is_marker(annotation, KW_ONLY, _KEYWORD_ONLY):
                keyword_only = True
                continue
            if is_class_variable(annotation):
                continue
            if isinstance(source.__dict__.get(name), init_property):
                continue
            if name in taken:
                raise ValueError(
                    f"{cls.__qualname__}: duplicate field '{name}': "
                    f"{parent.__qualname__ if parent else 'a parent'} has it already"
                )
            try:
                declared = _declaration(source, name, annotation, scope)
                if declared is not None:
                    field, evaluated, fixed = declared
                    schema = scope.reader().read(evaluated)
                    found[name] = field._bound(
                        name, evaluated, schema, frozen=frozen or fixed, kw_only=keyword_only
                    )
            except Unresolved as missing:
                reasons.append(f"{name}: {_text(annotation)} ({missing})")
            except TypeError as error:
                raise _wrong(cls, name, error) from error.__cause__
        for name, value in list(source.__dict__.items()):
            if isinstance(value, init_property):
                value = cast("init_property[Any]", value)
                properties[name] = value
                if name in replaceable:
                    # Its field is the parent's.
                    continue
                if name in taken:
                    raise ValueError(f"{cls.__qualname__}: duplicate field '{name}'")
                try:
                    found[name] = _computed(name, value, scope, frozen)
                except Unresolved as missing:
                    reasons.append(f"{name} ({missing})")
                except TypeError as error:
                    raise _wrong(cls, name, error) from error.__cause__
            elif isinstance(value, _field.Field) and name not in own_annotations(source):
                raise TypeError(f"{cls.__qualname__}: field '{name}' has no annotation")
    if reasons:
        raise Waiting(reasons)
    return Body(parent, tuple(found.values()), properties)


def _wrong(cls: type, field: str, error: TypeError) -> TypeError:
    """The error for a field, with its class and name."""
    return TypeError(f"{cls.__qualname__}: field '{field}': {error}")


def registered_parent(cls: type) -> type | None:
    """The registered class that a class extends.

    Raises:
        TypeError: the class does not extend `Object`, or extends registered classes of
            several lines.
        Waiting: the parent itself waits for names.
    """
    if not issubclass(cls, Object):
        raise TypeError(f"{cls.__qualname__} must extend isoform.Object to be registered")
    known = [c for c in cls.__mro__[1:] if c is not Object and type_key_of(c) is not None]
    if not known:
        return None
    parent = known[0]
    for other in known[1:]:
        if not issubclass(parent, other):
            raise TypeError(
                f"{cls.__qualname__} extends both {parent.__qualname__} and "
                f"{other.__qualname__}; a registered class has one line of registered parents"
            )
    if registered_class(parent) is not parent:
        raise Waiting([f"its parent {parent.__qualname__} waits for names itself"])
    return parent


def all_fields(cls: type) -> tuple[Field, ...]:
    """The fields of a registered class, parents' first."""
    found: tuple[Field, ...] = ()
    for ancestor in reversed(cls.__mro__):
        if "__isoform_own_fields__" in ancestor.__dict__:
            found += ancestor.__dict__["__isoform_own_fields__"]
        elif "__isoform_type_key__" in ancestor.__dict__:
            # Declared natively.
            found += _native.fields_of(ancestor)
    return found


def init_order(fields: tuple[Field, ...]) -> tuple[list[Field], list[Field]]:
    """The fields taken by a constructor by position, and the keyword fields.

    Both in the order of declaration, fields without a default first.
    """
    taken = [field for field in fields if field.init]
    ordered = sorted(taken, key=lambda field: field.has_default())
    return (
        [field for field in ordered if not field.kw_only],
        [field for field in ordered if field.kw_only],
    )


def _sources(cls: type, parent: type | None) -> Iterator[type]:
    """The classes whose bodies declare the fields, first declared first."""
    for source in reversed(cls.__mro__):
        inherited = parent is not None and issubclass(parent, source)
        if not inherited and not issubclass(Object, source) and source is not typing.Generic:
            yield source


def _declaration(
    source: type, name: str, annotation: Any, scope: _Scope
) -> tuple[Field, Any, bool] | None:
    """Declaration and evaluated type of a field, and whether it is final.

    None for a class attribute other than a field.
    """
    reader = scope.reader()
    annotation = reader.resolve(annotation)
    default = source.__dict__.get(name, MISSING)
    if isinstance(default, types.MemberDescriptorType):
        # A slot of a mixin: storage, no default.
        default = MISSING
    fixed = False
    carried: Field | None = None
    while True:
        origin = typing.get_origin(annotation)
        if annotation is typing.ClassVar or origin is typing.ClassVar:
            return None
        if annotation is _stdlib.InitVar or isinstance(annotation, _stdlib.InitVar):
            raise TypeError(
                "InitVar is not supported; write an __init__ that takes the argument, or declare "
                "a field"
            )
        if origin is typing.Annotated:
            annotation, *notes = typing.get_args(annotation)
            carried = next((n for n in notes if isinstance(n, _field.Field)), carried)
            if any(isinstance(note, AnySize) for note in notes):
                annotation = BigInt
                break
        elif origin is typing.Final:
            fixed, annotation = True, typing.get_args(annotation)[0]
        elif isinstance(annotation, (str, typing.ForwardRef)):
            annotation = reader.resolve(annotation)
        else:
            break
    fixed = fixed or annotation is typing.Final
    if isinstance(default, _field.Field):
        return default, annotation, fixed
    if isinstance(default, _stdlib.Field):
        return _field.from_stdlib(cast("_stdlib.Field[Any]", default)), annotation, fixed
    from_mixin = source.__dict__.get("__dataclass_fields__", {}).get(name)
    if from_mixin is not None:
        return _field.from_stdlib(from_mixin), annotation, fixed
    if carried is not None:
        carried = carried._copy()
        if default is not MISSING:
            carried.default, carried.default_factory = default, MISSING
        return carried, annotation, fixed
    return _field.make(default=default), annotation, fixed


def _computed(name: str, value: init_property[Any], scope: _Scope, frozen: bool) -> Field:
    reader = scope.reader()
    annotation = reader.resolve(value.function.__annotations__.get("return", Any))
    declared = _field.make(
        init=False, repr=False, compare=False, structural_eq="ignore", doc=value.__doc__
    )
    return declared._bound(name, annotation, reader.read(annotation), frozen=frozen, kw_only=False)


class _Scope:
    """The meanings of names in the annotations of a class."""

    def __init__(
        self, source: type, cls: type, names: Mapping[str, Any], elsewhere: Mapping[str, Any]
    ) -> None:
        module = sys.modules.get(source.__module__)
        self._names: Mapping[str, Any] = collections.ChainMap[str, Any](
            # During a redefinition, the module still has the old class of that name.
            {c.__name__: c for c in (source, cls)},
            {k: v for k, v in vars(source).items() if isinstance(v, type)},
            {v.__name__: v for v in getattr(source, "__type_params__", ())},
            cast("dict[str, Any]", names),
            module.__dict__ if module else {},
            builtins.__dict__,
            cast("dict[str, Any]", elsewhere),
        )
        self._owner = cls

    def reader(self) -> Reader:
        """Reads annotations."""
        return Reader(self._evaluate, self._owner)

    def _evaluate(self, text: str) -> Any:
        if not is_expression(text):
            raise TypeError(f"cannot convert {text!r} to TypeSchema")
        try:
            # The text is code of the class's own module.
            return eval(text.strip(), {}, self._names)
        except (NameError, AttributeError) as missing:
            # An attribute is missing while its module is being imported.
            raise Unresolved(str(missing)) from None
        except Exception as error:
            kind = type(error).__name__
            raise TypeError(
                f"the annotation {text!r} cannot be evaluated: {kind}: {error}"
            ) from error


def is_class_variable(annotation: Any) -> bool:
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return _CLASS_VAR.match(annotation) is not None
    return annotation is typing.ClassVar or typing.get_origin(annotation) is typing.ClassVar


def _is_marker(annotation: Any, marker: Any, pattern: re.Pattern[str]) -> bool:
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return pattern.match(annotation) is not None
    return annotation is marker


def _text(annotation: Any) -> str:
    if isinstance(annotation, typing.ForwardRef):
        return annotation.__forward_arg__
    return annotation if isinstance(annotation, str) else repr(annotation)
