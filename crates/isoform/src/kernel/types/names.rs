//! The attributes that say what objects are called, in texts and in messages.

use super::Schema;
use super::attributes::{self, Lookup};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::TypeInfo;

/// The attribute that says which field names an object in text; an empty
/// string says that none does. Types that extend one inherit it.
///
/// Without it, a field of type str that is called `name_hint` or `name` does.
///
/// ```
/// use isoform::{FieldDef, Schema, TEXT_NAME, TypeDef, Value, construct, register_type, to_text};
/// let ty = register_type(
///     TypeDef::new("doc.text.Value")
///         .field(FieldDef::new("label", Schema::Str))
///         .attr(TEXT_NAME, "label"),
/// )?;
/// let node = Value::from(construct(ty, vec!["sum".into()])?);
/// let text = to_text(&[node.clone(), node].into(), &Default::default())?;
/// assert_eq!(text, "%sum = doc.text.Value()\n[%sum, %sum]\n");
/// # Ok::<(), isoform::Error>(())
/// ```
pub const TEXT_NAME: &str = "text.name";

/// The attribute that says in which field the type of an expression stands,
/// for [`TextOptions::types`](crate::TextOptions::types). Types that extend one
/// inherit it.
pub const TEXT_TYPE: &str = "text.type";

/// The field that names objects of a type.
pub(crate) fn name_field(info: &TypeInfo) -> Option<usize> {
    let index: TypeIndex = info.index();
    if let Some(value) = attributes::get(index, TEXT_NAME, Lookup::Nearest) {
        let field = info.field_index(value.as_str()?)?;
        return takes_str(info.fields()[field].schema()).then_some(field);
    }
    let named = |name: &str| {
        let field = info.field_index(name)?;
        matches!(info.fields()[field].schema(), Schema::Str).then_some(field)
    };
    named("name_hint").or_else(|| named("name"))
}

fn takes_str(schema: &Schema) -> bool {
    match schema {
        Schema::Any | Schema::Str => true,
        Schema::Optional(inner) => takes_str(inner),
        _ => false,
    }
}
