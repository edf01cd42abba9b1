"""Dominators of dataflow patterns, and partitions."""

import pytest
from dataflow import (
    ONE,
    ROOT,
    A,
    B,
    C,
    Rule,
    bindings,
    conv,
    diamond,
    fresh,
    joined,
    leaky,
    part,
    relu,
    twice,
    unary,
    unary_path,
)

from isoform import relay, structural_equal
from isoform.relay.dataflow_pattern import (
    DFPattern,
    ExprGraph,
    dominates,
    is_constant,
    is_expr,
    is_function,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    partition,
    rewrite,
    wildcard,
)

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
    same = wildcard()
    choice = is_if(wildcard(), is_op("exp")(same), same)
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


def test_only_what_contains_itself_is_bound_at_every_level():
    rest, var = wildcard(), is_var()
    sums = is_op("subtract")(rest, var)
    rest.redirect_to(sums | is_constant())
    assert sums.match(((ONE - A) - A) - A)
    assert not sums.match(((ONE - A) - B) - A)


def scope_cases():
    v = relay.var("v")
    p = relay.var("p")
    return {
        "a branch": (
            is_if(wildcard(), wildcard(), wildcard()),
            relay.If(C, A / B, B),
            "relay.Call",
        ),
        "the result of a let": (
            is_let(wildcard(), wildcard(), wildcard()),
            relay.Let(v, A + A, v * v),
            "relay.Call",
        ),
        "a function": (
            is_function(None, wildcard() + wildcard())(wildcard()),
            relay.Function([p], relay.exp(p) + relay.exp(A))(B),
            "relay.Call",
        ),
        "a parameter": (
            is_function(None, unary("exp"))(wildcard()),
            relay.Function([p], relay.exp(p))(B),
            "relay.Var",
        ),
    }


@pytest.mark.parametrize("case", list(scope_cases()))
def test_inputs_inside_of_branches_and_scopes_of_a_match(case):
    pattern, expr, inner = scope_cases()[case]
    program = relay.Tuple([expr, A])
    assert pattern.match(expr)
    assert pattern.partition(program) is program
    (refusal,) = ExprGraph(program).refusals(pattern, to_extract=True)
    assert refusal.reason == f"the input {inner} is in a scope or a branch of the match"
    # A rule decides for itself where parts go.
    rule = Rule(pattern, lambda pre, post, nodes: relay.log(A), rewrite_once=True)
    assert structural_equal(rewrite(rule, program), relay.Tuple([relay.log(A), A]))


def test_a_clause_of_a_match_is_a_branch():
    head = relay.var("head")
    data = relay.Tuple([A, B])

    def choice(result):
        clause = relay.Clause(relay.PatternTuple([relay.PatternVar(head)]), result)
        return relay.Match(data, [clause])

    class Choice(DFPattern):
        def parts(self):
            return (some,)

        def branches(self, value, graph):
            return ([(some, value.clauses[0].rhs)],) if isinstance(value, relay.Match) else "no"

    some = wildcard()
    for result, count in ((relay.exp(A), 0), (head, 0), (A, 1)):
        assert len(ExprGraph(choice(result)).groups(Choice(), to_extract=True)) == count


@pytest.mark.parametrize("redirected", ["itself", "each other", "an alternative", "an attribute"])
def test_redirects_without_an_expression_between(redirected):
    first, second = wildcard(), wildcard()
    second.redirect_to(first)
    first.redirect_to(
        {
            "itself": first,
            "each other": second,
            "an alternative": first | is_var("x"),
            "an attribute": first.has_attr({"axis": 1}),
        }[redirected]
    )
    rule = Rule(first, lambda pre, post, nodes: post)
    for use in (first.match, first.explain, first.partition, lambda expr: rewrite(rule, expr)):
        with pytest.raises(ValueError, match=r"WildcardPattern.*redirects to itself"):
            use(A)


def test_leaves_beside_a_path():
    path = wildcard().has_attr({"TOpPattern": 1})(None) | wildcard().has_attr({"TOpPattern": 0})(
        None
    )
    parent = is_op("nn.conv2d")(wildcard(), wildcard())
    pattern = is_op("nn.relu")(wildcard()).dominates(parent, path)
    x, w, b = fresh(3)
    expr = relu(relay.nn.bias_add(ROOT, C))
    wanted = part(
        relu(relay.nn.bias_add(conv(x, w), b)), [x, w, b], "nn.conv2d_nn.bias_add_nn.relu_"
    )
    assert structural_equal(pattern.partition(expr), wanted(A, B, C))
    assert pattern.match(relu(ROOT * ONE)) and pattern.match(relu(relay.add(C, ROOT)))
    assert not pattern.match(relu(relay.add(relay.exp(C), ROOT)))
    assert not pattern.match(relu(A + B)) and not pattern.match(relu(A))
    # A leaf may be the parent.
    swish = (wildcard() * wildcard()).dominates(is_var("a"), is_op("sigmoid")(wildcard()))
    assert swish.match(A * relay.sigmoid(A)) and not swish.match(A * relay.sigmoid(B))


def reasons(pattern, program):
    assert pattern.partition(program) is program
    return [refusal.reason for refusal in ExprGraph(program).refusals(pattern, to_extract=True)]


def test_effects_inside_of_a_match_occur_once():
    g = relay.var("g")
    called = g(A)
    expr = called * relay.negative(called)
    pattern = is_var("g")(wildcard()) * wildcard()
    assert reasons(pattern, expr) == [
        "the relay.Call has effects, and is used outside of the match"
    ]
    # A pure operand is computed twice.
    pure = relay.exp(A)
    twice_used = (unary("exp") * wildcard()).partition(pure * relay.negative(pure))
    assert twice_used.op.attrs["PartitionedFromPattern"] == "exp_multiply_"


def test_effects_keep_their_order():
    f, g = relay.var("f"), relay.var("g")
    inside = is_var("f")(wildcard()) - wildcard()
    order = "the relay.{} and the relay.{} have effects, in the other order"
    reading = relay.negative(relay.RefRead(g))
    assert reasons(inside, f(A) - reading) == [order.format("Call", "Call")]
    assert inside.partition(f(A) - B).args[2] is B
    assert inside.partition(f(g(A)) - B).args[1].op is g
    # The inputs of a sum in the other order.
    swapped = unary("exp") + wildcard()
    assert reasons(swapped, g(A) + relay.exp(f(B))) == [order.format("Call", "Call")]
    kept = swapped.partition(relay.exp(f(B)) + g(A))
    assert [value.op for value in kept.args] == [f, g]
    # The effects of a function in the program are known: it has no effects.
    known = [unary("tanh").partition(relay.tanh(value)) for value in (A, B)]
    assert len(swapped.partition(known[0] + relay.exp(known[1])).args) == 2


def test_a_function_of_a_match_shares_no_computation_with_the_program():
    p, v = fresh(2)
    shared = relay.exp(A)
    pattern = is_function(None, wildcard())(wildcard())
    func = relay.Function([p], p * shared)
    reason = "the relay.Call in a function of the match is used outside of it"
    assert reasons(pattern, relay.Tuple([func(B), shared])) == [reason]
    # Variables in copies of one function are separate.
    scoped = is_function([wildcard()], is_let(wildcard(), is_var(), wildcard()))(wildcard())
    func = relay.Function([p], relay.Let(v, A, v))
    done = scoped.partition(relay.Tuple([func(B), func(C)]))
    assert [len(call.args) for call in done] == [2, 2]
    assert relay.analysis.well_formed(done)
