//! The attributes that name objects, in text and in messages.

use super::Schema;
use super::attributes::{self, Lookup};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::TypeInfo;

/// The attribute with the field that names an object in text; an empty string means
/// that there is no such field. Types that extend one inherit it.
///
/// By default, it is a field of type str called `name_hint` or `name`.
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

/// The attribute with the field that contains the type of an expression, for
/// [`TextOptions::types`](crate::TextOptions::types). Types that extend one inherit it.
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
