"""`eq`, `order` and `unsafe_hash`: comparison by declared fields."""

from typing import Any

import pytest

import isoform
import nodes
from isoform import Dict, Map, Object
from isoform.dataclasses import field, py_class

NAN = float("nan")


@py_class("recursive.Node", eq=True, order=True, unsafe_hash=True)
class Node(Object):
    a: Any
    b: Any = field(default=None, compare=False)
    c: Any = field(default=None, hash=False)


@py_class("recursive.Pair", eq=True, order=True, unsafe_hash=True)
class Pair(Object):
    x: Any
    y: Any


def test_equality():
    assert Node(1) == Node(1)
    assert (Node(1) != Node(1)) is False
    assert Node(1) != Node(2)
    assert Node(1, "ignored") == Node(1, "other")
    assert Node(1, c=1) != Node(1, c=2)
    assert Node([1, {"k": Node(2)}]) == Node([1, {"k": Node(2)}])


def test_mixed_types_are_unequal():
    assert Node(1) != Node("a")
    assert Node(1) != Node(1.0)
    assert Node(1) != Node(True)
    assert Node(1) != 1
    assert (Node(1) == "x") is False
    assert Pair(1, 2) != Node(1)


def test_floats():
    assert Node(NAN) == Node(NAN)
    assert Node(0.0) == Node(-0.0)
    assert hash(Node(0.0)) == hash(Node(-0.0))
    assert hash(Node(NAN)) == hash(Node(-NAN))


def test_hash():
    assert hash(Node(1)) == hash(Node(1))
    assert hash(Node(1, "x")) == hash(Node(1, "y"))
    assert hash(Node(1, c=1)) == hash(Node(1, c=2))
    assert len({Node(1), Node(1), Node(2)}) == 2
    assert len({hash(Node(n)) for n in range(1000)}) == 1000


def test_order():
    assert Node(1) < Node(2)
    assert Node(1) <= Node(1)
    assert Node(2) > Node(1)
    assert Node(2) >= Node(2)
    assert not Node(1) < Node(1)
    assert Node("a") < Node("b")
    assert Node(b"a") < Node(b"b")
    assert Node(False) < Node(True)
    assert Node(None) < Node(1)
    assert Node(None) < Node("a")
    assert not Node(1) < Node(None)
    assert Node([1, 2]) < Node([1, 3])
    assert Node([1]) < Node([1, 2])
    assert Pair(1, 5) < Pair(2, 0)
    assert Pair(1, 5) < Pair(1, 6)
    assert sorted([Node(3), Node(1), Node(2)])[0].a == 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Node(NAN), Node(1.0)),
        (Node(1.0), Node(NAN)),
        (Node(1), Node("a")),
        (Node(1), Node(1.5)),
        (Node(True), Node(2)),
        (Node({1: 2}), Node({1: 3})),
        (Node(1), 3),
        (Node(1), Pair(1, 2)),
    ],
    ids=str,
)
def test_what_has_no_order(left, right):
    for call in (
        lambda: left < right,
        lambda: left >= right,
    ):
        with pytest.raises(TypeError):
            call()


def test_equal_maps_leave_the_order_to_the_next_field():
    shared = Map({"k": [Node(1)]})
    equal = Map({"k": [Node(1)]})
    for left, right in ((shared, shared), (shared, equal), (Dict({1: NAN}), Dict({1: NAN}))):
        assert Pair(left, 1) < Pair(right, 2)
        assert Pair(left, 2) > Pair(right, 1)
        assert Pair(left, 1) <= Pair(right, 1)
        assert not Pair(left, 1) < Pair(right, 1)
        assert isoform.recursive_le(left, right)
        assert isoform.recursive_ge(left, right)
        assert not isoform.recursive_lt(left, right)
        assert not isoform.recursive_gt(left, right)
    for other in (Map({"k": [Node(2)]}), Map({"k": [Node(1)], "l": 1}), Map({}), Dict(shared)):
        for call in (isoform.recursive_lt, isoform.recursive_le, isoform.recursive_ge):
            with pytest.raises(TypeError, match="have no order"):
                call(Pair(shared, 1), Pair(other, 2))
    # A pair decided before a difference stays decided.
    assert Pair(1, shared) < Pair(2, Map({}))


def test_a_map_that_differs_has_no_order_whatever_was_compared_around_it():
    def cyclic(number):
        box = Pair(Dict({}), number)
        box.x["self"] = box
        return box

    assert isoform.recursive_le(cyclic(1), cyclic(1))
    with pytest.raises(TypeError, match="have no order"):
        isoform.recursive_lt(cyclic(1), cyclic(2))


def test_eq_without_hash():
    @py_class("recursive.EqOnly", eq=True)
    class EqOnly(Object):
        a: Any

    assert EqOnly(1) == EqOnly(1)
    # As in the peer, the class has the hash of the identity or cannot be hashed.
    try:
        one = hash(EqOnly(1))
    except TypeError:
        return
    assert isinstance(one, int)


def test_fields_without_eq_of_their_own_are_compared_by_content():
    assert Node(nodes.Box(1)) == Node(nodes.Box(1))
    assert Node(nodes.Box(1)) != Node(nodes.Box(2))
    assert nodes.Box(1) != nodes.Box(1)


def test_module_functions():
    assert isoform.recursive_eq(nodes.Box(1), nodes.Box(1))
    assert not isoform.recursive_eq(nodes.Box(1), nodes.Box(2))
    assert isoform.recursive_eq([1, {"a": 2}], [1, {"a": 2}])
    assert isoform.recursive_hash([1, 2]) == isoform.recursive_hash([1, 2])
    assert isoform.recursive_lt(1, 2)
    assert isoform.recursive_le([1], [1])
    assert isoform.recursive_gt("b", "a")
    assert isoform.recursive_ge(2.5, 2.5)
    with pytest.raises(TypeError):
        isoform.recursive_lt(1, "a")


def test_global_functions_have_the_same():
    get = isoform.get_global_func
    assert get("ffi.RecursiveEq")(1, 1) is True
    assert get("ffi.RecursiveLt")(1, 2) is True
    assert get("ffi.RecursiveHash")([1]) == isoform.recursive_hash([1])
    assert get("ffi.DeepCopy")(nodes.Box(1)).v == 1
    assert get("ffi.ReprPrint")(nodes.Box(1)) == isoform.repr_print(nodes.Box(1))


def test_maps_by_content():
    assert Node({"a": 1, "b": 2}) == Node({"b": 2, "a": 1})
    assert hash(Node({"a": 1, "b": 2})) == hash(Node({"b": 2, "a": 1}))
    assert Node(Map({"a": 1})) != Node(Map({"a": 2}))


def test_cycles():
    one, two = Node(1), Node(1)
    one.a, two.a = [one], [two]
    assert one == two
    assert one == one
    other = Node(1)
    other.a = [other, 1]
    assert one != other


def test_deep_and_shared():
    @py_class("recursive.Link", eq=True, order=True, unsafe_hash=True)
    class Link(Object):
        v: Any

    def chain():
        node = Link(0)
        for _ in range(100_000):
            node = Link(node)
        return node

    a, b = chain(), chain()
    assert a == b
    assert hash(a) == hash(b)
    assert a <= b

    def doubled():
        node = Pair(1, 1)
        for _ in range(60):
            node = Pair(node, node)
        return node

    assert doubled() == doubled()
    assert hash(doubled()) == hash(doubled())
    assert not doubled() < doubled()
