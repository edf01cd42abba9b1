//! Expressions to which a rule applies, and similar expressions to which the rule does not apply.

use isoform::Ref;
use isoform::values::DType;
use isoform_relay::attrs;
use isoform_relay::attrs::{
    CastAttrs, ClipAttrs, InitOpAttrs, LayoutTransformAttrs, ReshapeAttrs, TransposeAttrs, sizes,
};
use isoform_relay::{AsExpr, op};
use isoform_relay::{Call, Function, Var};

use crate::simplify::*;
use crate::support::*;

fn init(shape: &[i64], dtype: DType) -> Ref<InitOpAttrs> {
    InitOpAttrs::new(Some(sizes(shape.iter().copied()))).with_dtype(dtype)
}

fn cast(x: &Expr, dtype: DType) -> Expr {
    op::cast(x, CastAttrs::new(dtype)).expr()
}

fn clip(x: &Expr, min: f64, max: f64) -> Expr {
    op::clip(x, ClipAttrs::new(min, max)).expr()
}

fn reshape(x: &Expr, shape: &[i64]) -> Expr {
    op::reshape(x, ReshapeAttrs::new(sizes(shape.iter().copied()))).expr()
}

fn transpose(x: &Expr, axes: &[i64]) -> Expr {
    let axes = sizes(axes.iter().copied());
    op::transpose(x, TransposeAttrs::new(Some(axes))).expr()
}

fn layout(x: &Expr, from: &str, to: &str) -> Expr {
    op::layout_transform(x, LayoutTransformAttrs::new(from, to)).expr()
}

#[test]
fn like_operators_become_static() {
    let x = v("f32[2,3]");
    let y = v("i32[3,2]");
    let fill = number(1.5, F32);
    let check = |rule: &str, call: Ref<Call>, expected: Ref<Call>| {
        applies(rule, &func([&x, &y], call), &func([&x, &y], expected));
    };
    check(
        "zeros_like",
        op::zeros_like(&x),
        op::zeros(init(&[2, 3], F32)),
    );
    check("ones_like", op::ones_like(&y), op::ones(init(&[3, 2], I32)));
    check(
        "full_like",
        op::full_like(&x, &fill),
        op::full(&fill, init(&[2, 3], F32)),
    );
    let like = attrs::ReshapeLikeAttrs::new();
    check(
        "reshape_like",
        op::reshape_like(&x, &y, like),
        op::reshape(&x, ReshapeAttrs::new(sizes([3, 2]))),
    );
    check(
        "cast_like",
        op::cast_like(&y, &x),
        op::cast(&y, CastAttrs::new(F32)),
    );
    let row = v("f32[3]");
    let check = |rule: &str, call: Ref<Call>, expected: Ref<Call>| {
        applies(rule, &func([&x, &row], call), &func([&x, &row], expected));
    };
    check(
        "collapse_sum_like",
        op::collapse_sum_like(&x, &row),
        op::collapse_sum_to(&x, init(&[3], DType::VOID)),
    );
    check(
        "broadcast_to_like",
        op::broadcast_to_like(&row, &x),
        op::broadcast_to(&row, init(&[2, 3], DType::VOID)),
    );
}

#[test]
fn like_operators_of_unknown_sizes_stay() {
    let x = v("f32[?,3]");
    let y = v("i32[?]");
    stays(&func([&x], op::zeros_like(&x)));
    stays(&func([&x], op::ones_like(&x)));
    stays(&func([&x], op::full_like(&x, number(1.0, F32))));
    let like = attrs::ReshapeLikeAttrs::new();
    stays(&func([&x, &y], op::reshape_like(&x, &y, like)));
    stays(&func([&x], op::collapse_sum_like(&x, &x)));
    stays(&func([&x], op::broadcast_to_like(&x, &x)));
    // Only the data type counts for a cast.
    let expected = op::cast(&x, CastAttrs::new(I32));
    applies(
        "cast_like",
        &func([&x, &y], op::cast_like(&x, &y)),
        &func([&x, &y], expected),
    );
}

