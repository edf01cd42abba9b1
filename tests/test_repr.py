"""The printed form of objects and values."""

import pytest

import isoform
import nodes
from isoform import Array, Dict, List, Map, Object, Shape
from isoform.dataclasses import field, py_class

Box = nodes.Box

CASES = [
    (1, "1"),
    (True, "True"),
    (None, "None"),
    (1.5, "1.5"),
    (1.0, "1.0"),
    (0.1, "0.1"),
    (1e300, "1e300"),
    (5e-324, "5e-324"),
    (float("inf"), "inf"),
    (float("nan"), "nan"),
    (-0.0, "-0.0"),
    (2**70, str(2**70)),
    ("a", '"a"'),
    ('q"uote\n', '"q\\"uote\\n"'),
    (b"z", 'b"z"'),
    ([1, "a"], '(1, "a")'),
    ([], "()"),
    ([1], "(1,)"),
    (List([1, 2]), "[1, 2]"),
    ({"a": 1}, '{"a": 1}'),
    (Dict({1: [2]}), "{1: (2,)}"),
    (Shape((1, 2)), "Shape(1, 2)"),
    (isoform.dtype("int8"), "int8"),
    (Box(Box(1)), "nodes.Box(v=nodes.Box(v=1))"),
]


@pytest.mark.parametrize(("value", "text"), CASES, ids=[text for _, text in CASES])
def test_values_in_fields(value, text):
    got = repr(Box(value))
    assert got.startswith("nodes.Box(v=")
    body = got[len("nodes.Box(v=") : -1]
    if isinstance(value, float) and "e" in text:
        assert float(body) == value
    else:
        assert body == text


def test_the_type_of_a_number_shows():
    assert repr(Box(1)) != repr(Box(1.0))
    assert float(repr(Box(0.1 + 0.2))[len("nodes.Box(v=") : -1]) == 0.1 + 0.2


def test_containers():
    assert repr(Array(["a", b"b", None, True, 1.5])) == '("a", b"b", None, True, 1.5)'
    assert repr(List([1])) == "[1]"
    assert repr(Map({"a": 1})) == '{"a": 1}'
    assert repr(Dict({})) == "{}"
    assert str(Array([1, 2])) == "(1, 2)"


def test_several_fields():
    assert repr(nodes.Add(1, "x")) == 'nodes.Add(lhs=1, rhs="x")'


def test_repr_false_fields_are_left_out(key):
    name = key()

    @py_class(name)
    class Node(Object):
        x: int
        secret: int = field(default=3, repr=False)

    assert repr(Node(1)) == f"{name}(x=1)"


def test_own_repr_is_used_inside(key):
    @py_class(key())
    class Node(Object):
        x: int

        def __repr__(self):
            return f"<{self.x}>"

    assert repr(Node(1)) == "<1>"


def test_functions_and_opaque_values():
    assert "Function" in repr(Box(len))
    assert repr(Box(object())).startswith("nodes.Box(v=")


def test_cycles():
    box = Box()
    box.v = box
    assert repr(box) == "nodes.Box(v=...)"
    items = List([1])
    items.append(items)
    assert repr(items) == "[1, ...]"
    table = Dict({"a": 1})
    table["b"] = table
    assert repr(table) == '{"a": 1, "b": ...}'


def test_equal_siblings_are_both_printed():
    box = Box(1)
    text = repr(nodes.Add(box, box))
    assert text.count("nodes.Box") >= 1
    assert text.startswith("nodes.Add(lhs=nodes.Box(v=1), rhs=")


def test_shared_nodes_stay_linear():
    assert len(repr(nodes.doubled(60))) < 100_000


def test_repr_print():
    assert isoform.repr_print(Box(1)) == repr(Box(1))
    assert isoform.repr_print([1, "a"]) == '(1, "a")'


def test_showing_an_unfinished_object_leaves_it_unfinished(key):
    shown = []

    @py_class(key())
    class Node(Object):
        x: int

        def __init__(self):
            shown.append(repr(self))
            self.x = 3

    assert Node().x == 3
    assert shown == ["<unfinished Node>"]


def test_own_repr_may_use_the_general_one(key):
    name = key()

    @py_class(name)
    class Node(Object):
        x: object

        def __repr__(self):
            return f"R<{super().__repr__()}>"

    assert repr(Node(Box(Node(1)))) == f"R<{name}(x=nodes.Box(v=R<{name}(x=1)>))>"
    assert isoform.repr_print(Node(1)) == f"R<{name}(x=1)>"
