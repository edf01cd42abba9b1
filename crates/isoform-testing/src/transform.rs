//! Changes that keep a value equal, and a change that may not.
//!
//! The former rebuild a value in the way of a human reader: keeping track of which
//! variable is bound where, one value at a time.

use std::collections::HashMap;

use super::generate::{children, weight};
use super::oracle::{Region, change_of, plain, visited};
use super::source::Source;
use isoform::compare::CompareOptions;
use isoform::objects::{construct, field_value_at};
use isoform::types::Kind;
use isoform::values::{Dict, List, ValueRef};
use isoform::{Array, Error, Map, Obj, Ref, Result, Value};

/// Returns the value with fresh bound variables and dag nodes, and maps whose entries
/// were inserted in a different order. Free variables, singletons and unbound object
/// keys are kept. Always equal to the value.
///
/// # Errors
///
/// `ValueError` for a cyclic value, and if a free variable's type mentions a bound
/// variable and therefore cannot be kept.
pub fn rename(value: &Value, options: CompareOptions, source: &mut Source<'_>) -> Result<Value> {
    let mut rebuild = Rebuild::new(source, options);
    rebuild.fresh_vars = true;
    rebuild.share = true;
    rebuild.value(value, rebuild.outermost)
}

/// The value with fresh dag nodes, and maps whose entries were inserted in
/// another order; variables stay. Always equal to the value.
///
/// # Errors
///
/// As [`rename`].
pub fn reorder(value: &Value, options: CompareOptions, source: &mut Source<'_>) -> Result<Value> {
    let mut rebuild = Rebuild::new(source, options);
    rebuild.share = true;
    rebuild.value(value, rebuild.outermost)
}

/// Returns the value with a copy of every tree node at every occurrence. Variables are
/// kept, dag nodes are copied once. Always equal to the value.
///
/// # Errors
///
/// As [`rename`].
pub fn unshare(value: &Value, options: CompareOptions) -> Result<Value> {
    let mut nothing = Source::new(&[]);
    let mut rebuild = Rebuild::new(&mut nothing, options);
    rebuild.value(value, rebuild.outermost)
}

struct BoundVar {
    old: u64,
    new: Value,
    level: usize,
    number: usize,
}

struct Rebuild<'a, 's> {
    source: &'a mut Source<'s>,
    outermost: Region,
    fresh_vars: bool,
    share: bool,
    /// True inside a variable that is kept.
    keeping: bool,
    bound: Vec<BoundVar>,
    made: usize,
    level: usize,
    open: Vec<u64>,
    /// Copies by original, with the parts of the copies: an original with the same new
    /// parts needs no second copy.
    copies: HashMap<u64, Vec<(Vec<Value>, Value)>>,
}

impl<'a, 's> Rebuild<'a, 's> {
    fn new(source: &'a mut Source<'s>, options: CompareOptions) -> Self {
        let outermost = Region::outermost(options);
        Rebuild {
            source,
            outermost,
            fresh_vars: false,
            share: false,
            keeping: false,
            bound: Vec::new(),
            made: 0,
            level: 0,
            open: Vec::new(),
            copies: HashMap::new(),
        }
    }

    fn newest(&self, old: u64) -> Option<&BoundVar> {
        self.bound.iter().rev().find(|bound| bound.old == old)
    }

    fn bind(&mut self, old: u64, new: &Value, level: usize) {
        self.bound.push(BoundVar {
            old,
            new: new.clone(),
            level,
            number: self.made,
        });
        self.made += 1;
    }