#[test]
fn zero_sizes_are_not_taken_for_copies() {
    let x = v("f32[0,3]");
    let y = v("f32[3,0]");
    let like = op::reshape_like(&x, &y, attrs::ReshapeLikeAttrs::new());
    let attrs = ReshapeAttrs::new(sizes([3, 0])).with_allowzero(true);
    let expected = op::reshape(&x, attrs);
    applies(
        "reshape_like",
        &func([&x, &y], like),
        &func([&x, &y], &expected),
    );
    let to = |x: &Expr, shape: [i64; 2]| {
        let attrs = ReshapeAttrs::new(sizes(shape)).with_allowzero(true);
        op::reshape(x, attrs).expr()
    };
    let twice = to(&to(&x.expr(), [3, 0]), [0, 5]);
    applies(
        "reshape_reshape",
        &func([&x], twice),
        &func([&x], to(&x.expr(), [0, 5])),
    );
}

#[test]
fn x_plus_x_is_a_product() {
    for dtype in [F32, I32, I8, U8, F16, BF16, DType::FLOAT64] {
        let x = tensor_var(&[4], dtype);
        let expected = op::multiply(&x, number(2.0, dtype));
        applies(
            "add_itself",
            &func([&x], op::add(&x, &x)),
            &func([&x], expected),
        );
    }
    // The same expression, not an equal one.
    let x = v("f32[4]");
    let tanh = || op::tanh(&x);
    stays(&func([&x], op::add(tanh(), tanh())));
    let b = v("bool[4]");
    stays(&func([&b], op::add(&b, &b)));
    // Items of a tuple are equal if they are the same item.
    let parts = op::split(&x, attrs::SplitAttrs::new(2));
    let item = |index| isoform_relay::TupleGetItem::new(&parts, index);
    let expected = op::multiply(item(1), number(2.0, F32));
    applies(
        "add_itself",
        &func([&x], op::add(item(1), item(1))),
        &func([&x], expected),
    );
    stays(&func([&x], op::add(item(0), item(1))));
}

#[test]
fn division_by_a_root_is_a_product() {
    let [x, y] = [0, 1].map(|_| v("f32[3]"));
    let program = func([&x, &y], op::divide(&x, op::sqrt(op::abs(&y))));
    let expected = op::multiply(&x, op::rsqrt(op::abs(&y)));
    applies("divide_by_sqrt", &program, &func([&x, &y], expected));
    stays(&func([&x, &y], op::divide(op::sqrt(&y), &x)));
    // A root with another use would be computed in addition to its reciprocal.
    let root = op::sqrt(&y);
    stays(&func([&x, &y], op::multiply(op::divide(&x, &root), &root)));
}

#[test]
fn zeros_and_ones_are_neutral() {
    let x = v("f32[2,3]");
    let same = |rule: &str, call: Ref<Call>| {
        applies(rule, &func([&x], call), &func([&x], &x));
    };
    let zeros = || op::zeros(init(&[2, 3], F32));
    let ones = || op::ones(init(&[3], F32));
    let [zero, minus, one] = [0.0, -0.0, 1.0].map(|value| number(value, F32));
    same("add_zero", op::add(&x, &zero));
    same("add_zero", op::add(&zero, &x));
    same("add_zero", op::add(&x, zeros()));
    same("add_zero", op::add(op::full(&zero, init(&[3], F32)), &x));
    same(
        "add_zero",
        op::add(&x, constant(&tensor(&[0.0], &[1, 1], F32))),
    );
    same("add_negative_zero", op::add(&x, &minus));
    same("subtract_zero", op::subtract(&x, &zero));
    same("subtract_zero", op::subtract(&x, zeros()));
    same("subtract_negative_zero", op::subtract(&x, &minus));
    same("multiply_one", op::multiply(&x, &one));
    same("multiply_one", op::multiply(ones(), &x));
    same("divide_one", op::divide(&x, &one));
    same("divide_one", op::divide(&x, ones()));
    let i = v("i32[2]");
    let same = |rule: &str, call: Ref<Call>| {
        applies(rule, &func([&i], call), &func([&i], &i));
    };
    same("add_zero", op::add(&i, number(0.0, I32)));
    same("subtract_zero", op::subtract(&i, number(0.0, I32)));
    same("multiply_one", op::multiply(&i, number(1.0, I32)));
    same("divide_one", op::divide(&i, number(1.0, I32)));
}

