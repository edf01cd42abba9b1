//! Calls that evaluation refuses, and the precision of the results of accepted calls.

use std::cell::Cell;

use isoform::values::{DType, Tensor};
use isoform::{Ref, Value};
use isoform_onnx::ElemType;
use isoform_onnx::eval::{Control, Precision, Refusal, evaluate, precision};
use isoform_onnx::ir::AttrRef;

use crate::eval::{call, check, floats, ints, list, refuses, tensor};

#[test]
fn values_that_the_standard_leaves_open() {
    refuses(
        "Div",
        14,
        &[],
        &[ints(&[1], &[1]), ints(&[1], &[0])],
        "divisor",
    );
    refuses(
        "Gather",
        13,
        &[],
        &[ints(&[2], &[1, 2]), ints(&[], &[2])],
        "index",
    );
    refuses(
        "Cast",
        13,
        &[("to", Value::from(6))],
        &[floats(&[1], &[1e20])],
        "range",
    );
    refuses(
        "Max",
        13,
        &[],
        &[floats(&[1], &[0.0]), floats(&[1], &[-0.0])],
        "-0",
    );
    refuses(
        "Sub",
        14,
        &[],
        &[
            floats(&[1], &[f32::INFINITY]),
            floats(&[1], &[f32::INFINITY]),
        ],
        "NaN",
    );
    refuses("ArgMax", 13, &[], &[floats(&[2], &[f32::NAN, 0.0])], "NaN");
    let large = ints(&[2], &[i64::MAX, 1]);
    refuses("ReduceSum", 13, &[], &[large], "overflow");
    // Moves keep every bit, also of NaN.
    let nan = f32::from_bits(0xffc0_1234);
    check(
        "Neg",
        13,
        &[],
        &[floats(&[1], &[0.0])],
        &floats(&[1], &[-0.0]),
    );
    check(
        "Transpose",
        13,
        &[],
        &[floats(&[1], &[nan])],
        &floats(&[1], &[nan]),
    );
}

#[test]
fn calls_that_do_not_fit() {
    refuses("NoSuchOp", 13, &[], &[], "no kernel");
    refuses(
        "Reshape",
        13,
        &[],
        &[floats(&[2], &[1.0, 2.0]), ints(&[1], &[3])],
        "reshape",
    );
    refuses("Add", 13, &[], &[floats(&[1], &[1.0])], "input 1");
    refuses(
        "Transpose",
        13,
        &[("perm", list(&[0, 0]))],
        &[floats(&[1, 1], &[1.0])],
        "axes",
    );
    let attr: Value = Ref::new(AttrRef {
        name: "axis".into(),
    })
    .into();
    refuses(
        "Concat",
        13,
        &[("axis", attr)],
        &[floats(&[1], &[1.0])],
        "enclosing function",
    );
    refuses(
        "ConstantOfShape",
        9,
        &[],
        &[ints(&[2], &[1 << 40, 1 << 40])],
        "limit",
    );
    refuses(
        "Tile",
        13,
        &[],
        &[floats(&[1], &[1.0]), ints(&[1], &[1 << 50])],
        "limit",
    );
    refuses(
        "Split",
        18,
        &[("num_outputs", Value::from(1_i64 << 60))],
        &[floats(&[1], &[1.0])],
        "parts",
    );
}

#[test]
fn axes_of_tensors_without_elements_may_be_long() {
    let long = floats(&[1 << 40, 0], &[]);
    refuses(
        "Unique",
        11,
        &[("axis", Value::from(0))],
        std::slice::from_ref(&long),
        "limit",
    );
    refuses("Det", 11, &[], &[floats(&[1 << 40, 0, 0], &[])], "limit");
    check(
        "LpNormalization",
        1,
        &[("axis", Value::from(1))],
        std::slice::from_ref(&long),
        &long,
    );
    let lengths = ints(&[0], &[]);
    let axes = [
        ("time_axis", Value::from(0)),
        ("batch_axis", Value::from(1)),
    ];
    check(
        "ReverseSequence",
        10,
        &axes,
        &[long.clone(), lengths],
        &long,
    );
    let spatial = floats(&[0, 1, 1 << 40], &[]);
    let attrs = [("kernel_shape", list(&[1])), ("strides", list(&[i64::MAX]))];
    refuses("MaxPool", 12, &attrs, &[spatial], "2^31");
}

