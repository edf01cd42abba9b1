//! Expressions whose value is written in the program.

use hashbrown::HashSet;
use isoform::{Ref, Result, export};
use isoform_ir::ir::{Op, RelayExpr};
use rapidhash::fast::RandomState;

use crate::{Call, Constant, Tuple};

/// The operator that says where a value is computed, and has that value.
const ON_DEVICE: &str = "on_device";

/// True for a constant, and for a tuple of expressions for which it is true. Calls of
/// `on_device` count as their argument; a variable that is bound to a constant is not one.
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

/// True for a constant, and for a tuple of expressions for which it is true.
#[export("relay.analysis.check_constant")]
fn exported_check_constant(expr: &Ref<RelayExpr>) -> bool {
    check_constant(expr)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_check_constant]
}
