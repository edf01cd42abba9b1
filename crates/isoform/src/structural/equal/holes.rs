//! Holes: variables of the left value that stand for any part of the right one.
//!
//! Only the walk with the recorder knows them, so that plain equality asks no
//! question about them.

use std::sync::Arc;

use super::super::hole::HoleTable;
use crate::kernel::object::view::ObjRef;
use crate::kernel::value::Value;

/// The holes of one comparison.
pub(crate) struct Holes<'a> {
    pub(super) table: Arc<HoleTable>,
    /// What each hole stands for.
    pub(super) parts: Vec<Option<Part<'a>>>,
    /// The holes that were filled, in this order.
    pub(super) filled: Vec<usize>,
    /// Bindings, by number, that were undone.
    pub(super) undone: Vec<std::ops::Range<usize>>,
}

/// What a hole stands for.
pub(crate) struct Part<'a> {
    pub(super) object: ObjRef<'a>,
    /// The bindings of definition fields in force where it was found.
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

/// What a template's holes and variables stand for.
pub(crate) struct Filled {
    /// By hole, with the positions in `pairs` of the bindings around it.
    pub(crate) parts: Vec<Option<(Value, Vec<usize>)>>,
    pub(crate) pairs: Vec<VarPair>,
}

/// A variable of the left value and its partner.
pub(crate) struct VarPair {
    pub(crate) left: Value,
    pub(crate) right: Value,
    /// Whether a definition field bound it, and so it is bound in the value.
    pub(crate) defined: bool,
}
