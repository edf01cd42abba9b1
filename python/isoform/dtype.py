"""Data types of tensor elements, in text form: `dtype`.

A data type is a `str` with number format, width and vector lanes, ready to be passed to
array libraries directly. To structural comparison, a data type differs from text:
`dtype("int8")` and `"int8"` are different values.
"""

from __future__ import annotations

import builtins
from typing import Any

from isoform import _core

__all__ = [
    "DataType",
    "bfloat16",
    "dtype",
    "float4_e2m1fn",
    "float4_e2m1fnx2",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

_INTEGER_CODES = frozenset((0, 1))
_BOOL_CODE = 6
_HANDLE_CODE = 3
_FLOAT_CODES = frozenset((2, 4, *range(7, 18)))


def _name_of(content: Any) -> str:
    """The name of a data type given by an object."""
    if isinstance(content, str):
        return content
    name = getattr(content, "name", None)
    if isinstance(name, str):
        # NumPy's data types, and the data types of `ml_dtypes`.
        return name
    if isinstance(content, type):
        # NumPy's scalar classes have the names of their data types.
        return content.__name__
    # Such as `torch.float32`.
    return str(content)


class dtype(str):  # noqa: N801
    """A data type: number format, width in bits and vector lanes.

    Args:
        content: a name such as `"float32"`, `"int4"`, `"float8_e4m3fn"` or
            `"float32x4"`, an alias (`half`, `float`, `double`, `int`), or a
            data type of NumPy or `ml_dtypes`.

    Raises:
        ValueError: there is no such data type.

    >>> f32 = dtype("float32")
    >>> f32.bits, f32.lanes, f32.itemsize, f32.type_code
    (32, 1, 4, 2)
    >>> f32 == "float32", f32.with_lanes(4)
    (True, dtype('float32x4'))
    """

    __slots__ = ("_bits", "_code", "_lanes", "_packed")

    _bits: int
    _code: int
    _lanes: int
    _packed: int

    def __new__(cls, content: Any = "float32") -> dtype:
        """See the class."""
        if type(content) is cls:
            return content
        name, code, bits, lanes, packed = _core._dtype_parts(_name_of(content))
        made = str.__new__(cls, name)
        made._code, made._bits, made._lanes, made._packed = code, bits, lanes, packed
        return made

    @staticmethod
    def from_dlpack_data_type(parts: tuple[int, int, int]) -> dtype:
        """The data type of DLPack's three numbers.

        Raises:
            ValueError: there is no such data type.

        >>> dtype.from_dlpack_data_type((2, 16, 1))
        dtype('float16')
        """
        code, bits, lanes = parts
        try:
            return dtype(_core._dtype_name(code, bits, lanes))
        except OverflowError as error:
            raise ValueError(f"no dtype has the numbers {parts}") from error

    @property
    def type_code(self) -> int:
        """DLPack's number of the format."""
        return self._code

    @property
    def bits(self) -> int:
        """Bits of one lane."""
        return self._bits

    @property
    def lanes(self) -> int:
        """Vector lanes; 1 for a scalar."""
        return self._lanes

    @property
    def itemsize(self) -> int:
        """Bytes of one element, all lanes together, rounded up."""
        return (self._bits * self._lanes + 7) // 8

    @property
    def is_integer(self) -> builtins.bool:
        """Returns whether the format is an integer format, signed or unsigned."""
        return self._code in _INTEGER_CODES

    @property
    def is_float(self) -> builtins.bool:
        """Returns whether the format is a float format of any kind."""
        return self._code in _FLOAT_CODES

    @property
    def is_bool(self) -> builtins.bool:
        """Returns whether the format is the boolean format."""
        return self._code == _BOOL_CODE

    @property
    def is_handle(self) -> builtins.bool:
        """Returns whether the format is that of opaque pointers."""
        return self._code == _HANDLE_CODE

    def is_dtype(self, other: Any) -> builtins.bool:
        """Returns whether another object names the same data type."""
        try:
            return dtype(other) == self
        except (TypeError, ValueError):
            return False

    def with_lanes(self, lanes: int) -> dtype:
        """The same format with this many lanes.

        Raises:
            ValueError: no vector has so many lanes.

        >>> dtype("int8").with_lanes(16)
        dtype('int8x16')
        """
        return dtype.from_dlpack_data_type((self._code, self._bits, lanes))

    def to_numpy(self) -> Any:
        """The data type of NumPy, with the help of `ml_dtypes`.

        Raises:
            TypeError: neither has it.
            ImportError: NumPy is not installed.
        """
        import numpy as np

        scalar = str(self).split("x", 1)[0] if self._lanes != 1 else str(self)
        try:
            found = np.dtype(scalar)
        except TypeError:
            found = _from_ml_dtypes(np, scalar)
        return found if self._lanes == 1 else np.dtype((found, (self._lanes,)))

    def __repr__(self) -> str:
        """The call that makes it."""
        return f"dtype('{self!s}')"

    def __str__(self) -> str:
        """The name, as a plain str."""
        return str.__str__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles it by its name."""
        return dtype, (str(self),)


def _from_ml_dtypes(np: Any, name: str) -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"NumPy has no dtype {name}; ml_dtypes may") from None
    found = getattr(ml_dtypes, name, None)
    if found is None:
        raise TypeError(f"neither NumPy nor ml_dtypes has a dtype {name}")
    return np.dtype(found)


DataType = dtype

bool = dtype("bool")  # noqa: A001
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
float16 = dtype("float16")
float32 = dtype("float32")
float64 = dtype("float64")
bfloat16 = dtype("bfloat16")
float8_e3m4 = dtype("float8_e3m4")
float8_e4m3 = dtype("float8_e4m3")
float8_e4m3b11fnuz = dtype("float8_e4m3b11fnuz")
float8_e4m3fn = dtype("float8_e4m3fn")
float8_e4m3fnuz = dtype("float8_e4m3fnuz")
float8_e5m2 = dtype("float8_e5m2")
float8_e5m2fnuz = dtype("float8_e5m2fnuz")
float8_e8m0fnu = dtype("float8_e8m0fnu")
float6_e2m3fn = dtype("float6_e2m3fn")
float6_e3m2fn = dtype("float6_e3m2fn")
float4_e2m1fn = dtype("float4_e2m1fn")
float4_e2m1fnx2 = dtype("float4_e2m1fnx2")
