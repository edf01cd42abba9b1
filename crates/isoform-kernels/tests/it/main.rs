//! Limits, interruption, messages and borrowed bytes. The values of the operators are
//! compared with NumPy by `tests/test_kernels.py`.

mod difference;
mod every;
mod limits;
mod messages;
mod values;

use isoform_kernels::{Control, KernelError, Tensor};

/// An operator with its operands.
type Case<'a> = (
    &'static str,
    Box<dyn Fn(&Control<'_>) -> Result<Tensor, KernelError> + 'a>,
);

/// Small floats in a shape.
fn floats(shape: &[usize]) -> Tensor {
    let count = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|at: usize| (at % 7) as f32).collect();
    Tensor::from_slice(shape, &values).unwrap()
}