    fn value(&mut self, value: &Value, region: Region) -> Result<Value> {
        match value.view() {
            ValueRef::Array(array) => {
                let items = self.items(array.values(), region)?;
                self.copy(value, items, |items| {
                    Ok(items.into_iter().collect::<Array>().into())
                })
            }
            ValueRef::List(list) => {
                self.open(value)?;
                let items = self.items(list.snapshot().values(), region)?;
                self.open.pop();
                self.copy(value, items, |items| {
                    Ok(items.into_iter().collect::<List>().into())
                })
            }
            ValueRef::Map(map) => Ok(self
                .entries(map, region)?
                .into_iter()
                .collect::<Map>()
                .into()),
            ValueRef::Dict(dict) => {
                self.open(value)?;
                let entries = self.entries(&dict.snapshot(), region)?;
                self.open.pop();
                Ok(entries.into_iter().collect::<Dict>().into())
            }
            ValueRef::Object(object) if !object.type_info().is_builtin() => {
                self.object(value, object, region)
            }
            _ => Ok(value.clone()),
        }
    }

    fn open(&mut self, value: &Value) -> Result<()> {
        let ident = value.as_object().map_or(0, Ref::identity);
        if self.open.contains(&ident) {
            return Err(Error::value_error("cyclic value"));
        }
        self.open.push(ident);
        Ok(())
    }

    fn items(&mut self, items: &[Value], region: Region) -> Result<Vec<Value>> {
        items.iter().map(|item| self.value(item, region)).collect()
    }

    fn entries(&mut self, map: &Map, region: Region) -> Result<Vec<(Value, Value)>> {
        // Bindings made in one value are visible in the next, so the values are rebuilt
        // in the order of visit of a comparison.
        let mut ranked = map
            .iter()
            .map(|(key, value)| {
                let object = key.as_object().filter(|_| !plain::is_plain(key));
                let (class, number, new_key) = match object.map(Ref::identity) {
                    None => (0, 0, key.clone()),
                    Some(ident) => match self.newest(ident) {
                        Some(bound) => (1, bound.number as u64, self.partner(key, &bound.new)?),
                        None => (2, ident, key.clone()),
                    },
                };
                Ok((class, number, new_key, value.clone()))
            })
            .collect::<Result<Vec<_>>>()?;
        ranked.sort_by(|l, r| {
            (l.0, l.1)
                .cmp(&(r.0, r.1))
                .then_with(|| plain::order(&l.2, &r.2))
        });
        let mut entries = Vec::new();
        for (_, _, key, value) in ranked {
            entries.push((key, self.value(&value, region)?));
        }
        self.source.shuffle(&mut entries);
        Ok(entries)
    }

    fn object(&mut self, value: &Value, object: &Ref<Obj>, region: Region) -> Result<Value> {
        let ident = object.identity();
        match object.type_info().kind() {
            Kind::None | Kind::Singleton => Ok(value.clone()),
            Kind::Tree | Kind::ConstTree => self.scoped(value, object, region),
            Kind::Dag => {
                if let Some(bound) = self.newest(ident) {
                    return self.partner(value, &bound.new);
                }
                // A dag node's copy is found through its binding, never through
                // `copies`, since there must be a single copy.
                let new = self.scoped(value, object, region)?;
                let new = if self.keeping { value.clone() } else { new };
                self.bind(ident, &new, 0);
                Ok(new)
            }
            Kind::Var => self.var(value, object, region),
        }
    }

    fn var(&mut self, value: &Value, object: &Ref<Obj>, region: Region) -> Result<Value> {
        let ident = object.identity();
        let newest = self
            .newest(ident)
            .map(|bound| (bound.level, bound.new.clone()));
        match (newest, region.binds_at()) {
            (Some((_, new)), None) => self.partner(value, &new),
            (Some((bound, new)), Some(level)) if bound >= level => self.partner(value, &new),
            (_, Some(level)) => {
                let new = if self.fresh_vars && !self.keeping {
                    self.fields(object, region.inside_var())?.1
                } else {
                    self.keep_below(object, region.inside_var())?;
                    value.clone()
                };
                self.bind(ident, &new, level);
                Ok(new)
            }
            (None, None) => {
                self.keep_below(object, Region::Use)?;
                self.bind(ident, value, 0);
                Ok(value.clone())
            }
        }
    }

