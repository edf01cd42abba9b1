//! The base of types, and the types without shapes: scalars, pointers, tuples.

use std::sync::OnceLock;

use isoform::types::{Enumerator, NodeEnum};
use isoform::{Array, Error, Node, Ref, Result, Value, export};

use super::datatype::DataType;

/// The base of all types.
///
/// A data type becomes a scalar type where a type is expected.
#[derive(Node, Default)]
#[node(key = "pto.Type", convert = type_from, no_new, define = super::node::with_rules)]
#[repr(C)]
pub struct Type {}

/// The scalar type of a data type.
#[export("pto.Type.__ffi_convert__")]
fn type_from(value: Value) -> Result<Ref<Type>> {
    match value.peek::<Enumerator<DataType>>() {
        Some(dtype) => Ok(ScalarType::new(dtype).upcast()),
        None => Err(Error::type_error(format!(
            "expected pto.Type or pto.DataType, got {}",
            value.type_name()
        ))),
    }
}

/// The type of something without a type, or with an unknown type.
#[derive(Node)]
#[node(key = "pto.UnknownType")]
#[repr(C)]
pub struct UnknownType {
    #[node(base, default)]
    base: Type,
}

/// The unknown type.
#[export("pto.UnknownType.get")]
pub(super) fn unknown_type() -> Ref<UnknownType> {
    UnknownType::new()
}

/// The type of a number.
#[derive(Node)]
#[node(key = "pto.ScalarType", kind = const_tree)]
#[repr(C)]
pub struct ScalarType {
    #[node(base, default)]
    base: Type,
    /// Its format.
    pub dtype: Enumerator<DataType>,
}

impl ScalarType {
    /// The type of numbers of a format. All expressions share one object, to save
    /// memory and visits in comparisons.
    pub(super) fn of(dtype: &Enumerator<DataType>) -> Ref<Self> {
        static KNOWN: OnceLock<Vec<Ref<ScalarType>>> = OnceLock::new();
        let all = || {
            DataType::MEMBERS
                .iter()
                .map(|dtype| ScalarType::new(*dtype))
        };
        let known = KNOWN
            .get_or_init(|| all().collect())
            .get(dtype.get() as usize);
        known.map_or_else(|| ScalarType::new(dtype), Ref::clone)
    }
}

/// The type of a pointer to memory.
#[derive(Node)]
#[node(key = "pto.PtrType")]
#[repr(C)]
pub struct PtrType {
    #[node(base, default)]
    base: Type,
}

/// The type of a pointer.
#[export("pto.PtrType.get")]
fn ptr_type() -> Ref<PtrType> {
    PtrType::new()
}

/// The type of several values.
#[derive(Node)]
#[node(key = "pto.TupleType")]
#[repr(C)]
pub struct TupleType {
    #[node(base, default)]
    base: Type,
    /// Their types.
    pub types: Array<Ref<Type>>,
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![unknown_type, ptr_type]
}
