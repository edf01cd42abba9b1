"""Values of Python in fields: complex numbers, enums of the standard library, large ints,
arrays; and a strict mode for `Any`."""

import copy
import enum
import gc
import math
import pickle
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from isoform import (
    Array,
    BigInt,
    IncrementalHasher,
    Map,
    Object,
    StructuralKey,
    Tensor,
    convert,
    convert_func,
    serialization,
    structural_digest,
    structural_equal,
    structural_hash,
    structural_map,
    substitute,
    text,
)
from isoform.core import TypeSchema
from isoform.dataclasses import StrEnum, field, py_class, replace

np = pytest.importorskip("numpy")


class Scope(str, enum.Enum):
    SHARED = "shared"
    GLOBAL = "global"
    ALIAS = "global"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Color(enum.Enum):
    RED = "r"
    BLUE = object()


@py_class("python_values.Node")
class Node(Object):
    number: complex = 0j
    scope: Scope = Scope.SHARED
    level: Level | None = None
    color: Color = Color.RED
    large: BigInt = 0
    any: Any = None


FORMS = [
    (serialization.to_bytes, serialization.from_bytes),
    (serialization.to_json_graph_str, serialization.from_json_graph_str),
    (text.to_text, text.from_text),
    (pickle.dumps, pickle.loads),
    (copy.deepcopy, lambda copied: copied),
]

NODES = [
    Node(),
    *(Node(number=z) for z in (1j, -1j, 1, 1.5, complex(0.0, -0.0), complex(-0.0, 0.0))),
    Node(number=complex(math.nan, math.inf)),
    *(Node(scope=Scope.GLOBAL), Node(level=Level.LOW), Node(level=Level.HIGH)),
    Node(color=Color.BLUE),
    *(Node(large=n) for n in (2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**1000, -(10**1000))),
    *(Node(any=v) for v in (1j, Color.RED, [Color.BLUE, {"k": 2j}], 2**70)),
]


def test_all_values_differ_and_keep_their_identity():
    digests = [structural_digest(node) for node in NODES]
    assert len(set(digests)) == len(NODES)
    for i, left in enumerate(NODES):
        for j, right in enumerate(NODES):
            assert structural_equal(left, right) is (i == j)
        again = copy.deepcopy(left)
        assert structural_hash(again) == structural_hash(left)
        assert structural_digest(again) == digests[i]


@pytest.mark.parametrize("form", FORMS, ids=["binary", "json", "text", "pickle", "copy"])
def test_files(form):
    write, read = form
    for node in NODES:
        again = read(write(node))
        assert structural_equal(again, node)
        assert type(again.number) is complex
        assert again.color is node.color
        assert again.scope is node.scope
        assert again.level is node.level
        assert again.large == node.large


def test_complex_numbers_have_a_type_of_the_core():
    from isoform import _core, types

    number = types.class_of("isoform.Complex")(1.5, -2.0)
    assert (number.real, number.imag, repr(number)) == (1.5, -2.0, "(1.5-2j)")
    assert structural_equal(number, 1.5 - 2j)
    assert structural_digest([1 + 2j]) != structural_digest([2 + 1j])
    assert structural_digest(1 + 2j).hex().startswith("d54b5889b877d1fe2a96f28fbfecd207")
    read = text.from_text("[isoform.Complex(real=-0.0, imag=inf)]")[0]
    assert type(read) is complex
    assert str(read) == "(-0+infj)"
    for keys in ({1j: 1}, {"a": {1j: 1}}):
        for make in (Map, lambda keys: Array([keys]), lambda keys: Node(any=keys)):
            with pytest.raises(TypeError, match="a complex number is no key of a map, got 1j"):
                make(keys)
    with pytest.raises(text.TextError, match="a complex number is no key of a map"):
        text.from_text("{isoform.Complex(real=1.0, imag=0.0): 1}")
    # Pickles of the time when a module of Python declared the type name that module.
    data = serialization.to_bytes([1j])
    modules = [("isoform.Complex", "isoform._value_classes")]
    assert list(_core._from_pickle(data, None, modules)) == [1j]


