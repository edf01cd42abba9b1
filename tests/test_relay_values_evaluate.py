"""The evaluator and constant folding from Python.

Numbers in docstrings are sections, counted as in `test_reference_relay_tutorial.py`.
"""

import _thread
import threading
import time

import numpy as np
import pytest

from isoform import ir, relay
from isoform.relay import transform
from isoform.transform import PassContext, Sequential


def evaluate(expr, *args, mod=None, **kwargs):
    return relay.create_executor("debug", mod).evaluate(expr, *args, **kwargs)


def test_values_of_every_kind():
    assert evaluate(relay.const(3)).numpy().item() == 3
    pair = evaluate(relay.Tuple([relay.const(1), relay.Tuple([])]))
    assert isinstance(pair, tuple)
    assert pair[0].numpy().item() == 1
    assert pair[1] == ()
    reference = evaluate(relay.RefCreate(relay.const(2)))
    assert reference.content().numpy().item() == 2
    reference.replace(np.array(5, "int32"))
    assert reference.content().numpy().item() == 5
    with pytest.raises(ValueError, match="expected the kind 'debug', got 'vm'"):
        relay.create_executor("vm")


def test_functions_are_callables():
    x, y = relay.var("x"), relay.var("y")
    subtract = evaluate(relay.Function([x, y], x - y))
    for given in [((7, 2), {}), ((7,), {"y": 2}), ((), {"y": 2, "x": np.int32(7)})]:
        args, kwargs = given
        assert subtract(*args, **kwargs).numpy().item() == 5
    with pytest.raises(TypeError, match="too few arguments: expected 2, found 1"):
        subtract(1)
    with pytest.raises(TypeError, match="the argument for parameter 'y' is missing"):
        subtract(x=1)
    with pytest.raises(TypeError, match="of \\['y'\\], got 'z'"):
        subtract(1, z=2)
    curried = evaluate(relay.Function([x], relay.Function([y], x - y)))
    assert curried(7)(2).numpy().item() == 5
    twice = relay.Function([x, y], relay.Call(x, [relay.Call(x, [y])]))
    assert evaluate(twice)(curried(10), 3).numpy().item() == 3
    assert evaluate(relay.op.get("negative"))(4).numpy().item() == -4


def test_modules_params_and_binds():
    x, w = relay.var("x"), relay.var("w")
    mod = ir.IRModule.from_expr(relay.Function([x, w], x * w))
    executor = relay.create_executor(mod=mod, params={"w": np.float32(2)})
    assert executor.evaluate()(np.float32(4)).numpy().item() == 8
    assert evaluate(mod.get_global_var("main"), mod=mod)(3, 4).numpy().item() == 12
    bound = evaluate(mod.get_global_var("main"), mod=mod, params={"w": np.float32(3)})
    assert bound(np.float32(5)).numpy().item() == 15
    assert evaluate(x + w, {x: 1, w: np.int32(2)}).numpy().item() == 3
    with pytest.raises(ValueError, match="the variable %x is free"):
        evaluate(x + w)
    with pytest.raises(ValueError, match="there is no module"):
        relay.create_executor().evaluate()


def test_constructors_and_matches():
    prelude = relay.Prelude()
    some = prelude.get_ctor("Option", "some")
    v = relay.Var("v")
    number = relay.Match(
        relay.Call(some, [relay.const(4)]),
        [
            relay.Clause(relay.PatternConstructor(some, [relay.PatternVar(v)]), v + v),
            relay.Clause(relay.PatternWildcard(), relay.const(0)),
        ],
    )
    assert evaluate(number).numpy().item() == 8
    made = evaluate(some)(4)
    assert made.constructor.same_as(some)
    assert made.fields[0].numpy().item() == 4


