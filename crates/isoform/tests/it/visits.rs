//! Linear cost, by counting visits.

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use isoform::pattern::{Hole, Pattern, RewriteOptions, Rule, rewrite};
use isoform::testing::family::Role;
use isoform::{
    CompareOptions, DynRecursiveCompare, DynRecursiveEqual, DynRecursiveHash, FieldDef, Obj, Ref,
    Result, Schema, TypeDef, Value, VerifyHooks, WalkOptions, WalkResult, construct, deep_copy,
    explain_mismatch, last_visit_count, recursive_cmp, recursive_eq, recursive_hash, register_type,
    repr, structural_digest, structural_digest_with, structural_equal, structural_equal_with,
    structural_hash, structural_hash_with, structural_map, structural_walk, substitute, to_bytes,
    to_json_graph, to_text, verify,
};

use crate::build::{Build, MAPPED, PLAIN, builds};
use crate::support::{Add, Expr, add, count_objects, int, var};

/// Visits of equality, hash and digest, all of which must succeed.
fn visits(left: &Value, right: &Value, options: CompareOptions) -> [u64; 3] {
    assert!(structural_equal_with(left, right, options).expect("comparable"));
    let equal = last_visit_count();
    structural_hash_with(left, options).expect("hashable");
    let hash = last_visit_count();
    structural_digest_with(left, options).expect("portable");
    [equal, hash, last_visit_count()]
}

/// `x = x + x`, this many times; the nodes are kept in `held` if asked.
fn doubled(b: &Build, leaf: &Value, levels: usize, held: &mut Option<Vec<Value>>) -> Value {
    let mut root = leaf.clone();
    for _ in 0..levels {
        root = b.add(&root, &root);
        if let Some(held) = held {
            held.push(root.clone());
        }
    }
    root
}

/// Two nodes a level, each made of both nodes below.
fn butterfly(b: &Build, leaf: &Value, levels: usize) -> Value {
    let (mut one, mut two) = (leaf.clone(), b.constant(leaf));
    for _ in 0..levels {
        (one, two) = (b.add(&one, &two), b.add(&two, &one));
    }
    b.add(one, two)
}

fn check(what: &str, counts: [u64; 3], objects: usize) {
    // Every part of every object at most twice, and never nothing.
    let bound = 8 * objects as u64 + 32;
    for (operation, count) in ["equality", "hash", "digest"].into_iter().zip(counts) {
        assert!(
            count > 0 && count <= bound,
            "{what}: {operation} took {count} visits for {objects} objects"
        );
    }
}

#[test]
fn shared_trees_are_visited_once() {
    for b in builds() {
        for levels in [60, 10_000] {
            for hold in [false, true] {
                let mut held = hold.then(Vec::new);
                let leaf = b.constant(1);
                let mut make = || doubled(&b, &leaf, levels, &mut held);
                let counts = visits(&make(), &make(), PLAIN);
                check("doubled", counts, levels);
                let var = b.var();
                let mut make = || doubled(&b, &var, levels, &mut held);
                check("mapped", visits(&make(), &make(), MAPPED), levels);
            }
        }
    }
}

#[test]
fn butterflies_are_visited_once() {
    for b in builds() {
        for levels in [60, 2_000] {
            let leaf = b.constant(1);
            let make = || butterfly(&b, &leaf, levels);
            check("closed", visits(&make(), &make(), PLAIN), 2 * levels);
            let make = || butterfly(&b, &b.var(), levels);
            check("mapped", visits(&make(), &make(), MAPPED), 2 * levels);
        }
    }
}

#[test]
fn open_terms_inside_binders_are_visited_once() {
    for b in builds() {
        for role in [Role::Function, Role::Lambda, Role::Binder] {
            for levels in [60, 10_000] {
                for options in [PLAIN, MAPPED] {
                    let make = || {
                        let x = b.var();
                        b.binder(role, &[&x], doubled(&b, &x, levels, &mut None))
                    };
                    let what = format!("doubled in {role:?}");
                    check(&what, visits(&make(), &make(), options), levels);
                    let make = || {
                        let x = b.var();
                        b.binder(role, &[&x], butterfly(&b, &x, levels / 5))
                    };
                    let what = format!("butterfly in {role:?}");
                    check(&what, visits(&make(), &make(), options), levels / 5 * 2);
                }
            }
        }
    }
}

