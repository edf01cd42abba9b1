"""Objects of other libraries as values."""

import ast
import collections
import dataclasses
import enum
import importlib.util
import pathlib
import random
import string
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

import isoform.interop.ast
from isoform import (
    Array,
    Map,
    Tensor,
    diff,
    dtype,
    serialization,
    structural_digest,
    structural_equal,
    text,
)
from isoform.interop import Record, from_fields

np = pytest.importorskip("numpy")


class Duck:
    def __init__(self, **fields):
        self.__dict__.update(fields)


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 0
    span: Any = dataclasses.field(default=None, compare=False)


Pair = collections.namedtuple("Pair", "left right")


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Mode(enum.IntEnum):
    FAST = 1


class Bits(enum.Flag):
    A = 1
    B = 2


class Name(str):
    pass


def test_plain_values_are_themselves():
    plain = [None, True, 1, 2**100, -(2**70), 1.5, "a", b"a", dtype("float32")]
    made = from_fields(plain)
    assert isinstance(made, Array)
    assert list(made) == plain
    record = Record("x", {})
    assert from_fields(record) is record


DISTINCT = [
    *(None, True, 1, 1.0, 1 + 0j, "1", b"1", -1, -2, 0.0, -0.0, float("nan"), 2**64),
    *(
        [],
        [1],
        {},
        {"a": 1},
        {"a": 1.0},
        {1: 2},
        {True: 2},
        {(1, 2): 3},
        set(),
        {1},
        frozenset([1]),
    ),
    *(Point(1), Point(1.0), Point(1, 2), Pair(1, 2), Duck(x=1), SimpleNamespace(x=1)),
    *(Color.RED, Color.BLUE, Mode.FAST, Bits.A, Bits.A | Bits.B, Name("a"), ...),
    *(slice(1), slice(0, 1), range(1), range(1, 2), "\udc80", "\udc81"),
    *(np.float32(1), np.float64(1), np.int64(1), np.bool_(True), np.array([1]), np.array([1.0])),
    *(np.array([[1]]), np.array([1], "int32"), np.dtype("int32"), np.dtype("float16")),
]


def test_values_that_differ_differ():
    made = [from_fields(value, fields=duck_fields) for value in DISTINCT]
    again = [from_fields(value, fields=duck_fields) for value in DISTINCT]
    digests = [structural_digest(value) for value in made]
    assert [structural_digest(value) for value in again] == digests
    equal = [
        (DISTINCT[i], DISTINCT[j])
        for i in range(len(made))
        for j in range(i)
        if digests[i] == digests[j] or structural_equal(made[i], made[j])
    ]
    assert equal == []


def duck_fields(obj):
    return vars(obj) if isinstance(obj, (Duck, SimpleNamespace)) else None


def test_order_of_sets_and_dicts_does_not_count():
    names = list(string.ascii_letters)
    other = names.copy()
    random.Random(1).shuffle(other)
    assert structural_equal(from_fields(set(names)), from_fields(set(other)))
    left = {(name, 1): name for name in names}
    right = {(name, 1): name for name in other}
    assert structural_equal(from_fields(left), from_fields(right))
    assert structural_equal(
        from_fields(dict.fromkeys(names, 1)), from_fields(dict.fromkeys(other, 1))
    )


def test_fields_of_known_libraries():
    made = from_fields(Point(1, [Pair(2, 3)], span="ignored"))
    assert made.kind == f"{__name__}.Point"
    assert dict(made.fields)["x"] == 1
    assert "span" not in made.fields
    assert made.fields["y"][0].fields["right"] == 3


def test_attrs_and_pydantic():
    attrs = pytest.importorskip("attrs")

    @attrs.define
    class Node:
        name: str
        line: int = attrs.field(default=0, eq=False)

    made = from_fields(Node("n", 3))
    assert dict(made.fields) == {"name": "n"}
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):
        model_config: ClassVar[Any] = {"extra": "allow"}
        name: str

    assert dict(from_fields(Model(name="m", more=1)).fields) == {"name": "m", "more": 1}


