"""Dataflow patterns of Relay: forms, matches, rewrites, partitions, and a brute-force oracle."""

import random

import pytest
from scale import scaled

from isoform import _graph_search, ir, relay, structural_equal, tir
from isoform.relay import dataflow_pattern as dp
from isoform.relay.dataflow_pattern import (
    DFPatternCallback,
    ExprGraph,
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    has_type,
    is_alt,
    is_constant,
    is_expr,
    is_function,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    match,
    partition,
    rewrite,
    wildcard,
)
from isoform.relay.testing import call

A, B, C = (relay.var(name, shape=(2, 3)) for name in "abc")
INT = relay.var("i", shape=(2, 3), dtype="int32")
ONE = relay.const(1.0)
PAIR = relay.Tuple([A, B])


def relu(x):
    return relay.nn.relu(x)


def conv(x, w):
    return relay.nn.conv2d(x, w, kernel_size=(3, 3), channels=8)


def bindings(pattern, expr):
    """The bindings of a match, or None."""
    found = ExprGraph(expr).match(pattern, expr)
    return None if found is None else found.bindings


def bound(names):
    v = relay.var("v")
    return relay.Let(v, names, relu(v))


def unary(name):
    return is_op(name)(wildcard())


def function_of(body):
    return relay.Function([A], body)


ARGS = wildcard()
SAME = wildcard()
NESTED = is_op("add")(is_op("multiply")(is_var("a"), is_var("b")), is_var("c"))

# The form, the pattern, expressions that match, expressions that do not.
FORMS = {
    "wildcard": (wildcard(), [A, ONE, PAIR, relu(A), ir.Op.get("add")], []),
    "variable": (is_var(), [A, B], [ONE, relu(A)]),
    "variable with a name": (is_var("a"), [A, relay.var("a")], [B]),
    "constant": (is_constant(), [ONE, relay.const([1, 2])], [A]),
    "expression": (is_expr(relay.const(1.0)), [ONE], [A, relay.const(2.0), relay.const(1)]),
    "shared expression": (is_expr(A), [A], [B, relay.var("a", shape=(2, 3))]),
    "operator": (is_op("exp"), [ir.Op.get("exp")], [ir.Op.get("log"), A]),
    "call": (unary("exp"), [relay.exp(A)], [relay.log(A), A, A + B]),
    "call of anything": (wildcard()(wildcard()), [relay.exp(A), A(B)], [A + B, A]),
    "call with any arguments": (is_op("add")(None), [A + B, B + A], [A * B]),
    "call without arguments": (wildcard()(), [A()], [A(B)]),
    "same operand twice": (SAME + SAME, [A + A], [A + B]),
    "equal operands are two": (SAME * SAME, [A * A], [relu(A) * relu(A)]),
    "sum": (is_var("a") + is_var("b"), [A + B, B + A], [A + A, A - B]),
    "difference": (is_var("a") - is_var("b"), [A - B], [B - A]),
    "product": (is_var("a") * is_var("b"), [A * B, B * A], [B * B]),
    "quotient": (is_var("a") / is_var("b"), [A / B], [B / A]),
    "nested either order": (NESTED, [A * B + C, C + B * A, B * A + C], [A * C + B]),
    "quotient regrouped": (
        (is_var("a") * is_var("b")) / is_var("c"),
        [A * B / C, A * (B / C), B * (A / C), (A / C) * B, (B / C) * A],
        [A / C / B, A * (C / B), C * (A / B)],
    ),
    "product regrouped": (
        is_var("a") * (is_var("b") / is_var("c")),
        [A * (B / C), (B / C) * A, A * B / C, B * A / C],
        [A / (B * C), (A * C) / B],
    ),
    "alternative": (unary("exp") | unary("log"), [relay.exp(A), relay.log(A)], [relu(A)]),
    "alternative by name": (is_alt(is_var(), is_constant()), [A, ONE], [relu(A)]),
    "alternative inside": (
        relu_of := is_op("nn.relu")(unary("exp") | unary("log")),
        [relu(relay.exp(A)), relu(relay.log(A))],
        [relu(A), relay.exp(A)],
    ),
    "alternative that a later part decides": (
        is_op("subtract")((SAME | is_op("exp")(SAME)), SAME),
        [A - A, relay.exp(A) - A],
        [relay.exp(A) - B],
    ),
    "optional": (
        unary("exp").optional(lambda x: is_op("nn.relu")(x)),
        [relay.exp(A), relu(relay.exp(A))],
        [relu(A)],
    ),
    "tuple": (
        is_tuple([is_var("a"), wildcard()]),
        [PAIR],
        [relay.Tuple([B, A]), relay.Tuple([A]), A],
    ),
    "any tuple": (is_tuple(None), [PAIR, relay.Tuple([])], [A]),
    "item": (
        is_tuple_get_item(wildcard(), 1),
        [relay.TupleGetItem(PAIR, 1)],
        [relay.TupleGetItem(PAIR, 0), A],
    ),
    "any item": (
        is_tuple_get_item(is_tuple([wildcard(), wildcard()])),
        [relay.TupleGetItem(PAIR, 1), relay.TupleGetItem(PAIR, 0)],
        [relay.TupleGetItem(A, 0)],
    ),
    "if": (
        is_if(is_var("a"), is_var("b"), wildcard()),
        [relay.If(A, B, C)],
        [relay.If(A, C, B), A],
    ),
    "let": (
        is_let(SAME_VAR := is_var(), is_var("a"), is_op("nn.relu")(SAME_VAR)),
        [bound(A)],
        [bound(B), relay.Let(B, A, relu(A)), A],
    ),
    "function": (
        is_function([P := is_var()], is_op("exp")(P)),
        [function_of(relay.exp(A))],
        [function_of(relay.exp(B)), relay.Function([A, B], relay.exp(A)), A],
    ),
    "function with any parameters": (
        is_function(None, unary("exp")),
        [function_of(relay.exp(A)), relay.Function([], relay.exp(B))],
        [function_of(A)],
    ),
    "attribute of an operator": (
        wildcard().has_attr({"TOpPattern": 0})(None),
        [relay.exp(A), relu(A)],
        [A + B, A(B)],
    ),
    "attribute of a call": (
        has_attr({"axis": 1}, is_op("nn.softmax")(wildcard())),
        [relay.nn.softmax(A, axis=1)],
        [relay.nn.softmax(A, axis=0), relay.exp(A)],
    ),
    "attributes of a call": (
        is_op("nn.conv2d")(None).has_attr(
            {"kernel_size": [3, 3], "channels": 8, "data_layout": "NCHW"}
        ),
        [conv(A, B)],
        [relay.nn.conv2d(A, B, kernel_size=(1, 1), channels=8)],
    ),
    "attribute with a data type": (
        is_op("cast")(wildcard()).has_attr({"dtype": "int8"}),
        [relay.cast(A, "int8")],
        [relay.cast(A, "int16")],
    ),
    "attribute as a number of the IR": (
        is_op("nn.softmax")(wildcard()).has_attr({"axis": tir.IntImm("int32", 1)}),
        [relay.nn.softmax(A, axis=1)],
        [relay.nn.softmax(A, axis=0)],
    ),
    "attribute as a truth value": (
        is_op("sum")(wildcard()).has_attr({"keepdims": 1, "axis": [0]}),
        [relay.sum(A, axis=0, keepdims=True)],
        [relay.sum(A, axis=0), relay.sum(A, axis=1, keepdims=True)],
    ),
    "attribute of a function": (
        is_function(None, wildcard()).has_attr({"Composite": "x"}),
        [function_of(A).with_attr("Composite", "x")],
        [function_of(A).with_attr("Composite", "y"), function_of(A)],
    ),
    "no attributes": (has_attr({}), [relu(A), function_of(A)], []),
    "data type": (has_dtype("float32"), [A, A + B, relu(A)], [INT, PAIR]),
    "data type of an operand": (
        is_op("nn.relu")(wildcard().has_dtype("int32")),
        [relu(INT)],
        [relu(A)],
    ),
    "shape": (has_shape((2, 3)), [A, INT, relu(A)], [relay.var("s", shape=(3, 2)), PAIR]),
    "shape of a result": (
        is_op("transpose")(wildcard()).has_shape([3, 2]),
        [relay.transpose(A)],
        [relay.transpose(relay.transpose(A))],
    ),
    "type": (has_type(relay.TensorType((2, 3), "float32")), [A, A * B], [INT]),
    "type of a tuple": (
        has_type(relay.TupleType([relay.TensorType((2, 3), "float32")] * 2)),
        [PAIR],
        [A, relay.Tuple([A])],
    ),
}


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    FORMS.values(),
    ids=[name.replace(" ", "_") for name in FORMS],
)
def test_form(pattern, matching, others):
    for expr in matching:
        assert pattern.match(expr) is True
        assert match(pattern, expr) is True
        assert pattern.explain(expr) is None
    for expr in others:
        assert pattern.match(expr) is False
        assert match(pattern, expr) is False
        assert str(pattern.explain(expr)).startswith("<root>")


