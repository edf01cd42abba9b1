"""Memory pools: where a compiler places buffers and constants of static size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoform import _core

if TYPE_CHECKING:
    from isoform.types.ir import (
        AllocatedPoolInfo,
        ConstantInfo,
        ConstantMemoryPools,
        ConstantPoolInfo,
        PoolInfo,
        PoolInfoProperties,
        WorkspaceMemoryPools,
        WorkspacePoolInfo,
    )
else:
    PoolInfo = _core.class_of("ir.PoolInfo")
    PoolInfoProperties = _core.class_of("ir.PoolInfoProperties")
    WorkspacePoolInfo = _core.class_of("ir.WorkspacePoolInfo")
    ConstantInfo = _core.class_of("ir.ConstantInfo")
    ConstantPoolInfo = _core.class_of("ir.ConstantPoolInfo")
    WorkspaceMemoryPools = _core.class_of("ir.WorkspaceMemoryPools")
    ConstantMemoryPools = _core.class_of("ir.ConstantMemoryPools")
    AllocatedPoolInfo = _core.class_of("ir.AllocatedPoolInfo")

__all__ = [
    "AllocatedPoolInfo",
    "ConstantInfo",
    "ConstantMemoryPools",
    "ConstantPoolInfo",
    "PoolInfo",
    "PoolInfoProperties",
    "WorkspaceMemoryPools",
    "WorkspacePoolInfo",
]
