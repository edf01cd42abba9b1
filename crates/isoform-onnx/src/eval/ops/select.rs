//! Operators that choose elements by truth values, or find nonzero elements.

use isoform_kernels::elementwise::{self, Comparison};
use isoform_kernels::{Tensor, View, movement, shape};

use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Where" => select,
        "Trilu" => trilu,
        "NonZero" => non_zero,
        _ => return None,
    })
}

fn select(args: &Args<'_>) -> Outcome {
    let (condition, x, y) = (args.input(0)?, args.input(1)?, args.input(2)?);
    one(elementwise::select(condition, x, y, args.control)?)
}

fn trilu(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let k = args.optional_int_input(1)?.unwrap_or(0);
    let upper = args.flag("upper", true)?;
    let &[.., rows, columns] = x.shape() else {
        return Err(args.fault("expected rank 2 or more"));
    };
    let count = shape::broadcast(&[&[rows, columns]]).map(|_| rows.checked_mul(columns))?;
    let Some(_) = count.filter(|count| *count <= args.control.max_bytes) else {
        return Err(args.fault("expected a mask within the limit of memory"));
    };
    let kept = |row: usize, column: usize| {
        let diagonal = (column as i64 - row as i64).saturating_sub(k);
        if upper {
            column as i64 - row as i64 >= k
        } else {
            diagonal <= 0
        }
    };
    let mask: Vec<bool> = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .map(|(row, column)| kept(row, column))
        .collect();
    let mask = Tensor::from_slice(&[rows, columns], &mask)?;
    let ty = x.element_type();
    let zero = Tensor::new(ty, Vec::new(), vec![0; ty.size()])?;
    one(elementwise::select(
        mask.view(),
        x,
        zero.view(),
        args.control,
    )?)
}

fn non_zero(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let is_set = truth(x, args)?;
    // ONNX treats a scalar as a vector of one element.
    let shape = if x.rank() == 0 { &[1][..] } else { x.shape() };
    let set_places: Vec<usize> = is_set
        .bytes()
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte != 0)
        .map(|(place, _)| place)
        .collect();
    let mut indices = vec![0_i64; set_places.len() * shape.len()];
    for (number, place) in set_places.iter().enumerate() {
        let mut rest = *place;
        for (axis, size) in shape.iter().enumerate().rev() {
            indices[axis * set_places.len() + number] = (rest % size) as i64;
            rest /= size;
        }
    }
    one(Tensor::from_slice(
        &[shape.len(), set_places.len()],
        &indices,
    )?)
}

/// True for each element other than 0.
fn truth(x: View<'_>, args: &Args<'_>) -> Result<Tensor, Refusal> {
    let ty = x.element_type();
    if ty == isoform_kernels::ElementType::Bool {
        return Ok(x.to_tensor(args.control)?);
    }
    let zero = Tensor::new(ty, Vec::new(), vec![0; ty.size()])?;
    let zeros = movement::broadcast_to(zero.view(), x.shape(), args.control)?;
    Ok(elementwise::compare(
        Comparison::NotEqual,
        x,
        zeros.view(),
        args.control,
    )?)
}
