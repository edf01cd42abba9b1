//! Linear cost, by counting visits.

use isoform::testing::family::Role;
use isoform::{
    CompareOptions, Value, last_visit_count, structural_digest_with, structural_equal_with,
    structural_hash_with,
};

use crate::build::{Build, MAPPED, PLAIN, builds};

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
