"""One wrapper per object, weak references, the collector."""

import gc
import weakref

import pytest
from scale import scaled

import isoform
import nodes
from isoform import Array, Dict, List, Map, Object
from isoform.dataclasses import py_class
from nodes import Add, Box


def test_a_child_is_always_the_same_object():
    child = Box(1)
    parent = Add(child, [child])
    assert parent.lhs is child
    assert parent.lhs is parent.lhs
    assert parent.rhs[0] is child
    assert parent.rhs is parent.rhs
    assert Map({"a": child})["a"] is child
    assert Dict({"a": child})["a"] is child
    assert List([child])[0] is child
    assert isoform.convert(lambda v: v)(child) is child


def test_the_wrapper_stays_while_it_is_used():
    parent = Box(Box(1))
    first = parent.v
    number = id(first)
    for _ in range(100):
        assert id(parent.v) == number
    del first
    gc.collect()
    assert parent.v.v == 1


def test_plain_equality_and_hash():
    one, two = Box(1), Box(1)
    assert one == one
    assert one != two
    parent = Box(one)
    known = hash(one)
    del one
    gc.collect()
    assert hash(parent.v) == known
    assert parent.v.same_as(parent.v)


def test_the_hash_outlives_the_wrapper():
    parent = Box(Box(1))
    table = {parent.v: "found"}
    gc.collect()
    assert table[parent.v] == "found"


def test_weak_references():
    box = Box(1)
    ref = weakref.ref(box)
    assert ref() is box
    seen = []
    weakref.finalize(box, seen.append, "gone")
    del box
    gc.collect()
    assert ref() is None
    assert seen == ["gone"]
    table = weakref.WeakKeyDictionary()
    box = Box(2)
    table[box] = 1
    assert table[box] == 1
    del box
    gc.collect()
    assert len(table) == 0


def test_weak_reference_to_a_child_held_by_the_core():
    parent = Box(Box(1))
    ref = weakref.ref(parent.v)
    gc.collect()
    # Alive while the core holds the object, or dead; never another object.
    assert ref() is None or ref() is parent.v


def test_weak_references_to_containers():
    for value in (Array([1]), List([1]), Map({}), Dict()):
        ref = weakref.ref(value)
        assert ref() is value


class Witness:
    """Goes with the object that holds it."""


def collected(make):
    """Returns whether all objects that `make(witness)` built and dropped are freed."""
    witness = Witness()
    ref = weakref.ref(witness)
    make(witness)
    del witness
    gc.collect()
    return ref() is None


def test_no_cycle():
    assert collected(lambda w: Box(Box([w])))


def object_cycle(witness):
    box = Box()
    box.v = [box, witness]


def long_object_cycle(witness):
    boxes = [Box() for _ in range(1000)]
    for box, after in zip(boxes, boxes[1:] + boxes[:1], strict=True):
        box.v = after
    boxes[0].v = [boxes[1], witness]


def list_cycle(witness):
    items = List([witness])
    items.append(items)


def dict_cycle(witness):
    table = Dict({"w": witness})
    table["self"] = [table]


def mixed_cycle(witness):
    items, table, box = List(), Dict(), Box()
    items.append(table)
    table["box"] = box
    box.v = Add(items, witness)


def closure_cycle(witness):
    box = Box()
    box.v = lambda: (box, witness)


def opaque_cycle(witness):
    class Holder:
        pass

    holder = Holder()
    holder.box = Box([holder, witness])


def two_cycles(witness):
    one, two = Box(), Box()
    one.v = [one, two, witness]
    two.v = [two, one]


@pytest.mark.parametrize(
    "make",
    [
        object_cycle,
        long_object_cycle,
        list_cycle,
        dict_cycle,
        mixed_cycle,
        closure_cycle,
        opaque_cycle,
        two_cycles,
    ],
)
def test_cycles_are_collected(make):
    assert collected(make)


