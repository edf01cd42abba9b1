//! The work after an edit, counted in visits.

use std::slice::from_ref;

use isoform::compare::{CompareOptions, IncrementalHasher, last_visit_count};
use isoform::dialect::relay::{self, AsExpr, Call, Constant, Function, Var};
use isoform::ir::{GlobalVar, IRModule};
use isoform::values::{DType, Tensor};
use isoform::{Array, Node, Ref, Value, structural_digest, structural_equal, structural_hash};

/// A binary tree.
#[derive(Node)]
#[node(key = "incremental.Pair")]
#[repr(C)]
struct Pair {
    lhs: Value,
    rhs: Value,
}

const DEPTH: u32 = 16;

fn tree(depth: u32, first: i64) -> Value {
    match depth {
        0 => first.into(),
        _ => {
            let half = 1 << (depth - 1);
            Pair::new(tree(depth - 1, first), tree(depth - 1, first + half)).into()
        }
    }
}

/// A copy with another leaf; the bits of `at` are the way to it.
fn edited(node: &Value, depth: u32, at: u64, leaf: i64) -> Value {
    let Some(pair) = node
        .as_object()
        .and_then(|object| object.downcast_ref::<Pair>())
    else {
        return leaf.into();
    };
    let depth = depth - 1;
    match at >> depth & 1 {
        0 => Pair::new(edited(&pair.lhs, depth, at, leaf), pair.rhs.clone()).into(),
        _ => Pair::new(pair.lhs.clone(), edited(&pair.rhs, depth, at, leaf)).into(),
    }
}

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

/// A function of about this many nodes that calls two others.
fn function(names: &[Ref<GlobalVar>], number: usize, nodes: usize, constant: i64) -> Ref<Function> {
    let x = Var::new("x");
    let bytes = constant.to_le_bytes().to_vec();
    let one = Constant::new(Tensor::new(DType::INT64, vec![], bytes).unwrap());
    let mut body = x.expr();
    for step in 0..nodes / 2 {
        let callee = &names[(number * 7 + step % 2 + 1) % names.len()];
        let constant = one.expr();
        body = Call::new(callee, [body, constant]).expr();
    }
    Function::new([x], &body)
}

fn module(names: &[Ref<GlobalVar>], functions: &[Ref<Function>]) -> Ref<IRModule> {
    relay::register().expect("the names are free");
    let module = IRModule::new();
    for (name, function) in names.iter().zip(functions) {
        module
            .functions
            .insert(name.clone(), function.clone().upcast())
            .unwrap();
    }
    module
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
