//! Random programs of any IR, and their properties.
//!
//! An IR defines how its programs are drawn ([`Drawing`]); changes and properties
//! are shared.
//!
//! | file | job |
//! |---|---|
//! | `edit.rs` | one change of a field that is compared |
//! | `properties.rs` | the properties |
//!
//! Three independent streams of choices exist: for the compared parts, for the names
//! that are hints, and for the other ignored fields. Drawing a program again with other
//! hints gives the same program with other names, built in the same order with the same
//! sharing.
//!
//! If two draws differ only in hints, in ignored fields or in one edit, all the rest is
//! the same, object by object.

mod edit;
mod properties;

#[cfg(test)]
pub(super) use edit::edits;
pub(super) use edit::{Edit, is_below};
pub(super) use properties::*;

use super::source::random_bytes;
use isoform::compare::CompareOptions;
use isoform::objects::construct;
use isoform::types::TypeIndex;
use isoform::{Obj, Ref, Result, Value};

/// The bytes that choices are drawn from.
#[derive(Clone, Copy)]
pub(super) struct Streams<'a> {
    /// The choices for the compared parts.
    pub(super) main: &'a [u8],
    /// Names that are hints.
    pub(super) hints: &'a [u8],
    /// Other fields that comparison ignores.
    pub(super) ignored: &'a [u8],
}

/// Passes the streams of a seed for a program of about `size` nodes to `draw`.
pub(super) fn with_random_streams<T>(
    seed: u64,
    size: usize,
    draw: impl FnOnce(Streams<'_>) -> T,
) -> T {
    let length = size.saturating_mul(12).saturating_add(64);
    let main = random_bytes(seed, length);
    let hints = random_bytes(!seed, length / 4);
    let ignored = random_bytes(seed.rotate_left(32) ^ 1, length / 2);
    draw(Streams {
        main: &main,
        hints: &hints,
        ignored: &ignored,
    })
}

/// The programs of an IR, and how they are drawn.
pub(super) trait Drawing {
    /// The options for comparing programs: a program drawn again is equal under all of
    /// them.
    const WAYS: &'static [CompareOptions];

    /// A program of about `size` nodes: the same program for the same streams, and with
    /// an edit a program that differs by the edit.
    fn draw(streams: Streams<'_>, size: usize, edit: Option<&Edit>) -> Result<DrawnProgram>;
}

/// A program, and the objects made for it in order, without the objects in ignored
/// fields.
pub(super) struct DrawnProgram {
    pub(super) root: Value,
    pub(super) made: Vec<Ref<Obj>>,
}

/// Makes the objects of a program, and applies an edit, if given.
pub(super) struct Maker<'a> {
    pub(super) made: Vec<Ref<Obj>>,
    edit: Option<&'a Edit>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(edit: Option<&'a Edit>) -> Self {
        Maker {
            made: Vec::new(),
            edit,
        }
    }

    /// A new object of a type, with the edit if the edit belongs to this object.
    pub(super) fn make(&mut self, ty: TypeIndex, mut values: Vec<Value>) -> Result<Ref<Obj>> {
        if let Some(edit) = self.edit.filter(|edit| edit.number == self.made.len()) {
            values[edit.field] = edit.value.clone();
        }
        let object = construct(ty, values)?;
        self.made.push(object.clone());
        Ok(object)
    }
}
