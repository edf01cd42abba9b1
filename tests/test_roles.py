"""Roles of types in rewrites: the dialects that declare them, and what happens without."""

import pytest

from isoform import Object, ir, onnx, py_class, relay, structural_equal, tir, type_attrs
from isoform.dataclasses import field
from isoform.pattern import Hole, Pattern, Rule, rewrite_greedily
from isoform.transform import CSE, cse

x, y = relay.Wildcard("x"), relay.Wildcard("y")
a, b = (relay.var(name, shape=(2,)) for name in "ab")


@py_class("test_roles.Expr")
class Expr(Object):
    pass


@py_class("test_roles.Var", structural_eq="var")
class Var(Expr):
    name: str = field(structural_eq="ignore")


@py_class("test_roles.Pair")
class Pair(Expr):
    left: Expr
    right: Expr


@py_class("test_roles.Call")
class Call(Expr):
    op: str
    args: list[Expr]


v, w = Var("v"), Var("w")


def matches(pattern, value):
    return pattern.match(value) is not None


@pytest.mark.parametrize(
    ("make", "commutes"),
    [
        (relay.add, True),
        (relay.maximum, True),
        (relay.equal, True),
        (relay.logical_and, True),
        (relay.subtract, False),
        (relay.divide, False),
        (relay.less, False),
    ],
)
def test_relay_operators_say_whether_operands_commute(make, commutes):
    pattern = Pattern(make(relay.exp(x), y), [x, y], commutative=True)
    assert matches(pattern, make(relay.exp(a), b))
    assert matches(pattern, make(b, relay.exp(a))) is commutes
    assert not matches(Pattern(make(relay.exp(x), y), [x, y]), make(b, relay.exp(a)))


def test_relay_constants_definitions_and_items():
    constant = Pattern(relay.exp(x), Hole(x, constant=True))
    assert matches(constant, relay.exp(relay.const(1.0)))
    assert not matches(constant, relay.exp(a))
    t = relay.var("t")
    through = Rule(Pattern(relay.exp(relay.exp(x)), x, definitions=True), relay.tanh(x))
    done = rewrite_greedily(relay.Let(t, relay.exp(a), relay.exp(t)), through)
    assert structural_equal(done.value, relay.tanh(a))
    dropped = relay.Let(t, relay.nn.dropout(a), relay.exp(t))
    through = Pattern(relay.exp(relay.nn.dropout(x)), x, definitions=True)
    assert rewrite_greedily(dropped, Rule(through, x)).applied == (0,)
    halves = relay.split(x, 2)
    rule = Rule.results(Pattern(halves.astuple(), x), [relay.exp(x), relay.tanh(x)])
    done = rewrite_greedily(relay.add(relay.split(a, 2)[1], relay.split(a, 2)[0]), rule)
    assert done.applied == (2,)


def test_relay_calls_are_computed_once():
    both = relay.Tuple([relay.exp(a), relay.exp(a)])
    done = cse(both)
    assert done.fields[0].same_as(done.fields[1])
    mod = ir.IRModule.from_expr(relay.Function([a], both))
    body = CSE()(mod)["main"].body
    assert body.fields[0].same_as(body.fields[1])
    apart = relay.Tuple([relay.nn.dropout(a), relay.nn.dropout(a)])
    assert cse(apart).same_as(apart)


def test_an_inner_let_of_an_equal_value_goes():
    s, t = relay.var("s"), relay.var("t")
    program = relay.Let(s, relay.exp(a), relay.Let(t, relay.exp(a), relay.add(s, t)))
    expected = relay.Let(s, relay.exp(a), relay.add(s, s))
    assert structural_equal(cse(program), expected)
    mod = relay.transform.InferType()(ir.IRModule.from_expr(relay.Function([a], program)))
    done = relay.transform.EliminateCommonSubexpr()(mod)["main"].body
    assert all(arg.same_as(done.var) for arg in done.body.args)


def onnx_call(op, *inputs, **attrs):
    return onnx.Call("", op, 14, None, attrs, list(inputs), 1)


def test_onnx_calls_have_roles_by_operator():
    p, q = (onnx.Input(name, None, None) for name in "pq")
    hole = onnx.Dim("hole")
    for op, commutes in [("Add", True), ("Max", True), ("Sub", False), ("Pow", False)]:
        pattern = Pattern(onnx_call(op, hole, p), hole, False, commutative=True)
        assert matches(pattern, onnx_call(op, p, q)) is commutes, op
    old = Pattern(onnx_call("Add", hole, p, axis=1), hole, False, commutative=True)
    assert not matches(old, onnx_call("Add", p, q, axis=1))
    constant = Pattern(onnx_call("Add", hole, p), Hole(hole, constant=True), False)
    assert not matches(constant, onnx_call("Add", q, p))
    out = lambda op, **attrs: onnx.Output(onnx_call(op, p, **attrs), 0)  # noqa: E731
    for op, one in [("Exp", True), ("RandomNormalLike", False), ("Bernoulli", False)]:
        graph = onnx.Graph([p], [None, None], [out(op), out(op)])
        done = cse(graph)
        assert done.results[0].call.same_as(done.results[1].call) is one, op
    pair = onnx_call("Split", hole)
    rule = Rule.results(Pattern(pair, hole), [onnx.Output(onnx_call("Exp", hole), 0)])
    graph = onnx.Graph([p], [None], [onnx.Output(onnx_call("Split", p), 0)])
    done = rewrite_greedily(graph, rule)
    assert done.applied == (1,) and done.value.results[0].call.op == "Exp"


