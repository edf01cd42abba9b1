//! Operators that choose elements by index.

use isoform_kernels::indexing::{self, GatherNd, IndexMode, OneHot, Take, TupleAxis};
use isoform_kernels::{View, from_f64s, movement, shape, to_f64s};

use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Gather" => gather,
        "GatherElements" => gather_elements,
        "GatherND" => gather_nd,
        "OneHot" => one_hot,
        "Compress" => compress,
        _ => return None,
    })
}

/// Negative indices count from the end since version 11.
pub(super) fn index_mode(args: &Args<'_>) -> IndexMode {
    if args.version() >= 11 {
        IndexMode::FromEnd
    } else {
        IndexMode::Reject
    }
}

fn gather(args: &Args<'_>) -> Outcome {
    let take = Take {
        axis: Some(args.int("axis", 0)?),
        batch_dims: 0,
        mode: index_mode(args),
    };
    one(take.apply(args.input(0)?, args.input(1)?, args.control)?)
}

fn gather_elements(args: &Args<'_>) -> Outcome {
    let axis = args.int("axis", 0)?;
    let (data, indices) = (args.input(0)?, args.input(1)?);
    one(indexing::gather(
        data,
        indices,
        axis,
        index_mode(args),
        args.control,
    )?)
}

fn gather_nd(args: &Args<'_>) -> Outcome {
    let gather = GatherNd {
        tuples: TupleAxis::Last,
        batch_dims: args.size("batch_dims", 0)?,
        mode: index_mode(args),
    };
    one(gather.apply(args.input(0)?, args.input(1)?, args.control)?)
}

fn one_hot(args: &Args<'_>) -> Outcome {
    let indices = args.input(0)?;
    let depth = match to_f64s(args.input(1)?, args.control)?[..] {
        [depth] if (0.0..9e15).contains(&depth) => depth as usize,
        _ => return Err(args.fault("expected one depth of 0 or more")),
    };
    let values = args.input(2)?;
    if values.shape() != [2] {
        return Err(args.fault("expected two values"));
    }
    let size = values.element_type().size();
    let value = |index: usize| {
        View::new(
            values.element_type(),
            &[],
            &values.bytes()[index * size..][..size],
        )
    };
    let axis = args.int("axis", -1)?;
    // Indices may be floats with integer values.
    let numbers = if indices.element_type().is_float() {
        let floats = to_f64s(indices, args.control)?;
        if floats
            .iter()
            .any(|number| number.trunc() != *number || number.abs() > 9e15)
        {
            return Err(args.fault("expected indices that are whole numbers"));
        }
        let whole = isoform_kernels::ElementType::Int64;
        from_f64s(&floats, whole, indices.shape(), args.control)?
    } else {
        indices.to_tensor(args.control)?
    };
    let one_hot = OneHot {
        on: value(1)?,
        off: value(0)?,
        depth,
        axis,
        from_end: args.version() >= 11,
    };
    one(one_hot.apply(numbers.view(), args.control)?)
}

fn compress(args: &Args<'_>) -> Outcome {
    let (x, condition) = (args.input(0)?, args.input(1)?);
    let axis = args.call.int("axis")?;
    let whole = [x.len()];
    let (view, view_axis) = match axis {
        Some(axis) => (x, shape::axis(axis, x.rank())?),
        None => (View::new(x.element_type(), &whole, x.bytes())?, 0),
    };
    let size = view.shape()[view_axis];
    let chosen: Vec<i64> = condition
        .bytes()
        .iter()
        .take(size)
        .enumerate()
        .filter(|(_, byte)| **byte != 0)
        .map(|(index, _)| index as i64)
        .collect();
    if condition.bytes().iter().skip(size).any(|byte| *byte != 0) {
        return Err(args.fault(format!("expected at most {size} conditions")));
    }
    let indices = isoform_kernels::Tensor::from_slice(&[chosen.len()], &chosen)?;
    let take = Take {
        axis: Some(view_axis as i64),
        batch_dims: 0,
        mode: IndexMode::Reject,
    };
    if view.shape().contains(&0) {
        let mut shape = view.shape().to_vec();
        shape[view_axis] = chosen.len();
        return one(movement::broadcast_to(
            View::new(view.element_type(), &shape, &[])?,
            &shape,
            args.control,
        )?);
    }
    one(take.apply(view, indices.view(), args.control)?)
}
