"""Parents, mixins, abstract classes, undecorated subclasses."""

import abc
import inspect
import subprocess
import sys
from typing import Any

import pytest
from processes import output_of
from scale import scaled

import isoform
import nodes
from isoform import Object, structural_equal
from isoform.dataclasses import field, fields, py_class


def test_parent_fields_come_first(key):
    @py_class(key())
    class Base(Object):
        x: int
        x2: int = 5

    @py_class(key())
    class Child(Base):
        y: int
        w: int = 7

    assert [f.name for f in fields(Child)] == ["x", "x2", "y", "w"]
    assert list(inspect.signature(Child).parameters) == ["x", "y", "x2", "w"]
    assert Child.__match_args__ == ("x", "y", "x2", "w")
    child = Child(1, 2)
    assert (child.x, child.x2, child.y, child.w) == (1, 5, 2, 7)
    assert isinstance(child, Base)
    assert issubclass(Child, Base)


def test_three_levels(key):
    @py_class(key())
    class A(Object):
        a: int

    @py_class(key())
    class B(A):
        b: int

    @py_class(key())
    class C(B):
        c: int

    node = C(1, 2, 3)
    assert (node.a, node.b, node.c) == (1, 2, 3)
    node.a = 10
    assert node.a == 10
    assert not isinstance(B(1, 2), C)


def test_a_subclass_is_not_equal_to_its_base(key):
    @py_class(key(), eq=True)
    class A(Object):
        a: int

    @py_class(key(), eq=True)
    class B(A):
        pass

    assert not structural_equal(A(1), B(1))
    assert A(1) != B(1)
    assert structural_equal(B(1), B(1))


def test_fields_accept_subclasses(key):
    @py_class(key("Base"))
    class Base(Object):
        x: int

    @py_class(key("Child"))
    class Child(Base):
        pass

    @py_class(key())
    class Holder(Object):
        base: Base

    child = Child(1)
    assert Holder(child).base is child
    with pytest.raises(TypeError, match="Base"):
        Holder(Holder(child))


def test_redeclared_field_is_refused_and_leaves_nothing(key):
    @py_class(key())
    class Base(Object):
        x: int

    name = key()
    with pytest.raises(ValueError, match="x"):

        @py_class(name)
        class Bad(Base):
            x: int

    @py_class(name)
    class Good(Base):
        y: int

    assert Good(1, 2).y == 2


def test_two_registered_bases_are_refused(key):
    @py_class(key())
    class A(Object):
        a: int

    @py_class(key())
    class B(Object):
        b: int

    with pytest.raises((TypeError, ValueError)):

        @py_class(key())
        class Bad(A, B):
            c: int


def test_mixins_contribute_fields_and_methods(key):
    class Named:
        name: str

        def shout(self):
            return self.name.upper()

    @py_class(key())
    class Node(Named, Object):
        x: int

    node = Node("abc", 1)
    assert node.shout() == "ABC"
    assert node.x == 1
    assert isinstance(node, Named)
    assert "name" in [f.name for f in fields(Node)]


def test_mixin_without_fields(key):
    class Shouts:
        __slots__ = ()

        def shout(self):
            return "!"

    @py_class(key())
    class Node(Shouts, Object):
        x: int

    assert Node(1).shout() == "!"


def test_abstract_classes(key):
    @py_class(key())
    class Shape(Object, abc.ABC):
        x: int

        @abc.abstractmethod
        def area(self): ...

    @py_class(key())
    class Square(Shape):
        def area(self):
            return self.x * self.x

    assert Square(3).area() == 9
    with pytest.raises(TypeError, match="abstract"):
        Shape(1)

    @py_class(key())
    class StillAbstract(Shape):
        y: int

    with pytest.raises(TypeError, match="abstract"):
        StillAbstract(1, 2)


def test_undecorated_subclass(key):
    @py_class(key())
    class Node(Object):
        x: int

    class Sub(Node):
        def double(self):
            return self.x * 2

    sub = Sub(4)
    assert type(sub) is Sub
    assert sub.double() == 8
    assert structural_equal(sub, Node(4))


def test_super_in_methods(key):
    @py_class(key())
    class Base(Object):
        x: int

        def name(self):
            return "base"

    @py_class(key())
    class Child(Base):
        def name(self):
            return "child of " + super().name()

    assert Child(1).name() == "child of base"


def test_post_init_of_the_parent(key):
    @py_class(key())
    class Base(Object):
        x: int
        y: int = field(default=0, init=False)

        def __post_init__(self):
            self.y = self.x + 1

    @py_class(key())
    class Child(Base):
        z: int

    child = Child(1, 5)
    assert (child.y, child.z) == (2, 5)


