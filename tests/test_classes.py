"""Classes of subterms, duplicates and interning from Python.

The tests of the Rust crate have the semantics.
"""

import itertools
import random
from typing import Any

import pytest

from isoform import (
    Array,
    List,
    Object,
    duplicates,
    intern,
    repeated_blocks,
    structural_equal,
    subterm_classes,
)
from isoform.dataclasses import field, py_class


@py_class("test_classes.Var", structural_eq="var", frozen=True)
class Var(Object):
    name: str = field(structural_eq="ignore")


@py_class("test_classes.Add", structural_eq="tree", frozen=True)
class Add(Object):
    lhs: object
    rhs: object


@py_class("test_classes.Fun", structural_eq="tree", scope=True, frozen=True)
class Fun(Object):
    params: Any = field(structural_eq="def")
    body: object


@py_class("test_classes.Call", structural_eq="dag", frozen=True)
class Call(Object):
    args: Any


@py_class("test_classes.Cell", structural_eq="tree")
class Cell(Object):
    value: object


def random_value(source: random.Random, variables: list, parts: list):
    for _ in range(40):
        lhs, rhs = (parts[source.randrange(min(8, len(parts)))] for _ in range(2))
        kind = source.randrange(6)
        if kind == 0:
            parts.append(Fun([source.choice(variables)], lhs))
        elif kind == 1:
            parts.append(Array([lhs, rhs]))
        else:
            parts.append(Add(lhs, rhs))
    return Array(parts)


@pytest.mark.parametrize("map_free_vars", [False, True])
def test_classes_are_those_of_comparison(map_free_vars):
    source = random.Random(16)
    equal = 0
    for _ in range(20):
        variables = [Var("x"), Var("y")]
        value = random_value(source, variables, [*variables, 1, 2])
        classes = subterm_classes(value, map_free_vars)
        for lhs, rhs in itertools.combinations(value, 2):
            if isinstance(lhs, int) or isinstance(rhs, int):
                continue
            same = classes.class_of(lhs) == classes.class_of(rhs)
            assert same == structural_equal(lhs, rhs, map_free_vars)
            equal += same
    assert equal > 20


def test_the_table():
    x = Var("x")
    one, other = Add(x, 1), Add(x, 1)
    classes = subterm_classes([one, other])
    assert len(classes) == 3
    number = classes.class_of(one)
    assert number == classes.class_of(other) == 1
    assert [
        member.same_as(found)
        for member, found in zip(classes.members(number), [one, other], strict=True)
    ] == [True, True]
    assert classes.size(number) == 2
    assert classes.class_of(Add(x, 1)) is None
    assert classes.class_of(1) is None
    assert not classes.is_decided_by_comparison(number)
    assert classes.costs["comparisons"] == 0
    assert repr(classes) == "<SubtermClasses: 3 classes>"
    with pytest.raises(IndexError, match="expected the number of a class below 3, got 3"):
        classes.size(3)


def test_sharing_of_dag_objects():
    shared = Call([1])
    one, other = Array([shared, shared]), Array([Call([1]), Call([1])])

    def same(**options):
        classes = subterm_classes([one, other], **options)
        return classes.class_of(one) == classes.class_of(other)

    assert same()
    assert not same(sharing=True)
    assert not same(confirm=True)


def test_what_can_change_is_equal_by_contents_or_by_identity():
    one, other = Cell(1), Cell(1)
    classes = subterm_classes([one, other])
    assert classes.class_of(one) == classes.class_of(other)
    classes = subterm_classes([one, other], mutable_by_identity=True)
    assert classes.class_of(one) != classes.class_of(other)
    assert len(duplicates([Add(one, 1), Add(other, 1)])) == 1
    assert duplicates([Add(one, 1), Add(other, 1)], mutable_by_identity=True) == []


def test_duplicates():
    x, y = Var("x"), Var("y")
    programs = [Fun([x], Add(Add(x, 1), 2)), Add(Add(y, 1), 2)]
    (group,) = duplicates(programs)
    assert [number for number, _ in group.members] == [0, 1]
    assert group.members[1][1].same_as(programs[1])
    assert (group.size, group.saved) == (3, 2)
    assert duplicates(programs, min_size=4) == []
    assert duplicates(programs, map_free_vars=False) == []
    assert repr(group) == "<Duplicate: 2 members of 3 nodes>"


def test_repeated_blocks():
    @py_class("test_classes.Layer", structural_eq="dag")
    class Layer(Object):
        op: str
        args: Any

    value = Layer("input", [])
    for _ in range(5):
        norm = Layer("norm", [value])
        value = Layer("add", [value, Layer("relu", [norm])])
    (block,) = repeated_blocks([Layer("softmax", [value])], min_size=2)
    assert (block.size, len(block.places), block.saved) == (3, 5, 8)
    assert [node.op for node in block.places[4][1]] == ["norm", "relu", "add"]
    assert [number for number, _ in block.places] == [0] * 5
    assert repr(block) == "<RepeatedBlock: 5 copies of 3 nodes>"
    assert repeated_blocks([value], min_count=6) == []


def test_interning():
    x = Var("x")
    value = Array([Add(Add(x, 1), 2), Add(Add(x, 1), 2), List([Call([1])]), Call([1])])
    made = intern(value)
    assert structural_equal(made, value)
    assert made[0].same_as(made[1])
    assert not made[2][0].same_as(made[3])
    assert intern(made).same_as(made)


def test_a_value_that_contains_itself():
    cell = Cell(None)
    cell.value = [cell]
    assert len(subterm_classes(cell, mutable_by_identity=True)) == 2
    with pytest.raises(ValueError, match="contains itself"):
        subterm_classes(cell)


def test_an_exception_of_a_custom_comparison_is_raised():
    @py_class("test_classes.Odd", structural_eq="tree", frozen=True)
    class Odd(Object):
        value: int

        def __s_equal__(self, other, equal):
            raise RuntimeError("odd")

        def __s_hash__(self, init, hash_value):
            return 1

    with pytest.raises(RuntimeError, match="odd"):
        subterm_classes([Odd(1), Odd(2)])
