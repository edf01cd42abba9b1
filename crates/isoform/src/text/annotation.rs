//! The comments of objects: annotations from the caller, and the types of expressions.

use super::options::{TensorText, TextOptions};
use crate::attrs::{self, Lookup};
use crate::kernel::display::short;
use crate::kernel::error::Result;
use crate::kernel::object::dynamic::field_value_at;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::names::TEXT_TYPE;

/// Characters of a type in a comment.
const LONGEST_TYPE: usize = 120;

impl TextOptions {
    /// The comment of an object.
    pub(super) fn annotation_of(&self, object: &Ref<Obj>) -> Result<Option<String>> {
        let given = match &self.annotate {
            Some(annotate) => annotate(object)?,
            None => None,
        };
        let ty = if self.types { type_of(object) } else { None };
        let ty = ty.map(|ty| format!(": {ty}"));
        Ok(match (given.filter(|given| !given.is_empty()), ty) {
            (Some(given), Some(ty)) => Some(format!("{ty}; {given}")),
            (given, ty) => given.or(ty),
        })
    }
}

/// The type of an expression, as written in a comment.
fn type_of(object: &Ref<Obj>) -> Option<String> {
    let info = object.type_info();
    let field = attrs::get(info.index(), TEXT_TYPE, Lookup::Nearest)?;
    let ty = field_value_at(object, info.field_index(field.as_str()?)?)?;
    if ty.is_none() {
        return None;
    }
    let options = TextOptions::default()
        .width(usize::MAX)
        .ignored_fields(false)
        .tensors(TensorText::Abbreviated)
        .placeholders(true);
    // A type of several lines would be most of the text.
    let text = options.to_text(&ty).ok();
    let text = text.as_deref().map(str::trim_end);
    let line = text.filter(|text| text.len() <= LONGEST_TYPE && !text.contains('\n'));
    Some(line.map_or_else(|| short(&ty, LONGEST_TYPE), str::to_owned))
}
