//! The rows of tables: distinct objects, and their parts.

use crate::kernel::object::class::Payload;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::types::Kind;
use crate::kernel::value::Value;

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