def test_fields_read_as_the_value_that_was_put_in():
    node = Node(1 + 2j, Scope.ALIAS, Level.HIGH, Color.BLUE, 2**64)
    assert (node.number, node.large) == (1 + 2j, 2**64)
    assert node.scope is Scope.GLOBAL
    assert node.level is Level.HIGH
    assert node.color is Color.BLUE
    node.number, node.scope, node.large = 2j, Scope.SHARED, -(2**90)
    assert (node.number, node.scope, node.large) == (2j, Scope.SHARED, -(2**90))
    assert replace(node, color=Color.RED).color is Color.RED
    assert "Scope.SHARED" in repr(node)
    assert "2j" in repr(node)
    match node:
        case Node(number=2j, scope=Scope.SHARED):
            pass
        case _:
            pytest.fail("no match")


def test_conversions():
    assert Node(number=3).number == 3 + 0j
    assert Node(number=np.complex128(1j)).number == 1j
    assert Node(number=np.complex64(1j)).number == 1j
    assert convert([np.complex64(1j)])[0] == 1j
    assert Node(scope="global").scope is Scope.GLOBAL
    assert Node(level=2).level is Level.HIGH
    assert Node(large=True).large == 1
    assert Node(large=np.int64(5)).large == 5
    for wrong, told in (
        ({"number": "1j"}, "number"),
        ({"scope": "local"}, "'local' is the value of no member; its members are 'SHARED'"),
        ({"scope": 1}, "scope"),
        ({"level": 3}, "3 is the value of no member"),
        ({"color": "r"}, "color"),
        ({"color": Scope.SHARED}, "color"),
        ({"large": 1.0}, "field 'large': expected BigInt, got float"),
        ({"large": "1"}, "large"),
    ):
        with pytest.raises(TypeError, match=told):
            Node(**wrong)


def test_containers_and_unions():
    @py_class("python_values.Many")
    class Many(Object):
        by_scope: Mapping[Scope, int]
        colors: Sequence[Color]
        numbers: Sequence[complex]
        either: Scope | str | complex | None
        ints: Sequence[BigInt]

    made = Many({Scope.SHARED: 1, "global": 2}, [Color.RED], [1, 2j], Scope.SHARED, [2**80, 1])
    assert made.by_scope[Scope.GLOBAL] == 2
    table = Map({Color.RED: 1})
    assert table[Color.RED] == 1
    assert Color.BLUE not in table
    assert structural_equal(table, Map({Color.RED: 1}))
    assert not structural_equal(table, Map({Color.BLUE: 1}))
    by_number = Mapping[complex, int]
    for keys in ({1: 5}, {2j: 7}):
        with pytest.raises(TypeError, match="a complex number is no key of a map"):
            TypeSchema.from_annotation(by_number).convert(keys)
    assert set(made.by_scope) == {Scope.SHARED, Scope.GLOBAL}
    assert list(made.colors) == [Color.RED]
    assert list(made.numbers) == [1, 2j]
    assert made.either is Scope.SHARED
    assert type(Many({}, [], [], "shared", []).either) is str
    assert Many({}, [], [], 1j, []).either == 1j
    assert list(made.ints) == [2**80, 1]
    for write, read in FORMS:
        again = read(write(made))
        assert structural_equal(again, made)
        assert again.by_scope[Scope.SHARED] == 1


def test_a_field_of_large_ints_has_the_digest_of_a_field_of_ints():
    def digest(kind):
        body = {"__annotations__": {"n": kind}, "__module__": __name__}
        key = f"python_values.Digest{len(digests)}"
        cls = py_class(key)(type("Digest", (Object,), body))
        return structural_digest([cls(5).n])

    digests: list[bytes] = []
    digests.append(digest(int))
    digests.append(digest(BigInt))
    assert digests[0] == digests[1]
    with pytest.raises(TypeError, match="expected int, got int out of the int64 range"):
        py_class("python_values.Small")(
            type("Small", (Object,), {"__annotations__": {"n": int}, "__module__": __name__})
        )(2**64)


