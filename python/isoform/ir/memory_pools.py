"""Memory pools: where a compiler places buffers and constants of static size."""

from isoform.types.ir import (
    AllocatedPoolInfo as AllocatedPoolInfo,
    ConstantInfo as ConstantInfo,
    ConstantMemoryPools as ConstantMemoryPools,
    ConstantPoolInfo as ConstantPoolInfo,
    PoolInfo as PoolInfo,
    PoolInfoProperties as PoolInfoProperties,
    WorkspaceMemoryPools as WorkspaceMemoryPools,
    WorkspacePoolInfo as WorkspacePoolInfo,
)
