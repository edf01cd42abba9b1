//! Containers: sequences, mappings, strings, shapes, tensors, opaque objects.
//!
//! `Array` and `Map` are immutable values with copy-on-write: a change through the only
//! handle happens in place, any other change copies first. `List` and `Dict` are shared
//! and mutable: each wraps an immutable container and changes under the access rule of
//! fields (`object::access`). A reader therefore works on the contents found on
//! arrival, and a concurrent change can neither tear nor invalidate these contents.
//!
//! Engines see only items and entries of a container: borrowed through
//! `kernel/object/contents.rs`, or owned as `Contents` (`types.rs`). The types of
//! containers with the same contents differ in a row of data (`types.rs`).
//!
//! Absent: a lock per list or dict; a lock held while user code runs, including hooks for
//! keys and comparisons of structural keys.

mod demands;
mod dict;
mod key;
mod lookup;
mod mapping;
mod mutable;
mod name_index;
mod opaque;
mod sequence;
mod shape;
pub(crate) mod tensor;
mod text;
mod types;

pub use dict::Dict;
pub use key::StructuralKey;
pub use mapping::{Map, MapIter};
pub use opaque::OpaqueObj;
pub use sequence::{Array, List};
pub use shape::Shape;
pub use tensor::Tensor;
pub use text::{Bytes, Str};

pub(crate) use demands::{Field, binds, claim};
pub(crate) use dict::DictObj;
pub(crate) use key::KeyObj;
pub use lookup::hooked_key_hash;
pub(crate) use lookup::{asking, key_hash, note_key_hooks};
pub(crate) use mapping::{Entries, is_plain_key};
pub(crate) use mutable::Mutable;
pub(crate) use sequence::{ArrayObj, ListObj};
pub(crate) use shape::ShapeObj;
pub(crate) use tensor::{NanRule, TensorObj};
pub(crate) use text::{BytesObj, StrObj};
pub use types::Contents;
pub(crate) use types::{ARRAY, ContainerType, DICT, LIST, MAP, containers};
