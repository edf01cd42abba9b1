"""Differences are judged by the distance of trees: the fewest nodes that have to be
deleted, inserted or relabelled.

The package `apted` finds that number, in cubic time. A difference is an edit script, too;
it can be longer but never shorter, and should not be much longer.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass
from functools import cache

import pytest
from apted import APTED
from edited_trees import Fielded, Listed, Tree, families, field_edits, list_edits, unrelated
from scale import scaled

from isoform import Object, structural_equal
from isoform.container import List
from isoform.dataclasses import py_class
from isoform.diff import Change, diff

# Pairs of each family, and pairs of each family and edit.
PAIRS = scaled(26, 8)
EDITED = scaled(12, 4)
MEDIAN = 1.05
NEARLY_ALL = 1.25


@py_class("test_diff_quality.Listed")
class ListNode(Object):
    label: int
    children: List[Object]


@py_class("test_diff_quality.Leaf")
class Leaf(Object):
    label: int


@py_class("test_diff_quality.Unary")
class Unary(Object):
    label: int
    operand: Object


@py_class("test_diff_quality.Binary")
class Binary(Object):
    label: int
    lhs: Object
    rhs: Object


def value(tree: Tree) -> Object:
    """Build the nodes of a tree."""
    made: dict[int, Object] = {}
    for node in reversed(list(tree)):
        below = [made.pop(id(child)) for child in node.children]
        if isinstance(node, Listed):
            made[id(node)] = ListNode(node.label, below)
        else:
            made[id(node)] = (Leaf, Unary, Binary)[len(below)](node.label, *below)
    return made[id(tree)]


def cost(change: Change) -> int:
    """Return how many edits of single nodes a change stands for."""
    if change.kind == "value":
        once = 1
    elif change.kind == "replaced":
        # One node is relabelled, and all other nodes of the two sides differ.
        once = change.left_size + change.right_size - 1
    else:
        once = change.left_size + change.right_size
    return change.count * once


@dataclass(frozen=True)
class Sample:
    """One pair of trees."""

    family: str
    left: Tree
    right: Tree
    optimum: int
    ours: int
    # The cost of a difference that deletes the left tree and inserts the right tree.
    whole: int
    text: str

    @property
    def ratio(self) -> float:
        """How many times the optimum the difference takes."""
        return self.ours / self.optimum


def sample(family: str, left: Tree, right: Tree) -> Sample | None:
    """Measure one pair; None for equal trees."""
    optimum = APTED(left, right).compute_edit_distance()
    values = value(left), value(right)
    difference = diff(*values)
    if optimum == 0:
        assert not difference.changes
        return None
    assert structural_equal(difference.apply(values[0]), values[1])
    ours = sum(map(cost, difference.changes))
    whole = len(list(left)) + len(list(right)) - 1
    return Sample(family, left, right, optimum, ours, whole, str(difference))


@cache
def samples() -> list[Sample]:
    """Draw and measure all pairs."""
    found = []
    for family in families(3) + families(20) + unrelated(10):
        rng = random.Random(family.name)
        for _ in range(PAIRS):
            found.append(sample(family.name, *family.draw(rng)))
    return [each for each in found if each is not None]


def near_all(ratios: list[float]) -> float:
    """Return what 95 of 100 ratios do not exceed."""
    return statistics.quantiles(ratios, n=20, method="inclusive")[-1]


def test_most_differences_are_nearly_as_short_as_can_be():
    ratios = [sample.ratio for sample in samples()]
    assert len(ratios) >= 11.6 * PAIRS
    assert statistics.median(ratios) <= MEDIAN
    assert near_all(ratios) <= NEARLY_ALL


def test_no_difference_is_shorter_than_can_be():
    # A smaller number would leave out a necessary change.
    for sample in samples():
        assert sample.ours >= sample.optimum, f"{sample.family}: {sample.text}"


# The median and the largest ratio after one edit; at best, both are 1. Two literals that are
# exchanged between nodes are two changes of literals, even if moving a leaf is shorter.
AFTER_ONE_EDIT = {
    "relabel": (1.0, 1.0),
    "list_insert_leaf": (1.0, 1.0),
    "delete_leaf": (1.0, 1.0),
    "swap": (1.0, 11.0),
    "list_insert_inner": (1.0, 1.0),
    "list_delete_inner": (1.0, 1.0),
    "list_move": (1.0, 1.0),
    "field_insert_leaf": (1.0, 1.0),
    "field_insert_inner": (1.0, 1.0),
    "field_delete_inner": (1.0, 1.0),
    # Beside two replacements, the move of the part is told.
    "field_move": (1.0, 1.5),
}


@pytest.mark.parametrize("name", AFTER_ONE_EDIT)
def test_after_one_edit(name):
    ratios = []
    for family in families(3) + families(20):
        edits = list_edits if family.node is Listed else field_edits
        for edit in edits:
            if edit.__name__ != name:
                continue
            rng = random.Random(family.name + name)
            for _ in range(EDITED):
                left = family.tree(rng)
                right = left.copy()
                if edit(rng, right, family.labels):
                    found = sample(family.name, left, right)
                    ratios.extend([found.ratio] if found else [])
    middle, largest = AFTER_ONE_EDIT[name]
    assert len(ratios) >= 2.5 * EDITED
    assert statistics.median(ratios) <= middle
    assert max(ratios) <= largest


def test_every_edit_has_a_limit():
    assert {edit.__name__ for edit in list_edits + field_edits} == set(AFTER_ONE_EDIT)


def test_the_measure_tells_a_bad_difference():
    edited = [sample for sample in samples() if not sample.family.startswith("unrelated")]
    assert statistics.median(sample.whole / sample.optimum for sample in edited) > 3 * MEDIAN


@pytest.mark.parametrize("node", [Listed, Fielded])
def test_a_tree_becomes_what_was_drawn(node):
    tree = node(1, [node(2), node(3, [node(2)])])
    assert structural_equal(value(tree), value(tree.copy()))
    tree.children[1].children[0].label = 4
    difference = diff(value(node(1, [node(2), node(3, [node(2)])])), value(tree))
    assert [cost(change) for change in difference.changes] == [1]
