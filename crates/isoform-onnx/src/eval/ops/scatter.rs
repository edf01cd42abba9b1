//! Operators that write elements at given places.

use isoform_kernels::indexing::{self, ScatterMode, TupleAxis};

use super::indexing::index_mode;
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Scatter" | "ScatterElements" => scatter_elements,
        "ScatterND" => scatter_nd,
        _ => return None,
    })
}

fn mode(args: &Args<'_>) -> Result<ScatterMode, Refusal> {
    Ok(match &*args.text("reduction", "none")? {
        "none" => ScatterMode::Replace,
        _ if args.is_string(0) => return Err(args.fault("strings cannot be reduced")),
        "add" => ScatterMode::Add,
        "mul" => ScatterMode::Multiply,
        "max" => ScatterMode::Maximum,
        "min" => ScatterMode::Minimum,
        other => return Err(args.fault(format!("expected a known reduction, got '{other}'"))),
    })
}

fn scatter_elements(args: &Args<'_>) -> Outcome {
    let modes = (index_mode(args), mode(args)?);
    let axis = args.int("axis", 0)?;
    let operands = [args.input(1)?, args.input(2)?];
    one(indexing::scatter_elements(
        args.input(0)?,
        operands,
        axis,
        modes,
        args.control,
    )?)
}

fn scatter_nd(args: &Args<'_>) -> Outcome {
    let modes = (index_mode(args), mode(args)?);
    let operands = [args.input(1)?, args.input(2)?];
    one(indexing::scatter_nd(
        args.input(0)?,
        operands,
        TupleAxis::Last,
        modes,
        args.control,
    )?)
}
