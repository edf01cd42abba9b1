"""Attributes of types: where attributes are set, found and changed."""

import functools
import threading

import pytest

import isoform
from isoform import Array, Device, Dict, Function, List, Map, Object, Shape, Tensor, type_attrs
from isoform.dataclasses import py_class


@pytest.fixture
def name(key):
    """Makes names of attributes unused by other tests."""
    return lambda text="attr": key(text)


@pytest.fixture
def line(key):
    """Three classes, each the parent of the next."""

    @py_class(key("A"))
    class A(Object):
        x: int = 0

    @py_class(key("B"))
    class B(A):
        pass

    @py_class(key("C"))
    class C(B):
        pass

    return A, B, C


# ---- set and get -------------------------------------------------------------


def test_values_come_back(line, name):
    a, _, _ = line
    for value in (True, 5, 10**30, 1.5, "text", b"bytes", None, isoform.dtype("int8"), Shape([1])):
        attr = name()
        type_attrs.set(a, attr, value)
        assert type_attrs.get(a, attr, "default") == value
        assert type_attrs.has(a, attr)


def test_objects_and_functions_come_back_as_they_were(line, name):
    class Unknown:
        pass

    def function(x):
        return x

    a, _, _ = line
    given = [
        Unknown(),
        function,
        functools.partial(function, 1),
        Unknown,
        a(1),
        List([1]),
        Dict(),
        isoform.Function(isoform.structural_equal).named("not ours"),
    ]
    for value in given:
        attr = name()
        type_attrs.set(a, attr, value)
        assert type_attrs.get(a, attr) is value
        assert type_attrs.column(attr)[a] is value
        assert type_attrs.attrs_of(a)[attr] is value
        assert type_attrs.column(attr).items() == [(a, value)]


def test_containers_become_those_of_the_core(line, name):
    a, _, _ = line
    attr, other = name(), name()
    type_attrs.set(a, attr, [1, 2])
    type_attrs.set(a, other, {"k": (1,)})
    assert type(type_attrs.get(a, attr)) is Array
    assert type(type_attrs.get(a, other)) is Map
    assert list(type_attrs.get(a, attr)) == [1, 2]


def test_a_value_keeps_its_state(line, name):
    a, _, _ = line
    attr = name()
    type_attrs.set(a, attr, List())
    type_attrs.get(a, attr).append(3)
    assert list(type_attrs.get(a(), attr)) == [3]


def test_a_type_may_be_given_in_every_way(line, name):
    a, b, _ = line
    info = a.__isoform_type_info__
    for place in (a, info, info.type_key):
        attr = name()
        type_attrs.set(place, attr, 1)
        column = type_attrs.column(attr)
        for asked in (a, info, info.type_key, a()):
            assert type_attrs.get(asked, attr) == 1
            assert type_attrs.has(asked, attr)
            assert type_attrs.owner(asked, attr) is a
            assert type_attrs.attrs_of(asked)[attr] == 1
            assert attr in type_attrs.list(asked)
            assert column.get(asked) == column[asked] == 1
            assert asked in column
        assert b not in column


def test_dotted_names_are_public(line, name):
    a, _, _ = line
    attr = name("very.long.dotted")
    type_attrs.set(a, attr, 1)
    assert type_attrs.get(a, attr) == 1
    assert getattr(a, attr) == 1


BUILT_IN = [
    int,
    float,
    str,
    bytes,
    bool,
    type(None),
    Array,
    List,
    Map,
    Dict,
    Shape,
    Tensor,
    Function,
    isoform.dtype,
    Device,
    Object,
    isoform.OpaquePyObject,
]


@pytest.mark.parametrize("cls", BUILT_IN, ids=lambda cls: cls.__name__)
def test_built_in_types(cls, name):
    attr = name()
    type_attrs.set(cls, attr, 7)
    assert type_attrs.get(cls, attr) == 7
    assert type_attrs.owner(cls, attr) is cls
    assert type_attrs.types_with(attr) == [cls]
    assert type_attrs.column(attr).items() == [(cls, 7)]
    key = isoform._core.type_info(cls).type_key
    assert type_attrs.get(key, attr) == 7
    assert isoform._core.type_info(key).type_cls is cls
    for other in BUILT_IN:
        assert type_attrs.has(other, attr) == (other is cls)


def test_containers_are_nodes(name):
    attr = name()
    type_attrs.set(Array, attr, "array")
    assert type_attrs.get(Array([1]), attr) == "array"
    assert type_attrs.get(Map(), attr) is None
    assert type_attrs.get(isoform.convert(len), attr) is None


