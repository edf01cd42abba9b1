"""Analyses of Relay programs, called from Python; the cases are in the tests of Rust."""

import pytest

from isoform import get_global_func, ir, relay, structural_hash
from isoform.relay import analysis
from isoform.relay.analysis import Feature


def op(name):
    return get_global_func("ir.RegisterOp")(name)


def call(name, *args):
    return relay.Call(op(name), args)


def names(found):
    return [var.name_hint for var in found]


def test_post_order_visit():
    x, y = relay.var("x"), relay.var("y")
    seen = []
    analysis.post_order_visit(relay.Let(x, y, call("relay_py.op", x)), seen.append)
    assert [type(node).__name__ for node in seen] == ["Var", "Var", "Op", "Call", "Let"]
    assert seen[0] is y

    def fail(node):
        raise KeyError(node.name_hint)

    with pytest.raises(KeyError, match="x"):
        analysis.post_order_visit(x, fail)


def test_variables():
    x, y, z, a = (relay.var(name) for name in "xyza")
    assert names(analysis.all_vars(relay.Function([x, y], z))) == ["x", "y", "z"]
    func = relay.Function([x, y, z], relay.Let(a, x, relay.Tuple([])))
    assert names(analysis.bound_vars(func)) == ["x", "y", "z", "a"]
    assert names(analysis.free_vars(func)) == []
    assert names(analysis.bound_vars(relay.PatternVar(x))) == ["x"]
    # Scopes count.
    assert names(analysis.free_vars(relay.Tuple([relay.Function([x], x), x]))) == ["x"]


def test_type_variables():
    a, b, c = (relay.TypeVar(name) for name in "abc")
    ty = relay.FuncType([b], c, [a])
    assert names(analysis.all_type_vars(ty)) == ["a", "b", "c"]
    assert names(analysis.bound_type_vars(ty)) == ["a"]
    assert names(analysis.free_type_vars(ty)) == ["b", "c"]
    prelude = relay.Prelude()
    cons = prelude.get_ctor("List", "cons")
    assert names(analysis.bound_type_vars(cons, prelude.mod)) == ["a"]
    assert names(analysis.free_type_vars(cons)) == ["a"]


def test_well_formed():
    x, v = relay.var("x"), relay.const(1)
    let = relay.Let(x, v, x)
    assert analysis.well_formed(let)
    assert analysis.well_formed(relay.Tuple([let, let]))
    assert not analysis.well_formed(relay.Let(x, v, relay.Let(x, v, x)))
    assert not analysis.well_formed(relay.Tuple([let, relay.Let(x, v, x)]))
    with pytest.raises(ValueError, match="the variable %x is bound twice"):
        analysis.check_well_formed(relay.Tuple([let, relay.Let(x, v, x)]))


def test_constants():
    one = relay.const(1)
    assert analysis.check_constant(relay.Tuple([one, relay.Tuple([])]))
    assert analysis.check_constant(call("on_device", one))
    assert not analysis.check_constant(relay.Tuple([relay.var("x")]))


def test_kinds():
    assert analysis.check_kind(relay.ShapeVar("n")) is relay.TypeKind.ShapeVar
    with pytest.raises(TypeError, match=r"ir.TupleType.fields\[0\]: expected kind Type"):
        analysis.check_kind(relay.TupleType([relay.ShapeVar("n")]))


def test_features():
    x, f = relay.var("x"), relay.var("f")
    shared = relay.Tuple([x])
    assert analysis.detect_feature(relay.Tuple([shared, shared])) == {
        Feature.fVar,
        Feature.fTuple,
        Feature.fGraph,
    }
    recursive = relay.Let(f, relay.Function([], f()), f)
    assert Feature.fLetRec in analysis.detect_feature(recursive)
    mod = ir.IRModule({"main": relay.Function([], relay.const(1))})
    assert analysis.detect_feature(x, mod) == {Feature.fVar, Feature.fFunction, Feature.fConstant}
    assert [feature.name for feature in Feature] == [
        "fVar",
        "fGlobalVar",
        "fConstant",
        "fTuple",
        "fTupleGetItem",
        "fFunction",
        "fOp",
        "fCall",
        "fLet",
        "fIf",
        "fRefCreate",
        "fRefRead",
        "fRefWrite",
        "fConstructor",
        "fMatch",
        "fGraph",
        "fLetRec",
    ]