def test_unknown_objects_are_refused_with_their_place():
    tree = Point([Point({"k": object()})])
    with pytest.raises(TypeError) as refused:
        from_fields(tree)
    assert "<root>.x[0].x['k']: the fields of a object (builtins.object)" in str(refused.value)
    assert "fields=..." in str(refused.value)
    for other in (len, lambda: 1, int, iter([]), SimpleNamespace()):
        with pytest.raises(TypeError, match="are unknown"):
            from_fields([other])


def test_on_unknown_gives_what_to_convert():
    tree = [object(), Point(object())]
    made = from_fields(tree, on_unknown=lambda obj: ["unknown", type(obj).__name__])
    assert list(made[0]) == ["unknown", "object"]
    with pytest.raises(TypeError, match="on_unknown returned the object itself"):
        from_fields(tree, on_unknown=lambda obj: obj)
    with pytest.raises(TypeError, match="expected 'raise' or a function, got 'str'"):
        from_fields(tree, on_unknown="str")


def test_named_fields():
    duck = Duck(a=1, b=2)
    assert dict(from_fields(duck, fields=lambda o: ["b"]).fields) == {"b": 2}
    assert dict(from_fields(duck, fields=lambda o: {"c": o.a}).fields) == {"c": 1}
    with pytest.raises(AttributeError, match=r"<root>\[0\]: a Duck has no field 'z'"):
        from_fields([duck], fields=lambda o: ["z"])


def test_arrays():
    made = from_fields([np.arange(6, dtype="float32").reshape(2, 3).T])[0]
    assert isinstance(made, Tensor)
    assert made.shape == (3, 2)
    assert from_fields(np.float16(1.5)).dtype == "float16"
    for array, name in (
        (np.array([1], ">i4"), ">i4"),
        (np.array(["a"]), "<U1"),
        (np.zeros(1, [("x", "i4")]), "[('x', '<i4')]"),
        (np.array([object()]), "object"),
    ):
        with pytest.raises(TypeError) as refused:
            from_fields({"weights": array})
        assert f"<root>['weights']: no tensor holds an array of dtype {name}" in str(refused.value)
        assert "name its fields by fields=..., or give a value" in str(refused.value)
        made = from_fields({"weights": array}, on_unknown=lambda it: str(it.dtype))
        assert made["weights"] == str(array.dtype)


def test_arrays_with_a_mask_are_no_tensors():
    masked = np.ma.masked_array([1, 2], [False, True])
    with pytest.raises(
        TypeError, match=r"<root>\[0\]: a tensor has no mask.*array.filled\(value\)"
    ):
        from_fields([masked])

    def fields(it):
        return {"data": it.data, "mask": it.mask} if it is masked else None

    made = from_fields([masked], fields=fields)[0]
    assert list(made.fields) == ["data", "mask"]


class Unit(np.ndarray):
    pass


class Slotted(list):
    __slots__ = ("extra",)


def test_instances_of_subclasses_are_records_of_value_and_attributes():
    plain = np.zeros(2)
    one, other = plain.view(Unit), plain.view(Unit)
    one.unit, other.unit = "m", "s"
    slotted = Slotted([1])
    slotted.extra = 2
    values = [plain, one, other, np.zeros((1, 2)).view(np.matrix), np.zeros((1, 2)), [1], slotted]
    made = [from_fields(value) for value in values]
    assert len({structural_digest(value) for value in made}) == len(values)
    assert made[1].kind.endswith("Unit")
    assert made[1].fields["attributes"]["unit"] == "m"
    assert made[3].kind == "numpy.matrix"


def test_order_factory_and_value_count():
    ordered, default = collections.OrderedDict, collections.defaultdict
    values = [
        *(ordered(a=1, b=2), ordered(b=2, a=1), {"a": 1, "b": 2}),
        *(default(int, a=1, b=2), default(list, a=1, b=2), default(None, a=1, b=2)),
        *(enum.Enum("Same", {"X": 1}, module="m").X, enum.Enum("Same", {"X": 2}, module="m").X),
    ]
    made = [from_fields(value) for value in values]
    assert len({structural_digest(value) for value in made}) == len(values)
    assert made[3].fields["default_factory"] == "builtins.int"
    with pytest.raises(TypeError, match=r"<root>\.default_factory"):
        from_fields(default(lambda: 1))