@pytest.mark.parametrize(
    ("pattern", "expr", "text"),
    [
        (
            is_op("exp")(is_constant()),
            relay.exp(A),
            "<root>.args[0]: expected relay.Constant, got relay.Var",
        ),
        (is_op("exp")(wildcard()), relay.log(A), "<root>: expected the operator exp, got log"),
        (is_op("add")(wildcard()), A + B, "<root>: expected 1 arguments, got 2"),
        (is_var("x"), A, "<root>: expected a variable 'x', got 'a'"),
        (is_tuple([wildcard()]), PAIR, "<root>: expected 1 fields, got 2"),
        (
            is_tuple_get_item(is_var(), 0),
            relay.TupleGetItem(A, 1),
            "<root>: expected the index 0, got 1",
        ),
        (is_function([], wildcard()), function_of(A), "<root>: expected 0 parameters, got 1"),
        (has_dtype("int8"), A, "<root>: expected the data type int8, got float32"),
        (has_shape((1,)), A, "<root>: expected the shape [1], got [2, 3]"),
        (has_dtype("int8"), PAIR, "<root>: expected a tensor, got a value of the type"),
        (
            has_attr({"axis": 1}),
            relay.nn.softmax(A, axis=0),
            "<root>: attribute 'axis': expected 1, got 0",
        ),
        (
            has_attr({"nothing": 1}),
            A,
            "<root>: expected an attribute 'nothing', got relay.Var without it",
        ),
        (
            is_expr(ONE),
            A,
            "<root>: expected an expression equal to the given relay.Constant, got relay.Var",
        ),
        (
            is_op("subtract")(SAME, SAME),
            A - B,
            "<root>.args[1]: expected the vertex bound to the same pattern before, got relay.Var",
        ),
        # The alternative that got further is explained.
        (
            unary("log") | is_op("exp")(is_op("nn.relu")(is_constant())),
            relay.exp(relu(A)),
            "<root>.args[0].args[0]: expected relay.Constant, got relay.Var",
        ),
        (
            dominates(unary("exp"), unary("nn.relu"), is_op("add")(wildcard(), wildcard())),
            relay.exp(A) + relay.exp(B),
            "<root>: no vertex above matches the parent",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_explanation_has_the_place_and_the_reason(pattern, expr, text):
    assert str(pattern.explain(expr)).startswith(text)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: is_op("add")(wildcard(), ONE),
            TypeError,
            r"CallPattern\.args\[1\]: expected a DFPattern, got relay\.Constant; write is_expr",
        ),
        (
            lambda: wildcard() + 1,
            TypeError,
            r"CallPattern\.args\[1\]: expected a DFPattern, got int",
        ),
        (lambda: wildcard() | A, TypeError, r"AltPattern\.right: expected a DFPattern"),
        (
            lambda: is_tuple(wildcard()),
            TypeError,
            r"TuplePattern\.fields: expected a sequence of DFPatterns",
        ),
        (lambda: is_function([A], wildcard()), TypeError, r"FunctionPattern\.params\[0\]"),
        (lambda: is_if(A, wildcard(), wildcard()), TypeError, r"IfPattern\.cond"),
        (lambda: is_let(wildcard(), 1, wildcard()), TypeError, r"LetPattern\.value"),
        (lambda: dominates(wildcard(), wildcard(), A), TypeError, r"DominatorPattern\.child"),
        (lambda: wildcard().redirect_to(A), TypeError, r"redirect_to"),
        (
            lambda: wildcard().has_attr(1),
            TypeError,
            r"AttrPattern\.attrs: expected values by name, got int",
        ),
        (
            lambda: is_expr(1),
            TypeError,
            r"ExprPattern\.expr: expected an expression of Relay, got int",
        ),
        (lambda: is_op("no.such.operator"), AttributeError, "no.such.operator"),
        (lambda: wildcard().match(3), TypeError, "match: expected an expression of Relay, got int"),
        (lambda: match(A, A), TypeError, r"match\.pattern: expected a DFPattern"),
        (lambda: partition(A, A), TypeError, r"partition\.pattern: expected a DFPattern"),
        (
            lambda: rewrite([1], A),
            TypeError,
            r"rewrite\.callbacks: expected DFPatternCallbacks, got int",
        ),
        (
            lambda: rewrite(DFPatternCallback(), A),
            TypeError,
            r"DFPatternCallback\.pattern: expected a DFPattern",
        ),
    ],
)
def test_bad_input_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