def test_basic_blocks():
    x = relay.var("x")
    shared = relay.Tuple([x])
    assert analysis.check_basic_block_normal_form(relay.If(x, shared, x)) is True
    with pytest.raises(ValueError, match="several blocks use"):
        analysis.check_basic_block_normal_form(relay.If(x, shared, shared))


def test_call_graph():
    f, g = ir.GlobalVar("f"), ir.GlobalVar("g")
    mod = ir.IRModule({f: relay.Function([], relay.Tuple([f(), g()])), g: relay.Function([], f())})
    graph = analysis.CallGraph(mod)
    assert graph.module is mod
    assert (graph.ref_count("f"), graph.ref_count(g)) == (2, 1)
    assert graph.global_call_count(f) == 2
    assert graph.is_recursive(f)
    assert not graph.is_recursive("g")
    assert graph.print_var("g") == "@g: 1 references, mentions [@f]"
    assert str(graph).splitlines() == [graph.print_var("f"), graph.print_var("g")]
    for unknown in ("h", ir.GlobalVar("f")):
        with pytest.raises(ValueError, match="has no function"):
            graph.ref_count(unknown)


def test_counts():
    x = relay.var("x")
    expr = call("relay_py.a", call("relay_py.b", x), call("relay_py.b", x))
    assert relay.testing.count_ops(expr) == {"relay_py.a": 1, "relay_py.b": 2}
    assert analysis.count_layers(expr, ["relay_py.b"]) == 1
    assert analysis.count_layers(expr, ["relay_py.a", "relay_py.b"]) == 2
    mod = ir.IRModule({"f": relay.Function([x], expr)})
    assert analysis.list_op_freqs(mod) == {"relay_py.a": 1, "relay_py.b": 2}
    assert analysis.all_dtypes(expr) == set()
    assert analysis.get_total_mac_number(expr) == 0
    with pytest.raises(ValueError, match="checked_type"):
        analysis.get_total_mac_number(call("nn.dense", x, x))


def test_extraction():
    x = relay.var("x")
    y = relay.var("y")
    fused = relay.Function([y], call("relay_py.b", y)).with_attr("Primitive", 1)
    main = relay.Function([x], relay.Tuple([fused(x)]))
    mod = ir.IRModule({"main": main})
    part = analysis.extract_intermdeiate_expr(mod, 1)
    assert isinstance(part["main"].body, relay.Call)
    with pytest.raises(ValueError, match="one of the 3"):
        analysis.extract_intermediate_expr(mod, 3)
    with pytest.raises(ValueError, match="got -1"):
        analysis.extract_intermediate_expr(mod, -1)


def test_fused_functions_are_those_that_fusion_makes():
    v = relay.var("v", shape=(2,))
    kernel = relay.Function([v], relay.tanh(v)).with_attr("Primitive", 1)
    x = relay.var("x", shape=(2,))
    mod = ir.IRModule.from_expr(relay.Function([x], kernel(relay.exp(x + x))))
    found = analysis.extract_fused_functions(mod)
    assert sorted(func.body.op.name for func in found.values()) == ["exp", "tanh"]
    assert all(func.attrs["Primitive"] == 1 for func in found.values())
    # Keys are integers of 64 bits with a sign.
    assert all(key % 2**64 == structural_hash(func) for key, func in found.items())
    with pytest.raises(ir.DiagnosticError):
        analysis.extract_fused_functions(ir.IRModule.from_expr(relay.exp(relay.Tuple([]))))


def test_unmatched_cases_and_fresh_variables():
    prelude = relay.Prelude()
    _, cons, nil = prelude.get_type("List")
    match = relay.Match(relay.var("xs"), [relay.Clause(relay.PatternConstructor(nil), nil())])
    (left,) = analysis.unmatched_cases(match, prelude.mod)
    assert left.constructor is cons
    x = relay.var("x")
    copy = relay.dedup(relay.Function([x], x))
    assert copy.params[0] is copy.body is not x
