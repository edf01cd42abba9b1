//! Factors of channels go into weights.

use isoform::Ref;
use isoform_relay::analysis::count_ops;
use isoform_relay::attrs::*;
use isoform_relay::passes::{
    backward_fold_scale_axis, backward_fold_scale_axis_expr, fold_constant,
    forward_fold_scale_axis, forward_fold_scale_axis_expr, simplify_inference,
};
use isoform_relay::{AsExpr, Call, Function, Tuple, op};
use isoform_testing::relay::random_network;

use crate::support::*;

type Fold = fn(&Expr) -> isoform::Result<Expr>;

const BACKWARD: Fold = backward_fold_scale_axis_expr;
const FORWARD: Fold = forward_fold_scale_axis_expr;

fn count(expr: &Expr, op: &str) -> i64 {
    count_ops(expr).unwrap().get(op).copied().unwrap_or(0)
}

/// Checks whether the product at the end of a chain of operators multiplies its weight.
#[track_caller]
fn check(fold: Fold, body: impl isoform::types::IntoField<Expr>, folds: bool) {
    let func = typed(&Function::closing(&body.into_field()).unwrap().expr());
    let done = fold(&func).unwrap();
    assert_eq!(!done.same_as(&func), folds, "{}", text(&done));
    if folds {
        // The factor is reshaped for the weight.
        assert!(count(&done, "reshape") > 0);
        assert!(count(&done, "multiply") <= count(&func, "multiply") + 1);
        let again = fold(&done).unwrap();
        assert!(again.same_as(&done), "{}", text(&again));
    }
}

fn constant_of(values: &[f32], shape: &[i64]) -> Expr {
    constant(&floats(shape, values))
}

fn positive() -> Expr {
    constant_of(&[0.5, 2.0, 3.0], &[3, 1, 1])
}

fn mixed() -> Expr {
    constant_of(&[0.5, -2.0, 3.0], &[3, 1, 1])
}

/// A convolution of three channels.
fn conv(data: &Expr) -> Ref<Call> {
    let attrs = Conv2DAttrs::new().with_padding(sizes([1]));
    op::conv2d(data, v("f32[3,3,3,3]"), attrs)
}

fn image() -> Expr {
    v("f32[2,3,4,4]").expr()
}

#[test]
fn factors_of_results_go_into_weights() {
    let x = image();
    check(BACKWARD, op::multiply(conv(&x), mixed()).expr(), true);
    check(BACKWARD, op::multiply(mixed(), conv(&x)).expr(), true);
    check(
        BACKWARD,
        op::multiply(conv(&x), number(2.0, F32)).expr(),
        true,
    );
    check(
        BACKWARD,
        op::multiply(conv(&x), v("f32[3,1,1]")).expr(),
        true,
    );
    let dense = |data: &str| op::dense(v(data), v("f32[3,8]"), DenseAttrs::new(None));
    check(
        BACKWARD,
        op::multiply(dense("f32[2,8]"), v("f32[3]")).expr(),
        true,
    );
    check(
        BACKWARD,
        op::multiply(dense("f32[5,2,8]"), v("f32[1,3]")).expr(),
        true,
    );
    let grouped = Conv2DAttrs::new().with_groups(3);
    let grouped = op::conv2d(&x, v("f32[6,1,1,1]"), grouped);
    check(
        BACKWARD,
        op::multiply(grouped, v("f32[6,1,1]")).expr(),
        true,
    );
    let last = Conv2DAttrs::new()
        .with_data_layout("NHWC")
        .with_kernel_layout("HWIO");
    let last = op::conv2d(v("f32[2,4,4,3]"), v("f32[1,1,3,5]"), last);
    check(BACKWARD, op::multiply(last, v("f32[5]")).expr(), true);
}

