"""The choices that types and statements have."""

from typing import TYPE_CHECKING

from isoform.dataclasses.native_enum import make_native_enum

if TYPE_CHECKING:
    from isoform.types.pto import (
        CompactMode,
        ForKind,
        FunctionType,
        InlineLanguage,
        Level,
        MemorySpace,
        PadValue,
        ParamDirection,
        PipeType,
        Role,
        ScopeKind,
        SplitMode,
        TensorLayout,
        TileLayout,
    )
else:
    CompactMode = make_native_enum("pto.CompactMode", __name__)
    ForKind = make_native_enum("pto.ForKind", __name__)
    FunctionType = make_native_enum("pto.FunctionType", __name__)
    InlineLanguage = make_native_enum("pto.InlineLanguage", __name__)
    Level = make_native_enum("pto.Level", __name__)
    MemorySpace = make_native_enum("pto.MemorySpace", __name__)
    PadValue = make_native_enum("pto.PadValue", __name__)
    ParamDirection = make_native_enum("pto.ParamDirection", __name__)
    PipeType = make_native_enum("pto.PipeType", __name__)
    Role = make_native_enum("pto.Role", __name__)
    ScopeKind = make_native_enum("pto.ScopeKind", __name__)
    SplitMode = make_native_enum("pto.SplitMode", __name__)
    TensorLayout = make_native_enum("pto.TensorLayout", __name__)
    TileLayout = make_native_enum("pto.TileLayout", __name__)

__all__ = [
    "CompactMode",
    "ForKind",
    "FunctionType",
    "InlineLanguage",
    "Level",
    "MemorySpace",
    "PadValue",
    "ParamDirection",
    "PipeType",
    "Role",
    "ScopeKind",
    "SplitMode",
    "TensorLayout",
    "TileLayout",
]
