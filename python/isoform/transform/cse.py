"""Common subexpression elimination for any language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isoform.ir import _api

from .passes import ModulePass, Program

__all__ = ["CSE", "cse"]

_cse = _api.function("passes.cse")
_pass = _api.function("transform.CSE")


def cse(value: Program, pure: Callable[[Any], bool] | None = None) -> Program:
    """Compute equal expressions of a program once, by the declarations of its types.

    In a graph of expressions, equal pure nodes become one object, computed in the scope
    around its uses. An inner binding around its scope, such as a let, goes if a variable in
    scope holds an equal value. In programs of statements, a value that is certain to have been computed
    is read from the variable that holds it, or from a new variable. Attributes of types
    declare pure nodes, nodes that may fail, and the places of bindings; `docs/passes.md`
    lists them. The functions of a program are processed separately. Without a repeated
    computation, the result is the same object. Linear in the number of distinct objects,
    counted once for each body of statements that computes them.

    Args:
        value: A program, a function or an expression.
        pure: Called with a node; returns whether it may be computed once instead of several
            times, apart from its parts and regardless of the declaration of its type.

    Raises ValueError for a cycle, and for a program whose types and dialects declare no
    role, as nothing could be merged; TypeError or ValueError for an attribute of the wrong
    form, and what functions raise.

    >>> from isoform import tir
    >>> from isoform.transform import cse
    >>> x = tir.Var("x", "int32")
    >>> done = cse(tir.Mul(tir.Add(x, 1), tir.Add(x, 1)))
    >>> done.a.same_as(done.b)
    True
    """
    return _cse(value, pure)


def CSE() -> ModulePass:  # noqa: N802
    """Return a pass that computes equal expressions of a program once, like `cse`."""
    return _pass()
