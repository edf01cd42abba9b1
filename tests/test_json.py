"""The JSON graph format: texts, round trips, hostile input."""

import json
import math
from typing import Any

import numpy as np
import pytest

import isoform
import nodes
from isoform import Array, Dict, List, Map, Shape, structural_equal
from isoform.dataclasses import field, py_class
from isoform.serialization import from_json_graph_str, to_json_graph_str
from nodes import Add, Box, Op


@py_class("json.Typed")
class Typed(isoform.Object):
    i: int
    f: float
    b: bool
    d: isoform.dtype
    s: str
    o: "int | None"
    a: Any


@py_class("json.Defaults")
class Defaults(isoform.Object):
    x: int
    y: int = 7
    z: list[int] = field(default_factory=lambda: [1])


def document(*listed, root=None):
    return json.dumps({"root_index": len(listed) - 1 if root is None else root, "nodes": listed})


TEXTS = [
    (None, '{"type":"None"}'),
    (True, '{"type":"bool","data":true}'),
    (42, '{"type":"int","data":42}'),
    (-(2**63), '{"type":"int","data":-9223372036854775808}'),
    (2**70, '{"type":"ffi.BigInt","data":"1180591620717411303424"}'),
    ("a", '{"type":"ffi.String","data":"a"}'),
    (b"\x00\xff", '{"type":"ffi.Bytes","data":"AP8="}'),
    (isoform.dtype("float32x4"), '{"type":"DataType","data":"float32x4"}'),
    (isoform.device("cuda:1"), '{"type":"Device","data":[2,1]}'),
    (Shape((1, 2)), '{"type":"ffi.Shape","data":[1,2]}'),
    (Array([]), '{"type":"ffi.Array","data":[]}'),
    (List([]), '{"type":"ffi.List","data":[]}'),
    (Map({}), '{"type":"ffi.Map","data":[]}'),
    (Dict({}), '{"type":"ffi.Dict","data":[]}'),
]


@pytest.mark.parametrize(("value", "node"), TEXTS, ids=[text for _, text in TEXTS])
def test_texts(value, node):
    text = f'{{"root_index":0,"nodes":[{node}]}}'
    assert to_json_graph_str(value) == text
    back = from_json_graph_str(text)
    assert type(back) is type(value)
    assert structural_equal(back, value)


def test_texts_of_graphs():
    assert json.loads(to_json_graph_str([1, 1, "a"])) == {
        "root_index": 2,
        "nodes": [
            {"type": "int", "data": 1},
            {"type": "ffi.String", "data": "a"},
            {"type": "ffi.Array", "data": [0, 0, 1]},
        ],
    }
    assert json.loads(to_json_graph_str({"k": 5})) == {
        "root_index": 2,
        "nodes": [
            {"type": "ffi.String", "data": "k"},
            {"type": "int", "data": 5},
            {"type": "ffi.Map", "data": [0, 1]},
        ],
    }
    box = Box(1)
    assert json.loads(to_json_graph_str(Add(box, box))) == {
        "root_index": 2,
        "nodes": [
            {"type": "int", "data": 1},
            {"type": "nodes.Box", "data": {"v": 0}},
            {"type": "nodes.Add", "data": {"lhs": 1, "rhs": 1}},
        ],
    }


def test_plain_fields_are_inlined():
    made = json.loads(to_json_graph_str(Typed(1, 2.5, True, "int8", "text", 4, None)))
    data = made["nodes"][made["root_index"]]["data"]
    assert (data["i"], data["f"], data["b"], data["d"]) == (1, 2.5, True, "int8")
    assert made["nodes"][data["s"]] == {"type": "ffi.String", "data": "text"}
    assert made["nodes"][data["o"]] == {"type": "int", "data": 4}


FLOATS = [
    0.1,
    1.0,
    -0.0,
    1e16,
    1e300,
    5e-324,
    2.2250738585072014e-308,
    math.pi,
    1.7976931348623157e308,
]


@pytest.mark.parametrize("value", [*FLOATS, math.inf, -math.inf, math.nan], ids=repr)
def test_floats(value):
    for made in (
        from_json_graph_str(to_json_graph_str(value)),
        from_json_graph_str(to_json_graph_str(Box(value))).v,
        from_json_graph_str(to_json_graph_str(Typed(1, value, False, "int8", "", None, None))).f,
    ):
        assert type(made) is float
        assert structural_equal(made, value)


def test_non_finite_literals():
    assert '"data":NaN' in to_json_graph_str(math.nan)
    assert '"data":-Infinity' in to_json_graph_str(-math.inf)


