//! Constructor arguments other than nodes.

use super::datatype::DataType;
use super::expr::{ConstInt, Expr, Var};
use super::node::Span;
use super::ty::Type;
use isoform::attrs::Lookup;
use isoform::functions::Argument;
use isoform::types::{ElementType, Schema};
use isoform::values::ValueRef;
use isoform::{Array, Error, Map, Ref, Result, Str, Value, attrs};

/// An expression that is a size or an offset: an int becomes a literal of
/// format INDEX.
#[derive(Clone)]
pub(super) struct Extent(pub(super) Ref<Expr>);

impl Argument for Extent {
    fn schema() -> Schema {
        Schema::Union(Box::new([Schema::Int, Schema::object::<Expr>()]))
    }

    fn from_value(value: Value) -> Result<Self> {
        if let Some(expr) = value.peek::<Ref<Expr>>() {
            return Ok(Extent(expr.clone()));
        }
        if let Some(size) = value.as_int() {
            return Ok(Extent(ConstInt::new(size, DataType::Index).upcast()));
        }
        Err(Error::type_error(format!(
            "expected int or pto.Expr, got {}",
            value.type_name()
        )))
    }
}

/// Sizes or offsets as expressions.
pub(super) fn extents(sizes: impl IntoIterator<Item = Extent>) -> Array<Ref<Expr>> {
    let sizes: Vec<_> = sizes.into_iter().map(|size| size.0).collect();
    sizes.into()
}

/// Values by key: a map, or pairs of keys and values.
#[derive(Clone)]
pub(super) struct Entries<K: ElementType>(pub(super) Map<K, Value>);

/// Attributes by name.
pub(super) type Attrs = Entries<Str>;

impl<K: ElementType> Default for Entries<K> {
    fn default() -> Self {
        Entries(Map::new())
    }
}

impl<K: ElementType> Argument for Entries<K> {
    fn schema() -> Schema {
        let pair = Schema::Tuple(Box::new([K::element_schema(), Schema::Any]));
        Schema::Union(Box::new([
            Schema::Map(Box::new((K::element_schema(), Schema::Any))),
            Schema::Array(Box::new(pair)),
        ]))
    }

    fn from_value(value: Value) -> Result<Self> {
        let value = Self::schema().convert(value)?;
        let Some(pairs) = value.as_array() else {
            return Ok(Entries(value.extract()?));
        };
        let mut entries = Map::<K, Value>::new();
        for pair in pairs.values() {
            let pair = pair.extract::<Array>()?;
            let [key, value] = pair.values() else {
                return Err(Error::type_error("expected pairs of a key and a value"));
            };
            if entries.insert(key.extract()?, value.clone()).is_some() {
                let name = match key.peek::<Ref<Var>>() {
                    Some(var) => var.name_hint.clone(),
                    None => key.extract()?,
                };
                return Err(Error::value_error(format!("'{name}' is given twice")));
            }
        }
        Ok(Entries(entries))
    }
}

/// Optional arguments in several accepted orders, told apart by their types.
#[derive(Default)]
pub(super) struct Overload {
    pub(super) kwargs: Option<Map<Str, Value>>,
    pub(super) attrs: Option<Map<Str, Value>>,
    pub(super) ty: Option<Ref<Type>>,
    pub(super) span: Option<Ref<Span>>,
}

impl Overload {
    /// Assigns arguments to the parameters of these names.
    ///
    /// # Errors
    ///
    /// `TypeError` for a value of no accepted type, and for two values for the same
    /// parameter.
    pub(super) fn sort<const COUNT: usize>(
        key: &str,
        arguments: [(&str, Value); COUNT],
    ) -> Result<Overload> {
        let mut sorted = Overload::default();
        for (name, value) in arguments {
            if value.is_none() {
                continue;
            }
            let twice = if let Some(ty) = value.peek::<Ref<Type>>() {
                sorted.ty.replace(ty.clone()).is_some()
            } else if let Some(span) = value.peek::<Ref<Span>>() {
                sorted.span.replace(span.clone()).is_some()
            } else {
                let map = Attrs::from_value(value.clone()).map_err(|_| {
                    Error::type_error(format!(
                        "{key}.__init__() argument '{name}': expected a map of names, pto.Type or \
                         pto.Span, got {}",
                        value.type_name()
                    ))
                })?;
                let place = match name {
                    "attrs" => &mut sorted.attrs,
                    _ => {
                        check_named(key, &map.0)?;
                        &mut sorted.kwargs
                    }
                };
                place.replace(map.0).is_some()
            };
            if twice {
                return Err(Error::type_error(format!(
                    "{key}.__init__() argument '{name}': another argument of this type was given, \
                     got {}",
                    value.type_name()
                )));
            }
        }
        Ok(sorted)
    }
}

/// Rejects named arguments that no operator accepts: the arguments of a call must be
/// plain data.
fn check_named(key: &str, arguments: &Map<Str, Value>) -> Result<()> {
    for (name, value) in arguments.iter() {
        if !is_plain(value) {
            return Err(Error::type_error(format!(
                "{key}.__init__() argument 'kwargs': '{name}': expected bool, int, float, str, a \
                 member of an enum, or an array of them, got {}",
                value.type_name()
            )));
        }
    }
    Ok(())
}

fn is_plain(value: &Value) -> bool {
    let is_scalar = |value: &Value| match value.view() {
        ValueRef::Bool(_) | ValueRef::Int(_) | ValueRef::Float(_) | ValueRef::Str(_) => true,
        ValueRef::Object(object) => {
            let ty = object.type_info().index();
            attrs::has(ty, "enum.members", Lookup::Exact)
        }
        _ => false,
    };
    match value.as_array() {
        Some(items) => items.values().iter().all(is_scalar),
        None => is_scalar(value),
    }
}
