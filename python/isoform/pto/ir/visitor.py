"""Visitors and mutators: classes with a method for each class of the IR.

They extend the classes of `isoform.visitors`, and also apply replaced definitions to
the uses of their variables.
"""

from __future__ import annotations

import functools
from typing import Any

from isoform import _core
from isoform.container import Array
from isoform.structural import structural_map
from isoform.visitors import NodeMutator, NodeVisitor, end_of_defaults

__all__ = ["IRMutator", "IRVisitor"]


class IRVisitor(NodeVisitor, dialect="pto"):
    """A visitor with a method for each class of the IR.

    Subclasses override `visit_add`, `visit_for_stmt`, `visit_var` and so on. Classes
    without an override use the method of the parent class (`visit_binary_expr`,
    `visit_expr`), up to `visit_node`, which by default visits the nodes below. An
    override continues below its node with `super().visit_add(op)`, `self.visit(child)`
    or `yield child`; otherwise the nodes below are skipped. Calling a method with a
    node other than its own equals `self.visit`. An override that returns a
    `isoform.VisitInterrupt` ends the visit; any other override must return None.

    An object is visited once, at its first occurrence, and ignored fields are not
    visited. Depth is limited by memory only where methods are generators, and below
    nodes without override; overrides that call `super()` nest in Python, and raise
    RecursionError when they nest too deeply.

    >>> from isoform.pto import DataType, ir
    >>> class Names(ir.IRVisitor):
    ...     def __init__(self):
    ...         self.names = []
    ...
    ...     def visit_var(self, op):
    ...         self.names.append(op.name_hint)
    >>> x, y = (ir.Var(name, ir.ScalarType(DataType.INT64), ir.Span.unknown()) for name in "xy")
    >>> names = Names()
    >>> names.visit(ir.add(ir.add(x, y), x))
    >>> names.names
    ['x', 'y']
    """

    _end = "visit_node"

    @end_of_defaults("visit_node")
    def visit_node(self, op: Any) -> Any:
        """Visits the children of a node: the end of all defaults."""
        return self._below(op)


class IRMutator(NodeMutator, dialect="pto"):
    """A rewriter with a method for each class of the IR.

    Methods are found as in `IRVisitor`, and return the replacement of a node.
    `super().visit_add(op)` returns the node with all children rewritten, and
    `self.visit(child)` or `yield child` the replacement of a child. An unchanged node
    is returned as the same object.

    A shared object is rewritten once, and its result is shared in the same way. A
    variable replaced at its definition is replaced in its uses: when `visit_var`
    returns another variable, when an override returns a node of the same class with
    another variable in a definition field, or after `remap`.

    Depth is as for `IRVisitor`.

    >>> from isoform.pto import DataType, ir
    >>> class Double(ir.IRMutator):
    ...     def visit_const_int(self, op):
    ...         return ir.ConstInt(2 * op.value, op.dtype, op.span)
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    >>> Double().visit(ir.add(x, 21)).right.value
    42
    >>> Double().visit(x) is x
    True
    """

    _end = "visit_node"

    @end_of_defaults("visit_node")
    def visit_node(self, op: Any) -> Any:
        """Returns a node with all children rewritten: the end of all defaults."""
        return self._below(op)

    def _accept(self, node: Any, result: Any) -> Any:
        result = super()._accept(node, result)
        if type(result) is type(node):
            return _redefine(node, result, self._engine)
        return result


@functools.cache
def _definition_fields(cls: type[Any]) -> tuple[str, ...]:
    info: Any = _core.type_info(cls)
    names: list[str] = []
    while info is not None:
        names += [field.name for field in info.fields if field.structural_eq in _DEFINES]
        info = info.parent_type_info
    return tuple(names)


_DEFINES = ("def", "def-recursive", "def-simple", "def-non-recursive")


# The definition fields with variables used inside of their node.
_INSIDE = ("loop_var", "iter_args", "params")


def _redefine(old: Any, new: Any, engine: Any) -> Any:
    """Returns `new`, the replacement of `old`, after recording that the variables
    defined by `new` replace those defined by `old`.
    """
    inside: dict[int, tuple[Any, Any]] = {}
    for name in _definition_fields(type(old)):
        before, after = getattr(old, name), getattr(new, name)
        pairs = zip(before, after, strict=False) if _is_sequence(before) else [(before, after)]
        if _is_sequence(before) and len(before) != len(after):
            continue
        for one, other in pairs:
            # Replacements made by the rewrite itself have already reached the uses.
            if one is other or engine.image(one) is other:
                continue
            if name in _INSIDE:
                inside[id(one)] = (one, other)
            else:
                engine.remap_uses(one, other)
    if not inside:
        return new

    def image(var: Any) -> Any:
        found = inside.get(id(var))
        return var if found is None else found[1]

    return structural_map(new, (_core.class_of("pto.Var"), image))


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Array)
