//! Isoform: declare an IR's node types once and compare, hash and walk them.

mod container;
mod convert;
mod display;
mod dtype;
mod error;
mod object;
mod path;
mod registry;
mod structural;
#[cfg(feature = "testing")]
pub mod testing;
mod value;
mod visit;

pub use container::{Array, Bytes, Dict, Function, List, Map, OpaqueObj, Shape, Str, Tensor};
pub use convert::{IntoField, IsA};
pub use error::{Error, ErrorKind, Result};
pub use isoform_macros::Node;
pub use object::dynamic::{construct, construct_named, get_field, get_field_at, with_field};
pub use object::field::{ElementType, FieldType, Storage};
pub use object::header::TypeIndex;
pub use object::reference::{Node, Obj, Ref};
pub use object::table::TypeInfo;
pub use path::{AccessPath, AccessStep};
pub use registry::{
    DynEqual, DynHash, EqualCallback, FieldDef, FieldFlag, HashCallback, Kind, Schema,
    StructuralEqual, StructuralHash, TypeDef, TypeRef, find_type, get_function, list_functions,
    register, register_function, register_type, registered_types, remove_function,
};
pub use structural::{
    CompareOptions, Digest, ExistingPair, MAX_HOOK_DEPTH, Mismatch, MismatchReason,
    assert_structural_equal, assert_structural_equal_with, explain_mismatch,
    get_first_structural_mismatch, get_first_structural_mismatch_with, last_visit_count,
    structural_digest, structural_digest_with, structural_equal, structural_equal_with,
    structural_hash, structural_hash_with,
};
pub use value::{DType, DTypeCode, Device, Value, ValueRef};
pub use visit::{
    RegionChange, RegionKind, Sharing, Visit, WalkOptions, WalkOrder, WalkResult, structural_walk,
    walk_objects,
};

/// What the derive macro names; not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::convert::{IntoField, IsA};
    pub use crate::object::field::FieldType;
    pub use crate::object::header::TypeIndex;
    pub use crate::object::reference::{Node, Obj, Ref};
    pub use crate::object::table::TypeCell;
    pub use crate::registry::{
        FieldDef, FieldFlag, Kind, StructuralEqual, StructuralHash, TypeDef,
    };
    pub use crate::value::Value;

    /// A field's default as a value, converted through the field's own type.
    pub fn into_value<F: FieldType + Into<Value>>(value: impl Into<F>) -> Value {
        value.into().into()
    }
}
