"""The decorator `py_class`: call forms, keys, options, construction."""

import dataclasses
import functools
import inspect
from typing import Any

import pytest

import isoform
from isoform import Object
from isoform.dataclasses import field, py_class


def type_key(cls):
    return cls.__isoform_type_info__.type_key


@py_class
class Bare(Object):
    x: int


@py_class()
class Called(Object):
    x: int


def test_default_key_is_module_and_qualname():
    assert type_key(Bare) == f"{__name__}.Bare"
    assert type_key(Called) == f"{__name__}.Called"
    assert (Bare(1).x, Called(2).x) == (1, 2)


def test_default_key_of_a_local_class():
    @py_class
    class Local(Object):
        x: int

    name = "test_default_key_of_a_local_class.<locals>.Local"
    assert type_key(Local) == f"{__name__}.{name}"


def test_key_as_argument(key):
    one, two, three = key("One"), key("Two"), key("Three")

    @py_class(one)
    class One(Object):
        x: int

    @py_class(type_key=two)
    class Two(Object):
        x: int

    @py_class(three, frozen=True, eq=True)
    class Three(Object):
        x: int

    assert [type_key(c) for c in (One, Two, Three)] == [one, two, three]
    assert Three(1) == Three(1)
    for name in (one, two, three):
        assert name in isoform.registry.get_registered_type_keys()


def test_the_class_stays_itself(key):
    class Plain(Object):
        """Its purpose."""

        x: int

        def double(self):
            return 2 * self.x

        limit = 7

    decorated = py_class(key())(Plain)
    assert decorated is Plain
    assert Plain.__doc__.startswith("Its purpose.")
    assert Plain(4).double() == 8
    assert Plain(4).limit == 7
    assert isinstance(Plain(1), Object)
    assert type(Plain(1)) is Plain


def test_taken_key(key):
    name = key()

    @py_class(name)
    class First(Object):
        x: int

    with pytest.raises(ValueError, match="already registered"):

        @py_class(name)
        class Second(Object):
            x: int

    assert First(1).x == 1


BAD_DEFINITIONS = [
    (ValueError, "structural_eq", {"structural_eq": "nope"}, {}),
    (ValueError, "eq", {"order": True}, {}),
    (ValueError, "default_factory", {}, {"default": 1, "default_factory": int}),
    (ValueError, "structural_eq", {}, {"structural_eq": "nope"}),
    (TypeError, "zzz", {}, {"zzz": 1}),
]


@pytest.mark.parametrize(("error", "match", "options", "field_options"), BAD_DEFINITIONS)
def test_a_failed_definition_leaves_nothing_behind(key, error, match, options, field_options):
    name = key()
    before = set(isoform.registry.get_registered_type_keys())
    with pytest.raises(error, match=match):

        @py_class(name, **options)
        class Bad(Object):
            x: int = field(**field_options)

    assert set(isoform.registry.get_registered_type_keys()) == before

    @py_class(name)
    class Good(Object):
        x: int

    assert Good(1).x == 1
    assert type_key(Good) == name


def test_a_bad_kind_names_the_good_ones(key):
    with pytest.raises(ValueError, match="singleton") as caught:

        @py_class(key(), structural_eq="nope")
        class Bad(Object):
            x: int

    for kind in ("tree", "const-tree", "dag", "var", "nope"):
        assert kind in str(caught.value)


def test_options_that_are_wrong_raise_before_there_is_a_class():
    with pytest.raises(ValueError, match=r"structural_eq must be one of .*, got 'typo'"):
        py_class(structural_eq="typo")
    with pytest.raises(ValueError, match=r"structural_eq must be one of .*, got 'typo'"):
        py_class("py_class.never", structural_eq="typo")
    with pytest.raises(ValueError, match="order=True requires eq=True"):
        py_class(order=True)


def test_a_bad_field_annotation_leaves_nothing_behind(key):
    name = key()
    with pytest.raises(TypeError, match="set"):

        @py_class(name)
        class Bad(Object):
            x: set[int]

        Bad({1})

    @py_class(name)
    class Good(Object):
        x: int

    assert Good(3).x == 3


