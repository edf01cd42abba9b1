//! One side of a difference as tables: a row for each distinct object, parts before
//! wholes, and a cell for each part.
//!
//! All later steps work on numbers of nodes. No algorithm of this module reads an
//! object again: the results are independent of later writes, and the algorithms need
//! no section.
//!
//! Tables are about as large as the values themselves. Memory that is new to the
//! process costs a page fault per 4096 bytes, almost a third of all time for large
//! values. A thread therefore keeps the memory of tables for its next difference.

use std::cell::RefCell;
use std::mem;

use crate::kernel::error::{Error, Result};
use crate::kernel::object::class::Payload;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::prefetch::prefetch_after;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::pages::Pages;
use crate::kernel::types::region::RegionKind;
use crate::kernel::types::{FieldFlag, Kind};
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
        give_back(mem::take(&mut self.nodes), mem::take(&mut self.cells));
    }
}

#[cold]
fn too_large() -> Error {
    Error::value_error("expected values of at most four billion parts".to_owned())
}

/// The number of no node.
pub(super) const NONE: u32 = u32::MAX;

/// A variable is below, or the node is a variable.
pub(super) const HAS_VARS: u8 = 1;
/// A definition field is below.
pub(super) const HAS_DEFS: u8 = 2;
/// An object whose identity counts is below, or the node is such an object: a dag node,
/// or a mutable object.
pub(super) const HAS_IDENTITY: u8 = 4;
/// The node has a custom comparison, and is compared as a whole.
pub(super) const IS_HOOKED: u8 = 8;
/// A variable mentioned by a definition field.
pub(super) const IS_DEFINED: u8 = 16;
/// A dag node is below, or the node is a dag node.
pub(super) const HAS_DAGS: u8 = 128;
/// An object that is equal to itself alone is below, or the node is such an object.
pub(super) const HAS_SINGLETONS: u8 = 32;
/// The type, or the whole node, is to be ignored.
pub(super) const IS_IGNORED: u8 = 64;

/// The flags inherited by the nodes around a node.
pub(super) const INHERITED: u8 = HAS_VARS | HAS_DEFS | HAS_IDENTITY | HAS_DAGS | HAS_SINGLETONS;

/// A distinct object with parts.
pub(super) struct Node {
    pub(super) object: Ref<Obj>,
    pub(super) first: u32,
    pub(super) count: u32,
    /// Types, arities and lengths, without any literal or name.
    pub(super) shape: u64,
    /// The contents without the identity of variables.
    pub(super) skeleton: u64,
    /// The number of nodes below and including this node, at every occurrence;
    /// containers do not count.
    pub(super) size: u64,
    /// The same without the dag nodes below and their contents.
    pub(super) own_size: u64,
    /// The type of the object, known without reading the object.
    pub(super) type_index: TypeIndex,
    pub(super) flags: u8,
}

/// A part of a node: a value without parts, or a node.
pub(super) struct Cell {
    /// None for a node.
    pub(super) value: Value,
    /// The hash of the value, or the number of the node with the first bit set.
    pub(super) word: u64,
}

const NODE: u64 = 1 << 63;

impl Node {
    #[inline]
    pub(super) fn info(&self) -> &'static TypeInfo {
        table::info(self.type_index)
    }

    #[inline]
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(super) fn is_var(&self) -> bool {
        let info = self.info();
        info.kind == Kind::Var && !info.is_builtin()
    }

    /// True for an object that is equal to itself alone.
    pub(super) fn is_singleton(&self) -> bool {
        let info = self.info();
        info.kind == Kind::Singleton && !info.is_builtin()
    }

    pub(super) fn is_dag(&self) -> bool {
        let info = self.info();
        info.kind == Kind::Dag && !info.is_builtin()
    }

    pub(super) fn is_mutable(&self) -> bool {
        can_change(self.info())
    }

    pub(super) fn is_sequence(&self) -> bool {
        let container = self.info().container();
        container.is_some_and(|container| !container.is_mapping())
    }

    pub(super) fn is_mapping(&self) -> bool {
        let container = self.info().container();
        container.is_some_and(|container| container.is_mapping())
    }

    /// True if the node counts in sizes: containers do not.
    pub(super) fn counts(&self) -> bool {
        !self.info().is_builtin()
    }
}

/// The hash of every ignored part.
pub(super) const IGNORED: u64 = 0x1405_7b7e_f767_814f;

impl Cell {
    pub(super) fn plain(value: Value, word: u64) -> Self {
        let word = word & !NODE;
        Cell { value, word }
    }

    /// The cell of a field that is left out.
    pub(super) fn ignored() -> Self {
        Cell::plain(Value::NONE, IGNORED)
    }

    pub(super) fn is_ignored(&self) -> bool {
        self.word == IGNORED & !NODE && self.value.is_none()
    }

    pub(super) fn node(number: u32) -> Self {
        Cell {
            value: Value::NONE,
            word: u64::from(number) | NODE,
        }
    }

    /// The number of the node; None for a value.
    #[inline]
    pub(super) fn node_number(&self) -> Option<u32> {
        self.is_node().then_some(self.word as u32)
    }

    #[inline]
    pub(super) fn is_node(&self) -> bool {
        self.word & NODE != 0
    }
}

pub(super) fn can_change(info: &TypeInfo) -> bool {
    info.class() == Payload::Mutable || info.may_change()
}

/// Larger vectors are returned to the allocator.
const KEPT_BYTES: usize = 1 << 23;
/// A difference has two sides.
const KEPT_SIDES: usize = 2;

pub(super) type Rows = (Vec<Node>, Vec<Cell>);

thread_local! {
    static KEPT: RefCell<Vec<Rows>> = const { RefCell::new(Vec::new()) };
}

/// Empty vectors, with the memory of earlier vectors if available.
pub(super) fn empty_rows() -> Rows {
    KEPT.with(|kept| kept.borrow_mut().pop())
        .unwrap_or_default()
}

/// Empties vectors after use, and keeps their memory.
fn give_back(nodes: Vec<Node>, cells: Vec<Cell>) {
    // Dropping values may run foreign code, which may ask for another difference.
    let rows = (emptied(nodes), emptied(cells));
    // A thread that ends keeps no memory.
    let _ = KEPT.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() < KEPT_SIDES {
            kept.push(rows);
        }
    });
}

fn emptied<T>(mut items: Vec<T>) -> Vec<T> {
    items.clear();
    if items.capacity() * size_of::<T>() > KEPT_BYTES {
        Vec::new()
    } else {
        items
    }
}
