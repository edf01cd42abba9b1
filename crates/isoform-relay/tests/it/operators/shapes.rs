//! Relations of element-wise operators, shape operators and reductions.

use isoform::values::DType;
use isoform::{Ref, Value};
use isoform_relay::attrs::*;
use isoform_relay::{AsExpr, Tuple, op};

use crate::support::*;

#[test]
fn unary_operators_keep_the_type() {
    for make in [
        op::log,
        op::exp,
        op::sqrt,
        op::rsqrt,
        op::sigmoid,
        op::tanh,
        op::erf,
        op::floor,
        op::abs,
        op::negative,
        op::copy,
        op::zeros_like,
        op::ones_like,
        op::relu,
    ] {
        gives(make(v("f32[2,?,n]")), "f32[2,?,n]");
    }
    gives(op::logical_not(v("bool[]")), "bool[]");
    for make in [op::isnan, op::isfinite, op::isinf] {
        gives(make(v("f16[2,3]")), "bool[2,3]");
    }
    fails(
        op::exp(v("(f32[1]; f32[1])")),
        "argument 1: expected a tensor, got (Tensor[(1,), float32], Tensor[(1,), float32])",
    );
}

#[test]
fn binary_operators_broadcast() {
    let table = [
        ("f32[2,3]", "f32[2,3]", "f32[2,3]"),
        ("f32[2,3]", "f32[3]", "f32[2,3]"),
        ("f32[]", "f32[2,3]", "f32[2,3]"),
        ("f32[2,1,4]", "f32[3,1]", "f32[2,3,4]"),
        ("f32[0]", "f32[1]", "f32[0]"),
        ("f32[?]", "f32[3]", "f32[3]"),
        ("f32[?]", "f32[1]", "f32[?]"),
        ("f32[?]", "f32[?]", "f32[?]"),
        ("f32[n]", "f32[n]", "f32[n]"),
        ("f32[n]", "f32[1]", "f32[n]"),
        ("f32[?]", "f32[n]", "f32[n]"),
    ];
    for (left, right, expected) in table {
        gives(op::add(v(left), v(right)), expected);
        gives(op::maximum(v(right), v(left)), expected);
        gives(
            op::less(v(left), v(right)),
            &expected.replace("f32", "bool"),
        );
    }
    fails(
        op::multiply(v("f32[2,3]"), v("f32[2]")),
        "Incompatible broadcast type Tensor[(2, 3), float32] and Tensor[(2,), float32]",
    );
    fails(
        op::add(v("f32[n]"), v("f32[m]")),
        "Incompatible broadcast type",
    );
    fails(
        op::add(v("f32[n]"), v("f32[3]")),
        "Incompatible broadcast type",
    );
    fails(
        op::add(v("f32[1]"), v("i32[1]")),
        "data types float32 and int32 do not match in BroadcastRel",
    );
    fails(
        op::equal(v("f32[1]"), v("f16[1]")),
        "data types float32 and float16 do not match in BroadcastCompRel",
    );
}

#[test]
fn casts_and_likes() {
    gives(
        op::cast(v("f32[2,n]"), CastAttrs::new(DType::INT64)),
        "i64[2,n]",
    );
    fails(
        op::cast(v("f32[2]"), CastAttrs::new(DType::VOID)),
        "dtype: expected the data type",
    );
    gives(op::cast_like(v("f32[2]"), v("i8[7,7]")), "i8[2]");
    gives(op::full_like(v("f32[2]"), v("f32[]")), "f32[2]");
    fails(
        op::full_like(v("f32[2]"), v("f32[1]")),
        "Fill value should be a scalar but has dimension 1.",
    );
    gives(
        op::broadcast_to_like(v("f32[3]"), v("i32[2,3]")),
        "f32[2,3]",
    );
    fails(
        op::broadcast_to_like(v("f32[2]"), v("i32[2,3]")),
        "cannot broadcast a tensor of shape (2,) to the shape (2, 3)",
    );
    gives(op::collapse_sum_like(v("f32[2,3]"), v("f32[3]")), "f32[3]");
    fails(
        op::collapse_sum_like(v("f32[3]"), v("f32[2,3]")),
        "cannot broadcast",
    );
    let target = InitOpAttrs::new(sizes([4, 2, 3]));
    gives(op::broadcast_to(v("f32[2,1]"), &target), "f32[4,2,3]");
    fails(op::broadcast_to(v("f32[5]"), &target), "cannot broadcast");
    gives(
        op::collapse_sum_to(v("f32[9,4,2,3]"), &target),
        "f32[4,2,3]",
    );
}