def test_not_an_object(key):
    with pytest.raises(TypeError, match="Object"):

        @py_class(key())
        class Bad:
            x: int


def test_not_a_class():
    with pytest.raises(TypeError, match="int"):
        py_class(3)


def test_construction(key):
    name = key()

    @py_class(name)
    class Point(Object):
        x: int
        y: float = 1.5
        z: str = field(default="q")

    assert (Point(1).x, Point(1).y, Point(1).z) == (1, 1.5, "q")
    assert Point(1, 2.5, "r").z == "r"
    assert Point(z="r", x=1).y == 1.5
    assert list(inspect.signature(Point).parameters) == ["x", "y", "z"]
    for call, text in [
        (lambda: Point(), "'x'"),
        (lambda: Point(1, 2, "a", 4), "4"),
        (lambda: Point(1, w=3), "'w'"),
        (lambda: Point(1, x=3), "'x'"),
    ]:
        with pytest.raises(TypeError, match=text) as caught:
            call()
        assert name in str(caught.value)


def test_conversion_error_names_key_and_field(key):
    name = key()

    @py_class(name)
    class Point(Object):
        x: int
        items: list[int]

    with pytest.raises(TypeError) as caught:
        Point("a", [])
    for part in (name, "'x'", "expected int", "got str"):
        assert part in str(caught.value)
    with pytest.raises(TypeError) as caught:
        Point(1, [1, "b"])
    for part in (name, "'items'", "element [1]", "expected int", "got str"):
        assert part in str(caught.value)


def test_set_converts(key):
    name = key()

    @py_class(name)
    class Point(Object):
        x: int
        items: list[int]

    point = Point(1, [1])
    point.x = True
    assert point.x == 1
    assert type(point.x) is int
    point.items = (4, 5)
    assert type(point.items) is isoform.List
    with pytest.raises(TypeError, match="expected int, got str"):
        point.x = "s"
    with pytest.raises(TypeError, match=r"element \[0\]"):
        point.items = ["s"]
    assert point.x == 1
    assert list(point.items) == [4, 5]


def test_unknown_attribute(key):
    @py_class(key())
    class Point(Object):
        x: int

    point = Point(1)
    with pytest.raises(AttributeError, match="q"):
        point.q = 1
    with pytest.raises(AttributeError, match="q"):
        _ = point.q
    with pytest.raises(AttributeError):
        del point.x
    assert point.x == 1


def test_post_init(key):
    @py_class(key())
    class Node(Object):
        x: int
        y: int = field(default=0, init=False)

        def __post_init__(self):
            self.y = self.x + 1

    assert Node(1).y == 2
    with pytest.raises(TypeError):
        Node(1, 2)


def test_errors_of_post_init_propagate(key):
    @py_class(key())
    class Node(Object):
        x: int

        def __post_init__(self):
            raise KeyError(self.x)

    with pytest.raises(KeyError, match="5"):
        Node(5)


def test_own_init(key):
    @py_class(key())
    class Node(Object):
        x: int
        y: int = 4

        def __init__(self, a):
            super().__init__()
            self.x = a * 2

    assert (Node(3).x, Node(3).y) == (6, 4)
    assert Node(a=1).x == 2
    with pytest.raises(TypeError):
        Node()


def test_own_init_may_hand_over_to_the_generated_one(key):
    @py_class(key())
    class Node(Object):
        x: int
        y: int

        def __init__(self, pair):
            self.__isoform_init__(*pair)

    assert (Node((1, 2)).x, Node((1, 2)).y) == (1, 2)


@pytest.fixture
def with_other_fields(key):
    """A class with fields outside of its constructor."""

    @py_class(key())
    class Node(Object):
        a: int
        b: int = field(default=7, init=False)
        c: int = 0
        d: list[int] = field(default_factory=list, init=False)
        e: int = field(default=1, kw_only=True)

        @classmethod
        def make(cls, *args, **kwargs):
            node = cls.__new__(cls)
            node.__ffi_init__(*args, **kwargs)
            return node

    return Node


