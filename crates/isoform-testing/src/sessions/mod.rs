//! Random values with heavy sharing over few types, edited, compared and hashed again and
//! again.

mod surroundings;
mod types;

use std::collections::HashMap;

use isoform::Value;
use isoform::compare::{CompareOptions, IncrementalHasher};
use isoform::objects::{field_value, set_field};
use isoform::values::{List, ValueRef};

pub use surroundings::shared_parts_do_the_same_everywhere;
pub use types::*;

use super::generate::children;
use super::remembered::{hasher_changes_nothing, skips_change_nothing};
use super::source::Source;
use super::transform::unshare;

fn node(source: &mut Source<'_>, pool: &[Value], vars: &[Value], set: usize) -> Value {
    let t = types();
    let mut pick = |vars_too: usize| -> Value {
        match source.below(10) {
            n if n < vars_too => vars[source.below(vars.len())].clone(),
            9 => (source.below(2) as i64).into(),
            _ => {
                let n = pool.len();
                let back = source.below(n.min(8)) + 1;
                match source.below(3) {
                    0 => pool[source.below(n)].clone(),
                    _ => pool[n - back].clone(),
                }
            }
        }
    };
    let (a, b, v, c) = (pick(3), pick(3), pick(8), pick(3));
    let (k1, k2) = (pick(7), pick(7));
    let kinds: &[usize] = match set {
        0 => &[0, 1, 2, 3, 4],
        1 => &[0, 2, 3, 5, 6, 7, 4],
        2 => &[1, 1, 3, 3, 4, 8, 2],
        3 => &[2, 3, 9, 9, 4, 1, 10],
        4 => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
        6 => &[0, 1, 1, 2, 3, 4, 4, 13, 14, 14],
        7 => &[0, 1, 4, 3, 10, 10, 14, 11, 15],
        8 => &[0, 2, 2, 3, 3, 4, 5, 7, 12],
        9 => &[0, 1, 2, 3, 3, 4, 5, 8],
        10 => &[0, 2, 3, 4, 5, 6, 7, 9, 10, 12],
        11 => &[0, 2, 3, 4, 9, 9],
        _ => &[0, 2, 3, 4, 4, 10, 11, 12, 1],
    };
    match kinds[source.below(kinds.len())] {
        0 => make(t.tree, vec![a, b]),
        1 => make(t.dag, vec![a, b]),
        2 => make(t.assign, vec![v, a]),
        3 => make(t.fun, vec![v, a]),
        4 => arr(&[a, b, c]),
        5 => make(t.simple, vec![a, v]),
        6 => make(t.uses, vec![a, b]),
        7 => make(t.assign, vec![make(t.uses, vec![v, b]), a]),
        8 => make(t.dagscope, vec![a, v]),
        9 => {
            let key = |k: &Value| {
                k.as_object().is_some_and(|o| {
                    let i = o.type_index();
                    i == t.var || i == t.typed || i == t.frozenvar || i == t.dag
                })
            };
            let k1 = if key(&k1) { k1 } else { "b".into() };
            let k2 = if key(&k2) { k2 } else { "a".into() };
            map(&[(k1, a), (k2, b)])
        }
        10 => make(t.cell, vec![a, b]),
        11 => List::<Value>::from(vec![a, b]).into(),
        12 => make(t.frozenvar, vec![a]),
        14 => make(t.odd, vec![(source.below(6) as i64).into(), a, b]),
        15 => {
            let list = List::<Value>::from(vec![a]);
            list.push(list.clone().into()).unwrap();
            list.into()
        }
        _ => match source.below(3) {
            0 => make(t.hooked, vec![a, b]),
            _ => make(t.tree, vec![a, b]),
        },
    }
}

