"""The binary form: round trips, checksum, hostile input; pickle on top of it."""

import importlib
import multiprocessing
import operator
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from processes import output_of, outputs_of

import isoform
import nodes
from isoform import Array, Dict, List, Map, Shape, structural_equal
from isoform.serialization import from_bytes, to_bytes
from nodes import Add, Box

VALUES = [
    None,
    True,
    1,
    -(2**63),
    2**80,
    1.5,
    -0.0,
    float("nan"),
    5e-324,
    "",
    "ünï ☃ 🎉",
    "x" * 1000,
    b"",
    b"\x00\xff",
    isoform.dtype("float32x4"),
    isoform.device("cuda:1"),
    Shape((1, -2)),
    Array([1, "a", [2]]),
    List([1, List([2])]),
    Map({"a": 1, 2: "b"}),
    Dict({"a": Dict({})}),
    Add(Box([1]), {"k": Box(2)}),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_round_trips(value):
    data = to_bytes(value)
    assert type(data) is bytes
    made = from_bytes(data)
    assert structural_equal(made, value)
    assert to_bytes(made) == data


def test_tensors():
    tensor = isoform.from_dlpack(np.arange(1000, dtype="float32").reshape(10, 100))
    data = to_bytes(Box([tensor, tensor]))
    assert len(data) < 4000 + 500
    made = from_bytes(data)
    assert structural_equal(made.v[0], tensor)
    assert made.v[0].same_as(made.v[1]) or structural_equal(*made.v)


def test_sharing_is_kept():
    box, items = Box(1), List([1])
    made = from_bytes(to_bytes([box, box, items, items]))
    assert made[0] is made[1]
    assert made[2] is made[3]
    made = from_bytes(to_bytes(nodes.doubled(60)))
    assert made.lhs is made.rhs
    op = nodes.Op("add")
    assert from_bytes(to_bytes(Box(op))).v is op


def test_it_is_compact():
    tree = Array([Add(n, n + 1) for n in range(1000)])
    assert len(to_bytes(tree)) * 3 < len(isoform.serialization.to_json_graph_str(tree))


def test_what_cannot_be_saved():
    for value in (lambda: 1, object()):
        with pytest.raises(TypeError, match=r"<root>\.v"):
            to_bytes(Box(value))


def test_truncation_and_bit_flips_are_errors():
    data = to_bytes(Add(Box([1, 2.5, "text"]), {"k": b"z"}))
    for end in range(len(data)):
        with pytest.raises((ValueError, TypeError)):
            from_bytes(data[:end])
    for place in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            with pytest.raises((ValueError, TypeError)):
                from_bytes(bytes(changed))
    with pytest.raises(ValueError):
        from_bytes(data + b"x")


def test_other_input():
    for data in (b"", b"x", b"\x00" * 100, b"{}"):
        with pytest.raises(ValueError):
            from_bytes(data)
    for thing in (None, 5, "text"):
        with pytest.raises(TypeError):
            from_bytes(thing)


def test_buffers_are_read():
    data = to_bytes([1])
    for given in (bytearray(data), memoryview(data)):
        assert from_bytes(given) == [1]


def test_unknown_type_is_named():
    code = (
        "import isoform\n"
        "from isoform.dataclasses import py_class\n"
        "@py_class('elsewhere.Gone')\n"
        "class Gone(isoform.Object):\n    x: int\n"
        "import sys\n"
        "sys.stdout.buffer.write(isoform.serialization.to_bytes(Gone(1)))\n"
    )
    made = output_of(code, text=False)
    with pytest.raises(Exception, match=r"elsewhere\.Gone"):
        from_bytes(made)


def test_bytes_are_the_same_in_every_process():
    code = (
        "import isoform, sys\n"
        "sys.stdout.buffer.write(isoform.serialization.to_bytes([1, {'a': 2.5, 'b': 'x'}]))\n"
    )
    made = output_of(code, text=False)
    assert made == to_bytes([1, {"a": 2.5, "b": "x"}])


def test_pickle_keeps_types_and_sharing():
    box = Box(1)
    value = [box, Box(box), Map({"k": box})]
    made = pickle.loads(pickle.dumps(Array(value)))
    assert made[0] is made[1].v is made[2]["k"]
    for thing in (box, isoform.dtype("int8"), isoform.device("cpu"), Shape((1,))):
        assert type(pickle.loads(pickle.dumps(thing))) is type(thing)


def test_pickle_among_ordinary_objects():
    value = {"a": [Box(1), 2], "b": (Box({"k": 3}),)}
    made = pickle.loads(pickle.dumps(value))
    assert structural_equal(made["a"][0], Box(1))
    assert made["b"][0].v["k"] == 3


def test_pickle_between_processes():
    code = (
        "import isoform, pickle, sys\n"
        "sys.stdout.buffer.write(pickle.dumps(isoform.Array([1, isoform.List(['a'])])))\n"
    )
    made = output_of(code, text=False)
    value = pickle.loads(made)
    assert type(value) is Array
    assert type(value[1]) is List


DECLARES = """
import isoform
from isoform.dataclasses import Enum, auto, py_class

@py_class("%(name)s.Node")
class Node(isoform.Object):
    value: object

class Kind(Enum, type_key="%(name)s.Kind"):
    first = auto()

def double(node):
    return Node(node.value * 2)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module that declares a class, and imports the module."""

    def make(name):
        (tmp_path / f"{name}.py").write_text(DECLARES % {"name": name})
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return importlib.import_module(name)

    return make


def loading(value, show):
    """Code that loads a pickled value."""
    return f"import pickle\nvalue = pickle.loads({pickle.dumps(value)!r})\nprint({show})\n"


def load_elsewhere(value, show):
    """The output of a fresh process for a pickled value, or its error."""
    ran = subprocess.run(
        [sys.executable, "-c", loading(value, show)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ran.stdout.strip() if ran.returncode == 0 else ran.stderr.strip().splitlines()[-1]


def test_a_pickle_imports_the_modules_of_its_classes(module):
    made = module("pickled_classes")
    inner = module("pickled_inside")
    value = made.Node([inner.Node(1), made.Kind.first])
    shown = load_elsewhere(value, "type(value).__module__, value.value[0].value")
    assert shown == "pickled_classes 1"
    # Ordinary containers, containers of the core, and members of enums.
    outputs = outputs_of(
        loading({"a": [inner.Node(2)]}, "value['a'][0].value"),
        loading(Array([inner.Node(3)]), "value[0].value"),
        loading(made.Kind.first, "value is type(value).first"),
    )
    assert outputs == ["2\n", "3\n", "True\n"]


def test_workers_of_a_spawn_pool_get_and_give_nodes(module):
    made = module("pickled_by_workers")
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        # The function does not lead the worker to the module.
        answer = pool.apply_async(operator.attrgetter("value"), (made.Node(made.Node(4)),))
        assert answer.get(timeout=60).value == 4
        (answer,) = pool.map_async(made.double, [made.Node(4)]).get(timeout=60)
    assert answer.value == 8


def test_a_class_of_a_script_or_a_lost_module_is_named(module, tmp_path):
    made = module("pickled_and_lost")
    (tmp_path / "pickled_and_lost.py").unlink()
    error = load_elsewhere(made.Node(1), "value")
    assert re.search(
        r"ImportError: type 'pickled_and_lost\.Node' .*module 'pickled_and_lost'.*imported", error
    )
    (tmp_path / "pickled_and_lost.py").write_text("")
    error = load_elsewhere(made.Node(1), "value")
    assert re.search(r"'pickled_and_lost\.Node' .*'pickled_and_lost', which.*does not", error)
    code = (DECLARES % {"name": "of_a_script"}) + "import pickle, sys\n"
    code += "sys.stdout.buffer.write(pickle.dumps(Node(1)))\n"
    script = tmp_path / "script.py"
    script.write_text(code)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, check=True, timeout=60)
    with pytest.raises(ImportError, match=r"'of_a_script\.Node'.*script.*declares it"):
        pickle.loads(ran.stdout)