class Rule(DFPatternCallback):
    """A rule from a pattern and a function of the node map."""

    def __init__(self, pattern, make, **options):
        super().__init__(**options)
        self.pattern = pattern
        self.make = make
        self.calls = 0

    def callback(self, pre, post, node_map):
        self.calls += 1
        return self.make(pre, post, node_map)


def twice(name="nn.relu"):
    """The rule that merges an operator applied twice."""
    x = wildcard()
    return Rule(is_op(name)(is_op(name)(x)), lambda pre, post, nodes: call(name, nodes[x][0]))


def test_a_node_map_has_the_expression_of_each_pattern():
    x, y, op = wildcard(), is_var(), is_op("exp")
    inner = op(x)
    pattern = is_op("add")(inner, y)
    expr = B + relay.exp(relu(A))
    found = bindings(pattern, expr)
    assert found is not None
    wanted = {
        pattern: expr,
        inner: expr.args[1],
        x: expr.args[1].args[0],
        y: B,
        op: ir.Op.get("exp"),
    }
    for part, value in wanted.items():
        assert [item is value for item in found[part]] == [True]


def test_a_callback_sees_the_expressions_before_and_after():
    x = wildcard()
    seen = []

    def merge(pre, post, nodes):
        seen.append((pre, post, nodes[x][0], nodes[rule.pattern][0]))
        return relay.exp(nodes[x][0])

    rule = Rule(is_op("exp")(is_op("exp")(x)), merge)
    inner = relay.exp(relay.exp(A))
    expr = relay.exp(relay.exp(relu(inner)))
    done = rule.rewrite(expr)
    assert structural_equal(done, relay.exp(relu(relay.exp(A))))
    (first, second) = seen
    assert first[0] is inner and first[1] is inner and first[2] is A
    assert second[0] is expr
    assert structural_equal(second[1], relay.exp(relay.exp(relu(relay.exp(A)))))
    assert structural_equal(second[2], relu(relay.exp(A)))
    assert second[3] is second[1]


def test_parts_that_did_not_match_are_not_in_the_node_map():
    x, bias = wildcard(), wildcard()
    biased = is_op("add")(x, bias)

    def made(pre, post, nodes):
        assert x in nodes
        if bias in nodes:
            return relay.log(nodes[bias][0])
        with pytest.raises(KeyError, match="does not involve this WildcardPattern"):
            nodes[bias]
        return relay.log(nodes[x][0])

    rule = Rule(is_op("exp")(is_op("nn.relu")(x) | is_op("nn.relu")(biased)), made)
    # The first alternative matches, so `x` is the sum.
    assert structural_equal(rule.rewrite(relay.exp(relu(A + B))), relay.log(A + B))
    rule.pattern = is_op("exp")(is_op("nn.relu")(biased) | is_op("nn.relu")(x))
    assert structural_equal(rule.rewrite(relay.exp(relu(A + B))), relay.log(B))
    assert structural_equal(rule.rewrite(relay.exp(relu(A))), relay.log(A))


def test_rules_run_to_a_fixed_point():
    rule = twice()
    expr = A
    for _ in range(9):
        expr = relu(expr)
    assert structural_equal(rewrite(rule, expr), relu(A))
    unchanged = relay.exp(relu(A))
    assert rewrite(rule, unchanged) is unchanged


def test_several_rules_work_together():
    x = wildcard()
    to_log = Rule(is_op("exp")(x), lambda pre, post, nodes: relay.log(nodes[x][0]))
    expr = relay.log(relay.exp(relay.exp(A)))
    assert structural_equal(rewrite([to_log, twice("log")], expr), relay.log(A))


def test_rules_without_end_are_an_error():
    x = wildcard()
    grow = Rule(is_op("exp")(x), lambda pre, post, nodes: relay.exp(relu(nodes[x][0])))
    with pytest.raises(ValueError, match="Rule changed the expression in each of 100 rounds"):
        rewrite(grow, relay.exp(A))
    assert grow.calls == 100


def test_a_rule_may_run_once():
    x = wildcard()
    wrap = Rule(is_op("exp")(x), lambda pre, post, nodes: relay.exp(post), rewrite_once=True)
    assert structural_equal(rewrite(wrap, relay.exp(A)), relay.exp(relay.exp(A)))
    assert structural_equal(
        rewrite([wrap, twice("log")], relay.log(relay.log(relay.log(relay.log(relay.exp(A)))))),
        relay.log(relay.exp(relay.exp(A))),
    )


def test_a_rule_without_an_init_of_its_own():
    class Plain(DFPatternCallback):
        pattern = is_op("exp")(wildcard())

        def __init__(self):
            self.pattern = is_op("exp")(wildcard())

        def callback(self, pre, post, node_map):
            return relay.log(post.args[0])

    assert structural_equal(rewrite(Plain(), relay.exp(A)), relay.log(A))