/// Rebuilds a value with some objects replaced.
fn edit(value: &Value, swap: &HashMap<u64, Value>, done: &mut HashMap<u64, Value>) -> Value {
    let Some(object) = value.as_object() else {
        return value.clone();
    };
    let id = object.identity();
    if let Some(new) = swap.get(&id).or(done.get(&id)) {
        return new.clone();
    }
    let same = |a: &Value, b: &Value| match (a.as_object(), b.as_object()) {
        (Some(a), Some(b)) => a.identity() == b.identity(),
        _ => true,
    };
    let new = match value.view() {
        ValueRef::Array(items) => {
            let new: Vec<Value> = items.iter().map(|v| edit(v, swap, done)).collect();
            if items.iter().zip(&new).all(|(a, b)| same(a, b)) {
                value.clone()
            } else {
                arr(&new)
            }
        }
        ValueRef::Map(items) => {
            let new: Vec<(Value, Value)> = items
                .iter()
                .map(|(k, v)| (edit(k, swap, done), edit(v, swap, done)))
                .collect();
            if items
                .iter()
                .zip(&new)
                .all(|(a, b)| same(a.0, &b.0) && same(a.1, &b.1))
            {
                value.clone()
            } else {
                map(&new)
            }
        }
        _ => {
            let info = object.type_info();
            let names: Vec<String> = info.fields().iter().map(|f| f.name().to_string()).collect();
            let old: Vec<Value> = names
                .iter()
                .map(|n| field_value(object, n).unwrap_or(Value::NONE))
                .collect();
            let new: Vec<Value> = old.iter().map(|v| edit(v, swap, done)).collect();
            if names.is_empty() || old.iter().zip(&new).all(|(a, b)| same(a, b)) {
                value.clone()
            } else {
                make(object.type_index(), new)
            }
        }
    };
    done.insert(id, new.clone());
    new
}

fn copy_of(value: &Value) -> Value {
    let Some(object) = value.as_object() else {
        return value.clone();
    };
    match value.view() {
        ValueRef::Array(items) => arr(&items.iter().cloned().collect::<Vec<_>>()),
        ValueRef::Map(items) => map(&items
            .iter()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect::<Vec<_>>()),
        _ => {
            let info = object.type_info();
            let old: Vec<Value> = info
                .fields()
                .iter()
                .map(|f| field_value(object, f.name()).unwrap_or(Value::NONE))
                .collect();
            if old.is_empty() {
                value.clone()
            } else {
                make(object.type_index(), old)
            }
        }
    }
}