def test_kernels_in_python():
    op = relay.op.register("test.values.python_cube")
    call = relay.Call(op, [relay.const(2.0)])
    assert transform.FoldConstantExpr(call).same_as(call)
    relay.op.register_kernel(
        "test.values.python_cube", lambda inputs, attrs: inputs[0].numpy() ** 3
    )
    assert transform.FoldConstantExpr(call).data.numpy().item() == 8
    assert evaluate(call).numpy().item() == 8
    assert relay.evaluate_call(op, [3.0]).numpy().item() == 27
    relay.op.register_kernel("test.values.python_cube", lambda inputs, attrs: None)
    assert transform.FoldConstantExpr(call).same_as(call)
    with pytest.raises(ValueError, match="returned None"):
        evaluate(call)
    relay.op.register_kernel(
        "test.values.python_cube", lambda inputs, attrs: [inputs[0], inputs[0]]
    )
    assert len(evaluate(call)) == 2

    def broken(inputs, attrs):
        raise ZeroDivisionError("no reason")

    relay.op.register_kernel("test.values.python_cube", broken)
    with pytest.raises(ZeroDivisionError, match="no reason"):
        transform.FoldConstantExpr(call)
    with pytest.raises(AttributeError, match="not registered"):
        relay.op.register_kernel("test.values.nothing", broken)


def test_the_pass_is_registered():
    """8: the pass is available by its name, in modules and pipelines."""
    x = relay.var("x", shape=(2,), dtype="int32")
    mod = ir.IRModule.from_expr(relay.Function([x], x + relay.const(2) * relay.const(3)))
    for fold in (transform.FoldConstant(), transform.FoldConstant(fold_qnn=True)):
        assert fold.info.name == "FoldConstant"
        assert fold.info.opt_level == 2
        folded = fold(mod)
        assert folded["main"].body.args[1].data.numpy().item() == 6
        # Types are inferred afterwards.
        assert folded["main"].body.checked_type.concrete_shape == (2,)
    with PassContext(opt_level=1):
        assert Sequential([transform.FoldConstant()])(mod).same_as(mod)
    with PassContext(opt_level=2):
        assert not Sequential([transform.FoldConstant()])(mod).same_as(mod)


def test_folding_in_a_pipeline():
    x = relay.var("x", shape=(), dtype="int32")
    y, z = relay.var("y"), relay.var("z")
    body = relay.Let(y, relay.const(1) + relay.const(2), relay.Let(z, x * y, x + y))
    mod = ir.IRModule.from_expr(relay.Function([x], body))
    passes = [transform.InferType(), transform.FoldConstant(), transform.DeadCodeElimination()]
    with PassContext(opt_level=3):
        result = Sequential(passes)(mod)
    expected = relay.Function([x], x + relay.const(3))
    expected = transform.InferType()(ir.IRModule.from_expr(expected))
    ir.assert_structural_equal(result["main"], expected["main"])


def test_attributes_of_modules_and_contexts_have_no_influence():
    mod = ir.IRModule.from_expr(relay.Function([], relay.const(1) + relay.const(2)))
    mod = mod.with_attr("executor", "broken")
    with PassContext(opt_level=0, disabled_pass=["InferType"]):
        folded = transform.FoldConstant()(mod)
    assert folded["main"].body.data.numpy().item() == 3
    assert folded.attrs["executor"] == "broken"


def test_undefined_results_stay():
    call = relay.const(1) / relay.const(0)
    assert transform.FoldConstantExpr(call).same_as(call)
    with pytest.raises(ValueError, match=r"operator divide: .*divisor other than 0"):
        evaluate(call)


def test_long_kernels_can_be_interrupted():
    x = np.ones((1500, 1500))
    product = relay.const(x)
    for _ in range(40):
        product = relay.nn.matmul(product, relay.const(x))
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        evaluate(product)
    assert time.monotonic() - start < 60
    timer.join()


class ConstantChecker(relay.ExprVisitor):
    """True for constants, and for tuples of constants, following the tutorial."""

    def __init__(self):
        super().__init__()
        self.memo = {}

    def check(self, expr):
        if expr not in self.memo:
            self.memo[expr] = isinstance(expr, relay.Constant) or (
                isinstance(expr, relay.Tuple) and all(self.check(field) for field in expr.fields)
            )
        return self.memo[expr]