def test_a_rule_may_require_types():
    x = wildcard()

    def shaped(pre, post, nodes):
        assert post.op.name == "exp"
        return relay.zeros(pre.checked_type.concrete_shape, pre.checked_type.dtype)

    rule = Rule(is_op("exp")(x), shaped, require_type=True)
    done = rewrite(rule, relay.Tuple([relay.exp(A)]))
    assert structural_equal(done[0], relay.zeros((2, 3), "float32"))
    with pytest.raises(ir.DiagnosticError):
        rewrite(rule, relay.exp(A + relay.var("d", shape=(7,))))


def test_inference_knows_the_functions_of_the_module():
    mod = ir.IRModule.from_expr(relay.Function([A], relay.exp(A)))
    name = mod.get_global_var("main")
    x = wildcard()
    rule = Rule(
        is_op("nn.relu")(x.has_shape((2, 3))), lambda pre, post, nodes: relay.log(nodes[x][0])
    )
    assert structural_equal(rewrite(rule, relu(name(A)), mod), relay.log(name(A)))


@pytest.mark.parametrize("made", [None, 3])
def test_a_callback_returns_an_expression(made):
    rule = Rule(is_op("exp")(wildcard()), lambda pre, post, nodes: made)
    with pytest.raises(TypeError, match=r"Rule\.callback: expected an expression of Relay, got"):
        rewrite(rule, relay.exp(A))


def test_an_exception_of_a_callback_comes_back():
    def fail(pre, post, nodes):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        rewrite(Rule(is_op("exp")(wildcard()), fail), relay.exp(A))


def test_variables_and_constants_alone_are_rewritten_where_they_are_used():
    rule = Rule(is_var("a"), lambda pre, post, nodes: B)
    assert structural_equal(rewrite(rule, A + C), B + C)
    func = relay.Function([A], A + C)
    assert structural_equal(rewrite(rule, func), func)
    to_two = Rule(is_expr(relay.const(1)), lambda pre, post, nodes: relay.const(2))
    assert structural_equal(rewrite(to_two, A + relay.const(1)), A + relay.const(2))


def test_a_pattern_of_any_expression_sees_each_of_them_and_makes_no_functions():
    expr = relay.exp(relu(A))
    seen = []
    rule = Rule(wildcard(), lambda pre, post, nodes: seen.append(pre) or post)
    assert rewrite(rule, expr) is expr
    for part in (expr, expr.op, expr.args[0], A):
        assert sum(part is value for value in seen) == 1
    assert partition(wildcard(), expr) is expr
    assert partition(is_var(), expr) is expr


def test_rewriting_inside_of_functions_bindings_and_branches():
    v = relay.var("v")
    relu2 = relu(relu(A))
    func = relay.Function([A], relay.Let(v, relu2, relay.If(v, relu(relu(v)), v)))
    wanted = relay.Function([A], relay.Let(v, relu(A), relay.If(v, relu(v), v)))
    assert structural_equal(rewrite(twice(), func), wanted)


def test_a_match_whose_inside_is_used_elsewhere_is_left_alone():
    inner = relu(A)
    expr = relay.Tuple([relu(inner), inner])
    assert rewrite(twice(), expr) is expr
    assert partition(twice().pattern, expr) is expr
    # An input may be used anywhere.
    shared = relay.exp(A)
    both = relay.Tuple([relu(relu(shared)), shared])
    assert structural_equal(rewrite(twice(), both), relay.Tuple([relu(shared), shared]))


def test_refusals_name_the_expression_and_its_user():
    inner = relu(A)
    graph = ExprGraph(relay.Tuple([relu(inner), inner]))
    (refusal,) = graph.refusals(twice().pattern)
    assert refusal.value is inner
    assert refusal.reason == "the relay.Call is used outside of the match, by relay.Tuple"
    pairs = is_op("add")(unary("exp"), unary("exp"))
    shared = relay.exp(A)
    other = shared + relay.exp(B)
    expr = relay.Tuple([other, shared + relay.exp(C)])
    refusals = ExprGraph(expr).refusals(pairs)
    assert [refusal.value is shared for refusal in refusals] == [True, True]
    assert rewrite(Rule(pairs, lambda pre, post, nodes: A), expr) is expr


def test_a_use_that_leads_back_to_the_root_is_allowed():
    x, s = fresh(2)
    pattern = is_op("multiply")(is_op("exp")(wildcard()), wildcard())
    inner = relay.exp(A)
    swish = inner * relay.sigmoid(inner)
    wanted = part(relay.exp(x) * s, [x, s], "exp_multiply_")(A, relay.sigmoid(inner))
    assert structural_equal(pattern.partition(swish), wanted)
    out = relay.Tuple([inner * (both := relay.sigmoid(inner)), both])
    assert pattern.partition(out) is out


def test_the_root_of_a_match_may_have_many_users():
    root = relu(relu(A))
    done = rewrite(twice(), relay.Tuple([root, root, relay.exp(root)]))
    assert done[0] is done[1] and done[2].args[0] is done[0]
    assert structural_equal(done[0], relu(A))


def unary_path():
    return wildcard().has_attr({"TOpPattern": 0})(wildcard())


def diamond():
    parent = is_op("nn.conv2d")(wildcard(), wildcard())
    path = unary_path()
    child = is_op("add")(wildcard(), wildcard())
    return parent, path, dominates(parent, path, child)


def leaky(x):
    return relay.nn.leaky_relu(x, 0.1)


def joined(root):
    return relu(root) + leaky(root)


ROOT = conv(A, B)
DIAMONDS = {
    "one path": (relu(relu(ROOT)) + ROOT, True),
    "two paths": (joined(ROOT), True),
    "paths of two lengths": (relu(relay.exp(ROOT)) + leaky(ROOT), True),
    "no vertex between": (ROOT + ROOT, True),
    "a vertex off the path": (relu(ROOT) + relay.add(ROOT, ROOT), False),
    "two parents": (relu(ROOT) + leaky(conv(A, B)), False),
    "a path past the parent": (relu(ROOT) + leaky(A), False),
    "no parent": (joined(A), False),
    "another child": (relay.multiply(relu(ROOT), leaky(ROOT)), False),
}


