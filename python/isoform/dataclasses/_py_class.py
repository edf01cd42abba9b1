"""`py_class`: the decorator that registers a Python class as a type."""

# The modules of this package are private to it, not to each other.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import collections
import dataclasses
import sys
from typing import TYPE_CHECKING, Any, TypeVar, overload

from isoform import _core, registry
from isoform.core import MISSING, Object

from . import _again, _attributes, _collect, _dunder, _field, _init_property, _pending
from ._field import Field, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence

    # Python 3.10 has the function in this package only, which type checkers bring
    # along.
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_options: Any) -> Callable[[Any], Any]:
        """Does nothing; type checkers read the call."""
        return lambda decorated: decorated


_T = TypeVar("_T", bound=type)
KINDS = (*_core.structural_kinds(), None)


@dataclasses.dataclass(frozen=True)
class Options:
    """The options of a class, as passed to `py_class`."""

    type_key: str | None = None
    frozen: bool = False
    init: bool = True
    repr: bool = True
    eq: bool = False
    order: bool = False
    unsafe_hash: bool = False
    match_args: bool = True
    kw_only: bool = False
    structural_eq: str | None = "tree"
    scope: bool = False
    defs_first: bool | None = None
    visit_order: tuple[str, ...] | None = None
    strict: bool = False
    # Former type keys.
    aliases: tuple[str, ...] = ()
    to_json: Callable[[Any], Any] | None = None
    from_json: Callable[[Any], Any] | None = None
    convert: Callable[[Any], Any] | None = None
    # Looks at the constructor's fields before anything is registered.
    inspect: Callable[[list[Field], list[Field]], None] | None = None
    # Whether the class may wait for names that do not exist yet.
    wait: bool = True
    abstract: bool = False
    # True if the class may take the key of another declaration.
    override: bool = False
    # The members of an enum.
    members: Any = None

    def check(self) -> None:
        """Raises ValueError for invalid or contradictory options."""
        if self.order and not self.eq:
            raise ValueError("order=True requires eq=True")
        if self.structural_eq not in KINDS:
            known = ", ".join(map(repr, KINDS))
            raise ValueError(f"structural_eq must be one of {known}, got {self.structural_eq!r}")


@overload
@dataclass_transform(eq_default=False, field_specifiers=(field, Field))
def py_class(cls: _T, /) -> _T: ...


@overload
@dataclass_transform(eq_default=False, field_specifiers=(field, Field))
def py_class(
    cls_or_type_key: str | None = None,
    /,
    *,
    type_key: str | None = None,
    frozen: bool = False,
    init: bool = True,
    repr: bool = True,
    eq: bool = False,
    order: bool = False,
    unsafe_hash: bool = False,
    match_args: bool = True,
    kw_only: bool = False,
    structural_eq: str | None = "tree",
    slots: bool = True,
    scope: bool = False,
    defs_first: bool | None = None,
    visit_order: Sequence[str] | None = None,
    override: bool = False,
    abstract: bool = False,
    strict: bool = False,
    aliases: Sequence[str] = (),
) -> Callable[[_T], _T]: ...


