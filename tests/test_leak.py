"""A loop over the whole API leaves memory flat."""

import copy
import gc
import pickle
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from scale import scaled

import isoform
import nodes
from isoform import Array, Dict, List, Map
from isoform.dataclasses import asdict, astuple, replace
from nodes import Add, Box, Fun, Spanned, Var


def fails(call):
    try:
        call()
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RuntimeError):
        return
    raise AssertionError


def objects():
    box = Box([1, "a text of some length", b"bytes", 2.5, {"k": Box(None)}])
    box.v = [box.v, 2**80]
    fails(lambda: Box(1, 2))
    fails(lambda: nodes.Op(1))
    fails(lambda: box.nope)
    replace(box, v=3)
    copy.copy(box)
    repr(box)
    hash(box)
    _ = box == Box(1)


def containers():
    items = List([1, [2]])
    items.append(Box(1))
    items.extend(["x"] * 10)
    items.pop()
    del items[0]
    _ = items[1:], list(items), items == [1], Array([1]) + [2]
    fails(lambda: items[1000])
    table = Dict({"a": [1]})
    table["b"] = Box(2)
    table.pop("a")
    _ = list(table.items()), list(table.values()), table == {"a": 1}
    fails(lambda: table["zz"])
    iterator = iter(table)
    next(iterator)
    Map({"a": Box(1), Box(2): 3})


def comparisons():
    x, y = Var("x"), Var("y")
    left, right = Fun([x], Add(x, [1, {"a": y}])), Fun([y], Add(y, [1, {"a": x}]))
    isoform.structural_equal(left, right)
    isoform.structural_equal(left, right, map_free_vars=True)
    isoform.structural_hash(left)
    isoform.structural_digest(left, map_free_vars=True)
    isoform.get_first_structural_mismatch(left, right)
    str(isoform.explain_structural_mismatch(left, right))
    fails(lambda: isoform.assert_structural_equal(left, right))
    fails(lambda: isoform.structural_hash(nodes.Hidden(1)))
    {isoform.StructuralKey(left): 1}
    isoform.recursive_eq(left, right)
    isoform.recursive_hash(Box([1]))


def rewriting():
    x, y = Var("x"), Var("y")
    root = Fun([x], Add(x, Spanned([1, y], "where")))
    isoform.structural_walk(root, (Add, lambda v: None))
    isoform.structural_walk(root, (int, isoform.VisitInterrupt))
    isoform.structural_visit(root, (Add, lambda v, visitor: visitor.default_visit(v)))
    isoform.structural_map(root, (int, lambda v: v + 1))
    isoform.structural_mutate(root, (int, lambda v, m: v + 1))
    isoform.substitute(root, {y: x})
    fails(lambda: isoform.structural_walk(root, (int, lambda v: v["a"])))
    path = isoform.access_path.AccessPath.parse("<root>.body.rhs")
    path.get(root)
    copy.deepcopy(root)
    asdict(root)
    astuple(root)
    isoform.verify(root)


def saving():
    root = Add(Box([1, "text"]), {"k": 2.5})
    text = isoform.serialization.to_json_graph_str(root)
    isoform.serialization.from_json_graph_str(text)
    fails(lambda: isoform.serialization.from_json_graph_str(text[:-5]))
    isoform.serialization.from_bytes(isoform.serialization.to_bytes(root))
    pickle.loads(pickle.dumps(root))


def functions():
    box = Box(1)
    function = isoform.convert(lambda *args: box)
    function(1, "a", [box])
    fails(lambda: isoform.convert(lambda: {}["no"])())
    isoform.register_global_func("leak.f", lambda x: x, override=True)
    isoform.get_global_func("leak.f")([1])
    isoform.remove_global_func("leak.f")
    Box(lambda: box)
    Box(object())


def tensors():
    data = np.arange(1000)
    tensor = isoform.from_dlpack(data)
    np.from_dlpack(tensor)
    Box(tensor)
    isoform.structural_hash(tensor)
    memoryview(tensor)


def cycles():
    box = Box()
    box.v = [box, List([box]), lambda: box]
    repr(box)
    copy.deepcopy(Box([box.v[1]]))
    fails(lambda: isoform.structural_hash(box))


def subclasses():
    class Tagged(Box):
        __slots__ = ("__dict__",)

    box = Tagged(1)
    box.me = box
    Box(box)


def resident_bytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


# Its memory is freed later, and each thread counts references to classes by itself.
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

PARTS = [objects, containers, comparisons, rewriting, saving, functions, tensors, cycles]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_memory_stays_flat(part):
    def rounds(count):
        for _ in range(count):
            part()
        gc.collect()

    rounds(500 if FREE_THREADED else 100)
    blocks = sys.getallocatedblocks()
    resident = resident_bytes()
    for _ in range(3):
        rounds(200)
    # A leak of one block or of 30 bytes per round would be 600 blocks or 18 kB.
    assert sys.getallocatedblocks() - blocks < 300
    assert resident_bytes() - resident < 4 << 20


def test_classes_made_and_dropped_leave_no_instances():
    for _ in range(20):
        subclasses()
    gc.collect()
    blocks = sys.getallocatedblocks()
    for _ in range(100):
        subclasses()
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 1000


def test_large_values_are_given_back():
    levels = scaled(300_000, 60_000)

    def work():
        value = nodes.chain(levels)
        isoform.structural_hash(value)
        isoform.structural_equal(value, value)

    work()
    gc.collect()
    before = resident_bytes()
    for _ in range(5):
        work()
    gc.collect()
    assert resident_bytes() - before < 220 * levels


@pytest.mark.skipif(FREE_THREADED, reason="the counts of a thread are not visible")
def test_reference_counts_of_singletons():
    def counts():
        return [sys.getrefcount(v) for v in ("leak-text", Box, List)]

    for _ in range(100):
        objects()
    before = counts()
    for _ in range(1000):
        objects()
        fails(lambda: nodes.Op(1))
    gc.collect()
    assert all(abs(b - a) < 50 for a, b in zip(before, counts(), strict=True))