#[test]
fn where_broadcasts_three_tensors() {
    gives(
        op::select(v("bool[2,1]"), v("f32[3]"), v("f32[]")),
        "f32[2,3]",
    );
    fails(
        op::select(v("bool[2]"), v("f32[3]"), v("f32[3]")),
        "Incompatible broadcast type",
    );
    fails(
        op::select(v("bool[]"), v("f32[3]"), v("f64[3]")),
        "x and y must have the same data type",
    );
}

fn reshaped(from: &str, newshape: &[i64]) -> Ref<isoform_relay::Call> {
    op::reshape(v(from), ReshapeAttrs::new(sizes(newshape.iter().copied())))
}

#[test]
fn reshape_codes() {
    gives(reshaped("f32[2,3,4]", &[6, 4]), "f32[6,4]");
    gives(reshaped("f32[2,3,4]", &[4, 0, 2]), "f32[4,3,2]");
    gives(reshaped("f32[2,3,4]", &[2, 0, 0]), "f32[2,3,4]");
    gives(reshaped("f32[2,3,4]", &[6, 1, -1]), "f32[6,1,4]");
    gives(reshaped("f32[2,3,4]", &[3, -1, 8]), "f32[3,1,8]");
    gives(reshaped("f32[2,3,4]", &[-1]), "f32[24]");
    gives(reshaped("f32[2,3,4]", &[-2]), "f32[2,3,4]");
    gives(reshaped("f32[2,3,4]", &[2, -2]), "f32[2,3,4]");
    gives(reshaped("f32[2,3,4]", &[-2, 1, 1]), "f32[2,3,4,1,1]");
    gives(reshaped("f32[2,3,4]", &[-3, 4]), "f32[6,4]");
    gives(reshaped("f32[2,3,4,5]", &[-3, -3]), "f32[6,20]");
    gives(reshaped("f32[2,3,4]", &[0, -3]), "f32[2,12]");
    gives(reshaped("f32[2,3,4]", &[-3, -2]), "f32[6,4]");
    gives(reshaped("f32[2,3,4]", &[-4, 1, 2, -2]), "f32[1,2,3,4]");
    gives(reshaped("f32[2,3,4]", &[2, -4, -1, 3, -2]), "f32[2,1,3,4]");
    gives(reshaped("f32[]", &[]), "f32[]");
    gives(reshaped("f32[]", &[1, 1]), "f32[1,1]");
    gives(reshaped("f32[0,3]", &[-1, 3]), "f32[0,3]");
    // Symbolic and unknown sizes.
    gives(reshaped("f32[n,3,4]", &[0, -1]), "f32[n,12]");
    gives(reshaped("f32[?,3,4]", &[0, -1]), "f32[?,12]");
    gives(reshaped("f32[?,3,4]", &[-1, 12]), "f32[?,12]");
    gives(reshaped("f32[n,4]", &[-4, -1, 1, 0]), "f32[n,1,4]");
}