def test_a_factory_may_initialise_an_object_itself(key, with_other_fields):
    node = with_other_fields.make(1)
    assert (node.a, node.b, node.c, list(node.d), node.e) == (1, 7, 0, [], 1)
    assert repr(node) == repr(with_other_fields(1))
    assert isoform.structural_equal(node, with_other_fields(1))
    node = with_other_fields.__new__(with_other_fields)
    node.b = 3
    node.__ffi_init__(1)
    assert node.b == 3

    @py_class(key("Computed"))
    class Computed(with_other_fields):
        seen: int = field(default=0, init=False)

        @isoform.dataclasses.init_property
        def sum(self) -> int:
            return self.a + self.b

        def __post_init__(self):
            self.seen = self.sum

    node = Computed.make(1)
    assert (node.sum, node.seen, repr(node)) == (8, 8, repr(Computed(1)))

    @py_class(key("Own"))
    class Own(with_other_fields):
        f: int = 2

        def __init__(self, a):
            super().__init__(a)
            # As soon as the constructor of the parent has run.
            self.f = self.b + self.a

    assert Own(1).f == 8
    assert repr(Own.make(1)).endswith("(a=1, b=7, c=0, d=[], e=1, f=2)")


def test_named_arguments_may_follow_a_marker(with_other_fields):
    from isoform.core import KWARGS

    make = with_other_fields.make
    node = make(1, KWARGS, "c", 3, "e", True)
    assert (node.a, node.b, node.c, node.e) == (1, 7, 3, 1)
    assert make(KWARGS, "c", 3, "a", 1).a == 1
    assert make(1, KWARGS).c == 0
    assert make(1, KWARGS, "c", 3, e=5).e == 5
    for args, match in (
        ((1, KWARGS, "c"), "names and values in turn after KWARGS, got 1 arguments"),
        ((1, KWARGS, "z", 3), "unexpected keyword argument 'z'"),
        ((1, KWARGS, "b", 3), "unexpected keyword argument 'b'"),
        ((1, KWARGS, "c", 3, "c", 4), "multiple values for argument 'c'"),
        ((1, 2, KWARGS, "c", 4), "multiple values for argument 'c'"),
        ((1, KWARGS, 3, 4), "expected a str as name of an argument after KWARGS, got int"),
        ((1, KWARGS, "c", "x"), "field 'c': expected int, got str"),
        ((KWARGS, "c", 3), "missing 1 required argument: 'a'"),
    ):
        with pytest.raises(TypeError, match=match):
            make(*args)
    with pytest.raises(TypeError, match="multiple values for argument 'c'"):
        make(1, KWARGS, "c", 3, c=4)


def test_own_init_that_forgets_a_field(key):
    name = key()

    @py_class(name)
    class Node(Object):
        x: int
        anything: Any = None

        def __init__(self):
            pass

    with pytest.raises(TypeError, match="x") as caught:
        Node()
    assert name in str(caught.value)


def test_init_false_cannot_be_constructed(key):
    @py_class(key(), init=False)
    class Node(Object):
        x: int = 3

    for args in ((), (1,)):
        with pytest.raises(TypeError, match="Node"):
            Node(*args)


def test_init_property(key):
    computed = []

    @py_class(key())
    class Node(Object):
        x: int

        @isoform.dataclasses.init_property
        def double(self) -> int:
            computed.append(self.x)
            return self.x * 2

    node = Node(3)
    assert (node.double, node.double) == (6, 6)
    assert computed == [3]
    assert isoform.structural_equal(Node(3), Node(3))
    assert [f.name for f in isoform.dataclasses.fields(Node)] == ["x", "double"]
    with pytest.raises(TypeError):
        Node(3, 4)


