//! Focused attacks on skipping.

use std::sync::OnceLock;

use isoform::compare::{CompareOptions, last_visit_count, visiting_everything};
use isoform::objects::{construct, set_field};
use isoform::types::{FieldDef, FieldFlag, Kind, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::List;
use isoform::{Array, Map, Value};

struct Types {
    var: TypeIndex,
    typed: TypeIndex,
    tree: TypeIndex,
    dag: TypeIndex,
    assign: TypeIndex,
    fun: TypeIndex,
}

fn types() -> &'static Types {
    static TYPES: OnceLock<Types> = OnceLock::new();
    TYPES.get_or_init(|| {
        let any = |name: &str| FieldDef::new(name, Schema::Any);
        let ty = |def: TypeDef| register_type(def).unwrap();
        Types {
            var: ty(TypeDef::new("attack.Var")
                .kind(Kind::Var)
                .field(any("name").flag(FieldFlag::Ignore))),
            typed: ty(TypeDef::new("attack.Typed")
                .kind(Kind::Var)
                .field(any("ty").mutable(true))),
            tree: ty(TypeDef::new("attack.Tree").field(any("a")).field(any("b"))),
            dag: ty(TypeDef::new("attack.Dag")
                .kind(Kind::Dag)
                .field(any("a"))
                .field(any("b"))),
            assign: ty(TypeDef::new("attack.Assign")
                .field(any("var").flag(FieldFlag::Def))
                .field(any("value"))),
            fun: ty(TypeDef::new("attack.Fun")
                .scope(true)
                .field(any("params").flag(FieldFlag::Def))
                .field(any("body"))),
        }
    })
}

fn make(ty: TypeIndex, fields: Vec<Value>) -> Value {
    construct(ty, fields).unwrap().into()
}
fn var() -> Value {
    make(types().var, vec![Value::NONE])
}
fn typed(ty: impl Into<Value>) -> Value {
    make(types().typed, vec![ty.into()])
}
fn tree(a: impl Into<Value>, b: impl Into<Value>) -> Value {
    make(types().tree, vec![a.into(), b.into()])
}
fn dag(a: impl Into<Value>, b: impl Into<Value>) -> Value {
    make(types().dag, vec![a.into(), b.into()])
}
fn assign(a: impl Into<Value>, b: impl Into<Value>) -> Value {
    make(types().assign, vec![a.into(), b.into()])
}
fn fun(a: impl Into<Value>, b: impl Into<Value>) -> Value {
    make(types().fun, vec![a.into(), b.into()])
}
fn arr(items: &[Value]) -> Value {
    Array::from(items.to_vec()).into()
}
fn map(entries: &[(Value, Value)]) -> Value {
    Map::from_iter(entries.iter().cloned()).into()
}

#[track_caller]
fn check(left: &Value, right: &Value) {
    for map_free_vars in [false, true] {
        let options = CompareOptions {
            map_free_vars,
            ..Default::default()
        };
        isoform_testing::edits::skips_change_nothing(left, right, options)
            .unwrap_or_else(|e| panic!("{}", &e[..e.len().min(1500)]));
    }
}

/// B meets the variable bound already, so that it is not dated.
#[test]
fn a_written_variable_met_again() {
    for bound in [false, true] {
        let (w, w2) = (var(), var());
        let v = typed(1);
        let b = arr(&[v.clone(), tree(v.clone(), 1)]);
        let first = arr(&[v.clone(), b.clone()]);
        if bound {
            check(&fun(v.clone(), b.clone()), &fun(v.clone(), b.clone()));
        }
        let outer = arr(&[first.clone(), 1.into()]);
        check(&outer, &arr(&[first.clone(), 1.into()]));
        set_field(v.as_object().unwrap(), "ty", w.clone()).unwrap();
        let _keep = &b;
        check(
            &arr(&[assign(w.clone(), 1), b.clone()]),
            &arr(&[assign(w2.clone(), 1), b.clone()]),
        );
    }
}

#[test]
fn order_of_bound_keys_after_whole() {
    let (x, y) = (var(), var());
    let w = dag(x.clone(), 1);
    let side = |n: i64| {
        arr(&[
            w.clone(),
            y.clone(),
            x.clone(),
            map(&[(x.clone(), n.into()), (y.clone(), (n + 1).into())]),
        ])
    };
    check(&side(1), &side(5));
}

#[test]
fn order_of_bound_keys_after_map() {
    let (x, y) = (var(), var());
    for (one, other) in [("a", "b"), ("b", "a")] {
        let w = map(&[(one.into(), x.clone()), (other.into(), y.clone())]);
        let side = |n: i64| {
            arr(&[
                w.clone(),
                map(&[(x.clone(), n.into()), (y.clone(), (n + 1).into())]),
            ])
        };
        check(&side(1), &side(5));
    }
}

