"""Expressions as graphs, with types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform._graph import Graph
from isoform._graph_pattern import GraphPattern
from isoform._messages import key_of
from isoform.container import Array
from isoform.ir import _api
from isoform.ir.diagnostics import DiagnosticError
from isoform.ir.expr import GlobalVar, RelayExpr
from isoform.ir.op import Op
from isoform.relay.expr import TupleWrapper
from isoform.types.ir import Constructor, TensorType
from isoform.types.relay import (
    Call,
    Constant,
    Function,
    If,
    Let,
    Match,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isoform._graph_groups import Group

__all__ = ["ExprGraph", "Inference", "checked_expr", "checked_pattern", "name_of"]

_bound_vars = _api.function("relay.analysis.bound_vars")
_infer_expr = _api.function("relay._transform.InferTypeExpr")
_with_fields = _api.function("relay.ir.with_fields")
_infer_module = _api.function("relay._transform.InferTypeModule")


# The fields with the expressions inside of an expression.
_PARTS: dict[type[Any], tuple[str, ...]] = {
    Call: ("op", "args"),
    Function: ("params", "body"),
    If: ("cond", "true_branch", "false_branch"),
    Let: ("var", "value", "body"),
    RefCreate: ("value",),
    RefRead: ("ref",),
    RefWrite: ("ref", "value"),
    Tuple: ("fields",),
    TupleGetItem: ("tuple_value",),
}


_COMMON = (Op, Function, Constant, GlobalVar, Constructor)


class ExprGraph(Graph):
    """An expression as a graph, with the types of its vertices.

    Args:
        root: The expression.
        mod: The module that defines the functions named in the expression, for inference.

    >>> from isoform import relay
    >>> from isoform.relay.dataflow_pattern import is_op, wildcard
    >>> x = relay.var("x")
    >>> graph = ExprGraph(relay.exp(relay.exp(x)))
    >>> [group] = graph.groups(is_op("exp")(is_op("exp")(wildcard())))
    >>> group.inputs[0] is x
    True
    """

    def __init__(self, root: Any, mod: Any = None) -> None:
        """Make the graph of an expression, which is visited at the first question."""
        super().__init__(checked_expr(root, "ExprGraph.root"))
        self._inference = mod if isinstance(mod, Inference) else Inference(mod)
        self._bound: set[int] | None = None
        # The vertices with their types, or the problem of inference.
        self._typed: dict[int, Any] = {}

    def parts_of(self, value: Any) -> Sequence[Any]:
        """The expressions directly inside of an expression."""
        if isinstance(value, Match):
            return [value.data, *(clause.rhs for clause in value.clauses)]
        found: list[Any] = []
        for name in _PARTS.get(type(value), ()):
            part = getattr(value, name)
            if isinstance(part, Array):
                found.extend(part)
            else:
                found.append(part)
        return found

    def sources(self, value: Any) -> Sequence[Any]:
        """The parts without the callee."""
        return value.args if isinstance(value, Call) else self.parts_of(value)

    def certain_parts(self, value: Any) -> Sequence[Any]:
        """Return the parts that are not in a scope or a branch of an expression."""
        return [value.data] if isinstance(value, Match) else super().certain_parts(value)

    def bound(self, value: Any) -> Sequence[Any]:
        """Return the variables that an expression binds."""
        if isinstance(value, Match):
            return [var for clause in value.clauses for var in _bound_vars(clause.lhs)]
        return super().bound(value)

    def has_effect(self, value: Any) -> bool:
        """Return whether an expression has effects; those of a called function are inside of it."""
        is_inside = isinstance(value, Call) and isinstance(value.op, Function)
        return not is_inside and super().has_effect(value)

    def rebuilt(self, value: Any, image: Callable[[Any], Any]) -> Any:
        """An expression with other parts."""
        if isinstance(value, Match):
            return super().rebuilt(value, image)
        fields = {name: getattr(value, name) for name in _PARTS[type(value)]}
        for name, part in fields.items():
            fields[name] = [image(p) for p in part] if isinstance(part, Array) else image(part)
        return _with_fields(value, fields)

    def is_common(self, value: Any) -> bool:
        """Return whether programs share an expression: an operator, a function, a constant."""
        return isinstance(value, _COMMON)

    def is_input(self, value: Any) -> bool:
        """Return whether an expression can be an argument of a partitioned function."""
        return isinstance(value, Constant) or not isinstance(value, _COMMON)

    def is_sealed(self, value: Any) -> bool:
        """Return whether a function was made by a partition."""
        return isinstance(value, Function) and "PartitionedFromPattern" in (value.attrs or ())

    def is_root(self, value: Any) -> bool:
        """Return whether an expression may be replaced: all but variables where they are bound."""
        if self._bound is None:
            self._bound = set()
            for vertex in self.vertices:
                if isinstance(vertex, Function):
                    self._bound.update(id(param) for param in vertex.params)
                elif isinstance(vertex, Let):
                    self._bound.add(id(vertex.var))
        return id(value) not in self._bound

    def is_leak(self, user: int, root: int) -> bool:
        """Return whether a use outside does not lead back to the root alone."""
        return not self.is_dominated(user, root)

    def group_name(self, group: Group) -> str:
        """The text for the classes and operators of a group, operands first."""
        names: list[str] = []
        for number in self.closure(group):
            vertex = self.vertices[number]
            if isinstance(vertex, Call):
                names.append((name_of(vertex.op) if isinstance(vertex.op, Op) else "Call") + "_")
            elif isinstance(vertex, Function):
                names.append("Function")
            elif isinstance(vertex, TupleGetItem):
                names.append(f"TupleGetItem{vertex.index}_")
            elif isinstance(vertex, Tuple | Let | If | Match):
                names.append(f"{type(vertex).__name__}_")
        return "".join(names)

    def tensor_type_of(self, value: Any) -> tuple[Any, str | None]:
        """The type of a tensor, or None and the problem."""
        found, problem = self.type_of(value)
        if problem or isinstance(found, TensorType):
            return found, problem
        return None, f"expected a tensor, got a value of the type {found}"

    def type_of(self, value: Any) -> tuple[Any, str | None]:
        """The type of an expression, or None and the problem."""
        number = self.number(value)
        if number not in self._typed and not self._typed:
            self._infer(self.root)
        if number not in self._typed:
            self._infer(value)
        found = self._typed[number]
        if isinstance(found, str):
            return None, found
        if found.checked_type_ is None:
            return None, f"expected an expression with a type, got {key_of(value)}"
        return found.checked_type_, None

    def _infer(self, expr: Any) -> None:
        """Infer the types of an expression and everything inside."""
        try:
            pending = [(expr, self._inference.typed(expr))]
        except DiagnosticError as error:
            self._typed[self.number(expr)] = f"no type can be inferred: {error}"
            return
        while pending:
            vertex, typed = pending.pop()
            number = self.number(vertex)
            if isinstance(self._typed.get(number, ""), str):
                self._typed[number] = typed
                pending.extend(zip(self.parts_of(vertex), self.parts_of(typed), strict=True))


class Inference:
    """Type inference with the functions of a module, whose types are inferred once."""

    def __init__(self, mod: Any) -> None:
        self._mod = mod
        self._is_typed = mod is None

    def typed(self, expr: Any) -> Any:
        """The expression with all types; DiagnosticError if there is a problem."""
        if not self._is_typed:
            self._mod = _infer_module(self._mod)
            self._is_typed = True
        return _infer_expr(expr, self._mod)


def name_of(value: Any) -> str:
    """The name of an operator; the type key of anything else."""
    return value.name if isinstance(value, Op) else key_of(value)


def checked_expr(value: Any, place: str) -> Any:
    """An argument that has to be an expression."""
    if isinstance(value, TupleWrapper):
        return value.astuple()
    if not isinstance(value, RelayExpr):
        raise TypeError(f"{place}: expected an expression of Relay, got {key_of(value)}")
    return value


def checked_pattern(value: Any, place: str) -> Any:
    """An argument that has to be a pattern."""
    if isinstance(value, GraphPattern):
        return value
    hint = "; write is_expr(...) for one expression" if isinstance(value, RelayExpr) else ""
    raise TypeError(f"{place}: expected a DFPattern, got {key_of(value)}{hint}")