@pytest.mark.parametrize(
    ("expr", "matches"), DIAMONDS.values(), ids=[n.replace(" ", "_") for n in DIAMONDS]
)
def test_dominators(expr, matches):
    _, _, pattern = diamond()
    assert pattern.match(expr) is matches
    # The method of the child is the same pattern.
    child = is_op("add")(wildcard(), wildcard())
    conv_pattern = is_op("nn.conv2d")(wildcard(), wildcard())
    assert child.dominates(conv_pattern, unary_path()).match(expr) is matches


def test_dominators_list_all_vertices_of_the_path():
    parent, path, pattern = diamond()
    expr = relu(relay.exp(ROOT)) + leaky(ROOT)
    found = bindings(pattern, expr)
    assert found is not None
    assert [value is ROOT for value in found[parent]] == [True]
    names = sorted(value.op.name for value in found[path])
    assert names == ["exp", "nn.leaky_relu", "nn.relu"]


def test_a_use_outside_breaks_dominance():
    _, _, pattern = diamond()
    rule = Rule(pattern, lambda pre, post, nodes: relay.log(A))
    inner = joined(ROOT)
    assert structural_equal(rewrite(rule, relay.Tuple([inner])), relay.Tuple([relay.log(A)]))
    for used in (ROOT, inner.args[0]):
        expr = relay.Tuple([inner, used])
        assert rewrite(rule, expr) is expr


def test_the_parent_may_be_farther_than_the_first_candidate():
    any_parent = unary("nn.relu")
    pattern = dominates(any_parent, unary_path(), is_op("add")(wildcard(), wildcard()))
    far = relu(A)
    near = relu(far)
    found = bindings(pattern, near + relay.exp(far))
    assert found is not None and found[any_parent][0] is far


def test_dominators_inside_of_larger_patterns():
    _, _, inner = diamond()
    outer = is_op("nn.relu")(inner)
    assert outer.match(relu(joined(ROOT)))
    above = dominates(inner, unary_path(), is_op("multiply")(wildcard(), wildcard()))
    assert above.match(relay.exp(joined(ROOT)) * relay.log(joined(ROOT))) is False
    bottom = joined(ROOT)
    assert above.match(relay.exp(bottom) * relay.log(bottom))


def test_a_long_row_of_diamonds_is_visited_once():
    """Paths multiply from diamond to diamond; vertices do not."""
    path = unary_path() | is_op("add")(wildcard(), wildcard())
    parent = is_op("nn.conv2d")(wildcard(), wildcard())
    expr = ROOT
    for _ in range(60):
        expr = joined(expr)
    assert dominates(parent, path, is_op("add")(wildcard(), wildcard())).match(expr)


def part(body, inputs, name, attrs=()):
    func = relay.Function(inputs, body).with_attr("PartitionedFromPattern", name)
    for key, value in dict(attrs).items():
        func = func.with_attr(key, value)
    return func


def fresh(count):
    return [relay.var(f"p{i}") for i in range(count)]


def test_partition_makes_a_function_of_each_match():
    x, w, b = fresh(3)
    pattern = is_op("nn.relu")(
        is_op("nn.bias_add")(is_op("nn.conv2d")(wildcard(), wildcard()), wildcard())
    )

    def func(*args):
        name = "nn.conv2d_nn.bias_add_nn.relu_"
        return part(relu(relay.nn.bias_add(conv(x, w), b)), [x, w, b], name)(*args)

    once = relu(relay.nn.bias_add(conv(A, B), C))
    assert structural_equal(pattern.partition(once), func(A, B, C))
    again = relu(relay.nn.bias_add(conv(once, B), C))
    assert structural_equal(partition(pattern, again), func(func(A, B, C), B, C))
    # Functions of an earlier partition stay.
    done = pattern.partition(again)
    assert pattern.partition(done) is done


def test_partition_with_attributes_and_check():
    x, w = fresh(2)
    pattern = is_op("nn.conv2d")(wildcard(), wildcard())
    func = part(conv(x, w), [x, w], "nn.conv2d_", {"Composite": "dnn.conv", "level": 2})
    attrs = {"Composite": "dnn.conv", "level": 2}
    assert structural_equal(pattern.partition(conv(A, B), attrs=attrs), func(A, B))
    wide = relay.nn.conv2d(A, B, groups=2, kernel_size=(3, 3), channels=8)
    expr = relay.Tuple([conv(A, B), wide])
    done = pattern.partition(expr, attrs, check=lambda found: found.attrs.groups == 1)
    assert structural_equal(done[0], func(A, B))
    assert done[1] is wide
    assert pattern.partition(expr, check=lambda found: False) is expr


def test_an_input_used_twice_is_one_parameter():
    (x,) = fresh(1)
    pattern = wildcard() * is_op("exp")(wildcard())
    expr = A * relay.exp(A)
    wanted = part(x * relay.exp(x), [x], "exp_multiply_")(A)
    assert structural_equal(pattern.partition(expr), wanted)


@pytest.mark.parametrize(
    ("weight", "is_inside"),
    [
        (wildcard(), False),
        (is_constant(), True),
        (is_expr(ONE), True),
        (is_var() | is_constant(), True),
        (is_constant() | is_var(), True),
        (wildcard() | is_constant(), False),
    ],
)
def test_constants_asked_for_are_part_of_the_function(weight, is_inside):
    x, w = fresh(2)
    pattern = is_op("add")(wildcard(), weight)
    made = pattern.partition(A + ONE)
    inside = part(x + ONE, [x], "add_")(A)
    outside = part(x + w, [x, w], "add_")(A, ONE)
    assert structural_equal(made, inside if is_inside else outside)


def test_partition_of_tuples_items_and_open_calls():
    x, y = fresh(2)
    pattern = is_tuple_get_item(is_tuple(None), 1)
    expr = relay.TupleGetItem(relay.Tuple([A, B]), 1)
    body = relay.TupleGetItem(relay.Tuple([x, y]), 1)
    assert structural_equal(
        pattern.partition(expr), part(body, [x, y], "Tuple_TupleGetItem1_")(A, B)
    )
    assert structural_equal(is_op("add")(None).partition(A + B), part(x + y, [x, y], "add_")(A, B))


