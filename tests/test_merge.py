"""Three-way merges from Python: results, conflicts, and how they are resolved."""

from __future__ import annotations

import re

import pytest

import isoform
from isoform import ir, relay, structural_equal
from isoform.dataclasses import field, py_class
from isoform.diff import Conflict, Difference, Merge, merge


@py_class("test_merge.Var", structural_eq="var")
class Var(isoform.Object):
    name: str = field(structural_eq="ignore")


@py_class("test_merge.Add", structural_eq="tree", frozen=True)
class Add(isoform.Object):
    lhs: object
    rhs: object
    note: str = field(default="", structural_eq="ignore")


@py_class("test_merge.Box", structural_eq="tree")
class Box(isoform.Object):
    content: object
    size: int = 0


@py_class("test_merge.Fun", structural_eq="tree", scope=True, frozen=True)
class Fun(isoform.Object):
    params: object = field(structural_eq="def")
    body: object


@py_class("test_merge.Parity", structural_eq="tree", frozen=True)
class Parity(isoform.Object):
    """Equal to those of the same parity."""

    number: int
    other: int

    def __s_equal__(self, other, eq_cb):
        return self.number % 2 == other.number % 2 and eq_cb(self.other, other.other, False, "")

    def __s_hash__(self, init, hash_cb):
        return hash_cb(self.other, hash_cb(self.number % 2, init, False), False)


def fun(make, name="x"):
    x = Var(name)
    return Fun([x], make(x))


def test_edits_of_different_places():
    base = fun(lambda x: Add(Add(x, 1), Add(x, 2)))
    left = fun(lambda x: Add(Add(x, x), Add(x, 2)), "y")
    right = fun(lambda x: Add(Add(x, 1), [Add(x, 2)]), "z")
    merged = merge(base, left, right)
    assert isinstance(merged, Merge)
    assert merged.is_clean and merged.conflicts == []
    assert structural_equal(merged.merged, fun(lambda x: Add(Add(x, x), [Add(x, 2)])))
    assert merged.base.same_as(base)
    assert isinstance(merged.left, Difference)
    assert structural_equal(merged.left.apply(base), left)
    assert structural_equal(merged.right.apply(base), right)
    assert structural_equal(merged.resolve("left"), merged.merged)


def test_a_conflict_is_a_value():
    merged = merge([1, [2, 3]], [1, [5, 3]], [7, [6, 3]])
    (conflict,) = merged.conflicts
    assert isinstance(conflict, Conflict)
    assert (str(conflict.path), conflict.is_single, conflict.reason) == ("<root>[1][0]", True, None)
    assert (conflict.base, conflict.left, conflict.right) == (2, 5, 6)
    assert [conflict.left_change.summary(), conflict.right_change.summary()] == ["1 value"] * 2
    assert str(conflict) == "conflict at <root>[1][0]\n  base: 2\n  left: 5\n  right: 6"
    assert repr(conflict) == "<Conflict at <root>[1][0]>"
    assert repr(merged) == "<Merge: 1 conflicts>"
    assert structural_equal(merged.merged, [7, [2, 3]])


@pytest.mark.parametrize(
    ("choice", "expected"), [("base", [7, 2]), ("left", [7, 5]), ("right", [7, 6])]
)
def test_one_side_for_all_conflicts(choice, expected):
    assert list(merge([1, 2], [1, 5], [7, 6]).resolve(choice)) == expected


def test_a_function_resolves_each_conflict():
    merged = merge(
        {"a": 1, "b": [1, 2], "c": Add(1, 2), "d": 0},
        {"a": 2, "b": [1, 8, 2], "d": 0},
        {"a": 3, "b": [1, 9, 2], "c": Add(1, 3), "d": 4},
    )
    asked = []

    def choose(conflict):
        asked.append(str(conflict.path))
        return conflict.left + conflict.right

    resolved = merged.resolve(choose)
    assert sorted(asked) == ['<root>["a"]', '<root>["b"][1]', '<root>["c"]']
    assert structural_equal(resolved, {"a": 5, "b": [1, 8, 9, 2], "c": Add(1, 3), "d": 4})
    deleted = merged.resolve(lambda c: [] if "c" in str(c.path)[6:] else c.left)
    assert structural_equal(deleted, {"a": 2, "b": [1, 8, 2], "d": 4})


