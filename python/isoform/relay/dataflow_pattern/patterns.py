"""The classes of dataflow patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from isoform._graph_pattern import Alternatives, Dominance, GraphPattern
from isoform._graph_search import is_equal
from isoform._messages import key_of
from isoform.container import Array
from isoform.dtype import dtype as _dtype
from isoform.ir import _api
from isoform.ir.op import Op
from isoform.structural import structural_equal
from isoform.types.ir import FloatImm, IntImm, TensorType
from isoform.types.relay import (
    Call,
    Constant,
    Function,
    If,
    Let,
    Tuple,
    TupleGetItem,
    Var,
)
from isoform.types.tir import StringImm

from .graph import ExprGraph, checked_expr, checked_pattern, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from isoform._graph import Graph
    from isoform._graph_pattern import Branch, Goal
    from isoform._graph_search import GraphMismatch

__all__ = [
    "AltPattern",
    "AttrPattern",
    "CallPattern",
    "ConstantPattern",
    "DFPattern",
    "DataTypePattern",
    "DominatorPattern",
    "ExprPattern",
    "FunctionPattern",
    "IfPattern",
    "LetPattern",
    "ShapePattern",
    "TupleGetItemPattern",
    "TuplePattern",
    "TypePattern",
    "VarPattern",
    "WildcardPattern",
]


class DFPattern(GraphPattern):
    """The base class of dataflow patterns.

    Operators of Python make larger patterns: a call `p(x, y)`, where `p(None)` has any number of
    arguments, `p + q`, `p - q`, `p * q`, `p / q`, and `p | q` for either.
    """

    is_local = True

    def __call__(self, *args: Any) -> CallPattern:
        """Return the pattern of a call of this pattern.

        Args:
            args: The patterns of the arguments, or None alone for any arguments.
        """
        return CallPattern(self, None if len(args) == 1 and args[0] is None else args)

    def __or__(self, other: Any) -> AltPattern:
        """Return the pattern for expressions of this pattern or, if it fails, of another one."""
        return AltPattern(self, other)

    def __add__(self, other: Any) -> CallPattern:
        """Return the pattern of a sum, in either order."""
        return CallPattern(ExprPattern(Op.get("add")), (self, other))

    def __sub__(self, other: Any) -> CallPattern:
        """Return the pattern of a difference."""
        return CallPattern(ExprPattern(Op.get("subtract")), (self, other))

    def __mul__(self, other: Any) -> CallPattern:
        """Return the pattern of a product, in either order."""
        return CallPattern(ExprPattern(Op.get("multiply")), (self, other))

    def __truediv__(self, other: Any) -> CallPattern:
        """Return the pattern of a quotient."""
        return CallPattern(ExprPattern(Op.get("divide")), (self, other))

    def has_attr(self, attrs: Mapping[str, Any]) -> AttrPattern:
        """Return the pattern that also asks for attributes; see `AttrPattern`.

        Args:
            attrs: The values by name.
        """
        return AttrPattern(self, attrs)

    def has_type(self, ttype: Any) -> TypePattern:
        """Return the pattern that also asks for a type.

        Args:
            ttype: The type.
        """
        return TypePattern(self, ttype)

    def has_dtype(self, dtype: Any) -> DataTypePattern:
        """Return the pattern that also asks for the data type of a tensor.

        Args:
            dtype: The data type.
        """
        return DataTypePattern(self, dtype)

    def has_shape(self, shape: Sequence[Any]) -> ShapePattern:
        """Return the pattern that also asks for the shape of a tensor.

        Args:
            shape: The sizes.
        """
        return ShapePattern(self, shape)

    def dominates(self, parent: Any, path: Any = None) -> DominatorPattern:
        """Return the pattern of this child with a parent above; see `DominatorPattern`.

        Args:
            parent: The pattern of the parent.
            path: The pattern of everything between; by default, anything.
        """
        return DominatorPattern(parent, WildcardPattern() if path is None else path, self)

    def match(self, expr: Any) -> bool:
        """Return whether the pattern matches an expression.

        Args:
            expr: The expression.

        Errors and cost are those of `isoform.pattern.GraphPattern.match`; the program below is
        visited only for types and dominators. Raises TypeError for anything but an expression.
        """
        graph = ExprGraph(checked_expr(expr, "match"))
        return graph.match(self, graph.root) is not None

    def explain(self, expr: Any) -> GraphMismatch | None:
        """Return the place and the reason why an expression does not match; None if it does.

        Args:
            expr: The expression.
        """
        return super().explain(ExprGraph(checked_expr(expr, "explain")))

    def partition(
        self,
        expr: Any,
        attrs: Mapping[str, Any] | None = None,
        check: Callable[[Any], bool] = lambda _expr: True,
    ) -> Any:
        """Return the expression with calls of new functions in the place of matches.

        Args:
            expr: The expression.
            attrs: Attributes of the functions.
            check: Returns whether to replace a match, given the expression that matched.
        """
        from .rewriting import partition

        return partition(self, expr, attrs, check)


class WildcardPattern(DFPattern):
    """Matches any expression."""

    def __init__(self) -> None:
        """Make the pattern."""
        self.pattern: Any = None

    def redirect_to(self, pat: Any) -> None:
        """Let this pattern stand for another one, which may contain this pattern.

        Such a pattern inside of itself matches a structure of any depth, and is bound to an
        expression at every level.

        Args:
            pat: The other pattern. The first match raises ValueError if it leads back to this
                pattern without an expression between: `w.redirect_to(w | is_var())`.
        """
        self.pattern = checked_pattern(pat, "WildcardPattern.redirect_to")

    def parts(self) -> Sequence[GraphPattern]:
        """Return the other pattern, or nothing before `redirect_to`."""
        return () if self.pattern is None else (self.pattern,)

    aliases = parts

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the only way."""
        return ((),) if self.pattern is None else (((self.pattern, value),),)


