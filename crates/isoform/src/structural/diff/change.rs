//! One change between two values.

use std::fmt;
use std::sync::Arc;

use super::places::{Place, Places};
use crate::kernel::display;
use crate::kernel::path::AccessPath;
use crate::kernel::value::Value;

/// The effect of a [`Change`] on the left value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ChangeKind {
    /// A number, string or other value without parts became another value.
    Value,
    /// A part is only on the right.
    Inserted,
    /// A part is only on the left.
    Deleted,
    /// A part is at another place on the right.
    Moved,
    /// A part became a part of a new object at its place.
    Wrapped,
    /// A part is in the place of an object that was around it.
    Unwrapped,
    /// A part became a part of another type.
    Replaced,
    /// Another variable is used.
    Variable,
    /// One shared node became two, or two became one.
    Sharing,
    /// A value is under another key of the map.
    KeyRenamed,
    /// A tensor has another type, shape or other elements.
    Tensor,
    /// The value under a key of a map became another value.
    Attribute,
    /// A shared node takes an operand from another node that is on both sides.
    Rewired,
}

impl ChangeKind {
    /// All kinds.
    pub const ALL: [ChangeKind; 13] = [
        ChangeKind::Value,
        ChangeKind::Inserted,
        ChangeKind::Deleted,
        ChangeKind::Moved,
        ChangeKind::Wrapped,
        ChangeKind::Unwrapped,
        ChangeKind::Replaced,
        ChangeKind::Variable,
        ChangeKind::Sharing,
        ChangeKind::KeyRenamed,
        ChangeKind::Tensor,
        ChangeKind::Attribute,
        ChangeKind::Rewired,
    ];

    /// The name of the kind, in JSON and Python.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Value => "value",
            ChangeKind::Inserted => "inserted",
            ChangeKind::Deleted => "deleted",
            ChangeKind::Moved => "moved",
            ChangeKind::Wrapped => "wrapped",
            ChangeKind::Unwrapped => "unwrapped",
            ChangeKind::Replaced => "replaced",
            ChangeKind::Variable => "variable",
            ChangeKind::Sharing => "sharing",
            ChangeKind::KeyRenamed => "key renamed",
            ChangeKind::Tensor => "tensor",
            ChangeKind::Attribute => "attribute",
            ChangeKind::Rewired => "rewired",
        }
    }

    /// The kind with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of the way back.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            ChangeKind::Inserted => ChangeKind::Deleted,
            ChangeKind::Deleted => ChangeKind::Inserted,
            ChangeKind::Wrapped => ChangeKind::Unwrapped,
            ChangeKind::Unwrapped => ChangeKind::Wrapped,
            other => other,
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A change between two values, with all places of the same change.
#[derive(Clone)]
pub struct Change {
    pub(super) kind: ChangeKind,
    pub(super) count: u64,
    pub(super) left: Option<Value>,
    pub(super) right: Option<Value>,
    pub(super) sizes: (u64, u64),
    pub(super) at: Vec<u32>,
    pub(super) places: Arc<Places>,
    pub(super) is_inverse: bool,
}

impl Change {
    /// The kind of change.
    pub fn kind(&self) -> ChangeKind {
        self.kind
    }

    /// The number of occurrences, counting all places of a shared part; `u64::MAX` if
    /// there are more. A dag node is at one place, however often it is used.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The value on the left; None for a change without a left value.
    pub fn left(&self) -> Option<&Value> {
        self.left.as_ref()
    }

    /// The value on the right; None for a change without a right value.
    pub fn right(&self) -> Option<&Value> {
        self.right.as_ref()
    }

    /// The number of nodes that the change takes away on the left: all nodes of a
    /// deleted, moved or replaced part, the nodes around an unwrapped part, otherwise
    /// one.
    pub fn left_size(&self) -> u64 {
        self.sizes.0
    }

    /// The number of nodes that the change brings on the right.
    pub fn right_size(&self) -> u64 {
        self.sizes.1
    }

    /// The place on the left; for a part that is only on the right, the place of the
    /// object into which the part was inserted. O(depth).
    pub fn left_path(&self) -> AccessPath {
        self.place(0, 0).path()
    }

    /// The place on the right; for a part that is only on the left, the place of the
    /// object from which the part was deleted. O(depth).
    pub fn right_path(&self) -> AccessPath {
        self.place(0, 1).path()
    }

    /// The places of the change on both sides, one per distinct pair of objects. O(1)
    /// per place.
    pub fn places(&self) -> impl ExactSizeIterator<Item = (Place, Place)> {
        (0..self.at.len()).map(|number| (self.place(number, 0), self.place(number, 1)))
    }

    /// The paths of these [`places`](Self::places). O(depth) per path.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = (AccessPath, AccessPath)> {
        self.places()
            .map(|(left, right)| (left.path(), right.path()))
    }

    fn place(&self, number: usize, side: usize) -> Place {
        let side = side ^ usize::from(self.is_inverse);
        let place = self.at.get(number).copied().unwrap_or_default();
        Place::new(self.places.clone(), place, side)
    }

    /// The change on the way back.
    #[must_use]
    pub(super) fn inverted(&self) -> Self {
        Change {
            kind: self.kind.inverse(),
            left: self.right.clone(),
            right: self.left.clone(),
            sizes: (self.sizes.1, self.sizes.0),
            is_inverse: !self.is_inverse,
            ..self.clone()
        }
    }
}

impl fmt::Display for Change {
    /// One line: kind, place, values; the places of both sides if they differ. Variables and
    /// members of enums are shown by name, objects without the fields that do not count.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths = [self.left_path(), self.right_path()];
        write_place(f, self.kind, paths)?;
        match (&self.left, &self.right) {
            (Some(left), Some(right)) => {
                let [left, right] =
                    display::lines_that_differ([left, right], display::KEY_BUDGET, display::line);
                write!(f, ": {left} -> {right}")?;
            }
            (Some(one), None) | (None, Some(one)) => {
                write!(f, ": {}", display::line(one, display::KEY_BUDGET))?;
            }
            (None, None) => {}
        }
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

/// The kind and the place of a change: both places if a part is on both sides and they differ.
pub(crate) fn write_place(
    f: &mut fmt::Formatter<'_>,
    kind: ChangeKind,
    [left, right]: [AccessPath; 2],
) -> fmt::Result {
    // Keys of maps may be other objects with the same text on both sides.
    let [left, right] = [left.to_string(), right.to_string()];
    match kind {
        ChangeKind::Deleted => write!(f, "{kind} at {left}"),
        ChangeKind::Inserted => write!(f, "{kind} at {right}"),
        _ if left == right => write!(f, "{kind} at {right}"),
        _ => write!(f, "{kind} at {left} on the left, {right} on the right"),
    }
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Change {self}>")
    }
}
