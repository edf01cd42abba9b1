//! Traversal of object graphs: regions, walks, rewrites, substitution, uses and
//! copies.
//!
//! | file | job |
//! |---|---|
//! | `cursor.rs` | how a value is traversed: parts in the order of the contract, region, path |
//! | `rewrite.rs` | how a new value is built from an old one: cursors, changed parts, a `Policy` |
//! | `walker.rs`, `walk.rs` | `structural_walk` and `structural_visit`: marks, hooks, callbacks |
//! | `mapper.rs`, `map.rs` | `structural_map`, `structural_mutate`: results per object and region |
//! | `driver.rs` | the common part of walks and rewrites for hooks and controlling callbacks |
//! | `substitute.rs`, `bound.rs` | substitution, and the meaning of variables in each scope |
//! | `binders.rs` | free variables, new variables for all binders, faults of bindings |
//! | `methods/` | visits in which each node has a method that may wait for other results |
//! | `dispatch.rs`, `visitors.rs`, `functor.rs` | functions by class, and traversals over them |
//! | `parts.rs` | a value taken apart into children and put together again, for custom rewriters |
//! | `copy.rs` | copies, over `kernel/object/build.rs` |
//! | `graph.rs`, `bindings.rs` | a value as a graph with users and definitions, which is edited |
//! | `visibility.rs` | the variables of that graph that are used outside of their scope |
//! | `uses.rs` | the graph for users: users of a value, replacement of all uses |
//! | `roles.rs` | the attributes by which types say what binds, has no effect or commutes |
//!
//! Linearisation, comparison by fields, `repr` and the rewriting of patterns traverse
//! values by the same cursor; equality and hash have hot loops of their own. The contents
//! of a list or dict in a traversal are the contents at the time when the cursor opened
//! the container.
//!
//! A type's hooks for walks and rewrites count for a traversal only if the type had the
//! hooks when the traversal began. A traversal borrows the objects it visits; only
//! values handed in by hooks and callbacks have to be owned. A rewrite returns the same
//! object for unchanged parts, and preserves sharing.

mod binders;
pub(crate) mod bindings;
mod bound;
mod copy;
pub(crate) mod cursor;
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
pub(crate) mod substitute;
pub(crate) mod uses;
mod visibility;
mod visit;
pub(crate) mod visitors;
mod walk;
mod walker;

pub use binders::{
    BindingFault, BindingFaultKind, BindingFaults, check_well_formed, free_variables, fresh_binders,
};
pub use copy::{deep_copy, shallow_copy};
pub use dispatch::Dispatch;
pub use functor::{Before, NodeFunctor, Results};
pub use map::{structural_map, structural_mutate};
pub use mapper::DriveMutate;
pub use options::{ChildOptions, MapOptions, Sharing, WalkOptions, WalkOrder, WalkResult};
pub use parts::{Child, Children, children_of};
pub(crate) use recycle::recycle;
pub use roles::{BINDING, COMMUTATIVE, CONSTANT, PROJECTION, PURE};
pub use substitute::substitute;
pub use uses::{Definition, User, Uses, replace_all_uses};
pub use visit::Visit;
pub use visitors::{NodeMutator, NodeVisitor};
pub use walk::{structural_visit, structural_walk, walk_objects};
pub use walker::{DriveVisit, InterruptCodec};
