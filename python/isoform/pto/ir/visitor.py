"""Visitors and mutators: classes with a method for each class of the IR.

The traversal itself is that of `isoform.structural_visit` and
`isoform.structural_mutate`; here is only which method a node goes to.
"""

from __future__ import annotations

import functools
import inspect
import re
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform._core import Object
from isoform.container import Array
from isoform.structural import structural_map, structural_mutate, structural_visit

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["IRMutator", "IRVisitor"]

_PREFIX = "pto."


def _method_name(cls: type[Any]) -> str:
    """What the method for a class is called: `visit_for_stmt` for `ForStmt`."""
    if cls is Object:
        return "visit_node"
    name = _core.type_info(cls).type_key.removeprefix(_PREFIX)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return f"visit_{words.lower()}"


def _parent(cls: type[Any]) -> type[Any]:
    parent = _core.type_info(cls).parent_type_info
    return Object if parent is None else parent.type_cls


def _classes() -> dict[str, type[Any]]:
    """Every class of the IR by the name of its method, derived ones first."""
    keys = [key for key in _core.registered_type_keys() if key.startswith(_PREFIX)]
    depths: dict[type[Any], int] = {Object: 0}

    def depth(cls: type[Any]) -> int:
        if cls not in depths:
            depths[cls] = depth(_parent(cls)) + 1
        return depths[cls]

    classes = sorted((_core.class_of(key) for key in keys), key=depth, reverse=True)
    return {_method_name(cls): cls for cls in [*classes, Object]}


_CLASSES = _classes()


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """An override that, called for another node than the one it is asked for,
    visits that node, whatever class it has.
    """

    @functools.wraps(function)
    def method(self: _Traversal, op: Any) -> Any:
        if op is not self._open:
            return self.visit(op)
        return function(self, op)

    return method


class _Traversal:
    """What visitors and mutators have in common."""

    # The running traversal and the node whose override runs.
    _engine: Any = None
    _open: Any = None
    # The overrides of a class, derived classes of nodes first.
    _overrides: list[tuple[type[Any], Callable[..., Any]]] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._overrides = None
        for name, function in list(vars(cls).items()):
            if name in _CLASSES and inspect.isfunction(function):
                setattr(cls, name, _guarded(function))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[[Any], Any]:
            """Each class of the IR has a method."""
            ...

    def visit(self, op: Any) -> Any:
        """Visit a value by the method for its class."""
        raise NotImplementedError

    def _callbacks(self) -> list[tuple[type[Any], Callable[..., Any]]]:
        cls = type(self)
        if cls._overrides is None:
            found = [(node, getattr(cls, name)) for name, node in _CLASSES.items()]
            cls._overrides = [
                (node, getattr(method, "__wrapped__", method))
                for node, method in found
                if not getattr(method, "is_default", False)
            ]
        return [(node, functools.partial(self._call, method)) for node, method in cls._overrides]

    def _call(self, method: Callable[..., Any], op: Any, engine: Any) -> Any:
        outer = self._engine, self._open
        self._engine, self._open = engine, op
        try:
            return method(self, op)
        finally:
            self._engine, self._open = outer

    def _other(self, op: Any) -> Any:
        if op is self._open:
            name = _method_name(type(op))
            raise ValueError(
                f"{type(self).__name__}.{name}: visit() of the node whose method runs; "
                f"super().{name}(op) visits what lies below it"
            )
        return op


class IRVisitor(_Traversal):
    """A visitor with a method for each class of the IR.

    Subclasses override `visit_add`, `visit_for_stmt`, `visit_var` and so on.
    What has no override goes to the method of the parent class
    (`visit_binary_expr`, `visit_expr`), up to `visit_node`, whose default is to
    visit what lies below. An override goes on below its node with
    `super().visit_add(op)` or with `self.visit(child)`, and without either
    nothing below is visited. A method called with another node than the one it
    was asked for is `self.visit`. An override that returns a
    `isoform.VisitInterrupt` ends the visit, when those around it return it too;
    everything else it may return is None.

    An object is visited once, where it is met first, and fields that comparison
    ignores are not visited. Below nodes without override depth is limited by
    memory only; overrides that call `super()` nest in Python, and raise
    RecursionError when they nest too deeply.

    >>> from isoform.pto import DataType, ir
    >>> class Names(ir.IRVisitor):
    ...     def __init__(self):
    ...         self.names = []
    ...
    ...     def visit_var(self, op):
    ...         self.names.append(op.name_hint)
    >>> x, y = (ir.Var(name, ir.ScalarType(DataType.INT64), ir.Span.unknown()) for name in "xy")
    >>> names = Names()
    >>> names.visit(ir.add(ir.add(x, y), x))
    >>> names.names
    ['x', 'y']
    """

    def visit(self, op: Any) -> Any:
        """Visit a value by the method for its class.

        Args:
            op: A node, or a container of nodes.

        Raises ValueError for the node whose method runs, RecursionError when
        overrides nest too deeply, TypeError for what an override must not
        return, and what overrides raise. Linear in the number of objects.
        """
        op = self._other(op)
        if self._engine is not None:
            return self._engine.visit(op)
        return structural_visit(op, self._callbacks(), regions_apart=False)

    def visit_node(self, op: Any) -> Any:
        """Visit what lies below a node: the end of all defaults."""
        if op is not self._open:
            return self.visit(op)
        return self._engine.default_visit(op)