def test_shared_parts_are_converted_once():
    value: Any = Point(1)
    for _ in range(200):
        value = Point(value, value)
    made = from_fields(value)
    assert made.fields["x"] is made.fields["y"]
    assert structural_digest(made) == structural_digest(from_fields(value))
    shared: Any = [1]
    for _ in range(200):
        shared = [shared, shared]
    assert structural_equal(from_fields(shared), from_fields(shared))


def test_cycles_are_refused_with_their_place():
    left = Point(1)
    left.y = [left]
    with pytest.raises(ValueError, match=r"<root>\.y\[0\]: the .*Point contains itself"):
        from_fields(left)
    table: dict[str, Any] = {}
    table["me"] = table
    with pytest.raises(ValueError, match=r"<root>\['me'\]: the builtins\.dict contains itself"):
        from_fields(table)
    looped = Duck(child=None)
    looped.child = looped
    with pytest.raises(ValueError, match="fields="):
        from_fields(looped, fields=vars)
    # Parents that point up are left out.
    child = Duck(parent=looped)
    assert from_fields(child, fields=lambda o: []).kind == f"{__name__}.Duck"


@pytest.mark.parametrize(
    "wrap",
    [
        lambda v: [v],
        lambda v: (v,),
        lambda v: {"k": v},
        lambda v: {(1, 2): v},
        lambda v: frozenset([v, 0]),
        Point,
        lambda v: Pair(1, v),
        lambda v: Duck(x=v),
    ],
)
def test_depth_is_limited_by_memory_only(wrap):
    value: Any = 1
    for _ in range(20_000):
        value = wrap(value)
    made = from_fields(value, fields=duck_fields)
    # Not by pytest, whose report would recurse.
    assert len(structural_digest(made)) == 32
    while isinstance(value, (list, dict, Duck)):
        if isinstance(value, list):
            value = value.pop()
        elif isinstance(value, dict):
            value = value.popitem()[1]
        else:
            value = value.__dict__.pop("x")


def test_records_go_through_files_and_text():
    made = from_fields(DISTINCT[:14] + [Point(Color.RED), "\udc80", {1, 2}, np.arange(3)])
    for write, read in (
        (serialization.to_bytes, serialization.from_bytes),
        (serialization.to_json_graph_str, serialization.from_json_graph_str),
        (text.to_text, text.from_text),
    ):
        assert structural_equal(read(write(made)), made)


def test_python_programs():
    program = isoform.interop.ast.program
    assert structural_equal(program("x=1 # c"), program("x = 1"))
    texts = ["f(1)", "f(True)", "f(1.0)", "f(1j)", "f(b'a')", "f('a')", "f(-1)", "f('\\udc80')"]
    assert len({structural_digest(program(each)) for each in texts}) == len(texts)
    lines = program("x\ny", attributes=True)
    assert lines.fields["body"][1].fields["lineno"] == 2
    changes = diff.diff(program("a = b + c"), program("a = b - c")).changes
    assert len(changes) == 1
    assert "ast.Add" in str(changes[0])
    assert "ast.Sub" in str(changes[0])


def test_programs_of_the_standard_library():
    folder = pathlib.Path(importlib.util.find_spec("ast").origin).parent
    for name in ("ast.py", "heapq.py", "textwrap.py"):
        source = (folder / name).read_text(encoding="utf-8")
        made = isoform.interop.ast.program(source)
        assert structural_equal(made, isoform.interop.ast.program(ast.unparse(ast.parse(source))))


def test_a_hand_made_tree_may_be_deep():
    node: ast.expr = ast.Name("x", ast.Load())
    for _ in range(20_000):
        node = ast.UnaryOp(ast.Not(), node)
    assert len(structural_digest(isoform.interop.ast.program(node))) == 32
    while isinstance(node, ast.UnaryOp):
        node = node.operand


def test_a_map_of_fields_has_no_order():
    assert structural_equal(Record("k", {"a": 1, "b": 2}), Record("k", {"b": 2, "a": 1}))
    assert isinstance(Record("k", {}).fields, Map)