#[test]
fn factors_pass_a_bias_along_the_channels() {
    let x = image();
    let biased = |axis: i64, size: &str| {
        let attrs = BiasAddAttrs::new().with_axis(axis);
        op::bias_add(conv(&x), v(size), attrs)
    };
    check(
        BACKWARD,
        op::multiply(biased(1, "f32[3]"), mixed()).expr(),
        true,
    );
    check(
        BACKWARD,
        op::multiply(biased(-3, "f32[3]"), mixed()).expr(),
        true,
    );
    check(
        BACKWARD,
        op::multiply(biased(2, "f32[4]"), mixed()).expr(),
        false,
    );
    let dense = op::dense(v("f32[2,8]"), v("f32[3,8]"), DenseAttrs::new(None));
    let dense = op::bias_add(dense, v("f32[3]"), BiasAddAttrs::new().with_axis(-1));
    check(BACKWARD, op::multiply(dense, v("f32[3]")).expr(), true);
    // Towards the data, the bias is divided.
    let scaled = |factor: Expr, axis: i64, size: &str| {
        let data = op::multiply(&x, factor);
        op::bias_add(data, v(size), BiasAddAttrs::new().with_axis(axis)).expr()
    };
    check(FORWARD, conv(&scaled(positive(), 1, "f32[3]")).expr(), true);
    check(FORWARD, conv(&scaled(mixed(), 1, "f32[3]")).expr(), false);
    check(
        FORWARD,
        conv(&scaled(positive(), 2, "f32[4]")).expr(),
        false,
    );
}

#[test]
fn other_factors_of_results_stay() {
    let x = image();
    // Rows and whole images are no channels.
    check(
        BACKWARD,
        op::multiply(conv(&x), v("f32[4,1]")).expr(),
        false,
    );
    check(
        BACKWARD,
        op::multiply(conv(&x), v("f32[2,3,4,4]")).expr(),
        false,
    );
    // The result would grow.
    check(
        BACKWARD,
        op::multiply(
            op::conv2d(v("f32[1,3,4,4]"), v("f32[1,3,1,1]"), Conv2DAttrs::new()),
            v("f32[3,1,1]"),
        )
        .expr(),
        false,
    );
    let infinite = constant_of(&[1.0, f32::INFINITY, 1.0], &[3, 1, 1]);
    check(BACKWARD, op::multiply(conv(&x), infinite).expr(), false);
    // Another use would see the factor.
    let shared = conv(&x).expr();
    let scaled = op::multiply(&shared, mixed()).expr();
    check(BACKWARD, Tuple::new([shared, scaled]).expr(), false);
    let wide = op::conv2d(v("i32[2,3,4,4]"), v("i32[3,3,1,1]"), Conv2DAttrs::new());
    check(BACKWARD, op::multiply(wide, v("i32[3,1,1]")).expr(), false);
}

#[test]
fn activations_pass_positive_factors_only() {
    let x = image();
    let relu = || op::relu(conv(&x));
    let leaky = || op::leaky_relu(conv(&x), LeakyReluAttrs::new());
    check(BACKWARD, op::multiply(relu(), positive()).expr(), true);
    check(BACKWARD, op::multiply(leaky(), positive()).expr(), true);
    check(BACKWARD, op::multiply(relu(), mixed()).expr(), false);
    check(
        BACKWARD,
        op::multiply(relu(), v("f32[3,1,1]")).expr(),
        false,
    );
    let moved = op::expand_dims(
        constant_of(&[1.0, 2.0, 3.0], &[3]),
        ExpandDimsAttrs::new(1).with_num_newaxis(2),
    );
    check(BACKWARD, op::multiply(relu(), moved).expr(), true);
    let data = |factor: Expr| conv(&op::relu(op::multiply(&x, factor)).expr()).expr();
    check(FORWARD, data(positive()), true);
    check(FORWARD, data(mixed()), false);
}

