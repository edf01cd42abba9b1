"""`Trait`: properties of node types that passes ask about, and how types declare them."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from isoform import _core
from isoform._core import TypeInfo
from isoform.core import TypeSchema

if TYPE_CHECKING:
    # Python 3.10 has the function in this package only, which type checkers bring
    # along.
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_options: Any) -> Callable[[Any], Any]:
        """Does nothing; type checkers read the call."""
        return lambda decorated: decorated


_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T", bound="Trait")

PREFIX = "ir_trait."
"""The prefix of a trait's name in the name of its attribute."""

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_known: dict[str, type[Trait]] = {}


def provided(method: _F) -> _F:
    """Marks a method of a trait that classes need not define.

    A class with the trait but without the method gets this function, called with its
    node.

    Example:
        >>> from isoform.type_attrs import Trait, provided
        >>> class HasCost(Trait, attr="doc.provided.has_cost"):
        ...     def flops(self) -> int: ...
        ...     @provided
        ...     def bytes(self) -> int:
        ...         return 0
    """
    marked: Any = method
    marked.__isoform_provided__ = True
    return method


@dataclasses.dataclass(frozen=True)
class Plan:
    """The description of a trait.

    Attributes:
        name: the name of the attribute.
        methods: the functions declared by the trait, by name.
        fields: the names of its arguments.
    """

    name: str
    methods: Mapping[str, Callable[..., Any]]
    fields: tuple[str, ...]

    @property
    def is_marker(self) -> bool:
        """Returns whether a type can only have the trait, without methods or arguments."""
        return not self.methods and not self.fields

    @property
    def is_single(self) -> bool:
        """Returns whether the value of the attribute is a single function."""
        return len(self.methods) == 1 and not self.fields

    def value(self, arguments: Mapping[str, Any], find: Callable[[str], Any]) -> Any:
        """The value of the attribute for a type.

        Args:
            arguments: the arguments of the trait.
            find: returns the type's function with a name, or None.

        Raises:
            LookupError: with the name of a method missing in the type.
        """
        functions: dict[str, Any] = {}
        for name, declared in self.methods.items():
            found = find(name)
            if found is None and hasattr(declared, "__isoform_provided__"):
                found = declared
            if found is None and hasattr(declared, "__isoform_optional__"):
                # The method has a body in the other language.
                continue
            if found is None:
                raise LookupError(name)
            functions[name] = found
        if self.is_marker:
            return True
        if self.is_single:
            return next(iter(functions.values()))
        return {**arguments, **functions}


@dataclass_transform(frozen_default=True)
class Trait:
    """The base of traits: properties of node types that passes ask for.

    A subclass is a trait. Its docstring documents the attribute
    `ir_trait.<name_in_snake_case>`, or the attribute named by `attr`, in which the
    library records, for all languages, the types with the trait.

    A trait without a body is a *marker*: the value of the attribute is True. Functions
    in the body are *methods*: a type with the trait defines them, and the value is the
    function, or a map of several functions. Annotations in the body are *arguments* of
    the trait: the value is a map of them, and of the functions.

    Args:
        attr: the name of the attribute.

    Raises:
        ValueError: the attribute is declared already, for other values.

    Example:
        >>> from isoform import Object
        >>> from isoform.dataclasses import py_class
        >>> from isoform.type_attrs import Trait, implements
        >>> class Commutative(Trait, attr="doc.trait.commutative"):
        ...     "The operands may come in any order."
        >>> class Canonicalize(Trait, attr="doc.trait.canonicalize"):
        ...     "Has a simpler form."
        ...     def canonicalize(self) -> Object: ...
        >>> class Fusible(Trait, attr="doc.trait.fusible"):
        ...     "May be fused with its neighbours."
        ...     kind: str
        >>> @py_class("doc.trait.Neg")
        ... class Neg(Object):
        ...     ir_trait = Canonicalize, Fusible(kind="elementwise")
        ...     operand: Any
        ...     def canonicalize(self) -> Object:
        ...         return self.operand.operand if isinstance(self.operand, Neg) else self
        >>> @py_class("doc.trait.Leaf")
        ... class Leaf(Object):
        ...     ir_trait = Commutative
        >>> leaf = Leaf()
        >>> rule = implements(Neg(Neg(leaf)), Canonicalize)
        >>> rule.canonicalize() is leaf
        True
        >>> implements(Neg(leaf), Fusible).kind
        'elementwise'
        >>> implements(Neg(leaf), Commutative) is None
        True
    """

    __isoform_trait__: ClassVar[Plan]
    __isoform_handle__: ClassVar[_core.TraitHandle]

    def __init_subclass__(cls, *, attr: str | None = None) -> None:
        """Declares the trait."""
        super().__init_subclass__()
        doc = inspect.cleandoc(cls.__dict__.get("__doc__") or "")
        made: Any = dataclasses.dataclass(frozen=True)(cls)
        # Otherwise it would be the signature for a class without a docstring.
        made.__doc__ = doc or None
        name = attr or PREFIX + _WORDS.sub("_", cls.__name__).lower()
        _declare(cls, name, doc)

    def __repr__(self) -> str:
        """The class name of the trait, with all arguments."""
        return _shown(self)