/// Each level stands below two scopes that it does not use, and uses the
/// outermost variable and one of its own: what it needs is the outermost scope
/// alone, however many scopes lie between.
#[test]
fn open_terms_below_many_scopes_are_visited_once() {
    for b in builds() {
        for levels in [20, 60, 70, 200] {
            let make = || {
                let z = b.var();
                let level = |below: Value, _| {
                    let r = b.var();
                    let own = b.lambda(&[&r], b.add(&r, &z));
                    let twice = [b.var(), b.var()].map(|p| b.lambda(&[&p], &below));
                    b.add(own, Value::from(twice))
                };
                b.lambda(&[&z], (0..levels).fold(z.clone(), level))
            };
            let what = format!("{levels} levels of two scopes");
            check(&what, visits(&make(), &make(), PLAIN), 9 * levels);
        }
    }
}

/// `x = x + x`, this many times, in a chain of as many levels.
fn program(levels: usize, leaf: &Ref<Expr>) -> Value {
    let shared = (0..levels).fold(leaf.clone(), |value, _| add(&value, &value));
    (0..levels)
        .fold(shared, |value, _| add(value, int(1)))
        .into()
}

/// Counts what is verified.
struct Verified(Cell<u64>);

impl VerifyHooks for Verified {
    fn verify(&self, _: &Ref<Obj>) -> Result<()> {
        self.0.set(self.0.get() + 1);
        Ok(())
    }
}

/// How much work an operation does with a program of so many levels.
type Measure = fn(usize) -> Result<u64>;

fn leaf() -> Ref<Expr> {
    var("leaf").upcast()
}

/// By name, so that a failure says which operation it was.
const MEASURES: [(&str, Measure); 17] = [
    ("structural_equal", |levels| {
        let (l, r) = (program(levels, &int(1)), program(levels, &int(1)));
        assert!(structural_equal(l, r)?);
        Ok(last_visit_count())
    }),
    ("explain_mismatch", |levels| {
        let (l, r) = (program(levels, &int(1)), program(levels, &int(2)));
        assert!(explain_mismatch(l, r, PLAIN)?.is_some());
        Ok(last_visit_count())
    }),
    ("structural_hash", |levels| {
        structural_hash(program(levels, &int(1)))?;
        Ok(last_visit_count())
    }),
    ("structural_digest", |levels| {
        structural_digest(program(levels, &int(1)))?;
        Ok(last_visit_count())
    }),
    ("structural_walk", |levels| {
        let mut count = 0;
        structural_walk(program(levels, &leaf()), WalkOptions::default(), |_| {
            count += 1;
            Ok(WalkResult::<()>::Advance)
        })?;
        Ok(count)
    }),
    ("structural_map", |levels| {
        let mut count = 0;
        structural_map(program(levels, &leaf()), Default::default(), |_| {
            count += 1;
            Ok(None)
        })?;
        Ok(count)
    }),
    ("substitute", |levels| {
        let leaf = leaf();
        let made = substitute(&program(levels, &leaf), &[(leaf.into(), int(1).into())])?;
        Ok(count_objects(made, WalkOptions::default())? as u64)
    }),
    ("deep_copy", |levels| {
        let made = deep_copy(&program(levels, &leaf()))?;
        Ok(count_objects(made, WalkOptions::default())? as u64)
    }),
    ("verify", |levels| {
        let verified = Verified(Cell::new(0));
        verify(&program(levels, &leaf()), &verified)?;
        Ok(verified.0.get())
    }),
    ("find_all", |levels| {
        let asked = Arc::new(AtomicU64::new(0));
        let x = var("x");
        let hole = Hole::new(&x).guard({
            let asked = Arc::clone(&asked);
            move |_| Ok(asked.fetch_add(1, Relaxed) < u64::MAX)
        });
        let found = Pattern::new(add(&x, int(1)), [hole])?.find_all(&program(levels, &leaf()))?;
        assert_eq!(found.len(), levels);
        Ok(asked.load(Relaxed))
    }),
    ("rewrite", |levels| {
        let (x, y) = (var("x"), var("y"));
        let pattern = Pattern::new(add(&x, &y), [&x, &y])?;
        let rule = Rule::computed(pattern, |_| Ok(None));
        let asked = Arc::new(AtomicU64::new(0));
        let rule = rule.guard({
            let asked = Arc::clone(&asked);
            move |_| Ok(asked.fetch_add(1, Relaxed) < u64::MAX)
        });
        let program = program(levels, &leaf());
        rewrite(&program, &[rule], &RewriteOptions::default())?;
        Ok(asked.load(Relaxed))
    }),
    ("repr", |levels| {
        Ok(repr(&program(levels, &leaf())).len() as u64)
    }),
    ("to_text", |levels| {
        Ok(to_text(&program(levels, &leaf()), &Default::default())?.len() as u64)
    }),
    ("to_json_graph", |levels| {
        Ok(to_json_graph(&program(levels, &leaf()), &Default::default())?.len() as u64)
    }),
    ("to_bytes", |levels| {
        Ok(to_bytes(&program(levels, &leaf()))?.len() as u64)
    }),
    ("from_text", |levels| {
        let text = to_text(&program(levels, &leaf()), &Default::default())?;
        Ok(count_objects(isoform::from_text(&text)?, WalkOptions::default())? as u64)
    }),
    ("from_bytes", |levels| {
        let bytes = to_bytes(&program(levels, &leaf()))?;
        Ok(count_objects(isoform::from_bytes(&bytes)?, WalkOptions::default())? as u64)
    }),
];

