"""The passes of Relay from Python: their names, options and kinds."""

import pytest

from isoform import ir, relay, structural_equal, transform

x = relay.var("x", shape=(2,))


def module(body, *params):
    return relay.transform.InferType()(ir.IRModule.from_expr(relay.Function(params, body)))


def test_r100_passes_by_name_and_their_info():
    kinds = {
        "InferType": (0, []),
        "EliminateCommonSubexpr": (3, ["InferType"]),
        "FuseOps": (0, ["InferType"]),
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


def test_r100_common_subexpressions_with_a_function_that_skips():
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


def test_r105_dead_code_with_options():
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


def test_r113_normal_forms_in_a_pipeline():
    shared = relay.exp(x)
    mod = module(shared * relay.log(shared), x)
    named = relay.transform.ToANormalForm()(mod)
    assert isinstance(named["main"].body, relay.Let)
    assert relay.transform.ToANormalForm()(named) is named
    both = transform.parse_pipeline("ToANormalForm,ToGraphNormalForm,InferType")
    assert structural_equal(both(mod), mod)
    assert relay.transform.ToBasicBlockNormalForm()(mod) is mod


def test_r115_r117_inlining_and_removal():
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


def test_r127_fusing_depends_on_the_context():
    mod = module(relay.exp(relay.exp(x)), x)

    def kernels(level=-1, **options):
        with transform.PassContext(**options):
            fused = relay.transform.FuseOps(level)(mod)["main"]
        return relay.testing.count_ops(fused), isinstance(fused.body.args[0], relay.Call)

    assert kernels() == ({"exp": 2}, False)
    assert kernels(0) == ({"exp": 2}, True)
    assert kernels(opt_level=0) == ({"exp": 2}, True)
    assert kernels(config={"relay.FuseOps.max_depth": 1}) == ({"exp": 2}, True)


def test_r67_function_passes_see_functions_that_may_be_changed():
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


def test_r110_a_million_levels():
    body = x
    for _ in range(1_000_000):
        body = relay.exp(body)
    func = relay.Function([x], body)
    named = relay.transform.ToANormalFormExpr(func)
    assert isinstance(named.body, relay.Let)
