"""What field annotations accept, and how values are converted to them."""

import collections.abc
import ctypes
import enum
import typing
from typing import Annotated, Any, Callable, Literal, Optional, Sequence, Union  # noqa: UP035

import numpy as np
import pytest

import isoform
import nodes
from isoform import Array, Device, Dict, Function, List, Map, Object, Shape, Tensor, dtype
from isoform.core import TypeSchema
from isoform.dataclasses import py_class


@pytest.fixture
def holder(key):
    """Makes a class whose only field `x` has the given annotation."""

    def make(annotation):
        body = {"__annotations__": {"x": annotation}, "__module__": __name__}
        return py_class(key("Holder"))(type(Object)("Holder", (Object,), body))

    return make


ACCEPTED = [
    (int, True, 1, int),
    (int, np.int32(3), 3, int),
    (int, np.uint8(255), 255, int),
    (float, 1, 1.0, float),
    (float, True, 1.0, float),
    (float, np.float32(1.5), 1.5, float),
    (bool, 1, True, bool),
    (bool, 0, False, bool),
    (bool, 2, True, bool),
    (str, "a", "a", str),
    (bytes, b"a", b"a", bytes),
    (bytes, bytearray(b"b"), b"b", bytes),
    (None, None, None, type(None)),
    (Optional[str], None, None, type(None)),
    (Optional[str], "a", "a", str),
    (Union[int, str], "a", "a", str),
    (int | str, 1, 1, int),
    (int | str | None, None, None, type(None)),
    (list, [1, "a"], [1, "a"], List),
    (list[int], (1, True), [1, 1], List),
    (list[int], Array([1]), [1], List),
    (List[int], [1], [1], List),
    (Array[int], [1, 2], [1, 2], Array),
    (Array[int], List([1]), [1], Array),
    (tuple[int, ...], [1, 2], [1, 2], Array),
    (tuple[int, str], (1, "a"), [1, "a"], Array),
    (tuple[()], (), [], Array),
    (dict, {1: 2}, {1: 2}, Dict),
    (dict[str, int], {"a": True}, {"a": 1}, Dict),
    (dict[str, int], Map({"a": 1}), {"a": 1}, Dict),
    (Dict[str, int], {"a": 1}, {"a": 1}, Dict),
    (Map[str, int], {"a": 1}, {"a": 1}, Map),
    (Map[str, int], Dict({"a": 1}), {"a": 1}, Map),
    (dtype, "int8", "int8", dtype),
    (dtype, dtype("float32x4"), "float32x4", dtype),
    (dtype, np.dtype("int8"), "int8", dtype),
    (Device, "cuda:1", isoform.device("cuda:1"), Device),
    (Any, [1], [1], Array),
    (Any, (1,), [1], Array),
    (Any, {1: 2}, {1: 2}, Map),
    (Any, 2**80, 2**80, int),
    (Any, None, None, type(None)),
    (Literal["a", "b"], "a", "a", str),
    (Literal[1, "x", None], None, None, type(None)),
    (Annotated[int, "metres"], True, 1, int),
    (Annotated[list[int], "metres"], [1], [1], List),
    (Sequence[int], [1, 2], [1, 2], Array),
    (Sequence, ["a"], ["a"], Array),
    (collections.abc.Sequence[int], (1,), [1], Array),
    (Shape, (1, 2), (1, 2), Shape),
]


@pytest.mark.parametrize(("annotation", "given", "expected", "kind"), ACCEPTED)
def test_accepted(holder, annotation, given, expected, kind):
    cls = holder(annotation)
    for node in (cls(given), cls(x=given)):
        assert type(node.x) is kind
        assert node.x == expected
    node = cls(given)
    node.x = given
    assert node.x == expected


