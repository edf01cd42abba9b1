//! Random values with heavy sharing over few types, edited and compared again and again.

use std::sync::OnceLock;

use isoform::Value;
use isoform::compare::CompareOptions;
use isoform::objects::set_field;
use isoform::types::{FieldDef, FieldFlag, Kind, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::List;

use super::contexts::*;
use super::support::scaled;
use isoform::hooks::DynEqual;
use isoform::objects::field_value;
use isoform::types::RegionChange;
use isoform::types::find_type;
use isoform::values::ValueRef;
use isoform_testing::source::split_mix;
use std::collections::HashMap;

struct More {
    simple: TypeIndex,
    uses: TypeIndex,
    hooked: TypeIndex,
    cell: TypeIndex,
    dagscope: TypeIndex,
    frozenvar: TypeIndex,
}
fn more() -> &'static More {
    static TYPES: OnceLock<More> = OnceLock::new();
    TYPES.get_or_init(|| {
        let any = |name: &str| FieldDef::new(name, Schema::Any);
        let ty = |def: TypeDef| register_type(def).unwrap();
        let _ = find_type("contexts.Var");
        More {
            simple: ty(TypeDef::new("contexts.Simple")
                .field(any("value"))
                .field(any("var").flag(FieldFlag::DefSimple))),
            uses: ty(TypeDef::new("contexts.Uses")
                .field(any("a").flag(FieldFlag::Use))
                .field(any("b"))),
            hooked: ty(TypeDef::new("contexts.Hooked")
                .field(any("a"))
                .field(any("b"))
                .hook(DynEqual::new(|l, r, eq| {
                    let f = |o, n| field_value(o, n);
                    let (la, lb, ra, rb) = (f(l, "a")?, f(l, "b")?, f(r, "a")?, f(r, "b")?);
                    if eq.attempt(&mut |eq| {
                        Ok(eq.equal_in(&la, &rb, RegionChange::Inherit, "a")?
                            && eq.equal_in(&lb, &ra, RegionChange::Inherit, "b")?)
                    })? {
                        return Ok(true);
                    }
                    Ok(eq.equal_in(&la, &ra, RegionChange::Inherit, "a")?
                        && eq.equal_in(&lb, &rb, RegionChange::Def, "b")?)
                }))),
            cell: ty(TypeDef::new("contexts.Cell")
                .field(any("a").mutable(true))
                .field(any("b").mutable(true))),
            dagscope: ty(TypeDef::new("contexts.DagScope")
                .kind(Kind::Dag)
                .scope(true)
                .field(any("body"))
                .field(any("var").flag(FieldFlag::Def))),
            frozenvar: ty(TypeDef::new("contexts.Frozen")
                .kind(Kind::Var)
                .field(any("ty"))),
        }
    })
}

struct Rng(u64);
impl Rng {
    fn below(&mut self, n: usize) -> usize {
        (split_mix(&mut self.0) >> 11) as usize % n
    }
}

