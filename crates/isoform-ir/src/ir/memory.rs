//! Memory pools: where a compiler places buffers and constants of static size.

use isoform::compare::CompareOptions;
use isoform::hooks::{EqualCallback, HashCallback, StructuralEqual, StructuralHash};
use isoform::values::Tensor;
use isoform::{Array, Map, Node, Ref, Result, Str, Value, export};

use super::global_info::Target;

/// Properties of the memory of a pool.
#[derive(Node)]
#[node(key = "ir.PoolInfoProperties", hooks(equal, hash), init = make_properties)]
#[repr(C)]
pub struct PoolInfoProperties {
    /// The expected size; -1 means unlimited.
    #[node(default = -1)]
    pub size_hint_bytes: i64,
    /// Its clock; -1 is unknown.
    #[node(default = -1)]
    pub clock_frequency_hz: i64,
    /// The read bandwidth; -1 if unknown.
    #[node(default = -1)]
    pub read_bandwidth_bytes_per_cycle: i64,
    /// The write bandwidth; -1 if unknown.
    #[node(default = -1)]
    pub write_bandwidth_bytes_per_cycle: i64,
    /// The latency of a read.
    #[node(default)]
    pub read_latency_cycles: i64,
    /// The latency of a write.
    #[node(default)]
    pub write_latency_cycles: i64,
    /// The number of bytes that a target transfers at once; 1 for unlisted targets.
    #[node(default)]
    pub target_burst_bytes: Map<Ref<Target>, i64>,
}

impl PoolInfoProperties {
    /// The fields with numbers, by name.
    fn numbers(&self) -> [(&'static str, i64); 6] {
        [
            ("size_hint_bytes", self.size_hint_bytes),
            ("clock_frequency_hz", self.clock_frequency_hz),
            (
                "read_bandwidth_bytes_per_cycle",
                self.read_bandwidth_bytes_per_cycle,
            ),
            (
                "write_bandwidth_bytes_per_cycle",
                self.write_bandwidth_bytes_per_cycle,
            ),
            ("read_latency_cycles", self.read_latency_cycles),
            ("write_latency_cycles", self.write_latency_cycles),
        ]
    }

    /// Targets and bytes in an order by content.
    ///
    /// The keys of a map match if they are the same object; two targets with one
    /// content mean the same in this field.
    fn bursts(&self) -> Result<Value> {
        // Only the order depends on the hash, and variables are irrelevant for the
        // order.
        let options = CompareOptions {
            map_free_vars: true,
            ..CompareOptions::default()
        };
        let mut bursts = Vec::new();
        for (target, bytes) in self.target_burst_bytes.iter() {
            let pair = Value::from([Value::from(target), (*bytes).into()]);
            bursts.push((options.digest(&pair)?, pair));
        }
        bursts.sort_by_key(|(digest, _)| *digest);
        let pairs: Vec<Value> = bursts.into_iter().map(|(_, pair)| pair).collect();
        Ok(pairs.into())
    }
}

impl StructuralEqual for PoolInfoProperties {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        for ((name, left), (_, right)) in self.numbers().into_iter().zip(other.numbers()) {
            if !eq.equal(&left.into(), &right.into(), name)? {
                return Ok(false);
            }
        }
        eq.equal(&self.bursts()?, &other.bursts()?, "target_burst_bytes")
    }
}

impl StructuralHash for PoolInfoProperties {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        let mut state = init;
        for (_, number) in self.numbers() {
            state = hash.hash(&number.into(), state)?;
        }
        hash.hash(&self.bursts()?, state)
    }
}

/// Makes the properties of a pool; None selects the default.
#[export("ir.PoolInfoProperties")]
fn make_properties(
    #[default = -1] size_hint_bytes: Option<i64>,
    #[default = -1] clock_frequency_hz: Option<i64>,
    #[default = -1] read_bandwidth_bytes_per_cycle: Option<i64>,
    #[default = -1] write_bandwidth_bytes_per_cycle: Option<i64>,
    #[default = 0] read_latency_cycles: Option<i64>,
    #[default = 0] write_latency_cycles: Option<i64>,
    target_burst_bytes: Option<Map<Ref<Target>, i64>>,
) -> Ref<PoolInfoProperties> {
    Ref::new(PoolInfoProperties {
        size_hint_bytes: size_hint_bytes.unwrap_or(-1),
        clock_frequency_hz: clock_frequency_hz.unwrap_or(-1),
        read_bandwidth_bytes_per_cycle: read_bandwidth_bytes_per_cycle.unwrap_or(-1),
        write_bandwidth_bytes_per_cycle: write_bandwidth_bytes_per_cycle.unwrap_or(-1),
        read_latency_cycles: read_latency_cycles.unwrap_or(0),
        write_latency_cycles: write_latency_cycles.unwrap_or(0),
        target_burst_bytes: target_burst_bytes.unwrap_or_default(),
    })
}

