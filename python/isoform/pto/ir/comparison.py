"""Comparison by structure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core

if TYPE_CHECKING:
    from typing import Literal

__all__ = ["assert_structural_equal", "field_kinds", "structural_equal", "structural_hash"]


def structural_equal(lhs: Any, rhs: Any, enable_auto_mapping: bool = False) -> bool:
    """Return whether two nodes are the same up to names and source locations.

    Args:
        lhs: A node.
        rhs: Another node.
        enable_auto_mapping: Pair the free variables of both nodes, one to one.
            Variables defined by a node are always paired, both at definitions and at
            uses.

    Linear in the number of distinct nodes.

    >>> from isoform.pto import DataType, ir
    >>> x, y = (ir.Var(name, DataType.INT64) for name in "xy")
    >>> ir.structural_equal(x + x, y + y), ir.structural_equal(x + x, y + y, True)
    (False, True)
    >>> ir.structural_equal(x + x, x + y, enable_auto_mapping=True)
    False
    """
    return _core.structural_equal(lhs, rhs, enable_auto_mapping)


def structural_hash(node: Any, enable_auto_mapping: bool = False) -> int:
    """Return a number that is equal for structurally equal nodes.

    Args:
        node: The node.
        enable_auto_mapping: As for the comparison.

    The number is the same in every run of a program. Linear in the number of
    distinct nodes.
    """
    return _core.structural_hash(node, enable_auto_mapping)


def assert_structural_equal(lhs: Any, rhs: Any, enable_auto_mapping: bool = False) -> None:
    """Raise StructuralError unless two nodes are structurally equal.

    The message says where and why they differ, and shows both sides.

    Args:
        lhs: A node.
        rhs: Another one.
        enable_auto_mapping: As for `structural_equal`.

    >>> from isoform.pto import DataType, ir
    >>> one, two = ir.ConstInt(1, DataType.INT64), ir.ConstInt(2, DataType.INT64)
    >>> ir.assert_structural_equal(one, two)
    Traceback (most recent call last):
    ...
    isoform.error.StructuralError: ...
    """
    _core.assert_structural_equal(lhs, rhs, enable_auto_mapping)


def field_kinds(cls: type) -> dict[str, Literal["ignored", "usual", "definition"]]:
    """Return how comparison treats the fields of a class, inherited fields first.

    Args:
        cls: A class of nodes.

    A field is ignored, usual, or a definition with binding variables.

    >>> from isoform.pto import ir
    >>> ir.field_kinds(ir.Add)
    {'span': 'ignored', 'type': 'usual', 'left': 'usual', 'right': 'usual'}
    """
    info: Any = _core.type_info(cls)
    lines: list[Any] = []
    while info is not None:
        lines.insert(0, info.fields)
        info = info.parent_type_info
    return {field.name: _KINDS[field.structural_eq] for fields in lines for field in fields}


_KINDS: dict[Any, Any] = {
    None: "usual",
    "use": "usual",
    "ignore": "ignored",
    "def": "definition",
    "def-simple": "definition",
}