#[test]
fn operations_are_linear_at_two_sizes() {
    // Before any text or file is read.
    isoform::register::<Add>().expect("registered");
    for (name, measure) in MEASURES {
        let small = measure(500).unwrap_or_else(|error| panic!("{name}: {error}"));
        let large = measure(1000).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(small >= 500, "{name} did {small} steps only");
        // Numbers in texts get longer by a digit.
        let bound = 2 * small + small / 8 + 64;
        assert!(large <= bound, "{name}: {small} steps, then {large}");
    }
}

/// Comparison by fields has no count of its own; a part with hooks counts how
/// often it is asked.
#[test]
fn shared_parts_are_asked_once() -> Result<()> {
    let asked = Arc::new(AtomicU64::new(0));
    let count = |answer: u64| {
        let asked = Arc::clone(&asked);
        move || {
            asked.fetch_add(1, Relaxed);
            answer
        }
    };
    let (on_equal, on_compare, on_hash) = (count(1), count(0), count(7));
    let ty = register_type(
        TypeDef::new("it.visits.Asked")
            .field(FieldDef::new("v", Schema::Any))
            .hook(DynRecursiveEqual::new(move |_, _, _| Ok(on_equal() == 1)))
            .hook(DynRecursiveCompare::new(move |_, _, _| {
                Ok(on_compare().cmp(&0))
            }))
            .hook(DynRecursiveHash::new(move |_, _| Ok(on_hash()))),
    )?;
    for levels in [60, 2000] {
        let make = || -> Result<Value> {
            let leaf = Value::from(construct(ty, vec![1.into()])?);
            Ok((0..levels).fold(leaf, |value, _| [value.clone(), value].into()))
        };
        let (left, right) = (make()?, make()?);
        assert!(recursive_eq(&left, &right)?);
        assert_eq!(asked.swap(0, Relaxed), 1);
        assert_eq!(recursive_cmp(&left, &right)?, Ordering::Equal);
        assert_eq!(asked.swap(0, Relaxed), 1);
        recursive_hash(&left)?;
        assert_eq!(asked.swap(0, Relaxed), 1);
    }
    Ok(())
}