#[test]
fn what_is_not_neutral_stays() {
    let x = v("f32[3]");
    let [zero, one] = [0.0, 1.0].map(|value| number(value, F32));
    stays(&func([&x], op::subtract(&zero, &x)));
    stays(&func([&x], op::divide(&one, &x)));
    stays(&func([&x], op::multiply(&x, &zero)));
    stays(&func([&x], op::add(&x, &one)));
    stays(&func(
        [&x],
        op::add(&x, constant(&tensor(&[0.0, 1.0, 0.0], &[3], F32))),
    ));
    // The shape of the result comes from the zeros.
    let zeros = op::zeros(init(&[2, 3], F32));
    avoids("add_zero", &func([&x], op::add(&x, zeros)));
    avoids(
        "add_zero",
        &func([&x], op::add(&x, constant(&tensor(&[0.0], &[1, 1], F32)))),
    );
}

#[test]
fn unknown_sizes_keep_what_may_widen_them() {
    let any = v("f32[?]");
    let other = v("f32[?]");
    // The sizes of both are unknown, and x may be repeated to that of the zeros.
    avoids(
        "add_zero",
        &func([&any, &other], op::add(&any, op::zeros_like(&other))),
    );
    avoids(
        "add_zero",
        &func([&any], op::add(&any, op::zeros(init(&[3], F32)))),
    );
    let scalar = op::add(&any, number(0.0, F32));
    applies("add_zero", &func([&any], scalar), &func([&any], &any));
    let vector = v("f32[3]");
    let program = op::add(&vector, op::zeros_like(&any));
    applies(
        "add_zero",
        &func([&vector, &any], program),
        &func([&vector, &any], &vector),
    );
}

#[test]
fn reshapes_after_each_other_are_one() {
    let x = v("f32[2,6]");
    let reverse = |x: &Expr, shape: &[i64]| {
        let attrs = ReshapeAttrs::new(sizes(shape.iter().copied()));
        op::reverse_reshape(x, attrs).expr()
    };
    let expected = func([&x], reshape(&x.expr(), &[4, 3]));
    let x1 = x.expr();
    for program in [
        reshape(&reshape(&x1, &[3, 4]), &[4, -1]),
        reshape(&reverse(&x1, &[3, -1]), &[4, 3]),
        reverse(&reshape(&x1, &[12]), &[-1, 3]),
        reverse(&reverse(&x1, &[12]), &[-1, 3]),
        reshape(&reshape(&reshape(&x1, &[-1]), &[2, 2, 3]), &[-3, 0]),
    ] {
        applies("reshape_reshape", &func([&x], program), &expected);
    }
    stays(&func([&x], reshape(&x1, &[4, 3])));
    // An unknown shape has no literals.
    let any = v("f32[?,6]");
    stays(&func(
        [&any],
        reshape(&reshape(&any.expr(), &[-1, 3]), &[-1, 2]),
    ));
    // The inner operator refuses an odd number of elements, where the outer operator sees
    // 12 elements.
    let unknown = v("f32[?,?]");
    stays(&func(
        [&unknown],
        reshape(&reshape(&unknown.expr(), &[0, -1, 2]), &[12]),
    ));
    applies(
        "reshape_reshape",
        &func([&unknown], reshape(&reshape(&unknown.expr(), &[-1]), &[12])),
        &func([&unknown], reshape(&unknown.expr(), &[12])),
    );
    let shared = reshape(&x1, &[12]);
    let both = op::add(
        reshape(&shared, &[3, 4]),
        reshape(&op::tanh(&shared).expr(), &[3, 4]),
    );
    let alone = op::add(
        reshape(&x1, &[3, 4]),
        reshape(&op::tanh(shared).expr(), &[3, 4]),
    );
    applies("reshape_reshape", &func([&x], both), &func([&x], alone));
}

