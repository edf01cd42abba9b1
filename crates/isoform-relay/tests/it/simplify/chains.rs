//! Long programs: the number of attempts is linear, at any depth.

use isoform_relay::attrs::{CastAttrs, ReshapeAttrs, TransposeAttrs, sizes};
use isoform_relay::passes::{Simplified, SimplifyOptions};
use isoform_relay::{AsExpr, Let, Var, op};

use crate::simplify::*;
use crate::support::*;

fn run(program: &Expr) -> Simplified {
    let options = SimplifyOptions::default();
    options.run(&typed(program)).expect("well typed")
}

/// Chains of a step, at two sizes.
#[track_caller]
fn check(name: &str, step: impl Fn(usize, &Expr) -> Expr) {
    let chain = |length: usize| {
        let x = v("f32[2,3]");
        let mut body = x.expr();
        for level in 0..length {
            body = step(level, &body);
        }
        func([&x], body)
    };
    let (few, many) = (run(&chain(1_000)), run(&chain(5_000)));
    let count = |done: &Simplified| done.applied.iter().map(|(_, count)| count).sum::<u64>();
    assert!(count(&few) >= 100, "{name}: {:?}", few.applied);
    assert!(
        many.attempts <= 5 * few.attempts + 1_000,
        "{name}: {} attempts, then {}",
        few.attempts,
        many.attempts
    );
    assert!(count(&many) <= 5 * count(&few) + 100, "{name}");
}

#[test]
fn attempts_grow_with_the_program() {
    let zero = number(0.0, F32);
    let [half, two] = [0.5, 2.0].map(|value| number(value, F32));
    check("zeros", |_, x| op::add(x, &zero).expr());
    check("doubles", |_, x| op::add(x, x).expr());
    check("factors", |level, x| match level % 2 {
        0 => op::multiply(x, &half).expr(),
        _ => op::multiply(&two, x).expr(),
    });
    check("sums and factors", |level, x| match level % 2 {
        0 => op::add(x, &half).expr(),
        _ => op::multiply(x, &half).expr(),
    });
    check("reshapes", |level, x| {
        let shape = if level % 2 == 0 { [3, 2] } else { [2, 3] };
        op::reshape(x, ReshapeAttrs::new(sizes(shape))).expr()
    });
    check("transpositions", |_, x| {
        op::transpose(x, TransposeAttrs::new(None)).expr()
    });
    check("casts", |level, x| {
        let dtype = if level % 2 == 0 { DType::FLOAT64 } else { F32 };
        op::cast(x, CastAttrs::new(dtype)).expr()
    });
    check("shared", |level, x| match level % 3 {
        0 => op::maximum(x, op::add(x, &zero)).expr(),
        1 => op::multiply(x, op::ones_like(x)).expr(),
        _ => op::tanh(x).expr(),
    });
}

#[test]
fn a_million_levels() {
    let x = v("f32[3]");
    let zero = number(0.0, F32);
    let mut body = x.expr();
    for level in 0..levels() {
        body = match level % 4 {
            0 => op::add(&body, &zero).expr(),
            _ => op::negative(&body).expr(),
        };
    }
    let done = run(&func([&x], body));
    assert_eq!(done.applied, [("add_zero", levels() as u64 / 4)]);

    let vars: Vec<_> = (0..levels()).map(|_| Var::new("v")).collect();
    let mut body = op::add(&vars[levels() - 1], &zero).expr();
    for level in (0..levels()).rev() {
        let before = if level == 0 { &x } else { &vars[level - 1] };
        body = Let::new(&vars[level], op::negative(before), body).expr();
    }
    let done = run(&func([&x], body));
    assert_eq!(done.applied, [("add_zero", 1)]);
}
