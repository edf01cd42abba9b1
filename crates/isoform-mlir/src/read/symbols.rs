//! Private symbols: which references name which definition.
//!
//! The first name of a reference is looked up in the nearest region around it that holds an
//! operation with a `sym_name`, and nowhere else. A private symbol
//! and all references to it become one object, so that the name does not matter.
//!
//! A name stays a name where the rule could be wrong without knowledge of the dialects: if
//! a reference finds nothing, is an attribute of the table itself, or goes through another
//! symbol, all private symbols of that name keep it.

use hashbrown::{HashMap, HashSet};
use isoform::traverse::{Children, children_of};
use isoform::types::RegionKind;
use isoform::{Error, Ref, Result, Str, Value};
use rapidhash::fast::RandomState;

use super::records::{Id, Records, SymbolRecord};
use super::resources::Resources;
use super::values::Object;
use crate::nodes::{ResourceAttr, Symbol, SymbolRefAttr};

/// Replaces names by symbols, and keys of resources by contents.
pub(super) struct Settlement<'r> {
    /// For each region, the region whose symbols references in it name.
    tables: Vec<Option<Id>>,
    /// The private symbols by region and name.
    symbols: HashMap<(Id, Str), Ref<Symbol>, RandomState>,
    /// The symbol of an operation, and true if its name is a property.
    definitions: HashMap<Id, (Ref<Symbol>, bool), RandomState>,
    resources: &'r Resources,
    /// Attributes and types that are settled, by region and identity.
    settled: HashMap<(Option<Id>, u64), Object, RandomState>,
    /// The number of nodes that may still be visited. Nodes of the text itself are fewer than
    /// its bytes; aliases with symbols may be visited for each table.
    budget: usize,
    is_needed: bool,
}

/// A value whose parts are being settled.
struct Level {
    children: Children,
    done: Vec<Value>,
    key: Option<u64>,
}

impl<'r> Settlement<'r> {
    /// Without symbols so far. `is_wrapped` is true if the outermost region is one of the
    /// program.
    pub(super) fn new(
        records: &Records<'_>,
        resources: &'r Resources,
        is_wrapped: bool,
        has_resources: bool,
        length: usize,
    ) -> Self {
        let mut tables: Vec<Option<Id>> = Vec::with_capacity(records.regions.len());
        for (id, region) in records.regions.iter().enumerate() {
            let is_table = region.has_symbols && (id > 0 || is_wrapped);
            let outer = region.parent.and_then(|parent| tables[parent as usize]);
            tables.push(if is_table { Some(id as Id) } else { outer });
        }
        Settlement {
            tables,
            symbols: HashMap::default(),
            definitions: HashMap::default(),
            resources,
            settled: HashMap::default(),
            budget: 200_000 + length,
            is_needed: has_resources,
        }
    }

    /// Finds the private symbols.
    pub(super) fn find_symbols(
        &mut self,
        records: &Records<'_>,
        nested_names: &HashSet<Str, RandomState>,
        is_wrapped: bool,
    ) -> Result<()> {
        let mut counts: HashMap<(Id, &Str), usize, RandomState> = HashMap::default();
        for symbol in &records.symbols {
            *counts.entry((symbol.region, &symbol.name)).or_default() += 1;
        }
        let is_candidate = |symbol: &&SymbolRecord| {
            symbol.is_private
                && (symbol.region > 0 || is_wrapped)
                && counts.get(&(symbol.region, &symbol.name)) == Some(&1)
        };
        let candidates: Vec<_> = records.symbols.iter().filter(is_candidate).collect();
        if candidates.is_empty() {
            return Ok(());
        }
        let keys = candidates.iter().map(|it| (it.region, it.name.clone()));
        let known: HashSet<(Id, Str), RandomState> = keys.collect();
        let is_known = |table: Option<Id>, name: &Str| {
            table.is_some_and(|table| known.contains(&(table, name.clone())))
        };
        let mut named = nested_names.clone();
        let mut seen = HashSet::default();
        for operation in records.operations.iter().filter(|it| it.is_unsettled) {
            let table = self.tables[operation.region as usize];
            let has_symbols = |&region: &Id| records.regions[region as usize].has_symbols;
            let is_table = operation.regions.iter().any(has_symbols);
            let attributes = operation.attributes.values();
            for value in operation.properties.values().chain(attributes) {
                let names = self.names_in(value, table, &mut seen)?;
                named.extend(names.filter(|name| is_table || !is_known(table, name)));
            }
        }
        for value in records.values.iter().filter(|value| value.is_unsettled) {
            let table = self.tables[value.region as usize];
            if let Some(ty) = &value.ty {
                let names = self.names_in(ty, table, &mut seen)?;
                named.extend(names.filter(|name| !is_known(table, name)));
            }
        }
        for record in candidates {
            if named.contains(&record.name) {
                continue;
            }
            let symbol = Symbol::new(&record.name);
            self.symbols
                .insert((record.region, record.name.clone()), symbol.clone());
            self.definitions
                .insert(record.operation, (symbol, record.is_property));
        }
        self.is_needed |= !self.symbols.is_empty();
        Ok(())
    }

