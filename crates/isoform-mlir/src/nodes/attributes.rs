//! Attributes: constant data of operations.

use isoform::values::Bytes;
use isoform::{Array, Map, Node, Obj, Ref, Str, Value};

/// An attribute whose presence is its value.
#[derive(Node)]
#[node(key = "mlir.UnitAttr")]
#[repr(C)]
pub struct UnitAttr {}

/// An integer with its type.
#[derive(Node)]
#[node(key = "mlir.IntegerAttr")]
#[repr(C)]
pub struct IntegerAttr {
    /// A bool for `i1`, otherwise an int. A signless integer counts as signed: `255 : i8`
    /// is -1.
    pub value: Value,
    /// An [`IntegerType`](super::IntegerType) or the index type.
    pub ty: Ref<Obj>,
}

/// A float with its type.
#[derive(Node)]
#[node(key = "mlir.FloatAttr")]
#[repr(C)]
pub struct FloatAttr {
    /// The bits, as an int that is not negative.
    pub bits: Value,
    /// A [`FloatType`](super::FloatType).
    pub ty: Ref<Obj>,
}

/// A string.
#[derive(Node)]
#[node(key = "mlir.StringAttr")]
#[repr(C)]
pub struct StringAttr {
    /// A str, or bytes for a string that is not UTF-8.
    pub value: Value,
    /// The type, for the few strings that have one.
    #[node(default)]
    pub ty: Option<Ref<Obj>>,
}

/// A list.
#[derive(Node)]
#[node(key = "mlir.ArrayAttr")]
#[repr(C)]
pub struct ArrayAttr {
    /// The elements.
    pub elements: Array<Ref<Obj>>,
}

/// A dictionary.
#[derive(Node)]
#[node(key = "mlir.DictAttr")]
#[repr(C)]
pub struct DictAttr {
    /// The entries.
    pub entries: Map<Str, Ref<Obj>>,
}

/// A reference to a symbol: `@f`, `@module::@f`.
#[derive(Node)]
#[node(key = "mlir.SymbolRefAttr")]
#[repr(C)]
pub struct SymbolRefAttr {
    /// The [`Symbol`](super::Symbol), if it is private and in the nearest symbol table;
    /// otherwise its name.
    pub root: Value,
    /// The names of the symbols inside of it.
    #[node(default)]
    pub path: Array<Str>,
}

/// A list of numbers of one type: `array<i64: 1, 2>`.
#[derive(Node)]
#[node(key = "mlir.DenseArrayAttr")]
#[repr(C)]
pub struct DenseArrayAttr {
    /// The type of the elements.
    pub element: Ref<Obj>,
    /// The elements, little-endian, each in whole bytes.
    pub data: Bytes,
}

/// The numbers of a tensor or vector: `dense<0.0> : tensor<4xf32>`.
#[derive(Node)]
#[node(key = "mlir.DenseAttr")]
#[repr(C)]
pub struct DenseAttr {
    /// A [`TensorType`](super::TensorType) or [`VectorType`](super::VectorType).
    pub ty: Ref<Obj>,
    /// The elements in row-major order, little-endian, each in whole bytes; a single
    /// element if all are equal.
    pub data: Bytes,
}

/// Elements of a tensor that are written as strings, since their type has no numbers.
#[derive(Node)]
#[node(key = "mlir.DenseStringsAttr")]
#[repr(C)]
pub struct DenseStringsAttr {
    /// The type of the tensor.
    pub ty: Ref<Obj>,
    /// The elements as in [`StringAttr::value`]; a single element if all are equal.
    pub values: Array,
}

/// A tensor with few elements that are not zero.
#[derive(Node)]
#[node(key = "mlir.SparseAttr")]
#[repr(C)]
pub struct SparseAttr {
    /// The type of the tensor.
    pub ty: Ref<Obj>,
    /// The places: a [`DenseAttr`] of 64-bit integers.
    pub indices: Ref<Obj>,
    /// The elements there: a [`DenseAttr`] or [`DenseStringsAttr`].
    pub values: Ref<Obj>,
}

/// The elements of a tensor in the resources of the file: `dense_resource<k> : tensor<4xf32>`.
#[derive(Node)]
#[node(key = "mlir.ResourceAttr")]
#[repr(C)]
pub struct ResourceAttr {
    /// The bytes. If the file lacks them, the key, so that unknown contents are equal
    /// under one key only.
    pub contents: Value,
    /// The type of the tensor.
    pub ty: Ref<Obj>,
    /// The key in the file.
    #[node(ignore, default)]
    pub key: Str,
    /// The alignment that the file asks for.
    #[node(ignore, default)]
    pub alignment: i64,
}

/// The layout of memory by strides.
#[derive(Node)]
#[node(key = "mlir.StridedAttr")]
#[repr(C)]
pub struct StridedAttr {
    /// For each dimension the distance of elements, or None for a dynamic one.
    pub strides: Array,
    /// The offset of the first element, or None for a dynamic one.
    pub offset: Value,
}

/// An attribute with an identity: two with equal contents differ.
///
/// The number in the text is a label; comparison pairs the attributes of both sides.
#[derive(Node)]
#[node(key = "mlir.DistinctAttr", kind = dag)]
#[repr(C)]
pub struct DistinctAttr {
    /// The contents.
    pub attribute: Ref<Obj>,
    /// The number in the file.
    #[node(ignore, default)]
    pub number: i64,
}

/// An attribute of another dialect: `#stablehlo<comparison_direction LT>`.
#[derive(Node)]
#[node(key = "mlir.DialectAttr")]
#[repr(C)]
pub struct DialectAttr {
    /// The name of the dialect.
    pub dialect: Str,
    /// As in [`DialectType`](super::DialectType).
    pub name: Str,
    /// As in [`DialectType`](super::DialectType).
    pub body: Option<Array>,
    /// The type after a colon.
    pub ty: Option<Ref<Obj>>,
    /// As in [`DialectType`](super::DialectType).
    #[node(ignore, default, repr = false)]
    pub spaces: Option<Bytes>,
}
