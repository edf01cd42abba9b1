//! Traversal of object graphs: regions, walks, rewrites, substitution, uses and
//! copies.

pub(crate) mod bindings;
mod bound;
mod copy;
pub(crate) mod cursor;
#[cfg(any(feature = "tir", feature = "pto", feature = "relay"))]
mod dialect_roles;
mod dispatch;
mod driver;
mod functor;
pub(crate) mod graph;
mod map;
mod mapper;
mod marks;
pub(crate) mod memo;
pub(crate) mod methods;
mod options;
mod parts;
mod recycle;
pub(crate) mod rewrite;
pub(crate) mod roles;
mod substitute;
pub(crate) mod uses;
mod visibility;
mod visited;
mod visitors;
mod walk;
mod walker;

pub use copy::{deep_copy, shallow_copy};
#[cfg(any(feature = "tir", feature = "pto", feature = "relay"))]
pub(crate) use dialect_roles::DialectRoles;
#[cfg(feature = "pto")]
pub(crate) use dialect_roles::declare;
pub use dispatch::Dispatch;
pub use functor::{Before, NodeFunctor, Results};
pub use map::{structural_map, structural_mutate};
pub use mapper::DriveMutate;
pub use options::{ChildOptions, MapOptions, Sharing, WalkOptions, WalkOrder, WalkResult};
pub use parts::{Child, Children, children_of};
pub(crate) use recycle::recycle;
pub use roles::{BINDING, COMMUTATIVE, CONSTANT, PROJECTION, PURE};
pub(crate) use substitute::free_variables;
pub use substitute::substitute;
#[cfg(feature = "pto")]
pub(crate) use substitute::substitute_in_free;
pub use uses::{Definition, User, Uses, replace_all_uses};
pub use visited::Visit;
#[cfg(feature = "pto")]
pub(crate) use visitors::visit_nodes;
pub use visitors::{NodeMutator, NodeVisitor};
pub use walk::{structural_visit, structural_walk, walk_objects};
pub use walker::{DriveVisit, InterruptCodec};
