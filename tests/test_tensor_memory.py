"""The owner of a tensor's memory, and its way in and out."""

import gc

import pytest

from isoform import Array, Tensor, convert, from_dlpack, structural_equal

np = pytest.importorskip("numpy")


def test_stored_arrays_are_copied_unless_read_only():
    source = np.arange(4)
    stored = Array([source])[0]
    source[0] = 99
    assert stored.numpy().tolist() == [0, 1, 2, 3]
    source.setflags(write=False)
    assert np.shares_memory(Array([source])[0].numpy(), source)


def test_copy_argument():
    source = np.arange(6).reshape(2, 3)
    assert from_dlpack(source).data_ptr() == source.ctypes.data
    assert from_dlpack(source, copy=False).data_ptr() == source.ctypes.data
    assert from_dlpack(source, copy=True).data_ptr() != source.ctypes.data
    with pytest.raises(BufferError, match="contiguous"):
        from_dlpack(source.T, copy=False)
    tensor = from_dlpack(source)
    assert from_dlpack(tensor) is tensor


def test_views_cannot_be_written():
    tensor = from_dlpack(np.arange(4))
    for view in (tensor.numpy(), np.from_dlpack(tensor), np.asarray(tensor)):
        assert not view.flags.writeable
    with pytest.raises(TypeError):
        memoryview(tensor)[0] = 1


def test_old_consumers_get_a_copy():
    source = np.arange(4)
    tensor = from_dlpack(source)
    capsule = tensor.__dlpack__()
    assert '"dltensor"' in repr(capsule)

    class Old:
        def __dlpack__(self):
            return capsule

        def __dlpack_device__(self):
            return (1, 0)

    again = from_dlpack(Old())
    assert again.data_ptr() != tensor.data_ptr()
    assert structural_equal(again, tensor)
    with pytest.raises(TypeError, match="capsule"):
        # It is used up.
        from_dlpack(Old())
    with pytest.raises(BufferError):
        tensor.__dlpack__(copy=False)
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(2, 0))


def test_unused_capsules_are_freed():
    tensor = from_dlpack(np.arange(4))
    for version in (None, (1, 0)):
        for _ in range(1000):
            tensor.__dlpack__(max_version=version)
    gc.collect()
    assert tensor.numpy().tolist() == [0, 1, 2, 3]


def test_copies_for_consumers_may_be_written():
    tensor = from_dlpack(np.arange(5, dtype="int16"))
    copy = np.from_dlpack(tensor, copy=True)
    copy[0] = 9
    assert tensor.numpy().tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::2],
        lambda a: a[::-1],
        lambda a: a.T,
        lambda a: a[:, 1:2],
        lambda a: a[1:1],
        lambda a: np.broadcast_to(a[0], (3, 4)),
        lambda a: a[:1, :1, None],
        lambda a: a.transpose(1, 0)[::-2],
    ],
)
def test_any_layout(view):
    array = view(np.arange(12).reshape(3, 4))
    tensor = from_dlpack(array)
    assert tensor.shape == array.shape
    assert tensor.numpy().tolist() == array.tolist()
    assert structural_equal(tensor, from_dlpack(np.ascontiguousarray(array).reshape(array.shape)))


def test_types_that_numpy_does_not_know():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        array = np.array([0.5, 1.0, 2.0], getattr(ml_dtypes, name))
        tensor = from_dlpack(array)
        assert tensor.dtype == name
        assert tensor.numpy().dtype == array.dtype
        assert tensor.numpy().tolist() == array.tolist()
        assert np.asarray(tensor).tolist() == array.tolist()
        assert convert(array).dtype == name
        with pytest.raises(BufferError):
            memoryview(tensor)


def test_arrays_of_objects_stay_themselves():
    words = np.array(["a", "b"])
    assert convert(words) is words
    with pytest.raises(BufferError):
        from_dlpack(words)


def test_lanes():
    tensor = Tensor.from_bytes(bytes(range(16)), (2, 2), "uint8x4")
    assert (tensor.numel(), tensor.nbytes) == (4, 16)
    assert tensor.numpy().shape == (2, 2, 4)


def test_from_bytes():
    tensor = Tensor.from_bytes(b"\1\0\2\0", [2], "int16")
    assert tensor.numpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match="expected 4 bytes, got 3"):
        Tensor.from_bytes(b"\1\0\2", [2], "int16")
    with pytest.raises(ValueError, match="negative"):
        Tensor.from_bytes(b"", [-1], "int16")


def test_packed_types():
    tensor = Tensor.from_bytes(b"\x21\x43", [4], "int4")
    assert tensor.nbytes == 2
    with pytest.raises(TypeError):
        tensor.numpy()


def test_a_view_of_no_dimensions():
    tensor = from_dlpack(np.array(2.5))
    assert memoryview(tensor).tolist() == 2.5
    assert tensor.numpy().shape == ()


def test_conversion_on_reading():
    tensor = from_dlpack(np.arange(3))
    assert np.asarray(tensor, dtype="float32").dtype == "float32"
    assert np.array(tensor).flags.writeable


def test_alignment():
    source = np.zeros(64, "uint8")[1:]
    address = source.ctypes.data
    assert from_dlpack(source, require_alignment=1).data_ptr() == address
    with pytest.raises(ValueError, match="aligned"):
        from_dlpack(source, require_alignment=2 if address % 2 else 4096)
