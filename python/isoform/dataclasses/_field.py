"""`field` and `Field`: the declaration of a field of a class."""

from __future__ import annotations

import dataclasses as _stdlib
from dataclasses import KW_ONLY
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from isoform import _core
from isoform.core import MISSING, TypeSchema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["KW_ONLY", "MISSING", "Field", "field"]

# The values of `structural_eq` of a field, with their stored names.
FIELD_FLAGS: dict[str | None, str | None] = {None: None, **dict(_core.field_flags())}


class Field:
    """A field of a class, listed by `fields` and declared by `field`.

    Attributes:
        name: its name in the class.
        type: its annotation, evaluated.
        schema: the accepted values, as a `TypeSchema`.
        default: its default value, or MISSING.
        default_factory: the factory of its default, or MISSING.
        frozen: True if assignment is refused.
        init: True if it is a parameter of the constructor.
        repr: True if `repr` shows it.
        hash: True if the hash of `unsafe_hash=True` uses it.
        compare: True if `eq=True` and `order=True` use it.
        kw_only: True if it is a keyword-only parameter of the constructor.
        structural_eq: None, `"ignore"`, `"def"`, `"def-simple"` or `"use"`; see `field`.
        aliases: its former names, which files may have instead of its name.
        doc: its documentation, or None.
        converter: applied to every value before conversion, or None.
        metadata: a read-only mapping for use by others.
    """

    __slots__ = (
        "aliases",
        "compare",
        "converter",
        "default",
        "default_factory",
        "doc",
        "frozen",
        "hash",
        "init",
        "kw_only",
        "metadata",
        "name",
        "repr",
        "schema",
        "structural_eq",
        "type",
    )

    name: str
    type: Any
    schema: TypeSchema
    default: Any
    default_factory: Any
    frozen: bool
    init: bool
    repr: bool
    hash: bool
    compare: bool
    kw_only: bool
    structural_eq: str | None
    aliases: tuple[str, ...]
    doc: str | None
    converter: Callable[[Any], Any] | None
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        known = (name for name in ("name", "schema", "default") if hasattr(self, name))
        shown = ((name, getattr(self, name)) for name in known)
        text = ", ".join(f"{name}={value!r}" for name, value in shown if value is not MISSING)
        return f"Field({text})"

    def has_default(self) -> bool:
        """Returns whether the constructor may leave the field out."""
        return self.default is not MISSING or self.default_factory is not MISSING

    def _copy(self) -> Field:
        copied = Field()
        for slot in Field.__slots__:
            if hasattr(self, slot):
                setattr(copied, slot, getattr(self, slot))
        return copied

    def _bound(
        self, name: str, annotation: Any, schema: TypeSchema, *, frozen: bool, kw_only: bool
    ) -> Field:
        """A copy for one class, since a declaration may serve several classes."""
        bound = self._copy()
        bound.name, bound.type, bound.schema = name, annotation, schema
        bound.frozen = self.frozen or frozen
        undecided = cast("bool | None", self.kw_only)
        bound.kw_only = kw_only if undecided is None else undecided
        return bound


def repr_of(value: object) -> str:
    """`repr`, where that name means something else."""
    return repr(value)


_T = TypeVar("_T")

if TYPE_CHECKING:
    from typing import overload

    # Type checkers take these to match the annotation.
    @overload
    def field(
        *,
        default: _T,
        frozen: bool = ...,
        init: bool = ...,
        repr: bool = ...,
        hash: bool | None = ...,
        compare: bool = ...,
        kw_only: bool | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        structural_eq: str | None = ...,
        aliases: Sequence[str] = ...,
        doc: str | None = ...,
        converter: Callable[[Any], Any] | None = ...,
    ) -> _T: ...
    @overload
    def field(
        *,
        default_factory: Callable[[], _T],
        frozen: bool = ...,
        init: bool = ...,
        repr: bool = ...,
        hash: bool | None = ...,
        compare: bool = ...,
        kw_only: bool | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        structural_eq: str | None = ...,
        aliases: Sequence[str] = ...,
        doc: str | None = ...,
        converter: Callable[[Any], Any] | None = ...,
    ) -> _T: ...
    @overload
    def field(
        *,
        frozen: bool = ...,
        init: bool = ...,
        repr: bool = ...,
        hash: bool | None = ...,
        compare: bool = ...,
        kw_only: bool | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        structural_eq: str | None = ...,
        aliases: Sequence[str] = ...,
        doc: str | None = ...,
        converter: Callable[[Any], Any] | None = ...,
    ) -> Any: ...


