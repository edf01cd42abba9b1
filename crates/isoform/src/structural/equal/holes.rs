//! Holes: variables of the left value that match any part of the right value.
//!
//! Only the walk with the recorder supports holes, and plain equality never has to
//! check for them.

use std::sync::Arc;

use super::super::hole::HoleTable;
use crate::kernel::object::view::ObjRef;
use crate::kernel::value::Value;

/// The holes of one comparison.
pub(crate) struct Holes<'a> {
    pub(super) table: Arc<HoleTable>,
    /// The parts, by hole.
    pub(super) parts: Vec<Option<Part<'a>>>,
    /// The holes that are filled, in this order.
    pub(super) filled: Vec<usize>,
    /// Undone bindings, by number.
    pub(super) undone: Vec<std::ops::Range<usize>>,
}

/// The part that fills a hole.
pub(crate) struct Part<'a> {
    pub(super) object: ObjRef<'a>,
    /// The bindings of definition fields in force at the part's place.
    pub(super) around: Vec<u32>,
}

impl Holes<'_> {
    pub(crate) fn new(table: Arc<HoleTable>) -> Self {
        Holes {
            parts: (0..table.len()).map(|_| None).collect(),
            table,
            filled: Vec::new(),
            undone: Vec::new(),
        }
    }

    /// The state, for [`undo`](Self::undo).
    pub(super) fn mark(&self) -> usize {
        self.filled.len()
    }

    /// Empties the holes filled since the mark; `bindings` were undone.
    pub(super) fn undo(&mut self, mark: usize, bindings: std::ops::Range<usize>) {
        for hole in self.filled.drain(mark..) {
            self.parts[hole] = None;
        }
        if !bindings.is_empty() {
            self.undone.push(bindings);
        }
    }
}

/// The values of a template's holes and variables.
pub(crate) struct Filled {
    /// By hole, with the positions in `pairs` of the bindings around the part.
    pub(crate) parts: Vec<Option<(Value, Vec<usize>)>>,
    pub(crate) pairs: Vec<VarPair>,
}

/// A variable of the left value and its partner.
pub(crate) struct VarPair {
    pub(crate) left: Value,
    pub(crate) right: Value,
    /// True if a definition field bound the variable, which is then bound in the value.
    pub(crate) defined: bool,
}
