//! Expressions with a value written in the program.

use hashbrown::HashSet;
use isoform::{Ref, Result, export};
use isoform_ir::ir::{Op, RelayExpr};
use rapidhash::fast::RandomState;

use crate::{Call, Constant, Tuple};

/// The operator that places the computation of a value, and returns the value.
const ON_DEVICE: &str = "on_device";

/// True for constants, and for tuples of such expressions. Calls of `on_device` count
/// as their argument; a variable bound to a constant does not count.
///
/// Depth is limited by memory only. Linear in the number of expressions.
pub fn check_constant(expr: &Ref<RelayExpr>) -> bool {
    let mut seen: HashSet<u64, RandomState> = HashSet::default();
    let mut stack = vec![expr.clone()];
    while let Some(expr) = stack.pop() {
        if expr.isa::<Constant>() || !seen.insert(expr.identity()) {
            continue;
        }
        if let Some(tuple) = expr.downcast_ref::<Tuple>() {
            stack.extend(tuple.fields.iter().cloned());
        } else if let Some(inner) = placed(&expr) {
            stack.push(inner.clone());
        } else {
            return false;
        }
    }
    true
}

/// The argument of a call of `on_device`.
fn placed(expr: &Ref<RelayExpr>) -> Option<&Ref<RelayExpr>> {
    let call = expr.downcast_ref::<Call>()?;
    let op = call.op.downcast_ref::<Op>()?;
    if &*op.name == ON_DEVICE && call.args.len() == 1 {
        call.args.get(0)
    } else {
        None
    }
}

/// True for constants, and for tuples of such expressions.
#[export("relay.analysis.check_constant")]
fn exported_check_constant(expr: &Ref<RelayExpr>) -> bool {
    check_constant(expr)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_check_constant]
}
