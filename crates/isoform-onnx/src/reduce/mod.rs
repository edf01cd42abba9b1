//! Programs that lose nodes, for the search for a small program that still fails.
//!
//! The caller decides which nodes go, and judges each result; see `isoform reduce`.
//!
//! | file | job |
//! |---|---|
//! | `removal.rs` | the nodes to lose, and what takes the place of their values |
//! | `rebuild.rs` | the program without these nodes |
//! | `variants.rs` | other programs with less in them: a branch for an If, fewer outputs |
//! | `types.rs` | the types of values |

mod rebuild;
mod removal;
#[cfg(test)]
mod tests;
mod types;
mod variants;

use std::collections::{HashMap, HashSet};

use isoform::{Ref, Result, Value};

use crate::export::SaveOptions;
use crate::ir::{Call, Program};
use crate::layout::{BodyKind, Listing, Node, list, operands};
use crate::values::{ValueKey, made_by, output};

use types::Types;

/// The values that take the place of those of lost nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The first value of the same type and shape from which the value was computed, and a
    /// new input where there is none.
    First,
    /// As `First`, with the last such value.
    Last,
    /// A new input.
    Input,
}

/// A program that can lose nodes.
///
/// The nodes are those of the main graph and of the bodies inside, in an order of
/// computation; nodes of local functions stay as long as the function is called.
///
/// ```no_run
/// use isoform_onnx::reduce::{Draft, Replacement};
///
/// let model = isoform_onnx::load("model.onnx")?;
/// let draft = Draft::new(model.program())?;
/// let mut lost = vec![false; draft.len()];
/// lost[..draft.len() / 2].fill(true);
/// if let Some(half) = draft.without(&lost, Replacement::Input)? {
///     isoform_onnx::save(half.program(), "second_half.onnx")?;
/// }
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Debug)]
pub struct Draft {
    program: Ref<Program>,
    listing: Listing,
    /// The nodes that can go.
    places: Vec<Place>,
    types: Types,
}

/// A node, by the positions of its body and in this body.
#[derive(Clone, Copy, Debug)]
struct Place {
    body: usize,
    node: usize,
}

impl Draft {
    /// The whole program. Linear in the program.
    ///
    /// # Errors
    ///
    /// `ValueError` for a program that cannot be written as a model.
    pub fn new(program: &Ref<Program>) -> Result<Draft> {
        SaveOptions::default().to_proto(program)?;
        let listing = list(program);
        let types = Types::of(program, &listing);
        Ok(Draft::assemble(program.clone(), listing, types))
    }

    fn assemble(program: Ref<Program>, listing: Listing, types: Types) -> Draft {
        let places = places(&listing);
        Draft {
            program,
            listing,
            places,
            types,
        }
    }

    /// The program.
    pub fn program(&self) -> &Ref<Program> {
        &self.program
    }

    /// The number of nodes as every report counts them, those of functions included. O(nodes).
    pub fn node_count(&self) -> usize {
        self.listing.node_count()
    }

    /// The number of nodes that can go. O(1).
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a draft is a program, not a container"
    )]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    fn node(&self, place: Place) -> &Node {
        &self.listing.bodies[place.body].nodes[place.node]
    }

    fn call(&self, place: Place) -> &Ref<Call> {
        &self.node(place).call
    }

    /// For each node, true if the given node needs it, directly or through others, or is the
    /// node itself. Linear in the program.
    pub fn needed_by(&self, node: usize) -> Vec<bool> {
        let mut needed = HashSet::new();
        let mut found = vec![false; self.places.len()];
        let owners = self.owners();
        for (at, place) in self.places.iter().enumerate().rev() {
            let call = self.call(*place);
            let is_inside = owners[at].is_some_and(|owner| found[owner]);
            if at == node || is_inside || needed.contains(&call.identity()) {
                found[at] = true;
                needed.extend(self.sources(*place));
            }
        }
        found
    }

    /// For each node, true if it needs the given node, directly or through others, or is the
    /// node itself. O(nodes × depth of bodies).
    pub fn users_of(&self, node: usize) -> Vec<bool> {
        let mut users = HashSet::new();
        let mut found = vec![false; self.places.len()];
        let owners = self.owners();
        for (at, place) in self.places.iter().enumerate() {
            let mut is_user = at == node || self.sources(*place).any(|call| users.contains(&call));
            // The inputs of a body have values of the node that holds it.
            let mut owner = owners[at];
            while let (Some(outer), false) = (owner, is_user) {
                let operands = operands(self.call(self.places[outer])).into_iter();
                let mut calls = operands.filter_map(|value| made_by(value).map(|(call, _)| call));
                is_user = calls.any(|call| users.contains(&call.identity()));
                owner = owners[outer];
            }
            if is_user {
                found[at] = true;
                users.insert(self.call(*place).identity());
            }
        }
        found
    }

    /// The calls whose values a node uses, or the results of its bodies.
    fn sources(&self, place: Place) -> impl Iterator<Item = u64> {
        let node = self.node(place);
        let results = node
            .bodies
            .iter()
            .flat_map(|(_, body)| self.listing.bodies[*body].kind.results().values());
        let values = operands(&node.call).into_iter().chain(results);
        values.filter_map(|value| made_by(value).map(|(call, _)| call.identity()))
    }

    /// For each node inside of a body, the node that holds the body.
    fn owners(&self) -> Vec<Option<usize>> {
        let mut owner_of_body = HashMap::new();
        for (at, place) in self.places.iter().enumerate() {
            let node = self.node(*place);
            for (_, body) in &node.bodies {
                owner_of_body.insert(*body, at);
            }
        }
        let owner = |place: &Place| owner_of_body.get(&place.body).copied();
        self.places.iter().map(owner).collect()
    }

    /// The draft of a changed program, unless it is not a valid model. `origin` has the former
    /// call of each rebuilt call, and `inputs` the values that became inputs.
    fn changed(
        &self,
        program: Ref<Program>,
        origin: &HashMap<u64, u64>,
        inputs: &[(Value, ValueKey)],
    ) -> Option<Draft> {
        SaveOptions::default().to_proto(&program).ok()?;
        let listing = list(&program);
        let mut types = self.types.empty();
        for (input, old) in inputs {
            types.copy(ValueKey::of(input), &self.types, *old);
        }
        for body in &listing.bodies {
            if let BodyKind::Function(_) = &body.kind {
                continue;
            }
            for param in body.kind.params().iter() {
                let key = ValueKey::of(&param.into());
                types.copy(key, &self.types, key);
            }
            for node in &body.nodes {
                let new = node.call.identity();
                let old = origin.get(&new).copied().unwrap_or(new);
                for index in 0..node.call.outputs {
                    let key = ValueKey::of(&output(&node.call, index));
                    types.copy(key, &self.types, ValueKey::Output(old, index));
                }
            }
        }
        Some(Draft::assemble(program, listing, types))
    }
}

/// The nodes of the main graph and of its bodies; nodes of a body come before the node that
/// holds the body.
fn places(listing: &Listing) -> Vec<Place> {
    enum Task {
        Body(usize),
        Node(Place),
    }
    let mut found = Vec::new();
    let mut stack = vec![Task::Body(0)];
    while let Some(task) = stack.pop() {
        match task {
            Task::Body(body) => {
                let nodes = listing.bodies[body].nodes.iter().enumerate().rev();
                for (node, entry) in nodes {
                    stack.push(Task::Node(Place { body, node }));
                    let bodies = entry.bodies.iter().rev();
                    stack.extend(bodies.map(|(_, body)| Task::Body(*body)));
                }
            }
            Task::Node(place) => found.push(place),
        }
    }
    found
}
