"""Patterns of vertices, over scalar expressions and over classes of Python."""

import random

import pytest
from rewriting import Add, Expr, Int, Var
from scale import scaled

from isoform import Array, py_class, structural_equal, tir
from isoform.pattern import (
    Alternatives,
    AnyVertex,
    Condition,
    Dominance,
    EqualVertex,
    Graph,
    GraphPattern,
    VertexOf,
)

A, B = (tir.Var(name, "int32") for name in "ab")


@py_class("test_graph_pattern.Call", structural_eq="tree")
class Call(Expr):
    name: str
    args: list[Expr]


def add(left, right):
    return VertexOf(Add, lhs=left, rhs=right)


def check(pattern, matching, others):
    for value, reason in others.items():
        assert pattern.match(value) is None
        assert str(pattern.explain(value)) == reason
    for value in matching:
        assert pattern.match(value) is not None
        assert pattern.explain(value) is None


def test_any_vertex():
    check(AnyVertex(), [A, Int(1), Call("f", [])], {})


def test_a_class_with_patterns_and_values_of_fields():
    x = AnyVertex()
    pattern = VertexOf(tir.Mul, a=x, b=VertexOf(tir.IntImm, value=4))
    assert pattern.match(tir.Mul(A, 4))[x] is A
    others = {
        tir.Add(A, 4): "<root>: expected tir.Mul, got tir.Add",
        tir.Mul(A, 5): "<root>.b: field value: expected 4, got 5",
        tir.Mul(4, A): "<root>.b: expected ir.IntImm, got tir.Var",
    }
    check(pattern, [tir.Mul(A, 4), tir.Mul(tir.Mul(A, A), 4)], others)
    check(VertexOf(Expr), [Int(1), Var()], {})


def test_a_list_of_patterns_for_the_items_of_an_array():
    x = AnyVertex()
    pattern = VertexOf(Call, name="f", args=[x, VertexOf(Int, value=2)])
    others = {
        Call("f", [Int(1)]): "<root>: field args: expected 2 items, got 1",
        Call("g", [Int(1), Int(2)]): "<root>: field name: expected 'f', got 'g'",
        Call("f", [Int(2), Int(1)]): "<root>.args[1]: field value: expected 2, got 1",
    }
    check(pattern, [Call("f", [Int(1), Int(2)])], others)


def test_the_same_pattern_twice_is_the_same_vertex():
    x, one = AnyVertex(), Int(1)
    check(
        add(x, x),
        [Add(one, one)],
        {
            Add(one, Int(1)): "<root>.rhs: expected the vertex bound to the same pattern before, "
            "got rewriting.Int"
        },
    )


def test_equal_values_and_conditions():
    check(
        EqualVertex(Add(Int(1), Int(2))),
        [Add(Int(1), Int(2))],
        {
            Add(Int(1), Int(3)): "<root>: the values are not structurally equal",
        },
    )

    def even():
        return Condition(
            VertexOf(Int), lambda value: value.value % 2 == 0, "expected an even number"
        )

    check(
        add(even(), even()),
        [Add(Int(2), Int(4))],
        {
            Add(Int(2), Int(3)): "<root>.rhs: expected an even number",
        },
    )


def test_a_later_part_chooses_the_alternative():
    x, y = AnyVertex(), AnyVertex()
    one, two = Int(1), Int(2)
    pattern = add(Alternatives(add(x, y), add(y, x)), x)
    assert pattern.match(Add(Add(one, two), one))[y] is two
    assert pattern.match(Add(Add(one, two), two))[y] is one
    assert pattern.match(Add(Add(one, two), Int(1))) is None
    wrapped = VertexOf(Int).optional(lambda inner: add(inner, inner))
    check(wrapped, [one, Add(one, one)], {})


def test_a_match_lists_what_it_involves():
    x, y = AnyVertex(), VertexOf(Var)
    pattern = add(x, VertexOf(Int)) | y
    found = pattern.match(Add(Int(1), Int(2)))
    assert found.root is not None and x in found and y not in found
    with pytest.raises(KeyError):
        found[y]


def test_dominance_over_a_users_ir():
    parent, path = VertexOf(Call, name="p"), VertexOf(Call, name="f")
    pattern = Dominance(parent, path, VertexOf(Add))
    above = Call("p", [Int(1)])
    f = Call("f", [above])
    assert pattern.match(Add(f, above))[parent] is above
    assert [value is f for value in pattern.match(Add(f, above)).bindings[path]] == [True]
    assert pattern.match(Add(f, Call("p", [Int(1)]))) is None
    assert pattern.match(Add(f, Call("f", [Int(1)]))) is None
    # A leaf beside another operand does not have to lead to the parent.
    assert pattern.match(Add(f, Int(1)))[parent] is above
    assert pattern.match(Add(Int(1), Int(2))) is None
    root = Add(f, above)
    graph = Graph(Call("f", [root, f]))
    assert graph.match(pattern, root) is None