def test_large_ints_are_ints(name):
    attr = name()
    type_attrs.set("isoform.BigInt", attr, 1)
    assert type_attrs.get(int, attr) == 1
    assert type_attrs.types_with(attr) == [int]


# ---- once, unless on purpose --------------------------------------------------


def test_set_once(line, name):
    a, b, _ = line
    attr = name()
    type_attrs.set(a, attr, 1)
    with pytest.raises(ValueError, match="is set already, to 1") as caught:
        type_attrs.set(a, attr, 2)
    assert attr in str(caught.value)
    assert a.__isoform_type_info__.type_key in str(caught.value)
    with pytest.raises(ValueError, match="is set already"):
        type_attrs.column(attr).set(a, 2)
    assert type_attrs.get(a, attr) == 1
    # Another type is another matter.
    type_attrs.set(b, attr, 2)
    type_attrs.set(a, attr, 3, override=True)
    assert type_attrs.get(a, attr) == 3
    type_attrs.column(attr).set(a, 4, override=True)
    assert type_attrs.get(a, attr) == 4


def test_none_is_a_value(line, name):
    a, b, _ = line
    attr = name()
    type_attrs.set(b, attr, None)
    type_attrs.set(a, attr, 1)
    assert type_attrs.has(b, attr)
    assert type_attrs.get(b, attr, "default") is None
    assert type_attrs.get(b, attr, "default", inherit=True) is None
    with pytest.raises(ValueError, match="is set already, to None"):
        type_attrs.set(b, attr, 1)


def test_wrong_arguments(line, name):
    a, _, _ = line
    attr = name()

    class Undecorated(a):
        pass

    for nothing in (3, None, 1.5, [], {}, list, object, threading, Shape([1])):
        with pytest.raises(TypeError, match="expected a type"):
            type_attrs.get(nothing, attr)
        with pytest.raises(TypeError, match="expected a type"):
            type_attrs.set(nothing, attr, 1)
    with pytest.raises(TypeError, match=r"expected a type \(a class, a type key or a TypeInfo\)"):
        type_attrs.set(a(), attr, 1)
    with pytest.raises(KeyError, match=r"no type is registered as 'no\.such'"):
        type_attrs.get("no.such", attr)
    with pytest.raises(ValueError, match="name"):
        type_attrs.set(a, "", 1)
    with pytest.raises(TypeError):
        type_attrs.set(a, 5, 1)
    with pytest.raises(TypeError, match="Undecorated is not registered"):
        type_attrs.set(Undecorated, attr, 1)
    assert not type_attrs.types_with(attr)
    # Objects of `Undecorated` have the type of the registered base class.
    type_attrs.set(a, attr, 1)
    assert type_attrs.get(Undecorated, attr) == type_attrs.get(Undecorated(), attr) == 1


def test_a_value_that_contains_itself_is_refused(line, name):
    a, _, _ = line
    attr = name()
    value = []
    value.append(value)
    with pytest.raises(ValueError, match="cyclic"):
        type_attrs.set(a, attr, value)
    assert not type_attrs.has(a, attr)


def test_classes_that_wait_are_registered_first(key, name):
    attr = name()

    @py_class(key("Waits"))
    class Waits(Object):
        other: "Later"

    with pytest.raises(TypeError, match="unresolved forward references"):
        type_attrs.set(Waits, attr, 1)

    @py_class(key("Later"))
    class Later(Object):
        pass

    type_attrs.set(Waits, attr, 1)
    assert type_attrs.get(Waits(Later()), attr) == 1


def test_nodes_that_are_being_made(key, name):
    attr = name()

    @py_class(key())
    class Node(Object):
        x: int

        def __init__(self):
            self.seen = type_attrs.get(self, attr)
            self.x = 1

        __slots__ = ("seen",)

    type_attrs.set(Node, attr, "early")
    assert Node().seen == "early"


# ---- inheritance ---------------------------------------------------------------


def test_inheritance_is_chosen_at_the_lookup(line, name):
    a, b, c = line
    attr = name()
    type_attrs.set(a, attr, "a")
    column = type_attrs.column(attr)
    for ask in (type_attrs.get, lambda of, _, *rest, **named: column.get(of, *rest, **named)):
        assert ask(c, attr) is None
        assert ask(c(), attr, 5) == 5
        assert ask(c, attr, inherit=True) == "a"
        assert ask(c(), attr, 5, inherit=True) == "a"
    assert not type_attrs.has(c, attr)
    assert type_attrs.has(c, attr, inherit=True)
    assert c not in column
    with pytest.raises(KeyError, match=f"has no attribute '{attr}'"):
        column[c]
    assert type_attrs.owner(c, attr) is a
    type_attrs.set(b, attr, "b")
    assert type_attrs.get(c, attr, inherit=True) == "b"
    assert type_attrs.owner(c, attr) is b
    assert type_attrs.attrs_of(c).get(attr) is None
    assert type_attrs.attrs_of(c, inherit=True)[attr] == "b"
    type_attrs.set(Object, attr, "root")
    assert type_attrs.get(Array, attr, inherit=True) == "root"
    assert type_attrs.owner(Array([1]), name()) is None