    /// The first name of each reference in an attribute or a type.
    fn names_in(
        &mut self,
        object: &Object,
        table: Option<Id>,
        seen: &mut HashSet<(Option<Id>, u64), RandomState>,
    ) -> Result<impl Iterator<Item = Str> + use<>> {
        let mut names: Vec<Str> = Vec::new();
        let mut pending = vec![Value::from(object)];
        while let Some(value) = pending.pop() {
            if let Some(object) = node(&value) {
                if let Some(reference) = object.downcast_ref::<SymbolRefAttr>() {
                    names.extend(reference.root.as_str().map(Str::from));
                    continue;
                }
                if !seen.insert((table, object.identity())) {
                    continue;
                }
                self.spend()?;
            }
            let children = children_of(&value);
            pending.extend(children.iter(RegionKind::Use).map(|child| child.value));
        }
        Ok(names.into_iter())
    }

    /// The symbol that an operation defines, and true if the name is a property.
    pub(super) fn definition(&self, operation: Id) -> Option<&(Ref<Symbol>, bool)> {
        self.definitions.get(&operation)
    }

    /// A type or attribute in a region, with symbols and contents in place of names.
    pub(super) fn settle(&mut self, object: &Object, region: Id) -> Result<Object> {
        if !self.is_needed {
            return Ok(object.clone());
        }
        let table = self.tables[region as usize];
        let mut levels: Vec<Level> = Vec::new();
        let mut current = Value::from(object);
        loop {
            let mut value = match self.known(&current, table) {
                Some(value) => value,
                None => {
                    let children = children_of(&current);
                    if let Some(first) = children.get(0, RegionKind::Use) {
                        let key = node(&current).map(|object| object.identity());
                        levels.push(Level {
                            children,
                            done: Vec::new(),
                            key,
                        });
                        current = first.value;
                        continue;
                    }
                    current.clone()
                }
            };
            loop {
                let Some(level) = levels.last_mut() else {
                    return value.extract::<Object>();
                };
                level.done.push(value);
                if let Some(next) = level.children.get(level.done.len(), RegionKind::Use) {
                    current = next.value;
                    break;
                }
                let Some(level) = levels.pop() else {
                    return Err(Error::value_error("expected a level"));
                };
                value = self.with_contents(level.children.rebuild(level.done)?);
                if let (Some(key), Some(object)) = (level.key, node(&value)) {
                    self.settled.insert((table, key), object.clone());
                    self.spend()?;
                }
            }
        }
    }

    fn spend(&mut self) -> Result<()> {
        let left = self.budget.checked_sub(1).ok_or_else(|| {
            Error::value_error(
                "expected a program that is not much longer than the file when the symbols in \
                 aliases are resolved",
            )
        })?;
        self.budget = left;
        Ok(())
    }

    /// The settled form, if it is at hand.
    fn known(&self, value: &Value, table: Option<Id>) -> Option<Value> {
        let object = node(value)?;
        if let Some(reference) = object.downcast_ref::<SymbolRefAttr>() {
            let name: Str = reference.root.as_str()?.into();
            let symbol = self.symbols.get(&(table?, name));
            return Some(match symbol {
                Some(symbol) => reference.with_root(symbol).into(),
                None => value.clone(),
            });
        }
        self.settled
            .get(&(table, object.identity()))
            .map(Value::from)
    }

    fn with_contents(&self, value: Value) -> Value {
        let resource = node(&value).and_then(|object| object.downcast_ref::<ResourceAttr>());
        let Some(resource) = resource else {
            return value;
        };
        match self.resources.builtin.get(&resource.key) {
            Some((alignment, contents)) => resource
                .with_contents(contents)
                .with_alignment(*alignment)
                .into(),
            None => value,
        }
    }
}

/// The object of a declared type.
fn node(value: &Value) -> Option<&Object> {
    let object = value.peek::<Object>()?;
    (!object.type_info().is_builtin()).then_some(object)
}
