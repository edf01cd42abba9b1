"""Bodies of `py_class` classes, their constructors, and generic classes."""

import dataclasses
import inspect
import typing
from typing import Annotated, Any, Generic, TypeVar

import pytest

from isoform import Object
from isoform.core import TypeSchema
from isoform.dataclasses import (
    field,
    fields,
    init_property,
    py_class,
)


def test_annotated_may_carry_the_field(key):
    @py_class(key())
    class Node(Object):
        x: Annotated[int, "metres", field(default=3, doc="How far.")]
        y: Annotated[int, field(structural_eq="ignore")] = 4

    node = Node()
    assert (node.x, node.y) == (3, 4)
    assert fields(Node)[0].doc == "How far."
    assert fields(Node)[1].structural_eq == "ignore"


def test_final_fields_are_frozen(key):
    @py_class(key())
    class Node(Object):
        x: typing.Final[int]
        y: int = 0

    node = Node(1)
    node.y = 2
    with pytest.raises(AttributeError, match="x"):
        node.x = 2


def test_init_variables_are_refused(key):
    with pytest.raises(TypeError, match="InitVar"):

        @py_class(key())
        class Node(Object):
            x: dataclasses.InitVar[int]


def test_a_field_needs_an_annotation(key):
    with pytest.raises(TypeError, match="'x' has no annotation"):

        @py_class(key())
        class Node(Object):
            x = field(default=1)


def test_the_field_function_of_the_standard_library(key):
    @py_class(key())
    class Node(Object):
        x: int = dataclasses.field(default=1, metadata={"unit": "m"})
        y: Any = dataclasses.field(default_factory=lambda: 5, kw_only=True, compare=False)

    assert (Node().x, Node().y) == (1, 5)
    x, y = fields(Node)
    assert x.metadata["unit"] == "m"
    assert (y.kw_only, y.compare, y.hash) == (True, False, False)


def test_a_dataclass_as_mixin(key):
    @dataclasses.dataclass
    class Named:
        name: str
        aliases: Any = dataclasses.field(default_factory=lambda: None)

    @py_class(key())
    class Node(Named, Object):
        x: int

    assert list(inspect.signature(Node).parameters) == ["name", "x", "aliases"]
    assert Node("a", 1).aliases is None


def test_one_declaration_for_several_classes(key):
    shared = field(default=1)

    @py_class(key(), frozen=True)
    class Frozen(Object):
        x: int = shared

    @py_class(key(), kw_only=True)
    class Free(Object):
        y: int = shared

    assert fields(Frozen)[0].frozen
    assert not fields(Frozen)[0].kw_only
    assert not fields(Free)[0].frozen
    assert fields(Free)[0].name == "y"


def test_a_converter_must_be_callable():
    with pytest.raises(TypeError, match="converter"):
        field(converter=3)
    with pytest.raises(TypeError, match="default_factory"):
        field(default_factory=3)


def test_two_different_keys_are_refused():
    with pytest.raises(TypeError, match=r"'a\.b' and 'a\.c'"):
        py_class("a.b", type_key="a.c")


def test_a_class_is_registered_once(key):
    @py_class(key())
    class Node(Object):
        x: int

    with pytest.raises(ValueError, match="registered already"):
        py_class(key())(Node)
    assert Node(1).x == 1


def test_signature(key):
    @py_class(key())
    class Node(Object):
        a: int = 5
        b: str
        c: Any = field(default_factory=list)
        d: int = field(default=1, kw_only=True)
        e: int = field(default=1, init=False)

    signature = inspect.signature(Node)
    assert str(signature) == "(b: str, a: int = 5, c: Any = <factory>, *, d: int = 1) -> None"
    assert next(iter(inspect.signature(Node.__init__).parameters)) == "self"

    class Sub(Node):
        def __init__(self, only):
            super().__init__(only)

    assert list(inspect.signature(Sub).parameters) == ["only"]
    assert Sub("s").b == "s"


def test_init_property_of_parents_and_own_constructors(key):
    @py_class(key("Base"))
    class Base(Object):
        x: int

        @init_property
        def double(self) -> int:
            return 2 * self.x

    @py_class(key("Child"))
    class Child(Base):
        y: int
        seen: int = field(default=0, init=False)

        def __post_init__(self):
            self.seen = self.sum

        @init_property
        def sum(self):
            """Of both."""
            return self.double + self.y

    child = Child(1, 5)
    assert (child.double, child.sum, child.seen) == (2, 7, 7)
    assert fields(Child)[-1].type is Any
    assert fields(Child)[-1].doc == "Of both."

    @py_class(key("Own"), frozen=True)
    class Own(Base):
        z: int

        def __init__(self, x):
            self.__isoform_init__(x, z=x + 1)

    own = Own(4)
    assert (own.x, own.z, own.double) == (4, 5, 8)


def test_error_of_an_init_property(key):
    @py_class(key())
    class Node(Object):
        x: Any

        @init_property
        def half(self) -> int:
            return self.x / 2

    with pytest.raises(TypeError, match=r"half.*expected int, got float"):
        Node(3)


def test_own_new(key):
    made = []

    @py_class(key())
    class Node(Object):
        x: int = 3
        y: int = field(default=0, init=False)

        def __new__(cls, *args, **kwargs):
            made.append((args, kwargs))
            return super().__new__(cls)

        def __post_init__(self):
            self.y = 1

    assert [(n.x, n.y) for n in (Node(), Node(5), Node(x=6))] == [(3, 1), (5, 1), (6, 1)]
    assert made == [((), {}), ((5,), {}), ((), {"x": 6})]
    assert str(inspect.signature(Node.__init__)) == "(self, x: int = 3) -> None"

    @py_class(key())
    class Child(Node):
        z: int

    assert Child(1).z == 1
    assert len(made) == 4
    with pytest.raises(TypeError, match="z"):
        Child()


def test_no_constructor(key):
    @py_class(key(), init=False)
    class Node(Object):
        x: int = 3

        @classmethod
        def make(cls, x):
            node = cls.__new__(cls)
            node.x = x
            return node

    with pytest.raises(TypeError, match="Node cannot be constructed directly"):
        Node()
    assert Node.make(5).x == 5


T = TypeVar("T")
Short = TypeVar("Short", int, str)


def test_generic_classes(key):
    @py_class(key("Pair"))
    class Pair(Object, Generic[T, Short]):
        first: T
        second: Short

    assert fields(Pair)[0].schema == TypeSchema("Any")
    assert repr(fields(Pair)[1].schema) == "int | str"

    @py_class(key("Holder"))
    class Holder(Object):
        pair: Pair[int, str]
        next: "Holder | Pair[int, str] | None" = None

    pair = Pair[int, str](1, "a")
    assert Holder(pair).pair is pair

    @py_class(key("Child"))
    class Child(Pair[int, str]):
        third: int

    assert Child(1, "b", 2).third == 2


def test_match_args_follow_the_constructor(key):
    @py_class(key("P"))
    class P(Object):
        a: int = 1
        b: int

    @py_class(key("Q"))
    class Q(P):
        c: int

    assert P.__match_args__ == ("b", "a")
    assert Q.__match_args__ == ("b", "c", "a")
    assert list(inspect.signature(Q).parameters) == ["b", "c", "a"]
    match P(2, 10):
        case P(first, second):
            assert (first, second) == (2, 10)
