"""The values of expressions and programs.

>>> import numpy as np
>>> from isoform import relay
>>> x = relay.var("x")
>>> double = relay.create_executor().evaluate(relay.Function([x], x + x))
>>> double(np.array([1, 2, 3], "int32")).numpy().tolist()
[2, 4, 6]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from isoform.container import Array
from isoform.ir import _api
from isoform.ir.op import Op
from isoform.types.ir import Constructor, GlobalVar
from isoform.types.relay import (
    Constant,
    Function,
    Var,
    value,  # pyright: ignore[reportAttributeAccessIssue]  # A namespace of its own.
)

from .build_module import bind_params_by_name
from .expr import bind, const

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Closure",
    "ConstructorValue",
    "Executor",
    "RefValue",
    "create_executor",
    "evaluate_call",
]

Closure = value.Closure
ConstructorValue = value.ConstructorValue
RefValue = value.RefValue

_evaluator = _api.function("relay.eval.evaluator")
_with_fields = _api.function("relay.ir.with_fields")
_evaluate_call = _api.function("relay.eval.evaluate_call")


def create_executor(
    kind: str = "debug",
    mod: Any = None,
    device: Any = None,  # noqa: ARG001
    target: Any = None,  # noqa: ARG001
    params: Mapping[str, Any] | None = None,
    max_depth: int = 1_000_000,
    max_bytes: int = 1 << 31,
) -> Executor:
    """Return an executor, which computes the values of expressions.

    Args:
        kind: Always `"debug"`: the evaluator of this library.
        mod: The module with the functions that expressions may name.
        device: Ignored: values are computed on the CPU.
        target: Ignored as well.
        params: Tensors for parameters of `main`, by name.
        max_depth: The number of calls that may be open at once.
        max_bytes: The size of the largest result of an operator, in bytes.

    Raises ValueError for other kinds.
    """
    if kind != "debug":
        raise ValueError(
            f"create_executor: expected the kind 'debug', got {kind!r}: programs are evaluated, "
            "not compiled"
        )
    return Executor(mod, params, max_depth, max_bytes)


class Executor:
    """Computes the values of expressions; made by `create_executor`.

    An expression used at several places is computed once whenever the scope around all of
    them is entered. Depth of nesting and recursion is limited by memory only, and recursion
    by `max_depth`. A long evaluation can be interrupted.
    """

    def __init__(
        self,
        mod: Any = None,
        params: Mapping[str, Any] | None = None,
        max_depth: int = 1_000_000,
        max_bytes: int = 1 << 31,
    ) -> None:
        self.mod = mod
        self._params = dict(params or {})
        self._run = _evaluator(mod, max_depth, max_bytes)

    def evaluate(
        self,
        expr: Any = None,
        binds: Mapping[Var, Any] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the value of an expression.

        Args:
            expr: The expression; the function `main` of the module by default.
            binds: Values for free variables of the expression, or for parameters of the
                function: arrays, tensors, numbers, tuples of them, references, functions
                and values of constructors.
            params: Tensors for parameters of the function, by name.

        A tensor is returned in an `isoform.Tensor`, a tuple in a tuple, a reference in a
        `RefValue`, a value of a constructor in a `ConstructorValue`. A function, operator or
        constructor is returned as a callable of arrays, tensors, numbers, tuples of these,
        and other values; parameters of functions may be given by name.

        Raises ValueError for free variables and for results that are not defined, TypeError
        for values that do not fit, RecursionError for too many open calls.

        >>> from isoform import relay
        >>> x = relay.var("x")
        >>> evaluate = relay.create_executor().evaluate
        >>> evaluate(relay.Tuple([x, x + x]), {x: 4})[1].numpy().item()
        8
        """
        if expr is None:
            if self.mod is None:
                raise ValueError("evaluate: expected an expression, because there is no module")
            expr = self.mod["main"]
            if self._params:
                expr = bind_params_by_name(expr, _values(self._params))
        if params:
            if isinstance(expr, GlobalVar):
                expr = self.mod[expr]
            expr = bind_params_by_name(expr, _values(params))
        if not binds:
            return self._python(self._run(expr))
        exprs: dict[Any, Any] = {}
        passed: list[tuple[Var, Any]] = []
        for var, given in binds.items():
            exprs[var] = _expression(given)
            if exprs[var] is None:
                # Without a form of expression, the value is passed in an argument.
                exprs[var] = Var(var.name_hint, var.type_annotation)
                passed.append((exprs[var], _value(given)))
        expr = bind(expr, exprs)
        if not passed:
            return self._python(self._run(expr))
        given_params = [param for param, _ in passed]
        if isinstance(expr, Function):
            # New variables of a function become parameters of the function.
            own = [param for param in expr.params if param not in given_params]
            expr = _with_fields(expr, {"params": own})
        function = self._run(Function(given_params, expr))
        return self._python(self._run(function, [value for _, value in passed]))

    def _python(self, result: Any) -> Any:
        """The value for users, whose tuples may be nested to any depth."""
        if not isinstance(result, Array):
            return self._single(result)
        # Each frame holds the remaining fields, and the values of earlier fields.
        stack: list[tuple[Any, list[Any]]] = [(iter(result), [])]
        while True:
            fields, done = stack[-1]
            for field in fields:
                if isinstance(field, Array):
                    stack.append((iter(field), []))
                    break
                done.append(self._single(field))
            else:
                stack.pop()
                if not stack:
                    return tuple(done)
                stack[-1][1].append(tuple(done))

    def _single(self, result: Any) -> Any:
        if isinstance(result, (Closure, Op, Constructor)):
            return _Callable(self, result)
        return result


