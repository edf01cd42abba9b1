"""Forms of holes and options of patterns, from Python."""

import pytest
from rewriting import Add, Assign, Expr, Int, Node, Var

from isoform import Object, py_class, structural_equal, type_attrs
from isoform.dataclasses import field
from isoform.pattern import Hole, Pattern, Rule
from isoform.uses import Uses


@py_class("test_forms.Call", structural_eq="tree")
class Call(Expr):
    op: str
    args: tuple


def commutes(node):
    return "args" if node.op == "mul" else None


type_attrs.set(Call, "rewrite.pure", lambda call: call.op != "effect")
type_attrs.set(Call, "rewrite.commutative", commutes)
type_attrs.set(Add, "test_forms.cost", 3)


def test_operands_in_any_order_r52():
    x, a = Var("x"), Var("a")
    pattern = Pattern(Add(x, Int(1)), x, commutative=True)
    assert pattern.match(Add(Int(1), a))[x] is a
    assert Pattern(Add(x, Int(1)), x).match(Add(Int(1), a)) is None
    product = Pattern(Call("mul", (x, Int(1))), x, commutative=True)
    assert product.match(Call("mul", (Int(1), a)))[x] is a
    quotient = Pattern(Call("div", (x, Int(1))), x, commutative=True)
    assert quotient.match(Call("div", (Int(1), a))) is None


def test_any_number_of_items():
    x, y = Var("x"), Var("y")
    pattern = Pattern(Call("f", (x, Int(0), y)), [Hole(x, items=True), Hole(y, items=True)])
    found = pattern.match(Call("f", (Int(1), Int(2), Int(0), Int(0))))
    assert [item.value for item in found[x]] == [1, 2] and len(found[y]) == 1
    rule = Rule(pattern, Call("f", (y, x)))
    made = rule.apply(Call("f", (Int(1), Int(2), Int(0), Int(3))))
    assert [item.value for item in made.args] == [3, 1, 2]
    with pytest.raises(ValueError, match="must be an item of an array"):
        Pattern(Add(x, Int(0)), Hole(x, items=True))


def test_alternatives_r52():
    x, y, h = Var("x"), Var("y"), Var("h")
    either = Pattern(Add(x, y), [x, y]) | Pattern(Call("mul", (x, y)), [x, y])
    assert either.match(Call("mul", (Int(1), Int(2))))[y].value == 2
    assert either.match(Int(1)) is None and either.explain(Int(1)) is not None
    inside = Pattern(Call("neg", (h,)), Hole(h, matching=either))
    assert inside.match(Call("neg", (Add(Int(1), Int(2)),)))[x].value == 1
    maybe = Pattern(Add(x, y), [x, y]).optional(lambda template: Call("relu", (template,)))
    assert maybe.match(Call("relu", (Add(Int(1), Int(2)),))) is not None
    assert maybe.match(Add(Int(1), Int(2))) is not None
    with pytest.raises(ValueError, match="at least one pattern"):
        Pattern.any_of()
    with pytest.raises(TypeError, match=r"Pattern\.any_of: expected a Pattern, got Int"):
        Pattern.any_of(Int(1))
    with pytest.raises(TypeError, match=r"Hole\.matching: expected a Pattern, got int"):
        Hole(x, matching=3)


def test_constants_fields_and_attributes_r52():
    x = Var("x")

    def matches(hole, part):
        return Pattern(Call("f", (x,)), hole).match(Call("f", (part,))) is not None

    total = Add(Int(4), Int(2))
    assert matches(Hole(x, constant=True), Int(1)) and not matches(Hole(x, constant=True), total)
    assert matches(Hole(x, constant=True), 2.5) and not matches(Hole(x, constant=True), None)
    assert matches(Hole(x, attrs={"test_forms.cost": 3}), total)
    assert not matches(Hole(x, attrs={"test_forms.cost": 3}), Int(1))
    assert matches(Hole(x, fields={"lhs.value": 4}), total)
    assert not matches(Hole(x, fields={"lhs.value": 5}), total)
    assert not matches(Hole(x, fields={"value": 5}), total)
    with pytest.raises(ValueError, match=r"Hole\.field 'nothing': .* no field 'nothing'"):
        matches(Hole(x, fields={"nothing": 5}), total)
    assert matches(Hole(x, anything=True), None) and not matches(Hole(x), None)
    y = Var("y")
    inner = Hole(x, fields={"lhs": Pattern(y, Hole(y, cls=Int))})
    assert Pattern(Call("f", (x,)), inner).match(Call("f", (total,)))[y].value == 4
    with pytest.raises(ValueError, match=r"Hole\.field 'a\['"):
        Pattern(x, Hole(x, fields={"a[": 1}))


