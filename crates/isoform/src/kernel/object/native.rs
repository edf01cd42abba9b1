//! Built-in objects with ordinary Rust data as payload instead of table fields.

use super::class::Payload;
use super::header::TypeIndex;
use super::raw_value::Tag;
use super::reference::{Node, Obj, block_layout, drop_payload};
use super::table::{self, TypeInfo};
use super::view::ObjRef;
use crate::kernel::container::{
    self, ArrayObj, BytesObj, DictObj, Entries, KeyObj, ListObj, OpaqueObj, ShapeObj, StrObj,
    TensorObj,
};
use crate::kernel::function::FunctionObj;
use crate::kernel::types::TypeDef;
use crate::kernel::value::{BigIntObj, Value};

macro_rules! native_types {
    ($($ty:ident = $index:literal, $key:literal, $class:ident, $doc:literal $(, $row:ident)?;)*) => {
        $(
            impl $ty {
                pub(crate) const INDEX: TypeIndex = TypeIndex($index);
            }

            // SAFETY: the payload is not a table field; the payload is reached only as
            // `$ty`, through this type index, and freed by `drop_payload`.
            unsafe impl Node for $ty {
                type Parent = Obj;
                const TYPE_KEY: &'static str = $key;
                #[inline(always)]
                fn type_index() -> TypeIndex {
                    Self::INDEX
                }
                fn definition() -> TypeDef {
                    TypeDef::new($key).doc($doc)
                }
                fn clone_fields(&self) -> Self {
                    self.copy_payload()
                }
            }
        )*

        /// The entries of the built-in types.
        pub(super) fn builtin_types() -> Vec<TypeInfo> {
            let mut all = vec![$(TypeInfo::native(
                <$ty>::INDEX,
                $key,
                $doc,
                Payload::$class,
                block_layout::<$ty>(),
                drop_payload::<$ty>,
            )$(.with_container(&container::$row))?),*];
            all.extend(PLAIN_TYPES.iter().map(|(index, key, doc)| TypeInfo::plain(*index, key, doc)));
            all
        }
    };
}

native_types! {
    StrObj = 1, "isoform.Str", Str, "A string too long to be kept inside a value.";
    BytesObj = 2, "isoform.Bytes", Bytes, "A byte string.";
    BigIntObj = 3, "isoform.BigInt", BigInt, "An integer outside the 64-bit range.";
    ArrayObj = 4, "isoform.Array", Sequence, "An immutable sequence of values.", ARRAY;
    ListObj = 5, "isoform.List", Mutable, "A mutable sequence of values.", LIST;
    Entries = 6, "isoform.Map", Mapping, "An immutable mapping that keeps insertion order.", MAP;
    DictObj = 7, "isoform.Dict", Mutable, "A mutable mapping that keeps insertion order.", DICT;
    ShapeObj = 8, "isoform.Shape", Shape, "A tuple of 64-bit integers.";
    TensorObj = 9, "isoform.Tensor", Tensor, "A contiguous array of numbers.";
    FunctionObj = 10, "isoform.Function", Incomparable, "A callable.";
    OpaqueObj = 11, "isoform.Opaque", Incomparable, "A host object of which nothing is known.";
    KeyObj = 12, "isoform.StructuralKey", Incomparable, "A value frozen as a key of maps.";
}

/// True if objects of a type are values without parts or identity: long
/// strings, bytes, large integers and shapes.
#[inline]
pub fn is_plain(ty: TypeIndex) -> bool {
    matches!(ty.0, 1..=3 | 8)
}

/// The types of values other than objects. An entry in the table allows these types to
/// have attributes.
const PLAIN_TYPES: [(TypeIndex, &str, &str); 6] = [
    (TypeIndex(13), "isoform.None", "Nothing."),
    (TypeIndex(14), "isoform.Bool", "True or false."),
    (INT, "isoform.Int", "An integer of any size."),
    (TypeIndex(16), "isoform.Float", "A 64-bit float."),
    (TypeIndex(17), "isoform.DType", "A data type of tensors."),
    (
        TypeIndex(18),
        "isoform.Device",
        "A place where tensors live.",
    ),
];

/// The type of integers, including integers stored as objects.
pub(crate) const INT: TypeIndex = TypeIndex(15);

/// The type of the objects storing large integers.
pub(crate) const BIG_INT: TypeIndex = TypeIndex(3);

/// The type of strings, in any storage.
const STR: TypeIndex = TypeIndex(1);

/// The type of a value.
pub(crate) fn type_of(value: &Value) -> TypeIndex {
    // By tag: a new kind of plain value must be added to this match.
    match value.tag() {
        Tag::None => PLAIN_TYPES[0].0,
        Tag::Bool => PLAIN_TYPES[1].0,
        Tag::Int => INT,
        Tag::Float => PLAIN_TYPES[3].0,
        Tag::DType => PLAIN_TYPES[4].0,
        Tag::Device => PLAIN_TYPES[5].0,
        Tag::InlineStr => STR,
        Tag::Object => match value.object_ref().map(ObjRef::type_index) {
            // Integers of any size have one type.
            Some(BigIntObj::INDEX) | None => INT,
            Some(index) => index,
        },
    }
}

/// The first index of user types.
pub(crate) const FIRST_USER_TYPE: u32 = 32;

const _: () = assert!(table::OBJECT.0 == 0);
