//! The attributes that name objects, in text and in messages, and the visitor methods of
//! types.
//!
//! Each type determines the name of its visitor method; the traits of `dialect!` and
//! the classes of `python/isoform/visitors.py` both use this name.

use std::borrow::Cow;

use super::Schema;
use super::attributes::{self, Lookup};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::value::Value;

/// The attribute with the field naming an object in text; an empty string means no
/// field. Extending types inherit the attribute.
///
/// By default, a field of type str called `name_hint` or `name`.
///
/// ```
/// use isoform::Value;
/// use isoform::objects::construct;
/// use isoform::text::to_text;
/// use isoform::types::{FieldDef, Schema, TEXT_NAME, TypeDef, register_type};
/// let ty = register_type(
///     TypeDef::new("doc.text.Value")
///         .field(FieldDef::new("label", Schema::Str))
///         .attr(TEXT_NAME, "label"),
/// )?;
/// let node = Value::from(construct(ty, vec!["sum".into()])?);
/// let text = to_text([node.clone(), node])?;
/// assert_eq!(text, "%sum = doc.text.Value()\n[%sum, %sum]\n");
/// # Ok::<(), isoform::Error>(())
/// ```
pub const TEXT_NAME: &str = "text.name";

/// The attribute with the field that contains the type of an expression, for
/// `text::TextOptions::types`. Extending types inherit the attribute.
pub const TEXT_TYPE: &str = "text.type";

/// The attribute with the function from an object to its text for people, which the trait
/// `Script` of the crate `isoform-ir` sets. Extending types inherit the attribute.
pub(crate) const TEXT_SCRIPT: &str = "transform.script";

/// The attribute deciding how [`diff`](crate::compare::diff) aligns objects of a type:
/// `"fields"`, field by field although the type has a custom comparison, which
/// otherwise makes two objects equal or replaced as a whole; or `"name"`, for
/// variables, to correspond as keys of maps if they have the same name. Extending types
/// inherit the attribute.
pub const DIFF_ALIGN: &str = "diff.align";

/// The attribute with the name of a type's visitor methods: `for_each` for
/// `visit_for_each`. Extending types do not inherit the attribute.
///
/// By default, it is the class of the type in snake case; see
/// [`TypeInfo::visit_name`].
pub const VISIT_NAME: &str = "visit.name";

impl TypeInfo {
    /// The dialect of the type: its key up to the last dot.
    ///
    /// ```
    /// use isoform::types::find_type;
    /// isoform_ir::ir::register()?;
    /// assert_eq!(find_type("ir.TupleType").map(|info| info.dialect()), Some("ir"));
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn dialect(&self) -> &str {
        self.key()
            .rsplit_once('.')
            .map_or("", |(dialect, _)| dialect)
    }

    /// The name of the type's visitor methods, after `visit_`: the attribute
    /// [`VISIT_NAME`], or the class in snake case.
    ///
    /// Names should be unique in a dialect. Visitors for several dialects put the
    /// dialect first: `visit_relay_var`.
    ///
    /// ```
    /// use isoform::types::{TypeDef, VISIT_NAME, find_type, register_type};
    /// register_type(TypeDef::new("doc.visit.ForStmt"))?;
    /// register_type(TypeDef::new("doc.visit.F32").attr(VISIT_NAME, "float"))?;
    /// let name = |key| find_type(key).map(|info| info.visit_name());
    /// assert_eq!(name("doc.visit.ForStmt").as_deref(), Some("for_stmt"));
    /// assert_eq!(name("doc.visit.F32").as_deref(), Some("float"));
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn visit_name(&self) -> Cow<'_, str> {
        let declared = attributes::get(self.index(), VISIT_NAME, Lookup::Exact);
        if let Some(name) = declared.and_then(Value::as_str) {
            return Cow::Borrowed(name);
        }
        let key = self.key();
        Cow::Owned(snake_case(
            key.rsplit_once('.').map_or(key, |(_, class)| class),
        ))
    }
}

isoform_macros::define_snake_case!();

/// The field naming objects of a type.
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
