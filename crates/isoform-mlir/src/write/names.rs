//! Names of values, blocks, symbols, distinct attributes and resources.
//!
//! Values are numbered as in MLIR's printer: those of a region before those of the regions
//! inside, and siblings begin with the same number.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use isoform::values::Bytes;
use isoform::{Error, Map, Ref, Result, Str};
use rapidhash::fast::RandomState;

use super::bodies::write_key;
use super::numbers::write_hex;
use super::{Object, Writer, sorted};
use crate::nodes::{
    DistinctAttr, Label, Operation, Region, ResourceAttr, StringAttr, Symbol, Value,
};

type ByIdentity<T> = HashMap<u64, T, RandomState>;

/// The key, the contents and the alignment of a resource.
type Blob<'b> = (Str, &'b [u8], i64);

/// The name of a value.
#[derive(Clone)]
enum Name {
    Result(Str),
    /// One of several results.
    Part(Str, usize),
    Argument(usize),
}

/// The numbers of values that come next.
#[derive(Clone, Copy, Default)]
struct Next {
    result: usize,
    argument: usize,
}

#[derive(Default)]
pub(super) struct Names<'p> {
    values: ByIdentity<Name>,
    labels: ByIdentity<usize>,
    /// Shared with writers of single attributes.
    pub(super) symbols: Arc<ByIdentity<Str>>,
    distinct: ByIdentity<usize>,
    next: Next,
    /// The numbers at the beginnings of open regions, and of the kinds that the regions have.
    open: Vec<(Next, Vec<(Str, usize)>)>,
    /// For names by kinds, the number of operations of each kind so far.
    kinds: Option<HashMap<Str, usize, RandomState>>,
    /// The contents of resources by key.
    resources: HashMap<Str, (&'p [u8], i64), RandomState>,
    /// The keys in the order of their first occurrences.
    resource_keys: Vec<Str>,
}

impl<'p> Names<'p> {
    /// With names from the names of operations instead of numbers.
    pub(super) fn by_kind(by_kind: bool) -> Self {
        Names {
            kinds: by_kind.then(HashMap::default),
            ..Names::default()
        }
    }

    /// The name of the results of the next operation.
    fn next_result(&mut self, operation: &Operation) -> Str {
        let Some(kinds) = &mut self.kinds else {
            let number = self.next.result;
            self.next.result += 1;
            return number.to_string().into();
        };
        let name = operation.name.rsplit('.').next().unwrap_or_default();
        let is_plain = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        let is_name = name.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && name.chars().all(is_plain)
            && !name.starts_with("arg");
        let kind: Str = if is_name { name } else { "value" }.into();
        let count = kinds.entry(kind.clone()).or_default();
        if let Some((_, before)) = self.open.last_mut() {
            before.push((kind.clone(), *count));
        }
        *count += 1;
        match *count {
            1 => kind,
            count => format!("{kind}_{count}").into(),
        }
    }

    /// Names the results of an operation.
    pub(super) fn number_results(&mut self, operation: &Operation) {
        let count = operation.results.len();
        if count == 0 {
            return;
        }
        let text = self.next_result(operation);
        for (part, value) in operation.results.iter().enumerate() {
            let name = match count {
                1 => Name::Result(text.clone()),
                _ => Name::Part(text.clone(), part),
            };
            self.values.insert(value.identity(), name);
        }
    }

    /// Names what a region defines.
    pub(super) fn open(&mut self, region: &Region) {
        self.open.push((self.next, Vec::new()));
        for (number, block) in region.blocks.iter().enumerate() {
            self.labels.insert(block.label.identity(), number);
            for value in &block.arguments {
                self.values
                    .insert(value.identity(), Name::Argument(self.next.argument));
                self.next.argument += 1;
            }
            for operation in &block.operations {
                self.number_results(operation);
            }
        }
        if region.symbols.is_empty() {
            return;
        }
        let names = region.operations().filter_map(public_name);
        let mut taken: HashSet<Str, RandomState> = names.collect();
        for symbol in &region.symbols {
            let mut name = symbol.name.clone();
            let mut number = 0;
            while !taken.insert(name.clone()) {
                name = format!("{}_{number}", symbol.name).into();
                number += 1;
            }
            Arc::make_mut(&mut self.symbols).insert(symbol.identity(), name);
        }
    }

    /// Ends the names of the innermost region.
    pub(super) fn close(&mut self) {
        let Some((next, before)) = self.open.pop() else {
            return;
        };
        self.next = next;
        if let Some(kinds) = &mut self.kinds {
            // The first count of a kind is the one before the region.
            kinds.extend(before.into_iter().rev());
        }
    }

    pub(super) fn symbol(&self, symbol: &Ref<Symbol>) -> Result<&Str> {
        self.symbols.get(&symbol.identity()).ok_or_else(|| {
            let name = &symbol.name;
            Error::value_error(format!("expected a region around @{name} that defines it"))
        })
    }

    /// The name of a value, as a use.
    pub(super) fn value_text(&self, value: &Ref<Value>) -> Option<String> {
        Some(match self.values.get(&value.identity())? {
            Name::Result(number) => format!("%{number}"),
            Name::Part(number, part) => format!("%{number}#{part}"),
            Name::Argument(number) => format!("%arg{number}"),
        })
    }