def test_schemas():
    for annotation, shown in (
        (complex, "complex"),
        (list[BigInt], "List[BigInt]"),
        (BigInt | None, "BigInt | None"),
    ):
        schema = TypeSchema.from_annotation(annotation)
        assert repr(schema) == shown
        assert TypeSchema.from_json_obj(schema.to_json()) == schema
    assert TypeSchema.from_annotation(complex).convert(2) == 2 + 0j
    assert TypeSchema.from_annotation(Color).convert(Color.RED) is Color.RED
    assert TypeSchema("ffi.BigInt") == TypeSchema("BigInt")


def test_enums_that_have_no_members_to_name():
    class Bits(enum.Flag):
        A = 1

    class Empty(enum.Enum):
        pass

    for cls, told in ((Bits, "combines flags; write int"), (Empty, "has no members")):
        with pytest.raises(TypeError, match=told):
            TypeSchema.from_annotation(cls)


def test_an_enum_that_is_declared_again_gives_the_members_of_the_last_class():
    def declare(*names):
        return enum.Enum("Again", {name: name for name in names}, module=__name__)

    first = declare("A", "B")

    @py_class("python_values.Again")
    class Holder(Object):
        e: first

    node = Holder(first.A)
    data = serialization.to_json_graph_str(node)
    second = declare("B", "C")
    TypeSchema.from_annotation(second)
    assert Holder(second.C).e is second.C
    with pytest.raises(ValueError, match=r"Again has no member 'A'; its members are 'B', 'C'"):
        node.e  # noqa: B018
    with pytest.raises(ValueError, match=r"node 0 \(.*Again\): .* has no member 'A'"):
        serialization.from_json_graph_str(data)


class Kind(StrEnum, type_key="python_values.Kind"):
    A = "a"


@py_class("python_values.HasKind")
class HasKind(Object):
    kind: Kind


def test_members_that_are_gone_are_errors_with_their_place():
    node = HasKind(Kind.A)
    graph = serialization.to_json_graph_str(node).replace('"a"', '"b"')
    with pytest.raises(ValueError, match=r"JSON graph: node 0 \(python_values\.Kind\): .*'b'"):
        serialization.from_json_graph_str(graph)
    line = "\n" + text.to_text(node).replace('"a"', '"b"')
    with pytest.raises(ValueError, match=r"text: line 2, column \d+: python_values\.Kind has no"):
        text.from_text(line)
    graph = serialization.to_json_graph_str(node).replace('"a"', "1")
    with pytest.raises(
        ValueError, match=r"node 0 \(python_values\.Kind\): .*expected str, got int"
    ):
        serialization.from_json_graph_str(graph)


class Undeclared(enum.Enum):
    """No field names it."""

    ONE = 1


def test_members_are_values_wherever_they_are():
    node = Node(any=[Undeclared.ONE])
    assert node.any[0] is Undeclared.ONE
    assert structural_equal(pickle.loads(pickle.dumps(node)), node)
    assert not structural_equal(node, Node(any=[Color.RED]))
    # One that is also a number or a text stays one.
    assert structural_equal(Node(any=Level.LOW), Node(any=1))


def test_walks_see_the_hidden_objects_only_inside():
    node = Node(1 + 2j)
    doubled = structural_map(node, (float, lambda v: v * 2))
    assert doubled.number == 2 + 4j
    assert substitute(node, {}) is node


def test_nothing_leaks():
    node = Node(1j, color=Color.BLUE)
    gc.collect()
    before = sys.getrefcount(Color.BLUE)
    for _ in range(1000):
        assert node.color is Color.BLUE
        node.color = Color.BLUE
        assert node.number == 1j
    gc.collect()
    assert abs(sys.getrefcount(Color.BLUE) - before) < 10