def test_identity_r52():
    x = Var("x")
    same = Pattern(Add(x, x), x, identity=True)
    part = Add(Int(1), Int(2))
    assert same.match(Add(part, part)) is not None
    assert same.match(Add(part, Add(Int(1), Int(2)))) is None


def test_users_r53():
    x = Var("x")
    inner = Node("add", (Var("a"),))
    outer = Node("mul", (inner,))
    template = Node("mul", (Node("add", (x,)),))
    program = [outer, inner]
    for interior, found in [("auto", None), ("inside", None), ("anywhere", outer)]:
        pattern = Pattern(template, x, interior_uses=interior)
        match = pattern.match(outer, Uses(program))
        assert (match and match.value) is found
        assert pattern.match(outer, Uses(outer)) is not None
    alone = Pattern(Call("f", (x,)), Hole(x, one_use=True))
    value = Call("f", (inner,))
    assert len(alone.find_all(value)) == 1 and alone.find_all([value, inner]) == []
    with pytest.raises(ValueError, match=r"Pattern\.match_in"):
        alone.match(value)
    with pytest.raises(ValueError, match="expected 'auto', 'inside' or 'anywhere', got \"all\""):
        Pattern(x, x, interior_uses="all")


def test_definitions():
    x, a, t = Var("x"), Var("a"), Var("t")
    pattern = Pattern(Call("neg", (Add(x, Int(1)),)), x, definitions=True)
    use = Call("neg", (t,))
    assert pattern.match(use) is None
    assert pattern.match(use, Uses([Assign(t, Add(a, Int(1))), use]))[x] is a
    effect = Add(Call("effect", ()), Int(1))
    assert pattern.match(use, Uses([Assign(t, effect), use])) is None


def test_attributes_of_the_wrong_form_are_errors():
    @py_class("test_forms.Wrong", structural_eq="tree")
    class Wrong(Object):
        var: Var = field(structural_eq="def")
        value: Expr

    with pytest.raises(ValueError, match=r"type test_forms\.Wrong: there is no field 'other'"):
        type_attrs.set(Wrong, "rewrite.binding", {"var": "other", "value": "value"})
    with pytest.raises(TypeError, match="expected a map from str to str, got str"):
        type_attrs.set(Wrong, "rewrite.binding", "var")

    @py_class("test_forms.Odd", structural_eq="tree")
    class Odd(Object):
        value: Expr

    type_attrs.set(Odd, "rewrite.commutative", lambda node: ["value"])
    with pytest.raises(TypeError, match="expected the names of two fields"):
        Pattern(Odd(Int(1)), commutative=True)


def test_uses_of_a_program():
    a, t = Var("a"), Var("t")
    total = Add(a, a)
    program = [Assign(t, total), Add(t, Int(1))]
    uses = Uses(program)
    assert sorted(str(user.path) for user in uses.users(a)) == [
        "<root>[0].value.lhs",
        "<root>[0].value.rhs",
    ]
    assert all(user.owner is total for user in uses.users(a))
    assert uses.use_count(t) == 1 and uses.has_one_use(t) and uses.users(Var()) == []
    definition = uses.definition(t)
    assert definition.binding is program[0] and definition.value is total
    assert definition.index is None and uses.definition(a) is None
    assert str(uses.path(total)) == "<root>[0].value" and uses.path(Var()) is None
    made = uses.replace_all(t, Int(5))
    assert made[0] is program[0] and structural_equal(made[1], Add(Int(5), Int(1)))
    assert uses.root[0] is program[0]
    assert "Uses" in repr(uses) and "value.lhs" in repr(sorted(map(repr, uses.users(a))))
