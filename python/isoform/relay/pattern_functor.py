"""Visitors and mutators of patterns."""

from __future__ import annotations

from typing import Any

from isoform.ir import _api

from ._functor import Functor
from .expr import Var

__all__ = ["PatternMutator", "PatternVisitor"]

_with_fields = _api.function("relay.ir.with_fields")


class PatternVisitor(Functor):
    """Visits patterns, and calls `visit_var` and `visit_constructor` for their contents.

    >>> from isoform import relay
    >>> class Names(relay.PatternVisitor):
    ...     names = ()
    ...
    ...     def visit_var(self, var):
    ...         self.names += (var.name_hint,)
    >>> names = Names()
    >>> names.visit(relay.PatternTuple([relay.PatternVar(relay.var(name)) for name in "ab"]))
    >>> names.names
    ('a', 'b')
    """

    def visit_pattern_wildcard(self, pattern: Any) -> Any:
        """Do nothing."""

    def visit_pattern_var(self, pattern: Any) -> Any:
        """Visit the variable."""
        yield pattern.var

    def visit_pattern_constructor(self, pattern: Any) -> Any:
        """Visit the constructor and the patterns of its fields."""
        yield pattern.constructor
        for part in pattern.patterns:  # noqa: UP028
            yield part

    def visit_pattern_tuple(self, pattern: Any) -> Any:
        """Visit the patterns of the fields."""
        for part in pattern.patterns:  # noqa: UP028
            yield part

    def visit_var(self, var: Any) -> Any:
        """Do nothing for a variable."""

    def visit_constructor(self, con: Any) -> Any:
        """Do nothing for a constructor."""


class PatternMutator(Functor):
    """Rewrites patterns; by default, all their variables become fresh variables.

    `var_map` holds the fresh variables, which are the same for several patterns.

    >>> from isoform import relay
    >>> pattern = relay.PatternVar(relay.var("a"))
    >>> mutator = relay.PatternMutator()
    >>> mutator.visit(pattern).var is mutator.var_map[pattern.var]
    True
    """

    def __init__(self) -> None:
        """Begin without fresh variables."""
        self.var_map: dict[Any, Any] = {}

    def visit_pattern_wildcard(self, pattern: Any) -> Any:
        """Keep the pattern."""
        return pattern

    def visit_pattern_var(self, pattern: Any) -> Any:
        """Rewrite the variable."""
        return _with_fields(pattern, {"var": (yield pattern.var)})

    def visit_pattern_constructor(self, pattern: Any) -> Any:
        """Rewrite the constructor and the patterns of its fields."""
        constructor = yield pattern.constructor
        patterns = []
        for part in pattern.patterns:
            patterns.append((yield part))
        return _with_fields(pattern, {"constructor": constructor, "patterns": patterns})

    def visit_pattern_tuple(self, pattern: Any) -> Any:
        """Rewrite the patterns of the fields."""
        patterns = []
        for part in pattern.patterns:
            patterns.append((yield part))
        return _with_fields(pattern, {"patterns": patterns})

    def visit_var(self, var: Any) -> Any:
        """Return the fresh variable for a variable."""
        if var not in self.var_map:
            self.var_map[var] = _api.made(Var, var.name_hint, var.type_annotation, var.span)
        return self.var_map[var]

    def visit_constructor(self, con: Any) -> Any:
        """Keep the constructor."""
        return con
