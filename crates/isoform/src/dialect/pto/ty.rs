//! The base of types, and the types without shapes: scalars, pointers, tuples.

use std::sync::OnceLock;

use isoform_macros::{Node, export};

use super::datatype::DataType;
use crate::kernel::container::Array;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::reference::Ref;
use crate::kernel::types::{Enumerator, NodeEnum};
use crate::kernel::value::Value;

/// The base of all types.
///
/// A data type becomes a scalar type where a type is expected.
#[derive(Node, Default)]
#[node(key = "pto.Type", convert = type_from, no_new, define = super::node::with_rules, crate = crate)]
#[repr(C)]
pub struct Type {}

/// The scalar type of a data type.
#[export("pto.Type.__ffi_convert__", crate = crate)]
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
#[node(key = "pto.UnknownType", crate = crate)]
#[repr(C)]
pub struct UnknownType {
    #[node(base, default)]
    base: Type,
}

/// The unknown type.
#[export("pto.UnknownType.get", crate = crate)]
pub(super) fn unknown_type() -> Ref<UnknownType> {
    UnknownType::new()
}

/// The type of a number.
#[derive(Node)]
#[node(key = "pto.ScalarType", kind = const_tree, crate = crate)]
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
        let known = KNOWN.get_or_init(|| all().collect());
        let known = known.get(dtype.get() as usize);
        known.map_or_else(|| ScalarType::new(dtype), Ref::clone)
    }
}

/// The type of a pointer to memory.
#[derive(Node)]
#[node(key = "pto.PtrType", crate = crate)]
#[repr(C)]
pub struct PtrType {
    #[node(base, default)]
    base: Type,
}

/// The type of a pointer.
#[export("pto.PtrType.get", crate = crate)]
fn ptr_type() -> Ref<PtrType> {
    PtrType::new()
}

/// The type of several values.
#[derive(Node)]
#[node(key = "pto.TupleType", crate = crate)]
#[repr(C)]
pub struct TupleType {
    #[node(base, default)]
    base: Type,
    /// Their types.
    pub types: Array<Ref<Type>>,
}

pub(super) fn register() -> Result<()> {
    crate::ir::functions![unknown_type, ptr_type]
}
