"""Questions about programs: variables, constants, kinds, features, calls."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from isoform.ir import _api
from isoform.ir.type import TypeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "CallGraph",
    "Feature",
    "all_dtypes",
    "all_type_vars",
    "all_vars",
    "bound_type_vars",
    "bound_vars",
    "check_basic_block_normal_form",
    "check_constant",
    "check_kind",
    "check_well_formed",
    "count_layers",
    "detect_feature",
    "expr_ref_counts",
    "extract_fused_functions",
    "extract_intermdeiate_expr",
    "extract_intermediate_expr",
    "free_type_vars",
    "free_vars",
    "get_total_mac_number",
    "list_op_freqs",
    "post_order_visit",
    "unmatched_cases",
    "well_formed",
]


def _function(name: str) -> Callable[..., Any]:
    return _api.function(f"relay.analysis.{name}")


_post_order_visit = _function("post_order_visit")
_expr_ref_counts = _function("expr_ref_counts")
_well_formed = _function("well_formed")
_check_well_formed = _function("check_well_formed")
_check_constant = _function("check_constant")
_check_kind = _function("check_kind")
_check_basic_block_normal_form = _function("check_basic_block_normal_form")
_free_vars = _function("free_vars")
_bound_vars = _function("bound_vars")
_all_vars = _function("all_vars")
_free_type_vars = _function("free_type_vars")
_bound_type_vars = _function("bound_type_vars")
_all_type_vars = _function("all_type_vars")
_detect_feature = _function("detect_feature")
_call_graph = _function("call_graph")
_unmatched_cases = _function("unmatched_cases")
_list_op_freqs = _function("list_op_freqs")
_count_layers = _function("count_layers")
_all_dtypes = _function("all_dtypes")
_total_mac_number = _function("get_total_mac_number")
_extract_intermediate_expr = _function("extract_intermediate_expr")
_extract_fused_functions = _function("extract_fused_functions")


def post_order_visit(expr: Any, fvisit: Callable[[Any], Any]) -> None:
    """Call a function once for each expression, after the expressions below.

    Operators, global variables and constructors are expressions, too; types, attributes
    and patterns are not visited. Parameters come before the body of a function, the value
    of a binding before its variable and its body.

    Args:
        expr: The expression.
        fvisit: The function; results are ignored.

    Depth is limited by memory only. Linear in the number of expressions.

    >>> from isoform import relay
    >>> x = relay.var("x")
    >>> order = []
    >>> relay.analysis.post_order_visit(relay.Tuple([x, x]), lambda e: order.append(type(e)))
    >>> [cls.__name__ for cls in order]
    ['Var', 'Tuple']
    """
    _post_order_visit(expr, lambda part: (fvisit(part), None)[1])


def expr_ref_counts(expr: Any) -> list[tuple[Any, int]]:
    """Return the expressions in post-order, with the number of places of each.

    Args:
        expr: The expression; the root itself counts as a place.

    Linear in the number of expressions.
    """
    return [(part, count) for part, count in _expr_ref_counts(expr)]


def well_formed(expr: Any) -> bool:
    """Return whether all variables are bound once, and used only in scope.

    A node on several paths is one place, and free variables are allowed.

    Args:
        expr: The expression.

    Linear in the number of expressions.

    >>> from isoform import relay
    >>> x, one = relay.var("x"), relay.const(1)
    >>> relay.analysis.well_formed(relay.Let(x, one, x))
    True
    >>> relay.analysis.well_formed(relay.Let(x, one, relay.Let(x, one, x)))
    False
    """
    return _well_formed(expr)


def check_well_formed(expr: Any) -> None:
    """Raise ValueError with the variable unless the expression is `well_formed`.

    Args:
        expr: The expression.
    """
    _check_well_formed(expr)


def check_constant(expr: Any) -> bool:
    """Return whether an expression is a constant, or a tuple of such expressions.

    Calls of `on_device` count like their argument. A variable bound to a constant is
    not a constant.

    Args:
        expr: The expression.

    Linear in the number of expressions.
    """
    return _check_constant(expr)


def check_kind(t: Any, mod: Any = None) -> TypeKind:
    """Return the kind of a type, after checking the kinds of all types in it.

    Args:
        t: The type.
        mod: The module that defines the data types.

    Raises TypeError that names the place of a type of the wrong kind, ValueError for a
    data type that the module does not define. Linear in the number of objects.

    >>> from isoform import relay
    >>> relay.analysis.check_kind(relay.TupleType([relay.scalar_type("int32")])).name
    'Type'
    """
    return TypeKind(_check_kind(t, mod))


def check_basic_block_normal_form(expr: Any) -> bool:
    """Return True if what several blocks use is bound by a let.

    The body of a function, a branch of an `If` and the result of a clause are blocks.
    An expression first used in a block around all other uses needs no let.

    Args:
        expr: The expression.

    Otherwise raises ValueError with an expression used by several blocks. Linear in the
    number of expressions.
    """
    return _check_basic_block_normal_form(expr)


def free_vars(expr: Any) -> Any:
    """Return the variables used outside of their bindings, in order of occurrence.

    Scopes count: a variable bound by a function is free next to the function.

    Args:
        expr: The expression.

    Linear in the number of objects if each variable is bound once.
    """
    return _free_vars(expr)


def bound_vars(expr: Any) -> Any:
    """Return the variables that an expression or a pattern binds, in order of occurrence.

    Args:
        expr: The expression or pattern.

    Linear in the number of objects.
    """
    return _bound_vars(expr)


def all_vars(expr: Any) -> Any:
    """Return the variables of an expression or a pattern, in order of occurrence.

    Args:
        expr: The expression or pattern.

    Linear in the number of objects.

    >>> from isoform import relay
    >>> x, y, z = (relay.var(name) for name in "xyz")
    >>> [v.name_hint for v in relay.analysis.all_vars(relay.Function([x, y], z))]
    ['x', 'y', 'z']
    """
    return _all_vars(expr)


def free_type_vars(expr: Any, mod: Any = None) -> Any:
    """Return the free type variables of an expression or a type.

    Args:
        expr: The expression or type.
        mod: The module that defines the data types of constructors.

    They are in order of occurrence. The annotated result of a function is not searched.
    Linear in the number of objects.
    """
    return _free_type_vars(expr, mod)


def bound_type_vars(expr: Any, mod: Any = None) -> Any:
    """Return the type parameters of functions and types in an expression or a type.

    Args:
        expr: The expression or type.
        mod: The module that defines the data types of constructors.

    They are in order of occurrence. Linear in the number of objects.
    """
    return _bound_type_vars(expr, mod)


def all_type_vars(expr: Any, mod: Any = None) -> Any:
    """Return the type variables of an expression or a type.

    Args:
        expr: The expression or type.
        mod: The module that defines the data types of constructors.

    They are in order of occurrence. Linear in the number of objects.
    """
    return _all_type_vars(expr, mod)


class Feature(IntEnum):
    """The features of the language in a program."""

    fVar = 0  # noqa: N815
    fGlobalVar = 1  # noqa: N815
    fConstant = 2  # noqa: N815
    fTuple = 3  # noqa: N815
    fTupleGetItem = 4  # noqa: N815
    fFunction = 5  # noqa: N815
    fOp = 6  # noqa: N815
    fCall = 7  # noqa: N815
    fLet = 8  # noqa: N815
    fIf = 9  # noqa: N815
    fRefCreate = 10  # noqa: N815
    fRefRead = 11  # noqa: N815
    fRefWrite = 12  # noqa: N815
    fConstructor = 13  # noqa: N815
    fMatch = 14  # noqa: N815
    fGraph = 15  # noqa: N815
    """An expression that is not atomic is shared."""

    fLetRec = 16  # noqa: N815
    """The value of a binding uses its own variable."""


def detect_feature(a: Any, b: Any = None) -> set[Feature]:
    """Return the features used by an expression, a module or both.

    Args:
        a: An expression or a module.
        b: An expression or a module, or None.

    The bodies of functions marked `Primitive` are not searched. Linear in the number of
    expressions.
    """
    return {Feature(number) for number in _detect_feature(a, b)}


class CallGraph:
    """Which functions of a module mention which.

    Functions are given by their variable or their name; ValueError for a function
    missing in the module.

    Args:
        module: The module.

    Linear in the number of expressions.

    >>> from isoform import ir, relay
    >>> f = ir.GlobalVar("f")
    >>> graph = relay.analysis.CallGraph(ir.IRModule({f: relay.Function([], f())}))
    >>> graph.ref_count("f"), graph.is_recursive(f)
    (1, True)
    """

    def __init__(self, module: Any) -> None:
        """Find the mentions of functions in the module."""
        self.module = module
        graph = _call_graph(module)
        self._mentions = {var.name_hint: list(graph[var]) for var in graph}
        self._vars = {var.name_hint: var for var in graph}
        self._counts = dict.fromkeys(self._mentions, 0)
        for mentions in self._mentions.values():
            for var in mentions:
                if var.name_hint in self._counts:
                    self._counts[var.name_hint] += 1

    def _name(self, var: Any) -> str:
        name = var if isinstance(var, str) else var.name_hint
        known = self._vars.get(name)
        if known is None or (not isinstance(var, str) and known is not var):
            raise ValueError(f"The call graph has no function of the variable @{name}")
        return name

    def ref_count(self, var: Any) -> int:
        """Return the number of places that mention a function.

        Args:
            var: The variable of the function, or its name.
        """
        return self._counts[self._name(var)]

    def global_call_count(self, var: Any) -> int:
        """Return the number of functions that a function mentions.

        Args:
            var: The variable of the function, or its name.
        """
        return len(self._mentions[self._name(var)])

    def is_recursive(self, var: Any) -> bool:
        """Return whether a function mentions itself.

        Args:
            var: The variable of the function, or its name.
        """
        name = self._name(var)
        return any(mentioned is self._vars[name] for mentioned in self._mentions[name])

    def print_var(self, var: Any) -> str:
        """Return the number of references to a function and the callees, in text.

        Args:
            var: The variable of the function, or its name.
        """
        name = self._name(var)
        mentioned = ", ".join(f"@{other.name_hint}" for other in self._mentions[name])
        return f"@{name}: {self._counts[name]} references, mentions [{mentioned}]"

    def __str__(self) -> str:
        """Return the text for all functions, one per line, by name."""
        return "\n".join(map(self.print_var, sorted(self._vars)))


def unmatched_cases(match: Any, mod: Any = None) -> list[Any]:
    """Return the patterns of values that no clause of a match covers.

    Args:
        match: The match.
        mod: The module that defines the data types.

    Raises ValueError for a data type that the module does not define.
    """
    return list(_unmatched_cases(match, mod))


def list_op_freqs(mod: Any) -> dict[str, int]:
    """Return the number of calls of each operator in the functions of a module, by name.

    Args:
        mod: The module.

    Linear in the number of expressions.
    """
    return dict(_list_op_freqs(mod))


def count_layers(expr: Any, valid_ops: Sequence[str]) -> int:
    """Return the largest number of calls of some operators on a path through an expression.

    Args:
        expr: The expression.
        valid_ops: The names of the operators.

    Calls side by side, like two operands of a call, are a single layer. Raises
    AttributeError for an unregistered name. Linear in the number of expressions.
    """
    return _count_layers(expr, list(valid_ops))


def all_dtypes(expr: Any) -> set[str]:
    """Return the data types of tensors in an expression, as inferred.

    Args:
        expr: The expression.

    Linear in the number of expressions.
    """
    return {str(dtype) for dtype in _all_dtypes(expr)}


def get_total_mac_number(expr: Any) -> int:
    """Return the number of multiplications followed by an addition.

    Args:
        expr: The expression. Convolutions, dense layers and products of matrices count:
            `nn.conv2d`, `nn.dense` and `nn.batch_matmul`.

    Raises ValueError if type inference did not run, or a size is not known. Linear in
    the number of expressions.
    """
    return _total_mac_number(expr)


def extract_intermediate_expr(mod: Any, expr_id: int) -> Any:
    """Return a module whose `main` computes one expression of the `main` of another.

    Args:
        mod: The module.
        expr_id: The number of the expression: calls, tuples and items of tuples count,
            from 0 in post-order.

    Its free variables become parameters. Raises ValueError without an expression of
    this number. Linear in the number of expressions.
    """
    return _extract_intermediate_expr(mod, expr_id)


extract_intermdeiate_expr = extract_intermediate_expr
"""The classic spelling of `extract_intermediate_expr`."""


def extract_fused_functions(mod: Any) -> dict[int, Any]:
    """Return the kernels of `main` after type inference and fusion, by structural hash.

    They are the functions that `FuseOps` marks `Primitive`, including those that `main` has
    already; the module is not changed.

    Args:
        mod: The module.

    Raises DiagnosticError for a program with wrong types. The cost is that of inference and
    fusion, plus a hash of each function.

    >>> from isoform import ir, relay
    >>> x = relay.var("x", shape=(2,))
    >>> mod = ir.IRModule.from_expr(relay.exp(x + x))
    >>> [kernel] = relay.analysis.extract_fused_functions(mod).values()
    >>> kernel.attrs["Primitive"], kernel.body.op.name
    (1, 'exp')
    """
    return dict(_extract_fused_functions(mod))