def test_texts_of_the_peer_are_read():
    for text, value in [
        ('{"root_index":0,"nodes":[{"type":"float","data":0.10000000000000001}]}', 0.1),
        ('{"root_index":0,"nodes":[{"type":"float","data":10000000000000000}]}', 1e16),
        ('{"root_index":0,"nodes":[{"type":"float","data":4.9406564584124654e-324}]}', 5e-324),
        ('{"nodes":[{"data":5,"type":"int"}],"root_index":0}', 5),
        (' { "root_index" : 0 , "nodes" : [ { "type" : "None" } ] } ', None),
    ]:
        made = from_json_graph_str(text)
        assert type(made) is type(value)
        assert made == value


def test_forward_references():
    text = document({"type": "ffi.Array", "data": [1]}, {"type": "int", "data": 5}, root=0)
    assert from_json_graph_str(text) == [5]


@pytest.mark.parametrize(
    "value",
    [
        [1, True, 1.0, "1", b"1", None, 2**80],
        {1: [2], "k": {"n": None}},
        List([Dict({1: Array([2])})]),
        'ünï ☃ 🎉 " \\ \n \x00 \x7f',
        Add(Box([1]), {"a": Box(2)}),
        Map({Box(1): 2}),
    ],
    ids=repr,
)
def test_round_trips(value):
    first = to_json_graph_str(value)
    made = from_json_graph_str(first)
    assert to_json_graph_str(made) == first
    if not isinstance(value, Map):
        assert structural_equal(made, value)


def test_sharing_is_kept():
    box, items = Box(1), List([1])
    made = from_json_graph_str(to_json_graph_str([box, box, items, items, Box(1)]))
    assert made[0] is made[1]
    assert made[2] is made[3]
    assert made[4] is not made[0]
    made = from_json_graph_str(to_json_graph_str(nodes.doubled(60)))
    assert made.lhs is made.rhs
    assert len(to_json_graph_str(nodes.doubled(60))) < 10_000


def test_variables_stay_bound():
    x = nodes.Var("x")
    term = nodes.Fun([x], Add(x, 1))
    made = from_json_graph_str(to_json_graph_str(term))
    assert structural_equal(made, term)
    assert made.body.lhs is made.params[0]


def test_singletons_keep_identity():
    op = Op("add")
    made = from_json_graph_str(to_json_graph_str(Add(op, 1)))
    assert made.lhs is op
    assert structural_equal(made, Add(op, 1))


@pytest.mark.parametrize("name", ["bool", "int8", "int64", "float16", "float64"])
def test_tensors(name):
    tensor = isoform.from_dlpack(np.array([[0, 1, 2], [3, 4, 5]]).astype(name))
    made = from_json_graph_str(to_json_graph_str(Box(tensor)))
    assert structural_equal(made.v, tensor)
    assert made.v.dtype == name


def test_metadata():
    text = to_json_graph_str(1, {"version": "1.0", "list": [1, None, 2.5]})
    assert json.loads(text)["metadata"] == {"version": "1.0", "list": [1, None, 2.5]}
    assert from_json_graph_str(text) == 1
    with pytest.raises((TypeError, ValueError)):
        to_json_graph_str(1, {"m": Box(1)})


def test_the_text_is_deterministic():
    def make():
        return to_json_graph_str(Add(Box({"b": 1, "a": 2}), [1.5, "x"]))

    assert make() == make()
    assert to_json_graph_str({"b": 1, "a": 2}) != to_json_graph_str({"a": 2, "b": 1})


@pytest.mark.parametrize("value", [lambda: 0, object()], ids=["function", "opaque"])
def test_what_cannot_be_saved(value):
    with pytest.raises(TypeError, match=r"<root>\.v\[1\]"):
        to_json_graph_str(Box([1, value]))


def test_deep_chains():
    text = to_json_graph_str(nodes.chain(100_000))
    assert nodes.depth_of(from_json_graph_str(text)) == 100_000
    listed = [{"type": "int", "data": 0}]
    listed += [{"type": "ffi.Array", "data": [n]} for n in range(100_000)]
    made = from_json_graph_str(document(*listed))
    assert len(made) == 1


def test_cycles_cannot_be_saved():
    box, items, table = Box(), List(), Dict()
    box.v = [box]
    items.append(items)
    table["self"] = table
    for value in (box, items, table, [1, box]):
        with pytest.raises(ValueError, match="cyclic"):
            to_json_graph_str(value)


