"""Enums: singletons with fields, indices and extensible attributes."""

import copy
import pickle
import typing

import pytest

import isoform
from isoform import Object, serialization
from isoform.core import MISSING, TypeSchema
from isoform.dataclasses import (
    Enum,
    EnumAttrMap,
    IntEnum,
    StrEnum,
    auto,
    entry,
    enum,
    field,
    fields,
    py_class,
    replace,
)


class Color(Enum, type_key="enums.Color"):
    red = auto()
    green = auto()
    blue = entry()


class Operator(Enum, type_key="enums.Operator"):
    arity: int
    symbol: str = "?"
    add = entry(arity=2, symbol="+")
    neg = entry(arity=1)


class Code(IntEnum, type_key="enums.Code"):
    ok = entry(value=10)
    bad = entry(value=20)


class Word(StrEnum, type_key="enums.Word"):
    x = entry(value="ex")
    y = entry(value="why")


def test_iteration_and_lookup():
    assert list(Color) == [Color.red, Color.green, Color.blue]
    assert list(Color.all_entries()) == list(Color)
    assert len(Color) == 3
    assert Color.get("red") is Color.red
    assert Color.get(1) is Color.green
    assert Color(0) is Color.red
    assert Color("blue") is Color.blue
    assert Color(Color.red) is Color.red
    assert Color.red in Color
    for index in ("zz", 9):
        with pytest.raises(KeyError):
            Color.get(index)
        with pytest.raises(ValueError, match="Color"):
            Color(index)


def test_members():
    assert isinstance(Color.red, Color)
    assert isinstance(Color.red, Object)
    assert Color.red == Color.red
    assert Color.red != Color.green
    assert hash(Color.red) == hash(Color.get("red"))
    assert Color.red.name == "red"
    assert [c.name for c in Color] == ["red", "green", "blue"]
    assert repr(Color.red) == "enums.Color.red"
    with pytest.raises(AttributeError):
        Color.red.q = 1
    with pytest.raises(TypeError):
        Color()


def test_members_with_fields():
    assert (Operator.add.arity, Operator.add.symbol) == (2, "+")
    assert (Operator.neg.arity, Operator.neg.symbol) == (1, "?")
    assert repr(Operator.add) == "enums.Operator.add"
    assert Operator.add.name == "add"
    with pytest.raises(AttributeError):
        Operator.add.arity = 3


def test_int_and_str_enums():
    assert (Code.ok.value, Code.ok == 10, Code.ok == 11) == (10, True, False)
    assert Code.get(20) is Code.bad
    assert Code(10) is Code.ok
    assert hash(Code.ok) == hash(10)
    assert str(Code.ok) == "10"
    assert repr(Code.ok) == "Code.ok"
    assert (Word.x.value, Word.x == "ex", Word.x != "why") == ("ex", True, True)
    assert Word.get("why") is Word.y
    assert str(Word.x) == "ex"
    assert Code.ok.name == "ok"


def test_bad_entries():
    with pytest.raises(TypeError, match="a"):

        class Unknown(Enum, type_key="enums.Unknown"):
            a = entry(nothing=3)

    with pytest.raises(TypeError, match="arity"):

        class Missing(Enum, type_key="enums.Missing"):
            arity: int
            a = entry()

    # Both keys are free again.
    class Again(Enum, type_key="enums.Missing"):
        a = auto()

    assert Again.a.name == "a"


@pytest.mark.parametrize(
    ("base", "good", "bad"),
    [
        *((IntEnum, 1, bad) for bad in ("one", 1.5, True, None, b"1", (1, 2), [1], {}, object())),
        *((StrEnum, "a", bad) for bad in (1, True, None, b"a", ("a",), ["a"])),
    ],
)
def test_a_literal_of_another_type_is_no_member_and_no_attribute(key, base, good, bad):
    wanted = type(good).__name__
    with pytest.raises(TypeError, match=rf"E\.BAD: expected a value of type {wanted}, got "):

        class E(base, type_key=key("E")):
            GOOD = good
            BAD = bad


def test_code_in_the_body_of_an_enum_is_no_member(key):
    class E(IntEnum, type_key=key("E")):
        GOOD = 1

        class Nested:
            pass

        @property
        def twice(self):
            return 2 * self.value

        @staticmethod
        def static():
            return "static"

        @classmethod
        def make(cls):
            return cls.GOOD

        builtin = len
        _note = "no member"

    assert list(E) == [E.GOOD]
    assert (E.GOOD.twice, E.static(), E.make(), E._note) == (2, "static", E.GOOD, "no member")


def test_values_convert_to_members_wherever_members_are_expected(key):
    def convert(annotation, value):
        schema = TypeSchema.from_annotation(annotation)
        schema.check_value(value)
        return schema.convert(value)

    first = Code.ok
    assert convert(Code, first.value) is first
    assert convert(Code | None, first.value) is first
    assert convert(Code | str, first.value) is first
    assert convert(Code | int, first.value) == first.value
    assert type(convert(Code | int, first.value)) is int
    assert [*convert(list[Code], [first.value, first])] == [first, first]
    assert convert(list[Code], [first.value])[0] is first
    assert convert(tuple[Code, ...], (first.value,))[0] is first
    assert convert(tuple[int, Code], (1, first.value))[1] is first
    assert convert(dict[str, Code], {"a": first.value})["a"] is first
    assert convert(dict[str, list[Code | None]], {"a": [None, first.value]})["a"][1] is first

    @py_class(key("Node"))
    class Node(Object):
        one: Code
        many: list[Code] = field(default_factory=list)
        named: dict[str, Code] = field(default_factory=dict)
        default: Code = first.value

    node = Node(first.value, [first.value], {"a": first.value})
    assert node.one is node.many[0] is node.named["a"] is node.default is first
    node.many = [first.value, first]
    assert node.many[0] is node.many[1] is first

    for wrong in (12345, True, "ok", 1.0):
        with pytest.raises(TypeError, match=r"expected enums\.Code"):
            convert(Code, wrong)
        with pytest.raises(TypeError, match=r"field 'many': element \[0\]: expected enums\.Code"):
            Node(first, [wrong])
    with pytest.raises(TypeError, match="12345 is the value of no member"):
        Node(12345)


