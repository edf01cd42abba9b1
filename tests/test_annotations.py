"""The values accepted by field annotations, and their conversion."""

import collections.abc
import ctypes
import typing
from typing import Annotated, Any, Callable, Literal, Optional, Sequence, Union  # noqa: UP035

import numpy as np
import pytest

import isoform
import nodes
from isoform import Array, Device, Dict, Function, List, Map, Object, Shape, Tensor, dtype
from isoform.core import TypeSchema
from isoform.dataclasses import fields, py_class


@pytest.fixture
def holder(key):
    """Makes a class with a single field `x` of the given annotation."""

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
    (int, 2**70, "expected int, got int out of the int64 range"),
    (int | None, 2**64, r"expected int \| None, got int out of the int64 range"),
    (int | str | None, -(2**64), r"expected int \| str \| None, got int out of the int64 range"),
    (list[int | None], [2**64], r"element \[0\]: expected int \| None, got int out of the int64"),
    (str | None, 2**64, r"expected str \| None, got int$"),
    (ctypes.c_void_p, "x", r"expected ctypes\.c_void_p, got str"),
    (ctypes.c_void_p, 5, r"expected ctypes\.c_void_p, got int"),
    (ctypes.c_void_p, ctypes.c_int(5), r"expected ctypes\.c_void_p, got c_int"),
    (list[ctypes.c_void_p], [None, 5], r"element \[1\]: expected ctypes\.c_void_p, got int"),
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


UNSUPPORTED = [set, set[int], frozenset, range, 3, "not an annotation!"]


@pytest.mark.parametrize("annotation", UNSUPPORTED)
def test_unsupported(holder, annotation):
    with pytest.raises(TypeError, match=r"Holder: field 'x': cannot convert .* to TypeSchema"):
        holder(annotation)


def test_an_annotation_whose_evaluation_fails_names_class_and_field(holder):
    for annotation, why in (
        ("len(1)", "TypeError: object of type 'int' has no len()"),
        ("[][3]", "IndexError: list index out of range"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("list[len(1)]", "TypeError: object of type 'int' has no len()"),
    ):
        message = f"Holder: field 'x': the annotation '{annotation}' cannot be evaluated: {why}"
        with pytest.raises(TypeError) as caught:
            holder(annotation)
        assert str(caught.value) == message
        assert type(caught.value.__cause__).__name__ == why.partition(":")[0]


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


def test_pointers(holder):
    pointer = ctypes.c_void_p(16)

    class Handle(ctypes.c_void_p):
        pass

    for annotation in (ctypes.c_void_p, ctypes.c_void_p | None, ctypes.c_void_p | int):
        assert holder(annotation)(pointer).x is pointer
        assert holder(annotation)(None).x is None
        assert holder(annotation)(Handle(3)).x.value == 3
    assert holder(list[ctypes.c_void_p])([pointer, None]).x[0] is pointer
    schema = TypeSchema.from_annotation(ctypes.c_void_p)
    assert schema.convert(pointer) is pointer
    assert repr(schema) == "ctypes.c_void_p"
    with pytest.raises(TypeError, match=r"type check failed for ctypes\.c_void_p: .* got str"):
        schema.check_value("x")


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
    late: "AnnotatedLate"


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
    global AnnotatedLate
    with pytest.raises(TypeError, match="AnnotatedLate"):
        Early(1)

    @py_class("annotations.Late")
    class AnnotatedLate(Object):
        v: int

    assert Early(AnnotatedLate(1)).late.v == 1
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


def test_object_means_any_value_as_in_a_field(holder):
    assert TypeSchema.from_annotation(object) == TypeSchema("Any")
    assert TypeSchema.from_annotation(list[object]).convert([1, "a"]) == [1, "a"]
    assert fields(holder(object))[0].schema == TypeSchema("Any")


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


@pytest.mark.parametrize("annotation", [set, 3])
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


@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        *((plain, value) for plain in (int, float, bool) for value in (3, True)),
        (float, 2.5),
        (float, np.float64(2.5)),
        (str, "x"),
        (bytes, b"x"),
        (None, None),
        (int | None, 3),
        (int | None, None),
        (int | str, "x"),
        (int | str | None, None),
        (bool | list[int], [True]),
        (Literal[1, "a"], "a"),
        (dtype, "int8"),
        (Device, "cuda:1"),
        (Device, isoform.device("cuda:1")),
        (Shape, (1, 2)),
        (list[int], [1, 2]),
        (tuple[float, str], (1, "a")),
        (dict[str, int], {"a": 1}),
        (ctypes.c_void_p, None),
    ],
    ids=repr,
)
def test_an_object_converts_wherever_its_value_does(holder, annotation, given):
    cls = holder(annotation)
    expected = cls(given).x
    for value in (Valued(given), Wrapped(Valued(given)), Valued(Valued(Wrapped(given)))):
        made = cls(value)
        assert type(made.x) is type(expected)
        assert made.x == expected
        made.x = value
        assert made.x == expected
        assert holder(list[annotation])([value]).x[0] == expected
        assert holder(dict[str, annotation])({Valued("k"): value}).x["k"] == expected
        schema = TypeSchema.from_annotation(annotation)
        schema.check_value(value)
        assert schema.convert(value) == expected