def test_an_init_property_replaces_that_of_the_parent(key):
    computed = []

    @py_class(key("Base"))
    class Base(Object):
        x: int

        @isoform.dataclasses.init_property
        def size(self) -> int:
            computed.append("base")
            return self.x

        @isoform.dataclasses.init_property
        def twice(self) -> int:
            return 2 * self.size

    @py_class(key("Child"))
    class Child(Base):
        y: int = 1

        @isoform.dataclasses.init_property
        def size(self) -> int:
            computed.append("child")
            return self.x + self.y

    class Mixin:
        @isoform.dataclasses.init_property
        def size(self) -> int:
            computed.append("mixin")
            return 0

    @py_class(key("Mixed"))
    class Mixed(Mixin, Base):
        pass

    @py_class(key("Own"))
    class Own(Child):
        def __init__(self, x):
            super().__init__(x, 10)

        @isoform.dataclasses.init_property
        def size(self) -> int:
            computed.append("own")
            return -self.x

    for cls, size, runs in (
        (Child, 4, ["child"]),
        (Base, 3, ["base"]),
        (Own, -3, ["own"]),
        (Mixed, 0, ["mixin"]),
    ):
        made = cls(3)
        assert (made.size, made.twice) == (size, 2 * size)
        assert computed == runs
        computed.clear()
    assert [f.name for f in isoform.dataclasses.fields(Child)] == ["x", "size", "twice", "y"]

    with pytest.raises(ValueError, match="duplicate field 'x'"):

        @py_class(key("Wrong"))
        class Wrong(Base):
            @isoform.dataclasses.init_property
            def x(self) -> int:
                return 1

    with pytest.raises(ValueError, match="duplicate field 'size'"):

        @py_class(key("Plain"))
        class Plain(Base):
            size: int


def test_repr_false_keeps_the_default(key):
    name = key()

    @py_class(name, repr=False)
    class Node(Object):
        x: int

        def __repr__(self):
            return "mine"

    assert repr(Node(1)) == "mine"


def test_own_methods_win(key):
    @py_class(key(), eq=True, order=True, unsafe_hash=True)
    class Node(Object):
        x: int

        def __repr__(self):
            return "mine"

        def __eq__(self, other):
            return "eq"

        def __hash__(self):
            return 77

    assert repr(Node(1)) == "mine"
    assert (Node(1) == Node(2)) == "eq"
    assert hash(Node(1)) == 77


def test_identity_is_the_default(key):
    @py_class(key())
    class Node(Object):
        x: int

    a, b = Node(1), Node(1)
    assert a == a
    assert a != b
    assert a.same_as(a)
    assert not a.same_as(b)
    assert not a.same_as(1)
    assert len({a, b, a}) == 2
    assert (a == 1) is False


def test_match_args(key):
    @py_class(key())
    class Point(Object):
        x: int
        y: int = 2

    assert Point.__match_args__ == ("x", "y")
    match Point(5):
        case Point(x, y):
            assert (x, y) == (5, 2)

    @py_class(key(), match_args=False)
    class Opaque(Object):
        x: int

    assert not Opaque.__dict__.get("__match_args__")


def test_fields_are_described(key):
    @py_class(key())
    class Node(Object):
        x: int = field(default=1, doc="The number.", metadata={"unit": "m"})
        y: str = field(default="a", repr=False, compare=False, structural_eq="ignore")

    x, y = isoform.dataclasses.fields(Node)
    assert (x.name, y.name) == ("x", "y")
    assert x.type is int
    assert x.doc == "The number."
    assert x.metadata["unit"] == "m"
    assert (y.repr, y.compare, y.structural_eq) == (False, False, "ignore")
    assert x.default == 1
    assert isinstance(x, isoform.dataclasses.Field)
    assert isoform.dataclasses.fields(Node(1)) == (x, y) or [
        f.name for f in isoform.dataclasses.fields(Node(1))
    ] == ["x", "y"]


