//! Random values with heavy sharing over few types, edited, compared and hashed again and
//! again.

mod surroundings;
mod types;

use std::collections::HashMap;

use isoform::Value;
use isoform::compare::{CompareOptions, IncrementalHasher};
use isoform::objects::set_field;
use isoform::values::ValueRef;

pub use surroundings::shared_parts_do_the_same_everywhere;
pub use types::*;

use super::generate::children;
use super::remembered::{hasher_changes_nothing, skips_change_nothing};
use super::source::Source;
use super::transform::unshare;

/// A kind of value that [`node`] makes.
#[derive(Clone, Copy, Debug)]
enum NodeKind {
    Tree,
    Dag,
    Assign,
    Fun,
    Items,
    Simple,
    Uses,
    /// An assignment whose target uses variables.
    AssignUses,
    DagScope,
    Entries,
    Cell,
    List,
    FrozenVar,
    /// A tree, or rarely a node with hooks.
    Hooked,
    Odd,
    /// A list that contains itself.
    Cycle,
}
use NodeKind::*;

/// The kinds of a case; one that is listed twice is drawn twice as often.
type Mix = &'static [NodeKind];

/// Of values that are edited.
const SESSIONS: [Mix; 8] = [
    &[Tree, Dag, Assign, Fun, Items],
    &[Tree, Assign, Fun, Simple, Uses, AssignUses, Items],
    &[Dag, Dag, Fun, Fun, Items, DagScope, Assign],
    &[Assign, Fun, Entries, Entries, Items, Dag, Cell],
    &[
        Tree, Dag, Assign, Fun, Items, Simple, Uses, AssignUses, DagScope, Entries, Cell, List,
        FrozenVar, Hooked,
    ],
    &[Tree, Assign, Fun, Items, Items, Cell, List, FrozenVar, Dag],
    &[Tree, Dag, Dag, Assign, Fun, Items, Items, Hooked, Odd, Odd],
    &[Tree, Dag, Items, Fun, Cell, Cell, Odd, List, Cycle],
];

/// Of a part in many surroundings.
const SURROUNDINGS: [Mix; 4] = [
    &[
        Tree, Assign, Assign, Fun, Fun, Items, Simple, AssignUses, FrozenVar,
    ],
    &[Tree, Dag, Assign, Fun, Fun, Items, Simple, DagScope],
    &[
        Tree, Assign, Fun, Items, Simple, Uses, AssignUses, Entries, Cell, FrozenVar,
    ],
    &[Tree, Assign, Fun, Items, Entries, Entries],
];

fn node(source: &mut Source<'_>, pool: &[Value], vars: &[Value], mix: Mix) -> Value {
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
    match *source.pick(mix) {
        Tree => make(t.tree, vec![a, b]),
        Dag => make(t.dag, vec![a, b]),
        Assign => make(t.assign, vec![v, a]),
        Fun => make(t.fun, vec![v, a]),
        Items => arr(&[a, b, c]),
        Simple => make(t.simple, vec![a, v]),
        Uses => make(t.uses, vec![a, b]),
        AssignUses => make(t.assign, vec![make(t.uses, vec![v, b]), a]),
        DagScope => make(t.dagscope, vec![a, v]),
        Entries => {
            let key = |candidate: Value, other: &str| {
                let types = [t.var, t.typed, t.frozenvar, t.dag];
                let object = candidate.as_object();
                let is_key = object.is_some_and(|object| types.contains(&object.type_index()));
                if is_key { candidate } else { other.into() }
            };
            map(&[(key(k1, "b"), a), (key(k2, "a"), b)])
        }
        Cell => make(t.cell, vec![a, b]),
        List => isoform::values::List::<Value>::from(vec![a, b]).into(),
        FrozenVar => make(t.frozenvar, vec![a]),
        Hooked => match source.below(3) {
            0 => make(t.hooked, vec![a, b]),
            _ => make(t.tree, vec![a, b]),
        },
        Odd => make(t.odd, vec![(source.below(6) as i64).into(), a, b]),
        Cycle => {
            let list = isoform::values::List::<Value>::from(vec![a]);
            list.push(list.clone().into()).unwrap();
            list.into()
        }
    }
}

/// The parts of a value that can be another one, keys included.
fn parts(value: &Value) -> Vec<Value> {
    match value.view() {
        ValueRef::Map(items) => items
            .iter()
            .flat_map(|(key, part)| [key.clone(), part.clone()])
            .collect(),
        ValueRef::Array(_) | ValueRef::Object(_) => children(value),
        _ => Vec::new(),
    }
}

/// Another object with the given parts; the value itself if it can have none.
fn with_parts(value: &Value, parts: Vec<Value>) -> Value {
    match value.view() {
        ValueRef::Array(_) => parts.into(),
        ValueRef::Map(_) => {
            let entries = parts.chunks_exact(2);
            map(&entries
                .map(|entry| (entry[0].clone(), entry[1].clone()))
                .collect::<Vec<_>>())
        }
        ValueRef::Object(object) if !parts.is_empty() => make(object.type_index(), parts),
        _ => value.clone(),
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
    let same = |(a, b): (&Value, &Value)| match (a.as_object(), b.as_object()) {
        (Some(a), Some(b)) => a.same_as(b),
        _ => true,
    };
    let old = parts(value);
    let new: Vec<Value> = old.iter().map(|part| edit(part, swap, done)).collect();
    let new = if old.iter().zip(&new).all(same) {
        value.clone()
    } else {
        with_parts(value, new)
    };
    done.insert(id, new.clone());
    new
}

fn copy_of(value: &Value) -> Value {
    with_parts(value, parts(value))
}

fn show(value: &Value) -> String {
    let Some(object) = value.as_object() else {
        return format!("{value:?}");
    };
    let id = object.identity() % 10000;
    let shown: Vec<String> = parts(value).iter().map(show).collect();
    match value.view() {
        ValueRef::Array(_) => format!("[#{id} {}]", shown.join(", ")),
        ValueRef::List(items) => format!("list[#{id} {}]", items.len()),
        ValueRef::Map(_) => {
            let entries: Vec<String> = shown.chunks(2).map(|entry| entry.join(": ")).collect();
            format!("{{#{id} {}}}", entries.join(", "))
        }
        _ => match object.type_info().key().trim_start_matches("sessions.") {
            "Var" => format!("v{id}"),
            key => format!("{key}#{id}({})", shown.join(", ")),
        },
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
    let mix = *source.pick(&SESSIONS);
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
        let new = node(&mut source, &pool, &vars, mix);
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
            let index = source.below(pool.len());
            let old = pool[index].clone();
            let new = match source.below(4) {
                0 => pool[source.below(pool.len())].clone(),
                1 => node(&mut source, &pool, &vars, mix),
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
                format!("{account}\nL {}\nR {}\nof {mix:?}", show(&l), show(&r))
            })?;
        }
        roots.push(next);
        if source.below(3) == 0 {
            let index = source.below(pool.len());
            // No cycles: only earlier ones.
            let to = pool[source.below(index + 1)].clone();
            if let Some(o) = pool[index].as_object()
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