def test_parts_of_the_value_of_an_object_are_converted_too(holder):
    assert holder(list[int])(Valued([Valued(1), True])).x == [1, 1]
    assert holder(dict[str, list[float]])(Valued({"a": Valued([Valued(1)])})).x == {"a": [1.0]}


@pytest.mark.parametrize(
    ("annotation", "given", "match"),
    [
        (int, Valued("a"), r"expected int, got str from Valued\.__isoform_value__\(\)$"),
        (int | None, Wrapped(Valued("a")), r"expected int \| None, got str from Wrapped\."),
        (list[int], Valued([1, "a"]), r"element \[1\]: expected int, got str from Valued\."),
        (list[int], [1, Valued("a")], r"element \[1\]: expected int, got str from Valued\."),
        (
            int,
            Valued(2**64),
            r"expected int, got int out of the int64 range \(isoform.BigInt takes any int\) from Valued",
        ),
    ],
    ids=["int", "union", "list", "element", "range"],
)
def test_a_value_of_an_object_that_does_not_fit(holder, annotation, given, match):
    with pytest.raises(TypeError, match=rf"Holder.*field 'x': {match}"):
        holder(annotation)(given)


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


def raises(name, error):
    """An object with a raising value protocol of this name."""

    def protocol(self):
        raise error

    return type("Broken", (), {name: protocol})()


NAMES = ("__isoform_value__", "__isoform_object__", "asobject", "__isoform_int__", "__index__")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("annotation", "wrap", "place"),
    [
        (int, lambda bad: bad, ""),
        (Any, lambda bad: bad, ""),
        (float, lambda bad: bad, ""),
        (int | None, lambda bad: bad, ""),
        (int | str, lambda bad: bad, ""),
        (list[int], lambda bad: [1, bad], r"element \[1\]: "),
        (list[Any], lambda bad: [1, bad], r"element \[1\]: "),
        (list[Any], lambda bad: [[1, bad]], r"element \[0\]: element \[1\]: "),
        (Any, lambda bad: [1, {"k": [bad]}], r"element \[1\]: value for key 'k': element \[0\]: "),
        (dict[str, list[int]], lambda bad: {"k": [bad]}, r"value for key 'k': element \[0\]: "),
        (dict[int, int], lambda bad: {bad: 1}, "key <.*Broken.*>: "),
        (Any, lambda bad: {bad: 1}, "key <.*Broken.*>: "),
        (int, lambda bad: Valued(bad), ""),
    ],
)
def test_what_a_protocol_raises_is_the_cause_of_an_error_that_names_the_place(
    holder, annotation, wrap, place, name
):
    error = LookupError("no value")
    bad = wrap(raises(name, error))
    cls = holder(annotation)
    what = rf"{place}Broken\.{name}\(\) raised LookupError: no value"
    with pytest.raises(TypeError, match=rf"Holder.__init__\(\) field 'x': {what}") as caught:
        cls(bad)
    assert caught.value.__cause__ is error
    node = cls.__new__(cls)
    with pytest.raises(TypeError, match=rf"Holder field 'x': {what}") as caught:
        node.x = bad
    assert caught.value.__cause__ is error
    for use in ("check_value", "convert"):
        with pytest.raises(TypeError, match=what) as caught:
            getattr(TypeSchema.from_annotation(annotation), use)(bad)
        assert caught.value.__cause__ is error


def test_without_a_schema_the_exception_of_a_protocol_comes_back_itself():
    error = LookupError("no value")
    for call in (Array, isoform.convert, isoform.structural_hash):
        with pytest.raises(LookupError) as caught:
            call([1, raises("__isoform_value__", error)])
        assert caught.value is error


def test_interrupts_in_a_protocol_stay_what_they_are(holder):
    for error in (KeyboardInterrupt(), SystemExit(3), RecursionError("deep"), MemoryError()):
        for annotation in (int, Any, list[int]):
            bad = raises("__isoform_value__", error)
            with pytest.raises(type(error)) as caught:
                holder(annotation)([bad] if annotation == list[int] else bad)
            assert caught.value is error


def test_a_protocol_for_numbers_that_answers_with_something_else(holder):
    class Text:
        def __isoform_int__(self):
            return "text"

    class Real:
        def __isoform_float__(self):
            return "text"

    with pytest.raises(
        TypeError, match=r"'x': expected int from Text\.__isoform_int__\(\), got str"
    ):
        holder(int)(Text())
    with pytest.raises(TypeError, match=r"float from Real\.__isoform_float__\(\), got str"):
        holder(Any)(Real())


MEANINGLESS = [
    (set, r"set.*write list\[\.\.\.\] or dict\[\.\.\., None\], or Any"),
    (set[int], r"set.*write list"),
    ("frozenset[int]", r"frozenset.*write list"),
    (list[set[int]], r"set.*write list"),
    (bytearray, r"bytearray.*write bytes"),
    (5, r"5.*write Any"),
]


@pytest.mark.parametrize(("annotation", "what"), MEANINGLESS)
def test_an_annotation_without_meaning_names_field_and_class(key, annotation, what):
    body = {"__annotations__": {"a": int, "bad": annotation}, "__module__": __name__}
    cls = type(Object)("Holder", (Object,), body)
    with pytest.raises(TypeError, match=rf"^Holder: field 'bad': cannot convert .*{what}"):
        py_class(key())(cls)