def py_class(
    cls_or_type_key: Any = None,
    /,
    *,
    type_key: str | None = None,
    frozen: bool = False,
    init: bool = True,
    repr: bool = True,  # noqa: A002
    eq: bool = False,
    order: bool = False,
    unsafe_hash: bool = False,
    match_args: bool = True,
    kw_only: bool = False,
    structural_eq: str | None = "tree",
    slots: bool = True,
    scope: bool = False,
    defs_first: bool | None = None,
    visit_order: Sequence[str] | None = None,
    override: bool = False,
    abstract: bool = False,
    strict: bool = False,
    aliases: Sequence[str] = (),
    **unknown: Any,
) -> Any:
    """Registers a class that extends `Object` in the core.

    The annotations become fields, as in a dataclass, and every function over types
    works on the objects: structural comparison and hash, walks, copies, JSON. Used as
    `@py_class`, `@py_class("key")` or `@py_class(type_key="key", …)`.

    Fields of parents come first. In the constructor, fields without a default come
    before fields with a default. Annotations may name undefined classes; the class is
    registered once these exist.

    Values are converted to the types of their fields: a bool to an int, an int
    to a float, lists and dicts to those of the core. In a union, a value is kept
    unchanged if one of the types allows it, and a number otherwise becomes the
    nearest kind of number: True in `int | float` becomes 1. An int beyond 64 bits
    becomes a float only in a union without int.

    `__del__` runs when the object ends, not when Python's last reference disappears
    while the core still holds the object; the same is true of the contents of a
    `__dict__`.

    Args:
        cls_or_type_key: the class, or the type key.
        type_key: the key of the type; module and qualified name if left out.
        frozen: refuse assignment to the fields.
        init: make a constructor, unless the body defines `__init__`.
        repr: show the fields with `repr`, unless the body defines `__repr__`.
        eq: compare by fields with `==`; the hash stays the hash of the identity unless
            `unsafe_hash` is also given.
        order: compare by fields with `<`, `<=`, `>` and `>=`.
        unsafe_hash: hash by fields. Unsafe if fields change while an object is a key.
        match_args: let `match` take the constructor's positional fields by
            position.
        kw_only: let the constructor take the fields by keyword only.
        structural_eq: the structural kind: `"tree"`, `"const-tree"`, `"dag"`,
            `"var"`, `"singleton"`, or None for objects that cannot be compared.
        slots: False gives objects a `__dict__` for attributes besides the fields, such as those
            of `functools.cached_property`. Fields never live in it.
        scope: end the bindings of variables inside of an object with the object.
        defs_first: visit fields that define variables before the others; the default in
            a scope without `visit_order`. A `let` that does not bind the variable in
            the value sets it to False and declares value, variable, body in this order.
        visit_order: the order in which structural comparison, hashes, walks, maps and
            substitution visit the fields, by name, if the constructor needs a different
            one. Every field of the class occurs once; ignored fields may be left out
            and come last. Fields of parents come first, unless they are named, too.
        strict: refuse objects and functions of Python in fields of type `Any`, where they
            are put in. Without it, they are kept, and only comparison, hash and files
            refuse them. Containers are looked through at each assignment; the objects
            inside have fields of their own.
        aliases: former type keys of the class. Files, texts and pickles may have them instead
            of the key.
        override: let the class take the key of another declaration. Objects of the old
            class keep it; fields that name the key accept objects of the new class alone.
        abstract: refuse to construct objects of exactly this class.

    The same declaration again, in a notebook's cell or a reloaded module, returns the class
    that exists, with the methods of the new body.

    Raises:
        TypeError: the class does not extend `Object`, an annotation describes
            nothing that the core can hold, or `visit_order` or `aliases` is not a sequence
            of names.
        ValueError: the key is taken by another declaration, a field is declared twice,
            `visit_order` has an unknown, repeated or missing field, an alias is also a key or
            name of another type or field, or options contradict each other. If registration
            fails, nothing is registered.

    Example:
        >>> from isoform.dataclasses import Object, py_class
        >>> @py_class("doc.py_class.Add")
        ... class Add(Object):
        ...     lhs: "int | Add"
        ...     rhs: "int | Add" = 0
        >>> tree = Add(Add(1, 2))
        >>> tree.lhs.rhs, tree.rhs
        (2, 0)
    """
    for name in unknown:
        raise TypeError(
            f"py_class() got an unexpected keyword argument {name!r}{_option_hint(name)}"
        )
    options = Options(
        type_key=type_key,
        frozen=frozen,
        init=init,
        repr=repr,
        eq=eq,
        order=order,
        unsafe_hash=unsafe_hash,
        match_args=match_args,
        kw_only=kw_only,
        structural_eq=structural_eq,
        scope=scope,
        defs_first=defs_first,
        visit_order=_names(visit_order),
        override=override,
        abstract=abstract,
        strict=strict,
        aliases=_field.names("aliases", aliases),
    )
    # Also where the decorator is kept for later.
    options.check()
    if isinstance(cls_or_type_key, type):
        cls = cls_or_type_key if slots else _again.with_dict(cls_or_type_key)
        return declare(cls, options, names_around(cls, sys._getframe(1)))
    if isinstance(cls_or_type_key, str):
        if type_key is not None and type_key != cls_or_type_key:
            raise TypeError(f"py_class got two type keys, '{cls_or_type_key}' and '{type_key}'")
        options = dataclasses.replace(options, type_key=cls_or_type_key)
    elif cls_or_type_key is not None:
        raise TypeError(
            f"py_class expects a class or a type key, got {type(cls_or_type_key).__name__}"
        )

    def decorate(cls: Any) -> Any:
        cls = cls if slots else _again.with_dict(cls)
        return declare(cls, options, names_around(cls, sys._getframe(1)))

    return decorate