fn node(rng: &mut Rng, pool: &[Value], vars: &[Value], set: usize) -> Value {
    let (t, m) = (types(), more());
    let mut pick = |vars_too: usize| -> Value {
        match rng.below(10) {
            n if n < vars_too => vars[rng.below(vars.len())].clone(),
            9 => (rng.below(2) as i64).into(),
            _ => {
                let n = pool.len();
                let back = rng.below(n.min(8)) + 1;
                match rng.below(3) {
                    0 => pool[rng.below(n)].clone(),
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
        _ => &[0, 2, 3, 4, 4, 10, 11, 12, 1],
    };
    match kinds[rng.below(kinds.len())] {
        0 => make(t.tree, vec![a, b]),
        1 => make(t.dag, vec![a, b]),
        2 => make(t.assign, vec![v, a]),
        3 => make(t.fun, vec![v, a]),
        4 => arr(&[a, b, c]),
        5 => make(m.simple, vec![a, v]),
        6 => make(m.uses, vec![a, b]),
        7 => make(t.assign, vec![make(m.uses, vec![v, b]), a]),
        8 => make(m.dagscope, vec![a, v]),
        9 => {
            let key = |k: &Value| {
                k.as_object().is_some_and(|o| {
                    let i = o.type_index();
                    i == t.var || i == t.typed || i == m.frozenvar || i == t.dag
                })
            };
            let k1 = if key(&k1) { k1 } else { "b".into() };
            let k2 = if key(&k2) { k2 } else { "a".into() };
            map(&[(k1, a), (k2, b)])
        }
        10 => make(m.cell, vec![a, b]),
        11 => List::<Value>::from(vec![a, b]).into(),
        12 => make(m.frozenvar, vec![a]),
        _ => match rng.below(3) {
            0 => make(m.hooked, vec![a, b]),
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
            match items.iter().zip(&new).all(|(a, b)| same(a, b)) {
                true => value.clone(),
                false => arr(&new),
            }
        }
        ValueRef::Map(items) => {
            let new: Vec<(Value, Value)> = items
                .iter()
                .map(|(k, v)| (edit(k, swap, done), edit(v, swap, done)))
                .collect();
            match items
                .iter()
                .zip(&new)
                .all(|(a, b)| same(a.0, &b.0) && same(a.1, &b.1))
            {
                true => value.clone(),
                false => map(&new),
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
            match names.is_empty() || old.iter().zip(&new).all(|(a, b)| same(a, b)) {
                true => value.clone(),
                false => make(object.type_index(), new),
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
            match old.is_empty() {
                true => value.clone(),
                false => make(object.type_index(), old),
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
            let key = info.key().trim_start_matches("contexts.");
            match key {
                "Var" => format!("v{id}"),
                _ => format!("{key}#{id}({})", old.join(", ")),
            }
        }
    }
}

fn session(seed: u64) -> Result<usize, String> {
    let mut rng = Rng(seed);
    let (t, m) = (types(), more());
    let set = rng.below(6);
    let mut vars: Vec<Value> = (0..2 + rng.below(3)).map(|_| var()).collect();
    if rng.below(8) == 0 {
        vars.extend((0..40).map(|_| var()));
    }
    if rng.below(2) == 0 {
        let ty = vars[0].clone();
        vars.push(typed(ty));
        vars.push(make(m.frozenvar, vec![typed(1)]));
    }
    let mut pool: Vec<Value> = vars.clone();
    if vars.len() > 40 {
        pool.push(arr(&vars));
    }
    for _ in 0..4 + rng.below(20) {
        let new = node(&mut rng, &pool, &vars, set);
        pool.push(new);
    }
    let mut pairs = 0;
    let mut roots: Vec<Value> = vec![arr(&pool[pool.len() - 3..])];
    for _ in 0..6 {
        let last = roots[rng.below(roots.len())].clone();
        let mut swap = HashMap::new();
        for _ in 0..1 + rng.below(2) {
            let at = rng.below(pool.len());
            let old = pool[at].clone();
            let new = match rng.below(4) {
                0 => pool[rng.below(pool.len())].clone(),
                1 => node(&mut rng, &pool, &vars, set),
                _ => copy_of(&old),
            };
            let new = match old.as_object() {
                Some(o) if o.type_index() == t.var => match rng.below(2) {
                    0 => var(),
                    _ => vars[rng.below(vars.len())].clone(),
                },
                _ => new,
            };
            if let Some(o) = old.as_object() {
                swap.insert(o.identity(), new);
            }
        }
        let next = edit(&last, &swap, &mut HashMap::new());
        let pick = pool[rng.below(pool.len())].clone();
        let (l, r) = match rng.below(4) {
            0 => (last.clone(), next.clone()),
            1 => (
                arr(&[last.clone(), pick.clone(), next.clone()]),
                arr(&[next.clone(), pick, next.clone()]),
            ),
            2 => {
                let v = vars[rng.below(vars.len())].clone();
                let w = vars[rng.below(vars.len())].clone();
                (
                    arr(&[make(t.assign, vec![v, 1.into()]), last.clone()]),
                    arr(&[make(t.assign, vec![w, 1.into()]), next.clone()]),
                )
            }
            _ => (next.clone(), last.clone()),
        };
        for map_free_vars in [false, true] {
            let options = CompareOptions {
                map_free_vars,
                ..Default::default()
            };
            if let Err(e) = isoform_testing::edits::skips_change_nothing(&l, &r, options) {
                return Err(format!(
                    "{}\nL {}\nR {}\nset {set}",
                    &e[..e.len().min(700)],
                    show(&l),
                    show(&r)
                ));
            }
            pairs += 1;
        }
        roots.push(next);
        if rng.below(3) == 0 {
            let at = rng.below(pool.len());
            // No cycles: only earlier ones.
            let to = pool[rng.below(at + 1)].clone();
            if let Some(o) = pool[at].as_object()
                && to.as_object().is_none_or(|t| t.identity() != o.identity())
            {
                if o.type_index() == m.cell {
                    let _ = set_field(o, "a", to);
                } else if o.type_index() == t.typed {
                    let _ = set_field(o, "ty", to);
                }
            }
        }
    }
    Ok(pairs)
}

#[test]
fn sessions_compare_the_same_with_and_without_skips() {
    for seed in 0..scaled(300) as u64 {
        if let Err(account) = session(seed) {
            panic!("seed {seed}: {account}");
        }
    }
}