REFUSED = [
    (int, "a", "expected int, got str"),
    (int, 1.5, "expected int, got float"),
    (int, None, "expected int, got None"),
    (int, 2**70, "int64"),
    (float, "a", "expected float, got str"),
    (bool, "a", "expected bool, got str"),
    (bool, 1.0, "expected bool, got float"),
    (str, b"a", "expected str, got bytes"),
    (str, None, "expected str, got None"),
    (bytes, "s", "expected bytes, got str"),
    (None, 1, "expected None, got int"),
    (Optional[str], 1, r"expected str \| None, got int"),
    (int | str, 1.5, r"expected int \| str, got float"),
    (int | str, None, r"expected int \| str, got None"),
    (int | str | None, 1.5, r"expected int \| str \| None, got float"),
    (list, 3, "got int"),
    (list[int], [1, "b"], r"element \[1\]: expected int, got str"),
    (list[int], None, "got None"),
    (list[list[int]], [[1], ["a"]], r"element \[1\].*element \[0\]: expected int, got str"),
    (tuple[int, ...], ("a",), r"element \[0\]: expected int, got str"),
    (tuple[int, str], (1, 2), r"element \[1\]: expected str, got int"),
    (tuple[int, str], (1,), "length 2"),
    (dict[str, int], {1: 2}, "key 1: expected str, got int"),
    (dict[str, int], {"a": "b"}, "value for key 'a': expected int, got str"),
    (dict, [1], "expected Dict"),
    (dtype, "zz", "zz"),
    (dtype, 3, "expected dtype, got int"),
    (Tensor, 3, "expected Tensor, got int"),
    (Callable, 3, "got int"),
    (Object, 3, "expected .*Object, got int"),
    (nodes.Box, 3, r"expected nodes\.Box, got int"),
    (nodes.Box, None, r"expected nodes\.Box, got None"),
    (Literal["a", "b"], "c", "'a'"),
    (Literal["a", "b"], 1, "'a'"),
    (Literal[1], True, "1"),
    (Annotated[int, "metres"], "a", "expected int, got str"),
    (Sequence[int], ["a"], r"element \[0\]: expected int, got str"),
    (Shape, ("a",), "int"),
]


@pytest.mark.parametrize(("annotation", "given", "match"), REFUSED)
def test_refused(holder, annotation, given, match):
    cls = holder(annotation)
    with pytest.raises(TypeError, match=f"(?s){match}") as caught:
        cls(given)
    assert "'x'" in str(caught.value)
    assert "Holder" in str(caught.value)


def test_nested_containers(holder):
    node = holder(list[list[int]])([[1], (2,)])
    assert [type(inner) for inner in node.x] == [List, List]
    assert [list(inner) for inner in node.x] == [[1], [2]]


def test_text_is_no_sequence(holder):
    for annotation in (list[str], Sequence[str], tuple[str, ...]):
        with pytest.raises(TypeError):
            holder(annotation)("abc")


UNSUPPORTED = [set, set[int], frozenset, complex, range, 3, "not an annotation!"]


@pytest.mark.parametrize("annotation", UNSUPPORTED)
def test_unsupported(holder, annotation):
    with pytest.raises((TypeError, SyntaxError)):
        holder(annotation)(None)


def test_callables(holder):
    for annotation in (
        Callable,
        Callable[[int], int],
        collections.abc.Callable[[int], int],
        Function,
    ):
        node = holder(annotation)(lambda v: v + 1)
        assert isinstance(node.x, Function)
        assert node.x(2) == 3


def test_anything_callable_in_any_is_a_function(holder):
    node = holder(Any)(len)
    assert isinstance(node.x, Function)
    assert node.x([1, 2]) == 2


def test_opaque_objects(holder):
    class Thing:
        pass

    thing = Thing()
    node = holder(Any)(thing)
    assert node.x is thing
    assert holder(Any)({1, 2}).x == {1, 2}
    with pytest.raises(TypeError):
        isoform.structural_equal(node, node)
    with pytest.raises(TypeError):
        isoform.structural_hash(node)
    with pytest.raises(TypeError):
        isoform.serialization.to_json_graph_str(node)


def test_void_pointers_hold_host_objects(holder):
    node = holder(ctypes.c_void_p)(ctypes.c_void_p(16))
    assert isinstance(node, Object)


def test_tensors(holder):
    node = holder(Tensor)(np.arange(3))
    assert isinstance(node.x, Tensor)
    assert node.x.shape == (3,)
    assert isinstance(holder(Any)(np.arange(3)).x, Tensor)


