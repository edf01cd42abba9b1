//! Linear cost, by counting visits.

use isoform::testing::family::Role;
use isoform::{
    CompareOptions, List, StructuralKey, Value, get_first_structural_mismatch_with,
    last_visit_count, structural_digest_with, structural_equal_with, structural_hash_with,
};

use crate::build::{Build, MAPPED, PLAIN, arr, builds};

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

/// Below scopes that bind the same variables in turn, so that a node is met
/// under very many bindings: `o` becomes a sum of binders of each variable
/// over `o`, this many times.
fn rebound(b: &Build, vars: &[Value], levels: usize, shared: fn(usize) -> bool) -> Value {
    let sum = |parts: Vec<Value>| {
        let add = |one: Value, other| b.add(&one, &other);
        parts.into_iter().reduce(add).expect("a variable")
    };
    let level = |below: [Value; 2], at: usize| {
        let make = || {
            let part = |(place, var): (usize, &Value)| {
                let body = &below[usize::from(!shared(at)) * (place % 2)];
                b.lambda(&[var], body)
            };
            sum(vars.iter().enumerate().map(part).collect())
        };
        [make(), make()]
    };
    let leaf = || sum(vars.to_vec());
    let [body, _] = (0..levels).fold([leaf(), leaf()], level);
    b.lambda(&vars.iter().collect::<Vec<_>>(), body)
}

/// Variables are named by distance in a hash, so a node has one hash for each
/// way in which its variables lie, of which there are as many as places to
/// the power of the variables less one. Equality asks for partners only.
#[test]
fn what_scopes_rebind_is_visited_once_per_way_to_lie() {
    let sharings: [fn(usize) -> bool; 3] = [|_| true, |_| false, |at| at % 2 == 0];
    let [native, dynamic] = builds();
    for (b, sizes) in [(native, &[10, 20, 40, 60][..]), (dynamic, &[10, 20])] {
        for count in [2, 3] {
            for &levels in sizes {
                for &sharing in &sharings[..if levels * count > 120 { 1 } else { 3 }] {
                    let make = |shared| {
                        let vars: Vec<Value> = (0..count).map(|_| b.var()).collect();
                        rebound(&b, &vars, levels, shared)
                    };
                    let (left, right) = (make(|_| true), make(sharing));
                    let [equal, hash, digest] = visits(&left, &right, PLAIN);
                    let name = format!("{levels} levels of {count} variables");
                    let objects = (4 * count * levels) as u64;
                    assert!(equal <= 16 * objects, "{name}: equality took {equal}");
                    let ways = (levels as u64).pow(count as u32 - 1);
                    for (who, taken) in [("hash", hash), ("digest", digest)] {
                        assert!(taken <= 4 * objects * ways, "{name}: {who} took {taken}");
                    }
                    StructuralKey::new(&left).expect("hashable");
                    let taken = last_visit_count();
                    assert!(taken <= 4 * objects * ways, "{name}: the key took {taken}");
                }
            }
        }
    }
}

/// A pair of towers of nodes whose operands may come in either order, with a
/// difference at the bottom.
fn towers(b: &Build, bottom: [Value; 2], levels: usize, wrap: Wrap) -> [Value; 2] {
    bottom.map(|leaf| {
        (0..levels).fold(leaf, |below, _| {
            let [lhs, rhs] = wrap(b, &below);
            b.comm(lhs, rhs)
        })
    })
}

/// Makes the operands of a level from the level below.
type Wrap = fn(&Build, &Value) -> [Value; 2];

/// A custom comparison tries its alternatives again where it stands again; a
/// pair that was found different is not looked into a second time.
#[test]
fn alternatives_that_fail_are_remembered() {
    let wraps: [Wrap; 4] = [
        |_, below| [below.clone(), below.clone()],
        |b, below| [b.add(below, 1), b.add(below, 2)],
        |_, below| {
            [
                arr([below, below]),
                Value::from(List::from(vec![below.clone()])),
            ]
        },
        |b, below| {
            let own = b.var();
            [b.lambda(&[&own], b.add(&own, below)), below.clone()]
        },
    ];
    for b in builds() {
        for levels in [10, 20, 40, 60] {
            for (number, wrap) in wraps.into_iter().enumerate() {
                let (x, a) = (b.var(), b.var());
                let bottoms = [
                    [b.constant(1), b.constant(2)],
                    [b.add(&x, 1), b.add(&a, 2)],
                    [b.add(&x, &x), b.add(&a, &x)],
                    [b.shared(&x, 1), b.shared(&a, 2)],
                ];
                for (kind, bottom) in bottoms.into_iter().enumerate() {
                    let name = format!("{levels} levels, operands {number}, bottom {kind}");
                    let [left, right] = towers(&b, bottom, levels, wrap);
                    let (left, right) = (b.lambda(&[&x], &left), b.lambda(&[&a], &right));
                    for options in [PLAIN, MAPPED] {
                        let equal = structural_equal_with(&left, &right, options);
                        assert_eq!(equal.ok(), Some(false), "{name}");
                        let taken = last_visit_count();
                        assert!(taken <= 64 * levels as u64, "{name}: {taken} visits");
                        let found = get_first_structural_mismatch_with(&left, &right, options);
                        assert!(found.is_ok_and(|found| found.is_some()), "{name}");
                        let taken = last_visit_count();
                        assert!(
                            taken <= 64 * levels as u64,
                            "{name}: {taken} visits to explain"
                        );
                    }
                }
            }
        }
    }
}

/// What succeeded in an alternative that was given up is not proven again.
#[test]
fn proofs_outlive_the_alternatives_that_fail() {
    for b in builds() {
        for levels in [10, 20, 40, 60] {
            let make = |turn: bool| {
                let x = b.var();
                let level = |below: Value, _| {
                    let operands = [b.add(&below, 1), b.add(&below, 2)];
                    let [one, two] = &operands;
                    if turn {
                        b.comm(two, one)
                    } else {
                        b.comm(one, two)
                    }
                };
                b.lambda(&[&x], (0..levels).fold(b.add(&x, &x), level))
            };
            let counts = visits_of_equality(&make(false), &make(true));
            assert!(
                counts <= 64 * levels as u64,
                "{levels} levels: {counts} visits"
            );
        }
    }
}

fn visits_of_equality(left: &Value, right: &Value) -> u64 {
    assert!(structural_equal_with(left, right, PLAIN).expect("comparable"));
    last_visit_count()
}
