//! The same name with another meaning in another version of the operator set.

use isoform::Value;

use crate::eval::{check, floats, ints, list, refuses, results, tensor};

#[test]
fn axes_are_an_attribute_or_an_input() {
    let x = floats(&[1, 3, 1], &[1.0, 2.0, 3.0]);
    let squeezed = floats(&[1, 3], &[1.0, 2.0, 3.0]);
    check(
        "Squeeze",
        11,
        &[("axes", list(&[2]))],
        std::slice::from_ref(&x),
        &squeezed,
    );
    check(
        "Squeeze",
        13,
        &[],
        &[x.clone(), ints(&[1], &[-1])],
        &squeezed,
    );
    let wide = floats(&[1, 1, 3, 1], &[1.0, 2.0, 3.0]);
    check(
        "Unsqueeze",
        11,
        &[("axes", list(&[1]))],
        std::slice::from_ref(&x),
        &wide,
    );
    check("Unsqueeze", 13, &[], &[x.clone(), ints(&[1], &[1])], &wide);
    let counts = ints(&[2, 2], &[1, 2, 3, 4]);
    let sums = ints(&[2], &[4, 6]);
    let keep = ("keepdims", Value::from(0));
    check(
        "ReduceSum",
        11,
        &[("axes", list(&[0])), keep.clone()],
        std::slice::from_ref(&counts),
        &sums,
    );
    check(
        "ReduceSum",
        13,
        std::slice::from_ref(&keep),
        &[counts.clone(), ints(&[1], &[0])],
        &sums,
    );
    let largest = ints(&[2], &[3, 4]);
    check(
        "ReduceMax",
        13,
        &[("axes", list(&[0])), keep.clone()],
        std::slice::from_ref(&counts),
        &largest,
    );
    check(
        "ReduceMax",
        18,
        &[keep],
        &[counts, ints(&[1], &[0])],
        &largest,
    );
}

#[test]
fn slices_pads_and_limits_move_from_attributes_to_inputs() {
    let x = ints(&[4], &[0, 1, 2, 3]);
    let attrs = [("starts", list(&[1])), ("ends", list(&[i64::MAX]))];
    check(
        "Slice",
        9,
        &attrs,
        std::slice::from_ref(&x),
        &ints(&[3], &[1, 2, 3]),
    );
    let bounds = [
        ints(&[1], &[-1]),
        ints(&[1], &[i64::MIN]),
        ints(&[1], &[0]),
        ints(&[1], &[-2]),
    ];
    let inputs = [std::slice::from_ref(&x), &bounds[..]].concat();
    check("Slice", 13, &[], &inputs, &ints(&[2], &[3, 1]));
    let y = floats(&[1], &[5.0]);
    let attrs = [("pads", list(&[1, 0])), ("value", Value::from(2.0))];
    check(
        "Pad",
        2,
        &attrs,
        std::slice::from_ref(&y),
        &floats(&[2], &[2.0, 5.0]),
    );
    let inputs = [y.clone(), ints(&[2], &[0, 1])];
    check("Pad", 13, &[], &inputs, &floats(&[2], &[5.0, 0.0]));
    let z = floats(&[3], &[-9.0, 0.5, 9.0]);
    let attrs = [("min", Value::from(-1.0)), ("max", Value::from(1.0))];
    check(
        "Clip",
        6,
        &attrs,
        std::slice::from_ref(&z),
        &floats(&[3], &[-1.0, 0.5, 1.0]),
    );
    let inputs = [z, Value::NONE, floats(&[], &[1.0])];
    check("Clip", 13, &[], &inputs, &floats(&[3], &[-9.0, 0.5, 1.0]));
}

#[test]
fn rows_of_softmax_are_all_axes_from_one_on_or_one_axis() {
    let x = floats(&[1, 2, 2], &[0.0; 4]);
    check(
        "Softmax",
        11,
        &[],
        std::slice::from_ref(&x),
        &floats(&[1, 2, 2], &[0.25; 4]),
    );
    check("Softmax", 13, &[], &[x], &floats(&[1, 2, 2], &[0.5; 4]));
}

#[test]
fn negative_indices_count_from_the_end_since_version_11() {
    let x = ints(&[3], &[7, 8, 9]);
    let last = ints(&[1], &[-1]);
    check(
        "Gather",
        11,
        &[],
        &[x.clone(), last.clone()],
        &ints(&[1], &[9]),
    );
    refuses("Gather", 10, &[], &[x, last], "index");
}

#[test]
fn broadcasting_is_asked_for_before_version_7() {
    let x = floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let rows = floats(&[2], &[10.0, 20.0]);
    let attrs = [("broadcast", Value::from(1)), ("axis", Value::from(0))];
    let sums = floats(&[2, 2], &[11.0, 12.0, 23.0, 24.0]);
    check("Add", 6, &attrs, &[x.clone(), rows.clone()], &sums);
    check(
        "Add",
        7,
        &[],
        &[x, rows],
        &floats(&[2, 2], &[11.0, 22.0, 13.0, 24.0]),
    );
}

#[test]
fn a_shape_has_bounds_since_version_15() {
    let x = floats(&[2, 0, 5], &[]);
    let attrs = [("start", Value::from(-1)), ("end", Value::from(9))];
    check(
        "Shape",
        15,
        &attrs,
        std::slice::from_ref(&x),
        &ints(&[1], &[5]),
    );
    check("Size", 13, &[], &[x], &ints(&[], &[0]));
}

#[test]
fn a_new_shape_shares_the_bytes() {
    let x = floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let made = results("Reshape", 14, &[], &[x.clone(), ints(&[2], &[3, -1])], 1).unwrap();
    assert_eq!(tensor(&made[0]).shape(), [3, 2]);
    assert_eq!(tensor(&made[0]).data().as_ptr(), tensor(&x).data().as_ptr());
}
