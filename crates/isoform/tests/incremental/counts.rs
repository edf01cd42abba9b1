//! The work after an edit, counted in visits.

use std::slice::from_ref;

use super::support::{DEPTH, edited, function, module, tree};
use isoform::compare::{CompareOptions, IncrementalHasher, last_visit_count};
use isoform::dialect::relay::{AsExpr, Call, Function, Var};
use isoform::ir::GlobalVar;
use isoform::{Array, Ref, Value, structural_digest, structural_equal, structural_hash};

#[test]
fn an_edit_of_a_tree_costs_its_path() {
    let mut program = tree(DEPTH, 0);
    let mut hasher = IncrementalHasher::default();
    for step in 0..50 {
        let hash = hasher.hash(&program).unwrap();
        let hash_visits = last_visit_count();
        let digest = hasher.digest(&program).unwrap();
        let digest_visits = last_visit_count();
        assert_eq!(hash, structural_hash(&program).unwrap());
        assert_eq!(digest, structural_digest(&program).unwrap());
        if step > 0 {
            // A path of nodes with two parts each, and the small parts beside its end,
            // which are not kept.
            let path = 4 * 2 * u64::from(DEPTH);
            assert!(hash_visits <= path, "{hash_visits} visits for a hash");
            assert!(
                digest_visits <= 3 * path,
                "{digest_visits} visits for a digest"
            );
        }
        program = edited(&program, DEPTH, step * 977 % (1 << DEPTH), -1);
    }
}

#[test]
fn the_same_value_again_costs_a_few_visits() {
    const FEW: u64 = 64;
    let program = tree(DEPTH, 0);
    let mut hasher = IncrementalHasher::default();
    let (hash, digest) = (
        hasher.hash(&program).unwrap(),
        hasher.digest(&program).unwrap(),
    );
    assert_eq!(hasher.hash(&program).unwrap(), hash);
    assert!(last_visit_count() <= FEW);
    assert_eq!(hasher.digest(&program).unwrap(), digest);
    assert!(last_visit_count() <= FEW);
    hasher.clear();
    assert_eq!(hasher.hash(&program).unwrap(), hash);
    assert!(last_visit_count() > 10 * FEW);
}

#[test]
fn an_edit_of_a_function_costs_the_function_and_the_names() {
    const COUNT: usize = 200;
    const NODES: usize = 600;
    let names: Vec<_> = (0..COUNT)
        .map(|i| GlobalVar::new(format!("f{i}").as_str()))
        .collect();
    let mut functions: Vec<_> = (0..COUNT).map(|i| function(&names, i, NODES, 1)).collect();
    let first = module(&names, &functions);
    let mut hasher = IncrementalHasher::default();
    assert_eq!(
        hasher.digest(&first).unwrap(),
        structural_digest(&first).unwrap()
    );
    let cold = last_visit_count();
    assert_eq!(
        hasher.hash(&first).unwrap(),
        structural_hash(&first).unwrap()
    );
    for edit in [3, 3, 77] {
        functions[edit] = function(&names, edit, NODES, 2 + edit as i64);
        let next = module(&names, &functions);
        let digest = hasher.digest(&next).unwrap();
        let visits = last_visit_count();
        assert_eq!(digest, structural_digest(&next).unwrap());
        let others = (COUNT as u64 - 1) * 4;
        assert!(
            visits <= cold / COUNT as u64 + others,
            "{visits} of {cold} visits"
        );
        let hash = hasher.hash(&next).unwrap();
        let visits = last_visit_count();
        assert_eq!(hash, structural_hash(&next).unwrap());
        assert!(
            visits <= cold / COUNT as u64 + others,
            "{visits} of {cold} visits"
        );
    }
}

/// The second module has functions of the same names; one of them calls the first one's.
#[test]
fn names_of_two_modules_are_told_apart() {
    let (a, b) = (GlobalVar::new("f"), GlobalVar::new("f"));
    let x = Var::new("x");
    let identity = Function::new([x.clone()], &x);
    let calling = |name: &Ref<GlobalVar>| {
        let y = Var::new("y");
        Function::new([y.clone()], Call::new(name, [y.expr()]).expr())
    };
    let pair = |called: &Ref<GlobalVar>| -> Value {
        let first = module(from_ref(&a), from_ref(&identity));
        let second = module(from_ref(&b), &[calling(called)]);
        Array::from(vec![Value::from(first), second.into()]).into()
    };
    let (own, other) = (pair(&b), pair(&a));
    let options = CompareOptions {
        map_free_vars: true,
        ..Default::default()
    };
    assert!(!structural_equal(&own, &other).unwrap());
    assert!(!options.equal(&own, &other).unwrap());
    assert_ne!(
        options.digest(&own).unwrap(),
        options.digest(&other).unwrap()
    );
    assert_eq!(
        options.digest(&own).unwrap(),
        options.digest(pair(&b)).unwrap()
    );
}

/// The functions of an equal module may share their name with those of one before.
#[test]
fn equal_modules_hash_the_same_wherever_they_are() {
    let (f, g) = (GlobalVar::new("f"), GlobalVar::new("f"));
    let x = Var::new("x");
    let identity = Function::new([x.clone()], &x);
    let with = |names: [&Ref<GlobalVar>; 2]| {
        let modules = names.map(|name| module(from_ref(name), from_ref(&identity)));
        Value::from(modules.map(Value::from))
    };
    let (shared, copied) = (with([&f, &f]), with([&f, &g]));
    assert!(structural_equal(&shared, &copied).unwrap());
    assert_eq!(
        structural_hash(&shared).unwrap(),
        structural_hash(&copied).unwrap()
    );
    assert_eq!(
        structural_digest(&shared).unwrap(),
        structural_digest(&copied).unwrap()
    );
}
