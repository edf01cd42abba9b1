//! Calls whose results an operator set can copy.
//!
//! If two outputs of a graph become the same value, a file needs an `Identity` for the
//! second output. `Identity` takes no sequences before operator set 14, and no
//! optionals before 16.

use isoform::Ref;

use crate::facts::{Analysis, Kind};
use crate::ir::Call;
use crate::values::output;

/// True if `Identity` of this operator set takes every result of a call.
pub(super) fn is_copyable(call: &Ref<Call>, opset: i64, analysis: &mut Analysis) -> bool {
    let takes_sequences = opset >= 14;
    if opset >= 16 {
        return true;
    }
    match call.standard_op() {
        Some("Optional") => false,
        Some(
            "SequenceConstruct" | "SequenceEmpty" | "SequenceErase" | "SequenceInsert"
            | "SplitToSequence",
        ) => takes_sequences,
        // Before operator set 16, their results are not optional.
        Some("If" | "Loop") if takes_sequences => true,
        Some("If" | "Loop") | None => {
            let mut results = (0..call.outputs).map(|at| output(call, at));
            results.all(|result| analysis.fact(&result).kind == Kind::Tensor)
        }
        Some(_) => true,
    }
}