#[test]
fn reshape_faults() {
    fails(
        reshaped("f32[2,3]", &[4]),
        "Input tensor shape(2, 3) and reshaped shape(4,) are not compatible",
    );
    fails(
        reshaped("f32[2,3]", &[-1, -1]),
        "only one size can be inferred, but -1 occurs twice",
    );
    fails(
        reshaped("f32[2,3]", &[-1, 4]),
        "the size for -1 cannot be inferred",
    );
    fails(
        reshaped("f32[0,3]", &[-1, 0, 0]),
        "the code 0 finds no more axes",
    );
    fails(reshaped("f32[2]", &[-3]), "the code -3 finds no more axes");
    fails(
        reshaped("f32[2]", &[-4, 2]),
        "the code -4 needs two sizes after it",
    );
    fails(
        reshaped("f32[2]", &[-4, -1, -1]),
        "at most one of the two sizes after -4 can be -1",
    );
    fails(
        reshaped("f32[2]", &[-4, 0, 2]),
        "the sizes after -4 must be positive",
    );
    fails(
        reshaped("f32[6]", &[-4, 4, -1]),
        "the size 6 cannot be split into 4 and -1",
    );
    fails(
        reshaped("f32[6]", &[-4, 2, 2]),
        "the size 6 cannot be split into 2 and 2",
    );
    fails(
        reshaped("f32[6]", &[-5]),
        "-5 is not a code: expected one from -4 to -1",
    );
    let zero = ReshapeAttrs::new(sizes([0, 3])).with_allowzero(true);
    gives(op::reshape(v("f32[5,0]"), &zero), "f32[0,3]");
    fails(op::reshape(v("f32[5,1]"), &zero), "are not compatible");
    let huge = ReshapeAttrs::new(sizes([-1]));
    fails(
        op::reshape(v("f32[9223372036854775807,2]"), huge),
        "too large",
    );
}

#[test]
fn reverse_reshape_applies_codes_from_the_right() {
    let reverse = |from: &str, newshape: &[i64], expected: &str| {
        let attrs = ReshapeAttrs::new(sizes(newshape.iter().copied()));
        gives(op::reverse_reshape(v(from), attrs), expected);
    };
    reverse("f32[10,5,4]", &[-1, 0], "f32[50,4]");
    reverse("f32[2,3,4]", &[-2, 4], "f32[2,3,4]");
    reverse("f32[2,3,4]", &[2, -3], "f32[2,12]");
    reverse("f32[2,6]", &[2, -4, 2, -1], "f32[2,2,3]");
    let attrs = ReshapeLikeAttrs::new()
        .with_lhs_begin(1)
        .with_rhs_begin(1)
        .with_rhs_end(size(3));
    gives(
        op::reshape_like(v("f32[2,12]"), v("f32[7,3,4,9]"), attrs),
        "f32[2,3,4]",
    );
    gives(
        op::reshape_like(v("f32[6]"), v("f32[2,3]"), ReshapeLikeAttrs::new()),
        "f32[2,3]",
    );
    fails(
        op::reshape_like(v("f32[6]"), v("f32[2,4]"), ReshapeLikeAttrs::new()),
        "are not compatible",
    );
    fails(
        op::reshape_like(
            v("f32[6]"),
            v("f32[2]"),
            ReshapeLikeAttrs::new().with_lhs_begin(2),
        ),
        "lhs_begin=2 is outside a shape with 1 dimensions",
    );
}

#[test]
fn axes_are_checked() {
    let transposed = |ty: &str, axes: &[i64]| {
        let axes = sizes(axes.iter().copied());
        op::transpose(v(ty), TransposeAttrs::new(Some(axes)))
    };
    gives(
        op::transpose(v("f32[2,3,n]"), TransposeAttrs::new(None)),
        "f32[n,3,2]",
    );
    gives(transposed("f32[2,3,4]", &[-1, 0, 1]), "f32[4,2,3]");
    gives(
        op::transpose(v("f32[]"), TransposeAttrs::new(None)),
        "f32[]",
    );
    fails(transposed("f32[2,3]", &[0, 0]), "names axis 0 twice");
    fails(transposed("f32[2,3]", &[0]), "expected all 2 axes");
    fails(
        transposed("f32[2,3]", &[0, 2]),
        "axes=2 is not an axis of a tensor with 2 dimensions: expected one from -2 to 1",
    );
    let squeeze = |axis: &[i64]| SqueezeAttrs::new().with_axis(sizes(axis.iter().copied()));
    gives(op::squeeze(v("f32[1,3,1]"), SqueezeAttrs::new()), "f32[3]");
    gives(op::squeeze(v("f32[1,3,1]"), squeeze(&[-1])), "f32[1,3]");
    gives(op::squeeze(v("f32[?,3]"), squeeze(&[0])), "f32[3]");
    fails(
        op::squeeze(v("f32[1,3]"), squeeze(&[1])),
        "expected an axis of size 1, got 3",
    );
    fails(
        op::squeeze(v("f32[?,3]"), SqueezeAttrs::new()),
        "the size ? in (?, 3) may be 1",
    );
    let expanded = |ty: &str, axis| op::expand_dims(v(ty), ExpandDimsAttrs::new(axis));
    gives(
        op::expand_dims(v("f32[2,3]"), ExpandDimsAttrs::new(1).with_num_newaxis(2)),
        "f32[2,1,1,3]",
    );
    gives(expanded("f32[2,3]", -1), "f32[2,3,1]");
    gives(expanded("f32[2,3]", -3), "f32[1,2,3]");
    fails(expanded("f32[2,3]", 3), "axis=3 is not an axis");
    fails(expanded("f32[2,3]", -4), "axis=-4 is not an axis");
    fails(
        op::expand_dims(v("f32[2]"), ExpandDimsAttrs::new(0).with_num_newaxis(-1)),
        "num_newaxis=-1",
    );
    gives(
        op::reverse(v("f32[2]"), ReverseAttrs::new().with_axis(size(-1))),
        "f32[2]",
    );
    fails(
        op::reverse(v("f32[2]"), ReverseAttrs::new()),
        "axis: expected an axis, got None",
    );
    gives(op::argsort(v("f32[2,3]"), ArgsortAttrs::new()), "i32[2,3]");
    fails(
        op::argsort(v("f32[]"), ArgsortAttrs::new()),
        "a tensor without axes has none",
    );
}

