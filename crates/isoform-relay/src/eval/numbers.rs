//! Single numbers as tensors, and the numbers in tensors, for passes that reason about
//! numbers.

use isoform_kernels::elementwise::{self, CastOptions, OutOfRange};
use isoform_kernels::{Control, ElementType, Tensor as Computed};

use isoform::values::{DType, Tensor};
use isoform_ir::kernels::{Input, element_type, tensor_of};

/// A number as a scalar of a data type, rounded to the nearest number of the type; None
/// for types unknown to kernels.
pub(crate) fn scalar(number: f64, dtype: DType) -> Option<Tensor> {
    let control = Control::default();
    let ty = element_type(dtype).ok()?;
    let options = CastOptions {
        out_of_range: OutOfRange::Saturate,
        ..CastOptions::default()
    };
    let made = options.cast(Computed::scalar(number).view(), ty, &control);
    tensor_of(made.ok()?, &control).ok()
}

/// The numbers of a tensor as float64, with rounding of large integers; None for types
/// unknown to kernels. Linear in the number of elements.
pub(crate) fn numbers(tensor: &Tensor) -> Option<Vec<f64>> {
    let control = Control::default();
    let input = Input::new(tensor, &control).ok()?;
    let wide = elementwise::cast(input.view().ok()?, ElementType::Float64, &control).ok()?;
    wide.view().to_vec().ok()
}
