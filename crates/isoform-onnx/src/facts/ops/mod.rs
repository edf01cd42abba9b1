//! Facts about the results of operators, by family.
//!
//! An operator that fails at run time has no result, so a rule may assume success.
//! Every other claim of a rule must hold for every assignment of the symbols.

mod attention;
mod context;
mod create;
mod elementwise;
mod image;
mod indexing;
mod linear;
mod ml;
mod movement;
mod normalize;
mod reduce;
mod reshape;
mod sequence;
mod signal;
mod slice;
mod table;
mod windows;

use std::sync::Arc;

pub(super) use self::context::Context;
pub(crate) use self::slice::is_far;
/// Parts of rules that elements depend on too.
pub(super) mod rules {
    pub(in crate::facts) use super::context::axis_of;
    pub(in crate::facts) use super::create::shape_bounds;
    pub(in crate::facts) use super::movement::permutation;
    pub(in crate::facts) use super::reduce::axes as reduced_axes;
    pub(in crate::facts) use super::slice::ranges as slice_ranges;
}

use super::fact::Fact;
use super::symbols::Symbols;
use super::values;
use crate::ir::Call;

/// A call that a program makes by hand may claim any number of results.
const MAX_RESULTS: usize = 1 << 20;

/// Facts about the results of a call of an operator, from the facts of the inputs (None
/// if omitted). Operators with bodies, local functions and unknown operators yield
/// unknown facts.
///
/// The length of the result is the number of results of the call, at most a million. O(number of extents and
/// of elements of small tensors).
#[must_use]
pub fn infer(call: &Call, inputs: &[Option<Arc<Fact>>], symbols: &mut Symbols) -> Vec<Fact> {
    let count = usize::try_from(call.outputs).unwrap_or(0).min(MAX_RESULTS);
    let mut context = Context {
        call,
        inputs,
        symbols,
    };
    let Some(op) = call.standard_op() else {
        let mut facts: Vec<Fact> = table::of_other_domains(&mut context)
            .unwrap_or_default()
            .into_iter()
            .take(count)
            .collect();
        facts.resize(count, Fact::unknown());
        return facts;
    };
    let mut facts = table::shapes(&mut context, op, count).unwrap_or_default();
    facts.resize(count, Fact::unknown());
    values::fill(&mut context, op, &mut facts);
    facts
}