def test_extensible_attributes():
    cost = Operator.def_attr("cost", default=0)
    assert isinstance(cost, EnumAttrMap)
    cost[Operator.add] = 5
    assert cost.name == "cost"
    assert cost[Operator.add] == 5
    assert cost[Operator.neg] == 0
    assert cost.get(Operator.neg, 7) == 7
    assert Operator.add in cost
    assert Operator.neg not in cost
    assert Color.red not in cost
    assert Operator.def_attr("cost")[Operator.add] == 5
    assert Operator.def_attr("cost", default=3)[Operator.neg] == 3
    assert Operator.attr_dict["cost"][Operator.add] == 5
    with pytest.raises(KeyError, match="other"):
        Operator.def_attr("other")[Operator.add]
    for use in (lambda: cost[Color.red], lambda: cost.__setitem__(1, 2)):
        with pytest.raises(TypeError, match="Operator"):
            use()


def test_state_attribute_name():
    assert isinstance(enum.ENUM_STATE_ATTR, str)


def test_copies_are_the_same_object():
    for member in (Color.red, Operator.add, Code.ok, Word.x):
        assert copy.copy(member) is member
        assert copy.deepcopy(member) is member
        assert pickle.loads(pickle.dumps(member)) is member
    assert copy.deepcopy(isoform.Array([Color.red]))[0] is Color.red


@pytest.mark.parametrize(
    ("member", "data"),
    [(Color.red, '"red"'), (Operator.neg, '"neg"'), (Code.ok, "10"), (Word.x, '"ex"')],
    ids=str,
)
def test_json(member, data):
    text = serialization.to_json_graph_str(member)
    key = type(member).__isoform_type_info__.type_key
    assert text == f'{{"root_index":0,"nodes":[{{"type":"{key}","data":{data}}}]}}'
    assert serialization.from_json_graph_str(text) is member
    assert serialization.from_bytes(serialization.to_bytes(member)) is member


@pytest.mark.parametrize("data", ['"zz"', "99", "null", "1.5", "[]"])
def test_json_of_an_unknown_member(data):
    text = f'{{"root_index":0,"nodes":[{{"type":"enums.Color","data":{data}}}]}}'
    with pytest.raises((KeyError, ValueError, TypeError)):
        serialization.from_json_graph_str(text)


def test_in_structural_functions():
    assert isoform.structural_equal(Color.red, Color.red)
    assert not isoform.structural_equal(Color.red, Color.green)
    assert isoform.structural_hash(Color.red) != isoform.structural_hash(Color.green)
    digests = {isoform.structural_digest(c) for c in Color}
    assert len(digests) == 3


def test_as_field(key):
    @py_class(key())
    class Node(Object):
        color: Color

    node = Node(Color.red)
    assert node.color is Color.red
    with pytest.raises(TypeError, match=r"enums\.Color"):
        Node(Code.ok)
    text = serialization.to_json_graph_str(node)
    assert serialization.from_json_graph_str(text).color is Color.red


def test_match_statement():
    def name(color):
        match color:
            case Color.red:
                return "r"
            case Color.green:
                return "g"
            case _:
                return "other"

    assert [name(c) for c in Color] == ["r", "g", "other"]


def test_subclass_is_an_enum_of_its_own():
    class More(Color, type_key="enums.More"):
        pink = auto()

    assert list(More) == [More.pink]
    assert More.pink not in list(Color)


def test_an_unknown_member_is_answered_with_the_members():
    with pytest.raises(ValueError, match=r"'zz' is not a valid Color; its members are 'red', "):
        Color("zz")
    with pytest.raises(ValueError, match=r"'zz' is not a valid SplitMode; its members are 'NONE'"):
        isoform.pto.ir.SplitMode("zz")


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


def test_texts_and_repr_have_the_names_of_the_class(key):
    class Kind(IntEnum, type_key=key("Kind")):
        SERIAL = 0
        PARALLEL = 1
        AGAIN = 1

    class Sign(StrEnum, type_key=key("Sign")):
        PLUS = "+"

    name = Kind.__isoform_type_info__.type_key
    shown = isoform.text.to_text([Kind.PARALLEL])
    # The keys of some runs are quoted.
    assert shown.replace(f'"{name}"', name) == f'[{name}!"PARALLEL"]\n'
    assert isoform.text.from_text(shown)[0] is Kind.PARALLEL
    assert isoform.text.from_text(f'["{name}"!1]')[0] is Kind.PARALLEL
    assert isoform.text.from_text(f'["{name}"!"AGAIN"]')[0] is Kind.PARALLEL
    with pytest.raises(ValueError, match="OTHER"):
        isoform.text.from_text(f'["{name}"!"OTHER"]')
    assert [repr(member) for member in (Kind.AGAIN, Sign.PLUS)] == ["Kind.PARALLEL", "Sign.PLUS"]