def test_partition_of_a_call_of_a_function():
    x, w, b = fresh(3)
    px, pw = wildcard(), wildcard()
    func_pattern = is_function([px, pw], is_op("nn.conv2d")(px, pw))
    pattern = func_pattern(wildcard(), wildcard()) + wildcard()
    p, q = fresh(2)
    func = relay.Function([p, q], conv(p, q))
    done = pattern.partition(func(A, B) + C)
    wanted = part(func(x, w) + b, [x, w, b], "nn.conv2d_FunctionCall_add_")(A, B, C)
    assert structural_equal(done, wanted)
    # Without a call there is nothing to take the place of.
    assert func_pattern.partition(func(A, B)) is not None
    assert structural_equal(func_pattern.partition(func(A, B)), func(A, B))


def test_functions_that_several_matches_call():
    p = relay.var("p")
    func = relay.Function([p], relay.exp(p))
    pattern = is_function(None, wildcard())(wildcard())
    expr = relay.Tuple([func(A), func(B)])
    done = pattern.partition(expr)
    names = [call.op.attrs["PartitionedFromPattern"] for call in done]
    assert names == ["exp_FunctionCall_"] * 2
    rule = Rule(pattern, lambda pre, post, nodes: relay.log(post.args[0]))
    assert structural_equal(rewrite(rule, expr), relay.Tuple([relay.log(A), relay.log(B)]))


def test_the_inside_of_a_function_in_a_match_is_not_matched_again():
    p = relay.var("p")
    func = relay.Function([p], relay.exp(p))
    pattern = is_function(None, unary("exp"))(wildcard()) | unary("exp")
    rule = Rule(pattern, lambda pre, post, nodes: post, rewrite_once=True)
    expr = func(A)
    assert rewrite(rule, expr) is expr
    assert rule.calls == 1
    rewrite(rule, relay.Tuple([expr, relay.exp(A)]))
    assert rule.calls == 3


def test_partition_of_bindings_and_branches():
    x, c = fresh(2)
    v = is_var()
    pattern = is_let(v, is_op("exp")(wildcard()), is_op("nn.relu")(v))
    p = relay.var("v")
    made = pattern.partition(relay.Let(p, relay.exp(A), relu(p)))
    q = relay.var("v")
    assert structural_equal(
        made, part(relay.Let(q, relay.exp(x), relu(q)), [x], "exp_nn.relu_Let_")(A)
    )
    choice = is_if(wildcard(), is_op("exp")(SAME), SAME)
    wanted = part(relay.If(c, relay.exp(x), x), [c, x], "exp_If_")(B, A)
    assert structural_equal(choice.partition(relay.If(B, relay.exp(A), A)), wanted)


def test_partition_of_diamonds():
    x, w = fresh(2)
    _, _, pattern = diamond()
    name = "nn.conv2d_nn.relu_nn.leaky_relu_add_"

    def func(*args):
        return part(joined(conv(x, w)), [x, w], name)(*args)

    assert structural_equal(pattern.partition(joined(conv(A * A, B))), func(A * A, B))
    below = joined(conv(joined(conv(A, B)), C))
    assert structural_equal(pattern.partition(below), func(func(A, B), C))


def test_matches_that_overlap_are_made_from_the_root():
    x = relay.var("x")
    expr = relu(relu(relu(A)))
    done = twice().pattern.partition(expr)
    assert structural_equal(done, part(relu(relu(x)), [x], "nn.relu_nn.relu_")(relu(A)))


def test_a_shared_tuple_is_not_split():
    norm = relay.nn.batch_norm(A, B, C, B, C)[0].tuple_value
    pattern = is_tuple_get_item(is_op("nn.batch_norm")(*[wildcard() for _ in range(5)]), 0)
    shared = relay.TupleGetItem(norm, 0) + relay.TupleGetItem(norm, 0)
    assert pattern.partition(shared) is shared
    once = relay.TupleGetItem(norm, 0)
    assert (
        pattern.partition(once).op.attrs["PartitionedFromPattern"] == "nn.batch_norm_TupleGetItem0_"
    )


def test_patterns_inside_of_themselves():
    rest = wildcard()
    casts = is_op("cast")(rest)
    base = is_op("nn.dense")(wildcard(), wildcard())
    rest.redirect_to(casts | base)
    expr = relay.nn.dense(A, B)
    assert casts.match(expr) is False
    for _ in range(5):
        expr = relay.cast(expr, "float32")
    found = bindings(casts, expr)
    assert found is not None and len(found[casts]) == 5
    rule = Rule(casts, lambda pre, post, nodes: relu(post), rewrite_once=True)
    assert structural_equal(rewrite(rule, expr), relu(expr))
    assert casts.match(relay.cast(A, "float32")) is False


def chain(levels, step=relu, start=A):
    expr = start
    for _ in range(levels):
        expr = step(expr)
    return expr


def counted(monkeypatch, work):
    """The number of attempts to match calls during some work, with its result."""
    attempts = [0]
    original = dp.CallPattern.branches

    def branches(self, value, graph):
        attempts[0] += 1
        return original(self, value, graph)

    with monkeypatch.context() as patch:
        patch.setattr(dp.CallPattern, "branches", branches)
        result = work()
    return attempts[0], result


@pytest.mark.parametrize("rule", ["merge", "drop", "nothing"])
def test_a_rewrite_is_linear_in_the_program(monkeypatch, rule):
    x = wildcard()
    zero = relay.const(0.0)
    rules = {
        "merge": (twice, relu),
        "drop": (
            lambda: Rule(x + is_expr(relay.const(0.0)), lambda pre, post, nodes: nodes[x][0]),
            lambda expr: expr + zero,
        ),
        "nothing": (twice, relay.exp),
    }
    make, step = rules[rule]
    counts = []
    for levels in (500, 2000):
        made = make()
        attempts, _ = counted(
            monkeypatch, lambda made=made, levels=levels: rewrite(made, chain(levels, step))
        )
        counts.append((attempts, made.calls))
    (few, few_calls), (many, many_calls) = counts
    assert many <= 5 * few and many <= 10 * 2000
    assert many_calls <= 4 * few_calls + 4 and many_calls <= 2 * 2000


