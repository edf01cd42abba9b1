//! Elements of small tensors of integers, through chains that compute shapes.

use super::build::{Dims, call, check, int, int_tensor, ints, list, op, output, with};
use isoform::Value;

fn axis(at: i64) -> Vec<(&'static str, Value)> {
    vec![("axis", Value::from(at))]
}

/// The fact of a value computed from the shape of a tensor `float[n, c, 6]`.
#[track_caller]
fn of_shape(compute: impl FnOnce(&Value) -> Value, expected: &str) {
    let x = Dims::default().input("x", "float32 n c 6");
    let shape = op("Shape", &[&Value::from(&x)]);
    check(&[&x], &compute(&shape), expected);
}

/// The fact of a result of constants.
#[track_caller]
fn of_constants(value: &Value, expected: &str) {
    check(&[], value, expected);
}

#[test]
fn shapes_are_elements() {
    of_shape(Value::clone, "int64[3] = (n, c, 6)");
    let x = Dims::default().input("x", "float32 n c 6");
    let bounds = vec![("start", Value::from(-2)), ("end", Value::from(100))];
    check(
        &[&x],
        &with("Shape", &[&Value::from(&x)], bounds),
        "int64[2] = (c, 6)",
    );
    check(&[&x], &op("Size", &[&Value::from(&x)]), "int64 = n*c*6");
}

#[test]
fn elements_move() {
    of_shape(|s| op("Gather", &[s, &int(-1)]), "int64 = 6");
    of_shape(|s| op("Gather", &[s, &ints(&[2, 0])]), "int64[2] = (6, n)");
    of_shape(
        |s| {
            op(
                "Slice",
                &[s, &ints(&[-1]), &ints(&[-4]), &ints(&[0]), &ints(&[-1])],
            )
        },
        "int64[3] = (6, c, n)",
    );
    of_shape(
        |s| with("Concat", &[s, &ints(&[1])], axis(0)),
        "int64[4] = (n, c, 6, 1)",
    );
    of_shape(
        |s| op("Unsqueeze", &[s, &ints(&[0])]),
        "int64[1, 3] = (n, c, 6)",
    );
    of_shape(
        |s| op("Reshape", &[s, &ints(&[3, 1])]),
        "int64[3, 1] = (n, c, 6)",
    );
    of_shape(
        |s| op("Expand", &[s, &ints(&[2, 1])]),
        "int64[2, 3] = (n, c, 6, n, c, 6)",
    );
    of_shape(
        |s| op("Tile", &[s, &ints(&[2])]),
        "int64[6] = (n, c, 6, n, c, 6)",
    );
    of_shape(
        |s| op("ScatterND", &[s, &int_tensor(&[1, 1], &[1]), &ints(&[9])]),
        "int64[3] = (n, 9, 6)",
    );
    of_shape(
        |s| with("ScatterElements", &[s, &ints(&[0]), &ints(&[9])], axis(0)),
        "int64[3] = (9, c, 6)",
    );
    let x = Dims::default().input("x", "float32 n c 6");
    let shape = op("Shape", &[&Value::from(&x)]);
    let parts = call("Split", vec![shape, ints(&[1, 2])], axis(0), 2);
    check(&[&x], &output(&parts, 1), "int64[2] = (c, 6)");
}

#[test]
fn arithmetic_on_extents() {
    of_shape(|s| op("Mul", &[s, &int(2)]), "int64[3] = (n*2, c*2, 12)");
    of_shape(|s| op("Sub", &[s, &int(1)]), "int64[3] = (n - 1, c - 1, 5)");
    of_shape(
        |s| op("Div", &[&op("Mul", &[s, &int(4)]), &int(2)]),
        "int64[3] = (n*2, c*2, 12)",
    );
    of_shape(
        |s| op("Div", &[s, &int(2)]),
        "int64[3] = (floordiv(n, 2), floordiv(c, 2), 3)",
    );
    of_shape(
        |s| op("Mod", &[s, &int(4)]),
        "int64[3] = (mod(n, 4), mod(c, 4), 2)",
    );
    of_shape(|s| op("Max", &[s, &int(0)]), "int64[3] = (n, c, 6)");
    of_shape(|s| op("Equal", &[s, &int(-1)]), "bool[3] = (0, 0, 0)");
    of_shape(|s| op("Less", &[s, &s.clone()]), "bool[3] = (0, 0, 0)");
    of_shape(
        |s| op("Greater", &[&op("Add", &[s, &int(1)]), s]),
        "bool[3] = (1, 1, 1)",
    );
    of_shape(
        |s| op("Where", &[&op("Equal", &[s, &int(-1)]), &int(1), s]),
        "int64[3] = (n, c, 6)",
    );
    let keep = vec![("keepdims", Value::from(0))];
    of_shape(|s| with("ReduceProd", &[s], keep), "int64 = n*c*6");
    of_shape(|s| op("ReduceSum", &[s]), "int64[1] = (n + c + 6)");
    of_shape(
        |s| op("CumSum", &[s, &int(0)]),
        "int64[3] = (n, n + c, n + c + 6)",
    );
}

