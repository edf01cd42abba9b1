//! The elements of the binary form, shared by writer and reader.

use crate::kernel::container::ContainerType;
use crate::kernel::object::header::TypeIndex;

pub(super) const MAGIC: [u8; 8] = *b"\x89isoform";
pub(super) const VERSION: u8 = 1;
/// The version of bytes without the elements of tensors, for pickles with buffers.
pub(super) const APART: u8 = VERSION | 0x80;
pub(super) const CHECKSUM: usize = 8;

/// The numbers of records other than containers.
pub(super) mod record {
    pub(in super::super) const END: u64 = 0;
    pub(in super::super) const TYPE: u64 = 1;
    pub(in super::super) const NONE: u64 = 2;
    pub(in super::super) const FALSE: u64 = 3;
    pub(in super::super) const TRUE: u64 = 4;
    pub(in super::super) const INT: u64 = 5;
    pub(in super::super) const FLOAT: u64 = 6;
    pub(in super::super) const STR: u64 = 7;
    pub(in super::super) const BYTES: u64 = 8;
    pub(in super::super) const BIG_INT: u64 = 9;
    pub(in super::super) const DTYPE: u64 = 10;
    pub(in super::super) const DEVICE: u64 = 11;
    pub(in super::super) const SHAPE: u64 = 16;
    pub(in super::super) const TENSOR: u64 = 17;
    pub(in super::super) const FIRST_OBJECT: u64 = 18;
}

/// The types of containers, by the numbers of their records.
static CONTAINERS: [Option<TypeIndex>; record::FIRST_OBJECT as usize] = {
    let mut by_number = [None; record::FIRST_OBJECT as usize];
    let mut rest: &[&ContainerType] = &ContainerType::ALL;
    while let [row, others @ ..] = rest {
        let number = row.record as usize;
        let is_free = number > record::DEVICE as usize && number < record::SHAPE as usize;
        assert!(
            is_free && by_number[number].is_none(),
            "the number is taken"
        );
        by_number[number] = Some(row.index);
        rest = others;
    }
    by_number
};

/// The type of containers with this record number.
#[inline]
pub(super) fn container(number: u64) -> Option<TypeIndex> {
    *CONTAINERS.get(number as usize)?
}

/// The encoding of a field's contents in an object's record.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Literal {
    Reference = 0,
    Int = 1,
    Float = 2,
    Bool = 3,
    DType = 4,
}

impl Literal {
    pub(super) const ALL: [Literal; 5] = [
        Literal::Reference,
        Literal::Int,
        Literal::Float,
        Literal::Bool,
        Literal::DType,
    ];
}

pub(super) fn checksum(content: &[u8]) -> [u8; CHECKSUM] {
    let mut start = [0; CHECKSUM];
    start.copy_from_slice(&blake3::hash(content).as_bytes()[..CHECKSUM]);
    start
}

/// Options for reading the binary form.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct BinaryReadOptions {
    /// True to skip fields missing in a type.
    pub ignore_unknown_fields: bool,
}

impl BinaryReadOptions {
    /// Sets whether to skip fields missing in a type.
    #[must_use]
    pub fn ignore_unknown_fields(mut self, ignore: bool) -> Self {
        self.ignore_unknown_fields = ignore;
        self
    }
}
