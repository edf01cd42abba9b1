"""Corners of `py_class`, `field`, `TypeSchema` and enums beside the common paths."""

import dataclasses
import gc
import inspect
import pickle
import sys
import textwrap
import typing
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest

from isoform import Object
from isoform.core import MISSING, TypeSchema
from isoform.dataclasses import (
    Enum,
    IntEnum,
    StrEnum,
    asdict,
    astuple,
    auto,
    c_class,
    entry,
    field,
    fields,
    init_property,
    is_dataclass,
    py_class,
    replace,
)

# ---- forward references ------------------------------------------------------


def test_local_classes_may_refer_to_each_other(key):
    def declare():
        @py_class(key("Ping"))
        class Ping(Object):
            pong: "Pong | None" = None

        @py_class(key("Pong"))
        class Pong(Object):
            ping: "Ping | None" = None

        return Ping, Pong

    for _ in range(2):
        # Each pair refers to itself, not to the pair of the call before.
        ping, pong = declare()
        node = ping(pong(ping()))
        assert type(node.pong.ping) is ping


def test_a_chain_of_waiting_classes_resolves_at_once(key):
    @py_class(key("A"))
    class A(Object):
        b: "B"

    @py_class(key("B"))
    class B(Object):
        c: "C"

    assert is_dataclass(A)
    with pytest.raises(TypeError, match="'C' is not defined"):
        B(1)

    @py_class(key("C"))
    class C(Object):
        x: int

    assert A(B(C(1))).b.c.x == 1


def test_a_child_waits_for_its_parent(key):
    @py_class(key("Base"))
    class Base(Object):
        later: "Later | None" = None

    @py_class(key("Child"))
    class Child(Base):
        x: int

    with pytest.raises(TypeError, match="Later"):
        Child(1)

    @py_class(key("Later"))
    class Later(Object):
        pass

    assert isinstance(Child(1, Later()).later, Later)
    assert [f.name for f in fields(Child)] == ["later", "x"]


def test_all_missing_names_are_listed(key):
    @py_class(key())
    class Node(Object):
        a: "NoSuch"  # noqa: F821
        b: "list[NorThis]"  # noqa: F821
        c: int

    with pytest.raises(TypeError, match=r"a: NoSuch.*NoSuch.*b: list\[NorThis\].*NorThis"):
        Node(1)
    with pytest.raises(TypeError, match="NoSuch"):
        fields(Node)


def test_a_waiting_class_that_is_wrong_says_so_itself(key):
    @py_class(key("Bad"))
    class Bad(Object):
        a: "set[Later]"

    @py_class(key("Later"))
    class Later(Object):
        x: int

    assert Later(1).x == 1
    for _ in range(2):
        with pytest.raises(TypeError, match="set"):
            Bad(1)


def test_the_key_of_a_waiting_class_is_taken(key):
    name = key()

    def first_and_second():
        @py_class(name)
        class First(Object):
            a: "Missing"  # noqa: F821

        with pytest.raises(ValueError, match="already registered"):

            @py_class(name)
            class Second(Object):
                x: int

    first_and_second()
    # Nobody can complete the first one any more.
    gc.collect()

    @py_class(name)
    class Third(Object):
        x: int

    assert Third(1).x == 1


def test_a_waiting_class_gives_way_to_its_successor(key):
    name = key()

    def declare(annotation):
        @py_class(name)
        class Node(Object):
            x: annotation

        return Node

    old = declare("Missing")
    new = declare(int)
    assert new(1).x == 1
    with pytest.raises((TypeError, ValueError)):
        old(1)


