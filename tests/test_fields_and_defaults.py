"""Defaults, factories, field order, keyword-only fields, converters."""

import inspect
from typing import Any

import pytest

import isoform
from isoform import List, Object
from isoform.dataclasses import KW_ONLY, MISSING, field, fields, py_class, replace


def test_defaults(key):
    @py_class(key())
    class Node(Object):
        a: int = 1
        b: str = field(default="x")
        c: list[int] = field(default_factory=list)
        d: dict[str, int] = field(default_factory=lambda: {"k": 1})
        e: Any = None

    node = Node()
    assert (node.a, node.b, list(node.c), dict(node.d), node.e) == (1, "x", [], {"k": 1}, None)


def test_factories_run_per_instance(key):
    made = []

    def factory():
        made.append(1)
        return [len(made)]

    @py_class(key())
    class Node(Object):
        c: list[int] = field(default_factory=factory)

    one, two = Node(), Node()
    one.c.append(9)
    assert (list(one.c), list(two.c)) == ([1, 9], [2])
    Node([5])
    assert len(made) == 2


def test_a_list_as_default_is_copied_per_instance(key):
    @py_class(key())
    class Node(Object):
        c: list = [1]  # noqa: RUF012

    one, two = Node(), Node()
    one.c.append(2)
    assert type(one.c) is List
    assert (list(one.c), list(two.c)) == ([1, 2], [1])


def test_a_default_that_does_not_fit(key):
    name = key()
    with pytest.raises(TypeError, match="expected int, got str"):

        @py_class(name)
        class Node(Object):
            a: int = "s"

        Node()


def test_a_factory_that_does_not_fit(key):
    @py_class(key())
    class Node(Object):
        a: int = field(default_factory=lambda: "s")

    with pytest.raises(TypeError, match="expected int, got str"):
        Node()


def test_errors_of_a_factory_propagate(key):
    def fail():
        raise LookupError("nothing here")

    @py_class(key())
    class Node(Object):
        a: int = field(default_factory=fail)

    with pytest.raises(LookupError, match="nothing here"):
        Node()


def test_required_fields_come_first(key):
    @py_class(key())
    class Node(Object):
        a: int = 1
        b: int
        c: int = 3
        d: int

    assert list(inspect.signature(Node).parameters) == ["b", "d", "a", "c"]
    node = Node(2, 4)
    assert (node.a, node.b, node.c, node.d) == (1, 2, 3, 4)
    node = Node(2, 4, 10, 30)
    assert (node.a, node.c) == (10, 30)
    assert [f.name for f in fields(Node)] == ["a", "b", "c", "d"]
    assert Node.__match_args__ == ("b", "d", "a", "c")


def test_kw_only_marker(key):
    @py_class(key())
    class Node(Object):
        x: int
        _: KW_ONLY
        y: int = 2
        z: int

    assert (Node(1, z=3).y, Node(1, y=5, z=3).y) == (2, 5)
    with pytest.raises(TypeError):
        Node(1, 2, 3)
    with pytest.raises(TypeError, match="z"):
        Node(1)
    assert Node.__match_args__ == ("x",)
    assert [f.name for f in fields(Node)] == ["x", "y", "z"]
    kinds = {n: p.kind for n, p in inspect.signature(Node).parameters.items()}
    assert kinds["y"] is kinds["z"] is inspect.Parameter.KEYWORD_ONLY


def test_kw_only_class_and_field(key):
    @py_class(key(), kw_only=True)
    class Node(Object):
        x: int
        y: int = field(default=2, kw_only=False)

    assert Node(x=1).x == 1
    assert Node(5, x=1).y == 5
    assert Node.__match_args__ == ("y",)
    with pytest.raises(TypeError):
        Node(1, 2)

    @py_class(key())
    class Other(Object):
        x: int
        y: int = field(default=2, kw_only=True)

    assert Other(1, y=3).y == 3
    with pytest.raises(TypeError):
        Other(1, 3)


def test_missing_arguments_are_called_what_they_are(key):
    @py_class(key())
    class Node(Object):
        a: int
        b: int
        c: int = field(kw_only=True)
        d: int = field(kw_only=True)

    for args, kwargs, missing in (
        ((), {"a": 1, "c": 1, "d": 1}, "1 required argument: 'b'"),
        ((), {"c": 1, "d": 1}, "2 required arguments: 'a', 'b'"),
        ((1, 2), {"c": 1}, "1 required keyword-only argument: 'd'"),
        ((1, 2), {}, "2 required keyword-only arguments: 'c', 'd'"),
        ((1,), {"c": 1}, "1 required argument: 'b' and 1 required keyword-only argument: 'd'"),
    ):
        for call in (Node, lambda *a, **k: Node.__new__(Node).__init__(*a, **k)):
            with pytest.raises(TypeError) as caught:
                call(*args, **kwargs)
            assert str(caught.value).endswith(f".__init__() missing {missing}")


