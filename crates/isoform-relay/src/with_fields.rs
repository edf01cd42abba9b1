//! Copies of nodes with other fields; the node itself without changes.

use isoform::objects::{field_value, with_field};
use isoform::{Map, Obj, Ref, Result, Str, Value, export};

/// Returns a node with other values in some fields. Returns the node itself if every
/// value is the present value, or a sequence of the same items. O(fields and their
/// items).
///
/// ```
/// use isoform_relay as relay;
/// use isoform_relay::{AsExpr, Tuple, Var};
///
/// let (x, y) = (Var::new("x"), Var::new("y"));
/// let pair = Tuple::new([x.expr(), y.expr()]);
/// let again = Tuple::new([x.expr(), y.expr()]);
/// let same = relay::with_fields(pair.as_object(), [("fields", again.fields.clone().into())])?;
/// assert!(same.same_as(&pair));
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `AttributeError` for an unknown field, `TypeError` for a value that does not fit the
/// field.
pub fn with_fields<'n>(
    node: &Ref<Obj>,
    fields: impl IntoIterator<Item = (&'n str, Value)>,
) -> Result<Ref<Obj>> {
    let mut made = node.clone();
    for (name, value) in fields {
        if !is_unchanged(&field_value(&made, name)?, &value) {
            made = with_field(&made, name, value)?;
        }
    }
    Ok(made)
}

/// True for the same object, equal scalars, or sequences of the same objects and equal
/// scalars.
fn is_unchanged(old: &Value, new: &Value) -> bool {
    if is_same(old, new) {
        return true;
    }
    match (old.items(), new.items()) {
        (Some(old), Some(new)) => {
            let pairs = old.iter().zip(new.iter());
            old.len() == new.len() && pairs.into_iter().all(|(old, new)| is_same(old, new))
        }
        _ => false,
    }
}

fn is_same(old: &Value, new: &Value) -> bool {
    match (old.as_object(), new.as_object()) {
        (Some(old), Some(new)) => old.same_as(new),
        (None, None) => old == new,
        _ => false,
    }
}

/// Returns a node with other values in the fields that are not None.
#[export("relay.ir.with_fields")]
fn with_fields_of(node: Ref<Obj>, fields: Map<Str, Value>) -> Result<Ref<Obj>> {
    let fields = fields.iter().filter(|(_, value)| !value.is_none());
    with_fields(&node, fields.map(|(name, value)| (&**name, value.clone())))
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![with_fields_of]
}
