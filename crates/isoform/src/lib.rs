//! Isoform ("equal in form"): declare the node types of an IR once, and never write
//! their equality, hashing, traversal or rewriting by hand: comparison modulo renaming
//! of variables, portable digests, explained mismatches, walks, rewrites and files all
//! follow from the declaration.
//!
//! ```
//! use isoform::{Array, Node, Obj, Ref, Str, explain_mismatch, structural_digest, structural_equal};
//!
//! /// A variable, identified by its binding; the name is ignored.
//! #[derive(Node)]
//! #[node(key = "demo.Var", kind = var)]
//! #[repr(C)]
//! pub struct Var {
//!     /// Not compared.
//!     #[node(ignore)]
//!     pub name: Str,
//! }
//!
//! /// A sum.
//! #[derive(Node)]
//! #[node(key = "demo.Add")]
//! #[repr(C)]
//! pub struct Add {
//!     /// Left operand.
//!     pub lhs: Ref<Obj>,
//!     /// Right operand.
//!     pub rhs: Ref<Obj>,
//! }
//!
//! /// A function: its parameters are bound in it, and only in it.
//! #[derive(Node)]
//! #[node(key = "demo.Fun", scope)]
//! #[repr(C)]
//! pub struct Fun {
//!     /// Bound here.
//!     #[node(def)]
//!     pub params: Array<Ref<Var>>,
//!     /// What it computes.
//!     pub body: Ref<Obj>,
//! }
//!
//! let double = |name: &str| {
//!     let x = Var::new(name);
//!     Fun::new([x.clone()], Add::new(&x, &x))
//! };
//! let (f, g) = (double("x"), double("y"));
//! assert!(structural_equal(&f, &g)?);
//! assert_eq!(structural_digest(&f)?, structural_digest(&g)?);
//!
//! let (x, y) = (Var::new("x"), Var::new("y"));
//! let sum = Fun::new([x.clone(), y.clone()], Add::new(&x, &y));
//! let square = Fun::new([x.clone(), y.clone()], Add::new(&x, &x));
//! let mismatch = explain_mismatch(&sum, &square)?.expect("they differ");
//! assert_eq!(mismatch.left_path.to_string(), "<root>.body.rhs");
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! # Concepts
//!
//! A node type is a description of fields. Its **kind** defines when two of its
//! objects are equal:
//!
//! | kind | equal if | for |
//! |---|---|---|
//! | [`tree`](types::Kind::Tree) | all fields are; sharing is invisible | expressions, statements, types |
//! | [`const_tree`](types::Kind::ConstTree) | as `tree`, and at once when they are the same object | interned values without variables |
//! | [`dag`](types::Kind::Dag) | fields are, and sharing is the same on both sides | dataflow nodes |
//! | [`var`](types::Kind::Var) | bound at corresponding places | variables |
//! | [`singleton`](types::Kind::Singleton) | they are the same object | operators of a registry |
//! | [`none`](types::Kind::None) | never; comparing one is an error | handles, caches |
//!
//! A field may be left out of the comparison (`ignore`) or bind variables
//! (`def`, `def_simple`, undone by `uses`); a type may end the bindings made inside it
//! (`scope`). [`StructuralEqual`](hooks::StructuralEqual) and
//! [`StructuralHash`](hooks::StructuralHash) replace the walk over the fields of one
//! type by its own code.
//!
//! | to | use |
//! |---|---|
//! | declare a type in Rust | [`#[derive(Node)]`](derive@Node) |
//! | declare a type at run time | [`TypeDef`](types::TypeDef), [`register_type`](types::register_type), [`construct`](objects::construct) |
//! | change a field | [`FieldDef::mutable`](types::FieldDef::mutable), [`set_field`](objects::set_field) |
//! | compare | [`structural_equal`], [`explain_mismatch`], [`CompareOptions`](compare::CompareOptions) |
//! | hash, name, look up | [`structural_hash`], [`structural_digest`], [`StructuralKey`](compare::StructuralKey) |
//! | find equal subterms | [`subterm_classes`](compare::subterm_classes), [`duplicates`](compare::duplicates), [`repeated_blocks`](compare::repeated_blocks), [`intern`](compare::intern) |
//! | visit | [`structural_walk`](traverse::structural_walk), [`walk_objects`](traverse::walk_objects), [`children_of`](traverse::children_of) |
//! | rewrite | [`structural_map`](traverse::structural_map), [`substitute`](traverse::substitute), [`Children::rebuild`](traverse::Children::rebuild) |
//! | decide by class | [`Dispatch`](traverse::Dispatch), [`NodeVisitor`](traverse::NodeVisitor), [`NodeMutator`](traverse::NodeMutator), [`NodeFunctor`](traverse::NodeFunctor) |
//! | match templates, rewrite by rule | [`pattern`] |
//! | copy | [`deep_copy`](traverse::deep_copy), [`shallow_copy`](traverse::shallow_copy) |
//! | compare and print by fields | [`recursive_eq`](compare::recursive_eq), [`recursive_cmp`](compare::recursive_cmp), [`recursive_hash`](compare::recursive_hash), [`repr()`](objects::repr) |
//! | start with types, expressions, modules, operators, passes | the crate `isoform-ir` |
//! | use a dialect | the crates `isoform-relay`, `isoform-pto` |
//! | attach behaviour | [`attrs`], [`TypeDef::attr`](types::TypeDef::attr), [`Hook`](hooks::Hook) |
//! | check | [`verify()`](objects::verify) |
//! | write and read files | [`to_json_graph`](files::to_json_graph), [`from_json_graph`](files::from_json_graph), [`to_bytes`](files::to_bytes), [`from_bytes`](files::from_bytes) |
//! | variables | [`free_variables`](traverse::free_variables), [`fresh_binders`](traverse::fresh_binders), [`check_well_formed`](traverse::check_well_formed) |
//! | print and parse | [`to_text`](text::to_text), [`from_text`](text::from_text), [`assert_structural_equal`](text::assert_structural_equal), [`assert_structural_eq!`], [`assert_golden!`], [`render_mismatch`](text::render_mismatch) |
//! | find a place | [`AccessPath`](paths::AccessPath) |
//! | call by name | [`Function`](functions::Function), [`register_function`](functions::register_function), [`global_function`](functions::global_function), [`export`](macro@export) |
//! | give methods to types | [`register_method`](functions::register_method), [`call_method`](functions::call_method) |
//! | hold values | [`Value`], [`Ref`], [`Array`], [`List`](values::List), [`Map`], [`Dict`](values::Dict), [`Tensor`](values::Tensor) |
//!
//! # What always holds
//!
//! * Equal values have the same hash and the same digest; floats are compared
//!   by bits, and all NaNs are one.
//! * No traversal recurses on the native stack: a chain of ten million nodes
//!   compares, hashes, walks and drops.
//! * Cost is linear in the number of distinct objects, however they are shared.
//! * Nothing reachable from safe code panics on user data; what went wrong is
//!   an [`Error`] that names the type and the place.