class VarPattern(DFPattern):
    """Matches variables.

    Args:
        name_hint: The name; by default, any.
    """

    def __init__(self, name_hint: str = "") -> None:
        """Make the pattern from a name."""
        self.name = name_hint

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the only way for a variable of this name."""
        if not isinstance(value, Var):
            return _expected(Var, value)
        if self.name and value.name_hint != self.name:
            return f"expected a variable {self.name!r}, got {value.name_hint!r}"
        return ((),)


class ConstantPattern(DFPattern):
    """Matches constants, which become part of a partitioned function."""

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the only way for a constant."""
        return ((),) if isinstance(value, Constant) else _expected(Constant, value)

    def inputs(self, value: Any) -> Sequence[Any]:  # noqa: ARG002
        """Return no input: the constant is part of the group."""
        return ()


class ExprPattern(DFPattern):
    """Matches expressions that are structurally equal to an expression.

    Args:
        expr: The expression.
    """

    def __init__(self, expr: Any) -> None:
        """Make the pattern of an expression."""
        self.expr = checked_expr(expr, "ExprPattern.expr")

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the only way for an equal expression."""
        if is_equal(self.expr, value):
            return ((),)
        if isinstance(self.expr, Op):
            return f"expected the operator {self.expr.name}, got {name_of(value)}"
        return f"expected an expression equal to the given {key_of(self.expr)}, got {key_of(value)}"

    def inputs(self, value: Any) -> Sequence[Any]:
        """Return the expression, unless it is a constant, which is part of the group."""
        return () if isinstance(value, Constant) else (value,)


class CallPattern(DFPattern):
    """Matches calls.

    The arguments of `add` and `multiply` match in either order, and `(a * b) / c` matches
    `a * (b / c)` as well, and the reverse.

    Args:
        op: The pattern of the callee.
        args: The patterns of the arguments; None for any arguments.
    """

    def __init__(self, op: Any, args: Sequence[Any] | None) -> None:
        """Make the pattern from the patterns of callee and arguments."""
        self.op = checked_pattern(op, "CallPattern.op")
        self.args = None if args is None else _patterns(args, "CallPattern.args")
        self._op = op.expr if isinstance(op, ExprPattern) and isinstance(op.expr, Op) else None

    def parts(self) -> Sequence[GraphPattern]:
        """Return the patterns of callee and arguments."""
        return (self.op, *(self.args or ()))

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the goals for callee and arguments, for each order of the arguments."""
        if not isinstance(value, Call):
            return _expected(Call, value)
        callee = value.op
        if self._op is not None and callee is not self._op:
            others = self._regrouped(value)
            if others:
                return [((other, value),) for other in others]
            return f"expected the operator {self._op.name}, got {name_of(callee)}"
        if self.args is None:
            return (((self.op, callee),),)
        given = value.args
        if len(given) != len(self.args):
            return f"expected {len(self.args)} arguments, got {len(given)}"
        goals: list[Goal] = [(self.op, callee), *zip(self.args, given, strict=True)]
        if self._name in ("add", "multiply") and len(given) == 2:
            swapped = [goals[0], (self.args[1], given[0]), (self.args[0], given[1])]
            return [goals, swapped]
        return (goals,)

    def inputs(self, value: Any) -> Sequence[Any]:
        """Return the arguments if any arguments match."""
        return value.args if self.args is None else ()

    @property
    def _name(self) -> str:
        return "" if self._op is None else self._op.name

    def _regrouped(self, value: Any) -> list[CallPattern]:
        """The pattern of a product and a quotient, for a call of the other one outside."""
        swapped = {"divide": "multiply", "multiply": "divide"}
        outer = swapped.get(self._name)
        args = self.args or ()
        if outer is None or name_of(value.op) != outer or len(args) != 2:
            return []
        if not any(isinstance(arg, Call) and name_of(arg.op) == self._name for arg in value.args):
            return []
        found: list[CallPattern] = []
        made: list[CallPattern] = []
        for arg, other in (args, args[::-1])[: 1 if self._name == "divide" else 2]:
            if not isinstance(arg, CallPattern) or arg._name != outer or len(arg.args or ()) != 2:
                continue
            first, second = arg.args or (arg, arg)
            if self._name == "multiply":
                # (a / b) * c, matched with (a * c) / b.
                made.append(CallPattern(self.op, [first, other]))
                found.append(CallPattern(arg.op, [made[-1], second]))
            else:
                # (a * b) / c, matched with b * (a / c) and a * (b / c).
                for inner, rest in ((first, second), (second, first)):
                    made.append(CallPattern(self.op, [inner, other]))
                    found.append(CallPattern(arg.op, [rest, made[-1]]))
        for pattern in (*made, *found):
            pattern.is_hidden = True
        return found


