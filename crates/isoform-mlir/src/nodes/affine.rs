//! Affine maps and integer sets.
//!
//! The reader simplifies expressions as MLIR does while it parses: constants are folded
//! and stand on the right, like terms are joined.

use isoform::{Array, Node, Obj, Ref, Str};

/// A dimension of a map or set.
#[derive(Node)]
#[node(key = "mlir.AffineDim")]
#[repr(C)]
pub struct AffineDim {
    /// Its number.
    pub position: i64,
}

/// A symbol of a map or set.
#[derive(Node)]
#[node(key = "mlir.AffineSymbol")]
#[repr(C)]
pub struct AffineSymbol {
    /// Its number.
    pub position: i64,
}

/// A constant.
#[derive(Node)]
#[node(key = "mlir.AffineConstant")]
#[repr(C)]
pub struct AffineConstant {
    /// The value.
    pub value: i64,
}

/// An operation on two expressions.
#[derive(Node)]
#[node(key = "mlir.AffineBinary")]
#[repr(C)]
pub struct AffineBinary {
    /// `+`, `*`, `floordiv`, `ceildiv` or `mod`.
    pub op: Str,
    /// The left operand.
    pub left: Ref<Obj>,
    /// The right operand.
    pub right: Ref<Obj>,
}

/// A map from dimensions and symbols to numbers.
#[derive(Node)]
#[node(key = "mlir.AffineMapAttr")]
#[repr(C)]
pub struct AffineMapAttr {
    /// The number of dimensions.
    pub dims: i64,
    /// The number of symbols.
    pub symbols: i64,
    /// The expressions.
    pub results: Array<Ref<Obj>>,
}

/// A condition of a set.
#[derive(Node)]
#[node(key = "mlir.AffineConstraint")]
#[repr(C)]
pub struct AffineConstraint {
    /// The expression that is compared with zero.
    pub expression: Ref<Obj>,
    /// True for `expression == 0`, false for `expression >= 0`.
    pub is_equality: bool,
}

/// A set of points.
#[derive(Node)]
#[node(key = "mlir.AffineSetAttr")]
#[repr(C)]
pub struct AffineSetAttr {
    /// The number of dimensions.
    pub dims: i64,
    /// The number of symbols.
    pub symbols: i64,
    /// The conditions, all of which hold in the set.
    pub constraints: Array<Ref<AffineConstraint>>,
}
