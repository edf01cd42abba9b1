//! The locations of fields in memory.

use super::field::Accept;
use super::header::HEADER_SIZE;
use super::slot::Slot;
use super::table::TypeInfo;
use crate::kernel::error::{Error, Result};
use crate::kernel::types::TypeDef;

/// The largest payload of a declared type, in bytes.
const MAX_PAYLOAD: usize = 1 << 24;

/// The locations of the fields of one type, by the rules of `repr(C)`.
pub(super) struct Placement {
    pub(super) slots: Vec<Slot>,
    pub(super) size: usize,
}

pub(super) fn place(parent: &TypeInfo, definition: &TypeDef) -> Result<Placement> {
    let inherited = parent.fields().len();
    let mut slots = parent.slots.to_vec();
    // A parent is embedded as a struct, so the parent's size includes tail padding.
    let parent_align = parent
        .slots
        .iter()
        .map(|slot| slot.storage.align())
        .max()
        .unwrap_or(1);
    let parent_end = parent
        .slots
        .iter()
        .map(|slot| slot.offset as usize + slot.storage.size())
        .max()
        .unwrap_or(HEADER_SIZE);
    let mut end = match parent.definition().declared_size() {
        Some(size) => HEADER_SIZE + size,
        None => HEADER_SIZE + (parent_end - HEADER_SIZE).next_multiple_of(parent_align),
    };
    let mut align = parent_align;
    for (position, field) in definition.own_fields().iter().enumerate() {
        let storage = field.storage();
        let offset = end.next_multiple_of(storage.align());
        end = offset + storage.size();
        align = align.max(storage.align());
        if end > MAX_PAYLOAD {
            return Err(Error::value_error(format!(
                "type {}: the fields need more than {MAX_PAYLOAD} bytes",
                definition.key()
            )));
        }
        if let Some(declared) = field.declared_offset()
            && declared + HEADER_SIZE != offset
        {
            return Err(Error::value_error(format!(
                "type {}: field '{}' lies at offset {declared}, expected {} as repr(C) places it",
                definition.key(),
                field.name(),
                offset - HEADER_SIZE
            )));
        }
        slots.push(Slot {
            offset: offset as u32,
            storage,
            flag: field.field_flag(),
            accept: Accept::of(field.schema(), storage),
            field: (inherited + position) as u32,
        });
    }
    let size = (end - HEADER_SIZE).next_multiple_of(align);
    if let Some(declared) = definition.declared_size()
        && declared != size
    {
        return Err(Error::value_error(format!(
            "type {}: the struct has {declared} bytes, its fields need {size}",
            definition.key()
        )));
    }
    Ok(Placement { slots, size })
}
