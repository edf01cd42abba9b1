//! Regions and walks: how a visit moves through an object graph.

mod bound;
mod children;
mod copy;
mod dispatch;
mod functor;
mod map;
mod marks;
mod memo;
mod options;
mod parts;
mod recycle;
mod substitute;
mod visitors;
mod walk;

pub use copy::{deep_copy, shallow_copy};
pub use dispatch::Dispatch;
pub use functor::{Before, NodeFunctor, Results};
pub(crate) use map::cyclic;
pub use map::{MapOptions, MapVisit, structural_map, structural_map_where};
pub use options::{Sharing, WalkOptions, WalkOrder, WalkResult};
pub use parts::{Child, ChildOptions, Children, children_of};
pub(crate) use recycle::recycle;
pub use substitute::substitute;
pub(crate) use substitute::substitute_in_free;
pub(crate) use visitors::visit_nodes;
pub use visitors::{NodeMutator, NodeVisitor};
pub use walk::{
    Interrupts, Visit, structural_walk, structural_walk_where, structural_walk_with, walk_objects,
};
