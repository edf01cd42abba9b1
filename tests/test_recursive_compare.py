"""`eq`, `order` and `unsafe_hash`: comparison by declared fields."""

from typing import Any

import pytest

import isoform
import nodes
from isoform import Dict, Object
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