def test_modules_that_import_each_other_for_type_checking(tmp_path, monkeypatch):
    sources = {
        "isoform_more_a": """
            from __future__ import annotations
            from typing import TYPE_CHECKING
            from isoform.dataclasses import Object, py_class
            if TYPE_CHECKING:
                from isoform_more_b import MoreB
            @py_class
            class MoreA(Object):
                b: MoreB | None = None
        """,
        "isoform_more_b": """
            from __future__ import annotations
            from isoform.dataclasses import Object, py_class
            from isoform_more_a import MoreA
            @py_class
            class MoreB(Object):
                a: MoreA | None = None
        """,
    }
    for name, text in sources.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    import isoform_more_b as b

    assert type(b.MoreA(b.MoreB()).b) is b.MoreB
    with pytest.raises(TypeError, match=r"isoform_more_b\.MoreB"):
        b.MoreA(b.MoreA())


def test_names_of_a_module_are_not_taken_from_elsewhere(tmp_path, monkeypatch):
    sources = {
        "isoform_more_c": """
            from isoform.dataclasses import Object, py_class
            @py_class
            class MoreShared(Object):
                x: str
        """,
        "isoform_more_d": """
            from isoform.dataclasses import Object, py_class
            MoreShared = int
            @py_class
            class MoreUser(Object):
                a: "MoreShared"
                b: "MoreLate | None" = None
        """,
        "isoform_more_e": """
            from isoform.dataclasses import Object, py_class
            @py_class
            class MoreLate(Object):
                x: int
        """,
    }
    for name, text in sources.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    import isoform_more_c
    import isoform_more_d
    import isoform_more_e

    late = isoform_more_e.MoreLate(1)
    assert isoform_more_d.MoreUser(True, late).b is late
    with pytest.raises(TypeError, match="expected int"):
        isoform_more_d.MoreUser(isoform_more_c.MoreShared("a"))


def test_a_long_chain_of_waiting_classes(key):
    made = {}
    for n in range(300):
        body = {"__annotations__": {"x": f"Link{n + 1}"}, "__module__": __name__}
        made[n] = py_class(key())(type(Object)(f"Link{n}", (Object,), body))
    last = {"__annotations__": {"x": int}, "__module__": __name__}
    made[300] = py_class(key())(type(Object)("Link300", (Object,), last))
    node = made[300](7)
    for n in reversed(range(300)):
        node = made[n](node)
    assert node.x.x.x is not None


@pytest.mark.skipif(sys.version_info < (3, 11), reason="typing.Self is newer")
def test_self(key):
    @py_class(key())
    class Node(Object):
        next: typing.Optional[typing.Self] = None

    assert isinstance(Node(Node()).next, Node)
    with pytest.raises(TypeError, match=r"Node|Type"):
        Node(1)


# ---- what a body may declare -------------------------------------------------


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


# ---- constructors ------------------------------------------------------------


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


# ---- generic classes ---------------------------------------------------------

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


# ---- schemas -----------------------------------------------------------------


def test_schemas_of_literals_are_exact():
    one, true = (TypeSchema.from_annotation(Literal[v]) for v in (1, True))
    assert one != true
    assert repr(true) == "Literal[True]"
    one.check_value(1)
    with pytest.raises(TypeError, match="Literal"):
        one.check_value(True)
    with pytest.raises(TypeError, match="Literal"):
        TypeSchema.from_annotation(Literal[b"x"])


@pytest.mark.parametrize(
    "annotation",
    [
        int,
        None,
        Literal["a", 1],
        dict[str, list[int | None]],
        tuple[int, str],
        tuple[()],
        typing.Callable[[int], str],
        typing.Callable[..., str],
        int | str | None,
        Object,
    ],
)
def test_schemas_survive_json(annotation):
    schema = TypeSchema.from_annotation(annotation)
    again = TypeSchema.from_json_obj(schema.to_json())
    assert again == schema
    assert hash(again) == hash(schema)
    assert repr(again) == repr(schema)


