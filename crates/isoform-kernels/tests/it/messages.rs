//! Messages name the operator, the expected property and the received value.

use isoform_kernels::create::full;
use isoform_kernels::elementwise::{Binary, Unary, binary, cast, unary};
use isoform_kernels::products::MatMul;
use isoform_kernels::reduce::{Axes, Reduction};
use isoform_kernels::shape::{ZeroCode, axis, broadcast, reshape};
use isoform_kernels::{Control, ElementType, ErrorKind, KernelError, Tensor, View};

#[track_caller]
fn check<T>(result: Result<T, KernelError>, kind: ErrorKind, message: &str) {
    let error = result.err().expect("an error");
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
}

#[test]
fn of_shapes() {
    use ErrorKind::Shape;
    check(
        broadcast(&[&[4, 2], &[3]]),
        Shape,
        "broadcast: expected sizes that are equal or 1 on every axis from the last one, got [4, 2] and [3]",
    );
    check(axis(3, 2), Shape, "axis: expected -2 to 1, got 3");
    check(
        axis(i64::MIN, 0),
        Shape,
        "axis: expected -0 to -1, got -9223372036854775808",
    );
    check(
        reshape(&[2, 3], &[4, -1], ZeroCode::Copy),
        Shape,
        "reshape: expected sizes that determine the one of -1, got shape [2, 3] and codes [4, -1]",
    );
    check(
        View::new(ElementType::Float32, &[2], &[0; 7]),
        Shape,
        "a tensor of shape [2] with elements of 4 bytes: expected 8 bytes, got 7",
    );
}

#[test]
fn of_types() {
    let control = Control::default();
    let (whole, real) = (Tensor::scalar(1_i32), Tensor::scalar(1.0_f32));
    check(
        binary(Binary::Add, whole.view(), real.view(), &control),
        ErrorKind::Type,
        "add: expected operands of one element type, got int32 and float32; cast one of them",
    );
    check(
        unary(Unary::Sqrt, whole.view(), &control),
        ErrorKind::Type,
        "sqrt: expected elements of a float type, got int32",
    );
    let nibble = cast(whole.view(), ElementType::Int4, &control).unwrap();
    check(
        unary(Unary::Negative, nibble.view(), &control),
        ErrorKind::Type,
        "negative: expected elements of an integer or float type, got int4; cast it to a wider type first",
    );
    check(
        MatMul::default().apply(whole.view(), whole.view(), &control),
        ErrorKind::Shape,
        "matmul: expected operands of rank 1 or more, got shapes [] and []",
    );
    check(
        "float31".parse::<ElementType>().map_err(|error| {
            assert!(error.to_string().contains("float32"), "{error}");
            error
        }),
        ErrorKind::Type,
        &format!(
            "expected the name of an element type, one of {}, got \"float31\"",
            ElementType::ALL
                .iter()
                .map(|ty| ty.name())
                .collect::<Vec<_>>()
                .join(", ")
        ),
    );
}

#[test]
fn of_values() {
    let control = Control::default();
    let (one, zero) = (
        Tensor::scalar(1_u64),
        Tensor::from_slice(&[2], &[u64::MAX, 0]).unwrap(),
    );
    check(
        binary(Binary::FloorMod, one.view(), zero.view(), &control),
        ErrorKind::Undefined,
        "floor_mod: expected a divisor other than 0, got 0 at element 1",
    );
    check(
        binary(Binary::LeftShift, one.view(), zero.view(), &control),
        ErrorKind::Undefined,
        "left_shift: expected a number of bits from 0 to below the width, got 18446744073709551615 at element 0",
    );
    let large = Tensor::from_slice(&[2], &[1.0_f32, 3e9]).unwrap();
    check(
        cast(large.view(), ElementType::Int32, &control),
        ErrorKind::Undefined,
        "cast: expected values in the range of int32, got 3000000000 at element 1",
    );
    let empty = Tensor::from_slice::<f32>(&[2, 0], &[]).unwrap();
    check(
        Axes::default().reduce(Reduction::Max, empty.view(), &control),
        ErrorKind::Undefined,
        "max: expected one element or more, got shape [2, 0]",
    );
    check(
        full(&[3 << 30], Tensor::scalar(0_u8).view(), &control),
        ErrorKind::TooLarge,
        "expected a tensor of at most 2147483648 bytes, got shape [3221225472] with elements of 1 bytes; raise the limit `max_bytes` or keep the call",
    );
}
