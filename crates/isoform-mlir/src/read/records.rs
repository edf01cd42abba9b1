//! The operations, regions, blocks and values of a file, before they become nodes.
//!
//! Nodes are immutable, and parts of them are known late: the type of a value that is used
//! before its definition, the symbol that a reference names. So the whole file is read into
//! these tables first. Numbers are positions in the tables.

use isoform::{Map, Str};

use super::locations::Place;
use super::values::Object;

/// The number of a record.
pub(super) type Id = u32;

/// An operand whose definition is missing so far.
pub(super) const UNKNOWN: Id = Id::MAX;

/// A range of numbers.
#[derive(Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) start: Id,
    pub(super) end: Id,
}

impl Span {
    pub(super) fn ids(self) -> std::ops::Range<Id> {
        self.start..self.end
    }

    /// The positions.
    pub(super) fn positions(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(super) fn len(self) -> usize {
        self.positions().len()
    }
}

/// The attributes of an operation.
pub(super) type Dict = Map<Str, Object>;

pub(super) struct OperationRecord<'t> {
    pub(super) name: Str,
    /// In [`Records::operands`].
    pub(super) operands: Span,
    /// In [`Records::successors`].
    pub(super) successors: Span,
    pub(super) properties: Dict,
    pub(super) attributes: Dict,
    /// In [`Records::values`].
    pub(super) results: Span,
    pub(super) regions: Vec<Id>,
    pub(super) place: Place<'t>,
    /// The region that holds the operation.
    pub(super) region: Id,
    /// True if attributes refer to symbols or resources.
    pub(super) is_unsettled: bool,
}

pub(super) struct ValueRecord<'t> {
    pub(super) ty: Option<Object>,
    /// The name, and the number in a group of results.
    pub(super) name: &'t [u8],
    pub(super) number: Option<Id>,
    pub(super) place: Place<'t>,
    /// The region that holds the definition.
    pub(super) region: Id,
    /// True if a use precedes the definition.
    pub(super) is_forward: bool,
    /// True if the type refers to symbols or resources.
    pub(super) is_unsettled: bool,
}

#[derive(Default)]
pub(super) struct BlockRecord<'t> {
    /// The name, empty without a label.
    pub(super) name: &'t [u8],
    pub(super) arguments: Span,
    pub(super) operations: Vec<Id>,
}

pub(super) struct RegionRecord {
    pub(super) parent: Option<Id>,
    pub(super) blocks: Vec<Id>,
    /// True if an operation directly inside has a `sym_name`.
    pub(super) has_symbols: bool,
}

/// An operation with a symbol.
pub(super) struct SymbolRecord {
    pub(super) name: Str,
    pub(super) operation: Id,
    pub(super) region: Id,
    /// True if the name is a property, false if it is an attribute.
    pub(super) is_property: bool,
    pub(super) is_private: bool,
}

/// The tables. Inner operations and regions precede outer ones.
#[derive(Default)]
pub(super) struct Records<'t> {
    pub(super) operations: Vec<OperationRecord<'t>>,
    /// The values of operands.
    pub(super) operands: Vec<Id>,
    /// The blocks of successors.
    pub(super) successors: Vec<Id>,
    pub(super) values: Vec<ValueRecord<'t>>,
    pub(super) blocks: Vec<BlockRecord<'t>>,
    /// In the order of their beginnings.
    pub(super) regions: Vec<RegionRecord>,
    pub(super) symbols: Vec<SymbolRecord>,
}