@pytest.mark.parametrize(
    "text",
    [
        document({"type": "ffi.Array", "data": [0]}),
        document({"type": "ffi.List", "data": [0]}),
        document({"type": "ffi.Dict", "data": [0, 0]}),
        document({"type": "nodes.Box", "data": {"v": 0}}),
        document({"type": "ffi.Array", "data": [1]}, {"type": "ffi.Array", "data": [0]}),
    ],
)
def test_cycles_cannot_be_loaded(text):
    with pytest.raises(ValueError, match=r"cycl|part of itself"):
        from_json_graph_str(text)


HOSTILE = {
    "empty": "",
    "no object": "[]",
    "null": "null",
    "no nodes": '{"root_index":0}',
    "no root": '{"nodes":[{"type":"None"}]}',
    "root out of range": document({"type": "None"}, root=5),
    "negative root": document({"type": "None"}, root=-1),
    "root is text": '{"root_index":"0","nodes":[{"type":"None"}]}',
    "node is a number": document(5),
    "no type": document({"data": 1}),
    "type is a number": document({"type": 5}),
    "unknown type": document({"type": "no.such.Type", "data": {}}),
    "index out of range": document({"type": "ffi.Array", "data": [7]}),
    "negative index": document({"type": "ffi.Array", "data": [-1]}),
    "fractional index": document({"type": "None"}, {"type": "ffi.Array", "data": [0.5]}),
    "odd map": document({"type": "None"}, {"type": "ffi.Map", "data": [0]}),
    "duplicate map key": document({"type": "None"}, {"type": "ffi.Map", "data": [0, 0, 0, 0]}),
    "int as text": document({"type": "int", "data": "1"}),
    "int too large": '{"root_index":0,"nodes":[{"type":"int","data":9223372036854775808}]}',
    "int as float": document({"type": "int", "data": 1.5}),
    "bool as int": document({"type": "bool", "data": 1}),
    "bad big int": document({"type": "ffi.BigInt", "data": "12x"}),
    "bad base64": document({"type": "ffi.Bytes", "data": "***"}),
    "bad dtype": document({"type": "DataType", "data": "nope"}),
    "bad device": document({"type": "Device", "data": [1]}),
    "bad shape": document({"type": "ffi.Shape", "data": ["a"]}),
    "missing data": document({"type": "int"}),
    "missing field": document({"type": "json.Defaults", "data": {}}),
    "unknown field": document({"type": "json.Defaults", "data": {"x": 1, "nope": 2}}),
    "wrong field type": document({"type": "json.Defaults", "data": {"x": "s"}}),
    "fields as list": document({"type": "json.Defaults", "data": [1]}),
    "trailing text": document({"type": "None"}) + "x",
    "bare function": document({"type": "ffi.Function", "data": {}}),
    "bad escape": '{"root_index":0,"nodes":[{"type":"ffi.String","data":"\\ud800"}]}',
    "duplicate key": '{"root_index":0,"root_index":0,"nodes":[{"type":"None"}]}',
    "deep json": '{"root_index":0,"nodes":' + "[" * 100_000,
    "deep data": '{"root_index":0,"nodes":[{"type":"None","data":'
    + "[" * 100_000
    + "]" * 100_000
    + "}]}",
    "huge index": document({"type": "ffi.Array", "data": [2**64]}),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_input(text):
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
        from_json_graph_str(text)


def test_errors_name_the_node_and_the_type():
    text = document({"type": "None"}, {"type": "no.such.Type", "data": {}})
    with pytest.raises(Exception, match=r"no\.such\.Type") as caught:
        from_json_graph_str(text)
    assert "1" in str(caught.value)


def test_every_truncation_is_an_error():
    text = to_json_graph_str(Add(Box([1, 2.5]), {"k": "ü"}))
    for end in range(len(text)):
        with pytest.raises(ValueError):
            from_json_graph_str(text[:end])


def test_missing_fields_take_their_default():
    made = from_json_graph_str(document({"type": "json.Defaults", "data": {"x": 1}}))
    assert (made.x, made.y, list(made.z)) == (1, 7, [1])


def test_unknown_fields():
    text = document({"type": "json.Defaults", "data": {"x": 1, "nope": 2}})
    with pytest.raises(TypeError, match="nope"):
        from_json_graph_str(text)
    assert from_json_graph_str(text, ignore_unknown_fields=True).x == 1


def test_only_text_is_read():
    for thing in (None, 5, ["a"]):
        with pytest.raises(TypeError):
            from_json_graph_str(thing)