def _shown(trait: Trait) -> str:
    plan = plan_of(type(trait))
    arguments = ", ".join(f"{name}={getattr(trait, name)!r}" for name in plan.fields)
    return f"{type(trait).__qualname__}({arguments})"


def _declare(cls: type[Trait], name: str, doc: str) -> None:
    methods: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base is not Trait and issubclass(base, Trait):
            for member, found in vars(base).items():
                if isinstance(found, types.FunctionType) and not member.startswith("_"):
                    methods[member] = found
    fields = tuple(field.name for field in dataclasses.fields(cast("Any", cls)))
    if not methods and not fields:
        kind: Any = bool
    elif not fields:
        function = Callable[..., Any]
        kind = function if len(methods) == 1 else dict[str, function]
    else:
        kind = dict[str, Any]
    _register(cls, name, doc, kind, methods, fields)


def _register(
    cls: type[Trait],
    name: str,
    doc: str,
    kind: Any,
    methods: Mapping[str, Any],
    fields: tuple[str, ...],
) -> None:
    schema = schema_of(kind)
    known = _core.type_attrs_info(name)
    # A repeated declaration of a trait, as by a module loaded again, need not use the
    # same words.
    text = "" if known is not None and known["schema"] is not None else doc
    _core.type_attrs_declare(name, text, schema, False)
    plan = Plan(name, types.MappingProxyType(dict(methods)), fields)
    marker = object.__new__(cls) if plan.is_marker else None
    cls.__isoform_handle__ = _core.TraitHandle(name, marker, _view_of(cls, plan), bool(methods))
    cls.__isoform_trait__ = plan
    _known[name] = cls


def schema_of(annotation: Any) -> Any:
    """The compiled schema of an annotation; maps are immutable."""
    if typing.get_origin(annotation) is dict:
        key, value = typing.get_args(annotation)
        parts = TypeSchema.from_annotation(key), TypeSchema.from_annotation(value)
        return TypeSchema("Map", parts).compiled
    return TypeSchema.from_annotation(annotation).compiled


def is_trait(value: object) -> bool:
    """Returns whether a value is a trait, or a trait with its arguments."""
    if isinstance(value, type):
        return issubclass(value, Trait) and value is not Trait
    return isinstance(value, Trait)


def plan_of(trait: type[Trait] | Trait) -> Plan:
    """Returns the description of a trait.

    Raises:
        TypeError: it is not a trait.
    """
    cls = trait if isinstance(trait, type) else type(trait)
    plan = cls.__dict__.get("__isoform_trait__")
    if plan is None:
        raise TypeError(f"expected a subclass of Trait, got {trait!r}")
    return plan


def trait(name: str) -> type[Trait]:
    """The trait of an attribute, including traits declared in Rust.

    Args:
        name: the name of the attribute.

    Raises:
        KeyError: no trait is declared under this name.

    Example:
        >>> from isoform.type_attrs import Trait, trait
        >>> class Idempotent(Trait, attr="doc.trait_function.idempotent"):
        ...     "Twice is as good as once."
        >>> trait("doc.trait_function.idempotent") is Idempotent
        True
    """
    known = _known.get(name)
    return known if known is not None else _native(name)


