"""The passes of Relay from Python: their names, options and kinds."""

from typing import ClassVar

import pytest
from scale import scaled

from isoform import ir, relay, structural_equal, transform

x = relay.var("x", shape=(2,))


def module(body, *params):
    return relay.transform.InferType()(ir.IRModule.from_expr(relay.Function(params, body)))


def test_passes_by_name_and_their_info():
    kinds = {
        "InferType": (0, []),
        "EliminateCommonSubexpr": (3, ["InferType"]),
        "FuseOps": (0, ["InferType"]),
        "DefuseOps": (3, ["InferType"]),
        "SimplifyExpr": (0, ["InferType"]),
        "DeadCodeElimination": (1, ["InferType"]),
        "ToANormalForm": (1, []),
        "ToBasicBlockNormalForm": (1, []),
        "ToGraphNormalForm": (1, []),
        "InlineGlobals": (1, []),
        "RemoveUnusedFunctions": (1, []),
    }
    for name, (level, required) in kinds.items():
        info = transform.make_pass(name).info
        assert (info.name, info.opt_level, list(info.required)) == (name, level, required)
    assert relay.transform.Inline().info.name == "InlineGlobals"
    assert set(kinds) <= {entry["name"] for entry in transform.list_passes()}


def test_common_subexpressions_with_a_function_that_skips():
    body = relay.Tuple([relay.exp(x), relay.exp(x), relay.log(x), relay.log(x)])
    mod = module(body, x)
    first, second, third, fourth = relay.transform.EliminateCommonSubexpr()(mod)["main"].body
    assert first is second and third is fourth
    skip = relay.transform.EliminateCommonSubexpr(lambda call: call.op.name == "exp")
    first, second, third, fourth = skip(mod)["main"].body
    assert first is not second and third is fourth

    def fails(_call):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        relay.transform.EliminateCommonSubexpr(fails)(mod)


def test_dead_code_with_options():
    a, b = relay.var("a"), relay.var("b")
    body = relay.Let(a, x + x, relay.Let(b, relay.exp(a), relay.log(a)))
    mod = module(body, x)
    kept = relay.transform.DeadCodeElimination()(mod)["main"].body
    assert structural_equal(kept, module(relay.Let(a, x + x, relay.log(a)), x)["main"].body, True)
    inlined = relay.transform.DeadCodeElimination(inline_once=True)(mod)["main"].body
    assert structural_equal(inlined, relay.log(x + x), True)
    written = relay.RefWrite(relay.var("r", ir.RelayRefType(x.type_annotation)), x)
    func = relay.Function([written.ref, x], relay.Let(relay.var("u"), written, x))
    mod = ir.IRModule.from_expr(func)
    assert relay.transform.DeadCodeElimination()(mod) is mod
    ignoring = relay.transform.DeadCodeElimination(ignore_impurity=True)(mod)
    assert ignoring["main"].body is x


def test_normal_forms_in_a_pipeline():
    shared = relay.exp(x)
    mod = module(shared * relay.log(shared), x)
    named = relay.transform.ToANormalForm()(mod)
    assert isinstance(named["main"].body, relay.Let)
    assert relay.transform.ToANormalForm()(named) is named
    both = transform.parse_pipeline("ToANormalForm,ToGraphNormalForm,InferType")
    assert structural_equal(both(mod), mod)
    assert relay.transform.ToBasicBlockNormalForm()(mod) is mod


def test_inlining_and_removal():
    f, main = ir.GlobalVar("f"), ir.GlobalVar("main")
    y = relay.var("y", shape=(2,))
    callee = relay.Function([y], y + y).with_attr("Inline", 1)
    mod = ir.IRModule({f: callee, main: relay.Function([x], f(relay.exp(x)))})
    inlined = relay.transform.Inline()(mod)
    assert list(inlined.functions) == [main]
    assert len(mod.functions) == 2
    arg = relay.exp(x)
    assert structural_equal(inlined["main"], relay.Function([x], arg + arg))
    left = relay.transform.RemoveUnusedFunctions(["f"])(mod)
    assert list(left.functions) == [f]
    with pytest.raises(ValueError, match='"g"'):
        relay.transform.RemoveUnusedFunctions(["g"])(mod)


def test_fusing_depends_on_the_context():
    mod = module(relay.exp(relay.exp(x)), x)

    def kernels(level=-1, **options):
        with transform.PassContext(**options):
            fused = relay.transform.FuseOps(level)(mod)["main"]
        return relay.testing.count_ops(fused), isinstance(fused.body.args[0], relay.Call)

    assert kernels() == ({"exp": 2}, False)
    assert kernels(0) == ({"exp": 2}, True)
    assert kernels(opt_level=0) == ({"exp": 2}, True)
    assert kernels(config={"relay.FuseOps.max_depth": 1}) == ({"exp": 2}, True)


def test_function_passes_see_functions_that_may_be_changed():
    seen = []

    @relay.transform.function_pass(opt_level=1)
    def Seen(func, mod, ctx):
        seen.append(func)
        return func

    plain = relay.Function([x], x)
    skipped = relay.Function([x], x).with_attr("SkipOptimization", 1)
    mod = ir.IRModule({"a": plain, "b": skipped})
    Seen(mod)
    assert [func is plain for func in seen] == [True]


def test_a_million_levels():
    body = x
    for _ in range(scaled(1_000_000)):
        body = relay.exp(body)
    func = relay.Function([x], body)
    named = relay.transform.ToANormalFormExpr(func)
    assert isinstance(named.body, relay.Let)