def test_init_false_fields(key):
    @py_class(key())
    class Node(Object):
        x: int
        y: int = field(default=5, init=False)
        z: list[int] = field(default_factory=list, init=False)

    node = Node(1)
    assert (node.y, list(node.z)) == (5, [])
    for call in (lambda: Node(1, 2), lambda: Node(1, y=2)):
        with pytest.raises(TypeError):
            call()
    node.y = 7
    assert node.y == 7
    assert Node.__match_args__ == ("x",)


def test_missing_is_one_object():
    from isoform import container, core

    assert MISSING is core.MISSING is container.MISSING
    assert "MISSING" in repr(MISSING)


def test_converter_runs_before_the_schema(key):
    @py_class(key())
    class Node(Object):
        x: int = field(converter=len)

    node = Node("abc")
    assert node.x == 3
    node.x = [1, 2]
    assert node.x == 2


def test_converter_result_is_checked(key):
    @py_class(key())
    class Node(Object):
        x: int = field(converter=str)

    with pytest.raises(TypeError, match="expected int, got str"):
        Node(1)


def test_fields_not_annotated_are_class_attributes(key):
    @py_class(key())
    class Node(Object):
        x: int
        y = 5

    assert [f.name for f in fields(Node)] == ["x"]
    assert Node(1).y == 5


def test_no_fields(key):
    @py_class(key())
    class Unit(Object):
        pass

    assert fields(Unit) == ()
    assert Unit.__match_args__ == ()
    with pytest.raises(TypeError):
        Unit(1)
    assert isinstance(Unit(), Object)


def test_many_fields(key):
    names = [f"f{n}" for n in range(300)]
    body = {"__annotations__": dict.fromkeys(names, int), "__module__": __name__}
    wide = py_class(key())(type(Object)("Wide", (Object,), body))
    node = wide(*range(300))
    assert [getattr(node, name) for name in names] == list(range(300))
    node = wide(**{name: -n for n, name in enumerate(names)})
    assert node.f299 == -299


def test_field_names_that_are_python_words(key):
    @py_class(key())
    class Node(Object):
        type: int
        id: int
        hash: int
        self_: int = 0

    node = Node(1, 2, hash=3)
    assert (node.type, node.id, node.hash) == (1, 2, 3)


def test_metadata_is_copied(key):
    shared = {"unit": "m"}

    @py_class(key())
    class Node(Object):
        x: int = field(metadata=shared)

    shared["unit"] = "s"
    assert fields(Node)[0].metadata["unit"] == "m"


def test_int_limits(key):
    name = key()

    @py_class(name)
    class Node(Object):
        x: int

    for value in (2**63 - 1, -(2**63), 0):
        assert Node(value).x == value
    for value in (2**63, -(2**63) - 1, 10**50):
        with pytest.raises(TypeError, match="int64") as caught:
            Node(value)
        assert name in str(caught.value)


def test_floats_are_exact(key):
    @py_class(key())
    class Node(Object):
        x: float

    for value in (0.1, 5e-324, 1.7976931348623157e308, float("inf"), -0.0):
        assert repr(Node(value).x) == repr(value)
    assert Node(float("nan")).x != Node(float("nan")).x
    assert type(Node(3).x) is float


def test_text(key):
    @py_class(key())
    class Node(Object):
        s: str
        b: bytes

    for text in (
        "",
        "a",
        "exactly 14 byt",
        "fifteen bytes..",
        "ünïcödé ☃ 🎉",
        "a\0b",
        "x" * 10_000,
    ):
        node = Node(text, text.encode())
        assert node.s == text
        assert node.b == text.encode()
    assert Node("a", bytearray(b"z")).b == b"z"
    with pytest.raises(UnicodeEncodeError):
        Node("\ud800", b"")


def test_a_field_that_is_written_nearly_right_is_suggested(key):
    @py_class(key())
    class Node(Object):
        params: int = 0
        body: int = 0

    text = isoform.serialization.to_json_graph_str(Node(1, 2)).replace("params", "parmas")
    for call in (
        lambda: Node(parmas=1),
        lambda: replace(Node(), parmas=1),
        lambda: isoform._core.with_fields(Node(), {"parmas": 1}),
        lambda: isoform.serialization.from_json_graph_str(text),
        lambda: isoform.text.from_text(isoform.text.to_text(Node(1)).replace("params", "parmas")),
    ):
        with pytest.raises((TypeError, ValueError, AttributeError), match="did you mean 'params'"):
            call()
    with pytest.raises(TypeError, match=r"'other'$"):
        Node(other=1)
