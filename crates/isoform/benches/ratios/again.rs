//! Classes of all subterms, and digests of a module after an edit of one function.

use std::hint::black_box;

use isoform::compare::{IncrementalHasher, subterm_classes};
use isoform::values::{DType, Tensor};
use isoform::{Ref, Value, structural_digest, structural_hash};
use isoform_ir::ir::{GlobalVar, IRModule};
use isoform_relay as relay;
use isoform_relay::{AsExpr, Call, Constant, Function, Var};

use super::table::{Limit, Table};
use super::timing::{alone, pair};
use crate::common::{positions, shapes};

/// The classes of W, against its hash.
pub(crate) fn classes(table: &mut Table) {
    for depth in [10, 16] {
        let count = positions(depth);
        let value = Value::from(shapes::lambda(depth));
        let find = || drop(black_box(subterm_classes(&value)).expect("no cycle"));
        let hash = || {
            black_box(structural_hash(&value)).expect("the workload can be hashed");
        };
        let name = format!("classes of all subterms, d={depth}");
        table.row(&name, alone(count, find), Limit::Ns(100.0));
        let times = pair(count, find, hash);
        table.row(format!("{name}, against hash"), times, Limit::Ratio(4.0));
    }
}

const FUNCTIONS: usize = 1_000;
const CALLS: usize = 600;

/// A function that calls two others.
fn function(names: &[Ref<GlobalVar>], number: usize, constant: i64) -> Ref<Function> {
    let x = Var::new("x");
    let bytes = constant.to_le_bytes().to_vec();
    let constant = Constant::new(Tensor::new(DType::INT64, vec![], bytes).expect("a scalar"));
    let mut body = x.expr();
    for step in 0..CALLS {
        let callee = &names[(number * 7 + step % 2 + 1) % names.len()];
        body = Call::new(callee, [body, constant.expr()]).expr();
    }
    Function::new([x], &body)
}

/// Everything again, against an edit of one function and the words of what changed.
pub(crate) fn incremental(table: &mut Table) {
    relay::register().expect("the names are free");
    let name = |number| GlobalVar::new(format!("f{number}").as_str());
    let names: Vec<_> = (0..FUNCTIONS).map(name).collect();
    let module = IRModule::new();
    let mut edits = 0;
    let mut edit = |number: usize| {
        edits += 1;
        let new_function = function(&names, number, edits).upcast();
        let name = names[number].clone();
        module
            .functions
            .insert(name, new_function)
            .expect("a function");
    };
    (0..FUNCTIONS).for_each(&mut edit);
    let what = format!("a module of {FUNCTIONS} functions of {CALLS} calls");
    let mut hasher = IncrementalHasher::default();
    let cold = || {
        black_box(structural_digest(&module)).expect("it is closed");
    };
    let again = || {
        edit(black_box(77));
        black_box(hasher.digest(&module)).expect("it is closed");
    };
    let times = pair(FUNCTIONS as u64, cold, again);
    let name = format!("digest of {what}, against again after an edit");
    table.row(name, times, Limit::AtLeast(200.0));
    let cold = || {
        black_box(structural_hash(&module)).expect("it is closed");
    };
    let again = || {
        edit(black_box(77));
        black_box(hasher.hash(&module)).expect("it is closed");
    };
    let times = pair(FUNCTIONS as u64, cold, again);
    let name = format!("hash of {what}, against again after an edit");
    table.row(name, times, Limit::AtLeast(200.0));
    let times = alone(FUNCTIONS as u64, || edit(black_box(77)));
    table.row(format!("the edit of {what} alone"), times, Limit::None);
}
