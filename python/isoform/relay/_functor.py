"""The common base of functors, and makers of their methods.

One may override `visit` besides the methods for classes.
"""

from __future__ import annotations

import functools
import inspect
from types import GeneratorType
from typing import TYPE_CHECKING, Any, cast

from isoform import _core
from isoform.container import Array
from isoform.ir import _api
from isoform.visitors import Later, NodeFunctor

if TYPE_CHECKING:
    from collections.abc import Callable

with_fields = _api.function("relay.ir.with_fields")


class Functor(NodeFunctor, dialect=("relay", "ir")):
    """A functor with an overridable `visit`, which then sees every node."""

    # The node passed to `visit` by the traversal, and the node whose `visit` called the
    # traversal.
    _arriving: Any = None
    _started: Any = None
    # As in TVM, a node has one result, whatever its place.
    _memo = "visit"
    # True if the results come in place of the nodes.
    _rewrites = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        visit = vars(cls).get("visit")
        if inspect.isgeneratorfunction(visit):
            cls.visit = _driven(visit)  # type: ignore[method-assign]

    def visit(self, node: Any, *args: Any) -> Any:
        """The result for a node by the method for its class.

        Args:
            node: The node.
            args: Further arguments of the method. The result depends on them, and is
                therefore not kept; what a generator yields is visited with the same ones.

        Raises NotImplementedError for a class without a method, ValueError for the
        node whose method runs, RecursionError if methods that are no generators nest
        too deeply.
        """
        result = self._visited(node, args)
        if result is None and self._rewrites:
            name = self._name_of(_core.type_info(node))
            raise TypeError(
                f"{type(self).__name__}.{name}: expected what comes in place "
                "of the node, got None; return the node itself to keep it"
            )
        return result

    def _visited(self, node: Any, args: tuple[Any, ...]) -> Any:
        if args:
            return _core._level(self._visit_with, node, args)
        if self._arriving is node and self._is_open(node):
            result = self._result(node)
            if isinstance(result, GeneratorType):
                return self._engine.finish(node, result)
            return result
        self._started = node
        try:
            return super().visit(node)
        finally:
            self._started = None

    def _visit_with(self, node: Any, args: tuple[Any, ...]) -> Any:
        """The result of the method, called with further arguments."""
        return self._finished(node, self._result(node, *args), args)

    def _result(self, node: Any, *args: Any) -> Any:
        """The result of the method, or a generator for the result."""
        if not args:
            self._arriving = None
            return self._call(node)
        function: Any = super()._find(_core.type_info(node))
        if function is None:
            raise TypeError(
                f"{type(self).__name__}.visit: expected a node before other arguments, got "
                f"{type(node).__name__}; visit its elements one by one"
            )
        return function(self, node, *args)

    def _finished(self, node: Any, running: Any, args: tuple[Any, ...]) -> Any:
        if not args:
            return super()._finished(node, running, args)
        result, visit = running, cast("Any", type(self).visit)
        # The generators that wait for one another, the innermost last.
        stack: list[Any] = []
        error: Exception | None = None
        while True:
            if isinstance(result, GeneratorType):
                stack.append(result)
                result = None
            if not stack:
                break
            try:
                part = stack[-1].send(result) if error is None else stack[-1].throw(error)
            except StopIteration as end:
                stack.pop()
                result, error = end.value, None
                continue
            except Exception as raised:
                stack.pop()
                result, error = None, raised
                continue
            later = part if isinstance(part, Later) else Later(visit, part)
            method: Any = getattr(later.method, "__func__", later.method)
            try:
                result = getattr(method, "__wrapped__", method)(self, later.node, *args)
                error = None
            except Exception as raised:
                result, error = None, raised
        if error is not None:
            raise error
        return result

    def _call(self, node: Any) -> Any:
        function: Any = super()._find(_core.type_info(node))
        return function(self, node)

    @classmethod
    def _find(cls, info: Any) -> Any:
        if info.is_builtin:
            return super()._find(info)
        return cls._arrive

    def _arrive(self, node: Any) -> Any:
        """Handles one node for the traversal."""
        if self._started is node or type(self).visit is Functor.visit:
            self._started = None
            return self._call(node)
        self._arriving = node
        return self.visit(node)

    def generic_visit(self, node: Any, *args: Any) -> Any:  # noqa: ARG002
        """Raise TypeError for a node of a class that the functor does not know.

        Args:
            node: The node.
            args: The further arguments of `visit`.
        """
        raise TypeError(f"warning unhandled case: {type(node)}")


def _driven(visit: Any) -> Any:
    """An override written as a generator, for direct callers: the traversal runs the generator."""

    @functools.wraps(visit)
    def method(self: Functor, node: Any, *args: Any) -> Any:
        if args:
            return self._finished(node, visit(self, node, *args), args)
        if self._arriving is node and self._is_open(node):
            return visit(self, node)
        return NodeFunctor.visit(self, node)

    return method


# `yield Later(super().visit, node)` goes on with the generator itself.
Functor.visit.__wrapped__ = Functor._result  # type: ignore[attr-defined]


def refusal(self: Any, node: Any, /, *args: Any) -> Any:
    """Raise NotImplementedError: a subclass defines the result."""
    raise NotImplementedError


def silence(self: Any, node: Any, /, *args: Any) -> Any:
    """Do nothing."""


def identity(self: Any, node: Any, /, *args: Any) -> Any:  # noqa: ARG001
    """Keep the node."""
    return node


def visit_of(*fields: str) -> Callable[[Any, Any], Any]:
    """A method that visits fields."""

    def method(self: Any, node: Any, /, *args: Any) -> Any:  # noqa: ARG001
        for field in fields:
            value = getattr(node, field)
            # Results are sent here, which an iterator would refuse.
            for part in value if isinstance(value, Array) else (value,):  # noqa: UP028
                yield part

    method.__doc__ = f"Visit {', '.join(fields)}."
    return method


def rewrite_of(*fields: str) -> Callable[[Any, Any], Any]:
    """A method that rewrites fields."""

    def method(self: Any, node: Any, /, *args: Any) -> Any:  # noqa: ARG001
        changes: dict[str, Any] = {}
        for field in fields:
            value = getattr(node, field)
            if isinstance(value, Array):
                changes[field] = parts = []
                for part in value:
                    parts.append((yield part))
            else:
                changes[field] = yield value
        return with_fields(node, changes)

    method.__doc__ = f"Rewrite {', '.join(fields)}."
    return method
