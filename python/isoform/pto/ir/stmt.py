"""Statements that say where their body runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoform import _core
from isoform.dataclasses import c_class
from isoform.ir import _api

if TYPE_CHECKING:
    from isoform.types.pto import ScopeKind, Stmt
else:
    Stmt = _core.class_of("pto.Stmt")

__all__ = ["ScopeStmt"]


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