@pytest.mark.parametrize(
    ("make", "role"),
    [
        (lambda: Pattern(Pair(v, w), [v, w], commutative=True), "rewrite.commutative"),
        (lambda: Pattern(Pair(v, w), [v, w], definitions=True), "rewrite.pure"),
        (lambda: Pattern(Pair(v, w), [Hole(v, constant=True), w]), "rewrite.constant"),
        (lambda: Rule.results(Pattern(Pair(v, w), [v, w]), [v, w]), "rewrite.projection"),
        (lambda: cse(Pair(Pair(v, v), Pair(v, v))), "rewrite.pure"),
    ],
)
def test_what_has_no_effect_is_an_error(make, role):
    with pytest.raises(ValueError, match=r"no effect on test_roles\.Pair") as caught:
        make()
    assert f"'{role}'" in str(caught.value) and "type_attrs.set(" in str(caught.value)


def test_other_dialects_are_not_refused():
    s = tir.Var("s", "int32")
    assert Pattern(tir.Sub(s, 1), s, commutative=True).match(tir.Sub(s, 1)) is not None
    mixed = Pattern([Pair(v, w), tir.Add(s, 1)], [v, w, s], commutative=True)
    assert mixed.match([Pair(w, v), tir.Add(1, s)]) is not None
    assert Pattern([s, 0], s, commutative=True, definitions=True).match([s, 0]) is not None
    assert cse(ir.IRModule({"f": ir.BaseFunc()})) is not None
    program = Pair(Pair(v, v), Pair(v, v))
    merged = cse(program, pure=lambda node: True)
    assert merged.left.same_as(merged.right)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (("args",), r"write 'args' instead"),
        (["op", "args", "op"], r"got an array with 3 names"),
        (7, r"expected the names of two fields.*got int"),
        ("agrs", r"there is no field 'agrs', did you mean 'args'\?"),
        ("op", r"expected the name of a field with an array, got 'op' with str"),
    ],
)
def test_a_wrong_role_is_refused_where_it_is_set(value, problem):
    with pytest.raises((TypeError, ValueError), match=problem) as caught:
        type_attrs.set(Call, "rewrite.commutative", value)
    assert "'rewrite.commutative' of type test_roles.Call" in str(caught.value)
    assert not type_attrs.has(Call, "rewrite.commutative")


def test_roles_are_documented():
    info = type_attrs.info("rewrite.commutative")
    assert "any order" in info.doc


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"type_annotation.dtype": "float32"}, True),
        ({"type_annotation.dtype": "int32"}, False),
        ({"type_annotation.shape[0]": 2}, True),
        ({"type_annotation.shape[0]": 3}, False),
        ({"type_annotation.shape[0]": tir.IntImm("int64", 2)}, False),
        ({"type_annotation.shape[0].value": 2}, True),
        ({"type_annotation.shape[1]": 2}, False),
    ],
)
def test_fields_of_holes_take_what_fields_take(fields, found):
    assert matches(Pattern(relay.exp(x), Hole(x, fields=fields)), relay.exp(a)) is found


@pytest.mark.parametrize(
    ("cls", "path", "problem"),
    [
        (relay.Var, "type_anotation.dtype", "did you mean 'type_annotation'"),
        (relay.Var, "type_annotation.shap[0]", "did you mean 'shape'"),
        (relay.Var, "type_annotation.shape.dims", "expected an object with a field 'dims'"),
        (relay.Call, "args.first", "expected an object with a field 'first', got"),
        (None, "type_anotation.dtype", "did you mean 'type_annotation'"),
    ],
)
def test_places_that_cannot_exist_are_errors(cls, path, problem):
    with pytest.raises(ValueError, match=problem):
        Pattern(relay.exp(x), Hole(x, cls=cls, fields={path: 1}))
    with pytest.raises(ValueError, match=problem):
        Pattern(relay.exp(x), Hole(x, cls=cls, fields={path: Pattern(1)}))


def test_a_value_that_no_field_takes_is_an_error():
    with pytest.raises(TypeError, match=r"Hole.field 'type_annotation.dtype'.*flaot32"):
        Pattern(relay.exp(x), Hole(x, fields={"type_annotation.dtype": "flaot32"}))
