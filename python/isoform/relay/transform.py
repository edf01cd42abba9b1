"""The passes of Relay.

Each function returns a pass, which runs on modules; `isoform.transform` has the common
parts of passes of all dialects.

>>> from isoform import ir, relay
>>> x = relay.var("x", shape=(2,))
>>> mod = ir.IRModule.from_expr(relay.Function([x], (x + x) * (x + x)))
>>> merged = relay.transform.EliminateCommonSubexpr()(relay.transform.InferType()(mod))
>>> product = merged["main"].body
>>> product.args[0] is product.args[1]
True
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from isoform import transform as _transform
from isoform.ir import _api
from isoform.ir.expr import noted_types
from isoform.transform import FunctionPass, ModulePass, PassContext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from isoform.transform import PassInstrument, Sequential

__all__ = [
    "BackwardFoldScaleAxis",
    "DeadCodeElimination",
    "DefuseOps",
    "EliminateCommonSubexpr",
    "FoldConstant",
    "FoldConstantExpr",
    "FoldScaleAxis",
    "ForwardFoldScaleAxis",
    "FunctionPass",
    "FuseOps",
    "InferType",
    "InferTypeLocal",
    "Inline",
    "LambdaLift",
    "RemoveUnusedFunctions",
    "SimplifyExpr",
    "SimplifyInference",
    "ToANormalForm",
    "ToANormalFormExpr",
    "ToBasicBlockNormalForm",
    "ToGraphNormalForm",
    "build_config",
    "function_pass",
]

_is_optimizable = _api.function("relay.ir.Function.is_optimizable")
_infer_type_local = _api.function("relay._transform.InferTypeLocal")
_fold_constant_expr = _api.function("relay._transform.FoldConstantExpr")
_to_a_normal_form_expr = _api.function("relay._transform.ToANormalFormExpr")


def function_pass(
    pass_func: Any = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: list[str] | tuple[str, ...] | None = None,
    **options: Any,
) -> Any:
    """Make a pass over each Relay function open to passes.

    As `isoform.transform.function_pass`, for functions of class `relay.Function` without
    the attributes `Compiler`, `Extern` and `SkipOptimization`; then types are inferred.

    Args:
        pass_func: A function of a function, the module and the context that returns the
            new function, or a class with such a method `transform_function`. Without it,
            the result is a decorator.
        opt_level: The lowest level at which a `Sequential` runs the pass.
        name: The name; by default that of the function or class.
        required: The names of passes to run before it in a `Sequential`.
        options: Further arguments of `isoform.transform.function_pass`.

    Raises ValueError without `opt_level`, TypeError for arguments of other types.

    >>> from isoform import ir, relay
    >>> @relay.transform.function_pass(opt_level=1)
    ... def Twice(func, mod, ctx):
    ...     return relay.Function(func.params, relay.Tuple([func.body, func.body]))
    >>> mod = ir.IRModule.from_expr(relay.Function([], relay.const(1)))
    >>> len(Twice(mod)["main"].ret_type.fields)
    2
    """
    options.setdefault("cls", "relay.Function")
    options.setdefault("filter", _is_optimizable)
    options.setdefault("after", ["InferType"])
    return _transform.function_pass(pass_func, opt_level, name, required, **options)


def InferType() -> ModulePass:  # noqa: N802
    """Return a pass that finds the types of all expressions.

    It fills in `checked_type`, missing annotations of variables and result types of
    functions. Level 0. The pass raises DiagnosticError with all problems and their places.
    """
    return _made("InferType")


def InferTypeLocal(expr: Any) -> Any:  # noqa: N802
    """Return the type of an expression, from the types of the parts.

    The property `checked_type` of the expression is this type from then on, as long as
    Python holds the expression; the field `checked_type_`, which passes read, is filled by
    `InferType` alone. Raises DiagnosticError if it has no type. Linear in the number of its
    parts.

    >>> from isoform import relay, structural_equal
    >>> x = relay.var("x", shape=(2,))
    >>> double = x + x
    >>> structural_equal(relay.transform.InferTypeLocal(double), x.type_annotation)
    True
    >>> double.checked_type.concrete_shape
    (2,)
    """
    found = noted_types[expr] = _infer_type_local(expr)
    return found


def EliminateCommonSubexpr(  # noqa: N802
    fskip: Callable[[Any], bool] | None = None,
) -> FunctionPass:
    """Return a pass that computes equal calls of operators, and equal items of tuples, once.

    Calls are equal if operator, attributes and arguments are, and constants only if they
    are scalars. Calls of stateful operators, and calls without arguments, stay apart. A
    call in one branch may replace a call in another branch. Level 3; requires InferType.

    Args:
        fskip: Returns True for an expression that the pass should leave alone.
    """
    return _made("EliminateCommonSubexpr", fskip)


def FoldConstant(fold_qnn: bool = False) -> FunctionPass:  # noqa: N802
    """Return a pass that replaces expressions with a known value by the value.

    A call of an operator on constants becomes its result, a variable bound to a constant
    becomes the constant, an item of a tuple expression becomes the field, and an `if` with a
    known condition becomes the chosen branch. A call without arguments, a call of a stateful
    or not computational operator, and a call with an undefined result, such as an integer
    division by zero, stay unchanged. Level 2.

    Args:
        fold_qnn: True to fold operators on quantized values that represent other values.

    >>> from isoform import ir, relay
    >>> x = relay.var("x", "int32")
    >>> func = relay.Function([x], x + relay.const(2) * relay.const(3))
    >>> mod = relay.transform.FoldConstant()(ir.IRModule.from_expr(func))
    >>> mod["main"].body.args[1].data.numpy().item()
    6
    """
    return _made("FoldConstant", fold_qnn)


def FoldConstantExpr(  # noqa: N802
    expr: Any,
    mod: Any = None,  # noqa: ARG001
    fold_qnn: bool = False,
) -> Any:
    """Return an expression with known parts replaced by their values.

    Args:
        expr: The expression.
        mod: Not used: calls of functions are not evaluated.
        fold_qnn: As of `FoldConstant`.

    Linear in the number of expressions, besides the time of the operators.

    >>> from isoform import relay
    >>> relay.transform.FoldConstantExpr(relay.const(1) + relay.const(2)).data.numpy().item()
    3
    """
    return _fold_constant_expr(expr, fold_qnn)


def DeadCodeElimination(  # noqa: N802
    inline_once: bool = False, ignore_impurity: bool = False
) -> ModulePass:
    """Return a pass that removes every `let` of an unused variable.

    A value with an effect is kept: a reference is read or written, a stateful operator or
    an unknown function is called. A `let` is also kept where functions inside share an
    expression whose only use outside of functions is in the value: without the `let`, the
    functions would compute the expression at each call. Level 1; requires InferType.

    Args:
        inline_once: Also put a value in the place of its variable, if it has no effect and
            the variable is used once, in the same function.
        ignore_impurity: Take all expressions to be free of effects.

    >>> from isoform import ir, relay
    >>> x, y = relay.var("x", shape=(2,)), relay.var("y")
    >>> func = relay.Function([x], relay.Let(y, x + x, x))
    >>> mod = relay.transform.DeadCodeElimination()(ir.IRModule.from_expr(func))
    >>> mod["main"].body is x
    True
    """
    return _made("DeadCodeElimination", inline_once, ignore_impurity)


def FuseOps(fuse_opt_level: int = -1) -> FunctionPass:  # noqa: N802
    """Return a pass that makes kernels: functions of fitting operators, marked `Primitive`.

    The patterns of operators decide which operators fit (`TOpPattern`). The options
    `relay.FuseOps.max_depth` and `relay.FuseOps.link_params` of the context bound the size
    of kernels, and put constants into them. Level 0; requires InferType. Raises ValueError
    for a bound below 0 when it runs.

    Args:
        fuse_opt_level: Each operator has its own kernel at level 0; -1 means the level
            of the context. Raises ValueError for other numbers below 0.

    >>> from isoform import ir, relay
    >>> x = relay.var("x", shape=(2,))
    >>> mod = ir.IRModule.from_expr(relay.Function([x], relay.exp(x + x)))
    >>> fused = relay.transform.FuseOps()(relay.transform.InferType()(mod))
    >>> kernel = fused["main"].body.op
    >>> kernel.attrs["Primitive"], kernel.body.op.name
    (1, 'exp')
    """
    return _made("FuseOps", fuse_opt_level)


def DefuseOps() -> ModulePass:  # noqa: N802
    """Return a pass that puts the bodies of kernels in the place of their calls.

    It undoes `FuseOps`: the result is the program before fusion. Other functions that are
    called where they are written come apart, too, if they contain no functions. Arguments with
    effects are bound before a body that does not use them in order. Level 3; requires InferType.

    >>> from isoform import ir, relay, structural_equal
    >>> x = relay.var("x", shape=(2,))
    >>> mod = ir.IRModule.from_expr(relay.Function([x], relay.exp(x + x)))
    >>> mod = relay.transform.InferType()(mod)
    >>> fused = relay.transform.FuseOps()(mod)
    >>> structural_equal(relay.transform.DefuseOps()(fused), mod)
    True
    """
    return _made("DefuseOps")


def SimplifyExpr(exact: bool = False) -> FunctionPass:  # noqa: N802
    """Return a pass that applies identities of arithmetic, moves of elements, and casts.

    Among them: `x + 0`, `x * 1` and the like are `x`, `x + x` is `x * 2`, constants added
    or multiplied in succession become one constant, and consecutive reshapes,
    transpositions and casts merge; operators like `zeros_like` get the shape from the
    type. Types stay the same, and no operand with an effect is dropped. Level 0; requires
    InferType. Linear in the number of expressions and of rewrites, besides the time for
    computing constants.

    Args:
        exact: Keep every bit of the results: floats are not regrouped, and `x + 0.0`
            stays, because it makes 0 of -0. The kind of a NaN may still change.

    >>> from isoform import ir, relay
    >>> x = relay.var("x", shape=(2, 3))
    >>> body = relay.transpose(relay.transpose(x)) * relay.const(1.0)
    >>> mod = ir.IRModule.from_expr(relay.Function([x], body))
    >>> simple = relay.transform.SimplifyExpr()(mod)["main"]
    >>> simple.body is simple.params[0]
    True
    """
    return _made("SimplifyExpr", exact)


def SimplifyInference() -> FunctionPass:  # noqa: N802
    """Return a pass that replaces operators of a trained model by arithmetic.

    The first result of `nn.batch_norm` becomes the data times a scale plus a shift for each
    channel, `nn.layer_norm` becomes mean, variance and arithmetic, and the first result of
    `nn.dropout` becomes the data. Other results of these operators stay, and so do tuples
    bound by `let`. Results are rounded differently. Level 0; requires InferType.

    >>> from isoform import ir, relay
    >>> x = relay.var("x", shape=(2, 3))
    >>> mod = ir.IRModule.from_expr(relay.Function([x], relay.nn.dropout(x)))
    >>> simple = relay.transform.SimplifyInference()(mod)["main"]
    >>> simple.body is simple.params[0]
    True
    """
    return _made("SimplifyInference")


def BackwardFoldScaleAxis() -> FunctionPass:  # noqa: N802
    """Return a pass that multiplies weights by the factors of their results.

    `multiply(conv2d(x, w), s)` becomes `conv2d(x, multiply(w, s))` for a factor with one
    number for each channel, or for all of them; likewise for `nn.dense`. Between both may be
    `multiply`, sums with a bias of the channels or with another such product, and, for
    constants of positive numbers, `nn.relu` and `nn.leaky_relu`, if each has a single use.
    Constant factors are finite; all types are floats. Results are rounded differently.
    Level 3; requires InferType.
    """
    return _made("BackwardFoldScaleAxis")


def ForwardFoldScaleAxis() -> FunctionPass:  # noqa: N802
    """Return a pass that multiplies weights by the factors of their data.

    `conv2d(multiply(x, s), w)` becomes `conv2d(x, multiply(w, s))`. As
    `BackwardFoldScaleAxis`, except that all uses of the scaled data lead to weights, and that
    a bias is divided by the factor, a constant of positive numbers. Level 3; requires
    InferType.
    """
    return _made("ForwardFoldScaleAxis")


def FoldScaleAxis() -> Sequential:  # noqa: N802
    """Return the passes that leave out factors of channels next to weights.

    They are `BackwardFoldScaleAxis`, `ForwardFoldScaleAxis` and `FoldConstant`.

    >>> import numpy as np
    >>> from isoform import ir, relay
    >>> from isoform.transform import PassContext
    >>> x = relay.var("x", shape=(4, 8))
    >>> weight, factor = (relay.const(np.full(shape, 2.0, "float32")) for shape in ((3, 8), (3,)))
    >>> body = relay.nn.dense(x, weight) * factor
    >>> with PassContext(opt_level=3):
    ...     mod = relay.transform.FoldScaleAxis()(ir.IRModule.from_expr(relay.Function([x], body)))
    >>> mod["main"].body.op.name
    'nn.dense'
    """
    return _made("FoldScaleAxis")


def LambdaLift() -> ModulePass:  # noqa: N802
    """Return a pass that makes every function inside of a function global.

    Its name comes in its place. A function that uses variables from outside becomes a
    function of these variables that returns it, marked `Closure`, and a call with the
    variables comes in its place. New names are `lifted_name` and a digest, so equal functions
    are lifted once. Functions marked `Primitive` stay. Level 1.

    >>> from isoform import ir, relay
    >>> x, y = (relay.var(name, shape=(2,)) for name in "xy")
    >>> inner = relay.Function([y], x + y)
    >>> mod = ir.IRModule.from_expr(relay.Function([x], inner(x)))
    >>> lifted = relay.transform.LambdaLift()(mod)
    >>> len(lifted.functions), lifted["main"].body.op.args[0] is lifted["main"].params[0]
    (2, True)
    """
    return _made("LambdaLift")


def build_config(
    opt_level: int = 2,
    required_pass: Iterable[str] | None = None,
    disabled_pass: Iterable[str] | None = None,
    trace: Iterable[PassInstrument] | None = None,
) -> PassContext:
    """Return a context for passes: an old name of `isoform.transform.PassContext`.

    Args:
        opt_level: As of `PassContext`.
        required_pass: As of `PassContext`.
        disabled_pass: As of `PassContext`.
        trace: The instruments.

    Warns with DeprecationWarning; raises as `PassContext`.
    """
    warnings.warn(
        "relay.transform.build_config is an old name; write isoform.transform.PassContext",
        DeprecationWarning,
        stacklevel=2,
    )
    return PassContext(opt_level, required_pass, disabled_pass, trace)


def ToANormalForm() -> ModulePass:  # noqa: N802
    """Return a pass that gives every value a name.

    Operands are then variables, operators and global variables only; bindings are in the
    order of evaluation. The given module is not changed. Level 1.
    """
    return _made("ToANormalForm")


def ToANormalFormExpr(e: Any) -> Any:  # noqa: N802
    """Return an expression in which every value has a name.

    Raises ValueError if a variable is bound twice. O(n log n) in the number of expressions.

    >>> from isoform import relay
    >>> x = relay.var("x")
    >>> named = relay.transform.ToANormalFormExpr(relay.Function([x], (x + x) * x))
    >>> named.body.var.name_hint, named.body.body.var.name_hint, named.body.body.body.name_hint
    ('x_0', 'x_1', 'x_1')
    """
    return _to_a_normal_form_expr(e)


def ToBasicBlockNormalForm() -> ModulePass:  # noqa: N802
    """Return a pass that names values used in several branches or functions.

    They are bound in the innermost function or branch around all uses; the order of
    effects is kept. Level 1.
    """
    return _made("ToBasicBlockNormalForm")


def ToGraphNormalForm() -> ModulePass:  # noqa: N802
    """Return a pass that puts values in the place of variables, shared by reference.

    A `let` is kept if its value has an effect, or makes a reference, or would move into
    a function and be computed again at each call. A recursive function becomes
    `let f = ... in f`. Level 1.
    """
    return _made("ToGraphNormalForm")


def Inline() -> ModulePass:  # noqa: N802
    """Return a pass that puts functions marked `Inline` in the place of their calls.

    The pass is named `InlineGlobals`. Functions that were mentioned and are inlined are
    removed; recursive functions stay, and functions that mention no others besides. ValueError
    if another function cannot be inlined. Level 1.
    """
    return _made("InlineGlobals")


def RemoveUnusedFunctions(entry_functions: Iterable[str] | None = None) -> ModulePass:  # noqa: N802
    """Return a pass that removes the functions unreachable from the entries.

    The given module is not changed. Level 1.

    Args:
        entry_functions: The names of the entries; `main` by default. The pass raises
            ValueError for an entry missing in the module.

    >>> from isoform import ir, relay
    >>> mod = ir.IRModule({name: relay.Function([], relay.const(1)) for name in ("main", "f")})
    >>> list(relay.transform.RemoveUnusedFunctions()(mod).functions)
    [ir.GlobalVar(name_hint="main")]
    """
    if isinstance(entry_functions, str):
        raise TypeError(
            "entry_functions: expected a sequence of names, got str; write "
            f"[{entry_functions!r}] for one name"
        )
    return _made("RemoveUnusedFunctions", None if entry_functions is None else [*entry_functions])


def _made(name: str, *options: Any) -> Any:
    """Return a pass registered in Rust."""
    return _api.function(f"relay._transform.{name}")(*options)
