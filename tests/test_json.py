"""The JSON graph format: texts, round trips, hostile input."""

import json
from typing import Any

import numpy as np
import pytest

import isoform
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


@pytest.mark.parametrize("value", [lambda: 0, object()], ids=["function", "opaque"])
def test_what_cannot_be_saved(value):
    with pytest.raises(TypeError, match=r"<root>\.v\[1\]"):
        to_json_graph_str(Box([1, value]))


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
    "null": "null",
    "root is text": '{"root_index":"0","nodes":[{"type":"None"}]}',
    "node is a number": document(5),
    "type is a number": document({"type": 5}),
    "fractional index": document({"type": "None"}, {"type": "ffi.Array", "data": [0.5]}),
    "int as text": document({"type": "int", "data": "1"}),
    "bad shape": document({"type": "ffi.Shape", "data": ["a"]}),
    "wrong field type": document({"type": "json.Defaults", "data": {"x": "s"}}),
    "fields as list": document({"type": "json.Defaults", "data": [1]}),
    "bare function": document({"type": "ffi.Function", "data": {}}),
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


def test_missing_fields_take_their_default():
    made = from_json_graph_str(document({"type": "json.Defaults", "data": {"x": 1}}))
    assert (made.x, made.y, list(made.z)) == (1, 7, [1])


def test_unknown_fields():
    text = document({"type": "json.Defaults", "data": {"x": 1, "nope": 2}})
    with pytest.raises(ValueError, match="nope"):
        from_json_graph_str(text)
    assert from_json_graph_str(text, ignore_unknown_fields=True).x == 1


def test_only_text_is_read():
    for thing in (None, 5, ["a"]):
        with pytest.raises(TypeError):
            from_json_graph_str(thing)
