"""`__s_visit__` and `__s_mutate__`: traversal written by users."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import isoform
from isoform import (
    DefRegionKind,
    VisitInterrupt,
    structural_map,
    structural_mutate,
    structural_visit,
    structural_walk,
    type_attrs,
)
from isoform.dataclasses import Object, py_class

LOG: list[Any] = []


@py_class("traverse.py.OnlyY")
class OnlyY(Object):
    x: Any
    y: Any

    def __s_visit__(self, visitor: Any) -> Any:
        LOG.append(("visit", self.x))
        return visitor.visit(self.y)

    def __s_mutate__(self, mutator: Any) -> Any:
        LOG.append(("mutate", self.x))
        made = copy.copy(self)
        made.y = mutator.mutate(self.y)
        return made


@pytest.fixture(autouse=True)
def empty_log():
    LOG.clear()


ROOT = OnlyY(1, OnlyY(2, 3))


def test_a_walk_follows_the_hook_and_calls_back_for_the_object():
    seen: list[Any] = []
    structural_walk(ROOT, (object, seen.append), order="pre")
    assert seen == [ROOT, ROOT.y, 3]
    assert LOG == [("visit", 1), ("visit", 2)]
    seen.clear()
    structural_walk(ROOT, (object, seen.append))
    assert seen == [3, ROOT.y, ROOT]


def test_visit_follows_the_hook_where_no_callback_is_responsible():
    seen: list[Any] = []
    structural_visit(ROOT, (int, lambda value, visitor: seen.append(value)))
    assert seen == [3]
    seen.clear()

    def descend(value: Any, visitor: Any) -> Any:
        seen.append(value)
        return visitor.default_visit(value)

    structural_visit(ROOT, (OnlyY, descend))
    assert seen == [ROOT, ROOT.y]
    assert LOG == [("visit", 1), ("visit", 2)] * 2


@pytest.mark.parametrize("order", ["pre", "post"])
def test_map_follows_the_hook(order: str):
    made = structural_map(ROOT, (int, lambda value: value + 10), order=order)
    assert repr(made) == repr(OnlyY(1, OnlyY(2, 13)))
    assert LOG == [("mutate", 1), ("mutate", 2)]


def test_mutate_follows_the_hook():
    made = structural_mutate(ROOT, (int, lambda value, mutator: value + 10))
    assert repr(made) == repr(OnlyY(1, OnlyY(2, 13)))

    def descend(value: Any, mutator: Any) -> Any:
        return [mutator.default_mutate(value)]

    made = structural_mutate(OnlyY(1, 2), [(OnlyY, descend), (int, lambda value, m: value + 1)])
    assert repr(made) == repr(isoform.Array([OnlyY(1, 3)]))


def test_the_fields_are_visited_on_demand():
    @py_class("traverse.py.Default")
    class Default(Object):
        x: Any
        y: Any

        def __s_visit__(self, visitor: Any) -> Any:
            return visitor.default_visit(self)

        def __s_mutate__(self, mutator: Any) -> Any:
            return mutator.default_mutate(self)

    seen: list[Any] = []
    root = Default(1, Default(2, [3]))
    structural_walk(root, (int, seen.append))
    structural_visit(root, (int, lambda value, visitor: seen.append(value)))
    assert seen == [1, 2, 3] * 2
    for made in (
        structural_map(root, (int, lambda value: -value)),
        structural_mutate(root, (int, lambda value, mutator: -value)),
    ):
        assert repr(made) == repr(Default(-1, Default(-2, [-3])))
    assert structural_map(root, (str, lambda text: text)) is root
    assert structural_mutate(root, (str, lambda text, mutator: text)) is root


def test_walks_are_ended_through_and_by_hooks():
    end = VisitInterrupt("found")
    result = structural_walk(ROOT, (int, lambda value: end))
    assert result is end
    result = structural_visit(ROOT, (int, lambda value, visitor: end))
    assert result is end

    @py_class("traverse.py.Ends")
    class Ends(Object):
        x: Any

        def __s_visit__(self, visitor: Any) -> Any:
            return VisitInterrupt(99)

    assert structural_walk([Ends(1)], (int, lambda value: None)).value == 99
    assert structural_visit([Ends(1)], (int, lambda value, visitor: None)).value == 99


def test_wrong_answers_and_exceptions():
    @py_class("traverse.py.Wrong")
    class Wrong(Object):
        x: Any

        def __s_visit__(self, visitor: Any) -> Any:
            return 5

        def __s_mutate__(self, mutator: Any) -> Any:
            raise LookupError("mine")

    message = r"traverse\.py\.Wrong\.__s_visit__: expected None or a VisitInterrupt"
    with pytest.raises(TypeError, match=message):
        structural_walk(Wrong(1), (int, lambda value: None))
    with pytest.raises(TypeError, match=message):
        structural_visit(Wrong(1), (int, lambda value, visitor: None))
    with pytest.raises(LookupError, match="mine"):
        structural_map([Wrong(1)], (int, lambda value: value))
    with pytest.raises(LookupError, match="mine"):
        structural_mutate([Wrong(1)], (int, lambda value, mutator: value))
    with pytest.raises(ValueError, match="in the callback"):
        structural_walk(
            ROOT, (int, lambda value: (_ for _ in ()).throw(ValueError("in the callback")))
        )


def test_a_result_must_fit_its_place():
    @py_class("traverse.py.Leaf")
    class Leaf(Object):
        n: int

        def __s_mutate__(self, mutator: Any) -> Any:
            return "text"

    @py_class("traverse.py.Holds")
    class Holds(Object):
        leaf: Leaf

    assert structural_map([Leaf(1)], (int, lambda n: n))[0] == "text"
    with pytest.raises(TypeError, match="leaf"):
        structural_map(Holds(Leaf(1)), (int, lambda n: n))


def test_regions():
    kinds: list[Any] = []
    kept: list[Any] = []

    @py_class("traverse.py.Region")
    class Region(Object):
        x: Any

        def __s_visit__(self, visitor: Any) -> Any:
            kept.append(visitor)
            assert visitor.def_region_kind() == DefRegionKind.NONE
            return visitor.with_def_region_kind(1, lambda: visitor.visit(self.x))

        def __s_mutate__(self, mutator: Any) -> Any:
            inner = mutator.with_def_region_kind(2, lambda: mutator.mutate(self.x))
            return Region(inner)

    structural_walk(Region(1), with_def_region_kind=(int, lambda value, kind: kinds.append(kind)))
    structural_map(
        Region(1), with_def_region_kind=(int, lambda value, kind: kinds.append(kind) or value)
    )
    assert kinds == [DefRegionKind.DEF_PATTERN, DefRegionKind.DEF_SIMPLE]
    with pytest.raises(RuntimeError, match="only while __s_visit__ runs"):
        kept[0].visit(1)


def test_hooks_record_what_variables_become():
    @py_class("traverse.py.Var", structural_eq="var")
    class Var(Object):
        name: str

    @py_class("traverse.py.Let")
    class Let(Object):
        var: Var
        body: Any

        def __s_mutate__(self, mutator: Any) -> Any:
            fresh = Var(self.var.name + "'")
            assert mutator.var_remap_get(self.var) is None
            mutator.var_remap_set(self.var, fresh)
            assert mutator.var_remap_get(self.var) is fresh
            return Let(fresh, mutator.mutate(self.body))

    x = Var("x")
    root = Let(x, [x, 1, Let(Var("y"), x)])
    for made in (
        structural_map(root, (int, lambda n: n)),
        structural_mutate(root, (int, lambda n, mutator: n)),
    ):
        assert made.var.name == "x'"
        assert made.body[0] is made.var
        assert made.body[2].body is made.var
        assert made.body[2].var.name == "y'"


def test_deep_nesting_is_an_error():
    deep: Any = 1
    for _ in range(3000):
        deep = OnlyY(0, deep)
    for traverse in (
        lambda: structural_walk(deep, (str, lambda text: None)),
        lambda: structural_visit(deep, (str, lambda text, visitor: None)),
        lambda: structural_map(deep, (str, lambda text: text)),
        lambda: structural_mutate(deep, (str, lambda text, mutator: text)),
    ):
        with pytest.raises(RecursionError):
            traverse()


def test_hooks_are_set_later_and_inherited():
    @py_class("traverse.py.Later")
    class Later(Object):
        x: Any
        y: Any

    def total(root: Any) -> int:
        seen: list[int] = []
        structural_walk(root, (int, seen.append))
        return sum(seen)

    assert total(Later(1, 2)) == 3
    type_attrs.set(Later, "__s_visit__", lambda self, visitor: visitor.visit(self.x))
    assert total(Later(1, 2)) == 1

    @py_class("traverse.py.SubLater")
    class SubLater(Later):
        z: int = 5

    assert total(SubLater(1, 2)) == 1

    @py_class("traverse.py.SubOnlyY")
    class SubOnlyY(OnlyY):
        z: int = 5

    assert total(SubOnlyY(1, 2)) == 2
    assert total(OnlyY(1, 2)) == 2


def test_comparison_ignores_traversal_hooks():
    assert isoform.structural_equal(OnlyY(1, 2), OnlyY(1, 2))
    assert not isoform.structural_equal(OnlyY(1, 2), OnlyY(2, 2))


def test_structural_hooks_given_as_functions():
    @py_class("traverse.py.Sum")
    class Sum(Object):
        a: Any
        b: Any

    def equal(self: Any, other: Any, eq: Any) -> bool:
        return (eq(self.a, other.a) and eq(self.b, other.b, False, "b")) or (
            eq(self.a, other.b, def_region=False, name="a") and eq(self.b, other.a)
        )

    def hashed(self: Any, init: int, h: Any) -> int:
        return h(self.a, init) ^ h(self.b, init)

    type_attrs.set(Sum, "__s_equal__", isoform.convert_func(equal))
    type_attrs.set(Sum, "__s_hash__", isoform.convert_func(hashed))
    assert isoform.structural_equal(Sum(1, 2), Sum(2, 1))
    assert not isoform.structural_equal(Sum(1, 2), Sum(2, 2))
    assert isoform.structural_hash(Sum(1, 2)) == isoform.structural_hash(Sum(2, 1))


def test_a_static_method_takes_the_object_second_as_in_the_peer() -> None:
    seen = []

    @py_class("traverse.py.StaticVisit")
    class Node(Object):
        child: object

        @staticmethod
        def __s_visit__(visitor: Any, node: Any) -> Any:
            seen.append(type(node).__name__)
            return visitor.visit(node.child)

        @staticmethod
        def __s_mutate__(mutator: Any, node: Any) -> Any:
            return Node(mutator.mutate(node.child))

    structural_visit(Node(Node(1)))
    assert seen == ["Node", "Node"]
    assert structural_mutate(Node(1), (int, lambda value, _: value + 1)).child == 2
