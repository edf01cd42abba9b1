"""Differences from Python: changes, patches, files, and ignored parts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scale import scaled

import isoform
from isoform import Array, Dict, List, structural_equal
from isoform.dataclasses import field, py_class
from isoform.diff import Change, Difference, DifferenceRecord, Patch, diff


@py_class("test_diff.Var", structural_eq="var")
class Var(isoform.Object):
    name: str = field(structural_eq="ignore")


@py_class("test_diff.Add", structural_eq="tree")
class Add(isoform.Object):
    lhs: object
    rhs: object
    note: str = field(default="", structural_eq="ignore")


@py_class("test_diff.Pair", structural_eq="tree", frozen=True)
class Pair(isoform.Object):
    lhs: object
    rhs: object


@py_class("test_diff.Fun", structural_eq="tree", scope=True)
class Fun(isoform.Object):
    params: object = field(structural_eq="def")
    body: object


def fun(*names: str):
    params = [Var(name) for name in names]
    return params, lambda body: Fun(params, body)


def test_equal_values_have_no_changes():
    (x,), f = fun("x")
    (y,), g = fun("y")
    found = diff(f(Add(x, 1)), g(Add(y, 1)))
    assert not found
    assert len(found) == 0
    assert found.summary() == "equal"


def test_a_change_says_what_and_where():
    (x,), f = fun("x")
    (y,), g = fun("y")
    found = diff(f([Add(x, 1), Add(x, 2)]), g([Add(y, 1), Add(y, 3)]))
    (change,) = found.changes
    assert isinstance(found, Difference)
    assert isinstance(change, Change)
    assert (change.kind, change.left, change.right, change.count) == ("value", 2, 3, 1)
    assert str(change.left_path) == "<root>.body[1].rhs"
    assert str(change.right_path) == "<root>.body[1].rhs"
    assert str(change) == "value at <root>.body[1].rhs: 2 -> 3"


@pytest.mark.parametrize(
    ("left", "right", "kinds"),
    [
        ([1, 2, 3], [1, 3], ["deleted"]),
        ([1, 3], [1, 2, 3], ["inserted"]),
        ({"a": 1}, {"a": 2}, ["attribute"]),
        ({"old": [1, 2, 3]}, {"new": [1, 2, 3]}, ["key renamed"]),
        ([Add(1, 2)], [Add(Add(1, 2), 3)], ["wrapped"]),
        ([Add(Add(1, 2), 3)], [Add(1, 2)], ["unwrapped"]),
        ([1], ["a"], ["value"]),
        (
            [Add(Add(1, 2), Add(3, 4)), 5, 6],
            [5, 6, Add(Add(1, 2), Add(3, 4))],
            ["moved"],
        ),
    ],
)
def test_kinds(left, right, kinds):
    found = diff(left, right)
    assert [change.kind for change in found.changes] == kinds
    assert structural_equal(found.apply(found.left), right)
    assert structural_equal(found.invert().apply(found.right), left)


def test_another_variable_is_a_change_of_its_own():
    (x, y), f = fun("x", "y")
    (a, _), g = fun("a", "b")
    found = diff(f(Add(x, y)), g(Add(a, a)))
    (change,) = found.changes
    assert change.kind == "variable"
    assert change.left.same_as(y)
    assert change.right.same_as(a)


def test_a_shared_part_is_one_change_however_often_it_occurs():
    def tower(leaf):
        node = Add(leaf, 0)
        for _ in range(60):
            node = Add(node, node)
        return node

    found = diff(tower(1), tower(2))
    (change,) = found.changes
    assert change.count == 2**60
    assert structural_equal(found.apply(found.left), found.right)


def test_tensors_say_how_far_they_are_apart():
    left = np.zeros((2, 3), dtype=np.float32)
    right = left.copy()
    right[1, 2] = 0.5
    (change,) = diff([left], [right]).changes
    assert change.kind == "tensor"
    assert change.tensor["differing"] == 1
    assert change.tensor["elements"] == 6
    assert change.tensor["max_abs"] == 0.5
    assert change.tensor["first"] == 5
    assert not diff([left], [right], atol=0.5)
    assert diff([left], [right], atol=0.4)


def test_everything_that_can_be_ignored():
    left, right = Add(1, [1.0]), Add(2, [1.0001])
    assert len(diff(left, right)) == 2
    assert [c.right for c in diff(left, right, rtol=0.01).changes] == [2]
    assert [c.right for c in diff(left, right, ignore="test_diff.Add.lhs").changes] == [1.0001]
    assert not diff([left], [right], ignore=Add)
    late = lambda change: str(change.right_path).endswith("]")  # noqa: E731
    assert [c.right for c in diff(left, right, ignore=[late]).changes] == [2]
    kept = diff(left, right, ignore="test_diff.Add.lhs").apply(left)
    assert (kept.lhs, kept.rhs[0]) == (1, 1.0001)


def test_what_cannot_be_ignored_is_an_error_that_says_what_to_write():
    with pytest.raises(AttributeError, match=r"test_diff.Add has no field 'left', only: lhs, rhs"):
        diff(1, 2, ignore="test_diff.Add.left")
    with pytest.raises(ValueError, match=r"expected a field as 'type.key.field', got 'Add'"):
        diff(1, 2, ignore="Add")
    with pytest.raises(TypeError, match=r"no type has the key 'no.such'"):
        diff(1, 2, ignore="no.such.field")
    with pytest.raises(TypeError, match="expected a class of objects, got int"):
        diff(1, 2, ignore=int)
    with pytest.raises(TypeError, match="got int"):
        diff(1, 2, ignore=[3])
    with pytest.raises(ZeroDivisionError):
        diff(1, 2, ignore=lambda change: 1 / 0)


def test_a_patch_is_small_and_crosses_processes():
    (x,), f = fun("x")
    left = f([Add(x, number) for number in range(1000)])
    (y,), g = fun("y")
    right = g([Add(y, number) for number in range(1000) if number != 500] + [Add(y, Add(1, 2))])
    text = diff(left, right).patch.to_json()
    assert len(text) < 400
    assert json.loads(text)["isoform.patch"] == 1
    check = json.loads(text)["check"]
    assert structural_equal(Patch.from_json(text).apply(left), right)
    for other in (right, Add(1, 2), [], 3):
        with pytest.raises(ValueError) as info:
            Patch.from_json(text).apply(other)
        expected = f"for another value: expected one whose digest begins with {check[:8]}, got "
        assert expected in str(info.value)
        assert "no item" not in str(info.value)


def test_a_difference_is_written_and_read():
    left, right = [Add(1, 2), {"k": 1}], [Add(1, 3), {"k": 1}, "new"]
    text = diff(left, right).to_json()
    data = json.loads(text)
    assert (data["format"], data["version"], data["equal"]) == ("isoform.diff", 2, False)
    assert data["summary"] == {"value": 1, "inserted": 1}
    record = Difference.from_json(text)
    assert isinstance(record, DifferenceRecord)
    assert [change.kind for change in record.changes] == ["value", "inserted"]
    assert structural_equal(record.apply(left), right)
    assert structural_equal(record.invert().apply(right), left)
    assert record.to_json() == text


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        '{"isoform.patch":2}',
        '{"isoform.patch":1}',
        '{"isoform.patch":1,"check":1}',
        '{"isoform.patch":1,"check":"","object":{}}',
        '{"isoform.patch":1,"check":"","-1":{}}',
        '{"isoform.patch":1,"check":"","1":2}',
        '{"isoform.patch":1,"check":"","1":{},"01":{}}',
        '{"isoform.patch":1,"check":"","1":[[0]]}',
        '{"isoform.patch":1,"check":"","1":[[0,-1]]}',
        '{"isoform.patch":1,"check":"","1":{"$set":[[1]]}}',
        '{"isoform.patch":1,"check":"","1":{"$del":[null]}}',
        '{"isoform.patch":1,"check":"","root":{"$k":-1}}',
        '{"isoform.patch":1,"check":"","root":{"$q":1}}',
        '{"isoform.patch":1,"check":"","root":{"$n":0}}',
        '{"isoform.patch":1,"check":"","root":{"$v":0}}',
        '{"isoform.patch":1,"check":"","root":{"$ffi.List":{}}}',
        '{"isoform.patch":1,"check":"","root":' + 65 * "[" + 65 * "]" + "}",
    ],
)
def test_damaged_patches_are_errors(text):
    with pytest.raises(ValueError, match=r"."):
        Patch.from_json(text)


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ('"9":{}', "no object of the number 9"),
        ('"0":{"nothing":1}', "has no field 'nothing'"),
        ('"0":[[0,1]]', "the edit is for another kind of object than"),
        ('"1":{"a":1}', "the edit is for another kind of object than"),
        ('"1":[[0,5]]', "no item of the number 0"),
        ('"1":[[1,1],[0,1]]', "no item of the number 1"),
        ('"2":{"$del":[9]}', "no key of the number 9"),
        ('"0":{"$del":[0]}', "the edit is for another kind of object than"),
        ('"root":{"$k":9}', "no object of the number 9"),
        ('"root":{"$i":9}', "no object of the number 9"),
        ('"0":{"lhs":{"$i":2}}', "an object would contain itself"),
        ('"root":1', "expected the check"),
    ],
)
def test_patches_that_do_not_fit_are_errors(edits, message):
    left = {"a": [Add(1, 2)]}
    patch = Patch.from_json('{"isoform.patch":1,"check":"",' + edits + "}")
    with pytest.raises(ValueError, match=f"the patch is for another value.*{message}"):
        patch.apply(left)


def test_a_patch_names_only_the_edit_itself():
    shared = [Add(number, number) for number in range(3)]
    left = {"a": Add(Add(shared[0], shared[1]), shared[2]), "b": shared, "c": [shared, shared]}
    new = [Add(7, 0), *shared[1:]]
    right = {"a": Add(Add(new[0], new[1]), new[2]), "b": new, "c": [new, new]}
    found = diff(left, right)
    data = json.loads(found.patch.to_json())
    assert [len(edit) for key, edit in data.items() if key.isdecimal()] == [1]
    assert structural_equal(found.patch.apply(left), right)
    made = found.apply(left)
    assert made["c"][0] is made["c"][1]


def test_new_objects_are_written_where_they_are_used():
    left = {"a": [Pair(1, 2)]}
    right = {"a": [Pair(1, 2), Pair(Pair(1, 2), {"$k": 1}), [1.0, None]], "b": {"x": [True]}}
    text = diff(left, right).patch.to_json()
    assert "values" not in json.loads(text)
    assert structural_equal(Patch.from_json(text).apply(left), right)


def test_a_variable_that_is_free_on_the_right_alone_cannot_be_written():
    x, y = Var("x"), Var("y")
    found = diff(Add(x, 1), Add(y, 1))
    assert structural_equal(found.apply(found.left), found.right)
    with pytest.raises(ValueError, match="the variable is free on the right"):
        found.patch  # noqa: B018
    assert not diff(Add(x, 1), Add(y, 1), map_free_vars=True)


def test_another_value_is_refused():
    found = diff([1, 2], [1, 3])
    with pytest.raises(ValueError, match=r"this one differs at <root>\[0\]"):
        found.apply([7, 2])
    assert list(found.apply(Array([1, 2]))) == [1, 3]


def test_deep_values():
    def chain(depth, leaf):
        node = Add(leaf, 0)
        for number in range(depth):
            node = Add(node, number)
        return node

    levels = scaled(100_000, 30_000)
    found = diff(chain(levels, 1), chain(levels, 2))
    (change,) = found.changes
    assert (change.left, change.right) == (1, 2)
    assert change.left_path.depth == levels + 1
    assert structural_equal(found.apply(found.left), found.right)
    assert structural_equal(found.patch.apply(found.left), found.right)


def test_a_difference_of_values_that_changed_describes_them_as_they_were():
    for make in (List, lambda items: Dict(enumerate(items))):
        for side in (0, 1):
            values = make([1, 2, 3]), make([1, 5, 3, 4])
            found = diff(*values)
            assert structural_equal(found.apply(values[0]), values[1])
            values[side][1] = 9
            name = ("left", "right")[side]
            message = f"the {name} value has changed since the difference was made"
            with pytest.raises(ValueError, match=message):
                found.apply(values[0])
            then = make([1, 2, 3]), make([1, 5, 3, 4])
            record = Difference.from_json(found.to_json())
            assert structural_equal(record.apply(then[0]), then[1])
            assert structural_equal(record.invert().apply(then[1]), then[0])
            assert structural_equal(found.patch.apply(then[0]), then[1])
            assert structural_equal(found.invert().apply(then[1]), then[0])
            for use in (record.apply, found.patch.apply):
                with pytest.raises(ValueError, match="for another value"):
                    use(make([1, 9, 3]))
    one, other = List([1]), List([1])
    found = diff(one, other)
    other.append(2)
    with pytest.raises(ValueError, match="the right value has changed"):
        found.apply(one)
