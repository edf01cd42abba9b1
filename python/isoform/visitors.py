"""Visitors, mutators and functors: classes with a method for each class of nodes.

The method for a class is called `visit_` and the class in snake case, or by the
attribute `visit.name` of the type. A class without a method goes to that of its nearest
parent, and in the end to `generic_visit`. This holds for nodes of every dialect,
including dialects of users, and for classes declared after the visitor.

    >>> from typing import Any
    >>> from isoform import NodeFunctor
    >>> from isoform.dataclasses import Object, py_class
    >>> @py_class("doc.visitors.Num")
    ... class Num(Object):
    ...     value: int
    >>> @py_class("doc.visitors.Neg")
    ... class Neg(Object):
    ...     of: Any
    >>> class Value(NodeFunctor, dialect="doc.visitors"):
    ...     def visit_num(self, node):
    ...         return node.value
    ...
    ...     def visit_neg(self, node):
    ...         return -(yield node.of)
    >>> Value().visit(Neg(Neg(Num(3))))
    3

A visitor with a `dialect` calls the classes of that dialect by their short names. Other
classes have the dialect in their names: `visit_relay_var`. Without a dialect, a short
name shared by several dialects is an error.

A method that needs the result of a child may be a generator: `x = yield node.lhs` waits
for it without nesting in Python, limited only by memory. An exception of the child is
raised at the `yield`. A method that calls `self.visit(child)` nests in Python. The type of
such a method is `Steps[R]`, where `R` is the type of its result.

`super().generic_visit(node)` goes on with the parts below a node.
`super().visit_add(node)` does so, too, unless a method for a parent class comes first, but
type checkers know no method of this name in the base class.

A visitor keeps the state of its visit, so one thread at a time uses a visitor; give each
thread a visitor of its own. A visitor that two threads use at the same time reports nodes
that the other thread has open as cyclic.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Generator
from types import GeneratorType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from isoform import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    # With a default: `NodeFunctor` alone has results of any type.
    from typing_extensions import TypeVar as _TypeVar

    from isoform._core import TypeInfo

    _R = _TypeVar("_R", default=Any)
else:
    _R = TypeVar("_R")

__all__ = ["Later", "NodeFunctor", "NodeMutator", "NodeVisitor", "Steps"]

_T = TypeVar("_T")
_F = TypeVar("_F", bound="Callable[..., Any]")

Steps = Generator[Any, Any, _T]
"""The type of a method that waits for children with `yield`, by its result."""

_PREFIX = "visit_"


class _Names:
    """The names of methods for the registered types."""

    count = -1
    # The types that a name fits: with the dialect in front, and without.
    long: ClassVar[dict[str, list[str]]] = {}
    short: ClassVar[dict[str, list[str]]] = {}

    @classmethod
    def refresh(cls) -> None:
        """Learns newly registered types; O(1) without new types."""
        count = _core._type_count()
        if count == cls.count:
            return
        cls.long, cls.short = {}, {}
        for key, dialect, name in _core._visit_names():
            cls.long.setdefault(_long_name(dialect, name), []).append(key)
            cls.short.setdefault(_PREFIX + name, []).append(key)
        for name in {*cls.long, *cls.short}:
            if name not in vars(_Dispatcher):
                setattr(_Dispatcher, name, _default(name))
        cls.count = count


def _long_name(dialect: str, name: str) -> str:
    return "_".join([_PREFIX.rstrip("_"), *dialect.lower().split("."), name]).replace("__", "_")


def _dialect_of(key: str) -> str:
    return key.rpartition(".")[0]


def _default(name: str) -> Callable[..., Any]:
    """The method called if no class defines a method of this name."""

    def method(self: _Dispatcher, node: Any) -> Any:
        if not self._is_open(node):
            return self.visit(node)
        function = self._above(name, _core.type_info(node))
        return getattr(self, function.__name__)(node)

    method.__name__ = name
    method.__qualname__ = f"_Dispatcher.{name}"
    method.__doc__ = "Does what the method of the parent class does."
    method.default_name = name  # type: ignore[attr-defined]
    return method


def _guarded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's method for callers by name: a call with another node than the node in
    progress visits that node, whatever its class.
    """

    @functools.wraps(function)
    def method(self: _Dispatcher, node: Any, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs and not self._is_open(node):
            return self.visit(node)
        result = function(self, node, *args, **kwargs)
        if isinstance(result, GeneratorType):
            return self._finished(node, result, args)
        return result

    # A function may be the method for several classes; `_default` calls one by its name.
    method.__name__ = name
    return method


class Later:
    """A call of a method, yielded by a generator instead of making the call.

    `yield Later(super().generic_visit, node)` is `super().generic_visit(node)` without
    nesting in Python.

    Args:
        method: a method for the node, of the visitor or of a parent.
        node: the node whose method runs.
    """

    __slots__ = ("method", "node")

    def __init__(self, method: Callable[[Any], Any], node: Any) -> None:
        self.method = method
        self.node = node


class _Dispatcher:
    """The common base of visitors, mutators and functors."""

    # The dialect with classes called by their short names, or several dialects, the
    # first of which wins.
    dialect: ClassVar[str | tuple[str, ...] | None] = None
    # Whether methods may name unregistered types.
    _unregistered: ClassVar[bool] = False
    # The name of the end of all defaults.
    _end: ClassVar[str] = "generic_visit"
    _rule: ClassVar[str] = ""

    # How many types there were when the names of methods were checked, and the
    # methods by the index of the type.
    _checked: ClassVar[int] = -1
    _table: ClassVar[dict[int, Any]] = {}

    # The running visit.
    _engine: Any = None
    # How long the result of a node is remembered: during a "visit", as long as the "bindings"
    # of its variables, or for one "request".
    _memo: ClassVar[str] = "visit"
    # Whether something is remembered from one outermost visit to the next.
    _remembers: ClassVar[bool] = False

    def __init_subclass__(
        cls,
        *,
        dialect: str | tuple[str, ...] | None = None,
        unregistered: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        if dialect is not None:
            cls.dialect = dialect
        if unregistered is not None:
            cls._unregistered = unregistered
        cls._checked, cls._table = -1, {}
        for name, function in list(vars(cls).items()):
            is_method = name.startswith(_PREFIX) or name == cls._end
            if is_method and inspect.isfunction(function):
                setattr(cls, name, _guarded(name, function))
                if not hasattr(_Dispatcher, name):
                    setattr(_Dispatcher, name, _default(name))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[[Any], Any]:
            """Each class of nodes has a method."""
            ...

    def visit(self, node: Any) -> Any:
        """The result for a value by the method for its class.

        Args:
            node: a node, or a container of nodes.

        Raises:
            AttributeError: a method fits no type, or types of several dialects.
            ValueError: the node is the node of the running method, or contains itself.
            RecursionError: methods other than generators nest too deeply; the `path`
                leads to the place.
            TypeError: a method returned a value of a wrong type.

        An exception of a method, or of its result, has a note with the method and the place,
        such as `in Value.visit_neg at <root>.of`.
        """
        engine = self._engine
        if engine is None:
            self._check()
            engine = _core.NodeDriver(self, self._rule, GeneratorType, Later, self._memo)
            self._engine = engine
            if self._remembers:
                self._resume()
            try:
                return engine.start(node)
            finally:
                self._engine = None
                if self._remembers:
                    self._pause()
        if engine.open is node:
            name = self._name_of(_core.type_info(node))
            raise ValueError(
                f"{type(self).__name__}.{name}: visit() of the node whose method runs; "
                f"super().{name}(node) visits what lies below it"
            )
        return engine.visit(node)

    def _finished(self, node: Any, running: Any, args: tuple[Any, ...]) -> Any:  # noqa: ARG002
        """The result of a generator that a caller by name has got."""
        return running if self._engine is None else self._engine.finish(node, running)

    def _resume(self) -> None:
        """Called before an outermost visit, if visits are remembered."""

    def _pause(self) -> None:
        """Called after an outermost visit, if visits are remembered."""

    def _is_open(self, node: Any) -> bool:
        return self._engine is not None and self._engine.open is node

    @classmethod
    def _check(cls) -> None:
        """Checks the names of the methods against the existing types."""
        _Names.refresh()
        if cls._checked == _Names.count:
            return
        names = {name for base in cls.__mro__ for name in vars(base) if name.startswith(_PREFIX)}
        for name in sorted(names):
            if _is_default(getattr(cls, name)) or name == cls._end:
                continue
            fits = cls._types_of(name)
            if len(fits) > 1:
                raise AttributeError(
                    f"{cls.__name__}.{name}: fits {', '.join(sorted(fits))}; name the dialect, as "
                    f"in `class {cls.__name__}(..., dialect={_dialect_of(fits[0])!r})` or "
                    f"`{cls._long_names(fits)[0]}`"
                )
            if not fits and not cls._unregistered:
                # Needed here alone.
                import difflib

                near = difflib.get_close_matches(name, cls._known())
                hint = f"; near: {', '.join(near)}" if near else ""
                known = {dialect for _, dialect, _ in _core._visit_names()}
                for dialect in cls._dialects():
                    if dialect not in known:
                        hint += f"; no type is of the dialect {dialect!r}"
                raise AttributeError(
                    f"{cls.__name__}.{name}: no type has a method of this name{hint}; "
                    "`class ..., unregistered=True` allows names of types that come later"
                )
        cls._table, cls._checked = {}, _Names.count

    @classmethod
    def _types_of(cls, name: str) -> list[str]:
        """The types whose method this is."""
        short = _Names.short.get(name, [])
        if cls.dialect is not None:
            fits = ([key for key in short if _dialect_of(key) == one] for one in cls._dialects())
            short = next(filter(None, fits), [])
        return short or _Names.long.get(name, [])

    @classmethod
    def _dialects(cls) -> tuple[str, ...]:
        """The dialects with short names."""
        named = cls.dialect or ()
        return (named,) if isinstance(named, str) else named

    @staticmethod
    def _long_names(keys: list[str]) -> list[str]:
        return [name for name, fits in _Names.long.items() if set(keys) & set(fits)]

    @classmethod
    def _known(cls) -> list[str]:
        """The names that methods may have."""
        return [*_Names.long, *(name for name in _Names.short if cls._types_of(name))]

    @classmethod
    def _name_of(cls, info: TypeInfo) -> str:
        """Returns the name of the method for a type."""
        if info.parent_type_info is None and info.type_key == _ROOT:
            return cls._end
        short = _PREFIX + info.visit_name
        if cls._types_of(short) == [info.type_key]:
            return short
        return _long_name(_dialect_of(info.type_key), info.visit_name)

    @classmethod
    def _names_of(cls, info: TypeInfo) -> list[str]:
        """Returns the possible names of the method for a type."""
        return [cls._name_of(info), _long_name(_dialect_of(info.type_key), info.visit_name)]

    @classmethod
    def _above(cls, name: str | None, info: TypeInfo | None) -> Any:
        """The method to which the types above the type of a method's name go, or,
        without a name, the method for a type.
        """
        while info is not None:
            names = cls._names_of(info)
            if name is None:
                for candidate in names:
                    found = getattr(cls, candidate, None)
                    if found is not None and not _is_default(found):
                        return found
            elif name in names:
                name = None
            info = info.parent_type_info
        return getattr(cls, cls._end)

    @classmethod
    def _find(cls, info: TypeInfo) -> Any:
        found = cls._above(None, info)
        return None if _is_default(found) else getattr(found, "__wrapped__", found)

    def _method_for(self, info: TypeInfo) -> Any:
        """The function that the engine calls for objects of a type, if any."""
        table = type(self)._table
        if info.type_index not in table:
            table[info.type_index] = self._find(info)
        return table[info.type_index]

    def _method_name(self, info: TypeInfo | None) -> str:
        """The class and method for objects of a type, for notes of exceptions."""
        found = None if info is None else self._method_for(info)
        name = getattr(found, "__name__", "_")
        return type(self).__name__ + ("" if name.startswith("_") else f".{name}")

    def _begin(self, later: Later) -> tuple[bool, Any]:
        """Makes a call for the engine: whether a method exists, and its result."""
        method: Any = getattr(later.method, "__func__", later.method)
        node = later.node
        if not self._is_open(node):
            raise ValueError(f"{type(self).__name__}: Later is for the node whose method runs")
        while (name := getattr(method, "default_name", None)) not in (None, self._end):
            method = self._above(name, _core.type_info(node))
        if _is_default(method):
            return False, None
        return True, getattr(method, "__wrapped__", method)(self, node)


_ROOT = _core.type_info(_core.Object).type_key


def _is_default(method: Any) -> bool:
    return hasattr(method, "default_name")


def end_of_defaults(name: str) -> Callable[[_F], _F]:
    """Marks the method of this name as the end of all defaults."""

    def mark(method: _F) -> _F:
        marked: Any = method
        marked.default_name = name
        return method

    return mark


class NodeVisitor(_Dispatcher):
    """A visitor with a method for each class of nodes.

    An object is visited once, at its first occurrence; keys of maps and ignored fields
    are not visited. A method goes on below its node with `yield child`, with
    `self.visit(child)`, or with `super().generic_visit(node)`, which visits all parts
    below; otherwise the parts below are skipped. A method called with another node than
    its own is `self.visit`. A method that returns a `VisitInterrupt` ends the visit;
    otherwise the method returns None.

    Class arguments:
        dialect: the dialect with classes called by their short names, or a tuple of
            dialects; the first dialect with the name is meant.
        unregistered: whether methods may name types that are not registered yet.
            Otherwise, such a name is an error at the first visit.

    Nodes are visited in the order of comparison. Linear in the number of objects.

    Example:
        >>> from isoform import NodeVisitor, pto
        >>> from isoform.pto import DataType, ir
        >>> class Names(NodeVisitor, dialect="pto"):
        ...     def __init__(self):
        ...         self.names = []
        ...
        ...     def visit_var(self, node):
        ...         self.names.append(node.name_hint)
        >>> x, y = (ir.Var(name, ir.ScalarType(DataType.INT64)) for name in "xy")
        >>> names = Names()
        >>> names.visit(ir.add(ir.add(x, y), x))
        >>> names.names
        ['x', 'y']
    """

    _rule = "visit"

    @end_of_defaults("generic_visit")
    def generic_visit(self, node: Any) -> Any:
        """Visits the parts below a node: the end of all defaults."""
        return self._below(node)

    def _below(self, node: Any) -> Any:
        return self._engine.below(node) if self._is_open(node) else self.visit(node)

    def _accept(self, node: Any, result: Any) -> Any:
        name = self._name_of(_core.type_info(node))
        raise TypeError(
            f"{type(self).__name__}.{name}: expected None or a VisitInterrupt, "
            f"got {type(result).__name__}"
        )


class NodeMutator(_Dispatcher):
    """A rewriter with a method for each class of nodes.

    Methods are found as in `NodeVisitor`, and return the replacement of a node.
    `yield child` and `self.visit(child)` return the replacement of a child, and
    `super().generic_visit(node)` returns the node with all children rewritten. A node
    without a method is rebuilt from its rewritten children.

    Nodes are never changed in place, and an unchanged node is returned as the same
    object. A shared object is rewritten once, and the result is shared in the same way,
    so a variable is replaced alike at its binding and its uses. Keys of maps and
    ignored fields are kept.

    The class arguments are those of `NodeVisitor`. Linear in the number of
    objects.

    Example:
        >>> from isoform import NodeMutator
        >>> from isoform.pto import DataType, ir
        >>> class Double(NodeMutator, dialect="pto"):
        ...     def visit_const_int(self, node):
        ...         return ir.ConstInt(2 * node.value, node.dtype)
        >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
        >>> Double().visit(ir.add(x, 21)).right.value
        42
        >>> Double().visit(x) is x
        True
    """

    _rule = "rewrite"

    if TYPE_CHECKING:

        def visit(self, node: _T) -> _T:
            """A part is replaced by a part that fits in its place."""
            ...

    @end_of_defaults("generic_visit")
    def generic_visit(self, node: _T) -> _T:
        """Returns the node with all children rewritten: the end of all defaults."""
        return self._below(node)

    def _below(self, node: Any) -> Any:
        return self._engine.below(node) if self._is_open(node) else self.visit(node)

    def remap(self, var: Any, value: Any) -> None:
        """Replaces a variable in all nodes rewritten afterwards.

        For methods that replace a definition before rewriting the uses.

        Args:
            var: the variable.
            value: the replacement, which must be a variable where `var` is defined.

        Raises:
            RuntimeError: no rewrite is running.
        """
        if self._engine is None:
            raise RuntimeError(f"{type(self).__name__}.remap: no rewrite is running")
        self._engine.remap(var, value)

    def _accept(self, node: Any, result: Any) -> Any:
        if result is None:
            name = self._name_of(_core.type_info(node))
            raise TypeError(
                f"{type(self).__name__}.{name}: expected what comes in place "
                "of the node, got None; return the node itself to keep it"
            )
        return result


class NodeFunctor(_Dispatcher, Generic[_R]):
    """A function of nodes, with a method for each class: an evaluator, a printer.

    `NodeFunctor[int]` says that results are ints.

    Methods are found like the methods of `NodeVisitor`, and may return any value except
    a generator. `yield child` and `self.visit(child)` are the result of a child. The result
    of an array or list is the tuple of the results of its elements, the result of a map or
    dict a dict, and a plain value is its own result.

    The result of a node is remembered while the variables in the node keep their bindings,
    so a result may depend on names or values that variables have in a scope. The memory ends
    only when a method of a binder of such a variable is entered, turns to its body, or is
    left. Interpreters that compute one node several times under one binding, for calls of
    functions, loops or mutable variables, therefore need `memo=False`, which computes a
    result for each request; results that depend on more, such as the depth of nesting, need
    the option as well.

    A node without a method is an error, unless `generic_visit` is overridden.

    Class arguments:
        dialect, unregistered: as of `NodeVisitor`.
        memo: whether the results of nodes are remembered during a visit.

    Linear in the number of objects requested by methods, as long as each variable is bound
    once and inside of a scope; otherwise a node is computed once for each binding of its
    variables, and possibly more often with more than 64 free variables. The number of
    bindings can be exponential where nested binders bind the variables of shared objects
    again. With `memo=False`, linear in the number of requests, which can be exponential in
    the number of shared objects.

    Example:
        >>> from isoform import NodeFunctor
        >>> from isoform.pto import DataType, ir
        >>> from isoform.visitors import Steps
        >>> class Depth(NodeFunctor[int], dialect="pto"):
        ...     def visit_expr(self, node: ir.Expr) -> int:
        ...         return 0
        ...
        ...     def visit_binary_expr(self, node: ir.BinaryExpr) -> Steps[int]:
        ...         return 1 + max((yield node.left), (yield node.right))
        >>> x = ir.ConstInt(1, DataType.INT64)
        >>> for _ in range(30_000):
        ...     x = ir.Add(x, x, DataType.INT64)
        >>> Depth().visit(x)
        30000
    """

    _rule = "compute"
    _memo = "bindings"

    def __init_subclass__(
        cls,
        *,
        dialect: str | tuple[str, ...] | None = None,
        unregistered: bool | None = None,
        memo: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(dialect=dialect, unregistered=unregistered, **kwargs)
        if memo is not None:
            cls._memo = "bindings" if memo else "request"

    if TYPE_CHECKING:

        def visit(self, node: Any) -> _R:
            """The result of the method for the class of the node."""
            ...

    @end_of_defaults("generic_visit")
    def generic_visit(self, node: Any) -> Any:
        """The result of a node without a method: by default an error.

        Raises:
            TypeError: always.
        """
        if not self._is_open(node):
            return self.visit(node)
        raise self._unknown(node)

    def _unknown(self, node: Any) -> TypeError:
        info = _core.type_info(node)
        return TypeError(
            f"{type(self).__name__}: no method for {info.type_key}: "
            f"expected {self._name_of(info)} or that of a parent class"
        )

    @classmethod
    def _find(cls, info: TypeInfo) -> Any:
        found = cls._above(None, info)
        if info.is_builtin and found.__name__ == cls._end:
            return None
        if _is_default(found):
            return cls._refuse
        return getattr(found, "__wrapped__", found)

    def _refuse(self, node: Any) -> Any:
        raise self._unknown(node)

    def _begin(self, later: Later) -> tuple[bool, Any]:
        begun = super()._begin(later)
        if not begun[0]:
            raise self._unknown(later.node)
        return begun


_Names.refresh()