def test_groups_and_replacements():
    x = AnyVertex()
    nested = add(add(x, VertexOf(Int)), VertexOf(Int))
    a = Var("a")
    inner = Add(a, Int(1))
    twice = Add(inner, Int(2))
    graph = Graph(Call("f", [twice, twice]))
    (group,) = graph.groups(nested)
    assert group.root is twice
    done = graph.replace([group], lambda group, post, image: image(group.match[x]))
    assert done.args[0] is a and done.args[1] is a
    assert Graph(Call("f", [twice, inner])).groups(nested) == []
    assert graph.replace([], lambda group, post, image: post) is graph.root


def test_a_use_outside_is_a_refusal_even_if_it_leads_back():
    x = AnyVertex()
    nested = add(add(x, VertexOf(Int)), AnyVertex())
    inner = Add(Var("a"), Int(1))
    graph = Graph(Add(inner, Call("f", [inner])))
    assert graph.groups(nested) == []
    (refusal,) = graph.refusals(nested)
    assert refusal.value is inner and refusal.pattern is nested
    reason = "the rewriting.Add is used outside of the match, by test_graph_pattern.Call"
    assert refusal.reason == reason


def test_dominated_vertices():
    a = Var("a")
    left, right = Call("l", [a]), Call("r", [a])
    middle = Add(left, right)
    root = Add(Call("f", [middle]), Call("g", [middle]))
    graph = Graph(root)
    number = graph.number
    dominators = {
        (value, by)
        for value, names in ((a, (left, right, middle, root)), (left, (middle, root, right)))
        for by in names
        if graph.is_dominated(number(value), number(by))
    }
    assert dominators == {(a, middle), (a, root), (left, middle), (left, root)}
    assert graph.is_dominated(number(middle), number(root))
    assert not graph.is_dominated(number(root), number(middle))


def test_dominators_agree_with_their_definition():
    rng = random.Random(3)
    for _ in range(scaled(2_000)):
        made = [Var("a"), Var("b")]
        for _ in range(rng.randint(1, 25)):
            made.append(Call("f", [rng.choice(made[-5:]) for _ in range(rng.randint(1, 3))]))
        graph = Graph(made[-1])
        count = len(graph.vertices)
        for by in range(count):
            # The vertices that reach the root without `by`.
            free = {count - 1} - {by}
            for number in reversed(range(count - 1)):
                if number != by and any(user in free for user in graph.users(number)):
                    free.add(number)
            found = {number for number in range(count) if not graph.is_dominated(number, by)}
            assert found == free


def test_a_cascade_folds_what_matches_late():
    left, right = VertexOf(Int), VertexOf(Int)
    value = Int(0)
    for _ in range(50):
        value = Add(value, Int(1))
    graph = Graph(value)
    pattern = add(left, right)

    def folded(match, post, image):
        return Int(image(match[left]).value + image(match[right]).value)

    assert graph.rewrite(pattern, folded).value == 50
    assert isinstance(graph.rewrite(pattern, folded, cascade=False), Add)
    # A vertex inside would need its users, which the cascade does not know.
    deeper = add(add(left, AnyVertex()), right) | pattern
    assert isinstance(graph.rewrite(deeper, lambda match, post, image: Int(0)), Expr)


def test_images_are_those_after_the_replacements_below():
    x = AnyVertex()
    plus_one = add(x, VertexOf(Int))
    a = Var("a")
    value = Add(Call("f", [Add(a, Int(1))]), Int(2))
    graph = Graph(value)
    seen = []

    def replacement(group, post, image):
        seen.append(image(group.match[x]))
        return Call("g", [seen[-1]])

    done = graph.replace(graph.groups(plus_one), replacement)
    assert seen[0] is a
    assert structural_equal(done, Call("g", [Call("f", [Call("g", [a])])]))


def test_the_body_of_a_group():
    x = AnyVertex()
    a, p = Var("a"), Var("p")
    graph = Graph(Add(Add(a, Int(1)), a))
    (group,) = graph.groups(add(add(x, EqualVertex(Int(1))), x))
    assert [value is a for value in group.inputs[:1]] == [True]
    body = graph.extract(group, [p, *group.inputs[1:]])
    assert structural_equal(body, Add(Add(p, Int(1)), p), map_free_vars=False)


def test_containers_and_plain_values_are_no_vertices():
    graph = Graph(Array([Int(1), Call("f", [Int(2)])]))
    assert [type(value) for value in graph.vertices] == [Int, Int, Call, Array]
    assert graph.users(0) == [3]
    assert Graph(Call("f", [Int(2)])).users(0) == [1]
    with pytest.raises(KeyError, match=r"expected a vertex of the graph, got rewriting\.Int"):
        graph.number(Int(1))