def _native(name: str) -> type[Trait]:
    info = _core.type_attrs_info(name)
    form = None if info is None or info["schema"] is None else repr(info["schema"])
    if info is None or form not in ("bool", "Function", "Map[str, Function]"):
        what = f"; the attribute holds {form}" if form else ""
        raise KeyError(f"no trait is declared as '{name}'{what}")
    short = name.rpartition(".")[2]
    methods = info["methods"]
    if not methods and form == "Function":
        # Declared by the type of values alone.
        methods = [(short, "", True)]
    elif not methods and form != "bool":
        raise KeyError(f"attribute '{name}' holds functions, but their names are not declared")
    body: dict[str, Any] = {"__doc__": info["doc"] or None, "__module__": __name__}
    for method, doc, required in methods:
        # The value of a single method is the function, which cannot be left out.
        body[method] = _written_elsewhere(method, doc, required or len(methods) == 1)
    title = "".join(word.capitalize() for word in short.split("_"))
    return types.new_class(
        title, (Trait,), {"attr": name}, lambda namespace: namespace.update(body)
    )


def _written_elsewhere(name: str, doc: str, required: bool) -> Any:
    """A method of a trait declared in another language."""

    def method(self: Trait, *args: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__}.{name} is not defined by the type, and its default is written "
            "in Rust"
        )

    made: Any = method
    made.__name__ = made.__qualname__ = name
    made.__doc__ = doc or None
    if not required:
        made.__isoform_optional__ = True
    return made


def implements(of: object, trait: type[_T], /, *, inherit: bool = False) -> _T | None:
    """Returns a node as an instance of a trait, or None if the type lacks the trait.

    The methods of the result belong to the node; the other attributes are the arguments
    of the trait. For a class the methods take the node first. O(1), and fast enough for
    inner loops.

    Args:
        of: a node, or a type: a class, a type key, a `TypeInfo`.
        trait: the trait.
        inherit: include traits of ancestors.

    Raises:
        TypeError: `of` is neither a node nor a type, or `trait` is not a trait.
        KeyError: no type has the key.

    Example:
        >>> from isoform import Object
        >>> from isoform.dataclasses import py_class
        >>> from isoform.type_attrs import Trait, implements
        >>> class SideEffectFree(Trait, attr="doc.implements.side_effect_free"):
        ...     "May go when nobody uses its result."
        >>> @py_class("doc.implements.Load")
        ... class Load(Object):
        ...     ir_trait = SideEffectFree
        >>> @py_class("doc.implements.Prefetch")
        ... class Prefetch(Load):
        ...     pass
        >>> implements(Load(), SideEffectFree), implements(Prefetch, SideEffectFree)
        (SideEffectFree(), None)
        >>> implements(Prefetch(), SideEffectFree, inherit=True)
        SideEffectFree()
    """
    return _core.implements(of, trait, inherit=inherit)


def _view_of(cls: type[Trait], plan: Plan) -> Callable[[Any, bool, Any], Any]:
    """Returns a function that makes an instance of a trait from a type or node and the value."""
    new, bound, fields = object.__new__, types.MethodType, frozenset(plan.fields)

    if plan.is_single:
        (only,) = plan.methods

        def single(of: Any, is_node: bool, function: Any) -> Any:
            made = new(cls)
            made.__dict__[only] = bound(function, of) if is_node else function
            return made

        return single

    def several(of: Any, is_node: bool, parts: Mapping[str, Any]) -> Any:
        made = new(cls)
        attributes = made.__dict__
        for name, part in parts.items():
            attributes[name] = bound(part, of) if is_node and name not in fields else part
        return made

    return several


