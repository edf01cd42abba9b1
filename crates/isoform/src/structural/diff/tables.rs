//! One side of a difference as tables: its distinct objects, parts before wholes.
//!
//! All later steps work on numbers of nodes. No algorithm of this module reads an
//! object again: the results are independent of later writes, and the algorithms need
//! no section.

use std::mem::take;

use super::kept;
pub(super) use super::rows::{
    Cell, HAS_DAGS, HAS_DEFS, HAS_IDENTITY, HAS_SINGLETONS, HAS_VARS, IS_DEFINED, IS_HOOKED,
    IS_IGNORED, NONE, Node,
};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::prefetch::prefetch_after;
use crate::kernel::pages::Pages;
use crate::kernel::types::FieldFlag;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// The distinct objects of a value.
pub(super) struct Tables {
    pub(super) nodes: Vec<Node>,
    pub(super) cells: Vec<Cell>,
    /// The whole value, in the form of a part.
    pub(super) root: Cell,
    /// True if the nodes contain dag nodes.
    pub(super) has_dags: bool,
}

/// The marks of the shared objects of a value: one more than the numbers of their
/// nodes.
pub(super) type Marks = Pages<u32, 16>;

/// The mark of an object being read; zero marks an unknown object.
pub(super) const OPEN: u32 = u32::MAX;

impl Tables {
    /// True if all parts of an equal value have the numbers of their counterparts in
    /// other tables. Equal maps may list their entries in another order, which gives
    /// the parts other numbers.
    pub(super) fn has_layout_of(&self, other: &Tables) -> bool {
        let is_same = |(one, other): (&Cell, &Cell)| {
            (one.is_node(), one.word) == (other.is_node(), other.word)
        };
        self.nodes.len() == other.nodes.len()
            && self.cells.len() == other.cells.len()
            && self.cells.iter().zip(&other.cells).all(is_same)
            && (self.nodes.iter()).zip(&other.nodes).all(|(one, other)| {
                let types = (one.info().index(), other.info().index());
                types.0 == types.1 && one.skeleton == other.skeleton
            })
    }

    #[inline]
    pub(super) fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    /// Loads the rows that a walk from the root down needs soon after this node's row.
    #[inline]
    pub(super) fn prefetch_after(&self, number: u32) {
        prefetch_after(&self.nodes, number as usize);
        prefetch_after(&self.cells, self.node(number).first as usize);
    }

    #[inline]
    pub(super) fn cells(&self, number: u32) -> &[Cell] {
        let node = self.node(number);
        &self.cells[node.first as usize..(node.first + node.count) as usize]
    }

    #[inline]
    pub(super) fn cell(&self, number: u32, position: u32) -> &Cell {
        &self.cells[(self.node(number).first + position) as usize]
    }

    /// The value of a cell, also of a node.
    pub(super) fn value_of(&self, cell: &Cell) -> Value {
        match cell.node_number() {
            Some(number) => Value::from(&self.node(number).object),
            None => cell.value.clone(),
        }
    }

    /// The number of nodes in a cell; 1 for a value without parts.
    pub(super) fn size_of(&self, cell: &Cell) -> u64 {
        cell.node_number()
            .map_or(1, |number| self.node(number).size.max(1))
    }

    /// The numbers of the next node and cell.
    ///
    /// # Errors
    ///
    /// `ValueError` if the numbers are used up.
    pub(super) fn room(&self) -> Result<(u32, u32)> {
        let number = u32::try_from(self.nodes.len());
        let first = u32::try_from(self.cells.len());
        match (number, first) {
            (Ok(number), Ok(first)) if number < OPEN - 1 => Ok((number, first)),
            _ => Err(too_large()),
        }
    }

    /// Adds a node; its cells follow.
    #[inline]
    pub(super) fn add(&mut self, node: Node) {
        self.has_dags |= node.is_dag();
        self.nodes.push(node);
    }

    /// Notes that the reader met a node with an existing row in a region.
    #[inline]
    pub(super) fn meet_again(&mut self, number: u32, region: RegionKind) {
        let node = &mut self.nodes[number as usize];
        if region != RegionKind::Use && node.is_var() {
            node.flags |= IS_DEFINED;
        }
    }

    /// The region in which reading meets a part of a node that was met in `region`.
    pub(super) fn region_of(node: &Node, position: u32, region: RegionKind) -> RegionKind {
        if region == RegionKind::Use && !node.has(HAS_DEFS) {
            return RegionKind::Use;
        }
        if node.is_mapping() && position.is_multiple_of(2) {
            // Keys are looked up, never bound.
            return RegionKind::Use;
        }
        let slot = node.info().visited.get(position as usize);
        let flag = slot.map_or(FieldFlag::None, |slot| slot.flag);
        region.inside(node.is_var()).of_field(flag)
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        kept::give_back((take(&mut self.nodes), take(&mut self.cells)));
    }
}

#[cold]
fn too_large() -> Error {
    Error::value_error("expected values of at most four billion parts".to_owned())
}
