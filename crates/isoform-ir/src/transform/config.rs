//! Options of contexts: keys are registered together with their valid values.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use isoform::errors::ErrorKind;
use isoform::host::name_hint;
use isoform::objects::construct_named;
use isoform::types::{Schema, TypeIndex};
use isoform::{Error, Map, Result, Str, Value, export};

/// The option for the folder of reproducers.
pub(super) const REPRODUCER: &str = "transform.reproducer";

/// The option for checking that passes leave their input alone.
pub(super) const IMMUTABLE: &str = "testing.immutable_module";

/// An option of contexts.
#[derive(Clone, Debug)]
pub struct ConfigOption {
    schema: Schema,
    default: Value,
    doc: String,
}

impl ConfigOption {
    /// The valid values of the option.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The value in contexts that do not set the option.
    pub fn default(&self) -> &Value {
        &self.default
    }

    /// The documentation.
    pub fn doc(&self) -> &str {
        &self.doc
    }

    /// A given value converted to the stored value.
    fn legalised(&self, key: &str, given: &Value) -> Result<Value> {
        if given.is_none() {
            return Err(attribute_error(format!("config option '{key}' is None")));
        }
        let class = match &self.schema {
            Schema::Object(ty) => ty.index(),
            _ => None,
        };
        let converted = match (class, given.entries()) {
            (Some(class), Some(fields)) => made_of(class, &fields),
            _ => self.schema.convert(given.clone()),
        };
        converted.map_err(|error| error.in_context(format_args!("config option '{key}'")))
    }
}

/// The object of a class with these fields.
fn made_of(class: TypeIndex, fields: &Map) -> Result<Value> {
    let named = fields.iter().map(|(name, value)| match name.as_str() {
        Some(name) => Ok((name, value.clone())),
        None => Err(Error::type_error(format!(
            "expected names of fields, got {}",
            name.type_name()
        ))),
    });
    construct_named(class, named.collect::<Result<_>>()?).map(Value::from)
}

static OPTIONS: RwLock<BTreeMap<Box<str>, ConfigOption>> = RwLock::new(BTreeMap::new());

fn attribute_error(message: String) -> Error {
    Error::new(ErrorKind::Attribute, message)
}

/// Registers an option of contexts: the schema of its values, and the default for
/// contexts that do not set the option (None for no default). A dict for an option of
/// object type becomes an object with the entries as fields.
///
/// # Errors
///
/// `ValueError` for an empty key, or for a key registered with another schema, default
/// or documentation; `TypeError` for a default that does not fit.
///
/// ```
/// use isoform_ir::transform::{ContextOptions, register_config_option};
/// use isoform::types::Schema;
///
/// register_config_option("doc.config.depth", Schema::Int, 4, "The depth to look at.")?;
/// let ctx = ContextOptions::default().config("doc.config.depth", true).make()?;
/// assert_eq!(ctx.config_value("doc.config.depth")?, 1.into());
/// let error = ContextOptions::default().config("doc.config.dpeth", 2).make().err();
/// let message = error.expect("a misspelled key").message().to_owned();
/// assert!(message.ends_with("did you mean 'doc.config.depth'?"), "{message}");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn register_config_option(
    key: &str,
    schema: Schema,
    default: impl Into<Value>,
    doc: &str,
) -> Result<()> {
    register_value(key, schema, default.into(), doc)
}

fn register_value(key: &str, schema: Schema, default: Value, doc: &str) -> Result<()> {
    if key.is_empty() {
        return Err(Error::value_error("a config option needs a key"));
    }
    let mut option = ConfigOption {
        schema,
        default: Value::NONE,
        doc: doc.to_owned(),
    };
    if !default.is_none() {
        option.default = option.legalised(key, &default)?;
    }
    let mut options = OPTIONS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(previous) = options.get(key) {
        let same_default = previous.default == option.default;
        return if previous.schema == option.schema && previous.doc == option.doc && same_default {
            Ok(())
        } else {
            Err(Error::value_error(format!(
                "config option '{key}' is already registered, for {}",
                previous.schema
            )))
        };
    }
    options.insert(key.into(), option);
    Ok(())
}

/// The option of a key.
///
/// # Errors
///
/// `AttributeError` with the registered keys for an unknown key.
pub fn config_option(key: &str) -> Result<ConfigOption> {
    let options = OPTIONS.read().unwrap_or_else(PoisonError::into_inner);
    options.get(key).cloned().ok_or_else(|| {
        let keys = || options.keys().map(|key| &**key);
        let candidates: Vec<_> = keys().collect();
        attribute_error(format!(
            "Invalid config option '{key}' candidates are: {}{}",
            candidates.join(", "),
            name_hint(key, keys())
        ))
    })
}

/// All registered options, sorted by key.
pub fn config_options() -> Vec<(String, ConfigOption)> {
    let options = OPTIONS.read().unwrap_or_else(PoisonError::into_inner);
    let entries = options.iter();
    entries
        .map(|(key, option)| (key.to_string(), option.clone()))
        .collect()
}

/// The values of a context, converted to the stored values of the options.
pub(super) fn legalised(given: &Map<Str, Value>) -> Result<Map<Str, Value>> {
    let mut made = Map::new();
    for (key, value) in given.iter() {
        made.insert(key.clone(), config_option(key)?.legalised(key, value)?);
    }
    Ok(made)
}

/// The options of a context for the passes themselves, without the options for work
/// around a pass.
pub(super) fn of_passes(given: &Map<Str, Value>) -> Map<Str, Value> {
    let entries = given
        .iter()
        .filter(|(key, _)| ![REPRODUCER, IMMUTABLE].contains(&&***key));
    entries
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The registered options: for every key the type of its values, the default and the
/// documentation.
#[export("passes.list_configs")]
fn list_configs() -> Map<Str, Map<Str, Value>> {
    let describe = |(key, option): (String, ConfigOption)| {
        let parts = [
            ("type".into(), Value::from(option.schema.to_string())),
            ("default".into(), option.default.clone()),
            ("doc".into(), Value::from(option.doc.as_str())),
        ];
        (Str::from(key), Map::from_iter(parts))
    };
    config_options().into_iter().map(describe).collect()
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![list_configs]
}