def _option_hint(name: str) -> str:
    """The option that is probably meant, for the end of a message."""
    # Needed here alone.
    import difflib

    declared: Any = py_class
    options: list[str] = list(declared.__kwdefaults__)
    near = difflib.get_close_matches(name, options, 1)
    if name in ("kind", "structural_kind"):
        near = ["structural_eq"]
    return f"; did you mean {near[0]}=...?" if near else ""


def _names(order: Any) -> tuple[str, ...] | None:
    """The names of an order of visit.

    Raises:
        TypeError: the order is not a sequence of names.
    """
    if order is None:
        return None
    names = () if isinstance(order, str) else tuple(order)
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"visit_order: expected a sequence of names of fields, got {order!r}")
    return names


def names_around(cls: type, frame: Any) -> MutableMapping[str, Any]:
    """The meanings of names around the declaration of a class, apart from its module's names.

    New names go into a mapping of their own.

    Args:
        cls: the class.
        frame: the frame that declares the class, in a function, a module, or in code that
            `exec` runs with names of its own, as doctest does.
    """
    local = {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
    module = sys.modules.get(cls.__module__)
    if module is not None and frame.f_globals is vars(module):
        return local
    return collections.ChainMap[str, Any](local, frame.f_globals)


def declare(cls: Any, options: Options, names: MutableMapping[str, Any]) -> Any:
    """Registers a class now, or once the names of its annotations exist.

    Raises:
        TypeError: the class does not extend `Object`, or an annotation describes no
            value of the core.
        ValueError: the key is taken, a field is declared twice, or options contradict
            each other.
    """
    options.check()
    # One thread at a time declares a class: the other finds the class of the same
    # declaration, complete.
    with _core.class_lock:
        return _declare(cls, options, names)


def _declare(cls: Any, options: Options, names: MutableMapping[str, Any]) -> Any:
    if not isinstance(cls, type) or not issubclass(cls, Object):
        raise TypeError(f"{cls!r} must extend isoform.Object to be registered")
    key = options.type_key or f"{cls.__module__}.{cls.__qualname__}"
    if "__isoform_type_key__" in cls.__dict__:
        raise ValueError(
            f"class {cls.__qualname__} is registered already, as "
            f"'{cls.__dict__['__isoform_type_key__']}'"
        )
    _pending.claim(key, cls)

    def complete(waiting: type, names: Mapping[str, Any], elsewhere: Mapping[str, Any]) -> Any:
        return _register(waiting, key, options, names, elsewhere)

    declared: Any = cls
    # Annotations may name the class itself.
    declared.__isoform_pending_key__ = key
    try:
        found = complete(cls, names, _pending.neighbours(cls) if _again.known(key) else {})
    except _collect.Waiting as missing:
        if not options.wait or is_taken(key):
            del declared.__isoform_pending_key__
        if not options.wait:
            raise TypeError(
                f"{cls.__qualname__} ('{key}'): unresolved forward references: "
                f"{'; '.join(missing.reasons)}"
            ) from None
        if is_taken(key):
            raise ValueError(f"type key '{key}' is already registered") from None
        _pending.add(_pending.Pending(cls, key, names, complete))
        # Other classes may have waited for this class and its key.
        _pending.offer(cls)
        return cls
    except BaseException:
        del declared.__isoform_pending_key__
        raise
    if found is cls:
        _pending.registered(cls)
    return found


def is_taken(type_key: str) -> bool:
    """Returns whether a type is registered under this key."""
    try:
        _core.type_info(type_key)
    except KeyError:
        return False
    return True


class _NativeField:
    """A field in the form that the native module reads."""

    def __init__(self, declared: Field) -> None:
        for name in Field.__slots__:
            setattr(self, name, getattr(declared, name))
        self.schema = declared.schema.compiled


def _register(
    cls: Any, key: str, options: Options, names: Mapping[str, Any], elsewhere: Mapping[str, Any]
) -> Any:
    """Registers a class, and returns it, or the class that has the declaration already."""
    body = _collect.read(
        cls, frozen=options.frozen, kw_only=options.kw_only, names=names, elsewhere=elsewhere
    )
    if options.strict:
        for declared in body.fields:
            declared.schema = declared.schema.strict()
    inherited = _collect.all_fields(body.parent) if body.parent else ()
    positional, keyword = _collect.init_order((*inherited, *body.fields))
    if options.inspect is not None:
        options.inspect(positional, keyword)
    own_init = "__init__" in cls.__dict__
    own_new = cls.__new__ is not Object.__new__
    generated = options.init and not own_init
    computed = bool(body.properties) or bool(body.parent and _init_property.inherited(body.parent))
    given = {
        "__data_to_json__": options.to_json,
        "__data_from_json__": options.from_json,
        "__ffi_convert__": options.convert,
    }
    attributes = _attributes.of_class(cls, key, body.parent, given)
    native: dict[str, Any] = {
        "kind": options.structural_eq,
        "scope": options.scope,
        "defs_first": options.defs_first,
        "visit_order": options.visit_order,
        "aliases": options.aliases,
        "doc": cls.__doc__ if "__doc__" in cls.__dict__ else None,
        "frozen": options.frozen,
        # The native constructor would not call it.
        "init": generated and not own_new and not options.abstract,
        "post_init": computed or hasattr(cls, "__post_init__"),
        "init_order": tuple(f.name for f in (*positional, *keyword)),
        "kw_only": tuple(f.name for f in keyword),
        "attributes": attributes,
    }
    registry.check_methods(cls, key, {f.name for f in (*inherited, *body.fields)})
    declaration = _again.declaration_of(cls, options, body, attributes)
    existing: Any = _again.known(key)
    if existing is not None:
        changed = _again.difference(existing.__dict__[_again.DECLARATION], declaration)
        if changed is None:
            _again.update(existing, cls, body, declaration)
            # Their functions belong to the class now.
            _again.update_attributes(key, existing, attributes)
            _complete(existing, options, [])
            return existing
        if not options.override:
            raise ValueError(
                f"type key '{key}' is already registered, with another declaration: {changed}; "
                "write override=True to replace it, also in the declarations of the classes that "
                "extend it, and make its objects again"
            )
        native["override"] = True
        _pending.forget(existing)
    described = [_NativeField(declared) for declared in body.fields]
    info = _core.register_class(cls, key, body.parent, described, native)
    # From here on nothing fails.
    cls.__isoform_type_info__ = info
    setattr(cls, _again.DECLARATION, declaration)
    registry.register_methods(cls)
    cls.__isoform_own_fields__ = body.fields
    if generated and own_new:
        _dunder.constructs_by_python(cls)
    if options.abstract:
        _dunder.forbid_abstract(cls)
    if generated:
        cls.__init__.__signature__ = _dunder.signature(positional, keyword)
    elif not own_init:
        _dunder.forbid_construction(cls)
    _init_property.install(cls, body.properties, own_init)
    _complete(cls, options, positional)
    return cls


def _complete(cls: Any, options: Options, positional: list[Field]) -> None:
    """Gives a class what its body leaves out."""
    if options.repr and "__repr__" not in cls.__dict__ and cls.__repr__ is not Object.__repr__:
        cls.__repr__ = Object.__repr__
    if options.match_args and "__match_args__" not in cls.__dict__:
        cls.__match_args__ = tuple(f.name for f in positional)
    _dunder.install(cls, eq=options.eq, order=options.order, unsafe_hash=options.unsafe_hash)


__all__ = ["MISSING", "Options", "declare", "is_taken", "py_class"]