fn show(value: &Value) -> String {
    let Some(object) = value.as_object() else {
        return format!("{value:?}");
    };
    let id = object.identity() % 10000;
    match value.view() {
        ValueRef::Array(items) => format!(
            "[#{id} {}]",
            items.iter().map(show).collect::<Vec<_>>().join(", ")
        ),
        ValueRef::List(items) => format!("list[#{id} {}]", items.len()),
        ValueRef::Map(items) => format!(
            "{{#{id} {}}}",
            items
                .iter()
                .map(|(k, v)| format!("{}: {}", show(k), show(v)))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        _ => {
            let info = object.type_info();
            let old: Vec<String> = info
                .fields()
                .iter()
                .map(|f| show(&field_value(object, f.name()).unwrap_or(Value::NONE)))
                .collect();
            let key = info.key().trim_start_matches("sessions.");
            match key {
                "Var" => format!("v{id}"),
                _ => format!("{key}#{id}({})", old.join(", ")),
            }
        }
    }
}

/// True if a value has few parts, counted once per occurrence.
fn is_small(value: &Value, budget: &mut usize) -> bool {
    *budget = budget.saturating_sub(1);
    *budget > 0 && children(value).iter().all(|part| is_small(part, budget))
}

/// A copy without sharing has the same hash and digest.
fn sharing_changes_no_hash(options: CompareOptions, value: &Value) -> Result<(), String> {
    if !is_small(value, &mut 2000) {
        return Ok(());
    }
    // A cyclic value has no unshared copy.
    let Ok(copy) = unshare(value, options) else {
        return Ok(());
    };
    let names = |value: &Value| (options.hash(value).ok(), options.digest(value).ok());
    let (shared, apart) = (names(value), names(&copy));
    if shared != apart {
        return Err(format!(
            "hash and digest are {shared:x?}, without sharing {apart:x?}\n  value = {value:?}"
        ));
    }
    Ok(())
}

/// Edits a random value step by step; after each step, compares values with shared
/// parts, and hashes the value, with and without the memory of earlier steps.
///
/// # Errors
///
/// An account of the first difference.
pub fn sessions_compare_and_hash_the_same(bytes: &[u8]) -> Result<(), String> {
    let mut source = Source::new(bytes);
    let t = types();
    let set = source.below(8);
    let mut vars: Vec<Value> = (0..2 + source.below(3)).map(|_| var()).collect();
    let is_wide = source.below(6) == 0;
    if is_wide {
        vars.extend((0..36).map(|_| var()));
    }
    if source.below(2) == 0 {
        let ty = vars[0].clone();
        vars.push(typed(ty));
        vars.push(make(t.frozenvar, vec![typed(1)]));
    }
    let mut pool: Vec<Value> = vars.clone();
    if is_wide {
        // More variables than are listed, used and defined in all regions.
        let all = arr(&vars);
        let last = vars[vars.len() - 1].clone();
        pool.push(arr(&vars[..30]));
        pool.push(make(t.tree, vec![all.clone(), last.clone()]));
        pool.push(match source.below(3) {
            0 => make(t.fun, vec![all.clone(), arr(&[all, last])]),
            1 => make(t.assign, vec![all.clone(), arr(&[all, last])]),
            _ => make(t.dag, vec![all, last]),
        });
    }
    for _ in 0..4 + source.below(20) {
        let new = node(&mut source, &pool, &vars, set);
        pool.push(new);
    }
    let mut hashers = [false, true].map(|map_free_vars| {
        let options = CompareOptions {
            map_free_vars,
            ..Default::default()
        };
        (options, IncrementalHasher::new(options))
    });
    let mut roots: Vec<Value> = vec![arr(&pool[pool.len() - 3..])];
    for _ in 0..6 {
        let last = roots[source.below(roots.len())].clone();
        let mut swap = HashMap::new();
        for _ in 0..1 + source.below(2) {
            let at = source.below(pool.len());
            let old = pool[at].clone();
            let new = match source.below(4) {
                0 => pool[source.below(pool.len())].clone(),
                1 => node(&mut source, &pool, &vars, set),
                _ => copy_of(&old),
            };
            let new = match old.as_object() {
                Some(o) if o.type_index() == t.var => match source.below(2) {
                    0 => var(),
                    _ => vars[source.below(vars.len())].clone(),
                },
                _ => new,
            };
            if let Some(o) = old.as_object() {
                swap.insert(o.identity(), new);
            }
        }
        let next = edit(&last, &swap, &mut HashMap::new());
        let pick = pool[source.below(pool.len())].clone();
        let (l, r) = match source.below(4) {
            0 => (last.clone(), next.clone()),
            1 => (
                arr(&[last.clone(), pick.clone(), next.clone()]),
                arr(&[next.clone(), pick, next.clone()]),
            ),
            2 => {
                let v = vars[source.below(vars.len())].clone();
                let w = vars[source.below(vars.len())].clone();
                (
                    arr(&[make(t.assign, vec![v, 1.into()]), last.clone()]),
                    arr(&[make(t.assign, vec![w, 1.into()]), next.clone()]),
                )
            }
            _ => (next.clone(), last.clone()),
        };
        for (options, hasher) in &mut hashers {
            let judged = skips_change_nothing(&l, &r, *options)
                .and_then(|()| sharing_changes_no_hash(*options, &next))
                .and_then(|()| hasher_changes_nothing(hasher, *options, &l))
                .and_then(|()| hasher_changes_nothing(hasher, *options, &next));
            judged.map_err(|account| {
                let account: String = account.chars().take(700).collect();
                format!("{account}\nL {}\nR {}\nset {set}", show(&l), show(&r))
            })?;
        }
        roots.push(next);
        if source.below(3) == 0 {
            let at = source.below(pool.len());
            // No cycles: only earlier ones.
            let to = pool[source.below(at + 1)].clone();
            if let Some(o) = pool[at].as_object()
                && to.as_object().is_none_or(|t| t.identity() != o.identity())
            {
                if o.type_index() == t.cell {
                    let _ = set_field(o, "a", to);
                } else if o.type_index() == t.typed {
                    let _ = set_field(o, "ty", to);
                }
            }
        }
    }
    Ok(())
}