def test_reachable_cycles_stay():
    witness = Witness()
    ref = weakref.ref(witness)
    box = Box()
    box.v = [box, List([witness])]
    del witness
    for _ in range(3):
        gc.collect()
    assert ref() is not None
    assert box.v[0] is box
    assert box.v[1][0] is ref()
    box.v = None
    gc.collect()
    assert ref() is None


def test_a_cycle_held_by_the_core_stays():
    witness = Witness()
    ref = weakref.ref(witness)

    def make(witness):
        box = Box()
        box.v = [box, witness]
        return Array([box])

    holder = Box(make(witness))
    del witness
    gc.collect()
    assert ref() is not None
    assert holder.v[0].v[0] is holder.v[0]


def test_a_cycle_held_by_a_global_function_stays(key):
    name = key()

    def register():
        box = Box()
        box.v = List([box])
        isoform.register_global_func(name, lambda: box.v)

    register()
    gc.collect()
    made = isoform.get_global_func(name)()
    assert made[0].v is made
    isoform.remove_global_func(name)


def test_tracked_by_the_collector():
    box = Box()
    box.v = box
    assert gc.is_tracked(box)
    assert gc.is_tracked(List([1]))


def test_resurrection_is_safe(key):
    saved = []

    @py_class(key())
    class Node(Object):
        v: int

        def __del__(self):
            saved.append(self)

    node = Node(7)
    del node
    gc.collect()
    assert [n.v for n in saved] == [7]
    saved.clear()
    gc.collect()


def test_deep_structures_are_freed_without_recursion():
    for make in (
        lambda: nodes.chain(scaled(1_000_000, 200_000)),
        lambda: Array([nodes.chain(100_000)]),
    ):
        value = make()
        del value
    items = List()
    for _ in range(100_000):
        items = List([items])
    del items
    gc.collect()


def test_deep_cycles_are_collected():
    witness = Witness()
    ref = weakref.ref(witness)
    inner = Box(witness)
    outer = nodes.chain(100_000, inner)
    inner.v = [outer, witness]
    del inner, outer, witness
    gc.collect()
    assert ref() is None


def test_collection_during_traversals():
    left, right = (nodes.chain(1000) for _ in range(2))
    old = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(20):
            object_cycle(Witness())
            assert isoform.structural_equal(left, right)
            assert isoform.structural_map(left, (int, lambda v: [v])) is not left
    finally:
        gc.set_threshold(*old)


def test_an_opaque_object_goes_with_its_last_holder():
    witness = Witness()
    ref = weakref.ref(witness)
    box = Box([witness])
    del witness
    assert ref() is not None
    del box
    # At once, without the collector.
    assert ref() is None


def test_a_finaliser_waits_until_the_object_ends(key):
    ended = []

    @py_class(key())
    class Node(Object):
        __slots__ = ("__dict__",)
        v: int

        def __del__(self):
            ended.append((self.v, getattr(self, "note", None)))

    class Below(Node):
        __slots__ = ()

    for cls in (Node, Below):
        node = cls(7)
        node.note = "kept"
        holder = List([node])
        del node
        gc.collect()
        assert ended == []
        assert holder[0].note == "kept"
        assert type(holder[0]) is cls
        holder.clear()
        gc.collect()
        assert ended == [(7, "kept")]
        ended.clear()


def test_a_finaliser_of_a_class_without_state_runs_once(key):
    ended = []

    @py_class(key())
    class Node(Object):
        v: int

        def __del__(self):
            ended.append(self.v)

    holder = List([Node(1)])
    for _ in range(3):
        assert holder[0].v == 1
    assert ended == []
    holder.clear()
    gc.collect()
    assert ended == [1]


def test_the_core_collects_its_cycles_without_being_asked():
    died = 0

    def count(_):
        nonlocal died
        died += 1

    refs = []
    gc.disable()
    try:
        for _ in range(60_000):
            witness = Witness()
            refs.append(weakref.ref(witness, count))
            items = List([witness])
            items.append(items)
            if died:
                break
    finally:
        gc.enable()
    assert died
