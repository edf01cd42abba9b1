"""The special methods of a class, made from the fields."""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.core import MISSING

from ._init_property import registered_class

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ._field import Field


def install(cls: Any, *, eq: bool, order: bool, unsafe_hash: bool) -> None:
    """Gives a registered class the methods requested by its options.

    Methods in the class's own body take precedence.
    """
    if not hasattr(cls, "__replace__"):
        cls.__replace__ = _replace
    wanted: dict[str, Any] = {}
    if eq:
        wanted["__eq__"] = _eq
    if order:
        wanted.update({"__lt__": _lt, "__le__": _le, "__gt__": _gt, "__ge__": _ge})
    if unsafe_hash:
        wanted["__hash__"] = _hash
    for name, method in wanted.items():
        # A body with `__eq__` has `__hash__ = None` from Python, not from the author.
        if cls.__dict__.get(name) is None:
            setattr(cls, name, method)


def forbid_construction(cls: Any) -> None:
    """Makes calls of a class raise TypeError."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ARG001, N807
        raise TypeError(
            f"{type(self).__name__} cannot be constructed directly; define __init__ or use a "
            "factory method"
        )

    cls.__init__ = __init__


def forbid_abstract(cls: Any) -> None:
    """Makes calls of exactly this class raise TypeError; classes that extend it construct."""
    own = cls.__dict__.get("__init__")

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if registered_class(self.__class__) is cls:
            raise TypeError(
                f"{cls.__qualname__} is abstract: construct an object of a class that extends it"
            )
        (own or cls.__isoform_init__)(self, *args, **kwargs)

    __init__.is_abstract = True  # type: ignore[attr-defined]
    cls.__init__ = __init__


def constructs_by_python(cls: Any) -> None:
    """Gives a class with a custom `__new__` a compatible constructor."""
    post_init = getattr(cls, "__post_init__", None)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if args or kwargs:
            cls.__isoform_init__(self, *args, **kwargs)
        elif post_init is not None and registered_class(self.__class__) is cls:
            # All fields take their defaults; fields without a default are reported.
            self.__post_init__()

    cls.__init__ = __init__


def signature(positional: list[Field], keyword: list[Field]) -> inspect.Signature:
    """The signature of a generated constructor, with the instance first."""
    names = {field.name for field in (*positional, *keyword)}
    # A field may be called `self`.
    instance = "self"
    while instance in names:
        instance = "_" + instance
    kinds = inspect.Parameter
    parameters = [kinds(instance, kinds.POSITIONAL_OR_KEYWORD)]
    parameters += [_parameter(field, kinds.POSITIONAL_OR_KEYWORD) for field in positional]
    parameters += [_parameter(field, kinds.KEYWORD_ONLY) for field in keyword]
    return inspect.Signature(parameters, return_annotation=None)


class _Factory:
    """Shown for a parameter with a default made for each call."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _parameter(field: Field, kind: Any) -> inspect.Parameter:
    default: Any = inspect.Parameter.empty
    if field.default_factory is not MISSING:
        default = _FACTORY
    elif field.default is not MISSING:
        default = field.default
    return inspect.Parameter(field.name, kind, default=default, annotation=field.type)


# ---- the methods -------------------------------------------------------------


def _comparable(left: object, right: object) -> bool:
    """Returns whether the class of one operand extends the other class."""
    if type(left) is type(right):
        return True
    one, other = registered_class(type(left)), registered_class(type(right))
    if one is None or other is None:
        return False
    return issubclass(one, other) or issubclass(other, one)


def _comparison(name: str, compare: Callable[[Any, Any], bool], doc: str) -> Any:
    def method(self: Any, other: object) -> Any:
        return compare(self, other) if _comparable(self, other) else NotImplemented

    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    return method


_eq = _comparison(
    "__eq__", lambda a, b: _core.recursive_eq(a, b), "Returns whether all fields are equal."
)
_lt = _comparison("__lt__", lambda a, b: _core.recursive_lt(a, b), "Order by fields.")
_le = _comparison("__le__", lambda a, b: _core.recursive_le(a, b), "Order by fields.")
_gt = _comparison("__gt__", lambda a, b: _core.recursive_gt(a, b), "Order by fields.")
_ge = _comparison("__ge__", lambda a, b: _core.recursive_ge(a, b), "Order by fields.")


def _hash(self: Any) -> int:
    """The hash of the fields."""
    return _core.recursive_hash(self)


_hash.__name__ = _hash.__qualname__ = "__hash__"


def _replace(self: Any, /, **changes: Any) -> Any:
    """A copy with some changed fields; see `isoform.dataclasses.replace`."""
    return replace_fields(self, changes)


_replace.__name__ = _replace.__qualname__ = "__replace__"


def replace_fields(node: Any, changes: Mapping[str, Any]) -> Any:
    """A shallow copy of a node with some changed fields."""
    from ._collect import all_fields

    if changes:
        cls: type[Any] = node.__class__
        known = {field.name for field in all_fields(cls)}
        for name in changes:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f", did you mean '{near[0]}'?" if near else ""
                raise AttributeError(f"{cls.__name__} has no field '{name}'{hint}")
    return _core.with_fields(node, dict(changes))