class FunctionPattern(DFPattern):
    """Matches functions.

    Args:
        params: The patterns of the parameters; None for any parameters.
        body: The pattern of the body.
    """

    def __init__(self, params: Sequence[Any] | None, body: Any) -> None:
        """Make the pattern from the patterns of parameters and body."""
        self.params = None if params is None else _patterns(params, "FunctionPattern.params")
        self.body = checked_pattern(body, "FunctionPattern.body")

    def parts(self) -> Sequence[GraphPattern]:
        """Return the patterns of parameters and body."""
        return (*(self.params or ()), self.body)

    def interior(self) -> Sequence[GraphPattern]:
        """Return the same patterns: the function is called as a whole."""
        return self.parts()

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the goals for parameters and body."""
        if not isinstance(value, Function):
            return _expected(Function, value)
        params = () if self.params is None else self.params
        if self.params is not None and len(params) != len(value.params):
            return f"expected {len(params)} parameters, got {len(value.params)}"
        return ([*zip(params, value.params, strict=False), (self.body, value.body)],)


class TuplePattern(DFPattern):
    """Matches tuples.

    Args:
        fields: The patterns of the fields; None for any fields.
    """

    def __init__(self, fields: Sequence[Any] | None) -> None:
        """Make the pattern from the patterns of fields."""
        self.fields = None if fields is None else _patterns(fields, "TuplePattern.fields")

    def parts(self) -> Sequence[GraphPattern]:
        """Return the patterns of the fields."""
        return self.fields or ()

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the goals for the fields."""
        if not isinstance(value, Tuple):
            return _expected(Tuple, value)
        if self.fields is None:
            return ((),)
        if len(self.fields) != len(value.fields):
            return f"expected {len(self.fields)} fields, got {len(value.fields)}"
        return (list(zip(self.fields, value.fields, strict=True)),)

    def inputs(self, value: Any) -> Sequence[Any]:
        """Return the fields if any fields match."""
        return value.fields if self.fields is None else ()


class _FieldsPattern(DFPattern):
    """A pattern of a class of expressions, with a pattern for each of some fields."""

    # The class, and its fields by the names of the patterns.
    cls: type[Any]
    fields_of: dict[str, str]

    def __init__(self, *patterns: Any) -> None:
        for name, pattern in zip(self.fields_of, patterns, strict=True):
            setattr(self, name, checked_pattern(pattern, f"{type(self).__name__}.{name}"))

    def parts(self) -> Sequence[GraphPattern]:
        """Return the patterns of the fields."""
        return tuple(getattr(self, name) for name in self.fields_of)

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:  # noqa: ARG002
        """Return the goals for the fields."""
        if not isinstance(value, self.cls):
            return _expected(self.cls, value)
        names = self.fields_of.items()
        return ([(getattr(self, name), getattr(value, field)) for name, field in names],)


