"""The common base of functors: one may override `visit` besides the methods for classes."""

from __future__ import annotations

import functools
import inspect
from types import GeneratorType
from typing import Any

from isoform import _core
from isoform.visitors import NodeFunctor


class Functor(NodeFunctor, dialect=("relay", "ir")):
    """A functor with an overridable `visit`, which then sees every node."""

    # The node passed to `visit` by the traversal, and the node whose `visit` called the
    # traversal.
    _arriving: Any = None
    _started: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        visit = vars(cls).get("visit")
        if inspect.isgeneratorfunction(visit):
            cls.visit = _driven(visit)  # type: ignore[method-assign]

    def visit(self, node: Any) -> Any:
        """The result for a node by the method for its class.

        Args:
            node: The node.

        Raises NotImplementedError for a class without a method, ValueError for the
        node whose method runs, RecursionError if methods that are no generators nest
        too deeply.
        """
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

    def _result(self, node: Any) -> Any:
        """The result of the method, or a generator for the result."""
        self._arriving = None
        return self._call(node)

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

    def generic_visit(self, node: Any) -> Any:
        """Raise TypeError for a node of a class that the functor does not know.

        Args:
            node: The node.
        """
        raise TypeError(f"warning unhandled case: {type(node)}")


def _driven(visit: Any) -> Any:
    """An override written as a generator, for direct callers: the traversal runs the generator."""

    @functools.wraps(visit)
    def method(self: Functor, node: Any) -> Any:
        if self._arriving is node and self._is_open(node):
            return visit(self, node)
        return NodeFunctor.visit(self, node)

    return method


# `yield Later(super().visit, node)` goes on with the generator itself.
Functor.visit.__wrapped__ = Functor._result  # type: ignore[attr-defined]