# ---- arrays ------------------------------------------------------------------


@py_class("python_values.Weights")
class Weights(Object):
    data: Tensor
    more: Sequence[Tensor] = field(default_factory=list)
    array: np.ndarray | None = None


def test_tensors_of_arrays():
    array = np.arange(6, dtype="float32").reshape(2, 3)
    for made in (Tensor(array), Weights(array).data, Weights(array, [array]).more[0]):
        assert isinstance(made, Tensor)
        assert made.numpy().tolist() == array.tolist()
    tensor = Tensor(array)
    array[0, 0] = 9
    assert tensor.numpy()[0, 0] == 0
    assert Tensor(tensor) is tensor
    assert Weights(array, array=array.T).array.shape == (3, 2)
    assert Tensor(np.float32(1)).shape == ()
    for wrong in ([1, 2], 1, None, "a"):
        with pytest.raises(TypeError, match=r"isoform\.Tensor: expected an array .*numpy\.asarray"):
            Tensor(wrong)


UNFIT = [
    (np.zeros(2, ">i4"), ">i4"),
    (np.array(["a"]), "<U1"),
    (np.zeros(1, [("x", "i4")]), r"\[\('x', '<i4'\)\]"),
    (np.array([object()]), "object"),
    (np.zeros(1, [(f"x{i}", "i4") for i in range(100)]), r"\[\('x0', '<i4'\), .*…"),
]


@pytest.mark.parametrize(
    ("array", "dtype"), UNFIT, ids=["swapped", "text", "record", "object", "long"]
)
def test_arrays_that_are_no_tensors_are_named_by_their_dtype(array, dtype):
    for make in (Tensor, Weights, lambda a: Weights(np.zeros(1), [a])):
        with pytest.raises(TypeError, match=f"ndarray of dtype {dtype}"):
            make(array)
    kept = Array([array])
    assert kept[0] is array
    with pytest.raises(TypeError, match=f"Python ndarray of dtype {dtype}"):
        structural_digest(kept)


# ---- pickles -----------------------------------------------------------------


def test_keys_and_hashers_are_pickled():
    key = StructuralKey([1, {"a": Node(1j)}])
    for again in (pickle.loads(pickle.dumps({key: 1})), copy.deepcopy({key: 1})):
        assert again[key] == 1
    hasher = IncrementalHasher(map_free_vars=True)
    again = pickle.loads(pickle.dumps(hasher))
    assert again.digest([1]) == structural_digest([1], map_free_vars=True)


@py_class("python_values.Sub")
class Sub(Weights):
    note: Any = None


class Plain(Sub):
    """Not registered itself, with attributes of its own."""


