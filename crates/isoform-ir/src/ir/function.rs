//! The base of functions, and their attributes.

use isoform::objects::with_field;
use isoform::values::{DType, ValueRef};
use isoform::{Map, Node, Ref, Result, Str, Value, export};

use super::attrs::DictAttrs;
use super::expr::RelayExpr;
use super::prim::IntImm;
use super::span::Span;

/// The base of all functions.
#[derive(Node, Default)]
#[node(key = "ir.BaseFunc")]
#[repr(C)]
pub struct BaseFunc {
    #[node(base, default)]
    base: RelayExpr,
    /// Attributes of the function, by name.
    #[node(default)]
    pub attrs: Option<Ref<DictAttrs>>,
}

impl BaseFunc {
    /// The fields of a function with these attributes. Literals of integers become integers,
    /// so that both are the same attribute. O(attributes).
    pub fn with_parts(attrs: Option<Ref<DictAttrs>>, span: Option<Ref<Span>>) -> BaseFunc {
        BaseFunc {
            base: RelayExpr::typed(None, span),
            attrs: attrs.map(with_plain_numbers),
        }
    }
}

/// The attributes with integers in place of literals of the IR, which mean the same to all
/// readers; the same object without such literals.
fn with_plain_numbers(attrs: Ref<DictAttrs>) -> Ref<DictAttrs> {
    let plain = |value: &Value| {
        let literal = value.as_object()?.downcast_ref::<IntImm>()?;
        Some(if literal.dtype == DType::BOOL {
            Value::from(literal.value != 0)
        } else {
            Value::from(literal.value)
        })
    };
    let found = attrs.dict.iter().map(|(key, value)| (key, plain(value)));
    let found: Vec<_> = found
        .filter_map(|(key, value)| Some((key.clone(), value?)))
        .collect();
    if found.is_empty() {
        return attrs;
    }
    DictAttrs::from_map(updated(Some(&attrs), found))
}

impl BaseFunc {
    /// The value of an attribute, if set.
    pub fn attribute(&self, key: &str) -> Option<&Value> {
        self.attrs.as_ref()?.dict.get(key)
    }
}

/// Copies of a function with other attributes.
pub trait BaseFuncRef {
    /// A copy with one attribute more, or another value for it. O(attributes).
    ///
    /// # Errors
    ///
    /// As [`with_field`].
    fn with_attr(&self, key: &str, value: impl Into<Value>) -> Result<Ref<BaseFunc>>;

    /// A copy with more attributes, or other values for them. O(attributes).
    ///
    /// # Errors
    ///
    /// As [`with_field`].
    fn with_attrs(&self, attrs: &Map<Str, Value>) -> Result<Ref<BaseFunc>>;

    /// A copy without an attribute. O(attributes).
    ///
    /// # Errors
    ///
    /// As [`with_field`].
    fn without_attr(&self, key: &str) -> Result<Ref<BaseFunc>>;
}

impl BaseFuncRef for Ref<BaseFunc> {
    fn with_attr(&self, key: &str, value: impl Into<Value>) -> Result<Ref<BaseFunc>> {
        with_dict(
            self,
            updated(self.attrs.as_ref(), [(key.into(), value.into())]),
        )
    }

    fn with_attrs(&self, attrs: &Map<Str, Value>) -> Result<Ref<BaseFunc>> {
        let more = attrs
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()));
        with_dict(self, updated(self.attrs.as_ref(), more))
    }

    fn without_attr(&self, key: &str) -> Result<Ref<BaseFunc>> {
        with_dict(self, reduced(self.attrs.as_ref(), key))
    }
}

/// Returns a copy of the function with other attributes.
fn with_dict(function: &Ref<BaseFunc>, dict: Map<Str, Value>) -> Result<Ref<BaseFunc>> {
    let attrs = with_plain_numbers(DictAttrs::from_map(dict));
    with_field(function.as_object(), "attrs", attrs.into())?.cast()
}

/// The attributes with additional attributes, or with other values.
pub(super) fn updated(
    attrs: Option<&Ref<DictAttrs>>,
    more: impl IntoIterator<Item = (Str, Value)>,
) -> Map<Str, Value> {
    let mut dict = attrs.map(|attrs| attrs.dict.clone()).unwrap_or_default();
    for (key, value) in more {
        dict.insert(key, value);
    }
    dict
}

/// The attributes without the given key.
pub(super) fn reduced(attrs: Option<&Ref<DictAttrs>>, key: &str) -> Map<Str, Value> {
    let mut dict = attrs.map(|attrs| attrs.dict.clone()).unwrap_or_default();
    dict.remove(key);
    dict
}

/// Several attributes, or the name of a single attribute.
pub(super) enum KeyOrDict {
    Key(Str),
    Dict(Map<Str, Value>),
}

/// Converts an argument to attributes or a name.
pub(super) fn key_or_dict(given: &Value) -> Result<KeyOrDict> {
    match given.view() {
        ValueRef::Str(key) => Ok(KeyOrDict::Key(key.into())),
        _ => attrs_of(given).map(KeyOrDict::Dict),
    }
}

/// The attributes held by a map or a node of attributes.
pub(super) fn attrs_of(given: &Value) -> Result<Map<Str, Value>> {
    let schema = isoform::types::Schema::object::<DictAttrs>();
    let attrs: Ref<DictAttrs> = schema.convert(given.clone())?.extract()?;
    Ok(attrs.dict.clone())
}

/// A copy of the function with an attribute set, or several attributes at once from a
/// dict.
#[export("ir.BaseFunc.with_attr")]
fn with_attr(
    this: &Ref<BaseFunc>,
    attr_key_or_dict: Value,
    attr_value: Option<Value>,
) -> Result<Ref<BaseFunc>> {
    match key_or_dict(&attr_key_or_dict)? {
        KeyOrDict::Key(key) => this.with_attr(&key, attr_value),
        KeyOrDict::Dict(dict) => this.with_attrs(&dict),
    }
}

/// A copy of the function with more attributes.
#[export("ir.BaseFunc.with_attrs")]
fn with_attrs(this: &Ref<BaseFunc>, attr_map: Value) -> Result<Ref<BaseFunc>> {
    this.with_attrs(&attrs_of(&attr_map)?)
}

/// A copy of the function without an attribute.
#[export("ir.BaseFunc.without_attr")]
fn without_attr(this: &Ref<BaseFunc>, attr_key: &str) -> Result<Ref<BaseFunc>> {
    this.without_attr(attr_key)
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { BaseFunc:
        with_attr = with_attr,
        with_attrs = with_attrs,
        without_attr = without_attr,
    }?;
    Ok(())
}