pub mod attrs;
mod by_fields;
pub mod files;
mod kernel;
pub mod pattern;
#[doc(hidden)]
pub mod plumbing;
mod structural;
pub mod text;
pub mod traverse;

pub use isoform_macros::{Node, dialect, export};
pub use kernel::container::{Array, Map, Str};
pub use kernel::error::{Error, Result};
pub use kernel::object::reference::{Node, Obj, Ref};
pub use kernel::value::Value;
pub use structural::{explain_mismatch, structural_digest, structural_equal, structural_hash};

/// Comparison beyond the default: its options, digests, explained mismatches, keys for
/// hash tables, classes of equal subterms, and comparison by fields.
pub mod compare {
    pub use crate::by_fields::recursive::{recursive_cmp, recursive_eq, recursive_hash};
    pub use crate::kernel::container::StructuralKey;
    #[doc(hidden)]
    pub use crate::structural::visiting_everything;
    pub use crate::structural::{
        Change, ChangeKind, Class, ClassCosts, ClassOptions, CompareOptions, Conflict, DiffCosts,
        DiffOptions, Difference, Digest, Duplicate, ExistingPair, HoleRefusal, Hunk, IgnoreChange,
        IncrementalHasher, Merge, Mismatch, MismatchReason, PairReason, Patch, Place, PlacePaths,
        RepeatedBlock, Resolution, SubtermClasses, declaration_digest, diff, duplicates,
        first_structural_mismatch, intern, last_visit_count, merge, repeated_blocks,
        subterm_classes,
    };
}

/// The values that fields hold besides objects: lists, dicts, tensors, data types.
pub mod values {
    pub use crate::kernel::container::{Bytes, Dict, List, MapIter, OpaqueObj, Shape, Tensor};
    pub use crate::kernel::types::Complex;
    pub use crate::kernel::value::{DType, DTypeCode, Device, ValueRef};
}

/// Types as data: declare them at run time, find registered ones, read their fields.
pub mod types {
    pub use crate::kernel::convert::{IntoField, IsA};
    pub use crate::kernel::object::field::{ElementType, FieldType, Storage};
    pub use crate::kernel::object::header::TypeIndex;
    pub use crate::kernel::object::table::TypeInfo;
    pub use crate::kernel::types::names::{DIFF_ALIGN, TEXT_NAME, TEXT_TYPE, VISIT_NAME};
    pub use crate::kernel::types::singletons::{find_singleton, register_singleton};
    pub use crate::kernel::types::{
        Enumerator, FieldDef, FieldFlag, HostSchema, Kind, NodeEnum, RegionChange, RegionKind,
        Schema, TypeDef, TypeRef, find_type, register, register_enum, register_type,
        registered_types,
    };
}