#[test]
fn integers_are_those_of_their_type() {
    let to = |code: i64| vec![("to", Value::from(code))];
    of_constants(
        &with("Cast", &[&ints(&[300, -1])], to(2)),
        "uint8[2] = (44, 255)",
    );
    of_constants(
        &with("Cast", &[&ints(&[300, 0])], to(9)),
        "bool[2] = (1, 0)",
    );
    let wide = ints(&[i64::MAX]);
    of_constants(
        &op("Add", &[&wide, &int(1)]),
        "int64[1] = (-9223372036854775808)",
    );
    of_constants(
        &op("Neg", &[&ints(&[i64::MIN])]),
        "int64[1] = (-9223372036854775808)",
    );
    of_constants(&op("Div", &[&ints(&[-7]), &int(2)]), "int64[1] = (-3)");
    of_constants(&op("Mod", &[&ints(&[-7]), &int(2)]), "int64[1] = (1)");
    let fmod = vec![("fmod", Value::from(1))];
    of_constants(
        &with("Mod", &[&ints(&[-7]), &int(2)], fmod),
        "int64[1] = (-1)",
    );
    // Extents fit 32 bits, but numbers computed from extents may not.
    of_shape(|s| with("Cast", &[s], to(6)), "int32[3] = (n, c, 6)");
    // A difference of extents may be negative, and returns to itself from 64 unsigned bits.
    let unsigned = |s: &Value| with("Cast", &[&op("Sub", &[s, &ints(&[9, 9, 9])])], to(13));
    of_shape(
        |s| with("Cast", &[&unsigned(s)], to(7)),
        "int64[3] = (wrap(wrap(n - 9, 13), 7), wrap(wrap(c - 9, 13), 7), wrap(_1, 7))",
    );
    of_shape(
        |s| with("Cast", &[&op("Mul", &[s, s])], to(6)),
        "int32[3] = (wrap(n*n, 6), wrap(c*c, 6), 36)",
    );
}

#[test]
fn nothing_is_claimed_of_what_may_fail_or_wrap() {
    let x = Dims::default().input("x", "int64 1");
    let value = Value::from(&x);
    let doubled = op("Mul", &[&value, &int(2)]);
    // Twice a huge number wraps around, and half of the result is not the number.
    let halved = op("Div", &[&doubled, &int(2)]);
    check(
        &[&x],
        &op("Equal", &[&halved, &value]),
        "bool[1] = (equal(_2, _1))",
    );
    let more = op("Add", &[&value, &int(1)]);
    let less = super::build::fact(&[&x], &op("Less", &[&value, &more]));
    assert_eq!(less.elements_const(), None);
    let by_zero = super::build::fact(&[], &op("Div", &[&int(1), &int(0)]));
    assert_eq!(by_zero.elements_const(), None);
}

#[test]
fn shapes_of_elements() {
    of_shape(|s| op("ConstantOfShape", &[s]), "float[n, c, 6]");
    let ones = ("value", ints(&[1]));
    let filled = with("ConstantOfShape", &[&ints(&[2])], vec![ones]);
    of_constants(&filled, "int64[2] = (1, 1)");
    of_shape(
        |s| op("Range", &[&int(0), &op("Gather", &[s, &int(0)]), &int(1)]),
        "int64[n]",
    );
    of_constants(
        &op("Range", &[&int(1), &int(6), &int(2)]),
        "int64[3] = (1, 3, 5)",
    );
    of_shape(|s| op("Expand", &[&int(7), s]), "int64[n, c, 6]");
    of_shape(
        |s| {
            with(
                "Concat",
                &[&op("Slice", &[s, &ints(&[0]), &ints(&[2])]), &ints(&[-1])],
                axis(0),
            )
        },
        "int64[3] = (n, c, -1)",
    );
}