    /// Visits the fields of a kept variable: every node in the fields is kept, too, and
    /// matched with itself.
    fn keep_below(&mut self, object: &Ref<Obj>, region: Region) -> Result<()> {
        let outer = std::mem::replace(&mut self.keeping, true);
        let outcome = self.fields(object, region);
        self.keeping = outer;
        outcome.map(drop)
    }

    /// The replacement of a bound object. A kept variable must not mention the object,
    /// unless the object is kept, too.
    fn partner(&self, old: &Value, new: &Value) -> Result<Value> {
        if self.keeping && old != new {
            return Err(Error::value_error(
                "the type of a kept variable mentions a renamed node",
            ));
        }
        Ok(new.clone())
    }

    fn scoped(&mut self, value: &Value, object: &Ref<Obj>, region: Region) -> Result<Value> {
        let scope = object.type_info().is_scope();
        self.level += usize::from(scope);
        let (parts, new) = self.fields(object, region)?;
        if scope {
            let ended = self.level;
            self.bound.retain(|bound| bound.level != ended);
            self.level -= 1;
        }
        if object.type_info().kind() == Kind::Dag {
            return Ok(new);
        }
        self.copy(value, parts, |_| Ok(new))
    }

    /// The fields rebuilt, and a new object with these fields.
    fn fields(&mut self, object: &Ref<Obj>, region: Region) -> Result<(Vec<Value>, Value)> {
        let info = object.type_info();
        let mut values: Vec<Value> = (0..info.fields().len())
            .filter_map(|field| field_value_at(object, field))
            .collect();
        for field in visited(info) {
            let change = change_of(info.fields()[field].field_flag());
            let inside = region.change(change, self.level, self.outermost);
            values[field] = self.value(&values[field].clone(), inside)?;
        }
        let new = construct(info.index(), values.clone())?.into();
        Ok((values, new))
    }

    fn copy(
        &mut self,
        original: &Value,
        parts: Vec<Value>,
        make: impl FnOnce(Vec<Value>) -> Result<Value>,
    ) -> Result<Value> {
        let ident = original.as_object().map_or(0, Ref::identity);
        let shared_copy = self.copies.get(&ident).and_then(|copies| {
            let same = copies.iter().find(|(other, _)| *other == parts);
            same.map(|(_, copy)| copy.clone())
        });
        match shared_copy {
            Some(copy) if self.share => Ok(copy),
            _ => {
                let copy = make(parts.clone())?;
                self.copies
                    .entry(ident)
                    .or_default()
                    .push((parts, copy.clone()));
                Ok(copy)
            }
        }
    }
}

/// Returns the value with one small change at one place, with or without a change of
/// meaning. The nodes above the place are copied, all other nodes are shared.
///
/// # Errors
///
/// None; construction is fallible in general.
pub fn mutate_once(value: &Value, source: &mut Source<'_>) -> Result<Value> {
    let total = weight(value, 250);
    let mut countdown = source.below(total);
    let spares = spares(value);
    Ok(mutate_at(value, &mut countdown, &spares, source)?.unwrap_or_else(|| value.clone()))
}

/// Parts of a value for use elsewhere in the value: its variables and nodes.
fn spares(value: &Value) -> Vec<Value> {
    let mut spares = Vec::new();
    let mut stack = vec![value.clone()];
    // A cyclic value has no end, so the search stops after a while.
    for _ in 0..500 {
        let Some(value) = stack.pop() else {
            break;
        };
        stack.extend(children(&value));
        if matches!(value.view(), ValueRef::Object(_)) && weight(&value, 20) < 20 {
            spares.push(value);
        }
    }
    spares
}

/// Returns the value with the part at the countdown changed; None if that part is
/// outside of this value.
fn mutate_at(
    value: &Value,
    countdown: &mut usize,
    spares: &[Value],
    source: &mut Source<'_>,
) -> Result<Option<Value>> {
    if *countdown == 0 {
        return Ok(Some(tweak(value, spares, source)));
    }
    *countdown -= 1;
    for (position, child) in children(value).iter().enumerate() {
        // A cyclic value has no end, but the countdown ends after a few levels of it,
        // since every level counts.
        if let Some(changed) = mutate_at(child, countdown, spares, source)? {
            return Ok(Some(replace_child(value, position, changed)));
        }
    }
    Ok(None)
}

