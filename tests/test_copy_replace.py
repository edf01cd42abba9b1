"""copy, deepcopy, replace, asdict, astuple, pickle."""

import copy
import pickle
import sys
from typing import Any

import pytest

import nodes
from isoform import Array, Dict, List, Map, Object, structural_equal
from isoform.dataclasses import (
    asdict,
    astuple,
    c_class,
    field,
    fields,
    is_dataclass,
    py_class,
    replace,
)

Box = nodes.Box


@py_class("copies.Point")
class Point(nodes.Object):
    x: int
    y: float = 1.5
    tag: str = field(default="q", repr=False)


@py_class("copies.Counted")
class Counted(nodes.Object):
    x: int
    made: int = field(default=0, init=False)

    def __post_init__(self):
        self.made = self.made + 1


def test_copy_is_shallow():
    inner = Box(1)
    box = Box(inner)
    other = copy.copy(box)
    assert other is not box
    assert type(other) is Box
    assert other.v is inner
    other.v = 5
    assert box.v is inner


def test_deepcopy_is_deep():
    box = Box([Box(1), {"k": Box(2)}])
    other = copy.deepcopy(box)
    assert structural_equal(box, other)
    assert other.v[0] is not box.v[0]
    assert other.v[1]["k"] is not box.v[1]["k"]
    other.v[0].v = 9
    assert box.v[0].v == 1


def test_deepcopy_keeps_sharing():
    inner = Box(1)
    items = List([inner])
    other = copy.deepcopy(Box([inner, inner, items, items]))
    assert other.v[0] is other.v[1]
    assert other.v[2] is other.v[3]
    assert other.v[2][0] is other.v[0]
    doubled = copy.deepcopy(nodes.doubled(60))
    assert doubled.lhs is doubled.rhs


def test_deepcopy_keeps_cycles():
    box = Box()
    box.v = [box]
    other = copy.deepcopy(box)
    assert other is not box
    assert other.v[0] is other
    items = List([1])
    items.append(items)
    other = copy.deepcopy(items)
    assert other[1] is other
    table = Dict({"a": 1})
    table["self"] = table
    other = copy.deepcopy(table)
    assert other["self"] is other


def test_deepcopy_keeps_singletons_and_copies_vars_once():
    op, x = nodes.Op("add"), nodes.Var("x")
    other = copy.deepcopy(Array([op, x, nodes.Fun([x], x)]))
    assert other[0] is op
    assert other[1] is not x
    assert other[2].body is other[2].params[0]
    assert other[2].body is other[1]


def test_deepcopy_of_plain_containers_of_objects():
    inner = Box(1)
    made = copy.deepcopy([inner, inner, {"k": inner}])
    assert made[0] is not inner
    assert made[0].v == 1


def test_copies_do_not_run_init_again():
    node = Counted(1)
    assert node.made == 1
    assert copy.copy(node).made == 1
    assert copy.deepcopy(node).made == 1
    assert replace(node, x=2).made == 1
    assert pickle.loads(pickle.dumps(node)).made == 1


def test_replace():
    point = Point(1)
    other = replace(point, x=5, tag="z")
    assert (other.x, other.y, other.tag) == (5, 1.5, "z")
    assert point.x == 1
    assert type(other) is Point
    assert replace(point) is not point
    assert point.__replace__(x=9).x == 9
    if sys.version_info >= (3, 13):
        assert copy.replace(point, x=9).x == 9


def test_replace_converts_and_checks():
    point = Point(1)
    assert type(replace(point, y=2).y) is float
    with pytest.raises(TypeError, match="expected int, got str"):
        replace(point, x="s")
    with pytest.raises((TypeError, AttributeError), match="nope"):
        replace(point, nope=5)
    assert point.x == 1


def test_asdict_and_astuple():
    point = Point(1)
    assert asdict(point) == {"x": 1, "y": 1.5, "tag": "q"}
    assert astuple(point) == (1, 1.5, "q")
    nested = Box([Point(1), {"k": Point(2)}])
    assert asdict(nested) == {
        "v": [{"x": 1, "y": 1.5, "tag": "q"}, {"k": {"x": 2, "y": 1.5, "tag": "q"}}]
    }
    assert astuple(nested) == ([(1, 1.5, "q"), {"k": (2, 1.5, "q")}],)
    result = asdict(nested)
    assert type(result["v"]) is list
    assert type(result["v"][1]) is dict
    for thing in (3, [point]):
        with pytest.raises(TypeError):
            asdict(thing)
        with pytest.raises(TypeError):
            astuple(thing)


