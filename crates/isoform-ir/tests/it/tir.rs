//! Primitive expressions: the results of making an operation.

use isoform::errors::ErrorKind;
use isoform::values::DType;
use isoform::{Ref, Result};
use isoform_ir::ir::PrimExpr;
use isoform_ir::tir;
use isoform_ir::tir::{Comparison, FloatImm, IntImm};

use crate::ir::MAPPED;

fn dtype(name: &str) -> DType {
    name.parse().expect("a data type")
}

fn int(dtype: DType, value: i64) -> Ref<PrimExpr> {
    IntImm::new(dtype, value).expect("in range").upcast()
}

fn value(expr: &Ref<PrimExpr>) -> i64 {
    expr.downcast_ref::<IntImm>().expect("a literal").value
}

type Operation = fn(&Ref<PrimExpr>, &Ref<PrimExpr>) -> Result<Ref<PrimExpr>>;

type Exact = fn(i64, i64) -> i64;

fn floor_div(a: i64, b: i64) -> i64 {
    (a as f64 / b as f64).floor() as i64
}

/// Compares every operation on every pair of 8-bit numbers with the same
/// operation on wider numbers.
#[test]
fn arithmetic_is_that_of_the_machine() {
    let operations: [(Operation, Exact); 9] = [
        (tir::add, |a, b| a + b),
        (tir::sub, |a, b| a - b),
        (tir::mul, |a, b| a * b),
        (tir::div, |a, b| a / b),
        (tir::truncmod, |a, b| a % b),
        (tir::floordiv, floor_div),
        (tir::floormod, |a, b| a - b * floor_div(a, b)),
        (tir::min, Ord::min),
        (tir::max, Ord::max),
    ];
    let types: [(DType, std::ops::RangeInclusive<i64>); 2] =
        [(dtype("int8"), -128..=127), (dtype("uint8"), 0..=255)];
    for (dtype, range) in types {
        for a in range.clone() {
            for b in range.clone() {
                for (position, (fold, exact)) in operations.into_iter().enumerate() {
                    let result = fold(&int(dtype, a), &int(dtype, b));
                    if (3..=6).contains(&position) && b == 0 {
                        let error = result.expect_err("no division by zero");
                        assert_eq!(error.to_string(), "ValueError: Divide by zero");
                        continue;
                    }
                    if position == 1 && *range.start() == 0 && a == 0 && b > 0 {
                        assert_eq!(result.expect_err("negative").kind(), ErrorKind::Value);
                        continue;
                    }
                    let exact = (exact(a, b) - range.start()).rem_euclid(256) + range.start();
                    let result = result.expect("numbers");
                    assert_eq!((value(&result), result.dtype), (exact, dtype), "{a}, {b}");
                }
            }
        }
    }
}

#[test]
fn literals_fit_their_data_type() {
    for bits in [1_u32, 7, 8, 16, 31, 32, 63, 64] {
        let signed = dtype(&format!("int{bits}"));
        let (least, most) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
        for good in [least, most] {
            assert!(IntImm::new(signed, good).is_ok(), "{good} is an {signed}");
        }
        for bad in [least.checked_sub(1), most.checked_add(1)]
            .into_iter()
            .flatten()
        {
            let error = IntImm::new(signed, bad).expect_err("out of range");
            assert_eq!(
                error.message(),
                format!(
                    "ir.IntImm: the value {bad} is outside the range of {signed}, {least} to {most}"
                )
            );
        }
        let unsigned = dtype(&format!("uint{bits}"));
        assert!(IntImm::new(unsigned, -1).is_err());
        assert!(IntImm::new(unsigned, (i64::MAX as u64 >> (64 - bits.min(63))) as i64).is_ok());
    }
    for (name, most) in [
        ("float16", 65504.0),
        ("bfloat16", 3.3895313892515355e38),
        ("float32", f64::from(f32::MAX)),
        ("float8_e4m3fn", 448.0),
        ("float8_e5m2", 57344.0),
        ("float4_e2m1fn", 6.0),
        ("float64", f64::MAX),
    ] {
        let dtype = dtype(name);
        for good in [most, -most, f64::INFINITY, f64::NAN] {
            assert!(FloatImm::new(dtype, good).is_ok(), "{good} is a {name}");
        }
        if most < f64::MAX {
            assert!(FloatImm::new(dtype, most * 1.01).is_err(), "{name}");
        }
    }
}

#[test]
fn comparisons_of_floats_know_nan() {
    let number = |value: f64| -> Ref<PrimExpr> {
        FloatImm::new(DType::FLOAT64, value)
            .expect("in range")
            .upcast()
    };
    for (a, b) in [
        (1.0, 2.0),
        (2.0, 2.0),
        (0.0, -0.0),
        (f64::NAN, 1.0),
        (f64::NAN, f64::NAN),
    ] {
        for (comparison, exact) in [
            (Comparison::EQ, a == b),
            (Comparison::NE, a != b),
            (Comparison::LT, a < b),
            (Comparison::LE, a <= b),
            (Comparison::GT, a > b),
            (Comparison::GE, a >= b),
        ] {
            let result = tir::compare(comparison, &number(a), &number(b)).expect("numbers");
            assert_eq!((value(&result) != 0, result.dtype), (exact, DType::BOOL));
        }
    }
}

#[test]
fn a_long_chain_of_operations_is_fine() {
    let mut sum: Ref<PrimExpr> = tir::Var::new("x", DType::INT32).upcast();
    for _ in 0..100_000 {
        sum = tir::add(&sum, &int(DType::INT32, 1)).expect("numbers");
    }
    let sum = isoform::Value::from(sum);
    let again = isoform::traverse::deep_copy(&sum).expect("no cycles");
    assert!(MAPPED.equal(&sum, &again).expect("comparable"));
}
