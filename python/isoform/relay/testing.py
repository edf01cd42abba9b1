"""Helpers for tests of programs."""

from __future__ import annotations

from typing import Any

from isoform.ir import _api

_count_ops = _api.function("relay.analysis.count_ops")


def count_ops(expr: Any) -> dict[str, int]:
    """Return the number of calls of each operator in an expression, by name.

    Args:
        expr: The expression.

    Linear in the number of expressions.
    """
    return dict(_count_ops(expr))