def test_own_init_of_the_parent_is_inherited_only_without_new_fields(key):
    @py_class(key())
    class Base(Object):
        x: int

        def __init__(self, a):
            self.x = a + 1

    class Child(Base):
        pass

    assert Child(1).x == 2


def test_frozen_parent_keeps_its_fields_frozen(key):
    @py_class(key(), frozen=True)
    class Base(Object):
        x: int

    @py_class(key())
    class Child(Base):
        y: int

    child = Child(1, 2)
    child.y = 3
    with pytest.raises(AttributeError):
        child.x = 5
    assert (child.x, child.y) == (1, 3)


def test_kinds_are_not_inherited_but_hooks_are(key):
    @py_class(key())
    class Base(Object):
        x: int
        tag: Any = None

        def __s_equal__(self, other, eq):
            return eq(self.x, other.x, 0, "x")

        def __s_hash__(self, init, hash_cb):
            return hash_cb(self.x, init, 0)

    @py_class(key())
    class Child(Base):
        pass

    assert structural_equal(Child(1, "a"), Child(1, "b"))
    assert isoform.structural_hash(Child(1, "a")) == isoform.structural_hash(Child(1, "b"))
    assert not structural_equal(Child(1), Child(2))


def test_ordinary_bases_of_object_are_allowed(key):
    class Base(Object):
        def hello(self):
            return "hello"

    @py_class(key())
    class Node(Base):
        x: int

    assert Node(1).hello() == "hello"


