//! Shared nodes are visited about once, whatever binds the variables in them.

use isoform::Value;
use isoform::compare::last_visit_count;
use isoform::traverse::WalkOptions;
use isoform_testing::family::Role;

use crate::build::{Build, MAPPED, arr, builds, map};
use crate::support::count_objects;

/// A binder without a scope, and a binder with a scope.
const BINDERS: [Role; 2] = [Role::Function, Role::Lambda];

/// `x = x + x`, this many times: exponential as a tree.
fn doubled(b: &Build, levels: usize, leaf: impl Into<Value>) -> Value {
    (0..levels).fold(leaf.into(), |value, _| b.add(&value, &value))
}

/// Like [`doubled`], with two nodes a level.
fn crossed(b: &Build, levels: usize, leaf: impl Into<Value>) -> Value {
    let leaf = leaf.into();
    let ends = (b.constant(&leaf), b.constant(&leaf));
    let (l, r) = (0..levels).fold(ends, |(l, r), _| (b.add(&l, &r), b.add(&r, &l)));
    b.add(&l, &r)
}

/// Each function rebinds the variable of the next function, twice.
fn doubled_functions(b: &Build, binder: Role, levels: usize) -> Value {
    (0..levels).fold(Value::from(1), |value, _| {
        let x = b.var();
        let function = b.binder(binder, &[&x], arr([&x, &value]));
        b.add(&function, &function)
    })
}

/// The visits of a comparison in both orders, of a hash and of a digest stay
/// below a bound.
#[track_caller]
fn assert_cheap(l: &Value, r: &Value, expected: bool, bound: u64) {
    assert_cheap_by(l, r, expected, bound, bound);
}

/// Like [`assert_cheap`], with a separate bound for hash and digest.
#[track_caller]
fn assert_cheap_by(l: &Value, r: &Value, expected: bool, bound: u64, names_bound: u64) {
    for (l, r) in [(l, r), (r, l)] {
        let equal = MAPPED.equal(l, r).expect("comparable");
        assert_eq!(equal, expected);
        let visits = last_visit_count();
        assert!(visits <= bound, "equality: {visits} visits");
        MAPPED.hash(l).expect("hashable");
        let visits = last_visit_count();
        assert!(visits <= names_bound, "hash: {visits} visits");
        MAPPED.digest(l).expect("portable");
        let visits = last_visit_count();
        assert!(visits <= names_bound, "digest: {visits} visits");
    }
}

#[test]
fn sixty_levels_of_sharing_take_a_few_visits_each() {
    const LEVELS: usize = 60;
    // A few visits per object, of 60 to 250 objects; the trees have 2^60 parts.
    const BOUND: u64 = 3000;
    for b in builds() {
        let (left, right) = (doubled(&b, LEVELS, 1), doubled(&b, LEVELS, 1));
        assert_cheap(&left, &right, true, BOUND);
        assert_cheap(&left, &left, true, BOUND);
        assert_cheap(&left, &doubled(&b, LEVELS, 2), false, BOUND);
        let (l, r) = (crossed(&b, LEVELS, 1), crossed(&b, LEVELS, 1));
        assert_cheap(&l, &r, true, BOUND);
        // The difference comes last, and the comparison visits all other parts first.
        assert_cheap(&arr([&l, &1.into()]), &arr([&r, &2.into()]), false, BOUND);
        // Free variables, mapped: the same pair at every use.
        let (x, y) = (b.var(), b.var());
        let (l, r) = (crossed(&b, LEVELS, &x), crossed(&b, LEVELS, &y));
        assert_cheap(&l, &r, true, BOUND);
        let (l, r) = (doubled(&b, LEVELS, &x), doubled(&b, LEVELS, &y));
        assert_cheap(&l, &r, true, BOUND);
        assert_cheap(&arr([&l, &x, &y]), &arr([&r, &y, &y]), false, BOUND);
        for binder in BINDERS {
            let bound = |x: &Value| b.binder(binder, &[x], crossed(&b, LEVELS, x));
            assert_cheap(&bound(&x), &bound(&y), true, BOUND);
            let functions = || doubled_functions(&b, binder, LEVELS);
            assert_cheap(&functions(), &functions(), true, BOUND);
        }
        let dag = || (0..LEVELS).fold(Value::from(1), |value, _| b.shared(&value, &value));
        assert_cheap(&dag(), &dag(), true, BOUND);
    }
    let arrays = || (0..LEVELS).fold(Value::from(1), |value, _| arr([&value, &value]));
    assert_cheap(&arrays(), &arrays(), true, BOUND);
    let entry = |key: &str, value: &Value| (key.into(), value.clone());
    let level = |value: Value, _| map([entry("a", &value), entry("b", &value)]);
    let maps = || (0..LEVELS).fold(Value::from(1), level);
    assert_cheap(&maps(), &maps(), true, BOUND);
}

#[test]
fn nodes_inside_and_outside_of_a_binder_of_their_variable_are_met_in_two_ways() {
    // Every level is used once directly and once below a function that rebinds the same
    // variable: the node is met with the variable free and with it bound, in two ways
    // altogether.
    for b in builds() {
        for binder in BINDERS {
            let program = || {
                let x = b.var();
                let level = |v: Value, _| b.add(b.binder(binder, &[&x], &v), &v);
                b.binder(binder, &[&x], (0..12).fold(x.clone(), level))
            };
            assert_cheap(&program(), &program(), true, 1000);
        }
    }
}

#[test]
fn nodes_below_different_numbers_of_scopes_are_compared_once_and_hashed_per_depth() {
    // The variable is bound once, outside; the scopes in between bind other variables.
    for b in builds() {
        for binder in BINDERS {
            let program = |levels: usize| {
                let z = b.var();
                let level = |v: Value, _| b.add(b.binder(binder, &[&b.var()], &v), &v);
                b.binder(binder, &[&z], (0..levels).fold(z.clone(), level))
            };
            // A hash names the variable by the distance in scopes, and a node that uses
            // the variable is hashed once per depth of its occurrences.
            assert_cheap_by(&program(60), &program(60), true, 3000, 4 * 60 * 60);
            assert_cheap_by(&program(120), &program(120), true, 6000, 4 * 120 * 120);
        }
    }
}

#[test]
fn functions_that_use_what_they_rebind_further_down_are_visited_once_per_depth() {
    for b in builds() {
        for binder in BINDERS {
            let program = |levels: usize| {
                let mut outer = b.var();
                let mut value = Value::from(1);
                for _ in 0..levels {
                    let x = b.var();
                    let function = b.binder(binder, &[&x], arr([&outer, &value]));
                    value = b.add(&function, &function);
                    outer = x;
                }
                value
            };
            assert_cheap_by(&program(60), &program(60), true, 3000, 4 * 60 * 60);
            assert_cheap_by(&program(120), &program(120), true, 6000, 4 * 120 * 120);
        }
    }
}

#[test]
fn sixty_levels_of_sharing_are_walked_once_and_printed_short() {
    for b in builds() {
        let root = doubled(&b, 60, 1);
        let visits = count_objects(&root, WalkOptions::default()).expect("walked");
        assert_eq!(visits, 60);
        assert!(format!("{root:?}").len() < 1000);
    }
}
