"""Tensors: immutable arrays of numbers that share memory with array libraries.

Whose memory it is
------------------

`from_dlpack(array)` shares the memory of a contiguous array: nothing is copied, and
later writes to the array are visible in the tensor. Writes to a shared array are
allowed only under the GIL, as Python code does anyway, or while no code reads the
tensor; and a program that keeps hashes or digests of a tensor must not write to the
array at all. `from_dlpack(array, copy=True)` needs no such care.

An array that is stored in a field, an element or an argument is copied, unless
it is read-only; memory is shared only on request.

Exported tensors are read-only. Consumers without support for this flag get a copy.
"""

from __future__ import annotations

from typing import Any

from isoform import _core
from isoform._core import Object
from isoform.device import Device, device
from isoform.dtype import dtype
from isoform.shape import Shape

__all__ = ["Tensor", "from_dlpack"]

# The conversions make instances of these classes.
_core._set_python_types(dtype, Device, Shape)

_CPU = device("cpu")


class Tensor(Object):
    """An immutable n-dimensional array of numbers in the memory of the CPU.

    `Tensor(array)` is a tensor of a NumPy array, or of any other array in the memory of
    the CPU: of a copy, unless the array is read-only. `from_dlpack` shares memory on
    request, and `Tensor.from_bytes` takes plain bytes.
    Elements are contiguous in row-major order. It supports Python's buffer protocol and
    DLPack, both without a copy. `==` and `hash` use identity; `structural_equal`
    compares elements.

    >>> t = Tensor.from_bytes(bytes([1, 2, 3, 4, 5, 6]), (2, 3), "uint8")
    >>> t
    Tensor(shape=(2, 3), dtype='uint8', device='cpu:0')
    >>> t.strides, t.ndim, t.size(0), t.numel(), t.nbytes
    ((3, 1), 2, 2, 6, 6)
    >>> memoryview(t).tolist()
    [[1, 2, 3], [4, 5, 6]]
    """

    def __new__(cls, array: Any) -> Tensor:
        """A tensor of the elements of an array.

        Raises:
            TypeError: the object is not an array, is in the memory of another device, or
                has elements of a data type that tensors do not have; the message names it.
        """
        del cls
        if isinstance(array, Tensor):
            return array
        if not hasattr(array, "__dlpack__") and hasattr(array, "__array_interface__"):
            # A scalar of NumPy.
            import numpy as np

            array = np.asarray(array)
        if not hasattr(array, "__dlpack__"):
            raise TypeError(
                f"isoform.Tensor: expected an array with __dlpack__, got {type(array).__name__}; "
                "numpy.asarray makes one of a list, Tensor.from_bytes takes bytes"
            )
        return _TENSOR.convert(array)

    @staticmethod
    def from_bytes(data: bytes, shape: Any, dtype: Any) -> Tensor:
        """A tensor of a copy of little-endian bytes in row-major order.

        Raises:
            ValueError: the number of bytes does not match shape and data type.
        """
        return _core._tensor_from_bytes(bytes(data), list(Shape(shape)), _text_of(dtype))

    @property
    def shape(self) -> Shape:
        """The dimensions."""
        return self._shape()

    @property
    def dtype(self) -> dtype:
        """The data type of the elements."""
        return self._dtype()

    @property
    def device(self) -> Device:
        """The device of the memory: always the CPU."""
        return _CPU

    @property
    def strides(self) -> Shape:
        """The distance between neighbours along each dimension, in elements."""
        return self._strides()

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape())

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._nbytes()

    def size(self, dim: int | None = None) -> Any:
        """The size of a dimension, or the shape.

        Raises:
            IndexError: there is no such dimension.
        """
        shape = self._shape()
        if dim is None:
            return shape
        try:
            return shape[dim]
        except IndexError:
            raise IndexError(f"dimension {dim} of a tensor of {len(shape)}") from None

    def numel(self) -> int:
        """The number of elements."""
        count = 1
        for dim in self._shape():
            count *= dim
        return count

    def is_contiguous(self) -> bool:
        """Returns whether the elements are contiguous in row-major order: always True."""
        return True

    def data_ptr(self) -> int:
        """The address of the first element."""
        ...

    def numpy(self) -> Any:
        """A read-only NumPy array of the same memory.

        Raises:
            ImportError: NumPy is not installed.
            TypeError: neither NumPy nor `ml_dtypes` has the data type, or
                several elements share a byte.
        """
        import numpy as np

        kind = self._dtype()
        found = kind.to_numpy()
        if kind.bits % 8 != 0:
            raise TypeError(f"NumPy holds no packed elements of dtype {kind}")
        shape = tuple(self._shape()) + ((kind.lanes,) if kind.lanes != 1 else ())
        base = found.base
        if self.numel() == 0:
            made = np.empty(shape, base)
            made.setflags(write=False)
            return made
        return np.frombuffer(self._as_bytes(), np.uint8).view(base).reshape(shape)  # pyright: ignore

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The elements as a NumPy array, converted to another type if requested."""
        array = self.numpy()
        if dtype is not None and dtype != array.dtype:
            if copy is False:
                raise ValueError(f"dtype {array.dtype} as {dtype} needs a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the memory, read only, or of a copy.

        A consumer that does not ask for version 1 gets a copy, because earlier capsules
        cannot express read-only memory.

        Raises:
            BufferError: a copy is needed but not allowed, or the memory of another
                device is requested.
        """
        if stream is not None:
            raise BufferError(f"the CPU has no streams, got stream={stream!r}")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"a Tensor is in the memory of the CPU, asked for {dl_device}")
        versioned = max_version is not None and max_version[0] >= 1
        if not versioned and copy is False:
            raise BufferError("a Tensor is read only, which needs DLPack version 1")
        return self._dlpack(versioned, bool(copy))

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's numbers of the CPU."""
        return (1, 0)

    def __repr__(self) -> str:
        """Shape, data type and device."""
        return f"Tensor(shape={tuple(self._shape())}, dtype='{self._dtype()!s}', device='{_CPU!s}')"

    def _shape(self) -> Shape: ...
    def _strides(self) -> Shape: ...
    def _dtype(self) -> dtype: ...
    def _nbytes(self) -> int: ...
    def _as_bytes(self) -> Tensor: ...
    def _dlpack(self, versioned: bool, copy: bool) -> Any: ...


def _text_of(content: Any) -> str:
    return str(dtype(content))


def from_dlpack(
    ext_tensor: Any,
    *,
    require_alignment: int = 0,
    require_contiguous: bool = False,
    copy: bool | None = None,
) -> Tensor:
    """A tensor of the memory of an array, or of a copy.

    A contiguous array is shared and kept alive, see the module documentation for the
    owner's obligations; any other is copied. Arrays with types of `ml_dtypes` are
    accepted as well.

    Args:
        ext_tensor: an object with `__dlpack__`, in the memory of the CPU.
        require_alignment: the required alignment of the address; 0 for none.
        require_contiguous: refuse an array that is not contiguous.
        copy: True to copy always, False never.

    Raises:
        TypeError: the object has no `__dlpack__`.
        BufferError: the memory cannot be used, or not without a copy.
        ValueError: the address is not aligned as required.
    """
    refuse = require_contiguous and copy is not True
    made = _core._from_dlpack(ext_tensor, False if refuse else copy)
    if require_alignment and made.data_ptr() % require_alignment:
        raise ValueError(f"the memory is not aligned to {require_alignment} bytes")
    return made


_core._install_tensor(Tensor)

_TENSOR = _core.Schema(("Tensor",))