fn tuple(types: &[&str]) -> Ref<Tuple> {
    Tuple::new(types.iter().map(|ty| v(ty).expr()).collect::<Vec<_>>())
}

#[test]
fn joins_and_splits() {
    let axis = ConcatenateAttrs::new().with_axis(1);
    let joined = |types: &[&str]| op::concatenate(tuple(types), &axis);
    gives(joined(&["f32[2,3]", "f32[2,4]"]), "f32[2,7]");
    gives(joined(&["f32[?,3]", "f32[2,?]"]), "f32[2,?]");
    gives(
        op::concatenate(tuple(&["f32[2,3]"]), ConcatenateAttrs::new().with_axis(-1)),
        "f32[2,3]",
    );
    fails(
        joined(&["f32[2,3]", "f32[3,3]"]),
        "same shape on non-concatenating axes",
    );
    fails(joined(&["f32[2,3]", "f32[2]"]), "same ndim");
    fails(
        joined(&["f32[2,3]", "i32[2,3]"]),
        "same data type, got float32 and int32",
    );
    fails(joined(&[]), "at least one tensor, got an empty tuple");
    fails(
        op::concatenate(v("f32[2,3]"), &axis),
        "requires a tuple of tensors as the first argument, found Tensor[(2, 3), float32]",
    );
    fails(joined(&["f32[2]"]), "axis=1 is not an axis");
    gives(
        op::stack(
            tuple(&["f32[2,3]", "f32[2,3]"]),
            StackAttrs::new().with_axis(-1),
        ),
        "f32[2,3,2]",
    );
    fails(
        op::stack(tuple(&["f32[2,3]", "f32[2,4]"]), StackAttrs::new()),
        "stack requires all tensors to have the same shape",
    );
    gives(
        op::split(v("f32[6,2]"), SplitAttrs::new(3)),
        "(f32[2,2]; f32[2,2]; f32[2,2])",
    );
    let cut = |ty: &str, cuts: [i64; 2]| {
        let attrs = SplitAttrs::new(Value::from(cuts.to_vec())).with_axis(1);
        op::split(v(ty), attrs)
    };
    gives(cut("f32[2,9]", [2, 5]), "(f32[2,2]; f32[2,3]; f32[2,4])");
    gives(cut("f32[2,?]", [2, 5]), "(f32[2,2]; f32[2,3]; f32[2,?])");
    fails(
        op::split(v("f32[6]"), SplitAttrs::new(4)),
        "need to be able to divide input.shape[axis]: 4 does not divide 6",
    );
    fails(
        op::split(v("f32[6]"), SplitAttrs::new(0)),
        "expected a number of parts from 1",
    );
    fails(cut("f32[2,9]", [5, 2]), "need to be sorted ascending");
    fails(
        op::split(v("f32[6]"), SplitAttrs::new("x")),
        "expected an int or a sequence of int, got str",
    );
}

