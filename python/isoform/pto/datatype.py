"""Formats of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.core import Object
from isoform.dataclasses.native_enum import NativeEnumMeta, native_enum

if TYPE_CHECKING:
    from typing import ClassVar

__all__ = ["DataType"]

_OTHER_NAMES = {
    "float16": "FP16",
    "float32": "FP32",
    "bfloat16": "BF16",
    "half": "FP16",
    "float": "FP32",
}

_C_TYPES = {
    "BOOL": "bool",
    "FP16": "half",
    "FP32": "float",
    "BF16": "bfloat16",
    "INDEX": "int64_t",
    "TASK_ID": "uint64_t",
    "FP4": "fp4_t",
    "FP8E4M3FN": "float8_e4m3_t",
    "FP8E5M2": "float8_e5m2_t",
    "FP8E8M0": "float8_e8m0_t",
    "HF4": "hifloat4_t",
    "HF8": "hifloat8_t",
}


class _DataTypeMeta(NativeEnumMeta):
    """Looks formats up by common names, too."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """The format of a name, in any case, or a number; ValueError without."""
        if len(args) == 1 and not kwargs and isinstance(args[0], str):
            name = _OTHER_NAMES.get(args[0].lower(), args[0].upper())
            if name in cls.__dict__:
                return cls[name]
        return super().__call__(*args, **kwargs)


@native_enum("pto.DataType")
class DataType(Object, metaclass=_DataTypeMeta):
    """The format of a number.

    >>> from isoform.pto import DataType
    >>> DataType.BF16.bits, DataType.BF16.is_float(), str(DataType.BF16)
    (16, True, 'bf16')
    >>> DataType("int8") == DataType.INT8, DataType.DEFAULT_CONST_INT
    (True, DataType.INT64)
    """

    __slots__ = ()

    if TYPE_CHECKING:
        name: str
        value: int
        BOOL: ClassVar[DataType]
        INT4: ClassVar[DataType]
        INT8: ClassVar[DataType]
        INT16: ClassVar[DataType]
        INT32: ClassVar[DataType]
        INT64: ClassVar[DataType]
        UINT4: ClassVar[DataType]
        UINT8: ClassVar[DataType]
        UINT16: ClassVar[DataType]
        UINT32: ClassVar[DataType]
        UINT64: ClassVar[DataType]
        FP4: ClassVar[DataType]
        FP8E4M3FN: ClassVar[DataType]
        FP8E5M2: ClassVar[DataType]
        FP8E8M0: ClassVar[DataType]
        FP16: ClassVar[DataType]
        FP32: ClassVar[DataType]
        BF16: ClassVar[DataType]
        HF4: ClassVar[DataType]
        HF8: ClassVar[DataType]
        INDEX: ClassVar[DataType]
        TASK_ID: ClassVar[DataType]
        DEFAULT_CONST_INT: ClassVar[DataType]
        DEFAULT_CONST_FLOAT: ClassVar[DataType]

    @property
    def bits(self) -> int:
        """The number of bits of a number."""
        return _facts(self)["bits"]

    def get_bit(self) -> int:
        """Return the number of bits of a number."""
        return self.bits

    def get_byte(self) -> int:
        """Return the number of bytes of a number, rounded up."""
        return (self.bits + 7) // 8

    def is_float(self) -> bool:
        """Return whether it is a float."""
        return _facts(self)["is_float"]

    def is_signed_int(self) -> bool:
        """Return whether it is an integer format with negative values, such as an index."""
        return _facts(self)["is_signed_int"]

    def is_unsigned_int(self) -> bool:
        """Return whether it is an integer format without negative values."""
        return _facts(self)["is_unsigned_int"]

    def is_int(self) -> bool:
        """Return whether it is an integer format; truth values and names of tasks are not."""
        return self.is_signed_int() or self.is_unsigned_int()

    def to_string(self) -> str:
        """Return the name, in lower case."""
        return self.name.lower()

    def to_c_type_string(self) -> str:
        """Return the name of the type in C++."""
        return _C_TYPES.get(self.name, f"{self.name.lower()}_t")

    def __str__(self) -> str:
        """Return the name, in lower case."""
        return self.to_string()


def _facts(dtype: DataType) -> dict[str, Any]:
    """The core's information about a format; fetched once."""
    known = _KNOWN.get(dtype.name)
    if known is None:
        ask: Any = _core.get_global_func("pto.DataType.facts")
        known = _KNOWN[dtype.name] = dict(ask(dtype))
    return known


_KNOWN: dict[str, dict[str, Any]] = {}