def test_a_replacement_that_does_not_fit():
    graph = Graph(Call("f", [Int(1)]))
    groups = graph.groups(VertexOf(Int))
    with pytest.raises(TypeError, match="args"):
        graph.replace(groups, lambda group, post, image: "text")


def test_a_form_of_your_own():
    class Leaf(GraphPattern):
        def branches(self, value, graph):
            return ((),) if not graph.parts_of(value) else "expected a leaf"

    check(
        add(Leaf(), Leaf()),
        [Add(Int(1), Var())],
        {
            Add(Int(1), Add(Int(1), Int(1))): "<root>.rhs: expected a leaf",
        },
    )
    with pytest.raises(NotImplementedError, match="branches"):
        GraphPattern().match(Int(1))


def test_deep_values():
    levels = scaled(100_000)
    a = Var("a")
    value = a
    for _ in range(levels):
        value = Add(value, Int(0))
    x = AnyVertex()
    graph = Graph(value)
    groups = graph.groups(add(x, VertexOf(Int)))
    assert len(groups) == levels
    assert graph.replace(groups, lambda group, post, image: image(group.match[x])) is a


def counting(name):
    """The pattern of calls of a function, and the vertices that it was asked about."""
    asked = []
    return Condition(VertexOf(Call, name=name), lambda value: asked.append(value) or True), asked


def chain(count):
    value = Call("g", [Int(0)])
    for _ in range(count):
        value = Call("f", [value])
    return value


@pytest.mark.parametrize("count", [20, 200])
def test_a_path_without_a_parent_is_visited_once_for_all_attempts(count):
    path, asked = counting("f")
    pattern = Dominance(VertexOf(Call, name="p"), path, VertexOf(Call, name="f"))
    graph = Graph(chain(count))
    assert graph.groups(pattern) == []
    assert len(asked) == count


@pytest.mark.parametrize("count", [10, 100])
def test_an_alternative_that_fails_is_not_tried_again_at_the_same_vertex(count):
    pattern, asked = counting("none")
    leaf = pattern.pattern = VertexOf(Call, name="g")
    pattern.test = lambda value: bool(asked.append(value))
    for _ in range(count):
        pattern = pattern.optional(lambda inner: VertexOf(Call, name="f", args=[inner]))
    assert pattern.match(chain(count)) is None
    assert leaf.match(chain(0)) and len(asked) <= 2 * count


def test_a_failure_that_depends_on_a_binding_may_be_a_match_later():
    x, y = AnyVertex(), AnyVertex()
    one, two = Int(1), Int(2)
    ends = VertexOf(Call, name="g", args=[x]) | VertexOf(Call, name="h", args=[x])
    pattern = add(Alternatives(add(x, y), add(y, x)), ends)
    for end in (one, two):
        assert pattern.match(Add(Add(one, two), Call("h", [end])))[x] is end
    pair = Call("f", [Call("p", [one]), Call("p", [two])])
    chosen = VertexOf(Call, name="f", args=[VertexOf(Call, args=[x]), AnyVertex()]) | VertexOf(
        Call, name="f", args=[AnyVertex(), VertexOf(Call, args=[x])]
    )
    assert add(chosen, ends).match(Add(pair, Call("g", [two])))[x] is two


def test_a_pattern_that_redirects_to_itself():
    pattern = Alternatives(VertexOf(Int))
    pattern.patterns += (Condition(pattern, lambda value: True),)
    for ask in (pattern.match, pattern.explain, lambda value: Graph(value).groups(add(pattern, x))):
        x = AnyVertex()
        with pytest.raises(ValueError, match=r"Alternatives -> Condition.*redirects to itself"):
            ask(Int(1))
    child = Dominance(VertexOf(Int), AnyVertex(), AnyVertex())
    child.child = VertexOf(Int) | child
    with pytest.raises(ValueError, match=r"Dominance.*redirects to itself"):
        child.match(Int(1))


def test_inputs_in_branches_and_scopes_of_a_group():
    a, b, x = (tir.Var(name, "int32") for name in "abx")
    pattern = VertexOf(tir.Let, value=AnyVertex(), body=AnyVertex())
    value, inside = tir.Mul(a, a), tir.Mul(a, b)

    def reason(pattern, let):
        graph = Graph(let)
        assert len(graph.groups(pattern)) == 1
        assert graph.groups(pattern, to_extract=True) == []
        (refusal,) = graph.refusals(pattern, to_extract=True)
        return refusal.value, refusal.reason

    where = "is in a scope or a branch of the match"
    assert reason(pattern, tir.Let(x, value, inside)) == (inside, f"the input tir.Mul {where}")
    named = VertexOf(tir.Let, var=AnyVertex())
    assert reason(named, tir.Let(x, value, inside)) == (x, f"the input tir.Var {where}")
    # Another variable is read in front just as well, and so is a value computed in any case.
    for body in (b, value):
        (group,) = Graph(tir.Let(x, value, body)).groups(pattern, to_extract=True)
        assert any(item is body for item in group.inputs)
