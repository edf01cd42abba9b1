//! Recurrent networks.

use isoform::Value;

use super::super::rule::{Row, Site};

pub(super) const ROWS: &[Row] = &[Row {
    name: "drop-zero-state",
    versions: 7..=i64::MAX,
    patterns: &["LSTM|GRU|RNN(x, w, r, ...)"],
    replacement: "the same without initial states",
    reason: "an initial state of zeros alone is the one that the operator has without it",
    rewrite: zero_state,
}];

/// The positions of the initial states among the inputs.
const STATES: std::ops::Range<usize> = 5..7;

fn zero_state(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    let mut inputs = root.inputs.values().to_vec();
    let mut changed = false;
    for state in inputs.iter_mut().take(STATES.end).skip(STATES.start) {
        if !state.is_none() && site.is_all_zeros(state) {
            *state = Value::NONE;
            changed = true;
        }
    }
    if !changed {
        return None;
    }
    site.request(&root.op, inputs, &Site::attrs(&root), root.outputs, true)
}