#[test]
fn transpositions_after_each_other_are_one() {
    let x = v("f32[2,3,4]");
    let x1 = x.expr();
    let default = |x: &Expr| op::transpose(x, TransposeAttrs::new(None)).expr();
    let twice = transpose(&transpose(&x1, &[1, 2, 0]), &[1, 0, -1]);
    applies(
        "transpose_transpose",
        &func([&x], twice),
        &func([&x], transpose(&x1, &[2, 1, 0])),
    );
    for back in [
        default(&default(&x1)),
        transpose(&transpose(&x1, &[1, 2, 0]), &[2, 0, 1]),
    ] {
        applies("transpose_transpose", &func([&x], back), &func([&x], &x));
    }
    let mixed = layout(&transpose(&x1, &[0, 2, 1]), "ABC", "CAB");
    applies(
        "transpose_transpose",
        &func([&x], mixed),
        &func([&x], transpose(&x1, &[1, 0, 2])),
    );
    let any = v("f32[?,3]");
    let twice = default(&default(&any.expr()));
    applies(
        "transpose_transpose",
        &func([&any], twice),
        &func([&any], &any),
    );
    stays(&func([&x], transpose(&x1, &[1, 0, 2])));
}

#[test]
fn layouts_after_each_other_are_one() {
    let x = v("f32[2,8,3,3]");
    let x1 = x.expr();
    let blocked = layout(&x1, "NCHW", "NCHW4c");
    let check = |rule: &str, program: Expr, expected: Expr| {
        applies(rule, &func([&x], program), &func([&x], expected));
    };
    check(
        "transpose_transpose",
        layout(&blocked, "NCHW4c", "NCHW"),
        x1.clone(),
    );
    check(
        "transpose_transpose",
        layout(&blocked, "NCHW4c", "NHWC"),
        layout(&x1, "NCHW", "NHWC"),
    );
    check("transpose_nothing", layout(&x1, "NCHW", "NCHW"), x1.clone());
    // With a permutation before or after, whose axes are the letters of a plain side.
    check(
        "transpose_transpose",
        layout(&transpose(&x1, &[0, 3, 1, 2]), "NCHW", "NCHW3c"),
        layout(&x1, "NHWC", "NCHW3c"),
    );
    let blocks = v("f32[2,2,3,3,4]");
    applies(
        "transpose_transpose",
        &func(
            [&blocks],
            transpose(&layout(&blocks.expr(), "NCHW4c", "NCHW"), &[0, 2, 3, 1]),
        ),
        &func([&blocks], layout(&blocks.expr(), "NCHW4c", "NHWC")),
    );
    stays(&func([&x], transpose(&blocked, &[0, 2, 3, 1, 4])));
    // An unknown size may not be divisible.
    let any = v("f32[2,?,3,3]");
    let blocked = layout(&any.expr(), "NCHW", "NCHW4c");
    stays(&func([&any], layout(&blocked, "NCHW4c", "NCHW")));
}

#[test]
fn a_transposition_that_moves_nothing_is_dropped() {
    let x = v("f32[2,3]");
    let y = v("f32[5]");
    let none = op::transpose(&y, TransposeAttrs::new(None));
    applies("transpose_nothing", &func([&y], none), &func([&y], &y));
    let kept = transpose(&x.expr(), &[0, -1]);
    applies("transpose_nothing", &func([&x], kept), &func([&x], &x));
    stays(&func([&x], transpose(&x.expr(), &[1, 0])));
    let square = v("f32[3,3]");
    stays(&func([&square], transpose(&square.expr(), &[1, 0])));
}