def test_buffers_out_of_band():
    shared = Tensor(np.arange(100_000))
    node = Sub(shared, [shared, Tensor(np.zeros((0, 3))), Tensor(np.ones(7, "int8"))], note=Map({}))
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(node, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 2000
    assert len(buffers) == 3
    again = pickle.loads(data, buffers=buffers)
    assert structural_equal(again, node)
    # Without a copy, on both ways.
    assert again.data.data_ptr() == shared.data_ptr()
    assert again.more[0] is again.data
    # A buffer that may be written to is copied; pickle itself makes them read-only.
    restore, arguments, *_ = node.__reduce_ex__(5)
    copies = [bytearray(buffer.raw()) for buffer in buffers]
    again = restore(arguments[0], copies, *arguments[2:])
    copies[0][:8] = b"\xff" * 8
    assert structural_equal(again, node)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert structural_equal(pickle.loads(pickle.dumps(node, protocol)), node)


def test_buffers_keep_what_pickles_keep():
    node = Plain(np.arange(3))
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(node, protocol=5, buffer_callback=buffers.append)
    again = pickle.loads(data, buffers=buffers)
    assert type(again) is Plain
    del node, buffers
    gc.collect()
    assert again.data.numpy().tolist() == [0, 1, 2]
    tensor = Tensor(np.arange(3))
    buffers = []
    data = pickle.dumps([tensor, 1], protocol=5, buffer_callback=buffers.append)
    assert structural_equal(pickle.loads(data, buffers=buffers), [tensor, 1])


def test_wrong_buffers_are_errors():
    node = Weights(np.arange(4), [Tensor(np.arange(2))])
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(node, protocol=5, buffer_callback=buffers.append)
    with pytest.raises(ValueError, match="bytes"):
        pickle.loads(data, buffers=buffers[::-1])
    with pytest.raises(pickle.UnpicklingError):
        pickle.loads(data, buffers=buffers[:1])
    restore, arguments, *_ = node.__reduce_ex__(5)
    with pytest.raises(ValueError, match="for each tensor, got fewer"):
        restore(arguments[0], arguments[1][:1], *arguments[2:])
    with pytest.raises(ValueError, match="1 buffers more than tensors"):
        restore(arguments[0], (*arguments[1], b""), *arguments[2:])
    with pytest.raises(ValueError, match="kept beside the bytes"):
        serialization.from_bytes(arguments[0])


# ---- strict ------------------------------------------------------------------


@py_class("python_values.Strict", strict=True)
class Strict(Object):
    value: Any = None
    items: Sequence[Any] = ()
    table: Mapping[str, Any] | None = None


def test_a_strict_class_refuses_objects_of_python():
    node = Strict([1, {"a": Node()}], [1j, None], {"k": Tensor(np.zeros(1))})
    assert structural_equal(node, copy.deepcopy(node))
    for make, told in (
        (
            lambda: Strict(set()),
            r"field 'value': expected a value with a structure, got Python set",
        ),
        (lambda: Strict([1, {"k": set()}]), r"element \[1\]: value for key \"k\": .*Python set"),
        (lambda: Strict({(1, 2): 1}), None),
        (lambda: Strict(Array([Map({"k": object()})])), r"element \[0\]: .*Python object"),
        (lambda: Strict(lambda: 1), r"field 'value': expected a value with a structure, got"),
        (lambda: Strict(len), r"field 'value'"),
        (lambda: Strict(1, [set()]), r"field 'items': element \[0\]: .*Python set"),
        (lambda: Strict(1, [], {"k": set()}), r"field 'table'"),
        (lambda: setattr(node, "value", set()), r"value.*Python set"),
        (lambda: replace(node, value=set()), r"value.*Python set"),
        (lambda: Strict(np.array(["a"])), r"Python ndarray of dtype <U1"),
    ):
        if told is None:
            make()
            continue
        with pytest.raises(TypeError, match=told):
            make()
    assert isinstance(Node(any=set()).any, set)


def test_a_strict_class_looks_through_deep_and_shared_containers():
    value: Any = [1]
    for _ in range(10_000):
        value = [value]
    assert Strict(Array(value)).value is not None
    shared: Any = Array([1])
    for _ in range(200):
        shared = Array([shared, shared])
    assert Strict(shared).value is shared


def test_the_class_of_tensors_in_callbacks():
    seen = []
    function = convert_func(lambda *args: seen.extend(map(type, args)), tensor_cls=np.ndarray)
    function(Tensor(np.arange(3)), 1)
    assert seen == [np.ndarray, int]
    with pytest.raises(TypeError, match="with from_dlpack"):
        convert_func(len, tensor_cls=dict)


def test_identity_under_the_names_of_tvm_ffi():
    left, right = Node(), Node()
    assert left.is_(left)
    assert not left.is_(right)
    assert left.id_ != right.id_
    holder = Array([left])
    assert holder[0].id_ == left.id_
    prop = Node.__dict__["large"]
    prop.fset(left, 5)
    assert prop.fget(left) == 5

    @py_class("python_values.Frozen", frozen=True)
    class Frozen(Object):
        x: int

    assert Frozen.__dict__["x"].fset is None
    with pytest.raises(TypeError, match="default_factory must be callable, got NoneType"):
        field(default_factory=None)
