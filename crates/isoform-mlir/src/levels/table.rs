//! Reads the knowledge of dialects from a text in TOML.

use std::ops::Range;

use isoform::errors::ErrorKind;
use isoform::plumbing::text_error;
use isoform::text::TextFault;
use isoform::{Error, Obj, Ref, Result, Str};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::dialects::{Dialects, Knowledge, Swap};
use crate::read::read_attribute;

/// A value with its place in the text.
type Entry<'t> = Spanned<DeValue<'t>>;

/// The table of a text.
pub(super) fn read(name: &str, text: &str) -> Result<Dialects> {
    let source = Source { name, text };
    let table = DeTable::parse(text).map_err(|error| {
        let range = error.span().unwrap_or(0..0);
        source.error(range, error.message().to_owned())
    })?;
    let mut dialects = Dialects::default();
    for (key, value) in table.get_ref() {
        match &**key.get_ref() {
            "names" => {
                let names = source.strings(value, "names", "\"jax.result_info\"")?;
                let names = names.into_iter().map(|(name, _)| Str::from(name));
                dialects.names.extend(names);
            }
            "commutative" => source.read_commutative(value, &mut dialects)?,
            "contents" => {
                for (operation, keys) in source.table(value, "contents")? {
                    let path = format!("contents.{operation:?}");
                    let keys = source.strings(keys, &path, "\"value\"")?;
                    let keys = keys.into_iter().map(|(key, _)| Str::from(key)).collect();
                    dialects.of(operation).contents = Some(keys);
                }
            }
            "defaults" => {
                for (operation, entries) in source.table(value, "defaults")? {
                    let path = format!("defaults.{operation:?}");
                    for (key, values) in source.table(entries, &path)? {
                        let values = source.attributes(values, &format!("{path}.{key}"))?;
                        dialects.of(operation).defaults.insert(key.into(), values);
                    }
                }
            }
            other => {
                let message = format!(
                    "expected the key names, commutative, contents or defaults, got {other:?}"
                );
                return Err(source.error(key.span(), message));
            }
        }
    }
    Ok(dialects)
}

impl Dialects {
    fn of(&mut self, operation: &str) -> &mut Knowledge {
        self.operations.entry(operation.into()).or_default()
    }
}

/// The text.
struct Source<'t> {
    name: &'t str,
    text: &'t str,
}

impl Source<'_> {
    fn error(&self, range: Range<usize>, message: String) -> Error {
        text_error(self.name, self.text, ErrorKind::Value, range, message)
    }

    /// The error that the value of a key is of another type. `write` is an example.
    fn unexpected(&self, value: &Entry<'_>, path: &str, expected: &str, write: &str) -> Error {
        let got = value.get_ref().type_str();
        let article = if got.starts_with(['a', 'i']) {
            "an"
        } else {
            "a"
        };
        let message = format!("{path}: expected {expected}, got {article} {got}: write {write}");
        self.error(value.span(), message)
    }

    fn read_commutative(&self, value: &Entry<'_>, dialects: &mut Dialects) -> Result<()> {
        let write = "\"dialect.operation\" or { operation = \"dialect.operation\", first = 2 }";
        let Some(items) = value.get_ref().as_array() else {
            let write = format!("[{write}]");
            return Err(self.unexpected(value, "commutative", "a list of operations", &write));
        };
        for item in items.iter() {
            if let Some(operation) = item.get_ref().as_str() {
                dialects.of(operation).swap = Some(Swap::default());
                continue;
            }
            if !item.get_ref().is_table() {
                return Err(self.unexpected(item, "commutative", "an operation", write));
            }
            let mut operation = None;
            let mut swap = Swap::default();
            for (key, value) in self.table(item, "commutative")? {
                let path = format!("commutative.{key}");
                match key {
                    "operation" => {
                        let expected = "the name of an operation";
                        let name = value.get_ref().as_str();
                        operation = Some(name.ok_or_else(|| {
                            self.unexpected(value, &path, expected, "\"dialect.operation\"")
                        })?);
                    }
                    "first" => {
                        let number = value.get_ref().as_integer();
                        let number = number.and_then(|number| number.as_str().parse().ok());
                        swap.first = Some(number.ok_or_else(|| {
                            self.unexpected(value, &path, "a number of operands", "2")
                        })?);
                    }
                    "when" => {
                        for (key, values) in self.table(value, &path)? {
                            let values = self.attributes(values, &format!("{path}.{key}"))?;
                            swap.when.push((key.into(), values));
                        }
                    }
                    _ => {
                        let message = format!(
                            "commutative: expected the key operation, first or when, got {key:?}"
                        );
                        return Err(self.error(item.span(), message));
                    }
                }
            }
            let operation = operation.ok_or_else(|| {
                let message = "commutative: expected the key operation: write \
                               { operation = \"dialect.operation\" }";
                self.error(item.span(), message.to_owned())
            })?;
            dialects.of(operation).swap = Some(swap);
        }
        Ok(())
    }

    /// The entries of a table.
    fn table<'v>(
        &self,
        value: &'v Entry<'_>,
        path: &str,
    ) -> Result<impl Iterator<Item = (&'v str, &'v Entry<'v>)>> {
        let Some(table) = value.get_ref().as_table() else {
            let write = "{ \"key\" = \"value\" }";
            return Err(self.unexpected(value, path, "a table", write));
        };
        Ok(table.iter().map(|(key, value)| (&**key.get_ref(), value)))
    }

    /// A string, or the strings of a list, with their places.
    fn strings<'v>(
        &self,
        value: &'v Entry<'_>,
        path: &str,
        write: &str,
    ) -> Result<Vec<(&'v str, Range<usize>)>> {
        let items = match value.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            _ => vec![value],
        };
        let string = |item: &'v Entry<'_>| match item.get_ref().as_str() {
            Some(text) => Ok((text, item.span())),
            None => Err(self.unexpected(item, path, "a string or a list of strings", write)),
        };
        items.into_iter().map(string).collect()
    }

    /// The attributes of a string, or of the strings of a list.
    fn attributes(&self, value: &Entry<'_>, path: &str) -> Result<Vec<Ref<Obj>>> {
        let texts = self.strings(value, path, "an attribute in quotes, such as \"0 : i64\"")?;
        let attribute = |(text, range): (&str, Range<usize>)| {
            read_attribute(text).map_err(|error| {
                let shown = error.message().to_owned();
                let source = error.into_source();
                let fault = source.and_then(|source| source.downcast::<TextFault>().ok());
                let told = match fault {
                    Some(fault) => format!("column {}: {}", fault.column(), fault.message()),
                    None => shown,
                };
                let message = format!(
                    "{path}: expected an attribute of MLIR, such as \"0 : i64\", got {text:?}: {told}"
                );
                self.error(range, message)
            })
        };
        texts.into_iter().map(attribute).collect()
    }
}