def test_a_class_shows_what_a_lookup_with_ancestors_finds(line, name):
    # A class attribute is inherited by Python; the attributes of its type must not
    # say something else under the same name.
    a, b, c = line
    attr = name()
    type_attrs.set(a, attr, 1)
    type_attrs.set(b, attr, 2)
    for cls in line:
        assert getattr(cls, attr) == type_attrs.get(cls, attr, inherit=True)

    class Undecorated(c):
        pass

    assert getattr(Undecorated, attr) == 2


def test_getattr_asks_types_last(line, name):
    a, _, c = line
    type_attrs.set(a, "x", "attribute")
    assert a.x is a.__dict__["x"]
    assert c().x == 0
    attr = name()
    with pytest.raises(AttributeError, match=attr):
        getattr(a, attr)
    assert not hasattr(a, attr)
    type_attrs.set(a, attr, 1)
    setattr(a, attr, "plain")
    assert getattr(a, attr) == "plain"
    assert type_attrs.get(a, attr) == 1
    delattr(a, attr)
    assert getattr(c, attr) == 1


def test_nodes_do_not_show_attributes_of_their_type(line, name):
    a, _, _ = line
    attr = name()
    type_attrs.set(a, attr, 1)
    assert not hasattr(a(), attr)


def test_getattr_with_odd_names(line):
    a, _, _ = line
    for odd in ("\ud800", ""):
        assert getattr(a, odd, "default") == "default"
    assert getattr(Object, "no such", None) is None


# ---- lists -----------------------------------------------------------------------


def test_lists_both_ways(line, name):
    a, b, c = line
    one, two = sorted([name(), name()])
    for cls in (c, a):
        type_attrs.set(cls, one, 1)
    type_attrs.set(a, two, 2)
    assert type_attrs.types_with(one) == [a, c]
    assert type_attrs.types_with(name()) == []
    assert type_attrs.attrs_of(a) == {one: 1, two: 2}
    assert list(type_attrs.attrs_of(a)) == [one, two]
    assert type_attrs.attrs_of(b) == {}
    assert {one: 1, two: 2}.items() <= type_attrs.attrs_of(b, inherit=True).items()
    assert type_attrs.list(a) == [one, two]
    assert {one, two} <= {*type_attrs.list()}
    assert type_attrs.list() == sorted(type_attrs.list())


def test_column(line, name):
    a, b, c = line
    attr = name()
    column = type_attrs.column(attr)
    assert (column.name, len(column), list(column), bool(column)) == (attr, 0, [], True)
    assert repr(column) == f"Column('{attr}')"
    column.set(c, 3)
    type_attrs.set(a, attr, 1)
    assert len(column) == 2
    assert list(column) == column.keys() == [a, c]
    assert column.values() == [1, 3]
    assert column.items() == [(a, 1), (c, 3)]
    assert dict(column.items())[c] == 3
    assert column.get(b, "none") == "none"
    with pytest.raises(TypeError, match="expected a type"):
        column.get(3)
    with pytest.raises(ValueError, match="name"):
        type_attrs.column("")


# ---- declarations ----------------------------------------------------------------


def test_declare(line, name):
    a, b, _ = line
    attr = name()
    type_attrs.declare(attr, "What it costs.", list[int], dense=True)
    known = type_attrs.info(attr)
    assert (known.name, known.doc, known.type) == (attr, "What it costs.", "List[int]")
    assert (known.dense, known.builtin, known.count) == (True, False, 0)
    type_attrs.set(a, attr, [1, 2])
    assert type(type_attrs.get(a, attr)) is List
    with pytest.raises(TypeError, match="expected int, got str") as caught:
        type_attrs.set(b, attr, [1, "x"])
    assert attr in str(caught.value)
    assert b.__isoform_type_info__.type_key in str(caught.value)
    assert not type_attrs.has(b, attr)
    with pytest.raises(TypeError, match="expected"):
        type_attrs.column(attr).set(b, 5)
    with pytest.raises(TypeError, match="expected"):
        type_attrs.set(a, attr, 5, override=True)
    assert list(type_attrs.get(a, attr)) == [1, 2]
    assert type_attrs.info(attr).count == 1
    assert type_attrs.info(attr).bytes > 0
    # Repeating a declaration is allowed.
    type_attrs.declare(attr, "What it costs.", list[int])
    for doc, kind in (("Other words.", list[int]), ("What it costs.", int)):
        with pytest.raises(ValueError, match="is declared already"):
            type_attrs.declare(attr, doc, kind)


