"""Statements that say where their body runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.dataclasses import c_class
from isoform.ir import _api

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoform.types.pto import ScopeKind, Stmt
else:
    Stmt = _core.class_of("pto.Stmt")

__all__ = ["ScopeStmt", "SeqStmts"]


@c_class("pto.SeqStmts")
class SeqStmts(Stmt):
    """Statements that run one after the other; a sequence of them in Python, too.

    Args:
        stmts: The statements.
        span: The source location.

    >>> from isoform.pto import ir
    >>> body = ir.SeqStmts([ir.EvalStmt(1), ir.BreakStmt()])
    >>> len(body), body[-1].same_as(body.stmts[1]), [type(stmt).__name__ for stmt in body]
    (2, True, ['EvalStmt', 'BreakStmt'])
    """

    stmts: Any

    def __getitem__(self, index: int | slice) -> Any:
        """Return the statement at an index, or the statements of a slice; IndexError without."""
        return self.stmts[index]

    def __len__(self) -> int:
        """Return the number of statements."""
        return len(self.stmts)

    def __iter__(self) -> Iterator[Stmt]:
        """Return the statements in order."""
        return iter(self.stmts)

    def __bool__(self) -> bool:
        """True, as for any statement."""
        return True


@c_class("pto.ScopeStmt")
class ScopeStmt(Stmt):
    """The base of the statements that say where their body runs.

    Despite its name, the statement ends no scope: definitions in the body remain visible.

    >>> from isoform.pto import ir
    >>> ir.InCoreScopeStmt(body=ir.BreakStmt()).scope_kind
    ScopeKind.InCore
    """

    name_hint: str
    body: Stmt

    @property
    def scope_kind(self) -> ScopeKind:
        """The kind of the scope."""
        return _scope_kind(self)


_scope_kind = _api.function("pto.ScopeStmt.scope_kind")