def test_objects_are_kept(holder):
    box = nodes.Box(1)
    for annotation in (nodes.Box, Object, Any, Optional[nodes.Box], nodes.Box | int):
        assert holder(annotation)(box).x is box
    assert list(holder(list[nodes.Box])([box]).x)[0] is box  # noqa: RUF015


# ---- forward references ------------------------------------------------------


@py_class("annotations.Tree")
class Tree(Object):
    left: "Tree | None" = None
    right: "Tree | None" = None
    many: "list[Tree]" = ()


@py_class("annotations.Ping")
class Ping(Object):
    pong: "Pong | None"


@py_class("annotations.Pong")
class Pong(Object):
    ping: "Ping | None"


@py_class("annotations.Early")
class Early(Object):
    late: "Late"


def test_a_class_may_name_itself():
    tree = Tree(Tree(), many=[Tree()])
    assert isinstance(tree.left, Tree)
    assert tree.right is None
    assert len(tree.many) == 1
    with pytest.raises(TypeError, match=r"annotations\.Tree"):
        Tree(1)


def test_mutual_references():
    node = Ping(Pong(Ping(None)))
    assert node.pong.ping.pong is None
    with pytest.raises(TypeError, match=r"annotations\.Pong"):
        Ping(Ping(None))


def test_unresolved_names_are_listed_at_the_first_construction():
    global Late
    with pytest.raises(TypeError, match="Late"):
        Early(1)

    @py_class("annotations.Late")
    class Late(Object):
        v: int

    assert Early(Late(1)).late.v == 1
    with pytest.raises(TypeError, match=r"annotations\.Late"):
        Early(1)


def test_local_forward_reference(key):
    @py_class(key("Local"))
    class Local(Object):
        next: "Local | None" = None

    assert isinstance(Local(Local()).next, Local)


def test_class_variables_are_no_fields(key):
    @py_class(key())
    class Node(Object):
        x: int
        limit: typing.ClassVar[int] = 5

    assert [f.name for f in isoform.dataclasses.fields(Node)] == ["x"]
    assert Node.limit == 5


# ---- generic classes ---------------------------------------------------------

T = typing.TypeVar("T")
Number = typing.TypeVar("Number", bound=int)
Text = typing.TypeVar("Text", str, bytes)


@pytest.fixture
def cell(key):
    @py_class(key("Cell"))
    class Cell(Object, typing.Generic[T]):
        value: T
        more: list[T] = ()

    return Cell


def test_type_variables(cell):
    assert cell(1).value == 1
    assert cell("a", ["b"]).more == ["b"]
    assert cell[int](3).value == 3
    assert type(cell[int](3)) is cell


def test_bounded_type_variables(key):
    @py_class(key())
    class Bounded(Object, typing.Generic[Number, Text]):
        number: Number
        text: Text

    node = Bounded(True, b"x")
    assert (node.number, node.text) == (1, b"x")
    with pytest.raises(TypeError, match="expected int, got str"):
        Bounded("a", "b")
    with pytest.raises(TypeError, match=r"expected str \| bytes, got int"):
        Bounded(1, 2)


def test_generic_classes_as_annotations(holder, cell):
    cls = holder(cell[int])
    value = cell(1)
    assert cls(value).x is value
    with pytest.raises(TypeError, match="Cell"):
        cls(1)


# ---- TypeSchema --------------------------------------------------------------

REPRS = [
    (int, "int"),
    (bool, "bool"),
    (float, "float"),
    (str, "str"),
    (bytes, "bytes"),
    (None, "None"),
    (Any, "Any"),
    (list[int], "List[int]"),
    (List[int], "List[int]"),
    (Array[int], "Array[int]"),
    (tuple[int, ...], "Array[int]"),
    (tuple[int, str], "tuple[int, str]"),
    (dict[str, int], "Dict[str, int]"),
    (Map[str, Any], "Map[str, Any]"),
    (Optional[int], "int | None"),
    (int | str | None, "int | str | None"),
    (Callable, "Callable[..., Any]"),
    (Callable[[int], str], "Callable[[int], str]"),
    (nodes.Box, "nodes.Box"),
    (dtype, "dtype"),
    (Device, "Device"),
    (Tensor, "Tensor"),
    (Sequence[int], "Array[int]"),
    (Annotated[int, 1], "int"),
]


