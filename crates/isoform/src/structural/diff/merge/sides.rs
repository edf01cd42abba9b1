//! The changes that each side makes to the objects of the base.

use super::super::patch::{Edit, Patch, Source};
use super::super::tables::{Cell, Tables};
use super::places::{Uses, is_own};
use crate::kernel::error::Result;

/// The sides whose edits of trees are seen. The edits of objects whose identity counts are
/// always seen, since these objects are the same ones at all of their places.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct View(u8);

impl View {
    /// The base as it is.
    pub(super) const NEITHER: View = View(0);
    /// The edits of both sides.
    pub(super) const BOTH: View = View(3);

    /// The edits of one side.
    pub(super) fn of(side: usize) -> View {
        View(1 << side)
    }

    pub(super) fn has(self, side: usize) -> bool {
        self.0 & (1 << side) != 0
    }

    pub(super) fn and(self, other: View) -> View {
        View(self.0 | other.0)
    }
}

/// The fate of a part of the base on one side.
#[derive(Clone, Copy)]
pub(super) enum Fate<'p> {
    /// It stands where it was, with whatever the side edits below.
    Kept,
    /// It stands where it was, without any edits below.
    Still,
    /// Something else is there.
    Is(&'p Source),
    /// Nothing is there.
    Gone,
}

/// One side: a patch of the base, and what follows from it for the objects of the base.
struct Side<'p> {
    patch: &'p Patch,
    /// Objects that become others: edited ones, and those around them.
    touched: Vec<bool>,
    /// Objects that are touched and whose identity counts, and those around them.
    carries: Vec<bool>,
    /// Objects that are edited at their place, and those around them. Edits that the other
    /// side has elsewhere do not count.
    changed: Vec<bool>,
    uses: Uses,
}

/// Both sides.
pub(super) struct Sides<'p> {
    pub(super) base: &'p Tables,
    sides: [Side<'p>; 2],
}

impl<'p> Sides<'p> {
    /// The sides of two patches for a base. O(n) for n parts of the base, plus the patches.
    ///
    /// # Errors
    ///
    /// `ValueError` for a patch of another value.
    pub(super) fn new(base: &'p Tables, patches: [&'p Patch; 2]) -> Result<Self> {
        let side = |patch: &'p Patch| -> Result<Side<'p>> {
            let touched = patch.touched(base)?;
            let mut carries = vec![false; base.nodes.len()];
            for node in 0..carries.len() {
                carries[node] = touched[node]
                    && (is_own(base, node as u32)
                        || parts(base, node).any(|part| carries[part as usize]));
            }
            Ok(Side {
                patch,
                touched,
                carries,
                changed: Vec::new(),
                uses: Uses::of(base, patch),
            })
        };
        let [left, right] = patches;
        let mut sides = [side(left)?, side(right)?];
        for number in 0..2 {
            let changed = changed(base, &sides[number], &sides[1 - number].uses);
            sides[number].changed = changed;
        }
        Ok(Sides { base, sides })
    }

    /// True for an object that is one at all of its places: a variable, a dag node or
    /// something that can change.
    pub(super) fn is_own(&self, node: u32) -> bool {
        is_own(self.base, node)
    }

    /// An object whose identity counts, and of which a side has the edited form at some places
    /// and the unedited one at others: then one object cannot take the edits of both sides.
    /// O(n).
    pub(super) fn split(&self) -> Option<(usize, u32)> {
        let nodes = 0..self.base.nodes.len() as u32;
        let mut all = (0..2).flat_map(|side| nodes.clone().map(move |node| (side, node)));
        all.find(|&(side, node)| {
            let found = &self.sides[side];
            found.touched[node as usize] && found.uses.is_left(node) && self.is_own(node)
        })
    }

    pub(super) fn patch(&self, side: usize) -> &'p Patch {
        self.sides[side].patch
    }

    /// The edit of an object by a side.
    pub(super) fn edit(&self, side: usize, node: u32) -> Option<&'p Edit> {
        self.sides[side].patch.edit(node)
    }

    /// The sides whose edits follow an object to where a side has put it.
    pub(super) fn following(&self, side: usize, node: u32) -> View {
        match self.sides[side].uses.has_moved(node) {
            true => View::of(1 - side),
            false => View::NEITHER,
        }
    }

    /// True if an object becomes another one in a view.
    pub(super) fn is_rebuilt(&self, view: View, node: u32) -> bool {
        let node = node as usize;
        (0..2).any(|number| {
            let side = &self.sides[number];
            match view.has(number) {
                true => side.touched[node],
                false => side.carries[node],
            }
        })
    }

    /// The fate that a source means for a part.
    pub(super) fn fate(&self, cell: &Cell, source: &'p Source) -> Fate<'p> {
        match (source, cell.node_number()) {
            (Source::Image(node), Some(part)) if *node == part => Fate::Kept,
            (Source::Left(node), Some(part)) if *node == part => match self.is_own(part) {
                true => Fate::Kept,
                false => Fate::Still,
            },
            _ => Fate::Is(source),
        }
    }

    /// True if a side has changed the place of a part.
    pub(super) fn is_changed(&self, side: usize, cell: &Cell, fate: Fate<'_>) -> bool {
        match fate {
            Fate::Still => false,
            Fate::Kept => {
                let part = cell.node_number();
                part.is_some_and(|part| self.sides[side].changed[part as usize])
            }
            Fate::Is(_) | Fate::Gone => true,
        }
    }
}

/// Which objects a side changes at their places, given what the other side does with them.
fn changed(base: &Tables, side: &Side<'_>, other: &Uses) -> Vec<bool> {
    let mut changed = vec![false; base.nodes.len()];
    for node in 0..changed.len() {
        // The edits of an object that the other side has elsewhere follow it there.
        changed[node] = side.touched[node]
            && !other.is_elsewhere(base, node as u32)
            && (side.patch.edit(node as u32).is_some()
                || parts(base, node).any(|part| changed[part as usize]));
    }
    changed
}

fn parts(base: &Tables, node: usize) -> impl Iterator<Item = u32> {
    base.cells(node as u32).iter().filter_map(Cell::node_number)
}