#[test]
fn a_cast_to_the_same_type_is_dropped() {
    let x = v("f32[?]");
    applies(
        "cast_same",
        &func([&x], cast(&x.expr(), F32)),
        &func([&x], &x),
    );
    stays(&func([&x], cast(&x.expr(), F16)));
}

/// Casts over a type and on, with what a single cast would do.
#[test]
fn casts_over_a_type_with_all_values_are_one() {
    let f64 = DType::FLOAT64;
    for (first, middle, last) in [
        (I8, I32, F32),
        (U8, I16, I8),
        (U8, F16, I32),
        (U8, BF16, F32),
        (I8, BF16, I32),
        (I16, F32, F16),
        (I32, f64, F32),
        (F16, F32, f64),
        (BF16, F32, F16),
        (F32, f64, BF16),
        (BOOL, F32, I32),
        (BOOL, I8, F32),
        (I32, f64, BOOL),
        // Bits missing in the last type.
        (DType::INT64, I32, I8),
        (I8, U16, I16),
        (I8, U8, I8),
    ] {
        let x = tensor_var(&[6], first);
        let program = func([&x], cast(&cast(&x.expr(), middle), last));
        let expected = if first == last {
            func([&x], &x)
        } else {
            func([&x], cast(&x.expr(), last))
        };
        applies("cast_cast", &program, &expected);
    }
}

#[test]
fn casts_that_change_values_stay() {
    let f64 = DType::FLOAT64;
    for (first, middle, last) in [
        (I8, U8, I16),
        (I8, U16, I32),
        (I32, F32, I32),
        (DType::INT64, f64, DType::INT64),
        (I16, F16, I16),
        (U16, BF16, F32),
        (F16, BF16, F32),
        (BF16, F16, F32),
        (F32, F16, F32),
        (F32, I32, F32),
        (f64, F32, f64),
        (I32, BOOL, I32),
        (I32, I8, I32),
        (I32, I8, F32),
        // By way of floats, integers out of range are refused; directly, they wrap around.
        (I32, f64, I8),
        (I8, F32, U8),
        (U8, F32, I8),
    ] {
        let x = tensor_var(&[6], first);
        stays(&func([&x], cast(&cast(&x.expr(), middle), last)));
    }
}

#[test]
fn uniform_operands_are_scalars() {
    let x = v("f32[2,3]");
    let half = number(0.5, F32);
    let full = || op::full(&half, init(&[2, 3], F32));
    let check = |rule: &str, call: Ref<Call>, expected: Ref<Call>| {
        applies(rule, &func([&x], call), &func([&x], expected));
    };
    check("uniform_right", op::power(&x, full()), op::power(&x, &half));
    check(
        "uniform_left",
        op::subtract(full(), &x),
        op::subtract(&half, &x),
    );
    let ones = op::ones(init(&[3], F32));
    check(
        "uniform_right",
        op::maximum(&x, ones),
        op::maximum(&x, number(1.0, F32)),
    );
    check("uniform_right", op::less(&x, full()), op::less(&x, &half));
    let like = op::zeros_like(&x);
    check(
        "uniform_left",
        op::minimum(like, &x),
        op::minimum(number(0.0, F32), &x),
    );
    // The other operand is repeated to the shape of the full operand.
    let row = v("f32[3]");
    stays(&func([&row], op::maximum(&row, full())));
    stays(&func([&x, &row], op::maximum(&x, &row)));
    // A constant tensor stays what it is.
    stays(&func(
        [&x],
        op::maximum(&x, constant(&tensor(&[1.0; 3], &[3], F32))),
    ));
}

