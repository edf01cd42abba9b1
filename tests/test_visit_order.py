"""Scopes, and the order in which the fields of a class are visited."""

from types import SimpleNamespace
from typing import Any

import pytest

import isoform
from isoform import Object
from isoform.dataclasses import field, py_class


def test_scope_is_an_option(key):
    @py_class(key("Var"), structural_eq="var")
    class Var(Object):
        name: str = field(structural_eq="ignore")

    def make(scope):
        @py_class(key(), scope=scope)
        class Lam(Object):
            params: list[Var] = field(structural_eq="def")
            body: Var

        x, a = Var("x"), Var("a")
        return isoform.structural_equal([Lam([x], x), x], [Lam([a], a), a])

    assert make(False) is True
    assert make(True) is False


def lets(key):
    """A let whose variable is bound in its body only, declared in two ways."""

    @py_class(key("Var"), structural_eq="var")
    class Var(Object):
        name: str = field(structural_eq="ignore")

    @py_class(key("Let"), scope=True, visit_order=("value", "var", "body"))
    class Let(Object):
        var: Any = field(structural_eq="def")
        value: Any
        body: Any

    @py_class(key("Plain"), scope=True, defs_first=False)
    class Plain(Object):
        value: Any
        var: Any = field(structural_eq="def")
        body: Any

    return SimpleNamespace(Var=Var, Let=Let, Plain=Plain)


def test_a_let_is_visited_as_tir_visits_it(key):
    from isoform import tir

    own = lets(key)
    x, y = own.Var("x"), own.Var("y")
    tx, ty = tir.Var("x", "int32"), tir.Var("y", "int32")
    one = tir.IntImm("int32", 1)
    cases = [("xxx", "xyy"), ("xxx", "yyy"), ("xxx", "xxx"), ("xyx", "xxy"), ("yxx", "yyy")]
    for fields, others in cases:

        def both(make, names):
            return [make(*(names[name] for name in given)) for given in (fields, others)]

        def let(value, var, body):
            return own.Let(var, value, body)

        expected = isoform.structural_equal(
            *both(lambda value, var, body: tir.Let(var, value, body), {"x": tx, "y": ty})
        )
        for make in (let, own.Plain):
            left, right = both(make, {"x": x, "y": y})
            assert isoform.structural_equal(left, right) == expected, (fields, others)
            same_hash = isoform.structural_hash(left) == isoform.structural_hash(right)
            assert same_hash == expected
    for made in (own.Let(x, x, x), own.Plain(x, x, x)):
        replaced = isoform.substitute(made, {x: 1})
        assert (replaced.value, replaced.var, replaced.body) == (1, x, x)
    replaced = isoform.substitute(tir.Let(tx, tx, tx), {tx: one})
    assert (replaced.value.value, replaced.body) == (1, tx)


def test_a_wrong_order_of_visit_is_refused(key):
    def declare(order, **options):
        @py_class(key("Wrong"), visit_order=order, **options)
        class Wrong(Object):
            a: Any
            b: Any = field(structural_eq="def")

    for order, message in [
        (("a", "c"), "visit_order: unknown field 'c', expected some of a, b"),
        (("a", "b", "a"), "visit_order: field 'a' is named twice"),
        (("a",), "visit_order: field 'b' is missing, expected every field"),
    ]:
        with pytest.raises(ValueError, match=message):
            declare(order)
    with pytest.raises(ValueError, match="visit_order puts 'b' behind 'a', and defs_first"):
        declare(("a", "b"), defs_first=True)
    for order in ("ab", (), (1, 2)):
        with pytest.raises(TypeError, match="visit_order: expected a sequence of names"):
            declare(order)
    declare(["b", "a"])