class TupleGetItemPattern(_FieldsPattern):
    """Matches items of tuples.

    Args:
        tuple_value: The pattern of the tuple.
        index: The index; None or -1 for any index.
    """

    cls = TupleGetItem
    fields_of = {"tuple": "tuple_value"}  # noqa: RUF012

    def __init__(self, tuple_value: Any, index: int | None = None) -> None:
        """Make the pattern from the pattern of a tuple and an index."""
        super().__init__(tuple_value)
        self.index = -1 if index is None else index

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:
        """Return the goal for the tuple if the index fits."""
        if isinstance(value, TupleGetItem) and self.index not in (-1, value.index):
            return f"expected the index {self.index}, got {value.index}"
        return super().branches(value, graph)


class IfPattern(_FieldsPattern):
    """Matches choices.

    Args:
        cond: The pattern of the condition.
        true_branch: The pattern of the value for a true condition.
        false_branch: The pattern of the value for a false condition.
    """

    cls = If
    fields_of = {name: name for name in ("cond", "true_branch", "false_branch")}  # noqa: RUF012

    def __init__(self, cond: Any, true_branch: Any, false_branch: Any) -> None:
        """Make the pattern from those of the parts."""
        super().__init__(cond, true_branch, false_branch)


class LetPattern(_FieldsPattern):
    """Matches bindings.

    Args:
        var: The pattern of the variable.
        value: The pattern of its value.
        body: The pattern of the result.
    """

    cls = Let
    fields_of = {name: name for name in ("var", "value", "body")}  # noqa: RUF012

    def __init__(self, var: Any, value: Any, body: Any) -> None:
        """Make the pattern from those of the parts."""
        super().__init__(var, value, body)

    def interior(self) -> Sequence[GraphPattern]:
        """Return the pattern of the variable, which the binding itself introduces."""
        return self.parts()[:1]


class AltPattern(DFPattern, Alternatives):
    """Matches the expressions of either pattern; the left one first.

    Args:
        left: A pattern.
        right: The other pattern.
    """

    def __init__(self, left: Any, right: Any) -> None:
        """Make the pattern from two others."""
        self.left = checked_pattern(left, "AltPattern.left")
        self.right = checked_pattern(right, "AltPattern.right")
        super().__init__(self.left, self.right)


class DominatorPattern(DFPattern, Dominance):
    """Matches a child that all paths from a parent lead to, as `isoform.pattern.Dominance`.

    Callees are no operands, so operators and functions do not have to match the path.

    Args:
        parent: The pattern of the expression above.
        path: The pattern of every expression between.
        child: The pattern of the expression below.
    """

    is_local = False

    def __init__(self, parent: Any, path: Any, child: Any) -> None:
        """Make the pattern from those of parent, path and child."""
        Dominance.__init__(
            self,
            checked_pattern(parent, "DominatorPattern.parent"),
            checked_pattern(path, "DominatorPattern.path"),
            checked_pattern(child, "DominatorPattern.child"),
        )


class _Restriction(DFPattern):
    """A pattern whose expressions have to meet a condition as well."""

    def __init__(self, pattern: Any) -> None:
        self.pattern = checked_pattern(pattern, f"{type(self).__name__}.pattern")

    def parts(self) -> Sequence[GraphPattern]:
        """Return the pattern inside."""
        return (self.pattern,)

    aliases = parts

    def branches(self, value: Any, graph: Graph) -> str | Iterable[Branch]:
        """Return the goal for the pattern inside if the condition holds."""
        return self._problem(value, cast("ExprGraph", graph)) or (((self.pattern, value),),)

    def _problem(self, value: Any, graph: ExprGraph) -> str | None:
        """The reason why an expression does not meet the condition."""
        raise NotImplementedError