@pytest.mark.parametrize(("annotation", "text"), REPRS)
def test_schema_repr(annotation, text):
    schema = TypeSchema.from_annotation(annotation)
    assert repr(schema) == text
    assert schema.repr() == text
    assert schema == TypeSchema.from_annotation(annotation)


def test_schema_checks():
    schema = TypeSchema.from_annotation(list[int])
    assert schema.check_value([1, True]) is None
    with pytest.raises(TypeError, match=r"element \[0\]: expected int, got str"):
        schema.check_value(["a"])
    with pytest.raises(TypeError, match="expected int, got str"):
        TypeSchema.from_annotation(int).convert("a")
    TypeSchema.from_annotation(int).convert(True)


def test_schema_json():
    schema = TypeSchema.from_annotation(list[int])
    assert schema.to_json() == {"type": "List", "args": [{"type": "int"}]}
    assert TypeSchema.from_json_str('{"type":"List","args":[{"type":"int"}]}') == schema
    assert TypeSchema.from_annotation(int).origin == "int"
    assert schema.args == (TypeSchema.from_annotation(int),)


@pytest.mark.parametrize("annotation", [set, complex, object, 3])
def test_schema_refuses(annotation):
    with pytest.raises(TypeError):
        TypeSchema.from_annotation(annotation)


# ---- value protocols ---------------------------------------------------------


class Valued:
    def __init__(self, value):
        self.value = value

    def __isoform_value__(self):
        return self.value


class Wrapped:
    def __init__(self, value):
        self.value = value

    def __isoform_object__(self):
        return self.value


class IntLike:
    def __isoform_int__(self):
        return 42


class FloatLike:
    def __isoform_float__(self):
        return 4.5


class Convertible(isoform.ObjectConvertible):
    def asobject(self):
        return nodes.Box(9)


def test_value_protocols(holder):
    box = nodes.Box(1)
    any_, int_, float_, box_ = map(holder, (Any, int, float, nodes.Box))
    assert any_(Valued(3)).x == 3
    assert any_(Valued([1, Valued(2)])).x == [1, 2]
    assert any_(Wrapped(box)).x is box
    assert box_(Wrapped(box)).x is box
    assert int_(IntLike()).x == 42
    assert float_(FloatLike()).x == 4.5
    assert any_(IntLike()).x == 42
    assert any_(FloatLike()).x == 4.5
    assert any_(Convertible()).x.v == 9
    assert Array([IntLike(), FloatLike()]) == [42, 4.5]


def test_value_protocol_chains_are_bounded(holder):
    cls = holder(Any)
    value = 1
    for _ in range(20):
        value = Valued(value)
    assert cls(value).x == 1

    class Endless:
        def __isoform_value__(self):
            return self

    with pytest.raises((RecursionError, ValueError, TypeError)):
        cls(Endless())


def test_errors_of_protocols_propagate(holder):
    class Broken:
        def __isoform_value__(self):
            raise LookupError("no value")

    with pytest.raises(LookupError, match="no value"):
        holder(Any)(Broken())


class Colour(enum.Enum):
    red = 1


MEANINGLESS = [
    (set, r"set.*write list\[\.\.\.\] or dict\[\.\.\., None\], or Any"),
    (set[int], r"set.*write list"),
    ("frozenset[int]", r"frozenset.*write list"),
    (list[set[int]], r"set.*write list"),
    (Colour, r"Colour.*isoform\.dataclasses\.Enum, or write Literal"),
    ("Colour | None", r"Colour.*isoform\.dataclasses\.Enum, or write Literal"),
    (bytearray, r"bytearray.*write bytes"),
    (complex, r"complex.*write Any"),
    (5, r"5.*write Any"),
]


@pytest.mark.parametrize(("annotation", "what"), MEANINGLESS)
def test_an_annotation_without_meaning_names_field_and_class(key, annotation, what):
    body = {"__annotations__": {"a": int, "bad": annotation}, "__module__": __name__}
    cls = type(Object)("Holder", (Object,), body)
    with pytest.raises(TypeError, match=rf"^Holder: field 'bad': cannot convert .*{what}"):
        py_class(key())(cls)
