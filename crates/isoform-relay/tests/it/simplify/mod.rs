//! Simplification of Relay programs by rules, kernels taken apart, and memoised passes.
//!
//! The checks of a program and its simplification are here.

mod chains;
mod defuse;
mod guards;
mod memo;
mod rules;

use isoform::objects::repr;
use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Ref, Value};
use isoform_ir::ir::TensorType;
use isoform_relay::attrs::CastAttrs;
use isoform_relay::eval::Evaluator;
use isoform_relay::passes::{SimplifyOptions, simplify_rules};
use isoform_relay::{Constant, Function, op};

use crate::support::*;

/// The numbers of a tensor as float64.
fn floats_of(tensor: &Tensor) -> Vec<f64> {
    let cast = op::cast(
        Constant::new(tensor.clone()),
        CastAttrs::new(DType::FLOAT64),
    );
    let wide: Tensor = evaluate(cast).extract().expect("a tensor");
    let (chunks, _) = wide.data().as_chunks::<8>();
    chunks.iter().copied().map(f64::from_le_bytes).collect()
}

/// Arguments for the parameters of a function with known sizes.
fn arguments(func: &Ref<Function>, round: usize) -> Option<Vec<Value>> {
    let mut arguments = Vec::new();
    for param in func.params.iter() {
        let ty = param
            .type_annotation
            .as_ref()?
            .downcast_ref::<TensorType>()?;
        let dims = ty.shape.iter();
        let shape: Vec<i64> = dims
            .map(|dim| Some(dim.downcast_ref::<isoform_ir::ir::IntImm>()?.value))
            .collect::<Option<_>>()?;
        let is_float = matches!(ty.dtype.code(), DTypeCode::Float | DTypeCode::BFloat);
        let choice: &[f64] = match (is_float, ty.dtype.code()) {
            (true, _) => &[1.0, 0.5, -0.0, 3.25, 0.0, -2.0, 7.5, -1.0],
            (_, DTypeCode::Int) => &[1.0, -1.0, 0.0, 100.0, -128.0, 127.0, 3.0],
            (_, DTypeCode::Bool) => &[1.0, 0.0],
            _ => &[1.0, 255.0, 0.0, 100.0, 128.0, 127.0],
        };
        let count = shape.iter().product::<i64>() as usize;
        let element = |number: usize| choice[(number * 3 + round + arguments.len()) % choice.len()];
        let values: Vec<f64> = (0..count).map(element).collect();
        arguments.push(tensor(&values, &shape, ty.dtype).into());
    }
    Some(arguments)
}

fn result(func: &Expr, arguments: &[Value]) -> Tensor {
    let evaluator = Evaluator::new();
    let func = evaluator.evaluate(func).expect("a function");
    let value = evaluator.call(&func, arguments).expect("a value");
    value.extract().expect("a tensor")
}

/// Checks that two functions have the same values: every bit, or nearly.
#[track_caller]
fn check_values(before: &Expr, after: &Expr, bits: bool) {
    let func: Ref<Function> = before.clone().cast().expect("a function");
    for round in 0..8 {
        let Some(arguments) = arguments(&func, round) else {
            return;
        };
        let (left, right) = (result(before, &arguments), result(after, &arguments));
        assert_eq!(left.shape(), right.shape());
        if bits {
            assert_eq!(
                left.data(),
                right.data(),
                "{arguments:?}: {left:?} {right:?}"
            );
            continue;
        }
        for (left, right) in floats_of(&left).into_iter().zip(floats_of(&right)) {
            let close = (left - right).abs() <= 1e-2 * (1.0 + left.abs());
            assert!(
                close || left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan(),
                "{arguments:?}: {left} {right}"
            );
        }
    }
}

fn is_exact(name: &str, dtype: DType) -> bool {
    let rule = simplify_rules().find(|rule| rule.name == name);
    let rule = rule.expect("a rule of this name");
    if matches!(dtype.code(), DTypeCode::Int | DTypeCode::UInt) {
        rule.exact_for_integers
    } else {
        rule.exact_for_floats
    }
}

fn result_dtype(func: &Expr) -> DType {
    let func: Ref<Function> = func.clone().cast().expect("a function");
    let ty = func.body.checked_type_.as_ref().expect("typed");
    ty.downcast_ref::<TensorType>().expect("a tensor").dtype
}

/// Runs the options and checks what every run promises; returns the result and the rules.
#[track_caller]
fn run(options: SimplifyOptions, program: &Expr) -> (Expr, Vec<&'static str>) {
    let done = options.run(&typed(program)).expect("well typed");
    let inferred = typed(&done.expr);
    assert!(
        inferred.same_as(&done.expr),
        "types are filled in: {} {}",
        repr(&done.expr),
        repr(&inferred)
    );
    let again = options.run(&done.expr).expect("well typed");
    assert!(again.expr.same_as(&done.expr), "nothing is left to do");
    assert!(again.applied.is_empty());
    let names = done.applied.iter().map(|(name, _)| *name);
    (done.expr, names.collect())
}

/// Checks that a rule makes the expected program and keeps values, and that the exact pass
/// applies the rule where the table allows the rule.
#[track_caller]
pub(crate) fn applies(rule: &str, program: &Expr, expected: &Expr) {
    let (result, rules) = run(SimplifyOptions::default(), program);
    assert!(rules.contains(&rule), "{rule} in {rules:?}");
    assert_equal(&result, &typed(expected));
    let dtype = result_dtype(&typed(program));
    let all = rules.iter().all(|rule| is_exact(rule, dtype));
    check_values(program, &result, all);
    let (result, rules) = run(SimplifyOptions::default().exact(true), program);
    assert_eq!(rules.contains(&rule), is_exact(rule, dtype), "{rules:?}");
    check_values(program, &result, true);
}

/// Checks that no rule applies.
#[track_caller]
pub(crate) fn stays(program: &Expr) {
    let program = typed(program);
    let (result, rules) = run(SimplifyOptions::default(), &program);
    assert!(rules.is_empty(), "{rules:?}");
    assert!(result.same_as(&program), "nothing changes");
}

/// Checks that this rule does not apply, regardless of other rules; values stay.
#[track_caller]
pub(crate) fn avoids(rule: &str, program: &Expr) {
    let (result, rules) = run(SimplifyOptions::default(), program);
    assert!(!rules.contains(&rule), "{rules:?}");
    check_values(program, &result, false);
}