class AttrPattern(_Restriction):
    """Matches expressions with attributes.

    Attributes of an operator are those of its registration, attributes of a call the fields of
    `call.attrs`, and attributes of a function those of `func.attrs`. Other expressions have
    none. Numbers, strings and data types are compared as values.

    Args:
        pattern: The pattern.
        attrs: The values by name, or `DictAttrs`.
    """

    def __init__(self, pattern: Any, attrs: Mapping[str, Any]) -> None:
        """Make the pattern from a pattern and attributes."""
        super().__init__(pattern)
        if not hasattr(attrs, "items"):
            raise TypeError(
                f"AttrPattern.attrs: expected values by name, got {key_of(attrs)}; write a dict "
                'such as {"axis": 1}'
            )
        self.attrs = dict(attrs.items())

    def _problem(self, value: Any, graph: ExprGraph) -> str | None:  # noqa: ARG002
        for name, wanted in self.attrs.items():
            known, given = _attribute(value, name)
            if not known:
                return f"expected an attribute {name!r}, got {key_of(value)} without it"
            if not _same_attribute(wanted, given):
                return f"attribute {name!r}: expected {wanted!r}, got {given!r}"
        return None


class TypePattern(_Restriction):
    """Matches expressions of a type.

    Types are inferred for the whole program, once. An expression whose type cannot be inferred
    does not match; `explain` gives the problem.

    Args:
        pattern: The pattern.
        ttype: The type.
    """

    is_local = False

    def __init__(self, pattern: Any, ttype: Any) -> None:
        """Make the pattern from a pattern and a type."""
        super().__init__(pattern)
        self.type = ttype

    def _problem(self, value: Any, graph: ExprGraph) -> str | None:
        given, problem = graph.type_of(value)
        if problem or structural_equal(self.type, given):
            return problem
        return f"expected the type {self.type}, got {given}"


class DataTypePattern(_Restriction):
    """Matches tensors of a data type; see `TypePattern`.

    Args:
        pattern: The pattern.
        dtype: The data type.
    """

    is_local = False

    def __init__(self, pattern: Any, dtype: Any) -> None:
        """Make the pattern from a pattern and a data type."""
        super().__init__(pattern)
        self.dtype = str(_dtype(dtype))

    def _problem(self, value: Any, graph: ExprGraph) -> str | None:
        given, problem = graph.tensor_type_of(value)
        if problem or str(given.dtype) == self.dtype:
            return problem
        return f"expected the data type {self.dtype}, got {given.dtype}"


class ShapePattern(_Restriction):
    """Matches tensors of a shape; see `TypePattern`.

    Args:
        pattern: The pattern.
        shape: The sizes, numbers or expressions.
    """

    is_local = False

    def __init__(self, pattern: Any, shape: Sequence[Any]) -> None:
        """Make the pattern from a pattern and a shape."""
        super().__init__(pattern)
        self.shape = Array(shape)
        self._sizes = _api.made(TensorType, shape, "float32").shape

    def _problem(self, value: Any, graph: ExprGraph) -> str | None:
        given, problem = graph.tensor_type_of(value)
        if problem or structural_equal(self._sizes, given.shape):
            return problem
        return f"expected the shape {_plain(self._sizes)}, got {_plain(given.shape)}"


def _attribute(value: Any, name: str) -> tuple[bool, Any]:
    """Return whether an expression has an attribute, and its value."""
    if isinstance(value, Op):
        op: Any = value
        return bool(op.has_attr(name)), op.get_attr(name)
    if isinstance(value, Call | Function):
        attrs: Any = value.attrs
        if attrs is not None and name in attrs.keys():  # noqa: SIM118
            return True, attrs[name]
    return False, None


def _same_attribute(wanted: Any, given: Any) -> bool:
    left, right = _plain(wanted), _plain(given)
    if isinstance(left, str) or isinstance(right, str):
        return str(left) == str(right)
    if isinstance(left, _PLAIN) or isinstance(right, _PLAIN):
        return isinstance(left, float) == isinstance(right, float) and left == right
    return structural_equal(wanted, given)


_PLAIN = (bool, int, float, list)


def _plain(value: Any) -> Any:
    """A value of an attribute as a value of Python, where there is one."""
    if isinstance(value, IntImm | FloatImm | StringImm):
        return value.value
    if isinstance(value, Array | list | tuple):
        return [_plain(item) for item in value]
    return value


def _expected(cls: type[Any], value: Any) -> str:
    return f"expected {key_of(cls)}, got {key_of(value)}"


def _patterns(values: Sequence[Any], place: str) -> tuple[Any, ...]:
    if isinstance(values, GraphPattern):
        raise TypeError(f"{place}: expected a sequence of DFPatterns, got {type(values).__name__}")
    return tuple(checked_pattern(value, f"{place}[{i}]") for i, value in enumerate(values))