/// The value with one child replaced; the value itself when the new child does not fit
/// the place.
pub(super) fn replace_child(value: &Value, position: usize, child: Value) -> Value {
    let mut parts = children(value);
    parts[position] = child;
    match value.view() {
        ValueRef::Object(object) => {
            construct(object.type_info().index(), parts).map_or_else(|_| value.clone(), Into::into)
        }
        ValueRef::Array(_) => parts.into(),
        ValueRef::List(_) => List::from(parts).into(),
        ValueRef::Map(map) => {
            let keys = map.keys().cloned();
            Value::from(keys.zip(parts).collect::<Map>())
        }
        ValueRef::Dict(dict) => {
            let map = dict.snapshot();
            let keys = map.keys().cloned();
            Value::from(keys.zip(parts).collect::<Dict>())
        }
        _ => value.clone(),
    }
}

pub(super) fn tweak(value: &Value, spares: &[Value], source: &mut Source<'_>) -> Value {
    let choice = source.below(8);
    if choice == 7 && !spares.is_empty() {
        return source.pick(spares).clone();
    }
    match value.view() {
        ValueRef::Float(number) if number.is_nan() => {
            // Another NaN, which is an equal one.
            Value::from(f64::from_bits(number.to_bits() ^ (1 << 63)))
        }
        ValueRef::Float(number) => Value::from(-number),
        ValueRef::Bool(flag) if choice < 4 => Value::from(!flag),
        ValueRef::Bool(flag) => Value::from(i64::from(flag)),
        ValueRef::Int(number) if choice < 4 => Value::from(number.wrapping_add(1)),
        ValueRef::Int(number) => Value::from(number as f64),
        ValueRef::Str(text) if choice < 4 => Value::from(format!("{text}x")),
        ValueRef::Str(text) => Value::from(text.as_bytes()),
        ValueRef::Array(array) => match choice {
            0 => array
                .values()
                .iter()
                .skip(1)
                .cloned()
                .collect::<Array>()
                .into(),
            1 => array
                .values()
                .iter()
                .cloned()
                .chain([Value::NONE])
                .collect::<Array>()
                .into(),
            2 => array
                .values()
                .iter()
                .rev()
                .cloned()
                .collect::<Array>()
                .into(),
            3 => array.values().iter().cloned().collect::<List>().into(),
            // A copy, which is equal.
            _ => array.values().iter().cloned().collect::<Array>().into(),
        },
        ValueRef::Map(map) => match choice {
            0 => map.iter().skip(1).map(pair).collect::<Map>().into(),
            1 => {
                let more = (source.plain(), Value::NONE);
                map.iter().map(pair).chain([more]).collect::<Map>().into()
            }
            2 => map.iter().map(pair).collect::<Dict>().into(),
            // Another order of insertion, which is equal.
            _ => {
                let mut entries: Vec<_> = map.iter().map(pair).collect();
                entries.reverse();
                entries.into_iter().collect::<Map>().into()
            }
        },
        ValueRef::Object(object) if !object.type_info().is_builtin() => {
            let mut parts = children(value);
            match choice {
                0 | 1 if parts.len() > 1 => {
                    let last = parts.len() - 1;
                    parts.swap(last - 1, last);
                }
                2 if !parts.is_empty() => {
                    let last = parts.len() - 1;
                    parts[last] = source.plain();
                }
                // A copy: equal for a tree, different for other kinds.
                _ => {}
            }
            construct(object.type_info().index(), parts).map_or_else(|_| value.clone(), Into::into)
        }
        _ => source.plain(),
    }
}

fn pair((key, value): (&Value, &Value)) -> (Value, Value) {
    (key.clone(), value.clone())
}
