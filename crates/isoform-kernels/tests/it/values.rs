//! Values on tensors longer than one block of work, and the only computed NaN.

use isoform_kernels::elementwise::{Binary, Unary, binary, cast, unary};
use isoform_kernels::indexing::argsort;
use isoform_kernels::reduce::{Axes, Extreme, Reduction};
use isoform_kernels::{Control, ElementType, Tensor};

const LONG: usize = 300_007;

#[test]
fn long_tensors_are_computed_to_the_end() {
    let control = Control::default();
    let values: Vec<i32> = (0..LONG as i32)
        .map(|index| index.wrapping_mul(2_654_435) % 1000)
        .collect();
    let x = Tensor::from_slice(&[LONG], &values).unwrap();
    let sum = binary(Binary::Add, x.view(), x.view(), &control).unwrap();
    let doubled: Vec<i32> = values.iter().map(|value| 2 * value).collect();
    assert_eq!(sum.view().to_vec::<i32>().unwrap(), doubled);

    // A column and a row: both broadcast, with runs longer than a block.
    let column = Tensor::from_slice(&[2, 1], &[1_i32, -1]).unwrap();
    let product = binary(Binary::Multiply, column.view(), x.view(), &control).unwrap();
    let both: Vec<i32> = values
        .iter()
        .copied()
        .chain(values.iter().map(|value| -value))
        .collect();
    assert_eq!(product.view().to_vec::<i32>().unwrap(), both);

    let total = Axes::default()
        .reduce(Reduction::Sum, x.view(), &control)
        .unwrap();
    assert_eq!(
        total.view().to_vec::<i32>().unwrap(),
        [values.iter().sum::<i32>()]
    );
    let extreme = Extreme {
        largest: true,
        last: true,
        index_type: ElementType::Int32,
    };
    let last = Axes::default()
        .position(extreme, x.view(), &control)
        .unwrap();
    let expected = (0..LONG).max_by_key(|index| values[*index]).unwrap();
    assert_eq!(last.view().to_vec::<i32>().unwrap(), [expected as i32]);

    let order = argsort(x.view(), 0, false, ElementType::Int32, &control).unwrap();
    let mut expected: Vec<i32> = (0..LONG as i32).collect();
    expected.sort_by_key(|index| std::cmp::Reverse(values[*index as usize]));
    assert_eq!(order.view().to_vec::<i32>().unwrap(), expected);

    let wide = cast(x.view(), ElementType::Float64, &control).unwrap();
    let floats: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
    assert_eq!(wide.view().to_vec::<f64>().unwrap(), floats);
}

#[test]
fn a_computed_nan_has_one_representation() {
    let control = Control::default();
    let odd = f32::from_bits(0xffc1_2345);
    let x = Tensor::new(ElementType::Float32, vec![1], odd.to_le_bytes().to_vec()).unwrap();
    let expected = 0x7fc0_0000_u32.to_le_bytes();
    for op in [
        Unary::Negative,
        Unary::Absolute,
        Unary::Sqrt,
        Unary::Exp,
        Unary::Relu,
        Unary::Floor,
    ] {
        assert_eq!(
            unary(op, x.view(), &control).unwrap().bytes(),
            expected,
            "{}",
            op.name()
        );
    }
    let sum = binary(Binary::Add, x.view(), x.view(), &control).unwrap();
    assert_eq!(sum.bytes(), expected);
    // A copy is not computed.
    assert_eq!(
        unary(Unary::Copy, x.view(), &control).unwrap().bytes(),
        x.bytes()
    );
    let zero = Tensor::scalar(0.0_f64);
    let quotient = binary(Binary::Divide, zero.view(), zero.view(), &control).unwrap();
    assert_eq!(quotient.bytes(), 0x7ff8_0000_0000_0000_u64.to_le_bytes());
}
