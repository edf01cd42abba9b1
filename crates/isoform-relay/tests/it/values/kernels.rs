//! The table from operators to kernels.

use isoform::values::{DType, Tensor};
use isoform::{Array, Ref, Value};
use isoform_ir::ir::{Attrs, Op};
use isoform_relay as relay;
use isoform_relay::eval::evaluate_call;
use isoform_relay::{Call, attrs};

use crate::support::*;

/// The operators that have no kernel.
const WITHOUT: [&str; 0] = [];

#[test]
fn every_operator_of_the_dialect_has_a_kernel() {
    relay::register().expect("the dialect");
    for name in Op::names() {
        let op = Op::get(&name).expect("an operator");
        // The operators of the dialect, without those of tests.
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
    assert_eq!(ints_of(&wide), [-1, 7, -8]);
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
    let scalar: Value = ints(&[], &[1]).into();
    let check = |op: &Ref<Op>, values: &[Value], attrs: Option<Ref<Attrs>>, message: &str| {
        let error = evaluate_call(op, values, attrs.as_ref()).expect_err("a wrong call");
        assert!(error.message().contains(message), "{error}");
    };
    check(
        &add,
        std::slice::from_ref(&scalar),
        None,
        "operator add: expected at least 2 arguments, got 1",
    );
    let tuple: Value = [scalar.clone()].into_iter().collect::<Array>().into();
    check(
        &add,
        &[scalar.clone(), tuple.clone()],
        None,
        "argument 2: expected a tensor, got",
    );
    check(
        &op("cast"),
        std::slice::from_ref(&scalar),
        None,
        "attributes: expected relay.attrs.CastAttrs, got None",
    );
    let wrong = attrs::ReverseAttrs::new().upcast();
    check(
        &op("cast"),
        std::slice::from_ref(&scalar),
        Some(wrong),
        "got relay.attrs.ReverseAttrs",
    );
    check(
        &op("divide"),
        &[scalar.clone(), ints(&[], &[0]).into()],
        None,
        "expected a divisor other than 0",
    );
    check(
        &add,
        &[scalar.clone(), floats(&[], &[1.0]).into()],
        None,
        "operator add: ",
    );
    let concatenate = attrs::ConcatenateAttrs::new().upcast();
    check(
        &op("concatenate"),
        std::slice::from_ref(&scalar),
        Some(concatenate),
        "requires a tuple of tensors",
    );
    let symbolic = isoform_ir::tir::Var::new("n", DType::INT32).upcast();
    let symbolic = attrs::TileAttrs::new([symbolic]).upcast();
    check(&op("tile"), &[scalar], Some(symbolic), "reps");
}

/// Checks that a call on values is refused with an error of type inference.
#[track_caller]
fn refused(name: &str, values: &[Tensor], attrs: Ref<Attrs>, message: &str) {
    let values: Vec<Value> = values.iter().map(|tensor| tensor.clone().into()).collect();
    let error = evaluate_call(&op(name), &values, Some(&attrs)).expect_err(name);
    assert!(error.message().contains(message), "{name}: {error}");
}

/// A call has a value of the type that inference finds, or no value at all.
#[test]
fn calls_that_inference_refuses_have_no_value() {
    let row = floats(&[2], &[1.0, 2.0]);
    let matrix = floats(&[4, 1], &[1.0; 4]);
    let wide = attrs::DenseAttrs::new(attrs::size(3));
    let x = floats(&[1, 1], &[1.0]);
    refused(
        "nn.dense",
        &[x, matrix.clone()],
        wide.upcast(),
        "units=3 do not agree with the weight",
    );
    refused(
        "nn.batch_matmul",
        &[row.clone(), row.clone()],
        attrs::BatchMatmulAttrs::new().upcast(),
        "",
    );
    let cuts = |value: Value| attrs::SplitAttrs::new(value).upcast();
    let beyond: Value = Array::from([Value::from(5_i64)]).into();
    refused(
        "split",
        std::slice::from_ref(&row),
        cuts(beyond),
        "sorted ascending",
    );
    let full = attrs::InitOpAttrs::new(attrs::sizes([2]));
    refused("full", std::slice::from_ref(&row), full.upcast(), "");
}

#[test]
fn attributes_that_ask_for_too_much_are_errors() {
    let scalar = floats(&[], &[1.0]);
    for count in [65, 1 << 40, i64::MAX] {
        let attrs = attrs::ExpandDimsAttrs::new(0).with_num_newaxis(count);
        refused(
            "expand_dims",
            std::slice::from_ref(&scalar),
            attrs.upcast(),
            "num_newaxis",
        );
    }
    let none = floats(&[0, 3], &[]);
    for count in [1 << 40, i64::MAX] {
        let attrs = attrs::SplitAttrs::new(Value::from(count));
        refused(
            "split",
            std::slice::from_ref(&none),
            attrs.upcast(),
            "indices_or_sections",
        );
    }
}

/// The kernel of a program returns what inference promises.
#[test]
fn results_of_kernels_of_programs_are_checked() {
    use isoform_relay::eval::{kernel, register_kernel};
    use isoform_relay::op::{CallTypes, relation};
    let same = relation(|types: &mut CallTypes<'_>| Ok(types.input(0)?.cloned()));
    let entry = isoform_ir::ir::OpRegistry::get_or_register("relay_values.lies").expect("a name");
    let entry = entry.num_inputs(1).type_relation("Lies", Some(same));
    let op = entry.expect("a relation").op().clone();
    let argument = ints(&[2], &[1, 2]);
    for (result, is_right) in [
        (ints(&[2], &[3, 4]), true),
        (ints(&[1], &[3]), false),
        (floats(&[2], &[3.0, 4.0]), false),
    ] {
        let result = Value::from(result);
        let lies = kernel(move |_| Ok(result.clone()));
        register_kernel("relay_values.lies", lies).expect("a kernel");
        let outcome = evaluate_call(&op, &[argument.clone().into()], None);
        assert_eq!(outcome.is_ok(), is_right);
        if let Err(error) = outcome {
            assert!(
                error.message().contains("type inference expects"),
                "{error}"
            );
        }
    }
}

#[test]
fn pools_round_up_to_a_window_that_the_axis_does_not_fill() {
    let data = || constant(&floats(&[1, 1, 1, 1], &[7.0]));
    let size = || attrs::sizes([2, 2]);
    let strides = || attrs::sizes([3, 3]);
    let most = attrs::MaxPool2DAttrs::new(size()).with_strides(strides());
    let mean = attrs::AvgPool2DAttrs::new(size()).with_strides(strides());
    for pooled in [
        evaluated(relay::op::max_pool2d(data(), most.with_ceil_mode(true))),
        evaluated(relay::op::avg_pool2d(data(), mean.with_ceil_mode(true))),
    ] {
        let pooled: Tensor = pooled.extract().expect("a tensor");
        assert!(same_tensor(&pooled, &floats(&[1, 1, 1, 1], &[7.0])));
    }
}
