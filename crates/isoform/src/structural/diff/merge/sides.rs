//! The changes made by either side to the objects of the base.

use super::super::patch::{Edit, Patch, Source};
use super::super::tables::{Cell, Tables};
use super::places::{Uses, is_own};
use crate::kernel::error::Result;

/// The amount of a side's edits in an object of the base at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Mode {
    /// No edits in the object or below: the side does not count.
    Absent,
    /// No edits: the side has the original object at the place.
    Verbatim,
    /// As [`Own`](Mode::Own), but without the edits of objects that the other side has
    /// nowhere: these edits are a part of the conflict.
    Shared,
    /// The edits of objects whose identity counts, the same at every mention; trees are
    /// unchanged.
    Own,
    /// All edits.
    Full,
}

/// The modes of both sides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct View(pub(super) [Mode; 2]);

impl View {
    /// The base at the place of a conflict.
    pub(super) const CONFLICT: View = View([Mode::Shared; 2]);

    /// True for the view of an object of the base itself.
    pub(super) fn is_base(self) -> bool {
        self.0.iter().all(|mode| *mode <= Mode::Verbatim)
    }

    /// A view with one mode for a side, and another mode for the other side.
    pub(super) fn of(side: usize, mode: Mode, other: Mode) -> View {
        let mut modes = [other; 2];
        modes[side] = mode;
        View(modes)
    }
}

/// The fate of a part of the base on one side.
#[derive(Clone, Copy)]
pub(super) enum Fate<'p> {
    /// The part stays in its place.
    Stays(Mode),
    /// Another part is in the place.
    Is(&'p Source),
    /// The place is gone.
    Gone,
}

/// One side: a patch of the base, and its consequences for the objects of the base.
struct Side<'p> {
    patch: &'p Patch,
    /// Objects rebuilt by the side: edited objects, and the objects around them.
    touched: Vec<bool>,
    /// Touched objects whose identity counts, and the objects around them.
    carries: Vec<bool>,
    /// Objects edited at their place, and the objects around them. Edits of objects
    /// moved elsewhere by the other side do not count.
    changed: Vec<bool>,
    uses: Uses,
}

/// Both sides.
pub(super) struct Sides<'p> {
    pub(super) base: &'p Tables,
    sides: [Side<'p>; 2],
}

impl<'p> Sides<'p> {
    /// The sides of two patches for a base. O(n) for n parts of the base, plus the
    /// patches.
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

    /// True for an object that is one at all of its places: a variable, a dag node or a
    /// mutable object.
    pub(super) fn is_own(&self, node: u32) -> bool {
        is_own(self.base, node)
    }

    pub(super) fn patch(&self, side: usize) -> &'p Patch {
        self.sides[side].patch
    }

    /// The edit of an object by a side.
    pub(super) fn edit(&self, side: usize, node: u32) -> Option<&'p Edit> {
        self.sides[side].patch.edit(node)
    }

    /// The mode of the other side's edits in an object that a side mentions in a place
    /// of its own.
    pub(super) fn following(&self, side: usize, node: u32) -> Mode {
        if self.sides[side].uses.has_moved(node) {
            Mode::Full
        } else {
            Mode::Own
        }
    }

    /// The view of an object without the modes that make no difference for the object.
    pub(super) fn view_of(&self, view: View, node: u32) -> View {
        let is_own = self.is_own(node);
        View([0, 1].map(|number| {
            let (side, other) = (&self.sides[number], &self.sides[1 - number]);
            // The edits of an object whose identity counts apply as a whole.
            let mode = match view.0[number] {
                Mode::Own if is_own => Mode::Full,
                Mode::Shared if is_own && other.uses.is_elsewhere(self.base, node) => Mode::Full,
                mode => mode,
            };
            let is_same = match mode {
                Mode::Full => !side.touched[node as usize],
                Mode::Own | Mode::Shared => !side.carries[node as usize],
                Mode::Verbatim | Mode::Absent => false,
            };
            if is_same { Mode::Verbatim } else { mode }
        }))
    }

    /// The fate of a part with a source.
    pub(super) fn fate(&self, cell: &Cell, source: &'p Source) -> Fate<'p> {
        match (source, cell.node_number()) {
            (Source::Image(node), Some(part)) if *node == part => Fate::Stays(Mode::Full),
            (Source::Left(node), Some(part)) if *node == part => Fate::Stays(Mode::Verbatim),
            _ => Fate::Is(source),
        }
    }

    /// True if a side has changed the place of a part.
    pub(super) fn is_changed(&self, side: usize, cell: &Cell, fate: Fate<'_>) -> bool {
        match fate {
            Fate::Stays(Mode::Full) => {
                let part = cell.node_number();
                part.is_some_and(|part| self.sides[side].changed[part as usize])
            }
            Fate::Stays(_) => false,
            Fate::Is(_) | Fate::Gone => true,
        }
    }
}

/// The objects that a side changes at their places, given the other side's uses of the
/// objects.
fn changed(base: &Tables, side: &Side<'_>, other: &Uses) -> Vec<bool> {
    let mut changed = vec![false; base.nodes.len()];
    for node in 0..changed.len() {
        // The edits follow an object moved to another place by the other side.
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
