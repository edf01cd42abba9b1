"""dtype, Device, Shape, Tensor, text, bytes and integers of any size."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import isoform
import nodes
from isoform import (
    Array,
    Device,
    List,
    Object,
    Shape,
    Tensor,
    convert,
    device,
    dtype,
    from_dlpack,
    structural_equal,
)
from isoform.dataclasses import py_class

# ---- dtype -------------------------------------------------------------------


def test_dtype():
    f32 = dtype("float32")
    assert isinstance(f32, str)
    assert f32 == "float32"
    assert hash(f32) == hash("float32")
    assert str(f32) == "float32"
    assert repr(f32) == "dtype('float32')"
    assert (f32.bits, f32.lanes, f32.itemsize, f32.type_code) == (32, 1, 4, 2)
    x4 = dtype("float32x4")
    assert (x4.lanes, x4.itemsize) == (4, 16)
    assert f32.with_lanes(4) == x4
    assert dtype(f32) == f32
    assert dtype(np.dtype("int8")) == "int8"


@pytest.mark.parametrize(
    "name",
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "bfloat16",
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3b11fnuz",
        "float8_e8m0fnu",
        "float6_e2m3fn",
        "float4_e2m1fn",
        "handle",
        "float32x4",
        "int4",
        "uint1",
    ],
)
def test_dtype_names(name):
    made = dtype(name)
    assert made == name
    assert pickle.loads(pickle.dumps(made)) == made
    assert type(copy.deepcopy(made)) is dtype
    assert Array([made])[0] == name
    assert type(Array([made])[0]) is dtype


@pytest.mark.parametrize("name", ["nope", "float32x", "float32x0", "int-8", "float99999999999"])
def test_bad_dtype(name):
    with pytest.raises(ValueError):
        dtype(name)


def test_dtype_constants():
    for name in ("bool", "int8", "uint64", "float32", "bfloat16", "float8_e4m3fn"):
        assert getattr(isoform, name) == dtype(name)


def test_dtype_is_no_text_to_comparison():
    assert not structural_equal(dtype("int8"), "int8")
    assert structural_equal(dtype("int8"), dtype("int8"))


# ---- Device ------------------------------------------------------------------


def test_device():
    cuda = device("cuda:1")
    assert isinstance(cuda, Device)
    assert (cuda.type, cuda.index) == ("cuda", 1)
    assert str(cuda) == "cuda:1"
    assert repr(cuda) == "device(type='cuda', index=1)"
    assert device("cuda", 1) == cuda
    assert device("cpu") == device("cpu:0")
    assert device("cpu") != cuda
    assert hash(device("cpu")) == hash(device("cpu", 0))
    assert cuda.dlpack_device_type() == isoform.DLDeviceType.kDLCUDA == 2
    assert pickle.loads(pickle.dumps(cuda)) == cuda
    assert copy.deepcopy(cuda) == cuda
    assert Array([cuda])[0] == cuda
    assert type(Array([cuda])[0]) is Device
    for name in ("nope", "cpu:x", ""):
        with pytest.raises(ValueError):
            device(name)


# ---- Shape -------------------------------------------------------------------


def test_shape():
    shape = Shape((1, 2))
    assert isinstance(shape, tuple)
    assert shape == (1, 2)
    assert hash(shape) == hash((1, 2))
    assert Shape([1, 2]) == shape
    assert type(Array([shape])[0]) is Shape
    assert Array([Shape(())])[0] == ()
    assert Shape((2**63 - 1, -1))[0] == 2**63 - 1
    with pytest.raises((TypeError, ValueError)):
        Shape((1, "a"))
    with pytest.raises((TypeError, ValueError, OverflowError)):
        Array([Shape((2**63,))])
    assert not structural_equal(shape, [1, 2])
    assert structural_equal(shape, Shape((1, 2)))
    made = pickle.loads(pickle.dumps(shape))
    assert (made, type(made)) == (shape, Shape)


# ---- Tensor ------------------------------------------------------------------


@pytest.fixture
def source():
    return np.arange(6, dtype="int32").reshape(2, 3)


def test_tensor_describes_itself(source):
    tensor = from_dlpack(source)
    assert isinstance(tensor, Tensor)
    assert tensor.shape == (2, 3)
    assert type(tensor.shape) is tuple or isinstance(tensor.shape, tuple)
    assert tensor.ndim == 2
    assert tensor.dtype == "int32"
    assert tensor.device == device("cpu")
    assert tensor.strides == (3, 1)
    assert (tensor.size(0), tensor.size(1), tensor.numel()) == (2, 3, 6)
    assert tensor.is_contiguous()
    assert tensor.data_ptr() == source.ctypes.data
    assert tensor.__dlpack_device__() == (1, 0)
    with pytest.raises(IndexError):
        tensor.size(5)


def test_zero_copy_both_ways(source):
    tensor = from_dlpack(source)
    back = np.from_dlpack(tensor)
    assert np.shares_memory(back, source)
    source[0, 0] = 77
    assert back[0, 0] == 77
    assert np.shares_memory(np.asarray(tensor), source)


def test_buffer_protocol(source):
    view = memoryview(from_dlpack(source))
    assert view.shape == (2, 3)
    assert view.format in ("i", "<i", "=i")
    assert view.tolist() == source.tolist()
    assert view.strides == (12, 4)


@pytest.mark.parametrize(
    "name", ["bool", "int8", "uint8", "int16", "uint32", "int64", "float16", "float32", "float64"]
)
def test_element_types(name):
    data = np.array([[0, 1], [2, 3]]).astype(name)
    tensor = from_dlpack(data)
    assert tensor.dtype == name
    assert np.asarray(tensor).tolist() == data.tolist()
    assert np.from_dlpack(tensor).dtype == data.dtype


def test_tensor_keeps_its_source_alive():
    data = np.arange(1000)
    expected = data.sum()
    owner = weakref.ref(data)
    tensor = from_dlpack(data)
    box = nodes.Box(tensor)
    del data, tensor
    gc.collect()
    assert owner() is not None
    assert np.from_dlpack(box.v).sum() == expected
    box.v = None
    gc.collect()
    assert owner() is None


def test_numpy_view_keeps_the_tensor_alive(source):
    view = np.from_dlpack(from_dlpack(source.copy()))
    gc.collect()
    assert view.tolist() == source.tolist()
    view = np.asarray(memoryview(from_dlpack(source.copy())))
    gc.collect()
    assert view.tolist() == source.tolist()


def test_odd_shapes():
    assert from_dlpack(np.array(3.5)).shape == ()
    empty = from_dlpack(np.zeros((0, 3)))
    assert (empty.shape, empty.numel()) == ((0, 3), 0)
    assert structural_equal(empty, from_dlpack(np.zeros((0, 3))))
    assert not structural_equal(empty, from_dlpack(np.zeros((3, 0))))


def test_strided_tensors(source):
    # Tensors are contiguous: a strided array is copied.
    turned = from_dlpack(source.T)
    assert turned.strides == (2, 1)
    assert turned.is_contiguous()
    assert not np.shares_memory(np.from_dlpack(turned), source)
    assert structural_equal(turned, from_dlpack(source.T.copy()))
    assert isoform.structural_hash(turned) == isoform.structural_hash(from_dlpack(source.T.copy()))
    assert np.asarray(turned).tolist() == source.T.tolist()
    with pytest.raises((ValueError, RuntimeError, BufferError), match="contiguous"):
        from_dlpack(source.T, require_contiguous=True)


def test_read_only_sources(source):
    source.setflags(write=False)
    try:
        tensor = from_dlpack(source)
    except BufferError:
        return
    assert structural_equal(tensor, from_dlpack(source.copy()))


def test_tensor_comparison(source):
    one, two = from_dlpack(source), from_dlpack(source.copy())
    other = from_dlpack(source + 1)
    assert structural_equal(one, two)
    assert isoform.structural_hash(one) == isoform.structural_hash(two)
    assert not structural_equal(one, other)
    assert structural_equal(one, other, skip_tensor_content=True)
    skipped = isoform.structural_hash(one, skip_tensor_content=True)
    assert skipped == isoform.structural_hash(other, skip_tensor_content=True)
    assert not structural_equal(one, from_dlpack(source.astype("int64")))
    assert not structural_equal(one, from_dlpack(source.reshape(3, 2)))
    assert one != two
    assert isoform.get_first_structural_mismatch(one, other) is not None


def test_from_dlpack_refuses_other_things():
    for thing in (5, None, [1, 2], "a"):
        with pytest.raises((TypeError, AttributeError)):
            from_dlpack(thing)


def test_tensor_repr(source):
    text = repr(from_dlpack(source))
    for part in ("int32", "2, 3", "cpu"):
        assert part in text


# ---- text and bytes ----------------------------------------------------------


def test_text_comes_back_as_str():
    for text in ("", "a", "14 bytes long!", "fifteen bytes..", "ü☃🎉", "a\0b"):
        (back,) = Array([text])
        assert (back, type(back)) == (text, str)
        (back,) = Array([text.encode()])
        assert (back, type(back)) == (text.encode(), bytes)


def test_string_and_bytes_classes():
    made = convert("hello")
    assert isinstance(made, str)
    assert made == "hello"
    assert isinstance(made, isoform.core.String)
    made = convert(b"hello")
    assert isinstance(made, bytes)
    assert isinstance(made, isoform.core.Bytes)
    assert structural_equal(isoform.core.String("x"), "x")


def test_surrogates_are_refused():
    with pytest.raises(UnicodeEncodeError):
        Array(["\ud800"])


def test_str_subclasses_are_text():
    class Name(str):
        __slots__ = ()

    assert structural_equal(Name("a"), "a")
    assert Array([Name("a")])[0] == "a"


# ---- integers ----------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [0, -1, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**64, 10**50, -(10**200)]
)
def test_integers_of_any_size(value):
    (back,) = Array([value])
    assert (back, type(back)) == (value, int)
    assert nodes.Box(value).v == value
    assert structural_equal(value, value)
    assert not structural_equal(value, value + 1)
    assert convert(value) == value


def test_numpy_scalars():
    assert nodes.Box(np.int64(3)).v == 3
    assert type(nodes.Box(np.int64(3)).v) is int
    assert type(nodes.Box(np.float32(1.5)).v) is float
    assert nodes.Box(np.bool_(True)).v is True


# ---- convert -----------------------------------------------------------------


def test_convert():
    assert type(convert(1)) is int
    assert convert(None) is None
    assert type(convert([1])) is Array
    assert type(convert((1,))) is Array
    assert type(convert({1: 2})) is isoform.Map
    assert isinstance(convert(lambda: 1), isoform.Function)
    assert isinstance(convert(np.arange(3)), Tensor)
    assert type(convert(dtype("int8"))) is dtype
    assert type(convert(np.dtype("int8"))) is dtype
    box = nodes.Box(1)
    assert convert(box) is box
    assert (
        isinstance(convert(object()), isoform.core.OpaquePyObject) or convert(object()) is not None
    )


# ---- numbers in unions -------------------------------------------------------


@py_class("scalars.Numbers")
class Numbers(Object):
    either: "int | float" = 0
    other_way: "float | int" = 0
    maybe: "int | float | None" = None
    truth: "bool | float" = False
    text: "float | str" = 0.0
    number: int = 0
    real: float = 0.0


@pytest.mark.parametrize("name", ["either", "other_way", "maybe"])
def test_a_number_stays_of_its_kind_in_a_union(name):
    for value in (0, 2**63 - 1, -(2**63), 1.0, -0.0, 1e300):
        kept = getattr(Numbers(**{name: value}), name)
        assert (repr(kept), type(kept)) == (repr(value), type(value))
    # A bool is not one of the annotated numbers, and becomes the nearest number.
    for value in (True, np.bool_(True)):
        kept = getattr(Numbers(**{name: value}), name)
        assert (kept, type(kept)) == (1, int)
    kept = getattr(Numbers(**{name: np.int64(3)}), name)
    assert (kept, type(kept)) == (3, int)
    kept = getattr(Numbers(**{name: np.float32(3)}), name)
    assert (kept, type(kept)) == (3.0, float)


@pytest.mark.parametrize("name", ["either", "other_way", "maybe", "number"])
@pytest.mark.parametrize("value", [10**20, -(2**63) - 1, 2**63])
def test_an_int_that_is_too_large_becomes_no_float(name, value):
    with pytest.raises(TypeError, match=rf"scalars\.Numbers.*'{name}'.*got int out of the int64"):
        Numbers(**{name: value})


def test_numbers_convert_where_the_annotation_leaves_no_other_way():
    made = Numbers(truth=5, text=3, number=True, real=True)
    assert [(v, type(v)) for v in (made.truth, made.text, made.number, made.real)] == [
        (5.0, float),
        (3.0, float),
        (1, int),
        (1.0, float),
    ]
    assert Numbers(truth=True).truth is True


def test_elements_of_typed_lists_convert_in_the_same_way():
    @py_class("scalars.Listed")
    class Listed(Object):
        items: "list[float | int]"

    made = Listed(List([True]))
    made.items.append(True)
    assert [(n, type(n)) for n in made.items] == [(1, int), (1, int)]