#[test]
fn sums_are_multiplied_out_with_constants() {
    for dtype in [F32, I32] {
        let x = tensor_var(&[3], dtype);
        let [two, three, six] = [2.0, 3.0, 6.0].map(|value| number(value, dtype));
        let expected = func([&x], op::add(op::multiply(&x, &three), &six));
        for program in [
            op::multiply(op::add(&x, &two), &three),
            op::multiply(&three, op::add(&x, &two)),
            op::multiply(op::add(&two, &x), &three),
            op::multiply(&three, op::add(&two, &x)),
        ] {
            applies("add_multiply", &func([&x], program), &expected);
        }
    }
    let x = v("f32[3]");
    let [two, three] = [2.0, 3.0].map(|value| number(value, F32));
    // The sum is needed anyway.
    let sum = op::add(&x, &two);
    stays(&func([&x], op::subtract(op::multiply(&sum, &three), &sum)));
    // The constant makes the result larger than the sum.
    let column = constant(&tensor(&[1.0, 2.0], &[2, 1], F32));
    stays(&func([&x], op::multiply(op::add(&x, &two), column)));
}

#[test]
fn constants_after_each_other_are_one() {
    type Binary = fn(&Expr, &Expr) -> Ref<Call>;
    let operators: [(&str, Binary, f64); 2] = [
        ("multiply_multiply", |x, y| op::multiply(x, y), 6.0),
        ("add_add", |x, y| op::add(x, y), 5.0),
    ];
    for (rule, make, result) in operators {
        for dtype in [F32, I32, U8, F16, BF16] {
            let x = tensor_var(&[3], dtype);
            let [two, three, both] = [2.0, 3.0, result].map(|value| number(value, dtype));
            let x1 = x.expr();
            let expected = func([&x], make(&x1, &both));
            for inner in [make(&x1, &two), make(&two, &x1)] {
                let inner = inner.expr();
                applies(rule, &func([&x], make(&inner, &three)), &expected);
                applies(rule, &func([&x], make(&three, &inner)), &expected);
            }
            // Something else uses the inner call.
            let inner = make(&x1, &two).expr();
            let shared = op::maximum(make(&inner, &three), inner);
            stays(&func([&x], shared));
        }
    }
}

#[test]
fn constants_are_combined_only_where_that_is_sound() {
    let x = v("f32[2,3]");
    // Both factors are finite, their product is not: 0 would become NaN.
    let large = number(1e30, F32);
    stays(&func([&x], op::multiply(op::multiply(&x, &large), &large)));
    let small = number(1e-30, F32);
    stays(&func([&x], op::multiply(op::multiply(&x, &small), &small)));
    let huge = number(3e38, F32);
    stays(&func([&x], op::add(op::add(&x, &huge), &huge)));
    let infinite = number(f64::INFINITY, F32);
    stays(&func(
        [&x],
        op::multiply(op::multiply(&x, &infinite), number(2.0, F32)),
    ));
    // The outer product of two constants is larger than both.
    let row = constant(&tensor(&[1.0, 2.0, 3.0], &[3], F32));
    let column = constant(&tensor(&[4.0, 5.0], &[2, 1], F32));
    stays(&func([&x], op::multiply(op::multiply(&x, &row), &column)));
    // All three are constants: a case for constant folding.
    let [two, three] = [2.0, 3.0].map(|value| number(value, F32));
    stays(&func([], op::add(op::add(&two, &three), &two)));
    // Integers wrap around, with and without the rule.
    let i = v("i8[3]");
    let factor = number(100.0, I8);
    let program = op::multiply(op::multiply(&i, &factor), &factor);
    let expected = op::multiply(&i, number(16.0, I8));
    applies(
        "multiply_multiply",
        &func([&i], program),
        &func([&i], expected),
    );
}