class ConstantFolder(relay.ExprMutator):
    """The folder of the tutorial, over the public functions."""

    def __init__(self):
        super().__init__()
        self.checker = ConstantChecker()

    def visit_let(self, let):
        value = self.visit(let.value)
        if isinstance(value, relay.Constant):
            self.memo_map[let.var] = value
            return self.visit(let.body)
        return relay.Let(self.visit(let.var), value, self.visit(let.body))

    def visit_call(self, call):
        # The inherited method: `visit` would come back here.
        result = super().visit_call(call)
        if not result.args or not isinstance(result.op, ir.Op):
            return result
        if result.op.get_attr("TOpIsStateful"):
            return result
        if not all(self.checker.check(arg) for arg in result.args):
            return result
        values = [
            tuple(field.data for field in arg.fields) if isinstance(arg, relay.Tuple) else arg.data
            for arg in result.args
        ]
        value = relay.evaluate_call(result.op, values, result.attrs)
        if isinstance(value, tuple):
            return relay.Tuple([relay.const(part) for part in value])
        return relay.const(value)

    def visit_tuple_getitem(self, get):
        result = super().visit_tuple_getitem(get)
        if isinstance(result.tuple_value, relay.Tuple):
            return result.tuple_value.fields[result.index]
        return result


def test_the_folder_of_the_tutorial_gives_the_same():
    """5, 6, 7: the pass of the library does what the classes of the tutorial do."""
    x, y, z = relay.var("x"), relay.var("y"), relay.var("z")
    one, two = relay.const([1.0, 2.0]), relay.const([3.0, 4.0])
    programs = [
        relay.Let(x, one + two, relay.Let(y, x * two, y + z)),
        relay.TupleGetItem(relay.Tuple([x, one + one]), 1),
        relay.split(relay.const([1, 2, 3, 4]), 2).astuple(),
        relay.Function([x], relay.concatenate([one, two], 0) + x),
        relay.nn.dropout_raw(one),
        relay.zeros((2,), "int32"),
        relay.Let(x, relay.Tuple([one, two]), x),
    ]
    for program in programs:
        expected = ConstantFolder().visit(program)
        ir.assert_structural_equal(transform.FoldConstantExpr(program), expected)


def test_binds_take_values_of_every_kind():
    x = relay.var("x")
    first = relay.TupleGetItem(x, 0)
    assert evaluate(first, {x: (np.int32(7), (1, 2))}).numpy().item() == 7
    reference = evaluate(relay.RefCreate(relay.const(2)))
    evaluate(relay.RefWrite(x, relay.const(5)), {x: reference})
    assert reference.content().numpy().item() == 5
    n = relay.var("n")
    double = evaluate(relay.Function([n], n + n))
    for callee in (double, double.value):
        call = relay.Call(x, [n])
        assert evaluate(call, {x: callee, n: 4}).numpy().item() == 8
    # A parameter of a function is bound, too, and the others stay.
    pair = relay.Function([x, n], relay.TupleGetItem(x, 1) + n)
    assert evaluate(pair, {x: (1, 2)})(3).numpy().item() == 5


def test_limits_of_results_are_options():
    wide = relay.op.zeros((1000,), "int8")
    small = relay.create_executor(max_bytes=999)
    with pytest.raises(ValueError, match=r"at most 999 bytes.*raise the limit `max_bytes`"):
        small.evaluate(wide)
    assert relay.create_executor(max_bytes=1000).evaluate(wide).shape == (1000,)


def test_numbers_of_other_libraries_are_scalars():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    result = relay.evaluate_call("negative", [ml_dtypes.bfloat16(1.5)])
    assert str(result.dtype) == "bfloat16"
    assert result.shape == ()


def test_constants_of_other_byte_orders_and_types():
    assert relay.const(np.arange(3, dtype=">i4")).data.numpy().tolist() == [0, 1, 2]
    for array in (np.array(["2020-01-01"], "datetime64[D]"), np.array(["a"]), np.array([None])):
        with pytest.raises(ValueError, match="elements of the NumPy type"):
            relay.const(array)
