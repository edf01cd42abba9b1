//! Built-in objects whose payload is ordinary Rust data, not table fields.

use super::header::TypeIndex;
use super::reference::{Node, Obj, block_layout, drop_payload};
use super::table::{self, Class, TypeInfo};
use crate::container::{
    ArrayObj, BytesObj, DictObj, ListObj, MapObj, OpaqueObj, ShapeObj, StrObj, TensorObj,
};
use crate::function::FunctionObj;
use crate::registry::TypeDef;
use crate::structural::KeyObj;
use crate::value::BigIntObj;

macro_rules! native_types {
    ($($ty:ident = $index:literal, $key:literal, $class:ident, $doc:literal;)*) => {
        $(
            // SAFETY: the payload is no table field at all; it is reached only
            // as `$ty`, through this type index, and freed by `drop_payload`.
            unsafe impl Node for $ty {
                type Parent = Obj;
                const TYPE_KEY: &'static str = $key;
                #[inline(always)]
                fn type_index() -> TypeIndex {
                    TypeIndex($index)
                }
                fn definition() -> TypeDef {
                    TypeDef::new($key).doc($doc)
                }
                fn clone_fields(&self) -> Self {
                    self.copy_payload()
                }
            }
        )*

        /// The entries of the built-in types, in index order.
        pub(super) fn builtin_types() -> Vec<TypeInfo> {
            vec![$(TypeInfo::native(
                TypeIndex($index),
                $key,
                $doc,
                Class::$class,
                block_layout::<$ty>(),
                drop_payload::<$ty>,
            )),*]
        }
    };
}

native_types! {
    StrObj = 1, "isoform.Str", Str, "A string too long to be kept inside a value.";
    BytesObj = 2, "isoform.Bytes", Bytes, "A byte string.";
    BigIntObj = 3, "isoform.BigInt", BigInt, "An integer outside the 64-bit range.";
    ArrayObj = 4, "isoform.Array", Array, "An immutable sequence of values.";
    ListObj = 5, "isoform.List", List, "A mutable sequence of values.";
    MapObj = 6, "isoform.Map", Map, "An immutable mapping that keeps insertion order.";
    DictObj = 7, "isoform.Dict", Dict, "A mutable mapping that keeps insertion order.";
    ShapeObj = 8, "isoform.Shape", Shape, "A tuple of 64-bit integers.";
    TensorObj = 9, "isoform.Tensor", Tensor, "A contiguous array of numbers.";
    FunctionObj = 10, "isoform.Function", Incomparable, "A callable.";
    OpaqueObj = 11, "isoform.Opaque", Incomparable, "A host object of which nothing is known.";
    KeyObj = 12, "isoform.StructuralKey", Incomparable, "A value frozen as a key of maps.";
}

/// User types get indices from here on.
pub(crate) const FIRST_USER_TYPE: u32 = 32;

const _: () = assert!(table::OBJECT.0 == 0);
