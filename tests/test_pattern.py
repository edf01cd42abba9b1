"""Patterns, rules and rewriting, over IRs declared in Rust and in Python."""

import pytest
from rewriting import Add, Expr, Int, Var

import isoform
from isoform import py_class, structural_equal, tir
from isoform.dataclasses import field
from isoform.pattern import Hole, Match, Pattern, Rule, rewrite


@py_class("test_pattern.Fun", structural_eq="tree", scope=True)
class Fun(Expr):
    params: list[Var] = field(structural_eq="def")
    body: Expr


def variables(names, dtype="int32"):
    return [tir.Var(name, dtype) for name in names]


def test_a_hole_stands_for_any_expression_of_its_type():
    x, a, b = variables("xab")
    pattern = Pattern(tir.Mul(x, 1), [x])
    found = pattern.match(tir.Mul(tir.Add(a, b), 1))
    assert isinstance(found, Match)
    assert structural_equal(found[x], tir.Add(a, b))
    assert x in found and a not in found
    assert found.get(a, 7) == 7
    with pytest.raises(KeyError):
        found[a]
    assert [var.same_as(x) for var, _ in found.holes] == [True]
    assert found.path is None
    assert pattern.match(tir.Mul(a, 2)) is None
    (y,) = variables("y", "int64")
    assert pattern.match(tir.Mul(y, tir.IntImm("int64", 1))) is None


@pytest.mark.parametrize("form", ["var", "list", "tuple", "hole", "dict"])
def test_holes_are_given_in_several_forms(form):
    (x,) = variables("x")
    holes = {"var": x, "list": [x], "tuple": (x,), "hole": Hole(x), "dict": {x: None}}[form]
    pattern = Pattern(tir.Min(x, x), holes)
    assert [hole.same_as(x) for hole in pattern.holes] == [True]
    assert pattern.match(tir.Min(tir.IntImm("int32", 4), tir.IntImm("int32", 4))) is not None
    assert pattern.match(tir.Min(tir.IntImm("int32", 4), tir.IntImm("int32", 5))) is None


def test_classes_and_guards():
    x, y = Var(), Var()
    pattern = Pattern(Add(x, y), {x: Int, y: lambda part: isinstance(part, Add)})
    assert pattern.match(Add(Int(1), Add(Int(2), Int(3)))) is not None
    assert pattern.match(Add(Int(1), Int(2))) is None
    assert pattern.match(Add(Add(Int(2), Int(3)), Add(Int(2), Int(3)))) is None
    assert "class" in pattern.explain(Add(x, Int(1))).reason
    mismatch = pattern.explain(Add(Int(1), Int(2)))
    assert str(mismatch.right_path) == "<root>.rhs"
    assert "guard" in mismatch.reason
    assert pattern.explain(Add(Int(1), Add(Int(2), Int(3)))) is None


def test_an_exception_of_a_guard_comes_back_unchanged():
    class SpecialError(Exception):
        pass

    raised = SpecialError("no idea")

    def guard(_part):
        raise raised

    x = Var()
    with pytest.raises(SpecialError) as caught:
        Pattern(Add(x, Int(1)), Hole(x, guard=guard)).match(Add(Int(1), Int(1)))
    assert caught.value is raised


def test_free_variables_map_or_stand_for_themselves():
    h, x, u, v = (Var(name) for name in "hxuv")
    value = Add(Int(1), Add(u, u))
    mapping = Pattern(Add(h, Add(x, x)), [h])
    assert mapping.enable_auto_mapping
    assert mapping.match(value)[x] is u
    assert [(a is x, b is u) for a, b in mapping.match(value).vars] == [(True, True)]
    assert mapping.match(Add(Int(1), Add(u, v))) is None
    exact = Pattern(Add(h, Add(x, x)), [h], enable_auto_mapping=False)
    assert exact.match(value) is None
    assert exact.match(Add(Int(1), Add(x, x))) is not None


def test_every_match_is_found_with_its_path():
    x = Var()
    pattern = Pattern(Add(x, Int(0)), x)
    shared = Add(Int(5), Int(0))
    found = pattern.find_all([Add(Add(Int(1), Int(0)), Int(0)), shared, shared])
    assert [str(match.path) for match in found] == ["<root>[0]", "<root>[0].lhs", "<root>[1]"]
    assert found[2].value is shared


