"""Diagnostics: messages about places in source texts, shown with their lines.

>>> from isoform import ir
>>> mod = ir.IRModule()
>>> source = mod.source_map.add("demo.txt", "let x = 1\\nlet y = z")
>>> ctx = ir.DiagnosticContext(mod, None)
>>> ctx.emit(ir.Diagnostic.error("z is not defined", ir.Span(source, 2, 2, 9, 10)))
>>> print(ctx.to_text())
error: z is not defined
 --> demo.txt:2:9
  |
2 | let y = z
  |         ^
"""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from isoform.dataclasses import c_class
from isoform.error import register_error
from isoform.registry import register_global_func
from isoform.types.ir import DiagnosticContext, DiagnosticRenderer

from . import _api
from .base import Node

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoform.types.ir import Span

__all__ = [
    "Diagnostic",
    "DiagnosticContext",
    "DiagnosticError",
    "DiagnosticLevel",
    "DiagnosticRenderer",
    "get_renderer",
    "override_renderer",
]


@register_error
class DiagnosticError(RuntimeError):
    """Raised when rendered messages report an error."""


class DiagnosticLevel(IntEnum):
    """The severity of a message."""

    BUG = 10
    ERROR = 20
    WARNING = 30
    NOTE = 40
    HELP = 50


@c_class("ir.Diagnostic")
class Diagnostic(Node):
    """A message about a place in a source text.

    Args:
        level: The severity.
        span: The place, or None.
        message: The text.
    """

    level: int
    span: Span | None
    message: str

    @staticmethod
    def bug(message: str, span: Span | None = None) -> Diagnostic:
        """Return a message about an error in the compiler."""
        return _api.made(Diagnostic, DiagnosticLevel.BUG, span, message)

    @staticmethod
    def error(message: str, span: Span | None = None) -> Diagnostic:
        """Return a message about an error in the program."""
        return _api.made(Diagnostic, DiagnosticLevel.ERROR, span, message)

    @staticmethod
    def warning(message: str, span: Span | None = None) -> Diagnostic:
        """Return a message about a possible error in the program."""
        return _api.made(Diagnostic, DiagnosticLevel.WARNING, span, message)

    @staticmethod
    def note(message: str, span: Span | None = None) -> Diagnostic:
        """Return a message that adds information to another one."""
        return _api.made(Diagnostic, DiagnosticLevel.NOTE, span, message)

    @staticmethod
    def help(message: str, span: Span | None = None) -> Diagnostic:
        """Return a message with a suggestion."""
        return _api.made(Diagnostic, DiagnosticLevel.HELP, span, message)


_overridden: DiagnosticRenderer | None = None


def _to_terminal(ctx: DiagnosticContext) -> None:
    sys.stderr.write(ctx.to_text(sys.stderr.isatty()) + "\n")


def get_renderer() -> DiagnosticRenderer:
    """Return the renderer in use, by default a renderer for standard error."""
    return _overridden or DiagnosticRenderer(_to_terminal)


# Passes show their messages with it.
register_global_func("diagnostics.GetRenderer", get_renderer, override=True)


def override_renderer(render_func: Callable[[Any], None] | None) -> None:
    """Replace the renderer in use.

    Args:
        render_func: Called with the context; None restores the first renderer.
    """
    global _overridden
    _overridden = None if render_func is None else DiagnosticRenderer(render_func)