def test_schemas_are_checked():
    for origin, count in (("Optional", 0), ("Union", 1), ("Map", 1), ("Array", 2)):
        with pytest.raises(ValueError, match=origin):
            TypeSchema(origin, (TypeSchema("int"),) * count)
    for text in ("3", "{}", "[]"):
        with pytest.raises(TypeError, match="'type'"):
            TypeSchema.from_json_str(text)
    with pytest.raises(ValueError, match="Expecting"):
        TypeSchema.from_json_str("{")
    assert TypeSchema.from_json_str('{"type": "ffi.Map"}') == TypeSchema.from_annotation(dict) or (
        repr(TypeSchema.from_json_str('{"type": "ffi.Map"}')) == "Map[Any, Any]"
    )


def test_unions_are_flat():
    nested = typing.Union[int, typing.Optional[typing.Union[str, int]]]
    assert repr(TypeSchema.from_annotation(nested)) == "int | str | None"
    assert repr(TypeSchema.from_annotation(typing.Optional[None])) == "None"


def test_strings_need_a_class():
    with pytest.raises(TypeError, match="'int'"):
        TypeSchema.from_annotation("int")


def test_unregistered_classes_are_named(key):
    class Plain(Object):
        pass

    with pytest.raises(TypeError, match=r"Plain.*py_class"):
        TypeSchema.from_annotation(Plain)

    @py_class(key())
    class Node(Object):
        x: int

    assert TypeSchema.from_annotation(Node).is_subtype_of(Object)
    assert not TypeSchema.from_annotation(int).is_subtype_of(Object)


# ---- functions over fields ---------------------------------------------------


def test_functions_refuse_what_is_no_object(key):
    @py_class(key())
    class Node(Object):
        x: int

    for call in (replace, asdict, astuple):
        for wrong in (3, Node, Object):
            with pytest.raises(TypeError):
                call(wrong)
    for wrong in (3, int, Object):
        with pytest.raises(TypeError):
            fields(wrong)
        assert not is_dataclass(wrong)


def test_asdict_shares_what_is_shared(key):
    @py_class(key())
    class Node(Object):
        left: Any
        right: Any = None

    leaf = Node(1)
    made = asdict(Node(leaf, leaf))
    assert made["left"] is made["right"]
    pairs = asdict(Node(leaf), dict_factory=list)
    assert pairs == [("left", [("left", 1), ("right", None)]), ("right", None)]
    assert astuple(Node(leaf), tuple_factory=list) == [[1, None], None]


def test_a_cycle_is_named_by_its_path(key):
    @py_class(key())
    class Node(Object):
        name: str
        child: Any = None

    inner = Node("inner")
    outer = Node("outer", inner)
    inner.child = outer
    with pytest.raises(ValueError, match=r"cyclic.*<root>\.child\.child"):
        asdict(outer)


def test_c_class_needs_a_native_type():
    with pytest.raises(KeyError, match=r"more\.no\.such"):

        @c_class("more.no.such")
        class Node(Object):
            pass

    with pytest.raises(ValueError, match="eq"):
        c_class("more.no.such", order=True)


# ---- enums -------------------------------------------------------------------


def test_members_of_equal_value_are_one(key):
    class Level(IntEnum, type_key=key()):
        low = 1
        also_low = 1
        high = entry(value=5)

    assert Level.also_low is Level.low
    assert list(Level) == [Level.low, Level.high]
    assert Level(5) is Level.high
    assert Level.get("high") is Level.high


def test_fields_of_enum_types_take_values(key):
    class Level(IntEnum, type_key=key("Level")):
        low = 1

    class Mode(StrEnum, type_key=key("Mode")):
        read = "r"

    @py_class(key("Node"))
    class Node(Object):
        level: Level
        mode: Mode | None = None

    node = Node(1, "r")
    assert node.level is Level.low
    assert node.mode is Mode.read
    node.mode = None
    assert node.mode is None
    for wrong in (2, "low"):
        with pytest.raises(TypeError, match="Level"):
            Node(wrong)


