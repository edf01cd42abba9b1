"""Rewriting by dataflow patterns, also of deep programs, with counted attempts."""

import pytest
from dataflow import (
    ONE,
    ROOT,
    A,
    B,
    C,
    Rule,
    bindings,
    chain,
    diamond,
    fresh,
    leaky,
    part,
    relu,
    twice,
    unary,
)
from scale import scaled

from isoform import _graph_search, ir, relay, structural_equal
from isoform.relay import dataflow_pattern as dp
from isoform.relay.dataflow_pattern import (
    DFPatternCallback,
    ExprGraph,
    dominates,
    is_constant,
    is_expr,
    is_op,
    is_tuple,
    is_var,
    partition,
    rewrite,
    wildcard,
)


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
    for inside, value in wanted.items():
        assert [item is value for item in found[inside]] == [True]


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
    assert rewrite(rule, func) is func
    let = relay.Let(A, C, A + C)
    assert rewrite(rule, let) is let
    to_two = Rule(is_expr(relay.const(1)), lambda pre, post, nodes: relay.const(2))
    assert structural_equal(rewrite(to_two, A + relay.const(1)), A + relay.const(2))


def test_a_pattern_of_any_expression_sees_each_of_them_and_makes_no_functions():
    expr = relay.exp(relu(A))
    seen = []
    rule = Rule(wildcard(), lambda pre, post, nodes: seen.append(pre) or post)
    assert rewrite(rule, expr) is expr
    for inside in (expr, expr.op, expr.args[0], A):
        assert sum(inside is value for value in seen) == 1
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


def test_ways_that_no_other_part_sees_do_not_multiply():
    fields = [wildcard() + wildcard() for _ in range(40)]
    expr = relay.Tuple([A + B for _ in range(40)] + [C])
    assert not is_tuple([*fields, is_constant()]).match(expr)
    assert is_tuple([*fields, is_var()]).match(expr)


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
