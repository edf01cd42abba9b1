//! Purity of calls: the results of a pure call depend only on its inputs. Equal pure
//! calls can therefore be merged.

use std::collections::HashMap;

use isoform::values::ValueRef;
use isoform::{Obj, Ref, Value};

use super::constants::ints;
use crate::ir::Call;
use crate::layout::graph_in;

/// Operators whose results differ from run to run.
const RANDOM: &[&str] = &[
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];

/// Domains whose operators are functions of their inputs.
const PURE_DOMAINS: &[&str] = &["", "ai.onnx.ml"];

/// Tracks the purity of calls. Bodies and functions are classified while they are
/// built, before the calls that contain them: checking a call never walks a body.
#[derive(Default)]
pub(super) struct Purity {
    /// The graphs and functions known to be pure. Impure and unknown graphs are not
    /// distinguished.
    pure: HashMap<u64, Ref<Obj>>,
    /// The bodies under construction, outermost first: true if all calls so far are
    /// pure.
    open: Vec<bool>,
}

impl Purity {
    /// True if the results of a call depend only on its inputs and on the outer values
    /// used by its bodies. The call, its bodies and its functions then involve no
    /// random numbers, no training and no unknown operators. An impure call makes the
    /// body under construction impure.
    ///
    /// False for a call with a body that a rule has made: the calls in the body are
    /// examined in the next walk.
    pub(super) fn is_pure(&mut self, call: &Call) -> bool {
        let is_pure = match &call.callee {
            Some(function) => self.pure.contains_key(&function.identity()),
            None => is_pure_operator(call) && self.has_pure_bodies(call),
        };
        if let (false, Some(open)) = (is_pure, self.open.last_mut()) {
            *open = false;
        }
        is_pure
    }

    /// Begins a body or a function.
    pub(super) fn enter(&mut self) {
        self.open.push(true);
    }

    /// Ends the innermost body; returns whether it is pure.
    pub(super) fn leave(&mut self) -> bool {
        self.open.pop().unwrap_or(false)
    }

    /// Notes a graph or function whose calls are all pure.
    pub(super) fn note(&mut self, owner: &Ref<Obj>) {
        self.pure.insert(owner.identity(), owner.clone());
    }

    fn has_pure_bodies(&self, call: &Call) -> bool {
        let is_pure = |value: &Value| {
            graph_in(value).is_none_or(|graph| self.pure.contains_key(&graph.identity()))
        };
        call.attrs.iter().all(|(_, value)| match value.view() {
            ValueRef::Array(items) => items.values().iter().all(is_pure),
            _ => is_pure(value),
        })
    }
}

/// True if the operator of a call, apart from bodies, computes its results from its inputs
/// only.
pub(crate) fn is_pure_operator(call: &Call) -> bool {
    if !PURE_DOMAINS.contains(&call.domain.as_str()) || RANDOM.contains(&call.op.as_str()) {
        return false;
    }
    match call.standard_op() {
        Some("Dropout") => !may_train(call),
        Some("BatchNormalization") => {
            call.int("training_mode")
                .is_ok_and(|mode| mode.unwrap_or(0) == 0)
                && call.outputs == 1
        }
        _ => true,
    }
}

/// True for a call, apart from bodies, whose results differ from run to run.
pub(crate) fn draws_numbers(call: &Call) -> bool {
    let is_random = |op: &str| RANDOM.contains(&op) || op == "Dropout" && may_train(call);
    call.standard_op().is_some_and(is_random)
}

/// True for a Dropout that may drop elements.
pub(super) fn may_train(call: &Call) -> bool {
    match call.version {
        ..7 => !call.int("is_test").is_ok_and(|test| test.unwrap_or(0) != 0),
        7..12 => false,
        _ => match call.input(2) {
            None => false,
            Some(mode) => ints(mode).is_none_or(|mode| mode != [0]),
        },
    }
}
