//! The choices in types and statements.

use isoform::types::register_enum;
use isoform::{Result, node_enum};

node_enum! {
    /// The memory layout of a tensor's elements.
    pub enum TensorLayout, TensorLayoutObject = "pto.TensorLayout" {
        /// Row by row.
        Nd = "ND",
        /// Column by column.
        Dn = "DN",
        /// In fractals, the order of the matrix unit.
        Nz = "NZ",
        /// The scales of the left operand of a product.
        MxAZz = "MX_A_ZZ",
        /// The scales of the right operand of a product.
        MxBNn = "MX_B_NN",
    }
}

node_enum! {
    /// The order of the elements of a tile, or of a fractal of a tile.
    pub enum TileLayout, TileLayoutObject = "pto.TileLayout" {
        /// Without fractals.
        NoneBox = "none_box",
        /// Row by row.
        RowMajor = "row_major",
        /// Column by column.
        ColMajor = "col_major",
    }
}

node_enum! {
    /// The contents outside of the valid part of a tensor or tile.
    pub enum PadValue, PadValueObject = "pto.PadValue" {
        /// Nothing in particular.
        Null = "null",
        /// Zero.
        Zero = "zero",
        /// The largest number.
        Max = "max",
        /// The smallest number.
        Min = "min",
    }
}

node_enum! {
    /// How a tile omits the invalid part.
    pub enum CompactMode, CompactModeObject = "pto.CompactMode" {
        /// Not at all.
        Null = "null",
        /// Rows are stored without gaps.
        Normal = "normal",
    }
}

node_enum! {
    /// The pipelines of a core.
    pub enum PipeType, PipeTypeObject = "pto.PipeType" {
        /// Moves between the buffers of the matrix unit.
        Mte1 = "MTE1",
        /// Loads.
        Mte2 = "MTE2",
        /// Stores.
        Mte3 = "MTE3",
        /// Matrices.
        M = "M",
        /// Vectors.
        V = "V",
        /// Scalars.
        S = "S",
        /// The unit after the matrix unit.
        Fix = "FIX",
        /// All of them.
        All = "ALL",
    }
}

node_enum! {
    /// The place where a function runs.
    pub enum FunctionType, FunctionTypeObject = "pto.FunctionType" {
        /// Unspecified.
        Opaque = "Opaque",
        /// On the machine that starts the other machines.
        Orchestration = "Orchestration",
        /// On one core.
        InCore = "InCore",
        /// On a matrix core.
        Aic = "AIC",
        /// On a vector core.
        Aiv = "AIV",
        /// On the cores of a group.
        Group = "Group",
        /// On many cores with the same program.
        Spmd = "Spmd",
        /// Inlined at its calls.
        Inline = "Inline",
        /// As a graph of tasks.
        Graph = "Graph",
    }
}

node_enum! {
    /// The levels of a machine, from one core to all cores.
    pub enum Level, LevelObject = "pto.Level" {
        /// A vector core.
        Aiv = "AIV",
        /// A matrix core.
        Aic = "AIC",
        /// A group of cores.
        CoreGroup = "CORE_GROUP",
        /// A die.
        ChipDie = "CHIP_DIE",
        /// A chip.
        Chip = "CHIP",
        /// A host.
        Host = "HOST",
        /// Hosts next to each other.
        Cluster0 = "CLUSTER_0",
        /// Clusters of hosts.
        Cluster1 = "CLUSTER_1",
        /// Clusters of level-1 clusters.
        Cluster2 = "CLUSTER_2",
        /// Everything.
        Global = "GLOBAL",
    }
    aliases {
        "L2CACHE" = ChipDie,
        "PROCESSOR" = Chip,
        "UMA" = Chip,
        "NODE" = Host,
        "POD" = Cluster0,
        "CLOS1" = Cluster1,
        "CLOS2" = Cluster2,
    }
}

node_enum! {
    /// The role of a function at its level.
    pub enum Role, RoleObject = "pto.Role" {
        /// It starts others.
        Orchestrator = "Orchestrator",
        /// A worker started by another worker.
        SubWorker = "SubWorker",
    }
}

node_enum! {
    /// The direction of a parameter.
    pub enum ParamDirection, ParamDirectionObject = "pto.ParamDirection" {
        /// It is read.
        In = "In",
        /// It is written.
        Out = "Out",
        /// Both.
        InOut = "InOut",
    }
}

node_enum! {
    /// The relation between the iterations of a loop.
    pub enum ForKind, ForKindObject = "pto.ForKind" {
        /// One after the other.
        Sequential = "Sequential",
        /// In any order, or at the same time.
        Parallel = "Parallel",
        /// Written out.
        Unroll = "Unroll",
        /// Overlapping, stage by stage.
        Pipeline = "Pipeline",
    }
}

node_enum! {
    /// The memories of a machine.
    pub enum MemorySpace, MemorySpaceObject = "pto.MemorySpace" {
        /// Main memory.
        Ddr = "DDR",
        /// The buffer of the vector unit.
        Vec = "Vec",
        /// The buffer before the matrix unit.
        Mat = "Mat",
        /// The left operand of the matrix unit.
        Left = "Left",
        /// The right operand of the matrix unit.
        Right = "Right",
        /// The result of the matrix unit.
        Acc = "Acc",
        /// The bias that the matrix unit adds.
        Bias = "Bias",
        /// The scales of the left operand.
        LeftScale = "LeftScale",
        /// The scales of the right operand.
        RightScale = "RightScale",
        /// The scalars of a core.
        ScalarLocal = "ScalarLocal",
    }
}

node_enum! {
    /// The meaning of a scope statement for the body.
    pub enum ScopeKind, ScopeKindObject = "pto.ScopeKind" {
        /// Runs on one core.
        InCore = "InCore",
        /// Runs on a cluster of cores.
        Cluster = "Cluster",
        /// Runs at a level of the machine.
        Hierarchy = "Hierarchy",
        /// Runs on many cores.
        Spmd = "Spmd",
        /// Treated as a unit by the run-time system.
        Runtime = "Runtime",
        /// Its cores exchange data.
        CommDomain = "CommDomain",
        /// Divided between vector cores.
        SplitAiv = "SplitAiv",
    }
}

node_enum! {
    /// The division of work between the two vector cores of a group.
    pub enum SplitMode, SplitModeObject = "pto.SplitMode" {
        /// Not at all.
        None = "NONE",
        /// By rows.
        UpDown = "UP_DOWN",
        /// By columns.
        LeftRight = "LEFT_RIGHT",
    }
}

node_enum! {
    /// The language of program text inside a program.
    pub enum InlineLanguage, InlineLanguageObject = "pto.InlineLanguage" {
        /// C++.
        Cpp = "Cpp",
        /// Python.
        Python = "Python",
    }
}

pub(super) fn register() -> Result<()> {
    register_enum::<TensorLayout>()?;
    register_enum::<TileLayout>()?;
    register_enum::<PadValue>()?;
    register_enum::<CompactMode>()?;
    register_enum::<PipeType>()?;
    register_enum::<FunctionType>()?;
    register_enum::<Level>()?;
    register_enum::<Role>()?;
    register_enum::<ParamDirection>()?;
    register_enum::<ForKind>()?;
    register_enum::<MemorySpace>()?;
    register_enum::<ScopeKind>()?;
    register_enum::<SplitMode>()?;
    register_enum::<InlineLanguage>()
}