TRICKS = """
import abc, gc, itertools, random
import isoform
from isoform import Array, Dict, List, Object
from isoform.dataclasses import py_class

Meta = type(Object)

@py_class("tricks.Node")
class Node(Object):
    value: object

@py_class("tricks.Leaf")
class Leaf(Object):
    number: int

class Sub(Node):
    pass

class WithDict(Object):
    __slots__ = ("__dict__",)

def borrowed():
    class C(abc.ABC):
        pass
    C.__class__ = Meta
    return C

def slotted():
    class C(abc.ABC):
        __slots__ = ("a", "b")
    C.__class__ = Meta
    return C

class OwnOrder(Meta):
    def mro(cls):
        return [cls, Object, object]

class Hidden(Meta):
    def mro(cls):
        return [cls, object]

MAKERS = [
    borrowed,
    slotted,
    lambda: Meta("X", (), {}),
    lambda: Meta.__new__(Meta, "X", (), {}),
    lambda: Meta.__new__(Meta, "X", (Object,), {}),
    lambda: type.__new__(Meta, "X", (), {}),
    lambda: type.__new__(Meta, "X", (Object,), {}),
    lambda: type.__new__(Meta, "X", (Node,), {"__slots__": ()}),
    lambda: type.__new__(Meta, "X", (), {"__slots__": ("a",)}),
    lambda: type.__new__(Meta, "X", (list,), {}),
    lambda: type.__new__(Meta, "X", (int,), {}),
    lambda: abc.ABCMeta.__new__(Meta, "X", (dict,), {}),
    lambda: Meta("X", (Node, list), {}),
    lambda: OwnOrder("X", (), {}),
    lambda: type.__new__(OwnOrder, "X", (), {}),
    lambda: Hidden("X", (Node,), {}),
    lambda: Hidden("X", (Object,), {}),
    lambda: Meta("X", (Object,), {"__slots__": ("a", "__dict__")}),
    lambda: Meta("X", (Sub,), {"__del__": lambda self: None}),
    lambda: Meta("X", (List,), {}),
    lambda: type("X", (Leaf,), {"__new__": lambda cls, *a: object.__new__(cls)}),
    lambda: type("X", (Leaf,), {"__new__": lambda cls, *a: Node.__new__(Node)}),
    lambda: type("X", (Leaf,), {"__new__": lambda cls, *a: 5}),
]

def changed(cls, rng):
    bases = rng.choice([(Node,), (Leaf,), (Object,), (List,), (object,), (Sub, Object)])
    rng.choice([
        lambda: setattr(cls, "__bases__", bases),
        lambda: setattr(cls, "__class__", rng.choice([type, Meta, abc.ABCMeta, OwnOrder])),
        lambda: setattr(cls, "__del__", lambda self: None),
        lambda: setattr(cls, "__new__", lambda c, *a: object.__new__(c)),
        lambda: setattr(cls, "__slots__", ("q",)),
        lambda: py_class("tricks.key%d" % rng.randrange(10**9))(cls),
        lambda: isoform._core._install_container(cls, rng.choice(["Array", "Dict"])),
    ])()

INSTANCES = [
    lambda c: c(), lambda c: c(1), lambda c: c(value=2), lambda c: c([1]),
    lambda c: c.__new__(c), lambda c: object.__new__(c), lambda c: Object.__new__(c),
    lambda c: Node.__new__(c), lambda c: isoform._core.make_node("tricks.Leaf", number=1),
]

node, leaf, items, table = Node(1), Leaf(2), List([1]), Dict({"a": 1})

def moved(x, rng):
    x.__class__ = rng.choice([Node, Leaf, Sub, List, WithDict, Object])

USES = [
    lambda x, rng: Node(x), lambda x, rng: Array([x, x]), lambda x, rng: items.append(x),
    lambda x, rng: table.__setitem__("k", x), lambda x, rng: table.get(x),
    lambda x, rng: repr(x), lambda x, rng: hash(x), lambda x, rng: x == node,
    lambda x, rng: node == x, lambda x, rng: isoform.structural_equal(x, node),
    lambda x, rng: isoform.structural_hash(Node(x)), lambda x, rng: isoform.structural_equal(x, x),
    lambda x, rng: x.value, lambda x, rng: x.number, lambda x, rng: Node.value.get(x),
    lambda x, rng: Leaf.number.set(x, 3), lambda x, rng: Node.__init__(x, 1),
    lambda x, rng: Node.__eq__(x, node), lambda x, rng: Object.__repr__(x),
    lambda x, rng: Object.__hash__(x), lambda x, rng: List.append(x, 1),
    lambda x, rng: List.__len__(x), lambda x, rng: Array.__getitem__(x, 0),
    lambda x, rng: isoform._core.deep_copy(x), lambda x, rng: isoform.structural_walk(x, (Node, id)),
    lambda x, rng: isinstance(x, Object), lambda x, rng: x.__reduce__(), lambda x, rng: gc.collect(),
    lambda x, rng: isoform._core._from_pickle(isoform.serialization.to_bytes(node), type(x)),
    moved,
]

def attempt(run):
    try:
        return run()
    except Exception:
        return None

rng = random.Random(SEED)
kept = []
for make in MAKERS + [rng.choice(MAKERS) for _ in range(ROUNDS)]:
    cls = attempt(make)
    if cls is None:
        continue
    made = []
    for _ in range(12):
        if rng.random() < 0.3:
            attempt(lambda: changed(cls, rng))
        x = attempt(lambda: rng.choice(INSTANCES)(cls))
        if x is not None:
            made.append(x)
        for x in made:
            for use in rng.sample(USES, 6):
                attempt(lambda: use(x, rng))
        del x
    kept = rng.sample(kept, len(kept) // 2) + made[:2]
    items.clear()
    table.clear()
kept.clear()
gc.collect()
print("alive")
"""


@pytest.mark.parametrize("seed", range(4))
def test_no_trick_with_classes_ends_the_process(seed):
    tricks = TRICKS.replace("SEED", str(seed)).replace("ROUNDS", str(scaled(150, 20)))
    ran = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", tricks],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.stdout.strip() == "alive", ran.stderr[-2000:]


def test_a_class_with_a_borrowed_metaclass_stands_for_nothing():
    class Plain(metaclass=abc.ABCMeta):  # noqa: B024
        pass

    Plain.__class__ = type(Object)
    plain = Plain()
    assert nodes.Box(plain).v is plain
    with pytest.raises(TypeError, match=r"must extend isoform\.Object"):
        py_class("tricks.Plain")(Plain)


def test_a_class_may_be_registered_when_it_has_instances():
    code = (
        "import gc, isoform\n"
        "from isoform.dataclasses import py_class\n"
        "class Node(isoform.Object):\n    next: 'Later'\n"
        "Node = py_class('tricks.Early')(Node)\n"
        "class Below(Node):\n    pass\n"
        "class Later(isoform.Object):\n    x: int\n"
        "Later = py_class('tricks.Later')(Later)\n"
        "made = [Below(Later(n)) for n in range(100)]\n"
        "py_class('tricks.Below')(Below)\n"
        "made += [Below(Later(n)) for n in range(100)]\n"
        "assert [m.next.x for m in made] == [*range(100)] * 2\n"
        "del made\ngc.collect()\nprint('alive')\n"
    )
    assert output_of(code) == "alive\n"
