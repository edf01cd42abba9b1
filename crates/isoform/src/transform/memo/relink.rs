//! A kept result in terms of the function and program at hand.

use super::pairs::Pairs;
use crate::ir::{GlobalVar, IRModule};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::dynamic::{field_value_at, with_field};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::FieldFlag;
use crate::kernel::value::Value;
use crate::traverse::{MapOptions, WalkOrder};

/// The result with the function's own objects in place of those of the function that it
/// was computed from, and with the global variables of the program. Objects that the pass
/// made keep the names and spans of the objects that they were made from, in the function
/// at hand. None where these are not unique. Linear in the result.
pub(super) fn relinked(result: &Value, pairs: &Pairs, root: &Ref<Obj>) -> Option<Ref<Obj>> {
    let options = MapOptions::default()
        .order(WalkOrder::Pre)
        .include_ignored(true)
        .keys(true);
    let mapped = options.map(result, |visit| match visit.object() {
        Some(object) => replaced(object, pairs, root),
        None => Ok(None),
    });
    // The error of an ambiguous name ends the rewrite; the result is computed again then.
    mapped.ok()?.as_object().cloned()
}

fn replaced(object: &Ref<Obj>, pairs: &Pairs, root: &Ref<Obj>) -> Result<Option<Value>> {
    if let Some(partner) = pairs.partner(object) {
        return Ok(Some(partner.into()));
    }
    if let Some(var) = object.downcast_ref::<GlobalVar>()
        && let Some(module) = root.downcast_ref::<IRModule>()
    {
        // A call that the pass added.
        return Ok(Some(module.global_var(&var.name_hint)?.into()));
    }
    let info = object.type_info();
    if info.is_builtin() {
        return Ok(None);
    }
    let mut made = object.clone();
    for (position, field) in info.fields().iter().enumerate() {
        if field.field_flag() != FieldFlag::Ignore {
            continue;
        }
        let Some(value) = field_value_at(object, position) else {
            continue;
        };
        match pairs.plain(info.index(), position, &value) {
            Some(Some(own)) if *own != value => {
                made = with_field(&made, field.name(), own.clone())?;
            }
            Some(None) => return Err(Error::value_error("the name is not unique")),
            _ => {}
        }
    }
    Ok((!made.same_as(object)).then(|| made.into()))
}
