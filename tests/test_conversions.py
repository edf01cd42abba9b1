"""Conversion of Python values, and the small classes that represent values."""

import pickle

import pytest

import isoform
from isoform import Array, Function, convert


def test_value_protocols():
    class Number:
        def __isoform_int__(self):
            return 7

    class Real:
        def __isoform_float__(self):
            return 2.5

    class Wrapped:
        def __init__(self, value):
            self.value = value

        def __isoform_value__(self):
            return self.value

    class AnObject:
        def __isoform_object__(self):
            return Array([1])

    class Endless:
        def __isoform_value__(self):
            return Endless()

    class EndlessList:
        def __isoform_value__(self):
            return [EndlessList()]

    assert Array([Number(), Real(), Wrapped([1]), AnObject()]) == [7, 2.5, [1], [1]]
    value = 1
    for _ in range(60):
        value = Wrapped(value)
    assert convert(value) == 1
    for endless in (Endless(), EndlessList()):
        with pytest.raises(RecursionError):
            convert(endless)


def test_opaque_objects_come_back():
    thing = object()
    assert convert(thing) is thing
    assert Array([thing])[0] is thing
    assert thing in Array([thing])
    error = ValueError("x")
    assert convert(error) is error


def test_function_class():
    twice = Function(lambda x: 2 * x)
    assert twice(4) == 8
    assert Function(twice) is twice
    assert twice.named("twice").name == "twice"
    assert twice.name is None
    for bad in ((), (1,), (len, len)):
        with pytest.raises(TypeError):
            Function(*bad)


def test_module():
    module = isoform.Module("m", {"main": lambda x: x + 1})
    assert module(1) == module.main(1) == module["main"](1) == 2
    assert module.implements_function("main")
    assert not module.implements_function("other")
    with pytest.raises(AttributeError, match="other"):
        module.other  # noqa: B018


def test_errors_as_values():
    error = isoform.Error("KeyError", "k")
    assert isinstance(error.py_error(), KeyError)
    assert isinstance(isoform.Error("NoSuchError", "k").py_error(), RuntimeError)
    made = isoform.Error.of(ValueError("bad"))
    assert (made.kind, made.message) == ("ValueError", "bad")


def test_dtype_conversions():
    np = pytest.importorskip("numpy")
    assert isoform.dtype("half") == "float16"
    assert isoform.dtype(np.float32) == "float32"
    assert isoform.dtype("float32").to_numpy() == np.dtype("float32")
    assert convert(np.dtype("int16")) == "int16"
    assert isoform.dtype("int8").is_integer
    assert isoform.dtype("bfloat16").is_float
    assert Array([isoform.dtype("int8")])[0] is Array([isoform.dtype("int8")])[0]
    assert pickle.loads(pickle.dumps(isoform.Shape((1, 2)))) == (1, 2)
    with pytest.raises(ValueError):
        isoform.dtype("float32").with_lanes(0)
    with pytest.raises(ValueError):
        isoform.dtype("float32").with_lanes(2**20)


def test_devices():
    assert isoform.Device(2, 1) == isoform.Device("cuda", 1)
    for bad in ((2, -1), (2**40,), ("cuda:1", 2)):
        with pytest.raises(ValueError):
            isoform.Device(*bad)
    with pytest.raises(TypeError):
        isoform.device("cuda", "1")
    with pytest.raises(AttributeError):
        isoform.device("cpu").index = 3
