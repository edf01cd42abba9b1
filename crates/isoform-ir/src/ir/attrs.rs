//! Attributes of expressions and functions: nodes of named values.

use isoform::errors::ErrorKind;
use isoform::objects::field_value_at;
use isoform::values::ValueRef;
use isoform::{Error, Map, Node, Ref, Result, Str, Value, export};

/// The base of nodes of attributes.
///
/// Types that extend `Attrs` declare the attributes as fields, with types, defaults and
/// documentation.
#[derive(Node, Default)]
#[node(key = "ir.Attrs")]
#[repr(C)]
pub struct Attrs {}

/// Untyped attributes: any names, any values.
///
/// A map or dict with string keys is converted to such attributes, where attributes are
/// expected.
#[derive(Node)]
#[node(key = "ir.DictAttrs", convert = dict_attrs_from)]
#[repr(C)]
pub struct DictAttrs {
    #[node(base, default)]
    base: Attrs,
    /// The values by name.
    #[node(default)]
    pub dict: Map<Str, Value>,
}

impl DictAttrs {
    /// The attributes with these values.
    pub fn from_map(dict: Map<Str, Value>) -> Ref<DictAttrs> {
        Ref::new(DictAttrs {
            base: Attrs {},
            dict,
        })
    }
}

/// Converts a map to attributes.
#[export("ir.DictAttrs.__ffi_convert__")]
fn dict_attrs_from(dict: Map<Str, Value>) -> Ref<DictAttrs> {
    DictAttrs::from_map(dict)
}

/// The description of an attribute.
#[derive(Node)]
#[node(key = "ir.AttrFieldInfo")]
#[repr(C)]
pub struct AttrFieldInfo {
    /// Its name.
    pub name: Str,
    /// The type of the values.
    pub type_info: Str,
    /// The meaning of the attribute.
    pub description: Str,
}

/// Attributes by name: the entries of a dict, or the fields of a class.
pub trait AttrsRef {
    /// Returns the value of an attribute.
    ///
    /// # Errors
    ///
    /// `AttributeError` if there is no attribute of this name.
    fn attribute(&self, name: &str) -> Result<Value>;

    /// The names of the attributes, in order.
    fn names(&self) -> Vec<Str>;

    /// Returns the descriptions of the attributes, in order.
    fn field_infos(&self) -> Vec<Ref<AttrFieldInfo>>;
}

impl AttrsRef for Ref<Attrs> {
    fn attribute(&self, name: &str) -> Result<Value> {
        let value = match self.downcast_ref::<DictAttrs>() {
            Some(attrs) => attrs.dict.get(name).cloned(),
            None => {
                let field = self.type_info().field_index(name);
                field.and_then(|field| field_value_at(self.as_object(), field))
            }
        };
        value.ok_or_else(|| {
            let key = self.type_info().key();
            Error::new(
                ErrorKind::Attribute,
                format!("{key} has no attribute '{name}'"),
            )
        })
    }

    fn names(&self) -> Vec<Str> {
        match self.downcast_ref::<DictAttrs>() {
            Some(attrs) => attrs.dict.keys().cloned().collect(),
            None => {
                let fields = self.type_info().fields().iter();
                fields.map(|field| field.name().into()).collect()
            }
        }
    }

    fn field_infos(&self) -> Vec<Ref<AttrFieldInfo>> {
        match self.downcast_ref::<DictAttrs>() {
            Some(attrs) => {
                let entries = attrs.dict.iter();
                entries
                    .map(|(name, value)| AttrFieldInfo::new(name.clone(), value.type_name(), ""))
                    .collect()
            }
            None => {
                let fields = self.type_info().fields().iter();
                fields
                    .map(|field| {
                        AttrFieldInfo::new(
                            field.name(),
                            field.schema().to_string(),
                            field.documentation(),
                        )
                    })
                    .collect()
            }
        }
    }
}

/// Converts a value to an integer; literals of an IR are accepted, too.
fn as_int(name: &str, value: &Value) -> Result<i64> {
    if let Some(number) = value.as_int() {
        return Ok(number);
    }
    if let Some(flag) = value.as_bool() {
        return Ok(i64::from(flag));
    }
    let literal = value.as_object().and_then(|object| {
        let literal = object.downcast_ref::<super::prim::IntImm>()?;
        Some(literal.value)
    });
    literal.ok_or_else(|| {
        Error::type_error(format!(
            "attribute '{name}': expected int, got {}",
            value.type_name()
        ))
    })
}

#[export("ir.Attrs.get")]
fn attribute(this: &Ref<Attrs>, key: &str) -> Result<Value> {
    this.attribute(key)
}

/// The integer under a name.
#[export("ir.Attrs.get_int")]
fn get_int(this: &Ref<Attrs>, key: &str) -> Result<i64> {
    as_int(key, &this.attribute(key)?)
}

/// The integers under a name.
#[export("ir.Attrs.get_int_tuple")]
fn get_int_tuple(this: &Ref<Attrs>, key: &str) -> Result<Vec<i64>> {
    let value = this.attribute(key)?;
    if let ValueRef::Shape(dims) = value.view() {
        return Ok(dims.to_vec());
    }
    let items = value.items().ok_or_else(|| {
        let got = value.type_name();
        let what = format!("attribute '{key}': expected a sequence of int, got {got}");
        Error::type_error(what)
    })?;
    items.iter().map(|item| as_int(key, item)).collect()
}

/// The string under a name.
#[export("ir.Attrs.get_str")]
fn get_str(this: &Ref<Attrs>, key: &str) -> Result<String> {
    let value = this.attribute(key)?;
    let literal = || {
        let literal = value
            .as_object()?
            .downcast_ref::<super::prim::StringImm>()?;
        Some(literal.value.to_string())
    };
    value
        .as_str()
        .map(str::to_owned)
        .or_else(literal)
        .ok_or_else(|| {
            Error::type_error(format!(
                "attribute '{key}': expected str, got {}",
                value.type_name()
            ))
        })
}

/// The names of the attributes.
#[export("ir.Attrs.keys")]
fn keys(this: &Ref<Attrs>) -> Vec<Str> {
    this.names()
}

/// Returns the descriptions of the attributes.
#[export("ir.Attrs.list_field_info")]
fn list_field_info(this: &Ref<Attrs>) -> Vec<Ref<AttrFieldInfo>> {
    this.field_infos()
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![
        attribute,
        get_int,
        get_int_tuple,
        get_str,
        keys,
        list_field_info
    ]
}