fn slice(begin: &[i64], end: &[i64], strides: &[i64]) -> Ref<StridedSliceAttrs> {
    let strides = (!strides.is_empty()).then(|| sizes(strides.iter().copied()));
    StridedSliceAttrs::new(
        sizes(begin.iter().copied()),
        sizes(end.iter().copied()),
        strides,
        None,
    )
}

#[test]
fn slices_are_those_of_python() {
    let sliced = |from: &str, begin: &[i64], end: &[i64], strides: &[i64]| {
        op::strided_slice(v(from), slice(begin, end, strides))
    };
    gives(sliced("f32[10,4]", &[1], &[8], &[2]), "f32[4,4]");
    gives(sliced("f32[10]", &[-3], &[100], &[]), "f32[3]");
    gives(sliced("f32[10]", &[9], &[-11], &[-1]), "f32[10]");
    gives(sliced("f32[10]", &[7], &[2], &[-2]), "f32[3]");
    gives(sliced("f32[10]", &[5], &[5], &[]), "f32[0]");
    gives(sliced("f32[0]", &[0], &[5], &[]), "f32[0]");
    gives(sliced("f32[?,4]", &[0, 1], &[2, 3], &[]), "f32[?,2]");
    gives(sliced("f32[n]", &[0], &[i64::MAX], &[]), "f32[n]");
    let by_size = slice(&[2, -2], &[3, -1], &[]).with_slice_mode("size");
    gives(op::strided_slice(v("f32[10,4]"), by_size), "f32[3,2]");
    let axes = slice(&[1], &[2], &[]).with_axes(sizes([-1]));
    gives(op::strided_slice(v("f32[10,4]"), axes), "f32[10,1]");
    fails(
        sliced("f32[10]", &[1, 1], &[2, 2], &[]),
        "expected one position for each of 1 axes, got 2",
    );
    fails(
        sliced("f32[10]", &[1], &[2], &[0]),
        "expected steps other than 0",
    );
    fails(
        sliced("f32[10]", &[1], &[2, 3], &[]),
        "the same number of sizes",
    );
    fails(
        op::strided_slice(v("f32[10]"), slice(&[1], &[2], &[]).with_slice_mode("x")),
        "expected 'end' or 'size', got 'x'",
    );
    let open = StridedSliceAttrs::new(None, None, None, None);
    fails(
        op::strided_slice(v("f32[10]"), open),
        "begin: expected a position for each axis, got None",
    );
}

#[test]
fn selection_by_index() {
    gives(
        op::take(v("f32[5,4]"), v("i32[2,3]"), TakeAttrs::new()),
        "f32[2,3]",
    );
    let axis = |axis: i64| TakeAttrs::new().with_axis(size(axis));
    let taken = |data: &str, indices: &str, number| op::take(v(data), v(indices), axis(number));
    gives(taken("f32[5,4]", "i32[2,3]", 0), "f32[2,3,4]");
    gives(taken("f32[5,4]", "i32[]", -1), "f32[5]");
    gives(
        op::take(v("f32[2,5,4]"), v("i64[2,3]"), axis(1).with_batch_dims(1)),
        "f32[2,3,4]",
    );
    fails(
        taken("f32[5]", "f32[2]", 0),
        "indices of take must be tensor of integer: got float32",
    );
    fails(taken("f32[5]", "i32[2]", 1), "axis=1 is not an axis");
    fails(
        op::take(v("f32[5]"), v("i32[2]"), axis(0).with_mode("x")),
        "expected 'clip', 'wrap' or 'fast'",
    );
    fails(
        op::take(v("f32[2,5]"), v("i32[3,3]"), axis(1).with_batch_dims(1)),
        "axis 0 is 2 and 3",
    );
    fails(
        op::take(v("f32[2,5]"), v("i32[2,3]"), axis(0).with_batch_dims(1)),
        "expected at most axis=0",
    );
    let gather = GatherAttrs::new().with_axis(size(1));
    let gathered = |data: &str, indices: &str| op::gather(v(data), v(indices), &gather);
    gives(gathered("f32[2,5]", "i64[2,9]"), "f32[2,9]");
    fails(
        gathered("f32[2,5]", "i64[3,9]"),
        "agrees with (2, 5) except on axis 1, got (3, 9)",
    );
    fails(
        gathered("f32[2,5]", "i64[2]"),
        "expected a tensor with 2 dimensions",
    );
    gives(
        op::gather_nd(v("f32[2,5,7]"), v("i64[2,9]"), GatherNDAttrs::new()),
        "f32[9,7]",
    );
    gives(
        op::gather_nd(
            v("f32[3,5,7]"),
            v("i64[1,3]"),
            GatherNDAttrs::new().with_batch_dims(1),
        ),
        "f32[3,7]",
    );
    gives(
        op::gather_nd(
            v("f32[2,5]"),
            v("i64[?,9]"),
            GatherNDAttrs::new().with_index_rank(size(1)),
        ),
        "f32[9,5]",
    );
    fails(
        op::gather_nd(v("f32[2]"), v("i64[2,9]"), GatherNDAttrs::new()),
        "indices of at most 1 axes",
    );
    fails(
        op::gather_nd(v("f32[2]"), v("i64[?,9]"), GatherNDAttrs::new()),
        "index_rank: expected the length",
    );
}