/// The base of pools.
#[derive(Node)]
#[node(key = "ir.PoolInfo")]
#[repr(C)]
pub struct PoolInfo {
    /// The name of the pool.
    pub pool_name: Str,
    /// The machines with access to the pool.
    pub targets: Array<Ref<Target>>,
    /// Properties of the memory.
    #[node(default = PoolInfoProperties::new())]
    pub pool_info_properties: Ref<PoolInfoProperties>,
}

impl PoolInfo {
    fn of(
        pool_name: Str,
        targets: Array<Ref<Target>>,
        properties: Option<Ref<PoolInfoProperties>>,
    ) -> PoolInfo {
        PoolInfo {
            pool_name,
            targets,
            pool_info_properties: properties.unwrap_or_else(PoolInfoProperties::new),
        }
    }
}

/// A pool of memory for reading and writing.
#[derive(Node)]
#[node(key = "ir.WorkspacePoolInfo", init = make_workspace_pool)]
#[repr(C)]
pub struct WorkspacePoolInfo {
    #[node(base)]
    base: PoolInfo,
}

/// Makes a pool of memory for reading and writing.
#[export("ir.WorkspacePoolInfo")]
fn make_workspace_pool(
    pool_name: Str,
    targets: Array<Ref<Target>>,
    pool_info_properties: Option<Ref<PoolInfoProperties>>,
) -> Ref<WorkspacePoolInfo> {
    WorkspacePoolInfo::new(PoolInfo::of(pool_name, targets, pool_info_properties))
}

/// A constant and its place in a pool.
#[derive(Node)]
#[node(key = "ir.ConstantInfo")]
#[repr(C)]
pub struct ConstantInfo {
    /// The name, for people.
    #[node(ignore)]
    pub name_hint: Str,
    /// The offset of the constant from the start of the pool.
    pub byte_offset: i64,
    /// The constant.
    pub data: Tensor,
}

/// A pool of memory only for reading.
#[derive(Node)]
#[node(key = "ir.ConstantPoolInfo", init = make_constant_pool)]
#[repr(C)]
pub struct ConstantPoolInfo {
    #[node(base)]
    base: PoolInfo,
    /// The constants in the pool.
    #[node(default)]
    pub constant_info_array: Array<Ref<ConstantInfo>>,
}

/// Makes a pool of memory only for reading.
#[export("ir.ConstantPoolInfo")]
fn make_constant_pool(
    pool_name: Str,
    targets: Array<Ref<Target>>,
    constant_info_arr: Option<Array<Ref<ConstantInfo>>>,
    pool_info_properties: Option<Ref<PoolInfoProperties>>,
) -> Ref<ConstantPoolInfo> {
    Ref::new(ConstantPoolInfo {
        base: PoolInfo::of(pool_name, targets, pool_info_properties),
        constant_info_array: constant_info_arr.unwrap_or_default(),
    })
}

/// The pools available for the buffers of a program.
#[derive(Node)]
#[node(key = "ir.WorkspaceMemoryPools")]
#[repr(C)]
pub struct WorkspaceMemoryPools {
    /// The pools.
    pub pools: Array<Ref<WorkspacePoolInfo>>,
}

/// The pools available for the constants of a program.
#[derive(Node)]
#[node(key = "ir.ConstantMemoryPools")]
#[repr(C)]
pub struct ConstantMemoryPools {
    /// The pools.
    pub pools: Array<Ref<ConstantPoolInfo>>,
}

/// A pool after memory layout.
#[derive(Node)]
#[node(key = "ir.AllocatedPoolInfo", init = make_allocated_pool)]
#[repr(C)]
pub struct AllocatedPoolInfo {
    /// The pool.
    pub pool_info: Ref<PoolInfo>,
    /// The number of allocated bytes.
    pub allocated_size: i64,
    /// The index of the main function's parameter that points to the pool.
    #[node(default)]
    pub pool_var_idx: i64,
}

/// Makes a pool after memory layout.
#[export("ir.AllocatedPoolInfo")]
fn make_allocated_pool(
    pool: Ref<PoolInfo>,
    allocated_size: i64,
    #[default = 0] pool_var_idx: i64,
) -> Ref<AllocatedPoolInfo> {
    Ref::new(AllocatedPoolInfo {
        pool_info: pool,
        allocated_size,
        pool_var_idx,
    })
}