#[test]
fn the_caller_can_stop() {
    let zeros = Tensor::new(DType::FLOAT32, vec![1 << 21], vec![0; 4 << 21]).unwrap();
    let x = Value::from(zeros);
    let call = call("Exp", 13, &[], std::slice::from_ref(&x), 1);
    let asked = Cell::new(0);
    let interrupted = || {
        asked.set(asked.get() + 1);
        true
    };
    let control = Control {
        interrupted: Some(&interrupted),
        ..Control::default()
    };
    let stopped = evaluate(&call, &[Some(x)], &control);
    assert!(matches!(stopped, Err(Refusal::Interrupted)));
    assert_eq!(asked.get(), 1);
}

#[test]
fn precision_depends_on_types_attributes_and_versions() {
    use ElemType as E;
    use Precision::{Exact, Never, Rounded};
    let of = |op: &str, version: i64, attrs: &[(&str, Value)], elems: &[E]| {
        let call = call(op, version, attrs, &[], 1);
        let elems: Vec<Option<E>> = elems.iter().copied().map(Some).collect();
        precision(&call, &elems)
    };
    assert_eq!(of("Add", 14, &[], &[E::Float, E::Float]), Exact);
    assert_eq!(of("Exp", 13, &[], &[E::Float]), Rounded);
    assert_eq!(of("Pow", 15, &[], &[E::Int64, E::Int64]), Exact);
    assert_eq!(of("Pow", 15, &[], &[E::Float, E::Int64]), Rounded);
    assert_eq!(of("ReduceSum", 13, &[], &[E::Int64, E::Int64]), Exact);
    assert_eq!(of("ReduceSum", 13, &[], &[E::Float, E::Int64]), Rounded);
    assert_eq!(
        of("Cast", 13, &[("to", Value::from(10))], &[E::Float]),
        Exact
    );
    assert_eq!(
        of("Cast", 13, &[("to", Value::from(10))], &[E::Double]),
        Rounded
    );
    assert_eq!(
        of("TopK", 11, &[("sorted", Value::from(0))], &[E::Float]),
        Rounded
    );
    assert_eq!(of("DequantizeLinear", 13, &[], &[E::Uint8]), Never);
    assert_eq!(of("RandomNormal", 1, &[], &[]), Never);
    assert_eq!(of("BatchNormalization", 15, &[], &[E::Float]), Rounded);
    let trains = [("training_mode", Value::from(1))];
    assert_eq!(of("BatchNormalization", 15, &trains, &[E::Float]), Never);
    assert_eq!(of("If", 13, &[], &[E::Bool]), Never);
}

#[test]
fn packed_elements_are_moved_and_packed_again() {
    let nibbles = Tensor::new("int4".parse().unwrap(), vec![3], vec![0x21, 0x0f]).unwrap();
    let slice = [ints(&[1], &[1]), ints(&[1], &[3])];
    let inputs = [&[Value::from(nibbles)][..], &slice[..]].concat();
    let expected = Tensor::new("int4".parse().unwrap(), vec![2], vec![0xf2]).unwrap();
    check("Slice", 13, &[], &inputs, &expected.into());
    let complex = Tensor::new(
        "complex64".parse().unwrap(),
        vec![2],
        (0..16).collect::<Vec<u8>>(),
    );
    let turned: Vec<u8> = (8..16).chain(0..8).collect();
    let turned = Tensor::new("complex64".parse().unwrap(), vec![2], turned).unwrap();
    let inputs = [complex.unwrap().into(), ints(&[2], &[1, 0])];
    check("Gather", 13, &[], &inputs, &turned.clone().into());
    assert_eq!(tensor(&turned.into()).shape(), [2]);
}