def test_constants_are_folded_through_any_depth_in_one_round():
    left, right = is_constant(), is_constant()

    def folded(pre, post, nodes):
        return relay.const(nodes[left][0].data.numpy() + nodes[right][0].data.numpy())

    counts = []
    for levels in (100, 400):
        rule = Rule(left + right, folded)
        expr = relay.Tuple([A, chain(levels, lambda x: x + ONE, ONE)])
        done = rewrite(rule, expr)
        assert done[0] is A and done[1].data.numpy() == levels + 1
        assert rule.calls == levels
        counts.append(rule.calls)
    assert counts == [100, 400]
    once = Rule(left + right, folded, rewrite_once=True)
    assert structural_equal(rewrite(once, ONE + (ONE + ONE)), ONE + relay.const(2.0))


def test_what_is_inside_of_a_match_is_not_folded_before_its_callback():
    left, right = is_constant(), is_constant()
    constants = left + right
    inner = is_op("add")(wildcard(), is_constant())

    def made(pre, post, nodes):
        if inner in nodes:
            assert isinstance(nodes[inner][0], relay.Call)
            return relay.log(nodes[inner][0])
        return relay.const(nodes[left][0].data.numpy() + nodes[right][0].data.numpy())

    rule = Rule(is_op("exp")(inner) | constants, made)
    done = rewrite(rule, relay.exp((ONE + ONE) + ONE))
    assert structural_equal(done, relay.log(relay.const(3.0)))
    assert rule.calls == 3


def test_a_late_match_with_an_expression_inside_waits_for_the_users():
    x, y = wildcard(), wildcard()

    def made(pre, post, nodes):
        return nodes[x][0] if x in nodes else relay.log(nodes[y][0])

    rule = Rule(is_op("exp")(is_op("log")(x)) | is_op("tanh")(y), made)
    shared = relay.tanh(A)
    done = rewrite(rule, relay.Tuple([relay.exp(shared), shared]))
    assert structural_equal(done[0], relay.exp(relay.log(A))) and done[0].args[0] is done[1]
    assert rewrite(rule, relay.exp(relay.tanh(A))) is A