def test_field_doc_is_the_doc_of_the_property(key):
    @py_class(key())
    class Node(Object):
        x: int = field(default=1, doc="The number.")

    assert "The number." in inspect.getdoc(Node.x)


def test_is_dataclass(key):
    @py_class(key())
    class Node(Object):
        x: int

    @dataclasses.dataclass
    class Other:
        x: int

    is_dataclass = isoform.dataclasses.is_dataclass
    assert is_dataclass(Node)
    assert is_dataclass(Node(1))
    assert not is_dataclass(3)
    assert not is_dataclass(int)


def test_slots_is_accepted(key):
    @py_class(key(), slots=True)
    class Node(Object):
        x: int

    assert Node(1).x == 1


def test_type_info(key):
    name = key()

    @py_class(name)
    class Base(Object):
        x: int

    @py_class(key())
    class Child(Base):
        y: str

    info = Child.__isoform_type_info__
    assert isinstance(info, isoform.core.TypeInfo)
    assert info.parent_type_info.type_key == name
    assert info.type_cls is Child
    assert [f.name for f in info.fields] == ["y"]


@pytest.mark.parametrize("kind", ["tree", "const-tree", "dag", "var", "singleton", None])
def test_kinds_are_accepted(key, kind):
    @py_class(key(), structural_eq=kind)
    class Node(Object):
        x: int

    assert Node(1).x == 1


@pytest.mark.parametrize(
    "flag",
    [
        None,
        "ignore",
        "def",
        "def-recursive",
        "def-pattern",
        "def-simple",
        "def-non-recursive",
        "use",
    ],
)
def test_field_flags_are_accepted(key, flag):
    @py_class(key())
    class Node(Object):
        x: int = field(structural_eq=flag)

    same = isoform.structural_equal(Node(1), Node(2))
    assert same is (flag == "ignore")


def test_aliases_of_the_flags_mean_the_same(key):
    @py_class(key("Var"), structural_eq="var")
    class Var(Object):
        ty: Any = None

    def binds(flag, make):
        @py_class(key())
        class Node(Object):
            v: Var = field(structural_eq=flag)

        return isoform.structural_equal(Node(make()), Node(make()))

    def nested():
        return Var(Var())

    for flag in ("def", "def-recursive", "def-pattern"):
        assert binds(flag, Var)
        assert binds(flag, nested)
    for flag in ("def-simple", "def-non-recursive"):
        assert binds(flag, Var)
        assert not binds(flag, nested)
    assert not binds(None, Var)


def test_class_keywords_reach_init_subclass(key):
    class Base(Object):
        tag = None

        def __init_subclass__(cls, tag=None, **kwargs):
            super().__init_subclass__(**kwargs)
            cls.tag = tag

    @py_class(key())
    class Node(Base, tag="here"):
        x: int

    assert Node(1).tag == "here"


def test_function_argument_conversion_into_fields_is_deep(key):
    @py_class(key())
    class Node(Object):
        table: dict[str, list[int]]

    node = Node({"a": (1, 2)})
    assert type(node.table) is isoform.Dict
    assert type(node.table["a"]) is isoform.List
    with pytest.raises(TypeError, match="key 1"):
        Node({1: [1]})
    with pytest.raises(TypeError, match=r"value for key 'a'.*element \[0\]"):
        Node({"a": ["x"]})


def test_abstract_classes_are_extended(key):
    @py_class(key("Base"), abstract=True)
    class Base(Object):
        x: int = 0

    @py_class(key("Leaf"))
    class Leaf(Base):
        y: int = 1

    assert (Leaf(2).x, Leaf(2).y, isinstance(Leaf(), Base)) == (2, 1, True)
    with pytest.raises(TypeError, match="Base is abstract"):
        Base(1)


def test_objects_may_have_a_dict(key):
    @py_class(key(), slots=False)
    class Node(Object):
        x: int

        @functools.cached_property
        def twice(self):
            assert __class__ is type(self)
            return 2 * self.x

    node = Node(2)
    assert (node.twice, node.__dict__) == (4, {"twice": 4})