/// Objects whose type is known only at run time: make, read, change, check and print
/// them; and the collection of cycles.
pub mod objects {
    pub use crate::by_fields::repr::{
        REPEATED_LENGTH, REPEATED_TOTAL, ReprHooks, ReprOptions, repr,
    };
    pub use crate::by_fields::verify::{VerifyHooks, verify};
    pub use crate::kernel::object::collect::{collect_cycles, tracked_count};
    pub use crate::kernel::object::dynamic::{
        construct, construct_named, field_value, field_value_at, overwrite_field_at, set_field,
        set_field_at, with_field,
    };
}

/// Functions and methods that each language calls by name.
pub mod functions {
    pub use crate::kernel::function::{
        Argument, Function, Parameter, Returned, Signature, TypedFunction,
    };
    pub use crate::kernel::types::{
        call_method, global_function, list_functions, register_function, register_functions,
        register_method, remove_function,
    };
}

/// Custom behaviour of a type in comparison, hashes, walks, rewrites, files and text.
pub mod hooks {
    pub use crate::kernel::hooks::{
        DynConvert, DynCopy, DynEqual, DynFromJson, DynHash, DynKeyEqual, DynKeyHash, DynMutate,
        DynRecursiveCompare, DynRecursiveEqual, DynRecursiveHash, DynRepr, DynToJson, DynVerify,
        DynVisit, EqualCallback, HashCallback, Hook, MAX_HOOK_DEPTH, MutateCallback,
        StructuralEqual, StructuralHash, Verify, VisitCallback,
    };
}

/// The place of a value inside another one.
pub mod paths {
    pub use crate::kernel::path::tree::{Above, PathTree};
    pub use crate::kernel::path::{AccessPath, AccessStep};
}

/// The parts of an [`Error`]: its kind, and the functions that it passed.
pub mod errors {
    pub use crate::kernel::error::{ErrorFrame, ErrorKind};
}

/// The functions of `#[isoform::export]` at these paths, as an array for
/// [`register_functions`](functions::register_functions).
///
/// ```
/// /// Twice the number.
/// #[isoform::export("doc.double")]
/// fn double(x: i64) -> i64 {
///     2 * x
/// }
///
/// isoform::functions::register_functions(isoform::exports![double])?;
/// let found = isoform::functions::global_function("doc.double")?;
/// assert_eq!(found.doc(), Some("Twice the number."));
/// assert_eq!(found.call(&[21.into()])?, 42.into());
/// # Ok::<(), isoform::Error>(())
/// ```
#[macro_export]
macro_rules! exports {
    ($($function:path),* $(,)?) => {
        [$(<$function>::function()),*]
    };
}

/// Registers the functions of `#[isoform::export]` at these paths under their names:
/// [`register_functions`](functions::register_functions) of [`exports!`].
#[macro_export]
macro_rules! register_functions {
    ($($function:path),* $(,)?) => {
        $crate::functions::register_functions($crate::exports![$($function),*])
    };
}

/// Registers functions of `#[isoform::export]` as methods of a node type, as
/// [`register_method`](functions::register_method) does for one.
///
/// ```
/// use isoform::{Node, Ref};
///
/// /// A number.
/// #[derive(Node)]
/// #[node(key = "doc.methods.Number")]
/// #[repr(C)]
/// pub struct Number {
///     /// The value.
///     pub value: i64,
/// }
///
/// /// Twice the number.
/// #[isoform::export("doc.methods.Number.double")]
/// fn double(this: &Ref<Number>) -> i64 {
///     2 * this.value
/// }
///
/// isoform::register_methods! { Number: double = double }?;
/// let doubled = isoform::functions::call_method(Number::new(21), "double", &[])?;
/// assert_eq!(doubled, 42.into());
/// # Ok::<(), isoform::Error>(())
/// ```
#[macro_export]
macro_rules! register_methods {
    ($node:ty: $($name:ident = $function:path),* $(,)?) => {
        (|| -> $crate::Result<()> {
            let ty = <$node as $crate::Node>::type_index();
            $($crate::functions::register_method(
                ty,
                stringify!($name),
                <$function>::function(),
                false,
            )?;)*
            Ok(())
        })()
    };
}

// The Rust example of the README runs with the other documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

// The examples of the page run, too.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/text.md")]
struct TextPage;