def test_deep_programs():
    levels = scaled(50_000)
    unchanged = chain(levels, relay.exp)
    assert rewrite(twice(), unchanged) is unchanged
    assert structural_equal(rewrite(twice(), chain(levels)), relu(A))
    made = partition(is_op("exp")(wildcard()), unchanged)
    assert made.args[0].op.attrs["PartitionedFromPattern"] == "exp_"
    rows = A
    for _ in range(levels // 10):
        rows = relay.Let(relay.var("v"), relu(relu(A)), rows)
    assert structural_equal(rewrite(twice(), rows).value, relu(A))


def test_deep_patterns():
    levels = scaled(100_000)
    pattern = leaf = is_var("a")
    for _ in range(levels):
        pattern = is_op("exp")(pattern)
    assert pattern.match(chain(levels, relay.exp))
    mismatch = pattern.explain(chain(levels, relay.exp, B))
    assert mismatch is not None
    assert mismatch.pattern is leaf and mismatch.value is B and mismatch.root is not B
    either = is_constant()
    for _ in range(levels):
        either = is_var("a") | either
    assert either.match(ONE) and not either.match(B)
    sums = is_var("a")
    for _ in range(levels):
        sums = sums + is_constant()
    assert sums.match(chain(levels, lambda x: relay.add(ONE, x)))
    assert not sums.match(chain(levels, lambda x: relay.add(ONE, x), B))


def test_deep_dominators():
    levels = scaled(100_000)
    _, _, pattern = diamond()
    expr = chain(levels, relay.exp, ROOT) + leaky(ROOT)
    assert pattern.match(expr)
    assert not pattern.match(chain(levels, relay.exp, A) + leaky(A))
    nested = wildcard()
    for _ in range(1000):
        nested = dominates(is_constant(), nested, wildcard()(None))
    with pytest.raises(ValueError, match="levels of Dominance"):
        nested.match(chain(2000, relay.exp))


def test_too_many_ways_are_an_error(monkeypatch):
    monkeypatch.setattr(_graph_search, "MAX_RETURNS", 20_000)
    x, y = wildcard(), wildcard()
    pattern = x
    expr = A
    for _ in range(40):
        pattern = is_op("add")(pattern, y | x)
        expr = expr + A
    with pytest.raises(ValueError, match="returned to alternatives 20000 times"):
        is_op("subtract")(pattern, is_constant()).match(expr - B)


# A matcher by exhaustion on tuples, which shares nothing with the library: a pattern or an
# expression is a tuple of a kind, a name and parts. Solutions come in order of preference.


def solutions(pattern, value, found):
    key = id(pattern)
    if key in found:
        if found[key] is value:
            yield found
        return
    kind, name, *parts = pattern
    found = {**found, key: value}
    if kind == "any":
        yield found
    elif kind == "either":
        for inner in parts:
            yield from solutions(inner, value, found)
    elif kind == value[0] == "var":
        if name in ("", value[1]):
            yield found
    elif kind == value[0] == "call" and name == value[1] and len(parts) == len(value) - 2:
        orders = [parts, parts[::-1]] if name in ("add", "multiply") else [parts]
        for order in orders:
            yield from all_solutions(order, value[2:], found)


def all_solutions(patterns, values, found):
    if not patterns:
        yield found
        return
    for first in solutions(patterns[0], values[0], found):
        yield from all_solutions(patterns[1:], values[1:], first)


NAMES = {"add": 2, "subtract": 2, "multiply": 2, "exp": 1}


def random_graph(rng, size, leaves, inner):
    """The last vertex of a random graph, where vertices are made of earlier vertices."""
    made = list(leaves)
    for _ in range(size):
        made.append(inner(rng, made))
    return made[-1]


def random_call(rng, made):
    name = rng.choice(list(NAMES))
    return ("call", name, *(rng.choice(made[-3:]) for _ in range(NAMES[name])))


def random_pattern(rng, made):
    if rng.random() < 0.3:
        return ("either", "", rng.choice(made[-3:]), rng.choice(made))
    return random_call(rng, made)


def converted(tree, make, memo):
    if id(tree) not in memo:
        parts = [converted(part, make, memo) for part in tree[2:]]
        memo[id(tree)] = make(tree[0], tree[1], parts)
    return memo[id(tree)]


def as_expr(kind, name, parts):
    return relay.var(name) if kind == "var" else call(name, *parts)


def as_pattern(kind, name, parts):
    if kind == "any":
        return wildcard()
    if kind == "var":
        return is_var(name)
    return parts[0] | parts[1] if kind == "either" else is_op(name)(*parts)


def test_matches_agree_with_exhaustion():
    rng = random.Random(7)
    agreed = {True: 0, False: 0}
    for _ in range(scaled(30_000)):
        leaves = [("var", "x"), ("var", "y")]
        value = random_graph(rng, rng.randint(1, 5), leaves, random_call)
        tree = random_graph(
            rng, rng.randint(1, 5), [("any", ""), ("var", ""), ("var", "x")], random_pattern
        )
        exprs, patterns = {}, {}
        expr = converted(value, as_expr, exprs)
        pattern = converted(tree, as_pattern, patterns)
        wanted = next(solutions(tree, value, {}), None)
        found = bindings(pattern, expr)
        assert (found is None) == (wanted is None), (tree, value)
        agreed[found is not None] += 1
        if found is not None and wanted is not None:
            for key, part in wanted.items():
                assert found[patterns[key]][0] is exprs[id(part)], (tree, value)
    assert min(agreed.values()) > sum(agreed.values()) // 20


def below(expr):
    """The expression with everything inside, each once."""
    found = {}
    pending = [expr]
    while pending:
        part = pending.pop()
        if id(part) not in found:
            found[id(part)] = part
            pending.extend(part.args if isinstance(part, relay.Call) else [])
    return list(found.values())


def reaches_without(expr, target, avoided):
    """True if a path leads from an expression up to a target without another vertex."""
    pending, seen = [expr], set()
    while pending:
        part = pending.pop()
        if part is avoided or id(part) in seen:
            continue
        seen.add(id(part))
        if part is target:
            return True
        pending.extend(part.args if isinstance(part, relay.Call) else [])
    return False


def paths_are_fine(child, parent):
    """True if all paths up from a child end at the parent, over unary operators."""
    if not isinstance(child, relay.Call):
        return False
    for arg in child.args:
        if arg is parent:
            continue
        if not isinstance(arg, relay.Call) or arg.op.name not in ("exp", "log"):
            return False
        if not paths_are_fine(arg, parent):
            return False
    return True


def test_dominators_agree_with_their_definition():
    rng = random.Random(11)
    agreed = {True: 0, False: 0}
    path = is_op("exp")(wildcard()) | is_op("log")(wildcard())
    parent = is_op("multiply")(wildcard(), wildcard())
    pattern = dominates(parent, path, is_op("add")(wildcard(), wildcard()))
    seen = []
    rule = Rule(pattern, lambda pre, post, nodes: seen.append(pre) or post)
    for _ in range(scaled(10_000)):
        made = [A, A * B]
        for _ in range(rng.randint(2, 7)):
            name = rng.choice(["exp", "log", "add", "add", "multiply"])
            parts = [rng.choice(made[-4:]) for _ in range(1 if name in ("exp", "log") else 2)]
            made.append(call(name, *parts))
        root = made[-1]
        expected = {
            id(child)
            for child in below(root)
            if isinstance(child, relay.Call) and child.op.name == "add"
            for above in below(child)
            if above is not child
            and isinstance(above, relay.Call)
            and above.op.name == "multiply"
            and paths_are_fine(child, above)
            and not reaches_without(root, above, child)
        }
        graph = ExprGraph(root)
        found = {id(value) for value in below(root) if graph.match(pattern, value)}
        assert found == expected
        for value in below(root):
            agreed[id(value) in expected] += 1
        seen.clear()
        rewrite(rule, root)
        assert {id(value) for value in seen} <= expected
    assert agreed[True] > 100


def inlined(expr):
    """An expression with partitioned functions in the place of their calls."""

    def inline(pre, post):
        func = post.op if isinstance(post, relay.Call) else None
        if isinstance(func, relay.Function) and "PartitionedFromPattern" in func.attrs:
            return relay.bind(func.body, dict(zip(func.params, post.args, strict=True)))
        return None

    return relay.post_order_rewrite(expr, inline)


def test_partitions_keep_the_program():
    rng = random.Random(5)
    changed = 0
    for _ in range(scaled(5_000)):
        value = random_graph(rng, rng.randint(3, 10), [("var", "x"), ("var", "y")], random_call)
        tree = random_graph(rng, rng.randint(1, 4), [("any", ""), ("any", "")], random_pattern)
        expr = converted(value, as_expr, {})
        pattern = converted(tree, as_pattern, {})
        done = pattern.partition(expr)
        changed += done is not expr
        assert relay.analysis.well_formed(done)
        assert structural_equal(inlined(done), expr, map_free_vars=False)
        graph = ExprGraph(expr)
        owners = {}
        for group in graph.groups(pattern):
            inside = [graph.vertices[number] for number in group.members]
            inside = [part for part in inside if isinstance(part, relay.Call)]
            for part in inside:
                assert owners.setdefault(id(part), group) is group
                for user in below(expr) if part is not group.root else []:
                    is_user = isinstance(user, relay.Call) and any(part is arg for arg in user.args)
                    if is_user and not any(user is inner for inner in inside):
                        assert not reaches_without(expr, user, group.root)
    assert changed > 100


def test_the_module_is_public():
    assert relay.dataflow_pattern is dp
    assert set(dp.__all__) == {name for name in dp.__all__ if hasattr(dp, name)}
