//! The summaries of subterms.

use super::table::{ClassCosts, ClassOptions};
use super::var_maps::{MapId, NO_MAP};
use crate::kernel::error::Result;
use crate::kernel::object::access::Poll;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::pages::Pages;

/// The summary of a subterm.
#[derive(Clone, Copy)]
pub(super) struct Summary {
    /// The hash of the structure without names.
    pub(super) hash: u64,
    /// The number of nodes, counted at every occurrence.
    pub(super) size: u64,
    pub(super) height: u32,
    pub(super) map: MapId,
    pub(super) flags: u8,
}

impl Summary {
    /// The summary of an object without variables and other objects.
    #[inline(always)]
    pub(super) fn leaf(hash: u64, size: u64, flags: u8) -> Self {
        Summary {
            hash,
            size,
            height: 1,
            map: NO_MAP,
            flags,
        }
    }
}

/// Comparison itself decides the class.
pub(super) const IRREGULAR: u8 = 1;
/// Comparison fails.
pub(super) const INCOMPARABLE: u8 = 2;
/// A mutable object is inside, and mutable contents are not compared.
pub(super) const MUTABLE: u8 = 4;
/// A custom comparison is inside.
pub(super) const HOOKED: u8 = 8;
/// A dag node whose variables are bound elsewhere is inside.
pub(super) const OPEN_DAG: u8 = 16;
/// The map has become the map of the object around it.
pub(super) const MOVED: u8 = 32;
/// A definition inside is in force after the subterm.
pub(super) const DEFINES: u8 = 64;

/// The properties that parents inherit from a part.
pub(super) const INHERITED: u8 = IRREGULAR | INCOMPARABLE | MUTABLE | HOOKED | OPEN_DAG;

/// A subterm with its class.
pub(super) struct Node {
    pub(super) object: Ref<Obj>,
    pub(super) summary: Summary,
    pub(super) class: u32,
}

/// A class that is not known yet.
pub(super) const UNDECIDED: u32 = u32::MAX;

/// The results of a walk.
pub(super) struct Walked {
    pub(super) options: ClassOptions,
    pub(super) nodes: Vec<Node>,
    /// The hashes of nodes that are not left to comparison: equal within a class.
    pub(super) hashes: Vec<u64>,
    pub(super) table: Pages<u32, 16>,
    pub(super) classes: u32,
    pub(super) edges: Vec<(u64, u64)>,
    pub(super) costs: ClassCosts,
}

impl Walked {
    /// Gives nodes with the same hash the same class, except for nodes left to
    /// comparison.
    ///
    /// After the walk the number of nodes is known: the table never grows, and look-ups
    /// need not wait for one another.
    ///
    /// # Errors
    ///
    /// Errors from the host that end the operation.
    pub(super) fn classify(&mut self) -> Result<()> {
        let (nodes, hashes) = (&mut self.nodes, std::mem::take(&mut self.hashes));
        let size = (2 * nodes.len()).next_power_of_two();
        // One more than the number of a class's first node, by slot.
        let mut slots = vec![0u32; size];
        let mut poll = Poll::default();
        for (number, &hash) in hashes.iter().enumerate() {
            poll.step_outside()?;
            if nodes[number].summary.flags & (IRREGULAR | INCOMPARABLE) != 0 {
                continue;
            }
            let mut slot = hash as usize & (size - 1);
            nodes[number].class = loop {
                match slots[slot] as usize {
                    0 => {
                        slots[slot] = number as u32 + 1;
                        self.classes += 1;
                        break self.classes - 1;
                    }
                    first if hashes[first - 1] == hash => break nodes[first - 1].class,
                    _ => slot = (slot + 1) & (size - 1),
                }
            };
        }
        Ok(())
    }
}
