"""Operators and their attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.dataclasses import c_class

from . import _api
from .expr import RelayExpr

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Op", "register_intrin_lowering", "register_op_attr"]


@c_class("ir.Op")
class Op(RelayExpr):
    """Primitive operator in the IR, a single object per name.

    Operators are registered, for instance by `register_op_attr`, and found by
    `Op.get`; a call of the class raises RuntimeError.

    >>> from isoform import ir
    >>> _ = ir.register_op_attr("doc.op.relu", "TOpPattern", 1)
    >>> relu = ir.Op.get("doc.op.relu")
    >>> relu.get_attr("TOpPattern"), relu.has_attr("TOpPattern"), relu.get_attr("none")
    (1, True, None)
    """

    name: str

    @staticmethod
    def get(op_name: str) -> Op:
        """Return the operator of a name; AttributeError if none is registered.

        Args:
            op_name: The name.
        """
        return _get(op_name)

    @staticmethod
    def list_op_names() -> list[str]:
        """Return the names of all operators, sorted."""
        return list(_list_op_names())

    @property
    def op_type(self) -> Any:
        """The type of the operator; None if it was not set."""
        return _facts(self, "op_type")

    @property
    def description(self) -> str:
        """The description of the operator."""
        return _facts(self, "description")

    @property
    def arguments(self) -> Any:
        """The descriptions of the arguments, in order."""
        return _facts(self, "arguments")

    @property
    def attrs_type_key(self) -> str:
        """The type key of the attributes of its calls."""
        return _facts(self, "attrs_type_key")

    @property
    def num_inputs(self) -> int:
        """The number of inputs; -1 when it is not known."""
        return _facts(self, "num_inputs")

    @property
    def support_level(self) -> int:
        """The level of support; lower is more common."""
        return _facts(self, "support_level")


_get = _api.function("ir.Op.get")
_register = _api.function("ir.RegisterOp")
_list_op_names = _api.function("ir.Op.list_op_names")
_facts = _api.function("ir.Op.facts")


def register_op_attr(op_name: str, attr_key: str, value: Any = None, level: int = 10) -> Any:
    """Register an operator property of an operator by name; also as a decorator.

    Args:
        op_name: The name of the operator, added if missing.
        attr_key: The name of the attribute.
        value: The value; without it the result is a decorator.
        level: The priority: the highest one wins.

    Returns the value. Raises ValueError if the attribute is set already with
    the same priority.

    >>> from isoform import ir
    >>> @ir.register_op_attr("doc.op.scale", "FScale")
    ... def scale(x):
    ...     return 2 * x
    >>> ir.Op.get("doc.op.scale").get_attr("FScale")(4)
    8
    """

    def register(given: Any) -> Any:
        op: Any = _register(op_name)
        op.set_attr(attr_key, given, level)
        return given

    return register if value is None else register(value)


def register_intrin_lowering(
    op_name: str,
    target: str,
    *,
    f: Callable[..., Any] | None = None,
    level: int = 10,
) -> Any:
    """Register the function that lowers an operator for a target; also as a decorator.

    Args:
        op_name: The name of the operator.
        target: The target.
        f: The function; without it the result is a decorator.
        level: The priority: the highest one wins.

    The function is the attribute `<target>.FLowerIntrinsic` of the operator.
    """
    return register_op_attr(op_name, f"{target}.FLowerIntrinsic", f, level)
