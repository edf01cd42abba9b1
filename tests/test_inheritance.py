"""Parents, mixins, abstract classes, undecorated subclasses."""

import abc
import inspect
from typing import Any

import pytest

import isoform
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