def implement(
    of: type[Any] | str | TypeInfo,
    trait: type[Trait] | Trait,
    /,
    methods: Mapping[str, Callable[..., Any]] | None = None,
    *,
    override: bool = False,
) -> None:
    """Gives a trait to an already registered type.

    Args:
        of: the type: a class, a type key, a `TypeInfo`.
        trait: the trait; an instance if it takes arguments.
        methods: its methods; by default the methods of the class.
        override: replace the trait if the type already has it.

    Raises:
        TypeError: a method or the arguments of the trait are missing.
        ValueError: the type has the trait already.

    Example:
        >>> from isoform import Object
        >>> from isoform.dataclasses import py_class
        >>> from isoform.type_attrs import Trait, implement, implements
        >>> class HasCost(Trait, attr="doc.implement.has_cost"):
        ...     def cost(self) -> int: ...
        >>> @py_class("doc.implement.Load")
        ... class Load(Object):
        ...     bytes: int
        >>> implement(Load, HasCost, {"cost": lambda load: load.bytes // 64})
        >>> implements(Load(640), HasCost).cost()
        10
    """
    place = _core.type_attrs_place(of)
    given = dict(methods or {})
    unknown = sorted(given.keys() - plan_of(trait).methods.keys())
    if unknown:
        raise TypeError(f"trait {_name(trait)} has no method '{unknown[0]}'")
    if methods is None:
        cls = place.type_cls
        find: Callable[[str], Any] = lambda name: function_of(cls, name)  # noqa: E731
    else:
        find = given.get
    value = value_for(place.type_key, trait, find)
    attribute = plan_of(trait).name
    _core.type_attrs_set(place, attribute, value, override or is_again(place, attribute, value))


def is_again(of: Any, name: Any, value: Any) -> bool:
    """True if a type has an equal value, or the same function of a module loaded again."""
    if not _core.type_attrs_has(of, name, False):
        return False
    return _is_same(_core.type_attrs_get(of, name, None, False), value)


def _is_same(old: Any, new: Any) -> bool:
    if isinstance(new, types.FunctionType):
        return isinstance(old, types.FunctionType) and _place_of(old) == _place_of(new)
    if isinstance(new, Mapping) and isinstance(old, Mapping):
        parts, others = cast("Mapping[Any, Any]", old), cast("Mapping[Any, Any]", new)
        return parts.keys() == others.keys() and all(
            _is_same(part, others[key]) for key, part in parts.items()
        )
    try:
        return _core.structural_equal(old, new)
    except (TypeError, ValueError):
        return False


def _place_of(function: types.FunctionType) -> Any:
    """The name of a function of a module, or the code of one without a name."""
    name = function.__qualname__
    if "<" not in name:
        return function.__module__, name
    captured = tuple(cell.cell_contents for cell in function.__closure__ or ())
    return function.__module__, function.__code__, function.__defaults__, captured


def value_for(
    owner: str,
    trait: type[Trait] | Trait,
    find: Callable[[str], Any],
    fields: Container[str] = (),
) -> Any:
    """The value of a trait's attribute for a type.

    Args:
        owner: the name of the type in messages.
        trait: the trait, or an instance with its arguments.
        find: returns the type's function of a name, or None.
        fields: the names of the type's fields, for messages.

    Raises:
        TypeError: an argument or a method is missing.
    """
    plan = plan_of(trait)
    if isinstance(trait, type):
        required = [
            field.name
            for field in dataclasses.fields(cast("Any", trait))
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        ]
        if required:
            raise TypeError(
                f"{owner}: trait {_name(trait)} takes arguments: "
                f"{_name(trait)}({', '.join(f'{name}=...' for name in required)})"
            )
        trait = trait() if plan.fields else trait
    arguments = {name: getattr(trait, name) for name in plan.fields}
    try:
        return plan.value(arguments, find)
    except LookupError as missing:
        name = missing.args[0]
        hint = ""
        if name in fields:
            hint = (
                f", and the class has a field of this name; give the trait after the class: "
                f"implement({owner.rpartition('.')[2]}, {_name(trait)}, {{'{name}': function, ...}})"
            )
        raise TypeError(f"{owner}: trait {_name(trait)} requires a method '{name}'{hint}") from None


def function_of(cls: type, name: str) -> Any:
    """The function with a name in a class or a base, or None."""
    for base in cls.__mro__:
        found = base.__dict__.get(name)
        if isinstance(found, staticmethod):
            return cast("Any", found).__func__
        if found is not None:
            return found if callable(found) else None
    return None


def _name(trait: type[Trait] | Trait) -> str:
    cls = trait if isinstance(trait, type) else type(trait)
    return cls.__qualname__
