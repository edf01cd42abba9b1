"""Programs built line by line."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from isoform.ir import _api

from . import ty
from .expr import Expr, Var

if TYPE_CHECKING:
    from collections.abc import Iterator


def _made(name: str, *args: Any) -> Any:
    from isoform.types import relay

    return _api.made(getattr(relay, name), *args)


class _Scope:
    """The bindings and the result of a block."""

    def __init__(self) -> None:
        self.bindings: list[tuple[Any, Any]] = []
        self.result: Any = None


class ScopeBuilder:
    """Builds an expression of bindings and branches.

    >>> from isoform import relay
    >>> sb = relay.ScopeBuilder()
    >>> cond = relay.var("cond", "bool")
    >>> x = relay.var("x")
    >>> with sb.if_scope(cond):
    ...     one = sb.let("one", relay.const(1))
    ...     sb.ret(one)
    >>> with sb.else_scope():
    ...     sb.ret(x)
    >>> type(sb.get()).__name__
    'If'
    """

    def __init__(self) -> None:
        """Begin with the outermost block."""
        self._scopes = [_Scope()]
        # The condition and the true branch of an `if` whose `else` comes next.
        self._branches: list[Any] = [None]

    def let(self, var: Any, value: Any) -> Var:
        """Bind a variable in the current block, and return it.

        Args:
            var: The variable, or the name, or name and type.
            value: The value.

        Raises ValueError for a tuple of more than two, TypeError for anything else.
        """
        if isinstance(var, tuple):
            if len(var) > 2:
                raise ValueError("Expect var to be Tuple[str, Type]")
            var = _made("Var", *var)
        elif isinstance(var, str):
            var = _made("Var", var)
        if not isinstance(var, Var):
            raise TypeError(
                f"ScopeBuilder.let: expected a variable, its name or its name and type, "
                f"got {type(var).__name__}"
            )
        self._scopes[-1].bindings.append((var, value))
        return var

    def ret(self, value: Any) -> None:
        """Set the result of the current block.

        Args:
            value: The result.

        Raises RuntimeError if the block has a result already.
        """
        if self._scopes[-1].result is not None:
            raise RuntimeError("ret value is already set in this scope.")
        if self._branches[-1] is not None:
            raise RuntimeError("expected else_scope after if_scope, got ret")
        self._scopes[-1].result = value

    @contextlib.contextmanager
    def if_scope(self, cond: Any) -> Iterator[None]:
        """Begin the block for a true condition; that of `else_scope` comes next.

        Args:
            cond: The condition.

        Raises RuntimeError if the enclosing block already has a result.
        """
        if self._scopes[-1].result is not None:
            raise RuntimeError("result already returned before if scope")
        if self._branches[-1] is not None:
            raise RuntimeError("expected else_scope after if_scope, got another if_scope")
        self._begin()
        yield
        self._branches[-1] = (cond, self._end())

    @contextlib.contextmanager
    def else_scope(self) -> Iterator[None]:
        """Begin the block for a false condition; both make the result of the block around.

        Raises RuntimeError except after an `if_scope`.
        """
        if self._branches[-1] is None:
            raise RuntimeError("else scope must follows")
        self._begin()
        yield
        false_branch = self._end()
        cond, true_branch = self._branches[-1]
        self._branches[-1] = None
        self._scopes[-1].result = _made("If", cond, true_branch, false_branch)

    def _begin(self) -> None:
        self._scopes.append(_Scope())
        self._branches.append(None)

    def _end(self) -> Any:
        scope, branch = self._scopes.pop(), self._branches.pop()
        if branch is not None:
            raise RuntimeError("expected else_scope after if_scope, got the end of the scope")
        if scope.result is None:
            raise RuntimeError("ret is not called in this scope")
        result = scope.result
        for var, value in reversed(scope.bindings):
            result = _made("Let", var, value, result)
        return result

    def type_of(self, expr: Expr) -> Any:
        """Return the annotated type of a variable, or an incomplete type.

        Args:
            expr: An expression. Unless it is an annotated variable, it is bound to a
                variable of the incomplete type, for type inference to complete.
        """
        if isinstance(expr, Var) and expr.type_annotation is not None:
            return expr.type_annotation
        incomplete = _api.made(ty.IncompleteType)
        self.let(_made("Var", "unify", incomplete), expr)
        return incomplete

    def get(self) -> Any:
        """Return the expression of the outermost block.

        Raises RuntimeError inside of another block, or without a result.
        """
        if len(self._scopes) != 1:
            raise RuntimeError("can only call get at the outmost scope")
        return self._end_outermost()

    def _end_outermost(self) -> Any:
        scopes, branches = list(self._scopes), list(self._branches)
        try:
            return self._end()
        finally:
            self._scopes, self._branches = scopes, branches