def test_asdict_is_linear_in_shared_nodes_and_deep_chains():
    result = asdict(nodes.doubled(60))
    for _ in range(60):
        result = result["lhs"]
    assert result == {"lhs": 1, "rhs": 1}

    result = asdict(nodes.chain(10_000))
    depth = 0
    while isinstance(result, dict):
        # Taken apart from the outside: Python frees nested dicts itself.
        result = result.pop("v")
        depth += 1
    assert depth == 10_000


def test_asdict_of_a_cycle():
    box = Box()
    box.v = [box]
    for call in (asdict, astuple):
        with pytest.raises(ValueError, match="cycl"):
            call(box)


def test_pickle():
    inner = Box(1)
    value = Box([inner, inner, {"k": (1, 2.5, None, b"z")}, List([1]), Dict({1: 2})])
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        other = pickle.loads(pickle.dumps(value, protocol))
        assert structural_equal(value, other)
        assert other.v[0] is other.v[1]
        assert type(other) is Box


@pytest.mark.parametrize(
    "value",
    [Array([1, "a"]), List([1]), Map({"a": [1]}), Dict({"a": 1})],
    ids=lambda v: type(v).__name__,
)
def test_pickle_of_containers(value):
    other = pickle.loads(pickle.dumps(value))
    assert type(other) is type(value)
    assert structural_equal(value, other)


def test_pickle_of_what_cannot_be_saved():
    with pytest.raises(TypeError):
        pickle.dumps(Box(lambda: 1))


def test_match_statement():
    match nodes.Add(Box(1), 2):
        case nodes.Add(Box(int(one)), two):
            assert (one, two) == (1, 2)
        case _:
            raise AssertionError
    match Point(3):
        case Point(x=4):
            raise AssertionError
        case Point(x, y=y):
            assert (x, y) == (3, 1.5)
    match Array([1, 2]):
        case [first, second]:
            assert (first, second) == (1, 2)
        case _:
            raise AssertionError
    match Map({"k": 5}):
        case {"k": value}:
            assert value == 5
        case _:
            raise AssertionError


@pytest.mark.parametrize("convert", [asdict, astuple])
def test_converting_a_node_takes_few_calls(convert):
    calls = []
    tree = nodes.chain(1000)
    sys.setprofile(lambda _frame, event, _argument: calls.append(event))
    try:
        convert(tree)
    finally:
        sys.setprofile(None)
    # The work is done in the core, whatever the number of nodes.
    assert len(calls) < 200


def test_functions_refuse_what_is_no_object(key):
    @py_class(key())
    class Node(Object):
        x: int

    for call in (replace, asdict, astuple):
        for wrong in (3, Node, Object):
            with pytest.raises(TypeError):
                call(wrong)
    for wrong in (3, int, Object):
        with pytest.raises(TypeError):
            fields(wrong)
        assert not is_dataclass(wrong)


def test_asdict_shares_what_is_shared(key):
    @py_class(key())
    class Node(Object):
        left: Any
        right: Any = None

    leaf = Node(1)
    made = asdict(Node(leaf, leaf))
    assert made["left"] is made["right"]
    pairs = asdict(Node(leaf), dict_factory=list)
    assert pairs == [("left", [("left", 1), ("right", None)]), ("right", None)]
    assert astuple(Node(leaf), tuple_factory=list) == [[1, None], None]


def test_a_cycle_is_named_by_its_path(key):
    @py_class(key())
    class Node(Object):
        name: str
        child: Any = None

    inner = Node("inner")
    outer = Node("outer", inner)
    inner.child = outer
    with pytest.raises(ValueError, match=r"cyclic.*<root>\.child\.child"):
        asdict(outer)


def test_c_class_needs_a_native_type():
    with pytest.raises(KeyError, match=r"no\.such"):

        @c_class("no.such")
        class Node(Object):
            pass

    with pytest.raises(ValueError, match="eq"):
        c_class("no.such", order=True)