#[test]
fn an_unknown_element_does_not_hide_those_beside_it() {
    let mut dims = Dims::default();
    let (x, k) = (dims.input("x", "float32 n 8"), dims.input("k", "int64 1"));
    let rows = op(
        "Slice",
        &[&op("Shape", &[&Value::from(&x)]), &ints(&[0]), &ints(&[1])],
    );
    let target = with("Concat", &[&rows, &Value::from(&k)], axis(0));
    check(&[&x, &k], &target, "int64[2] = (n, _1)");
}

#[test]
fn two_updates_of_one_place_have_no_order() {
    let indices = int_tensor(&[2, 1], &[0, 0]);
    let value = op("ScatterND", &[&ints(&[1, 2]), &indices, &ints(&[5, 6])]);
    assert_eq!(super::build::fact(&[], &value).elements_const(), None);
    let same = op("ScatterND", &[&ints(&[1, 2]), &indices, &ints(&[5, 5])]);
    of_constants(&same, "int64[2] = (5, 2)");
}

#[test]
fn reversed_axes_of_a_transpose() {
    let value = with(
        "Transpose",
        &[&int_tensor(&[2, 2], &[1, 2, 3, 4])],
        vec![("perm", list(&[1, 0]))],
    );
    of_constants(&value, "int64[2, 2] = (1, 3, 2, 4)");
}

/// The fact of a value computed from the extent `n` of a vector, as a scalar.
#[track_caller]
fn of_extent(compute: impl FnOnce(&Value) -> Value, expected: &str) {
    let x = Dims::default().input("x", "float32 n");
    let shape = op("Shape", &[&Value::from(&x)]);
    let extent = op("Squeeze", &[&shape]);
    check(&[&x], &compute(&extent), expected);
}

#[test]
fn padding_to_a_length_is_the_larger_length() {
    let missing = |n: &Value| op("Max", &[&op("Sub", &[&int(256), n]), &int(0)]);
    let padded = |n: &Value| op("Add", &[n, &missing(n)]);
    let larger = |n: &Value| op("Max", &[n, &int(256)]);
    of_extent(missing, "int64 = max(-n + 256, 0)");
    of_extent(|n| op("Sub", &[&padded(n), &larger(n)]), "int64 = 0");
    of_extent(|n| op("Sub", &[&larger(n), &padded(n)]), "int64 = 0");
    of_extent(|n| op("Less", &[&padded(n), &int(256)]), "bool = 0");
    of_extent(|n| op("Less", &[&padded(n), n]), "bool = 0");
    of_extent(|n| op("Less", &[&larger(n), n]), "bool = 0");
    of_extent(
        |n| op("Less", &[&padded(n), &int(257)]),
        "bool = less(n + max(-n + 256, 0), 257)",
    );
}

#[test]
fn the_smaller_and_the_larger_size_are_both() {
    let smaller = |n: &Value| op("Min", &[n, &int(9)]);
    let larger = |n: &Value| op("Max", &[&int(9), n]);
    of_extent(|n| op("Add", &[&smaller(n), &larger(n)]), "int64 = n + 9");
    of_extent(
        |n| {
            op(
                "Sub",
                &[
                    &smaller(n),
                    &op("Neg", &[&op("Max", &[&op("Neg", &[n]), &int(-9)])]),
                ],
            )
        },
        "int64 = 0",
    );
    of_extent(|n| op("Less", &[n, &smaller(n)]), "bool = 0");
    of_extent(|n| op("Less", &[&int(9), &smaller(n)]), "bool = 0");
    // Neither is the other.
    of_extent(
        |n| op("Sub", &[&larger(n), &smaller(n)]),
        "int64 = n - min(n, 9)*2 + 9",
    );
}

#[test]
fn elements_that_may_wrap_around_are_not_rearranged() {
    let x = Dims::default().input("x", "int64");
    let element = Value::from(&x);
    let smaller = op("Min", &[&element, &int(9)]);
    let larger = op("Max", &[&element, &int(9)]);
    check(
        &[&x],
        &op("Add", &[&smaller, &larger]),
        "int64 = max(_1, 9) + min(_1, 9)",
    );
}

#[test]
fn long_chains_of_functions_have_short_names() {
    let names: Vec<String> = (0..2_000).map(|at| format!("d{at}")).collect();
    let x = Dims::default().input("x", &format!("float32 {}", names.join(" ")));
    let shape = op("Shape", &[&Value::from(&x)]);
    let mut held = op("Gather", &[&shape, &int(0)]);
    for at in 1..names.len() {
        let next = op("Gather", &[&shape, &int(at as i64)]);
        held = op(["Min", "Max"][at % 2], &[&held, &next]);
    }
    let text = super::build::fact(&[&x], &held).to_string();
    assert!(text.len() < 1_000, "{text}");
}
