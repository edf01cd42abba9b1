//! The summaries of subterms.

use super::options::{ClassCosts, ClassOptions};
use super::var_maps::{MapId, NO_MAP};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::pages::Pages;

/// The summary of a subterm.
#[derive(Clone, Copy)]
pub(super) struct Summary {
    /// The hash of the structure without names.
    pub(super) hash: u64,
    /// The number of nodes, each counted at every occurrence.
    pub(super) size: u64,
    pub(super) height: u32,
    pub(super) map: MapId,
    pub(super) flags: u8,
}

impl Summary {
    /// That of an object without variables and other objects.
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
/// Something mutable is inside, whose contents are not compared.
pub(super) const MUTABLE: u8 = 4;
/// A custom comparison is inside.
pub(super) const HOOKED: u8 = 8;
/// A dag node whose variables are bound elsewhere is inside.
pub(super) const OPEN_DAG: u8 = 16;
/// The map has become that of the object around it.
pub(super) const MOVED: u8 = 32;
/// A definition inside is in force after the subterm.
pub(super) const DEFINES: u8 = 64;

/// The properties of a part that its parents have, too.
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
    pub(super) table: Pages<u32, 16>,
    pub(super) classes: u32,
    pub(super) edges: Vec<(u64, u64)>,
    pub(super) costs: ClassCosts,
}