#[test]
fn missing_keys() {
    let (x, y) = (var(), var());
    for (x, y) in [(&x, &y), (&y, &x)] {
        let w = dag(x.clone(), 1);
        let side = |m: Value| arr(&[w.clone(), y.clone(), m]);
        let both = map(&[(x.clone(), 1.into()), (y.clone(), 2.into())]);
        let none = map(&[]);
        check(&side(both.clone()), &side(none.clone()));
        check(&side(none), &side(both));
    }
}

#[test]
fn wide_with_an_annotated_variable() {
    let (w, w2) = (var(), var());
    let g = typed(w.clone());
    let params: Vec<Value> = (0..40).map(|_| var()).collect();
    let mut uses = params.clone();
    uses.push(g.clone());
    let o = arr(&uses);
    let first = fun(arr(&params), arr(&[g.clone(), o.clone()]));
    let outer = |f: &Value| arr(&[f.clone(), 1.into()]);
    check(&outer(&first), &outer(&first));
    check(
        &arr(&[assign(w.clone(), 1), o.clone()]),
        &arr(&[assign(w2.clone(), 1), o.clone()]),
    );
}

fn visits(left: &Value, right: &Value) -> (u64, u64) {
    let options = CompareOptions::default();
    visiting_everything(|| options.equal(left, right)).unwrap();
    let all = last_visit_count();
    options.equal(left, right).unwrap();
    (last_visit_count(), all)
}

#[track_caller]
fn at_most_few_times((skipping, all): (u64, u64)) {
    assert!(
        skipping <= 4 * all + (1 << 13),
        "{skipping} instead of {all}"
    );
}

#[test]
fn cliff_nested_definitions() {
    for shared in [false, true] {
        for n in [100, 200, 400, 800] {
            let mut rest = arr(&[]);
            let mut keep = vec![];
            for _ in 0..n {
                let x = var();
                rest = arr(&[assign(x.clone(), dag(x, 1)), rest]);
                if shared {
                    keep.push(rest.clone());
                }
            }
            let (l, r) = (arr(&[rest.clone(), 1.into()]), arr(&[rest, 1.into()]));
            at_most_few_times(visits(&l, &r));
        }
    }
}

#[test]
fn cliff_shared_patterns() {
    for n in [100, 200, 400, 800] {
        let pattern = arr(&(0..n).map(|_| var()).collect::<Vec<_>>());
        let many = arr(&(0..n)
            .map(|_| assign(pattern.clone(), 1))
            .collect::<Vec<_>>());
        let (l, r) = (arr(&[many.clone(), 1.into()]), arr(&[many, 1.into()]));
        at_most_few_times(visits(&l, &r));
    }
}

#[test]
fn cliff_scopes() {
    // Nested functions, each with many parameters used below.
    for n in [50, 100, 200, 400] {
        let mut body = arr(&[]);
        let params: Vec<Value> = (0..n).map(|_| var()).collect();
        for p in &params {
            body = fun(p.clone(), arr(&[body, arr(&params)]));
        }
        let (l, r) = (arr(&[body.clone(), 1.into()]), arr(&[body, 1.into()]));
        at_most_few_times(visits(&l, &r));
    }
    for n in [50, 100, 200, 400, 4000] {
        let params: Vec<Value> = (0..n).map(|_| var()).collect();
        let mut body = dag(1, 2);
        for p in &params {
            body = dag(p.clone(), dag(body.clone(), body));
        }
        let (l, r) = (
            arr(&[body.clone(), 1.into()]),
            arr(&[body.clone(), 1.into()]),
        );
        at_most_few_times(visits(&l, &r));
        let (l, r) = (
            arr(&[fun(arr(&params), body.clone()), 1.into()]),
            arr(&[fun(arr(&params), body.clone()), 1.into()]),
        );
        at_most_few_times(visits(&l, &r));
        let ps2: Vec<Value> = (0..n).map(|_| var()).collect();
        let (l, r) = (
            arr(&[fun(arr(&ps2), body.clone()), 1.into()]),
            arr(&[fun(arr(&ps2), body.clone()), 1.into()]),
        );
        at_most_few_times(visits(&l, &r));
    }
    // Nested definition fields around shared nodes.
    for n in [5, 10, 15, 20, 30] {
        let mut node = arr(&[var(), var()]);
        for _ in 0..n {
            node = tree(assign(node.clone(), 1), assign(node, 2));
        }
        let (l, r) = (arr(&[node.clone(), 1.into()]), arr(&[node, 1.into()]));
        at_most_few_times(visits(&l, &r));
    }
    for n in [5, 10, 15, 20] {
        let mut node = arr(&[var(), var()]);
        for _ in 0..n {
            node = fun(arr(&[node.clone()]), arr(&[node.clone(), fun(node, 2)]));
        }
        let (l, r) = (arr(&[node.clone(), 1.into()]), arr(&[node, 1.into()]));
        at_most_few_times(visits(&l, &r));
    }
}