class _Callable:
    """A function, operator or constructor that is called with values."""

    def __init__(self, executor: Executor, callee: Any) -> None:
        self._executor = executor
        self.value = callee

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        executor = self._executor
        if kwargs:
            args = self._positional(args, kwargs)
        values = [_value(given) for given in args]
        return executor._python(executor._run(self.value, values))

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if not isinstance(self.value, Closure):
            raise TypeError(f"expected arguments without names, got {', '.join(kwargs)}")
        rest = self.value.func.params[len(args) :]
        names = [param.name_hint for param in rest]
        for name in kwargs:
            if names.count(name) != 1:
                raise TypeError(
                    f"expected the names of parameters without a value, of {names}, got {name!r}"
                )
        for name in names:
            if name not in kwargs:
                raise TypeError(f"the argument for parameter {name!r} is missing")
        return (*args, *(kwargs[name] for name in names))

    def __repr__(self) -> str:
        return f"<value of {self.value!r}>"


def _value(given: Any) -> Any:
    """A Python object converted to a value of programs."""
    if isinstance(given, _Callable):
        return given.value
    if isinstance(given, (tuple, list)):
        return tuple(_value(field) for field in given)
    if isinstance(given, Constant):
        return given.data
    if isinstance(given, (bool, int, float)) or _is_foreign(given):
        return const(given).data
    return given


def _is_foreign(given: Any) -> bool:
    """True for arrays of NumPy, and for NumPy's numbers, which are scalars of their type."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(given, (numpy.ndarray, numpy.generic))


def _values(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(given) for name, given in params.items()}


def _expression(given: Any) -> Any:
    """Convert a Python object to an expression; None for closures and similar values."""
    if isinstance(given, (Constant, Function, Op, GlobalVar, Constructor)):
        return given
    if isinstance(given, (tuple, _Callable, Closure, ConstructorValue, RefValue)):
        return None
    return const(given)


def evaluate_call(op: Op | str, args: Any, attrs: Any = None) -> Any:
    """Return the result of an operator on values: a tensor, or a tuple of tensors.

    Args:
        op: The operator, or its name.
        args: The inputs: arrays, tensors, numbers, and tuples of these.
        attrs: The attributes of the call.

    Raises ValueError or TypeError for an undefined result, such as an integer division by
    zero, for unsuitable inputs or attributes, and without a kernel.

    >>> from isoform import relay
    >>> relay.evaluate_call("floor_divide", [-7, 2]).numpy().item()
    -4
    """
    op = Op.get(op) if isinstance(op, str) else op
    result = _evaluate_call(op, [_value(given) for given in args], attrs)
    return tuple(result) if isinstance(result, Array) else result
