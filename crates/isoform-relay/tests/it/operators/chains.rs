//! Depth and cost of inference.

use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::Ref;
use isoform_ir::ir::OpRegistry;
use isoform_relay as relay;
use isoform_relay::op;
use isoform_relay::op::CallTypes;
use isoform_relay::{AsExpr, Call, Function, If, Let, RefCreate, Tuple, Var};
use isoform_testing::source::scaled;

use crate::support::*;

#[test]
fn inference_of_a_million_calls() {
    let x = v("f32[2]");
    let mut body: Expr = x.expr();
    for _ in 0..levels() {
        body = op::negative(body).expr();
    }
    let module = relay::infer_type(&main_of(Function::new([x], body))).unwrap();
    assert!(relay::infer_type(&module).unwrap().same_as(&module));
}

#[test]
fn inference_of_a_million_bindings() {
    let x = v("f32[2]");
    let vars: Vec<Ref<Var>> = (0..levels()).map(|_| Var::new("v")).collect();
    let mut body: Expr = vars[levels() - 1].expr();
    for level in (0..levels()).rev() {
        let from = if level == 0 { &x } else { &vars[level - 1] };
        body = Let::new(&vars[level], op::exp(from), body).expr();
    }
    let module = relay::infer_type(&main_of(Function::new([x], body))).unwrap();
    assert!(relay::infer_type(&module).unwrap().same_as(&module));
}

#[test]
fn types_that_share_parts_are_small() {
    // Written out, the last type has 2^200000 parts.
    let x = Var::new("x");
    let mut body: Expr = x.expr();
    for _ in 0..scaled(200_000) {
        body = Tuple::new([body.clone(), body]).expr();
    }
    let unknown = Function::new([x.clone()], &body);
    assert!(relay::infer_type(&main_of(unknown)).is_err());
    let same = If::new(v("bool[]"), &x, v("f32[2]"));
    let result = Tuple::new([body, same.expr()]);
    let module = relay::infer_type(&main_of(Function::new([x], result))).unwrap();
    assert!(relay::infer_type(&module).unwrap().same_as(&module));
}

#[test]
fn types_that_are_known_are_compared_once_each() {
    // A type of every depth: comparing the types from the top would take 2 * 10^10
    // steps.
    let x = v("f32[2]");
    let vars: Vec<Ref<Var>> = (0..scaled(200_000)).map(|_| Var::new("v")).collect();
    let mut body: Expr = x.expr();
    for (level, var) in vars.iter().enumerate().rev() {
        let from = if level == 0 { &x } else { &vars[level - 1] };
        let value = match level % 3 {
            0 => Tuple::new([from.expr()]).expr(),
            1 => RefCreate::new(from).expr(),
            _ => Function::new([], from).expr(),
        };
        body = Let::new(var, value, body).expr();
    }
    let module = relay::infer_type(&main_of(Function::new([x], body))).unwrap();
    assert!(relay::infer_type(&module).unwrap().same_as(&module));
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// The number of calls of relations for a chain whose first type is found last.
fn calls(levels: usize) -> usize {
    let count = op::relation(|types: &mut CallTypes<'_>| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        Ok(types.input(0)?.cloned())
    });
    let entry = OpRegistry::get_or_register("relay_ops.counted")
        .unwrap()
        .num_inputs(1);
    // The first registration counts.
    let entry = match entry.op().op_type() {
        Some(_) => entry,
        None => entry.type_relation("RelayOpsCounted", Some(count)).unwrap(),
    };
    let x = Var::new("x");
    let mut body: Expr = x.expr();
    for _ in 0..levels {
        body = Call::new(entry.op(), [body]).expr();
    }
    let bias_add = op::bias_add(v("f32[2,3]"), &x, relay::attrs::BiasAddAttrs::new());
    let function = Function::new([x], Tuple::new([body, bias_add.expr()]));
    CALLS.store(0, Ordering::Relaxed);
    relay::infer_type(&main_of(function)).unwrap();
    CALLS.load(Ordering::Relaxed)
}

#[test]
fn relations_are_asked_once_more_for_each_unknown_input() {
    // Once when the input is a hole, once when it is known.
    assert_eq!(calls(1000), 2000);
    assert_eq!(calls(2000), 4000);
}
