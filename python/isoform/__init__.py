"""Isoform: declare the node types of an IR once, and compare, hash and rewrite programs."""

from isoform import _core
from isoform._core import MISSING, Object
from isoform.container import Array, Dict, List, Map
from isoform.device import Device, DLDeviceType, device
from isoform.dtype import (
    DataType,
    bfloat16,
    bool,  # noqa: A004
    dtype,
    float4_e2m1fn,
    float4_e2m1fnx2,
    float6_e2m3fn,
    float6_e3m2fn,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from isoform.error import Error, register_error
from isoform.function import (
    Bytes,
    Function,
    Module,
    ObjectConvertible,
    OpaquePyObject,
    String,
    convert,
    convert_func,
    method,
)
from isoform.shape import Shape

_core._set_python_types(dtype, Device, Shape)

# ---- Names of other modules follow, one line each ----
from isoform import container, core, dataclasses, error  # noqa: E402
from isoform.tensor import Tensor, from_dlpack  # noqa: E402

__all__ = [
    "MISSING",
    "Array",
    "Bytes",
    "DLDeviceType",
    "DataType",
    "Device",
    "Dict",
    "Error",
    "Function",
    "List",
    "Map",
    "Module",
    "Object",
    "ObjectConvertible",
    "OpaquePyObject",
    "Shape",
    "String",
    "Tensor",
    "bfloat16",
    "bool",
    "container",
    "convert",
    "convert_func",
    "core",
    "dataclasses",
    "device",
    "dtype",
    "error",
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
    "from_dlpack",
    "int8",
    "int16",
    "int32",
    "int64",
    "method",
    "register_error",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
