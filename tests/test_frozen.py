"""Frozen classes and fields, and the way around."""

import pytest

import isoform
from isoform import Object
from isoform.dataclasses import field, py_class, replace


@pytest.fixture
def frozen(key):
    @py_class(key("Frozen"), frozen=True)
    class Frozen(Object):
        x: int
        items: list[int]

    return Frozen


def test_set_and_delete_are_refused(frozen):
    node = frozen(1, [1])
    with pytest.raises(AttributeError, match="x"):
        node.x = 2
    with pytest.raises(AttributeError):
        del node.x
    with pytest.raises(AttributeError):
        node.unknown = 1
    assert node.x == 1


def test_frozen_is_not_deep(frozen):
    node = frozen(1, [1])
    node.items.append(2)
    assert list(node.items) == [1, 2]


def test_the_property_can_still_set(frozen):
    node = frozen(1, [1])
    frozen.x.set(node, 7)
    assert node.x == 7
    with pytest.raises(TypeError, match="expected int, got str"):
        frozen.x.set(node, "s")
    assert node.x == 7


def test_the_property_refuses_other_objects(frozen, key):
    @py_class(key())
    class Other(Object):
        x: int

    other = Other(1)
    for thing in (other, 1, None):
        with pytest.raises(TypeError):
            frozen.x.set(thing, 7)
    assert other.x == 1


def test_frozen_field_of_a_mutable_class(key):
    @py_class(key())
    class Node(Object):
        x: int = field(frozen=True)
        y: int = 0

    node = Node(1)
    node.y = 5
    with pytest.raises(AttributeError):
        node.x = 2
    assert (node.x, node.y) == (1, 5)


def test_replace_works_on_frozen(frozen):
    node = frozen(1, [1])
    other = replace(node, x=2)
    assert (node.x, other.x) == (1, 2)
    assert other.items is node.items


def test_post_init_of_a_frozen_class_uses_the_property(key):
    @py_class(key(), frozen=True)
    class Node(Object):
        x: int
        y: int = field(default=0, init=False)

        def __post_init__(self):
            type(self).y.set(self, self.x * 2)

    assert Node(4).y == 8


def test_own_init_of_a_frozen_class(key):
    @py_class(key(), frozen=True)
    class Node(Object):
        x: int

        def __init__(self, a):
            self.__isoform_init__(a + 1)

    node = Node(1)
    assert node.x == 2
    with pytest.raises(AttributeError):
        node.x = 3


def test_init_property_is_frozen_with_the_class(key):
    @py_class(key(), frozen=True)
    class Node(Object):
        x: int

        @isoform.dataclasses.init_property
        def double(self) -> int:
            return self.x * 2

    node = Node(2)
    assert node.double == 4
    with pytest.raises(AttributeError):
        node.double = 5


def test_the_property_names_itself(frozen):
    assert isinstance(frozen.x, isoform.core.FFIProperty)
    assert frozen.x.name == "x"


def test_writing_a_frozen_field_is_seen_by_comparison(frozen):
    a, b = frozen(1, []), frozen(1, [])
    assert isoform.structural_equal(a, b)
    before = isoform.structural_hash(a)
    frozen.x.set(a, 2)
    assert not isoform.structural_equal(a, b)
    assert isoform.structural_hash(a) != before
