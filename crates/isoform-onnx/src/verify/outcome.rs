//! The outcome of one set of inputs.

use std::fmt;

/// The result of one set of inputs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// Every bit of every output is the same; NaNs count as equal.
    Same,
    /// The outputs differ, but within the tolerance.
    Close {
        /// The largest absolute difference of two elements.
        max_abs: f64,
    },
    /// Every bit is the same once the constants of both programs are computed
    /// beforehand. Without that, a runtime multiplies by constants and by computed
    /// weights in different orders.
    Rounded {
        /// The largest absolute difference of two elements, as the programs are.
        max_abs: f64,
    },
    /// The outputs differ.
    Different(Vec<Difference>),
    /// The original could not be run on these inputs: the optimised program remains
    /// unjudged.
    NotRun {
        /// The reason, as the runner tells it.
        reason: String,
    },
}

/// The remark on [`Outcome::Rounded`] for people.
pub const ROUNDED: &str = "the runtime rounds in another order where a weight is a constant; \
    with all constants computed first, every bit is the same";

/// An output that differs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Name of the output; empty if the whole program is concerned.
    pub output: String,
    /// The node that computes the output, by operator and name; empty if there is no
    /// such node.
    pub node: String,
    /// The difference, for people.
    pub reason: String,
    /// The largest absolute difference of two elements, if they are numbers.
    pub max_abs: Option<f64>,
}

impl Difference {
    pub(super) fn failed(reason: String) -> Self {
        Difference {
            output: String::new(),
            node: String::new(),
            reason: format!("the original runs, but the other does not: {reason}"),
            max_abs: None,
        }
    }
}

/// `output 'y' (Conv 'conv_3'): 3 of 12 elements differ, by at most 2.5e-1`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.output.is_empty() {
            write!(f, "output '{}'", self.output)?;
            if !self.node.is_empty() {
                write!(f, " ({})", self.node)?;
            }
            write!(f, ": ")?;
        }
        f.write_str(&self.reason)
    }
}
