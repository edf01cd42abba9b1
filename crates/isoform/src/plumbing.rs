//! Names for the sister crates of Isoform, which extend its engines; not part of the public
//! interface, and free to change between any two versions.
//!
//! | names | for |
//! |---|---|
//! | [`Poll`] | loops of passes that end at an interruption |
//! | [`access`], [`Section`], [`Arena`], [`ObjRef`], [`PartRef`], [`Cursor`], [`Part`], [`View`], [`cyclic`] | walks of a dialect that borrow the objects they visit |
//! | [`Rewriter`], [`Policy`], [`Outcome`], [`Progress`], [`MemoResults`] | rewrites of a dialect on the engine of `structural_map` |
//! | [`with_fields`], [`Payload`] | copies of a node with other fields, and the choice of nodes to copy |
//! | [`note_remembered`], [`changed_types`] | caches of results that end with a write, or with a change of a type |
//! | [`table`] | classes of nodes by key, and the question whether one extends another |
//! | [`AttrTable`] | attributes of operators, in the form of those of types |
//! | [`AncestorTree`], [`Rows`] | scopes around expressions, post-dominators, causes of effects |
//! | [`UnionFind`] | unification of types, groups of fused operators |
//! | [`align_words`] | listings of two texts line by line, at a bounded cost |
//! | [`NanRule`], [`element_bits`] | differences of tensors in the elements that comparison tells apart |
//! | [`text_error`], [`excerpt`] | mistakes in a pipeline, and places in a program, underlined |
//! | [`controls_terminal`] | texts from files on a terminal |
//! | [`sketches`], [`read_data`] | files of unknown types, shown by the file alone |
//! | [`own_text`] | the text that a type gives its objects, which messages of the core show, too |
//! | [`Binding`], [`RoleTable`], [`unfit`], [`visited_position`] | the roles of fields that common subexpression elimination reads |
//! | [`free_variables`], [`substitute_in_free`], [`visit_nodes`] | variables of a function, and the visitors of a dialect |

pub use crate::files::json::read_data;
pub use crate::kernel::ancestors::AncestorTree;
pub use crate::kernel::container::tensor::NanRule;
pub use crate::kernel::display::{controls_terminal, own_text};
pub use crate::kernel::object::access::{Poll, Section};
pub use crate::kernel::object::arena::Arena;
pub use crate::kernel::object::build::with_fields;
pub use crate::kernel::object::class::Payload;
pub use crate::kernel::object::header::note_remembered;
pub use crate::kernel::object::moment::changed_types;
pub use crate::kernel::object::view::{ObjRef, PartRef};
pub use crate::kernel::rows::Rows;
pub use crate::kernel::types::attr_table::AttrTable;
pub use crate::kernel::union_find::UnionFind;
pub use crate::structural::align_words;
pub use crate::structural::leaf::element_bits;
pub use crate::text::fault::text_error;
pub use crate::text::mismatch::excerpt;
pub use crate::traverse::cursor::{Cursor, Part, View, cyclic};
pub use crate::traverse::free_variables;
pub use crate::traverse::memo::Results as MemoResults;
pub use crate::traverse::rewrite::{Outcome, Policy, Progress, Rewriter};
pub use crate::traverse::roles::{Binding, RoleTable, is_constant, unfit, visited_position};
pub use crate::traverse::substitute::substitute_in_free;
pub use crate::traverse::visitors::visit_nodes;

/// Sections in which the fields of objects are read.
pub mod access {
    pub use crate::kernel::object::access::{outside, traversing};
}

/// Rows of the table of types.
pub mod table {
    pub use crate::kernel::object::table::{find, info, is_a};
}

/// The types of files without their declarations, and types in place of unknown ones.
pub mod sketches {
    pub use crate::files::binary::type_sketches as of_binary;
    pub use crate::kernel::types::stand_ins::{FieldSketch, TypeSketch, with_stand_ins};
    pub use crate::text::sketch::type_sketches as of_text;

    /// True if files can name a type by this key.
    pub fn is_known(key: &str) -> bool {
        crate::kernel::object::table::find_in_file(key).is_some()
    }

    /// True if a JSON graph refers to a node by this field of a known type.
    pub fn is_reference(key: &str, field: &str) -> bool {
        let Some(info) = crate::kernel::object::table::find_in_file(key) else {
            return false;
        };
        info.file_hooks().is_none()
            && info
                .field_index_in_file(field)
                .is_some_and(|position| info.slots[position].storage.inline().is_none())
    }
}