#[test]
fn casts_after_a_clip_that_fits_are_dropped() {
    let x = v("i32[6]");
    let x1 = x.expr();
    let clipped = clip(&x1, -128.0, 127.0);
    let check = |program: Expr, expected: &Expr| {
        applies(
            "clip_cast_cast",
            &func([&x], program),
            &func([&x], expected),
        );
    };
    check(cast(&cast(&clipped, I8), I32), &clipped);
    check(cast(&cast(&clipped, I8), F32), &cast(&clipped, F32));
    check(cast(&cast(&clipped, F16), I32), &clipped);
    let bytes = clip(&x1, 0.0, 255.0);
    check(cast(&cast(&bytes, U8), I32), &bytes);
    check(cast(&cast(&bytes, BF16), I32), &bytes);
    let bit = clip(&x1, 0.0, 1.0);
    check(cast(&cast(&bit, BOOL), I32), &bit);
    for (clipped, middle) in [
        (clip(&x1, -128.0, 128.0), I8),
        (clip(&x1, -129.0, 127.0), I8),
        (clip(&x1, -1.0, 127.0), U8),
        (clip(&x1, 0.0, 256.0), U8),
        (clip(&x1, 0.0, 2049.0), F16),
        (clip(&x1, 0.0, 257.0), BF16),
        (clip(&x1, 0.0, 2.0), BOOL),
        (clip(&x1, 1.0, 0.0), I8),
    ] {
        stays(&func([&x], cast(&cast(&clipped, middle), I32)));
    }
    // By way of floats, integers out of range are refused.
    let wide = clip(&x1, 0.0, 1000.0);
    stays(&func([&x], cast(&cast(&wide, F32), I8)));
    check(cast(&cast(&wide, F32), I16), &cast(&wide, I16));
    // A cast of floats to integers drops digits.
    let y = v("f32[6]");
    let clipped = clip(&y.expr(), -128.0, 127.0);
    stays(&func([&y], cast(&cast(&clipped, I8), F32)));
    applies(
        "clip_cast_cast",
        &func([&y], cast(&cast(&clipped, I8), I32)),
        &func([&y], cast(&clipped, I32)),
    );
    for (clipped, middle, last) in [
        (&clipped, I16, U8),
        (&clipped, U8, I32),
        (&clipped, BOOL, I32),
        (&clip(&y.expr(), -128.5, 127.0), I8, I32),
    ] {
        stays(&func([&y], cast(&cast(clipped, middle), last)));
    }
}

#[test]
fn a_clip_to_everything_is_dropped() {
    let infinity = f64::INFINITY;
    for (dtype, min, max) in [
        (I8, -128.0, 127.0),
        (U8, -1.0, 255.0),
        (I32, -2_147_483_648.0, 2_147_483_647.0),
        (DType::INT64, -9.3e18, 9.3e18),
        (
            DType::new(DTypeCode::UInt, 64),
            0.0,
            18_446_744_073_709_551_616.0,
        ),
        (F32, -infinity, infinity),
        (F16, -infinity, infinity),
    ] {
        let x = tensor_var(&[6], dtype);
        applies(
            "clip_everything",
            &func([&x], clip(&x.expr(), min, max)),
            &func([&x], &x),
        );
    }
    for (dtype, min, max) in [
        (I8, -127.0, 127.0),
        (I8, -128.0, 126.0),
        (U8, 1.0, 255.0),
        (I32, -2_147_483_648.0, 2_147_483_646.0),
        (DType::INT64, -9.3e18, 9.2e18),
        (F32, f64::from(f32::MIN), f64::from(f32::MAX)),
        (F32, f64::NAN, infinity),
    ] {
        let x = tensor_var(&[6], dtype);
        stays(&func([&x], clip(&x.expr(), min, max)));
    }
}

fn quadratic(x: &Ref<Var>, y: &Ref<Var>, [a, b, c]: [f64; 3]) -> Expr {
    let times = |value: f64, call: Ref<Call>| {
        if value == 1.0 {
            call
        } else {
            op::multiply(number(value, F32), call)
        }
    };
    let squares = [(a, x), (c, y)].map(|(value, x)| times(value, op::multiply(x, x)));
    let [first, last] = squares;
    op::add(op::add(first, times(b, op::multiply(x, y))), last).expr()
}