#[test]
fn new_tensors() {
    let full = |ty: &str, attrs: &Ref<InitOpAttrs>| op::full(v(ty), attrs);
    let attrs = InitOpAttrs::new(sizes([2, 3]));
    gives(full("f64[]", &attrs), "f64[2,3]");
    gives(full("f64[]", &attrs.with_dtype(DType::INT32)), "i32[2,3]");
    fails(
        full("f64[2]", &attrs),
        "Fill value should be a scalar but has dimension 1.",
    );
    gives(op::zeros(attrs.with_dtype(DType::FLOAT32)), "f32[2,3]");
    fails(
        op::ones(&attrs),
        "dtype: expected the data type of the elements, got void",
    );
    fails(
        full("f64[]", &InitOpAttrs::new(sizes([-1]))),
        "expected sizes from 0, got -1",
    );
    fails(
        full("f64[]", &InitOpAttrs::new(None)),
        "shape: expected the sizes of the result",
    );
    let number = |value: f32| constant(&floats(&[], &[value]));
    let arange = |start: f32, stop: f32, step: f32| {
        let [start, stop, step] = [start, stop, step].map(number);
        let attrs = ArangeAttrs::new(&start, &stop, &step, DType::FLOAT32);
        op::arange(start, stop, step, attrs)
    };
    gives(arange(0.0, 5.0, 2.0), "f32[3]");
    gives(arange(5.0, 0.0, -1.0), "f32[5]");
    gives(arange(5.0, 9.0, -1.0), "f32[0]");
    fails(
        arange(5.0, 9.0, 0.0),
        "step: expected a number other than 0",
    );
    fails(arange(5.0, f32::INFINITY, 1.0), "are not finite");
    let (zero, x) = (number(0.0), v("f32[]"));
    let attrs = ArangeAttrs::new(&zero, &x, &zero, DType::INT64);
    fails(
        op::arange(&zero, &x, &zero, attrs),
        "step: expected a number other than 0",
    );
    let one = number(1.0);
    let attrs = ArangeAttrs::new(&zero, &x, &one, DType::INT64);
    gives(op::arange(&zero, &x, &one, attrs), "i64[?]");
}

