//! The work after an edit, counted in visits.

use std::slice::from_ref;

use isoform::compare::{CompareOptions, IncrementalHasher, last_visit_count};
use isoform::dialect::pto::{
    self, AssignStmt, ConstInt, DataType, Program, ReturnStmt, ScalarType, SeqStmts, Stmt,
};
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

/// The visits of hashes and digests of a program before and after edits of one part.
/// There are `COUNT` parts, and an edit costs at most 1/200 of everything.
#[track_caller]
fn check_edits<T: Clone>(
    part: impl Fn(usize, i64) -> T,
    program: impl Fn(&[T]) -> Value,
    options: CompareOptions,
) {
    let mut parts: Vec<T> = (0..COUNT).map(|number| part(number, 1)).collect();
    let first = program(&parts);
    let mut hasher = IncrementalHasher::new(options);
    let digest = hasher.digest(&first).unwrap();
    let cold = last_visit_count();
    assert_eq!(digest, options.digest(&first).unwrap());
    assert!(cold <= 2 * last_visit_count(), "{cold} visits");
    let hash = hasher.hash(&first).unwrap();
    assert_eq!(hash, options.hash(&first).unwrap());
    for edit in [3, 3, 77] {
        parts[edit] = part(edit, 2 + edit as i64);
        let next = program(&parts);
        let digest = hasher.digest(&next).unwrap();
        let digest_visits = last_visit_count();
        let hash = hasher.hash(&next).unwrap();
        for visits in [digest_visits, last_visit_count()] {
            assert!(visits <= cold / 200, "{visits} of {cold} visits");
        }
        assert_eq!(digest, options.digest(&next).unwrap());
        assert_eq!(hash, options.hash(&next).unwrap());
    }
}

const COUNT: usize = 1_000;
const NODES: usize = 800;

#[test]
fn an_edit_of_a_function_costs_the_function_and_the_names() {
    let names: Vec<_> = (0..COUNT)
        .map(|i| GlobalVar::new(format!("f{i}").as_str()))
        .collect();
    let part = |number, constant| function(&names, number, NODES, constant);
    let program = |functions: &[Ref<Function>]| module(&names, functions).into();
    check_edits(part, program, CompareOptions::default());
}

#[test]
fn the_edit_may_be_a_write_to_the_module() {
    let names: Vec<_> = (0..COUNT)
        .map(|i| GlobalVar::new(format!("f{i}").as_str()))
        .collect();
    let part = |number, constant| function(&names, number, NODES, constant);
    let functions: Vec<_> = (0..COUNT).map(|number| part(number, 1)).collect();
    let module = module(&names, &functions);
    let program = |functions: &[Ref<Function>]| {
        for (name, function) in names.iter().zip(functions) {
            let function = function.clone().upcast();
            module.functions.insert(name.clone(), function).unwrap();
        }
        module.clone().into()
    };
    check_edits(part, program, CompareOptions::default());
}

/// A function of the statement dialect that calls another one.
fn statements(number: usize, constant: i64) -> Ref<pto::Function> {
    let ty = ScalarType::new(DataType::Int64);
    let x = pto::Var::new("x", &ty);
    let callee = pto::GlobalVar::new(format!("f{}", (number * 7 + 1) % COUNT));
    let mut last = x.clone();
    let mut body: Vec<Ref<Stmt>> = Vec::new();
    for _ in 0..NODES / 4 {
        let constant = ConstInt::new(constant, DataType::Int64);
        let sum = pto::Add::new(&last, constant, DataType::Int64);
        last = pto::Var::new("t", &ty);
        let call = pto::Call::new(&callee, [sum.upcast().upcast()]);
        body.push(AssignStmt::new(&last, call).upcast());
    }
    body.push(ReturnStmt::new([last.upcast()]).upcast());
    let name = format!("f{number}");
    pto::Function::new(name, [x], [ty.upcast()], SeqStmts::new(body))
}

#[test]
fn an_edit_of_a_function_of_statements_costs_the_function_and_the_names() {
    pto::register().expect("the names are free");
    let program = |functions: &[Ref<pto::Function>]| {
        let program = Program::new(functions.iter().cloned(), "program");
        program.expect("the names differ").into()
    };
    check_edits(statements, program, CompareOptions::default());
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
