//! Types of values: scalars, pointers, tuples, tensors.
//!
//! Function types and their parts are in `generic`.

use isoform::hooks::{EqualCallback, HashCallback, StructuralEqual, StructuralHash};
use isoform::values::DType;
use isoform::{Array, Error, Node, Ref, Result, Str, Value, export};

use super::expr::{RelayExpr, Type};
use super::generic::TypeKind;
use super::prim::{IntImm, PrimExpr};
use super::span::Span;

/// The type of a scalar or a vector of the machine.
#[derive(Node)]
#[node(key = "ir.PrimType")]
#[repr(C)]
pub struct PrimType {
    #[node(base, default)]
    base: Type,
    /// The data type.
    pub dtype: DType,
}

/// The type of a pointer.
///
/// An empty storage scope means `global`.
#[derive(Node)]
#[node(key = "ir.PointerType", hooks(equal, hash))]
#[repr(C)]
pub struct PointerType {
    #[node(base, default)]
    base: Type,
    /// The type of the value pointed to.
    pub element_type: Ref<Type>,
    /// The memory pointed into.
    #[node(default)]
    pub storage_scope: Str,
}

impl PointerType {
    /// The full name of the storage scope, `global` by default.
    pub fn full_scope(&self) -> &str {
        match &*self.storage_scope {
            "" => "global",
            scope => scope,
        }
    }
}

impl StructuralEqual for PointerType {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        let (left, right) = (&self.element_type, &other.element_type);
        if !eq.equal(&left.into(), &right.into(), "element_type")? {
            return Ok(false);
        }
        let (left, right) = (self.full_scope(), other.full_scope());
        eq.equal(&left.into(), &right.into(), "storage_scope")
    }
}

impl StructuralHash for PointerType {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        let element = hash.hash(&Value::from(&self.element_type), init)?;
        hash.hash(&self.full_scope().into(), element)
    }
}

/// The type of a tuple.
#[derive(Node)]
#[node(key = "ir.TupleType")]
#[repr(C)]
pub struct TupleType {
    #[node(base, default)]
    base: Type,
    /// The types of the parts.
    pub fields: Array<Ref<Type>>,
}

/// The type of a tensor with known data type and shape.
#[derive(Node)]
#[node(key = "ir.TensorType")]
#[repr(C)]
pub struct TensorType {
    #[node(base, default)]
    base: Type,
    /// The sizes of the dimensions.
    pub shape: Array<Ref<PrimExpr>>,
    /// The data type of the elements.
    #[node(default = DType::FLOAT32)]
    pub dtype: DType,
}

impl TensorType {
    /// The sizes of the dimensions as numbers.
    ///
    /// # Errors
    ///
    /// `TypeError` for a symbolic size.
    pub fn concrete_shape(&self) -> Result<Vec<i64>> {
        let size = |(position, size): (usize, &Ref<PrimExpr>)| match size.downcast_ref::<IntImm>() {
            Some(size) => Ok(size.value),
            None => Err(Error::type_error(format!(
                "ir.TensorType.concrete_shape: expected ir.IntImm as dimension {position}, got {}",
                size.type_info().key()
            ))),
        };
        self.shape.iter().enumerate().map(size).collect()
    }
}

#[export("ir.TensorType.concrete_shape")]
fn concrete_shape(ty: &Ref<TensorType>) -> Result<Vec<i64>> {
    ty.concrete_shape()
}

/// A type for type inference to find: a hole, equal to itself and to its partner where
/// variables are bound.
#[derive(Node)]
#[node(key = "ir.IncompleteType", kind = var, init = make_incomplete_type)]
#[repr(C)]
pub struct IncompleteType {
    #[node(base, default)]
    base: Type,
    /// The kind of the missing type, a [`TypeKind`].
    #[node(default = TypeKind::Type as i64)]
    pub kind: i64,
}

/// Makes a hole for a type of a kind.
#[export("ir.IncompleteType")]
fn make_incomplete_type(
    #[default = 0] kind: i64,
    span: Option<Ref<Span>>,
) -> Result<Ref<IncompleteType>> {
    TypeKind::from_number(kind)?;
    let base = Type { span };
    Ok(Ref::new(IncompleteType { base, kind }))
}

/// The type of a reference to a changeable value.
#[derive(Node)]
#[node(key = "ir.RelayRefType")]
#[node(attrs("visit.name" = "ref_type"))]
#[repr(C)]
pub struct RelayRefType {
    #[node(base, default)]
    base: Type,
    /// The type of the value.
    pub value: Ref<Type>,
}

/// The type of a quantized tensor: a real number is `x * scale + zero_point`.
#[derive(Node)]
#[node(key = "ir.TensorAffineType")]
#[repr(C)]
pub struct TensorAffineType {
    #[node(base, default)]
    base: Type,
    /// The scale.
    pub scale: Ref<RelayExpr>,
    /// The number for zero.
    pub zero_point: Ref<RelayExpr>,
    /// The data type of the quantized numbers.
    pub dtype: DType,
    /// The dimension with a scale for each position; -1 is the last dimension.
    #[node(default = -1)]
    pub axis: i64,
}

/// The quantized types of several results.
#[derive(Node)]
#[node(key = "ir.TupleAffineType")]
#[repr(C)]
pub struct TupleAffineType {
    #[node(base, default)]
    base: Type,
    /// One type per result.
    pub types: Array<Ref<TensorAffineType>>,
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![concrete_shape]
}