def test_simplification_by_name_and_with_options():
    zero = relay.const(0.0)
    untyped = ir.IRModule.from_expr(relay.Function([x], relay.reshape(x + zero, (2, 1))))
    simple = relay.transform.SimplifyExpr()(untyped)["main"]
    assert simple.body.args[0] is simple.params[0]
    mod = module(x + zero, x)
    assert relay.transform.SimplifyExpr(exact=True)(mod) is mod
    pipeline = transform.parse_pipeline("InferType,SimplifyExpr{exact=true}")
    assert structural_equal(pipeline(mod), mod)
    pipeline = transform.parse_pipeline("InferType,SimplifyExpr")
    func = pipeline(mod)["main"]
    assert func.body is func.params[0]


def test_types_are_those_that_inference_finds():
    body = relay.transpose(relay.transpose(x * relay.const(2.0) * relay.const(3.0)))
    simple = relay.transform.SimplifyExpr()(module(body, x))
    assert relay.transform.InferType()(simple) is simple
    assert simple["main"].body.args[1].data.numpy().item() == 6.0


def test_kernels_are_taken_apart():
    shared = relay.exp(x)
    mod = module(relay.Tuple([shared + x, relay.log(shared)]), x)
    fused = relay.transform.FuseOps()(mod)
    assert not structural_equal(fused, mod)
    assert structural_equal(relay.transform.DefuseOps()(fused), mod)
    assert relay.transform.DefuseOps()(mod) is mod


def test_options_of_fuse_ops_are_checked():
    mod = module(relay.exp(x), x)
    with (
        transform.PassContext(config={"relay.FuseOps.max_depth": -1}),
        pytest.raises(ValueError, match=r"relay.FuseOps.max_depth.*from 0, got -1"),
    ):
        relay.transform.FuseOps()(mod)
    with pytest.raises(ValueError, match=r"fuse_opt_level from 0, or -1 .* got -2"):
        relay.transform.FuseOps(-2)
    with pytest.raises(AttributeError, match=r"relay.FuseOps.max_depth"):
        transform.PassContext(config={"relay.backend.use_auto_scheduler": True})


def test_build_config_is_a_context():
    seen = []

    @transform.pass_instrument
    class Names:
        def run_before_pass(self, mod, info):
            seen.append(info.name)

    with pytest.warns(DeprecationWarning, match="PassContext"):
        ctx = relay.transform.build_config(3, disabled_pass=["FoldConstant"], trace=[Names()])
    assert isinstance(ctx, transform.PassContext)
    assert (ctx.opt_level, list(ctx.disabled_pass)) == (3, ["FoldConstant"])
    mod = module(x, x)
    with ctx:
        relay.transform.InferType()(mod)
    assert seen == ["InferType"]


def chain(result, ret_shape=(2,)):
    """A program of two functions: `main` calls `f`, whose body is `result` of a parameter."""
    f, main = ir.GlobalVar("f"), ir.GlobalVar("main")
    p, q = relay.var("p", shape=(2,)), relay.var("q", shape=(2,))
    callee = relay.Function([p], result(p), relay.TensorType(ret_shape))
    caller = relay.Function([q], relay.exp(f(q + relay.const(0.0))))
    return relay.transform.InferType()(ir.IRModule({f: callee, main: caller}))


def test_memoised_passes_read_the_types_of_callees():
    class Runs:
        seen: ClassVar = []

    def nothing_else(func, mod):
        """The pass reads the signatures of called functions, and nothing else."""

    options = {"pure": True, "version": "1", "reads": nothing_else}

    @relay.transform.function_pass(opt_level=0, name="Counted", **options)
    def counted(func, mod, ctx):
        Runs.seen.append(func.body.op.name if isinstance(func.body.op, ir.Op) else "call")
        return func

    cache = transform.MemoryCache()

    def run(mod):
        Runs.seen.clear()
        with transform.PassContext(cache=cache):
            assert structural_equal(counted(mod), mod)
        return sorted(Runs.seen)

    assert run(chain(relay.tanh)) == ["exp", "tanh"]
    assert run(chain(relay.tanh)) == []
    # Another body of the callee, and then another type.
    assert run(chain(relay.log)) == ["log"]
    assert run(chain(lambda p: relay.expand_dims(p, 0), (1, 2))) == ["exp", "expand_dims"]
    assert run(chain(relay.log)) == []


def test_memoised_simplification_is_kept():
    entries = {}

    class Store:
        def load(self, key):
            return entries.get(key)

        def store(self, key, value):
            entries[key] = value

    mod = chain(lambda p: p * relay.const(1.0))
    plain = relay.transform.SimplifyExpr()(mod)
    assert plain["f"].body is plain["f"].params[0]
    for _ in range(2):
        with transform.PassContext(cache=Store()):
            kept = relay.transform.SimplifyExpr()(mod)
        assert structural_equal(kept, plain)
        assert relay.transform.InferType()(kept) is kept
        assert len(entries) == 2
    with transform.PassContext(cache=Store()):
        relay.transform.SimplifyExpr(exact=True)(mod)
    assert len(entries) == 4


def test_entries_are_a_list_of_names():
    with pytest.raises(TypeError, match=r"expected a sequence of names, got str; write \['main'\]"):
        relay.transform.RemoveUnusedFunctions("main")