// So do those of the page about functions.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/functions.md")]
struct FunctionsPage;
// So do those of the page about patterns.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/pattern.md")]
struct PatternPage;
// So do those of the pages.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/type-attributes.md")]
struct TypeAttributes;
// So do those of the page about differences.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/diff.md")]
struct DiffPage;
// So do those of the quick start.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/quick-start.md")]
struct QuickStartPage;
// So do those for users of egg.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/from-egg.md")]
struct FromEggPage;

/// For the binding of a host language: wrappers, raw references, reads
/// without copies. Programs written in Rust need none of it.
pub mod host {
    /// The index of the first type that is not built in.
    pub const FIRST_DECLARED_TYPE: u32 = crate::kernel::object::native::FIRST_USER_TYPE;
    /// Returns the kind of an object by its type: containers, tensors, functions and
    /// long strings under their own variants. O(1).
    pub fn view(object: &crate::Ref<crate::Obj>) -> crate::values::ValueRef<'_> {
        crate::kernel::value::view_object(object)
    }
    /// The contents of a container of any type, those of a list or dict as they are now;
    /// None for any other value. O(1).
    pub fn contents(value: &crate::Value) -> Option<Contents> {
        value.contents()
    }
    /// True for a list or dict.
    pub fn is_mutable_container(value: &crate::Value) -> bool {
        let container = value.container();
        container.is_some_and(|container| container.is_mutable())
    }
    /// The hooks of a type for comparison and hash, where it has them. O(1).
    pub fn structural_hooks(
        info: &'static crate::types::TypeInfo,
    ) -> (
        Option<&'static crate::hooks::DynEqual>,
        Option<&'static crate::hooks::DynHash>,
    ) {
        (info.hooks.equal.get(), info.hooks.hash.get())
    }
    pub use crate::files::binary::{
        TensorsApart, from_bytes_apart, to_bytes_apart, to_bytes_with_types,
    };
    pub use crate::kernel::container::{Contents, hooked_key_hash};
    pub use crate::kernel::error::HostTraceback;
    pub use crate::kernel::hooks::{ScopedEqual, ScopedHash, ScopedMutate, ScopedVisit};
    pub use crate::kernel::object::collect::visit_exclusively_owned;
    pub use crate::kernel::object::dynamic::construct_from;
    pub use crate::kernel::object::ffi::{
        FieldPlace, FieldRef, PRESERVED, borrow_raw, extends, field_values, from_raw_pointer,
        holds_typed_containers, host_word, note_reading, read_field, set_preserved_hook,
        type_index_of, type_info, while_nobody_writes,
    };
    pub use crate::kernel::object::host_lock::{HostHooks, assume_held, install};
    pub use crate::kernel::object::native::is_plain;
    pub use crate::kernel::object::scoped::{ScopedRef, with_scoped};
    pub use crate::kernel::object::table::find_in_file as find_type_in_file;
    pub use crate::kernel::path::places::{Place, Places, Step};
    pub use crate::kernel::types::{
        field_hint, name_hint, replace_type, replaced_note, set_method_hook,
    };
    pub use crate::structural::objects_equal;
    pub use crate::traverse::methods::{
        Call, Hooks, Memory, Methods, Outcome, Resumed, Retention, Stop, result_of, result_of_call,
    };
}

/// Items that the derive macro names; not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use isoform_macros::Node as DeriveNode;

    pub use crate::attrs::macros::*;
    pub use crate::attrs::{Implementation, NodeTrait, TraitMethod};
    pub use crate::kernel::convert::{IntoField, IsA};
    pub use crate::kernel::error::Result;
    pub use crate::kernel::function::{
        Borrowed, Call, Function, Returned, parameter, parameter_ref, signature,
    };
    pub use crate::kernel::hooks::{DynConvert, DynEqual, DynHash, DynVerify, Hook};
    pub use crate::kernel::object::field::{FieldType, may_bind};
    pub use crate::kernel::object::header::TypeIndex;
    pub use crate::kernel::object::reference::{Node, Obj, Ref};
    pub use crate::kernel::object::type_cell::TypeCell;
    pub use crate::kernel::types::match_node::NodeLike;
    pub use crate::kernel::types::{
        EnumKnowledge, enum_definition, enum_member, enum_object, repeated_name,
    };
    pub use crate::kernel::types::{FieldDef, FieldFlag, INIT, Kind, TypeDef, register_in};
    pub use crate::kernel::value::Value;
    pub use crate::text::golden::check_golden;
    pub use crate::traverse::{Dispatch, WalkResult};
    pub use std::sync::OnceLock;

    /// A field's default as a value, converted through the field's own type.
    pub fn into_value<F: FieldType + Into<Value>>(value: impl Into<F>) -> Value {
        value.into().into()
    }
}
