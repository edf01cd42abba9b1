//! The types of the builtin dialect, and types of other dialects.
//!
//! A type as an attribute is the type itself.

use isoform::values::Bytes;
use isoform::{Array, Node, Obj, Ref, Str};

/// An integer type: `i32`, `si8`, `ui16`.
#[derive(Node)]
#[node(key = "mlir.IntegerType")]
#[repr(C)]
pub struct IntegerType {
    /// The number of bits.
    pub width: i64,
    /// `signless`, `signed` or `unsigned`.
    pub signedness: Str,
}

/// A float type: `f32`, `bf16`, `f8E4M3FN`.
#[derive(Node)]
#[node(key = "mlir.FloatType")]
#[repr(C)]
pub struct FloatType {
    /// The name in texts.
    pub name: Str,
}

/// The type `index`.
#[derive(Node)]
#[node(key = "mlir.IndexType")]
#[repr(C)]
pub struct IndexType {}

/// The type `none`.
#[derive(Node)]
#[node(key = "mlir.NoneType")]
#[repr(C)]
pub struct NoneType {}

/// A complex number.
#[derive(Node)]
#[node(key = "mlir.ComplexType")]
#[repr(C)]
pub struct ComplexType {
    /// The type of both parts.
    pub element: Ref<Obj>,
}

/// A tuple.
#[derive(Node)]
#[node(key = "mlir.TupleType")]
#[repr(C)]
pub struct TupleType {
    /// The types of the parts.
    pub types: Array<Ref<Obj>>,
}

/// The type of a function.
#[derive(Node)]
#[node(key = "mlir.FunctionType")]
#[repr(C)]
pub struct FunctionType {
    /// The types of the arguments.
    pub inputs: Array<Ref<Obj>>,
    /// The types of the results.
    pub results: Array<Ref<Obj>>,
}

/// A vector.
#[derive(Node)]
#[node(key = "mlir.VectorType")]
#[repr(C)]
pub struct VectorType {
    /// The sizes.
    pub dims: Array<i64>,
    /// For each dimension, true if it is scalable; empty if none is.
    pub scalable: Array<bool>,
    /// The type of the elements.
    pub element: Ref<Obj>,
}

/// A tensor of a known rank.
#[derive(Node)]
#[node(key = "mlir.TensorType")]
#[repr(C)]
pub struct TensorType {
    /// The size of each dimension; None for a dynamic dimension.
    pub dims: Array,
    /// The type of the elements.
    pub element: Ref<Obj>,
    /// An attribute of the layout or of bounds.
    pub encoding: Option<Ref<Obj>>,
}

/// A tensor of unknown rank.
#[derive(Node)]
#[node(key = "mlir.UnrankedTensorType")]
#[repr(C)]
pub struct UnrankedTensorType {
    /// The type of the elements.
    pub element: Ref<Obj>,
}

/// A reference to memory, of a known rank.
#[derive(Node)]
#[node(key = "mlir.MemRefType")]
#[repr(C)]
pub struct MemRefType {
    /// As in [`TensorType`].
    pub dims: Array,
    /// The type of the elements.
    pub element: Ref<Obj>,
    /// The layout; None for the identity.
    pub layout: Option<Ref<Obj>>,
    /// The memory space; None for the default, which is also written as the integer 0.
    pub space: Option<Ref<Obj>>,
}

/// A reference to memory, of unknown rank.
#[derive(Node)]
#[node(key = "mlir.UnrankedMemRefType")]
#[repr(C)]
pub struct UnrankedMemRefType {
    /// The type of the elements.
    pub element: Ref<Obj>,
    /// As in [`MemRefType`].
    pub space: Option<Ref<Obj>>,
}

/// A type of another dialect: `!tt.ptr<f32>`.
///
/// Both spellings, `!tt.ptr<f32>` and `!tt<ptr<f32>>`, are the same type.
#[derive(Node)]
#[node(key = "mlir.DialectType")]
#[repr(C)]
pub struct DialectType {
    /// The name of the dialect.
    pub dialect: Str,
    /// The name of the type; empty if the body does not begin with one.
    pub name: Str,
    /// The tokens between the angle brackets; None without brackets.
    ///
    /// A word or punctuation is a string, a decimal integer an int. A string is a
    /// [`StringAttr`](super::StringAttr), a symbol a [`SymbolRefAttr`](super::SymbolRefAttr),
    /// a type or attribute of a dialect a node, and so is an affine map or set, a distinct
    /// attribute or a resource. Aliases are replaced by their tokens.
    pub body: Option<Array>,
    /// For each token, and for the closing bracket, 1 if white space precedes it; for
    /// writing.
    #[node(ignore, default, repr = false)]
    pub spaces: Option<Bytes>,
}
