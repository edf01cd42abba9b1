//! Linear cost of all operations, by counting calls, objects and bytes at two
//! sizes of a program whose parts are shared.

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use isoform::compare::{last_visit_count, recursive_cmp, recursive_eq, recursive_hash};
use isoform::files::{to_bytes, to_json_graph};
use isoform::hooks::{DynRecursiveCompare, DynRecursiveEqual, DynRecursiveHash};
use isoform::objects::{VerifyHooks, construct, repr, verify};
use isoform::pattern::{Hole, Pattern, Rule, rewrite};
use isoform::text::to_text;
use isoform::traverse::{
    WalkOptions, WalkResult, deep_copy, structural_map, structural_walk, substitute,
};
use isoform::types::{FieldDef, Schema, TypeDef, register_type};
use isoform::{
    Obj, Ref, Result, Value, explain_mismatch, structural_digest, structural_equal, structural_hash,
};

use crate::support::{Add, Expr, add, count_objects, int, var};

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

/// The work of an operation on a program with this many levels.
type Measure = fn(usize) -> Result<u64>;

fn leaf() -> Ref<Expr> {
    var("leaf").upcast()
}

/// By name, to let a failure name the operation.
const MEASURES: [(&str, Measure); 17] = [
    ("structural_equal", |levels| {
        let (l, r) = (program(levels, &int(1)), program(levels, &int(1)));
        assert!(structural_equal(l, r)?);
        Ok(last_visit_count())
    }),
    ("explain_mismatch", |levels| {
        let (l, r) = (program(levels, &int(1)), program(levels, &int(2)));
        assert!(explain_mismatch(l, r)?.is_some());
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
        structural_walk(program(levels, &leaf()), |_| {
            count += 1;
            Ok(WalkResult::<()>::Advance)
        })?;
        Ok(count)
    }),
    ("structural_map", |levels| {
        let mut count = 0;
        structural_map(program(levels, &leaf()), |_| {
            count += 1;
            Ok(None)
        })?;
        Ok(count)
    }),
    ("substitute", |levels| {
        let leaf = leaf();
        let made = substitute(program(levels, &leaf), &[(leaf, int(1))])?;
        Ok(count_objects(made, WalkOptions::default())? as u64)
    }),
    ("deep_copy", |levels| {
        let made = deep_copy(program(levels, &leaf()))?;
        Ok(count_objects(made, WalkOptions::default())? as u64)
    }),
    ("verify", |levels| {
        let verified = Verified(Cell::new(0));
        verify(program(levels, &leaf()), &verified)?;
        Ok(verified.0.get())
    }),
    ("find_all", |levels| {
        let asked = Arc::new(AtomicU64::new(0));
        let x = var("x");
        let hole = Hole::new(&x).guard({
            let asked = Arc::clone(&asked);
            move |_| Ok(asked.fetch_add(1, Relaxed) < u64::MAX)
        });
        let found = Pattern::new(add(&x, int(1)), [hole])?.find_all(program(levels, &leaf()))?;
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
        rewrite(&program, &[rule])?;
        Ok(asked.load(Relaxed))
    }),
    ("repr", |levels| {
        Ok(repr(program(levels, &leaf())).len() as u64)
    }),
    ("to_text", |levels| {
        Ok(to_text(program(levels, &leaf()))?.len() as u64)
    }),
    ("to_json_graph", |levels| {
        Ok(to_json_graph(program(levels, &leaf()))?.len() as u64)
    }),
    ("to_bytes", |levels| {
        Ok(to_bytes(program(levels, &leaf()))?.len() as u64)
    }),
    ("from_text", |levels| {
        let text = to_text(program(levels, &leaf()))?;
        Ok(count_objects(isoform::text::from_text(&text)?, WalkOptions::default())? as u64)
    }),
    ("from_bytes", |levels| {
        let bytes = to_bytes(program(levels, &leaf()))?;
        Ok(count_objects(isoform::files::from_bytes(&bytes)?, WalkOptions::default())? as u64)
    }),
];

#[test]
fn operations_are_linear_at_two_sizes() {
    // Before any text or file is read.
    isoform::types::register::<Add>().expect("registered");
    for (name, measure) in MEASURES {
        let small = measure(500).unwrap_or_else(|error| panic!("{name}: {error}"));
        let large = measure(1000).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(small >= 500, "{name} did {small} steps only");
        // Numbers in texts get one digit longer.
        let bound = 2 * small + small / 8 + 64;
        assert!(large <= bound, "{name}: {small} steps, then {large}");
    }
}

/// Comparison by fields has no count; a part with hooks counts how often they
/// are called.
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