/// Random values with heavy sharing over few types.
mod random {
    use super::*;
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
            let _ = find_type("attack.Var");
            More {
                simple: ty(TypeDef::new("attack.Simple")
                    .field(any("value"))
                    .field(any("var").flag(FieldFlag::DefSimple))),
                uses: ty(TypeDef::new("attack.Uses")
                    .field(any("a").flag(FieldFlag::Use))
                    .field(any("b"))),
                hooked: ty(TypeDef::new("attack.Hooked")
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
                cell: ty(TypeDef::new("attack.Cell")
                    .field(any("a").mutable(true))
                    .field(any("b").mutable(true))),
                dagscope: ty(TypeDef::new("attack.DagScope")
                    .kind(Kind::Dag)
                    .scope(true)
                    .field(any("body"))
                    .field(any("var").flag(FieldFlag::Def))),
                frozenvar: ty(TypeDef::new("attack.Frozen")
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
                let new: Vec<Value> = items.iter().map(|v| edit(&v, swap, done)).collect();
                match items.iter().zip(&new).all(|(a, b)| same(&a, b)) {
                    true => value.clone(),
                    false => arr(&new),
                }
            }
            ValueRef::Map(items) => {
                let new: Vec<(Value, Value)> = items
                    .iter()
                    .map(|(k, v)| (edit(&k, swap, done), edit(&v, swap, done)))
                    .collect();
                match items
                    .iter()
                    .zip(&new)
                    .all(|(a, b)| same(&a.0, &b.0) && same(&a.1, &b.1))
                {
                    true => value.clone(),
                    false => map(&new),
                }
            }
            _ => {
                let info = object.type_info();
                let names: Vec<String> =
                    info.fields().iter().map(|f| f.name().to_string()).collect();
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
                items.iter().map(|v| show(v)).collect::<Vec<_>>().join(", ")
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
                let key = info.key().trim_start_matches("attack.");
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
                    && !to.as_object().is_some_and(|t| t.identity() == o.identity())
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
    fn random_sessions() {
        let first: u64 = std::env::var("ATTACK_SEED").map_or(0, |s| s.parse().unwrap());
        let count: u64 = std::env::var("ATTACK_COUNT").map_or(300, |s| s.parse().unwrap());
        let (mut pairs, mut failures) = (0, 0);
        for seed in first..first + count {
            match session(seed) {
                Ok(n) => pairs += n,
                Err(e) => {
                    failures += 1;
                    if failures <= 3 {
                        println!("SEED {seed} {}: {}", e.len(), &e[..e.len().min(2500)]);
                    }
                }
            }
        }
        println!("{pairs} pairs, {failures} failures");
        assert_eq!(failures, 0);
    }
}

/// The only owner of an array or node writes in place.
#[test]
fn a_write_in_place() {
    let (x, x2) = (var(), var());
    let mut a = Array::from((0..10i64).map(|n| tree(n, 1)).collect::<Vec<_>>());
    let pair = |v: &Value, a: &Array<Value>| arr(&[assign(v.clone(), 1), Value::from(a.clone())]);
    check(&pair(&x, &a), &pair(&x2, &a));
    a.push(x.clone());
    check(&pair(&x, &a), &pair(&x2, &a));
}

#[test]
fn a_map_written_in_place() {
    let (x, x2) = (var(), var());
    let mut a: Map<Value, Value> = Map::from_iter((0..10i64).map(|n| (n.into(), tree(n, 1))));
    let pair = |v: &Value, a: &Map| arr(&[assign(v.clone(), 1), Value::from(a.clone())]);
    check(&pair(&x, &a), &pair(&x2, &a));
    a.insert(3.into(), x.clone());
    check(&pair(&x, &a), &pair(&x2, &a));
}

#[derive(isoform::Node)]
#[node(key = "attack.Owned")]
#[repr(C)]
struct Owned {
    a: Value,
    b: Value,
}

#[test]
fn a_node_written_in_place() {
    let (x, x2) = (var(), var());
    let mut a = Owned::new(tree(1, 2), tree(3, 4));
    let pair = |v: &Value, a: &isoform::Ref<Owned>| arr(&[assign(v.clone(), 1), Value::from(a)]);
    check(&pair(&x, &a), &pair(&x2, &a));
    a.get_mut().unwrap().b = x.clone();
    check(&pair(&x, &a), &pair(&x2, &a));
}

/// The second visit of the function does not enter the dag node, so it binds nothing.
#[test]
fn a_definition_inside_a_dag_node() {
    let (x, y) = (var(), var());
    let f = fun(dag(x.clone(), 1), x.clone());
    check(&arr(&[f.clone(), f.clone(), y]), &arr(&[f.clone(), f, x]));
}