def test_declare_checks_what_is_set(line, name):
    a, _, _ = line
    attr = name()
    type_attrs.set(a, attr, "text")
    with pytest.raises(TypeError, match="expected int"):
        type_attrs.declare(attr, type=int)
    with pytest.raises(TypeError, match="expected int"):
        type_attrs.column(attr, int)
    assert type_attrs.info(attr).type is None
    type_attrs.declare(attr, type=str | None)
    assert type_attrs.info(attr).type == "str | None"
    with pytest.raises(TypeError, match="cannot convert"):
        type_attrs.declare(name(), type=set)


def test_column_declares(line, name):
    a, b, _ = line
    attr = name()
    column = type_attrs.column(attr, float)
    assert type_attrs.info(attr).type == "float"
    column.set(a, 1)
    assert type(column[a]) is float
    with pytest.raises(TypeError, match="expected float"):
        type_attrs.set(b, attr, "1")
    assert type_attrs.column(attr, float).get(a) == 1.0
    with pytest.raises(ValueError, match="is declared already"):
        type_attrs.column(attr, int)
    documented = name()
    type_attrs.declare(documented, "A cost.")
    type_attrs.column(documented, int)
    assert type_attrs.info(documented).doc == "A cost."
    assert type_attrs.info(documented).type == "int"


def test_info(line, name):
    a, _, _ = line
    attr = name()
    assert type_attrs.info(attr) is None
    type_attrs.set(a, attr, 1)
    known = type_attrs.info(attr)
    assert (known.doc, known.type, known.dense, known.count) == ("", None, False, 1)
    hook = type_attrs.info("__s_equal__")
    assert hook.builtin
    assert hook.dense
    assert hook.doc


# ---- threads -----------------------------------------------------------------------


def test_threads(key, name):
    errors = []
    attr, raced = name(), name()
    column = type_attrs.column(attr)
    first = py_class(key("first"))(type("first", (Object,), {}))
    column.set(first, "first")
    stop = threading.Event()
    won = []

    def guarded(body):
        def run():
            try:
                body()
            except Exception as error:
                errors.append(error)

        return threading.Thread(target=run)

    def write():
        for number in range(100):
            cls = py_class(key(f"W{number}"))(type(f"W{number}", (Object,), {}))
            column.set(cls, number)
            assert column.get(cls()) == number
            type_attrs.set(cls, f"{attr}.{number}", cls)

    def read():
        node = first()
        while not stop.is_set():
            assert column.get(node) == "first"
            for cls, value in column.items():
                assert value == type_attrs.get(cls, attr)
            isoform.structural_equal(node, first())

    def race():
        # Idents of threads are used again.
        value = object()
        try:
            type_attrs.set(first, raced, value)
        except ValueError:
            return
        won.append(value)

    writers = [guarded(write), guarded(write)]
    readers = [guarded(read)]
    racers = [guarded(race) for _ in range(4)]
    for thread in (*writers, *readers, *racers):
        thread.start()
    for thread in (*writers, *racers):
        thread.join()
    stop.set()
    readers[0].join()
    assert not errors
    assert len(column) == 201
    assert won == [type_attrs.get(first, raced)]


def test_an_equal_value_is_no_second_one(line, name):
    first = line[0]

    for value, equal, other in [
        (True, True, 1),
        (["a", 1], ["a", 1], ["a", 2]),
        ({"var": "x"}, {"var": "x"}, {"var": "y"}),
        (lambda node: node, None, lambda node: 1),
    ]:
        attr = name()
        type_attrs.set(first, attr, value)
        type_attrs.set(first, attr, value if equal is None else equal)
        with pytest.raises(ValueError, match="set already"):
            type_attrs.set(first, attr, other)

    def rule(module, function):
        function.__module__, function.__qualname__ = module, "rule"
        return function

    attr = name()
    type_attrs.set(first, attr, rule("rules", lambda node: 1))
    # A module that is loaded again.
    later = rule("rules", lambda node: 2)
    type_attrs.set(first, attr, later)
    assert type_attrs.get(first, attr) is later
    with pytest.raises(ValueError, match="set already"):
        type_attrs.set(first, attr, rule("others", lambda node: 2))