def field(
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    frozen: bool = False,
    init: bool = True,
    repr: bool = True,  # noqa: A002
    hash: bool | None = None,  # noqa: A002
    compare: bool = True,
    kw_only: bool | None = None,
    metadata: Mapping[str, Any] | None = None,
    structural_eq: str | None = None,
    aliases: Sequence[str] = (),
    doc: str | None = None,
    converter: Callable[[Any], Any] | None = None,
) -> Any:
    """Declares a field with more than an annotation and a default.

    Args:
        default: the value if none is given.
        default_factory: called without arguments for the value if none is given.
        frozen: refuse assignment. `Class.name.set(node, value)` still writes.
        init: make the field a parameter of the constructor.
        repr: show the field with `repr`.
        hash: use the field for `unsafe_hash=True`; None means the same as `compare`.
        compare: use the field for `eq=True` and `order=True`.
        kw_only: make the parameter of the constructor keyword-only; None means the
            setting of the class.
        metadata: a mapping that Isoform stores but never reads.
        structural_eq: how the field takes part in structural comparison: None,
            `"ignore"` (not at all), `"def"` (`"def-recursive"`,
            `"def-pattern"`: variables that first occur in it are bound there),
            `"def-simple"` (`"def-non-recursive"`: only a variable that is the
            field's value) or `"use"` (variables in it are uses, even if a
            definition field holds the object).
        aliases: former names of the field. Files, texts and pickles may have them instead of
            its name; programs know the field by its name alone.
        doc: the documentation of the field.
        converter: called with every value, on construction and on assignment,
            before the value is converted to the annotated type.

    Raises:
        ValueError: both defaults are given, or `structural_eq` is unknown.
        TypeError: an option is unknown, a factory or converter is not
            callable, or `aliases` is not a sequence of names.

    Example:
        >>> from isoform.dataclasses import Object, field, py_class
        >>> @py_class("doc.field.Call")
        ... class Call(Object):
        ...     name: str
        ...     args: list[int] = field(default_factory=list)
        ...     line: int = field(default=0, structural_eq="ignore", converter=int)
        >>> Call("f", [1], line="7").line
        7
    """
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    if default_factory is not MISSING and not callable(default_factory):
        kind = type(default_factory).__name__
        raise TypeError(f"default_factory must be callable, got {kind}")
    if converter is not None and not callable(converter):
        raise TypeError(f"converter must be callable, got {type(converter).__name__}")
    if structural_eq not in FIELD_FLAGS:
        known = ", ".join(repr_of(flag) for flag in FIELD_FLAGS)
        raise ValueError(f"structural_eq of a field must be one of {known}, got {structural_eq!r}")
    result = Field()
    result.default, result.default_factory = default, default_factory
    result.frozen, result.init, result.repr = bool(frozen), bool(init), bool(repr)
    result.compare = bool(compare)
    result.hash = result.compare if hash is None else bool(hash)
    # None until the class decides.
    result.kw_only = kw_only  # pyright: ignore[reportAttributeAccessIssue]
    result.structural_eq = FIELD_FLAGS[structural_eq]
    result.aliases = names("aliases", aliases)
    result.doc, result.converter = doc, converter
    result.metadata = MappingProxyType(dict(metadata or {}))
    return result


def names(option: str, given: Any) -> tuple[str, ...]:
    """The names of an option.

    Raises:
        TypeError: the option is not a sequence of names.
    """
    found = (None,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(name, str) for name in found):
        raise TypeError(f"{option}: expected a sequence of names, got {given!r}")
    return cast("tuple[str, ...]", found)


def make(**options: Any) -> Field:
    """`field` without the pretence about its type."""
    return field(**options)


def from_stdlib(declared: _stdlib.Field[Any]) -> Field:
    """The same declaration made with the standard library's `field`."""

    def given(value: Any) -> Any:
        return MISSING if value is _stdlib.MISSING else value

    kw_only = given(getattr(declared, "kw_only", None))
    return make(
        default=given(declared.default),
        default_factory=given(declared.default_factory),
        init=declared.init,
        repr=declared.repr,
        hash=declared.hash,
        compare=declared.compare,
        kw_only=None if kw_only is MISSING else kw_only,
        metadata=declared.metadata,
    )