#[test]
fn repetition_and_layouts() {
    gives(
        op::repeat(v("f32[2,3]"), RepeatAttrs::new(size(2)).with_axis(size(-1))),
        "f32[2,6]",
    );
    gives(
        op::repeat(v("f32[2,3]"), RepeatAttrs::new(size(2))),
        "f32[12]",
    );
    fails(
        op::repeat(v("f32[2]"), RepeatAttrs::new(size(-1))),
        "repeats=-1: expected a number from 0",
    );
    gives(
        op::tile(v("f32[2,3]"), TileAttrs::new(sizes([2, 1, 3]))),
        "f32[2,2,9]",
    );
    gives(op::clip(v("f32[2]"), ClipAttrs::new(0.0, 6.0)), "f32[2]");
    gives(op::shape_of(v("f32[2,?]"), ShapeOfAttrs::new()), "i32[2]");
    gives(
        op::shape_of(v("f32[]"), ShapeOfAttrs::new().with_dtype(DType::INT64)),
        "i64[0]",
    );
    gives(
        op::ndarray_size(v("f32[2,?]"), NdarraySizeAttrs::new()),
        "i32[]",
    );
    let hot = OneHotAttrs::new().with_depth(7);
    gives(
        op::one_hot(v("i32[2]"), v("f32[]"), v("f32[]"), &hot),
        "f32[2,7]",
    );
    gives(
        op::one_hot(v("i32[2]"), v("f32[]"), v("f32[]"), hot.with_axis(0)),
        "f32[7,2]",
    );
    fails(
        op::one_hot(v("i32[2]"), v("f32[1]"), v("f32[]"), &hot),
        "on_value: expected a tensor with 0 dimensions",
    );
    fails(
        op::one_hot(v("i32[2]"), v("f32[]"), v("f32[]"), hot.with_depth(0)),
        "depth=0",
    );
    let layout = |ty: &str, from: &str, to: &str| {
        op::layout_transform(v(ty), LayoutTransformAttrs::new(from, to))
    };
    gives(layout("f32[1,8,5,6]", "NCHW", "NHWC"), "f32[1,5,6,8]");
    gives(layout("f32[1,8,5,6]", "NCHW", "NCHW4c"), "f32[1,2,5,6,4]");
    gives(layout("f32[1,2,5,6,4]", "NCHW4c", "NCHW"), "f32[1,8,5,6]");
    fails(
        layout("f32[1,6,5,6]", "NCHW", "NCHW4c"),
        "is not divisible by 4",
    );
    fails(
        layout("f32[1,2,5,6,8]", "NCHW4c", "NCHW"),
        "the block of C has size 8",
    );
    fails(layout("f32[1,6]", "NC", "NH"), "they have different axes");
    fails(layout("f32[1,6]", "Nc", "NC"), "a letter does not fit");
    fails(layout("f32[1,6]", "NN", "NN"), "a letter occurs twice");
    fails(
        layout("f32[1]", "NC", "CN"),
        "expected a tensor with 2 dimensions",
    );
}

#[test]
fn reductions() {
    let axis = |axis: &[i64]| ReduceAttrs::new().with_axis(sizes(axis.iter().copied()));
    for make in [op::sum, op::max, op::min, op::mean, op::prod] {
        let plain: Ref<isoform_relay::Call> = make(v("f32[2,3,n]"), ReduceAttrs::new());
        gives(plain, "f32[]");
    }
    gives(op::all(v("bool[2,3]"), axis(&[0])), "bool[3]");
    gives(op::any(v("bool[2,3]"), axis(&[-1])), "bool[2]");
    gives(op::sum(v("f32[2,3,n]"), axis(&[0, -1])), "f32[3]");
    gives(
        op::sum(v("f32[2,3,n]"), axis(&[1]).with_keepdims(true)),
        "f32[2,1,n]",
    );
    gives(
        op::sum(v("f32[2,3,n]"), axis(&[1]).with_exclude(true)),
        "f32[3]",
    );
    gives(op::sum(v("f32[2,3]"), axis(&[])), "f32[2,3]");
    fails(op::sum(v("f32[2,3]"), axis(&[2])), "axis=2 is not an axis");
    fails(op::sum(v("f32[2,3]"), axis(&[0, -2])), "names axis 0 twice");
    let arg = ArgReduceAttrs::new().with_axis(sizes([1]));
    gives(op::argmax(v("f32[2,3]"), &arg), "i32[2]");
    gives(
        op::argmin(v("f32[2,3]"), arg.with_keepdims(true)),
        "i32[2,1]",
    );
    let variance = VarianceAttrs::new().with_axis(sizes([1]));
    gives(op::variance(v("f32[2,3]"), v("f32[2]"), variance), "f32[2]");
}
