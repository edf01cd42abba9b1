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


def call(name: str, *args: Any) -> Any:
    """Return a call of the operator of a name, which is registered if need be.

    Args:
        name: The name.
        args: The arguments.

    >>> from isoform import relay
    >>> relay.testing.count_ops(relay.testing.call("doc.relay.op", relay.var("x")))
    {'doc.relay.op': 1}
    """
    from isoform.types.relay import Call

    return _api.made(Call, _register(name), args)


_register = _api.function("ir.RegisterOp")