def test_what_makes_no_pattern_is_refused():
    x, y = Var("x"), Var("y")
    with pytest.raises(TypeError, match=r"Pattern\.holes: expected a variable, got int"):
        Pattern(Add(x, Int(1)), [3])
    with pytest.raises(ValueError, match="does not occur in the template"):
        Pattern(Add(x, Int(1)), [y])
    with pytest.raises(ValueError, match="is bound by the template"):
        Pattern(Fun([x], x), [x])
    with pytest.raises(TypeError, match=r"Hole\.cls: expected a class of nodes, got int"):
        Hole(x, cls=3)
    with pytest.raises(TypeError, match=r"Hole\.guard: expected a callable, got int"):
        Hole(x, guard=3)
    with pytest.raises(TypeError, match=r"Rule\.pattern: expected a Pattern"):
        Rule(x, x)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"rewrite\.rules: expected Rules"):
        rewrite(x, [x])


def test_rules_rewrite_to_a_fixed_point():
    x, a, b = Var(), Var(), Var()
    zero = Rule(Pattern(Add(x, Int(0)), x), x)
    kept = Add(a, b)
    root = [Add(Add(a, Int(0)), Add(Int(0), Int(0))), kept]
    done = rewrite(root, zero)
    assert done.applied == (3,)
    assert done.value[0] is a
    assert done.value[1] is kept
    assert rewrite(done.value, [zero]).value.same_as(done.value)
    assert zero.apply(Add(a, Int(0))) is a
    assert zero.apply(a) is None


def test_a_function_computes_the_replacement():
    x, y = Var(), Var()

    def fold(match):
        total = match[x].value + match[y].value
        return Int(total) if total < 10 else None

    rule = Rule(Pattern(Add(x, y), {x: Int, y: Int}), fold)
    done = rewrite(Add(Add(Int(1), Int(2)), Add(Int(4), Int(8))), [rule])
    assert structural_equal(done.value, Add(Int(3), Add(Int(4), Int(8))))
    never = Rule(rule.pattern, fold, guard=lambda match: False)
    assert rewrite(Add(Int(1), Int(2)), [never]).applied == (0,)


def test_rules_without_end_are_an_error():
    x, y = Var(), Var()
    swap = Rule(Pattern(Add(x, y), [x, y]), Add(y, x))
    with pytest.raises(ValueError, match=r"max_steps=100 steps \(rule 0 101 times\)"):
        rewrite(Add(Int(1), Int(2)), [swap], max_steps=100)


def test_binders():
    f, x, a, g = Var("f"), Var("x"), Var("a"), Var("g")
    eta = Rule(Pattern(Fun([x], Add(f, x)), f), f)
    assert rewrite(Fun([a], Add(g, a)), [eta]).value is g
    escaping = Fun([a], Add(Add(g, a), a))
    assert rewrite(escaping, [eta]).value is escaping
    found = Pattern(Fun([x], Add(x, f)), f).match(Fun([a], Add(a, g)))
    assert found[x] is a
    made = found.instantiate(Fun([x], f))
    assert made.params[0] is a and made.body is g
    with pytest.raises(ValueError, match="which the pattern binds and the replacement does not"):
        Rule(Pattern(Fun([x], Add(x, f)), f), x)


def test_a_free_variable_of_the_replacement_is_named():
    x, y = Var("x"), Var("y")
    pattern = Pattern(Add(x, Int(0)), x)
    with pytest.raises(ValueError, match=r'"y".*make it a hole.*`introduces`'):
        Rule(pattern, Add(x, y))
    with pytest.raises(ValueError, match=r'"y".*a function that makes the replacements'):
        Rule.results(pattern, [y])
    rule = Rule(pattern, y, introduces=[y])
    assert rewrite(Add(Int(1), Int(0)), [rule]).value is y
    # A binder around the match captures nothing.
    done = rewrite(Fun([y], Add(y, Int(0))), [rule]).value
    assert done.body is y and done.params[0] is not y


def test_the_field_of_a_hole_that_differs_is_named():
    x, y = tir.Var("x", "int32"), tir.Var("y", "int64")
    for template, value in [(x, y), ([1, [x]], [1, [y]]), ({"a": x}, {"a": y})]:
        reason = Pattern(template, x).explain(value).reason
        assert reason.startswith("the values differ; the variable of the hole has another 'dtype'")
        assert Pattern(y, Hole(y, anything=True)).match(value) is not None
    # A difference outside of holes has no such note.
    assert "hole" not in Pattern(tir.Mul(x, 1), x).explain(tir.Mul(x, 2)).reason


def test_texts_of_the_objects():
    x = Var("x")
    pattern = Pattern(Add(x, Int(1)), x)
    rule = Rule(pattern, x)
    assert "Pattern" in repr(pattern) and "Match" in repr(pattern.match(Add(x, Int(1))))
    assert "Rule" in repr(rule) and "applied" in repr(rewrite(x, [rule]))
    assert rule.pattern.template is pattern.template
    assert Hole(x).var is x
    assert isoform.pattern.Pattern is Pattern
