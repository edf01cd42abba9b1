//! The table from operators to kernels.

use isoform::dialect::relay::eval::evaluate_call;
use isoform::dialect::relay::{self, Call, attrs};
use isoform::ir::{Attrs, Op};
use isoform::values::{DType, Tensor};
use isoform::{Array, Ref, Value};

use crate::support::*;

/// The operators that have no kernel.
const WITHOUT: [&str; 0] = [];

#[test]
fn every_operator_of_the_dialect_has_a_kernel() {
    relay::register().expect("the dialect");
    for name in Op::names() {
        let op = Op::get(&name).expect("an operator");
        // The operators of the dialect, and not those of tests.
        let is_own = op.attribute("TOpPattern").is_some()
            && !name.contains("test")
            && !name.starts_with("doc");
        if !is_own {
            continue;
        }
        let error = evaluate_call(&op, &[], None)
            .err()
            .map(|error| error.message().to_owned());
        let is_missing = error.is_some_and(|error| error.contains("there is no kernel"));
        assert_eq!(is_missing, WITHOUT.contains(&&*name), "{name}");
    }
}

fn evaluated(call: Ref<Call>) -> Value {
    evaluate(call)
}

#[test]
fn elements_of_four_bits_are_packed() {
    // -1, 7, -8 as two elements per byte.
    let dtype: DType = "int4".parse().expect("a type");
    let packed = Tensor::new(dtype, vec![3], vec![0x7f, 0x08]).expect("a tensor");
    let to = |dtype: &str| attrs::CastAttrs::new(dtype.parse::<DType>().expect("a type"));
    let wide = evaluated(relay::op::cast(constant(&packed), to("int32")));
    assert_eq!(read_ints(&wide), [-1, 7, -8]);
    let reversed = relay::op::reverse(
        constant(&packed),
        attrs::ReverseAttrs::new().with_axis(attrs::size(0)),
    );
    let reversed: Tensor = evaluated(reversed).extract().expect("a tensor");
    assert_eq!(
        (reversed.dtype(), &reversed.data()[..]),
        (dtype, &[0x78, 0x0f][..])
    );
}

#[test]
fn wrong_calls_are_errors() {
    let add = op("add");
    let one: Value = ints(&[], &[1]).into();
    let check = |op: &Ref<Op>, values: &[Value], attrs: Option<Ref<Attrs>>, message: &str| {
        let error = evaluate_call(op, values, attrs.as_ref()).expect_err("a wrong call");
        assert!(error.message().contains(message), "{error}");
    };
    check(
        &add,
        std::slice::from_ref(&one),
        None,
        "operator add: expected at least 2 arguments, got 1",
    );
    let tuple: Value = [one.clone()].into_iter().collect::<Array>().into();
    check(
        &add,
        &[one.clone(), tuple.clone()],
        None,
        "argument 2: expected a tensor, got",
    );
    check(
        &op("cast"),
        std::slice::from_ref(&one),
        None,
        "attributes: expected relay.attrs.CastAttrs, got None",
    );
    let wrong = attrs::ReverseAttrs::new().upcast();
    check(
        &op("cast"),
        std::slice::from_ref(&one),
        Some(wrong),
        "got relay.attrs.ReverseAttrs",
    );
    check(
        &op("divide"),
        &[one.clone(), ints(&[], &[0]).into()],
        None,
        "expected a divisor other than 0",
    );
    check(
        &add,
        &[one.clone(), floats(&[], &[1.0]).into()],
        None,
        "operator add: ",
    );
    let concatenate = attrs::ConcatenateAttrs::new().upcast();
    check(
        &op("concatenate"),
        std::slice::from_ref(&one),
        Some(concatenate),
        "expected a tuple of tensors",
    );
    let symbolic = isoform::tir::Var::new("n", DType::INT32).upcast();
    let symbolic = attrs::TileAttrs::new([symbolic]).upcast();
    check(&op("tile"), &[one], Some(symbolic), "reps");
}
