"""Visitors and mutators of patterns."""

from __future__ import annotations

from typing import Any

from isoform.ir import _api

from ._functor import Functor, identity, rewrite_of, silence, visit_of
from .expr import Var

__all__ = ["PatternMutator", "PatternVisitor"]


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

    visit_pattern_wildcard = visit_var = visit_constructor = silence
    visit_pattern_var = visit_of("var")
    visit_pattern_constructor = visit_of("constructor", "patterns")
    visit_pattern_tuple = visit_of("patterns")


class PatternMutator(Functor):
    """Rewrites patterns; by default, all their variables become fresh variables.

    `var_map` holds the fresh variables, which are the same for several patterns.

    >>> from isoform import relay
    >>> pattern = relay.PatternVar(relay.var("a"))
    >>> mutator = relay.PatternMutator()
    >>> mutator.visit(pattern).var is mutator.var_map[pattern.var]
    True
    """

    _rewrites = True

    def __init__(self) -> None:
        """Begin without fresh variables."""
        self.var_map: dict[Any, Any] = {}

    visit_pattern_wildcard = visit_constructor = identity
    visit_pattern_var = rewrite_of("var")
    visit_pattern_constructor = rewrite_of("constructor", "patterns")
    visit_pattern_tuple = rewrite_of("patterns")

    def visit_var(self, var: Any) -> Any:
        """Return the fresh variable for a variable."""
        if var not in self.var_map:
            self.var_map[var] = _api.made(Var, var.name_hint, var.type_annotation, var.span)
        return self.var_map[var]