#[test]
fn quadratic_forms_with_real_roots_are_products() {
    let [x, y] = [0, 1].map(|_| v("f32[3]"));
    let sum = |root: f64| {
        if root == 1.0 {
            op::add(&x, &y)
        } else {
            op::add(&x, op::multiply(number(root, F32), &y))
        }
    };
    let check = |program: &Expr, expected: Ref<Call>| {
        applies(
            "quadratic",
            &func([&x, &y], program),
            &func([&x, &y], expected),
        );
    };
    let square = sum(1.0);
    check(
        &quadratic(&x, &y, [1.0, 2.0, 1.0]),
        op::multiply(&square, &square),
    );
    check(
        &quadratic(&x, &y, [1.0, 5.0, 6.0]),
        op::multiply(sum(3.0), sum(2.0)),
    );
    let scaled = op::multiply(number(2.0, F32), op::multiply(sum(2.5), sum(0.5)));
    check(&quadratic(&x, &y, [2.0, 6.0, 2.5]), scaled);
    // Powers are squares, and terms are in any order.
    let two = number(2.0, F32);
    let powers = op::add(
        op::multiply(op::multiply(&x, number(5.0, F32)), &y),
        op::add(
            op::power(&x, &two),
            op::multiply(op::power(&y, &two), number(6.0, F32)),
        ),
    );
    check(&powers.expr(), op::multiply(sum(3.0), sum(2.0)));
    // No real roots.
    stays(&func([&x, &y], quadratic(&x, &y, [1.0, 1.0, 1.0])));
    // No quadratic form: two squares of one expression, and cubes.
    let squares = op::add(op::multiply(&x, &x), op::power(&x, &two));
    avoids(
        "quadratic",
        &func([&x, &y], op::add(squares, op::multiply(&x, &y))),
    );
    let cube = op::add(
        op::add(op::power(&x, number(3.0, F32)), op::multiply(&x, &y)),
        op::multiply(&y, &y),
    );
    avoids("quadratic", &func([&x, &y], cube));
    // A term with another use is computed anyway.
    let mixed = op::multiply(&x, &y);
    let two = op::multiply(number(2.0, F32), &mixed);
    let sum = op::add(op::add(op::multiply(&x, &x), &two), op::multiply(&y, &y));
    stays(&func([&x, &y], op::maximum(sum, two)));
}

#[test]
fn quadratic_forms_of_integers_with_integer_roots_are_products() {
    for dtype in [I32, I8, U8] {
        let [x, y] = [0, 1].map(|_| tensor_var(&[6], dtype));
        let form = |[a, b, c]: [f64; 3]| {
            let times = |value: f64, call: Ref<Call>| op::multiply(number(value, dtype), call);
            let [first, last] =
                [(a, &x), (c, &y)].map(|(value, x)| times(value, op::multiply(x, x)));
            op::add(op::add(first, times(b, op::multiply(&x, &y))), last).expr()
        };
        let sum = |root: f64| op::add(&x, op::multiply(number(root, dtype), &y));
        applies(
            "quadratic",
            &func([&x, &y], form([2.0, 10.0, 12.0])),
            &func(
                [&x, &y],
                op::multiply(number(2.0, dtype), op::multiply(sum(3.0), sum(2.0))),
            ),
        );
        // The roots are 2.5 and 0.5.
        avoids("quadratic", &func([&x, &y], form([4.0, 12.0, 5.0])));
    }
}

#[test]
fn identities_of_truth_values() {
    let x = tensor_var(&[4], BOOL);
    let simple = |call: Ref<Call>| {
        let (done, _) = run(Default::default(), &func([&x], call));
        done.cast::<Function>().expect("a function").body.clone()
    };
    assert!(simple(op::add(op::zeros(init(&[4], BOOL)), &x)).same_as(&x.expr()));
    assert!(simple(op::multiply(&x, number(1.0, BOOL))).same_as(&x.expr()));
    stays(&func([&x], op::add(&x, number(1.0, BOOL))));
}