@pytest.mark.parametrize(
    ("choice", "error", "message"),
    [
        ("both", ValueError, "expected 'left', 'right', 'base' or a function of a conflict"),
        (3, TypeError, "expected 'left', 'right', 'base' or a function of a conflict, got int"),
        (lambda conflict: 5, TypeError, "expected a list of parts for the conflict at <root>[0]"),
        (lambda conflict: {}[1], KeyError, "1"),
    ],
)
def test_other_choices_raise(choice, error, message):
    merged = merge([Add(1, 2), 5], [5], [Add(1, 3), 5])
    with pytest.raises(error, match=re.escape(message)):
        merged.resolve(choice)


def test_mutable_objects_stay_one():
    def make(content, size):
        box = Box(content, size)
        return [box, box]

    merged = merge(make(1, 0), make(2, 0), make(1, 5))
    assert merged.is_clean
    assert structural_equal(merged.merged, make(2, 5))
    assert merged.merged[0].same_as(merged.merged[1])


def test_types_with_a_comparison_of_their_own_are_whole():
    def make(number, other):
        return [Parity(number, other), 0]

    merged = merge(make(1, 1), make(2, 1), make(1, 2))
    (conflict,) = merged.conflicts
    assert str(conflict.path) == "<root>[0]"
    assert structural_equal(conflict.left, Parity(4, 1))
    assert merge(make(1, 1), make(2, 1), make(4, 1)).is_clean
    assert merge(make(1, 1), make(2, 1), make(3, 1)).is_clean


def test_ignored_fields_stay_those_of_the_base():
    merged = merge(Add(1, 2, "base"), Add(3, 2, "left"), Add(1, 4, "right"))
    assert (merged.merged.lhs, merged.merged.rhs, merged.merged.note) == (3, 4, "base")
    ignored = merge(
        [Add(1, 2), 1],
        [Add(3, 2), 2],
        [Add(4, 2), 1],
        ignore="test_merge.Add.lhs",
    )
    assert ignored.is_clean
    assert ignored.merged[0].lhs == 1 and ignored.merged[1] == 2
    assert merge([Add(1, 2), 1], [Add(3, 2), 2], [Add(4, 2), 1], ignore=Add).is_clean
    with pytest.raises(
        TypeError, match=re.escape("expected a class or a field as 'type.key.field'")
    ):
        merge([1], [2], [3], ignore=lambda change: True)


def test_free_variables():
    x, y, z = Var("x"), Var("y"), Var("z")
    assert not merge([x, 1], [y, 1], [z, 1]).is_clean
    merged = merge([x, 1, 2], [y, 5, 2], [z, 1, 6], map_free_vars=True)
    assert merged.is_clean
    assert structural_equal(merged.merged, [x, 5, 6], map_free_vars=True)


def relay_module(**functions):
    made = {}
    for name, uses in functions.items():
        x = relay.Var("x")
        made[name] = relay.Function([x], relay.Tuple([x] * uses))
    return ir.IRModule(made)


def test_a_module_whose_functions_each_side_edits():
    base = relay_module(f=1, g=1)
    merged = merge(base, relay_module(f=2, g=1), relay_module(f=1, g=2))
    assert merged.is_clean, str(merged)
    assert structural_equal(merged.merged, relay_module(f=2, g=2))
    merged = merge(base, relay_module(f=2, g=1, h=1), relay_module(f=1, g=1, k=2))
    assert merged.is_clean, str(merged)
    assert structural_equal(merged.merged, relay_module(f=2, g=1, h=1, k=2))
    merged = merge(base, relay_module(f=2, g=1), relay_module(f=3, g=2))
    assert len(merged.conflicts) == 1, str(merged)
    assert structural_equal(merged.resolve("right"), relay_module(f=3, g=2))


def test_what_cannot_be_compared_raises():
    with pytest.raises(TypeError):
        merge([lambda: 1], [lambda: 2], [3])
    circle = isoform.List([1])
    circle.append(circle)
    with pytest.raises(ValueError, match="cyclic"):
        merge(circle, circle, [1])