class IRMutator(_Traversal):
    """A rewriter with a method for each class of the IR.

    Methods are found as those of `IRVisitor`, and each returns what comes in
    place of its node. `super().visit_add(op)` returns the node with what lies
    below it rewritten, and `self.visit(child)` what a child becomes. Where
    nothing changes, the result is the same object.

    A shared object is rewritten once, and its result is shared in the same way.
    A variable that is replaced where it is defined is replaced in its uses:
    when `visit_var` says so, when an override returns a node of the same class
    with another variable in a definition field, or after `remap`.

    Depth is as for `IRVisitor`.

    >>> from isoform.pto import DataType, ir
    >>> class Double(ir.IRMutator):
    ...     def visit_const_int(self, op):
    ...         return ir.ConstInt(2 * op.value, op.dtype, op.span)
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    >>> Double().visit(ir.add(x, 21)).right.value
    42
    >>> Double().visit(x) is x
    True
    """

    def visit(self, op: Any) -> Any:
        """Return what a value becomes by the method for its class.

        Args:
            op: A node, or a container of nodes.

        Raises ValueError for the node whose method runs, TypeError for a result
        that does not fit its field and for an override that returns None,
        RecursionError when overrides nest too deeply, and what overrides raise.
        Linear in the number of objects.
        """
        op = self._other(op)
        if self._engine is not None:
            return self._engine.mutate(op)
        return structural_mutate(op, self._callbacks(), regions_apart=False)

    def visit_node(self, op: Any) -> Any:
        """Return a node with what lies below it rewritten: the end of all defaults."""
        if op is not self._open:
            return self.visit(op)
        return self._engine.default_mutate(op)

    def remap(self, var: Any, value: Any) -> None:
        """Say what comes in place of a variable from now on.

        For overrides that replace a definition before they rewrite its uses.

        Args:
            var: The variable.
            value: What comes in its place, a variable where it is defined.

        Raises RuntimeError outside of a rewrite.
        """
        if self._engine is None:
            raise RuntimeError("IRMutator.remap: no rewrite is running")
        self._engine.var_remap_set(var, value)

    def _call(self, method: Callable[..., Any], op: Any, engine: Any) -> Any:
        result = super()._call(method, op, engine)
        if result is None:
            raise TypeError(
                f"{type(self).__name__}.{_method_name(type(op))}: expected what comes in place "
                "of the node, got None; return the node itself to keep it"
            )
        if result is not op and type(result) is type(op):
            return _redefine(op, result, engine)
        return result


@functools.cache
def _definition_fields(cls: type[Any]) -> tuple[str, ...]:
    info: Any = _core.type_info(cls)
    names: list[str] = []
    while info is not None:
        names += [field.name for field in info.fields if field.structural_eq in _DEFINES]
        info = info.parent_type_info
    return tuple(names)


_DEFINES = ("def", "def-recursive", "def-simple", "def-non-recursive")


# The definition fields whose variables are used inside of their node.
_INSIDE = ("loop_var", "iter_args", "params")


def _redefine(old: Any, new: Any, engine: Any) -> Any:
    """What comes in place of a node, with the variables that it defines as others
    than the node did in the place of those.
    """
    inside: dict[int, tuple[Any, Any]] = {}
    for name in _definition_fields(type(old)):
        before, after = getattr(old, name), getattr(new, name)
        pairs = zip(before, after, strict=False) if _is_sequence(before) else [(before, after)]
        if _is_sequence(before) and len(before) != len(after):
            continue
        for one, other in pairs:
            # What the rewrite itself put in its place, has reached its uses.
            if one is other or engine._image(one) is other:
                continue
            if name in _INSIDE:
                inside[id(one)] = (one, other)
            else:
                engine._remap_uses(one, other)
    if not inside:
        return new

    def image(var: Any) -> Any:
        found = inside.get(id(var))
        return var if found is None else found[1]

    return structural_map(new, (_core.class_of("pto.Var"), image))


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Array)


def _add_defaults(cls: type[Any]) -> None:
    """Add the methods of all classes; each calls that of the parent class."""

    def default(name: str, parent: str) -> Callable[..., Any]:
        def method(self: _Traversal, op: Any) -> Any:
            if op is not self._open:
                return self.visit(op)
            return getattr(self, parent)(op)

        method.__name__ = name
        method.__qualname__ = f"{cls.__name__}.{name}"
        method.__doc__ = f"Visit a {_CLASSES[name].__name__}; by default as `{parent}`."
        return method

    cls.visit_node.is_default = True
    for name, node in _CLASSES.items():
        if node is not Object:
            method: Any = default(name, _method_name(_parent(node)))
            method.is_default = True
            setattr(cls, name, method)


_add_defaults(IRVisitor)
_add_defaults(IRMutator)
