"""The greedy driver from Python. Also the forms of rules needed by the simplifications of Relay."""

import pytest
from rewriting import Add, Assign, Expr, Int, Node, Var

from isoform import py_class, structural_equal, type_attrs
from isoform.pattern import Pattern, Rule, rewrite, rewrite_greedily


@py_class("test_driver.Out", structural_eq="tree")
class Out(Expr):
    of: Node
    index: int


type_attrs.set(Out, "rewrite.projection", {"of": "of", "index": "index"})


def test_rules_apply_until_none_does():
    x, a = Var(), Var()
    zero = Rule(Pattern(Add(x, Int(0)), x, commutative=True), x)
    kept = Add(a, Int(1))
    done = rewrite_greedily([Add(Int(0), Add(a, Int(0))), kept], zero)
    assert done.value[0] is a and done.value[1] is kept
    assert done.applied == (2,) and done.attempts >= 3
    assert rewrite_greedily(done.value, [zero]).value.same_as(done.value)


def test_benefits():
    x = Var()
    rules = [Rule(Pattern(Add(x, x), x), Int(n), benefit=n) for n in (1, 3, 2)]
    assert [rule.benefit for rule in rules] == [1, 3, 2]
    for driver in (rewrite, rewrite_greedily):
        assert driver(Add(Int(7), Int(7)), rules).value.value == 3


def test_rules_without_end_are_an_error():
    x, y = Var(), Var()
    swap = Rule(Pattern(Add(x, y), [x, y]), Add(y, x))
    with pytest.raises(ValueError, match=r"max_steps=100 steps \(rule 0 101 times\)"):
        rewrite_greedily(Add(Int(1), Int(2)), swap, max_steps=100)
    with pytest.raises(TypeError, match=r"rewrite_greedily\.rules: expected Rules, got int"):
        rewrite_greedily(x, [3])


def test_functions_and_guards():
    x, y = Var(), Var()
    seen = []

    def fold(match):
        seen.append(match.value)
        total = match[x].value + match[y].value
        return Int(total) if total < 10 else None

    pattern = Pattern(Add(x, y), {x: Int, y: Int})
    done = rewrite_greedily(Add(Add(Int(1), Int(2)), Add(Int(4), Int(8))), Rule(pattern, fold))
    assert structural_equal(done.value, Add(Int(3), Add(Int(4), Int(8))))
    assert len(seen) == 2
    never = Rule(pattern, fold, guard=lambda match: False)
    assert rewrite_greedily(Add(Int(1), Int(2)), never).applied == (0,)
    failing = Rule(pattern, lambda match: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        rewrite_greedily(Add(Int(1), Int(2)), failing)


def test_results_are_replaced_one_by_one():
    a, b = Var(), Var()
    pattern = Pattern(Node("split", (Node("concat", (a, b)),)), [a, b])
    node = Node("split", (Node("concat", (Int(1), Int(2))),))
    program = [Out(node, 1), Out(node, 0)]
    for rule in [
        Rule.results(pattern, [a, b]),
        Rule.results(pattern, lambda match: [match[a], match[b]]),
    ]:
        done = rewrite_greedily(program, rule)
        assert [part.value for part in done.value] == [2, 1] and done.applied == (1,)
        with pytest.raises(ValueError, match="use rewrite_greedily"):
            rewrite(program, rule)
    none = Rule.results(pattern, lambda match: None)
    assert rewrite_greedily(program, none).applied == (0,)


def test_definitions_die():
    x, a, t, u = Var(), Var(), Var(), Var()
    pattern = Pattern(Add(Add(x, Int(1)), Int(2)), x, definitions=True)
    program = [Assign(t, Add(a, Int(1))), Assign(u, Add(t, Int(2))), u]
    three = Rule(pattern, Add(x, Int(3)))
    done = rewrite_greedily(program, three)
    assert structural_equal(done.value, [Assign(u, Add(a, Int(3))), u])
    kept = rewrite_greedily(program, three, drop_dead=False)
    assert len(kept.value) == 3 and kept.value[0] is program[0]
