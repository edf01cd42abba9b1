//! Names for the sister crates of Isoform, which extend its engines; not part of the public
//! interface, and free to change between any two versions.

// Long walks that end at an interruption, and reads under the lock of the host language.
pub use crate::kernel::object::access::{Poll, Section};
/// Long reads.
pub mod access {
    pub use crate::kernel::object::access::{outside, traversing};
}
// Walks over borrowed objects: the cursor, the arena of objects that a walk has to own, and
// the results of a memo by object.
pub use crate::kernel::object::arena::Arena;
pub use crate::kernel::object::view::{ObjRef, PartRef};
pub use crate::traverse::cursor::{Cursor, Part, View, cyclic};
pub use crate::traverse::memo::Results as MemoResults;
pub use crate::traverse::rewrite::{Outcome, Policy, Progress, Rewriter};
// Copies of objects with other fields, without the conversions of construction.
pub use crate::kernel::object::build::with_fields;
pub use crate::kernel::object::class::Payload;
// Caches of results: which objects have hashes to keep, and which types have changed.
pub use crate::kernel::object::header::note_remembered;
pub use crate::kernel::object::moment::changed_types;
/// Rows of the type table.
pub mod table {
    pub use crate::kernel::object::table::{find, info, is_a};
}
pub use crate::kernel::types::attr_table::AttrTable;
pub use crate::kernel::union_find::UnionFind;
// Tensors compared element by element.
pub use crate::kernel::container::tensor::NanRule;
pub use crate::structural::leaf::element_bits;
// Errors in texts, and parts of programs in messages.
pub use crate::text::fault::text_error;
pub use crate::text::mismatch::excerpt;
// Declared roles of operators and fields, and walks by them.
pub use crate::traverse::roles::{Binding, RoleTable, unfit, visited_position};
pub use crate::traverse::substitute::{free_variables, substitute_in_free};
pub use crate::traverse::visitors::visit_nodes;
