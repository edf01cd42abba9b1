//! The names of the attributes of functions with a meaning for passes.

/// Not zero: a fused kernel; passes do not look inside.
pub const PRIMITIVE: &str = "Primitive";
/// Not zero: the function is defined elsewhere.
pub const EXTERN: &str = "Extern";
/// The name of the code generator that compiles the function.
pub const COMPILER: &str = "Compiler";
/// Not zero: the function returns a closure.
pub const CLOSURE: &str = "Closure";
/// Not zero: calls are replaced by the body.
pub const INLINE: &str = "Inline";
/// Not zero: passes leave the function unchanged.
pub const SKIP_OPTIMIZATION: &str = "SkipOptimization";
/// The name of the pattern with the function as an instance.
pub const COMPOSITE: &str = "Composite";
/// The pattern from which the function was cut out.
pub const PARTITIONED_FROM_PATTERN: &str = "PartitionedFromPattern";
/// Constants for the parameters, by name.
pub const PARAMS: &str = "__params__";
/// Not zero: the function only changes the shape of its input.
pub const RESHAPE_ONLY: &str = "relay.reshape_only";
/// The name of the function in the compiled program.
pub const GLOBAL_SYMBOL: &str = "global_symbol";