def test_wrong_enums_leave_nothing_behind(key):
    name = key()

    def declare(base, body):
        return type(base)("Wrong", (base,), {"__module__": __name__, **body}, type_key=name)

    for base, body, error, match in [
        (IntEnum, {"a": auto()}, TypeError, "Wrong.a.*int is required"),
        (IntEnum, {"a": entry(value="s")}, TypeError, "expected a value of type int, got str"),
        (IntEnum, {"a": 2**63}, ValueError, "int64"),
        (StrEnum, {"__annotations__": {"value": int}, "a": "x"}, TypeError, "value"),
        (Enum, {"a": entry(_int_index=3)}, TypeError, "_int_index"),
        (Enum, {"__annotations__": {"x": int}, "a": entry(x="s")}, TypeError, "expected int"),
        (Enum, {"__annotations__": {"x": int}, "a": entry(1, 2)}, TypeError, "Wrong.a"),
        (Enum, {"__annotations__": {"x": "Gone"}, "a": entry(1)}, TypeError, "Gone"),
    ]:
        with pytest.raises(error, match=match):
            declare(base, body)
    assert [m.name for m in declare(Enum, {"a": auto()})] == ["a"]


def test_enums_take_positional_fields_and_methods(key):
    class Planet(Enum, type_key=key()):
        mass: float
        moons: int = 0
        scale = 7
        earth = entry(1, 1)
        venus = entry(0.8)

        @property
        def heavy(self) -> bool:
            return self.mass >= 1

    assert [p.heavy for p in Planet] == [True, False]
    assert (Planet.earth.moons, Planet.venus.moons, Planet.scale) == (1, 0, 7)
    assert [f.name for f in fields(Planet)][-2:] == ["mass", "moons"]
    with pytest.raises(TypeError, match="cannot be replaced"):
        replace(Planet.earth, moons=3)


def test_members_cannot_be_overwritten(key):
    class Side(Enum, type_key=key()):
        left = auto()
        note = "text"

    with pytest.raises(AttributeError, match="left"):
        Side.left = 3
    Side.note = "other"
    assert Side.note == "other"
    assert bool(Side)


def test_an_enum_without_members_is_a_base(key):
    class Coded(Enum):
        code: int

        def twice(self):
            return 2 * self.code

    class Exit(Coded, type_key=key()):
        good = entry(code=0)
        bad = entry(code=4)

    assert Exit.bad.twice() == 8
    assert len(Exit) == 2
    assert len(Coded) == 0
    with pytest.raises(TypeError, match="Coded"):
        Coded()
    with pytest.raises(TypeError, match="no members"):
        Coded.def_attr("x")


class Stable(Enum):
    one = auto()


def test_default_key_of_an_enum():
    assert Stable.one.__isoform_type_key__ == f"{__name__}.Stable"
    assert pickle.loads(pickle.dumps(Stable.one)) is Stable.one


def test_class_variables_declare_members_for_type_checkers(key):
    class Op(Enum, type_key=key()):
        arity: int = 2
        add: typing.ClassVar["Op"]
        neg: typing.ClassVar["Op"] = entry(arity=1)

    assert [(op.name, op.arity) for op in Op] == [("add", 2), ("neg", 1)]


def test_missing_is_falsy_for_nobody():
    assert MISSING is not None
    assert repr(MISSING) == "MISSING"


# ---- types declared natively -------------------------------------------------


def test_types_declared_in_rust_have_fields_and_signatures(key):
    from isoform.testing import rust_family

    family = rust_family()
    assert is_dataclass(family.Add)
    assert [f.name for f in fields(family.Add)] == ["span", "lhs", "rhs"]
    assert list(inspect.signature(family.Add).parameters) == ["span", "lhs", "rhs"]
    storages = {f.name: f.schema for f in fields(family.Storages)}
    assert storages["int"] == TypeSchema("int")
    assert repr(storages["nullable"]) == "testing.Expr | None"

    @py_class(key())
    class Wide(family.Add):
        extra: int = 7

    assert [f.name for f in fields(Wide)] == ["span", "lhs", "rhs", "extra"]
    node = Wide(None, 1, 2)
    assert (node.lhs, node.rhs, node.extra) == (1, 2, 7)
    assert isinstance(node, family.Expr)
