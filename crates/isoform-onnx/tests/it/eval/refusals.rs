//! Calls that evaluation refuses, and the precision of the results of accepted calls.

use std::cell::Cell;

use isoform::values::{DType, Tensor};
use isoform::{Ref, Value};
use isoform_onnx::ElemType;
use isoform_onnx::eval::{Control, Precision, Refusal, evaluate, precision};
use isoform_onnx::ir::AttrRef;

use crate::eval::{call, check, floats, ints, list, refuses, results, tensor};

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

/// Ones in this shape.
fn ones(shape: &[i64]) -> Value {
    let count = shape.iter().product::<i64>();
    floats(shape, &vec![1.0; count as usize])
}

/// As onnxruntime decides: a list per spatial axis, a kernel as that of the weights, groups that
/// divide the channels, pads below the kernel of a pool.
#[test]
fn windows_that_contradict_the_shapes() {
    let x = || ones(&[1, 4, 6, 6]);
    let conv = [x(), ones(&[4, 4, 3, 3])];
    let transposed = [x(), ones(&[4, 2, 3, 3])];
    let deformed = [x(), ones(&[4, 4, 3, 3]), ones(&[1, 18, 4, 4])];
    let pool = [x()];
    let ops: [(&str, i64, &[Value]); 6] = [
        ("Conv", 11, &conv),
        ("ConvTranspose", 11, &transposed),
        ("DeformConv", 19, &deformed),
        ("MaxPool", 12, &pool),
        ("AveragePool", 19, &pool),
        ("LpPool", 18, &pool),
    ];
    for (op, version, inputs) in ops {
        let is_pool = op.ends_with("Pool");
        let wanted = if is_pool { 2 } else { 3 };
        let with = |name: &'static str, numbers: &[i64]| {
            let mut attrs = Vec::new();
            if is_pool && name != "kernel_shape" {
                attrs.push(("kernel_shape", list(&[2, 2])));
            }
            attrs.push((name, list(numbers)));
            results(op, version, &attrs, inputs, 1)
        };
        let allowed = with("kernel_shape", &[wanted, wanted]);
        assert!(allowed.is_ok(), "{op}: {allowed:?}");
        for (name, numbers) in [
            ("kernel_shape", &[wanted][..]),
            ("kernel_shape", &[wanted, wanted, 1]),
            ("kernel_shape", &[0, wanted]),
            ("strides", &[1]),
            ("strides", &[1, 1, 1]),
            ("strides", &[0, 1]),
            ("dilations", &[1]),
            ("dilations", &[0, 1]),
            ("pads", &[0, 0]),
            ("pads", &[0, 0, 0, 0, 0, 0]),
            ("pads", &[-1, 0, 0, 0]),
        ] {
            let refused = with(name, numbers);
            assert!(refused.is_err(), "{op}: {name} {numbers:?}: {refused:?}");
        }
        if is_pool {
            assert!(with("pads", &[1, 1, 1, 1]).is_ok());
            assert!(with("pads", &[2, 0, 0, 0]).is_err(), "{op}");
            continue;
        }
        let text = "kernel_shape of the weights";
        let attrs = [("kernel_shape", list(&[2, 3]))];
        refuses(op, version, &attrs, inputs, text);
        for groups in [0, 3, -1] {
            let attrs = [("group", Value::from(groups))];
            assert!(
                results(op, version, &attrs, inputs, 1).is_err(),
                "{op}: {groups}"
            );
        }
    }
}

#[test]
fn convolutions_that_contradict_themselves() {
    let x = || ones(&[1, 4, 6, 6]);
    let auto = |name: &'static str| ("auto_pad", Value::from(name));
    let pads = ("pads", list(&[1, 1, 1, 1]));
    for (op, weights) in [("Conv", [4, 4, 3, 3]), ("ConvTranspose", [4, 2, 3, 3])] {
        let inputs = [x(), ones(&weights)];
        refuses(
            op,
            11,
            &[auto("SAME_UPPER"), pads.clone()],
            &inputs,
            "got both",
        );
        refuses(op, 11, &[auto("SAME")], &inputs, "auto_pad");
        for bias in [&[1][..], &[3], &[2, 1], &[1, 4]] {
            let inputs = [x(), ones(&weights), ones(bias)];
            refuses(op, 11, &[], &inputs, "bias");
        }
    }
    let inputs = [x(), ones(&[4, 2, 3, 3])];
    let two = ("strides", list(&[2, 2]));
    let extra = |size: i64| ("output_padding", list(&[size, size]));
    refuses("ConvTranspose", 11, &[extra(1)], &inputs, "output_padding");
    refuses(
        "ConvTranspose",
        11,
        &[extra(2), two.clone()],
        &inputs,
        "output_padding",
    );
    assert!(results("ConvTranspose", 11, &[extra(1), two], &inputs, 1).is_ok());
    let out = |size: i64| ("output_shape", list(&[size, size]));
    refuses("ConvTranspose", 11, &[out(9)], &inputs, "output_shape");
    assert!(results("ConvTranspose", 11, &[out(7)], &inputs, 1).is_ok());
    let whole = ("output_shape", list(&[1, 2, 8, 8]));
    refuses(
        "ConvTranspose",
        11,
        &[whole],
        &inputs,
        "2 numbers in 'output_shape'",
    );
    let all = ("pads", list(&[4, 4, 4, 4]));
    refuses("ConvTranspose", 11, &[all], &inputs, "sizes above 0");
    refuses("Conv", 11, &[], &[ones(&[1, 4]), ones(&[4, 4])], "rank 3");
    let none = [("kernel_shape", list(&[]))];
    refuses("MaxPool", 12, &none, &[ones(&[1, 4])], "rank 3");
    for op in ["GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"] {
        for shape in [&[1, 4][..], &[4], &[]] {
            refuses(op, 2, &[], &[ones(shape)], "rank 3");
        }
        assert!(results(op, 2, &[], &[ones(&[1, 4, 0])], 1).is_err(), "{op}");
    }
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
