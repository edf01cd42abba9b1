//! Operations, regions, blocks, and what these define: values, labels, private symbols.

use isoform::values::Bytes;
use isoform::{Array, Map, Node, Obj, Ref, Str};

/// A result of an operation or an argument of a block, identified by its definition.
#[derive(Node)]
#[node(key = "mlir.Value", kind = var)]
#[repr(C)]
pub struct Value {
    /// The type. A symbol in it is a use, also where the value is defined.
    #[node(uses)]
    pub ty: Ref<Obj>,
    /// The name in the file, without `%`.
    #[node(ignore, default)]
    pub name: Str,
    /// The location of an argument.
    #[node(ignore, default)]
    pub location: Option<Ref<Obj>>,
}

/// A block as a target of branches.
#[derive(Node)]
#[node(key = "mlir.Label", kind = var)]
#[repr(C)]
pub struct Label {
    /// The name in the file, without `^`; empty without a label.
    #[node(ignore, default)]
    pub name: Str,
}

/// A private symbol: the operation's `sym_name` and the references to it.
///
/// Public and nested symbols, and references that the nearest symbol table does not
/// resolve, are compared by name.
#[derive(Node)]
#[node(key = "mlir.Symbol", kind = var)]
#[repr(C)]
pub struct Symbol {
    /// The name in the file.
    #[node(ignore)]
    pub name: Str,
}

/// An operation of any dialect.
#[derive(Node)]
#[node(key = "mlir.Operation")]
#[repr(C)]
pub struct Operation {
    /// The name with the dialect: `arith.addi`.
    pub name: Str,
    /// The operands.
    pub operands: Array<Ref<Value>>,
    /// The blocks to which a terminator may branch.
    #[node(default)]
    pub successors: Array<Ref<Label>>,
    /// The attributes in `<{…}>`. Properties that are not a dictionary are the entry of the
    /// empty key.
    #[node(default)]
    pub properties: Map<Str, Ref<Obj>>,
    /// The attributes in `{…}`.
    #[node(default)]
    pub attributes: Map<Str, Ref<Obj>>,
    /// The results. They are visible inside of the regions.
    #[node(def, default)]
    pub results: Array<Ref<Value>>,
    /// The regions.
    #[node(default)]
    pub regions: Array<Ref<Region>>,
    /// The location.
    #[node(ignore, default)]
    pub location: Option<Ref<Obj>>,
}

/// Operations that run one after the other.
#[derive(Node)]
#[node(key = "mlir.Block")]
#[repr(C)]
pub struct Block {
    /// The target for branches.
    pub label: Ref<Label>,
    /// The arguments.
    #[node(def)]
    pub arguments: Array<Ref<Value>>,
    /// The operations.
    pub operations: Array<Ref<Operation>>,
}

/// A list of blocks. Everything that is defined inside is visible inside only.
///
/// The definition fields hold no information of their own; they bind what the blocks may
/// use before its definition. [`Region::new`] computes them.
#[derive(Node)]
#[node(key = "mlir.Region", scope, no_new)]
#[repr(C)]
pub struct Region {
    /// The private symbols of operations directly in the region, in their order.
    #[node(def)]
    pub symbols: Array<Ref<Symbol>>,
    /// The labels of the blocks, in their order.
    #[node(def)]
    pub labels: Array<Ref<Label>>,
    /// The values that are defined directly in the region and used before, in the order of
    /// their definitions.
    #[node(def)]
    pub forward: Array<Ref<Value>>,
    /// The blocks.
    pub blocks: Array<Ref<Block>>,
}

/// The contents of a file.
#[derive(Node)]
#[node(key = "mlir.Program")]
#[repr(C)]
pub struct Program {
    /// The module.
    pub module: Ref<Operation>,
    /// Resources of dialects that attributes of the builtin dialect do not hold, by dialect
    /// and key.
    #[node(default)]
    pub resources: Map<Str, Map<Str, Bytes>>,
}