#[test]
fn sums_pass_factors_with_their_bias() {
    let x = image();
    let biased = || op::add(conv(&x), v("f32[3,1,1]"));
    check(BACKWARD, op::multiply(biased(), mixed()).expr(), true);
    check(
        BACKWARD,
        op::multiply(op::subtract(v("f32[3,1,1]"), conv(&x)), mixed()).expr(),
        true,
    );
    check(
        BACKWARD,
        op::multiply(op::add(conv(&x), conv(&x)), mixed()).expr(),
        true,
    );
    // The other operand would be multiplied as a whole.
    check(
        BACKWARD,
        op::multiply(op::add(conv(&x), &x), mixed()).expr(),
        false,
    );
    let data =
        |factor: Expr| conv(&op::add(op::multiply(&x, factor), v("f32[3,1,1]")).expr()).expr();
    check(FORWARD, data(positive()), true);
    check(FORWARD, data(mixed()), false);
}

#[test]
fn factors_of_data_go_into_weights() {
    let x = image();
    let scaled = |factor: Expr| op::multiply(&x, factor).expr();
    check(FORWARD, conv(&scaled(mixed())).expr(), true);
    check(FORWARD, conv(&scaled(v("f32[3,1,1]").expr())).expr(), true);
    check(FORWARD, conv(&scaled(number(2.0, F32))).expr(), true);
    let depthwise = Conv2DAttrs::new().with_groups(3);
    check(
        FORWARD,
        op::conv2d(scaled(mixed()), v("f32[3,1,1,1]"), &depthwise).expr(),
        true,
    );
    // Two results for each channel.
    check(
        FORWARD,
        op::conv2d(scaled(mixed()), v("f32[6,1,1,1]"), &depthwise).expr(),
        false,
    );
    let rows = op::multiply(v("f32[2,8]"), v("f32[8]")).expr();
    check(
        FORWARD,
        op::dense(&rows, v("f32[3,8]"), DenseAttrs::new(None)).expr(),
        true,
    );
    // All uses have to be weights.
    let both = scaled(mixed());
    let pair = Tuple::new([conv(&both).expr(), conv(&both).expr()]).expr();
    check(FORWARD, pair, true);
    let pair = Tuple::new([conv(&both).expr(), both]).expr();
    check(FORWARD, pair, false);
    // The data are scaled once, and the convolution may be computed often.
    let y = v("f32[2,3,4,4]");
    let inner = func([&y], op::add(conv(&scaled(mixed())), &y));
    let once = scaled(mixed());
    let repeated =
        Tuple::new([func([&y], conv(&once).expr()), func([], conv(&once).expr())]).expr();
    check(FORWARD, repeated, false);
    check(FORWARD, inner, true);
}

#[test]
fn networks_lose_their_factors() {
    let (mut before, mut after, mut networks) = (0, 0, 0);
    for seed in 0..300 {
        let module = simplify_inference(&random_network(seed).module).unwrap();
        let module = fold_constant(&module).unwrap();
        let done = forward_fold_scale_axis(&backward_fold_scale_axis(&module).unwrap()).unwrap();
        let done = fold_constant(&done).unwrap();
        let [left, right] =
            [&module, &done].map(|module| count(&function_in(module, "main").expr(), "multiply"));
        assert!(right <= left, "{seed}");
        before += left;
        after += right;
        networks += i64::from(right < left);
    }
    assert!(
        networks > 60 && 4 * after < 3 * before,
        "{networks}: {before} {after}"
    );
}

/// The program grows by what the factors need, and every factor is used once.
#[test]
fn chains_of_factors_are_linear() {
    let length = isoform_testing::source::scaled(100_000);
    let x = v("f32[2,3]");
    let dense = op::dense(&x, v("f32[3,3]"), DenseAttrs::new(None));
    let mut body = dense.expr();
    for _ in 0..length {
        body = op::multiply(&body, positive_row()).expr();
    }
    let func = typed(&Function::closing(&body).unwrap().expr());
    let done = backward_fold_scale_axis_expr(&func).unwrap();
    // The first factor is reshaped, each further factor is reshaped and multiplied, and the
    // product is reshaped for the weight.
    let reshapes = length as i64 + 1;
    assert_eq!(count(&done, "reshape"), reshapes);
    assert_eq!(count(&done, "multiply"), length as i64);
}

fn positive_row() -> Expr {
    constant_of(&[0.5, 2.0, 1.0], &[3])
}