    /// The name of a block.
    pub(super) fn label_text(&self, label: &Ref<Label>) -> Option<String> {
        let number = self.labels.get(&label.identity())?;
        Some(format!("^bb{number}"))
    }

    /// The number of a distinct attribute.
    pub(super) fn distinct(&mut self, attribute: &Ref<DistinctAttr>) -> usize {
        let next = self.distinct.len();
        *self.distinct.entry(attribute.identity()).or_insert(next)
    }

    /// The key of a resource, which is new if other contents have its key.
    pub(super) fn resource(&mut self, resource: &'p ResourceAttr) -> Str {
        let Some(contents) = resource.contents.peek::<Bytes>() else {
            return match resource.contents.as_str() {
                Some(key) => key.into(),
                None => resource.key.clone(),
            };
        };
        let mut key = resource.key.clone();
        let mut number = 0;
        let entry = (&**contents, resource.alignment);
        loop {
            match self.resources.get(&key) {
                None if !key.is_empty() => {
                    self.resources.insert(key.clone(), entry);
                    self.resource_keys.push(key.clone());
                    return key;
                }
                Some(known) if *known == entry => return key,
                _ => {
                    key = format!("{}_{number}", resource.key).into();
                    number += 1;
                }
            }
        }
    }
}

/// The name of a symbol that keeps its name.
fn public_name(operation: &Ref<Operation>) -> Option<Str> {
    let name = operation.symbol_name()?.downcast_ref::<StringAttr>()?;
    Some(name.value.as_str()?.into())
}

impl<'p> Writer<'p> {
    /// Writes the name of a value, as a use.
    pub(super) fn write_value(&mut self, value: &Ref<Value>) -> Result<()> {
        let text = self.names.value_text(value).ok_or_else(|| {
            let name = &value.name;
            Error::value_error(format!(
                "expected an operand that the program defines, got %{name}"
            ))
        })?;
        self.out.push_str(&text);
        Ok(())
    }

    /// Writes the names of the results of an operation.
    pub(super) fn write_results(&mut self, operation: &Operation) {
        let first = operation.results.first();
        let name = first.and_then(|value| self.names.values.get(&value.identity()));
        let text = match name {
            Some(Name::Result(number)) => format!("%{number} = "),
            Some(Name::Part(number, _)) => format!("%{number}:{} = ", operation.results.len()),
            _ => return,
        };
        self.out.push_str(&text);
    }

    /// Writes the name of a block.
    pub(super) fn write_label(&mut self, label: &Ref<Label>) -> Result<()> {
        let text = self.names.label_text(label).ok_or_else(|| {
            let name = &label.name;
            Error::value_error(format!("expected a successor in the region, got ^{name}"))
        })?;
        self.out.push_str(&text);
        Ok(())
    }

    /// Writes the contents of all resources.
    pub(super) fn write_resources(&mut self, other: &Map<Str, Map<Str, Bytes>>) {
        let keys = std::mem::take(&mut self.names.resource_keys);
        if keys.is_empty() && other.is_empty() {
            return;
        }
        let known = |key: &Str| {
            let (bytes, alignment) = *self.names.resources.get(key)?;
            Some((key.clone(), bytes, alignment.max(1)))
        };
        let builtin: Vec<_> = keys.iter().filter_map(known).collect();
        let mut dialects: Vec<(&str, Vec<Blob<'_>>)> = Vec::new();
        if !builtin.is_empty() {
            dialects.push(("builtin", builtin));
        }
        for (dialect, blobs) in sorted(other) {
            let blobs = sorted(blobs).into_iter();
            let blobs = blobs.map(|(key, bytes)| (key.clone(), &**bytes, 1));
            dialects.push((dialect, blobs.collect()));
        }
        self.out.push_str("\n{-#\n  dialect_resources: {\n");
        for (position, (dialect, blobs)) in dialects.into_iter().enumerate() {
            self.out
                .push_str(if position == 0 { "    " } else { ",\n    " });
            write_key(dialect, &mut self.out);
            self.out.push_str(": {\n");
            for (position, (key, bytes, alignment)) in blobs.into_iter().enumerate() {
                self.out
                    .push_str(if position == 0 { "      " } else { ",\n      " });
                write_key(&key, &mut self.out);
                self.out.push_str(": \"0x");
                write_hex(&(alignment as u32).to_le_bytes(), &mut self.out);
                write_hex(bytes, &mut self.out);
                self.out.push('"');
            }
            self.out.push_str("\n    }");
        }
        self.out.push_str("\n  }\n#-}\n");
    }

    /// Writes a symbol's name with `@`.
    pub(super) fn write_symbol(&mut self, name: &str) {
        self.out.push('@');
        write_key(name, &mut self.out);
    }

    /// The object of a symbol, written as the name that the program gives it.
    pub(super) fn write_symbol_name(&mut self, object: &'p Object) -> Result<bool> {
        let Some(symbol) = object.downcast_ref::<Symbol>() else {
            return Ok(false);
        };
        let name = self.names.symbol(symbol)?.clone();
        super::bodies::write_string(name.as_bytes(), &mut self.out);
        Ok(true)
    }
}
