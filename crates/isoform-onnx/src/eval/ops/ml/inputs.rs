//! Observations, and the tensors in attributes of models.

use isoform_ir::kernels::Input;
use isoform_kernels::to_f64s;

use crate::eval::args::Args;
use crate::eval::constants;
use crate::eval::ops::dense::Dense;
use crate::eval::refusal::Refusal;

/// The numbers in an attribute that is a tensor.
pub(super) fn tensor_numbers(args: &Args<'_>, name: &str) -> Result<Option<Vec<f64>>, Refusal> {
    let Some(value) = args.call.attribute(name)? else {
        return Ok(None);
    };
    let tensor = constants::dense(value);
    let tensor = tensor.ok_or_else(|| args.fault(format!("expected a tensor as '{name}'")))?;
    let input = Input::new(tensor, args.control)?;
    Ok(Some(to_f64s(input.view()?, args.control)?))
}

/// The rows of the first input, one for each observation; a vector is a single row.
/// Integers become 32-bit floats, like thresholds and coefficients.
pub(super) fn observations(args: &Args<'_>) -> Result<Dense, Refusal> {
    let mut x = Dense::input(args, 0)?;
    if args.input(0)?.element_type().is_integer() {
        for value in &mut x.data {
            *value = f64::from(*value as f32);
        }
    }
    match x.shape.len() {
        1 => x.shape.insert(0, 1),
        2 => {}
        _ => return Err(args.fault(format!("expected rank 1 or 2, got {:?}", x.shape))),
    }
    Ok(x)
}
