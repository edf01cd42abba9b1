"""Attributes added by a Python subclass to instances."""

import copy
import functools
import gc
import pickle
import weakref

import isoform
import nodes
from isoform import Object
from isoform.dataclasses import py_class


class Tagged(nodes.Box):
    """An undecorated subclass with a dict in every instance."""

    __slots__ = ("__dict__",)


def test_attributes_of_instances():
    box = Tagged(1)
    box.tag = "here"
    assert box.tag == "here"
    assert box.v == 1
    box.v = 2
    assert "v" not in vars(box)
    assert vars(box) == {"tag": "here"}
    assert not hasattr(Tagged(1), "tag")
    del box.tag
    assert not hasattr(box, "tag")


def test_attributes_survive_a_stay_in_the_core():
    box = Tagged(1)
    box.tag = ["kept"]
    parent = nodes.Box(box)
    assert parent.v is box
    del box
    gc.collect()
    assert type(parent.v) is Tagged
    assert parent.v.tag == ["kept"]
    items = isoform.List([parent.v])
    parent.v = None
    gc.collect()
    assert items[0].tag == ["kept"]


def test_slots():
    class Slotted(nodes.Box):
        __slots__ = ("extra",)

    box = Slotted(1)
    box.extra = 5
    parent = nodes.Box(box)
    del box
    gc.collect()
    assert parent.v.extra == 5


def test_decorated_class_with_a_dict(key):
    @py_class(key())
    class Node(Object):
        __slots__ = ("__dict__",)
        x: int

    node = Node(1)
    node.note = "free"
    assert nodes.Box(node).v.note == "free"


def test_attributes_are_no_fields():
    one, two = Tagged(1), Tagged(1)
    one.tag = "a"
    assert isoform.structural_equal(one, two)
    assert "tag" not in repr(one)
    assert "tag" not in isoform.dataclasses.asdict(one)


def test_cycles_through_attributes_are_collected():
    box = Tagged(1)
    box.me = box
    ref = weakref.ref(box)
    del box
    gc.collect()
    assert ref() is None

    box = Tagged(1)
    box.parent = nodes.Box(box)
    ref = weakref.ref(box)
    del box
    gc.collect()
    assert ref() is None


def test_attributes_are_freed_with_the_object():
    class Witness:
        pass

    box = Tagged(1)
    box.w = Witness()
    ref = weakref.ref(box.w)
    parent = nodes.Box(box)
    del box
    gc.collect()
    assert ref() is not None
    del parent
    gc.collect()
    assert ref() is None


def test_copies():
    box = Tagged([1])
    box.tag = "a"
    other = copy.copy(box)
    assert other.v[0] == 1
    assert isinstance(other, nodes.Box)
    made = pickle.loads(pickle.dumps(box))
    assert made.v[0] == 1


def test_properties_and_methods_of_the_class():
    class Rich(nodes.Box):
        count = 0

        @property
        def doubled(self):
            return self.v * 2

        def __len__(self):
            return self.v

    assert Rich(4).doubled == 8
    assert len(Rich(4)) == 4
    Rich.count = 5
    assert Rich(1).count == 5


class Loaded(nodes.Box):
    """With a dict and a slot."""

    __slots__ = ("__dict__", "extra")


def test_every_copy_keeps_class_and_attributes():
    box = Loaded([1])
    box.tag, box.extra, box.me = ["a"], ["b"], box
    for make in (copy.copy, lambda b: isoform.dataclasses.replace(b, v=[1])):
        other = make(box)
        assert type(other) is Loaded
        assert other.tag is box.tag
        assert other.extra is box.extra
        assert other.me is box
    for make in (copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))):
        other = make(box)
        assert type(other) is Loaded
        assert (other.tag, other.extra) == (["a"], ["b"])
        assert other.tag is not box.tag
        assert other.extra is not box.extra
        assert other.me is other


def test_cycles_through_a_kept_instance_are_collected():
    class Witness:
        pass

    def make(through):
        box = Loaded(1)
        box.witness = Witness()
        box.parent = through(box)
        return weakref.ref(box.witness)

    for through in (
        nodes.Box,
        lambda box: nodes.Add([box], {"k": 1}),
        lambda box: isoform.List([nodes.Box(box)]),
        lambda box: Loaded(box),
    ):
        ref = make(through)
        gc.collect()
        assert ref() is None


def test_cycles_from_the_fields_of_a_kept_instance_are_collected():
    class Holder:
        pass

    holder = Holder()
    box = Loaded(holder)
    box.tag = "kept"
    holder.parent = nodes.Box(box)
    ref = weakref.ref(holder)
    del box, holder
    gc.collect()
    assert ref() is None


def test_instances_kept_by_containers_and_functions_stay():
    def kept(hold):
        box = Loaded(1)
        box.tag = "kept"
        return hold(box)

    holders = [
        (kept(lambda b: isoform.Array([b])), lambda h: h[0]),
        (kept(lambda b: isoform.Map({"k": b})), lambda h: h["k"]),
        (kept(nodes.Box), lambda h: h.v),
        (
            kept(lambda b: isoform.convert(functools.partial(getattr, nodes.Box(b), "v"))),
            lambda h: h(),
        ),
    ]
    for _ in range(3):
        gc.collect()
    for held, get in holders:
        assert type(get(held)) is Loaded
        assert get(held).tag == "kept"


def test_a_kept_instance_outlives_collections():
    box = Loaded(1)
    box.tag = "kept"
    box.parent = nodes.Box(box)
    parent = box.parent
    del box
    for _ in range(3):
        gc.collect()
    assert type(parent.v) is Loaded
    assert parent.v.tag == "kept"
    assert parent.v.parent is parent
