//! The programs that are edited.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use isoform::values::{DType, Tensor};
use isoform::{Node, Ref, Value};
use isoform_ir::ir::{GlobalVar, IRModule};
use isoform_relay as relay;
use isoform_relay::{AsExpr, Call, Constant, Function, Var};

/// A binary tree.
#[derive(Node)]
#[node(key = "incremental.Pair")]
#[repr(C)]
pub(crate) struct Pair {
    pub(crate) lhs: Value,
    pub(crate) rhs: Value,
}

pub(crate) const DEPTH: u32 = 14;

pub(crate) fn tree(depth: u32, first: i64) -> Value {
    match depth {
        0 => first.into(),
        _ => {
            let half = 1 << (depth - 1);
            Pair::new(tree(depth - 1, first), tree(depth - 1, first + half)).into()
        }
    }
}

/// A copy with another leaf; the bits of `at` are the way to it.
pub(crate) fn edited(node: &Value, depth: u32, at: u64, leaf: i64) -> Value {
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

/// A function of about this many nodes with calls of two other functions.
pub(crate) fn function(
    names: &[Ref<GlobalVar>],
    number: usize,
    nodes: usize,
    constant: i64,
) -> Ref<Function> {
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

pub(crate) fn module(names: &[Ref<GlobalVar>], functions: &[Ref<Function>]) -> Ref<IRModule> {
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

/// Held by tests that count visits: a write, by any thread to any object, discards the
/// memory of all mutable objects.
static WRITES: RwLock<()> = RwLock::new(());

/// Waits until no other test runs, and blocks further tests.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    WRITES.write().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the test run in parallel with other tests without counted visits.
pub(crate) fn beside_others() -> RwLockReadGuard<'static, ()> {
    WRITES.read().unwrap_or_else(PoisonError::into_inner)
}
