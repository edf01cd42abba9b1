//! The result of a comparison, as plain data.

use serde::Serialize;

use crate::NodeOrigin;

/// How far the results of two models are apart, along their graphs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Divergence {
    /// The pairs of values, in an order of computation of the left model.
    pub pairs: Vec<PairError>,
    /// The position in `pairs` of the first pair that diverges although everything that it
    /// is computed from agrees; without such a pair, of the first pair that diverges.
    pub first: Option<usize>,
    /// The positions of all pairs that diverge although everything that they are computed
    /// from agrees: faults that are independent of each other.
    pub origins: Vec<usize>,
    /// For each threshold, the first pair whose relative L2 error is larger.
    pub crossings: Vec<Crossing>,
    /// The name of the runner.
    pub runner: String,
    /// The sets of inputs, for people.
    pub inputs: Vec<String>,
    /// The relative part of the tolerance, of the right element.
    pub rtol: f64,
    /// The absolute part of the tolerance.
    pub atol: f64,
    /// The number of nodes of the main graphs without a partner, on the left and on the right.
    pub unpaired: [usize; 2],
    /// The number of outputs on the left and on the right. Outputs beyond the smaller number
    /// are not compared.
    pub outputs: [usize; 2],
    /// The number of outputs on the left and on the right that were not compared: without a
    /// partner, or with elements of types that cannot be compared.
    pub open_outputs: [usize; 2],
    /// The number of nodes inside of bodies and functions, whose values are not compared, on
    /// the left and on the right.
    pub inner: [usize; 2],
    /// If the nodes of the first pair have bodies or call functions: the first difference of
    /// structure inside of them, in words. None if nothing differs inside.
    pub inside: Option<String>,
}

/// The first pair with an error beyond a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Crossing {
    /// The relative L2 error.
    pub threshold: f64,
    /// The position of the pair; None if no pair is beyond.
    pub pair: Option<usize>,
}

/// The error of a pair of values. Of several sets of inputs, the numbers are those of the set
/// with the largest error.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairError {
    /// The value of the left model.
    pub left: ValuePlace,
    /// The value of the right model.
    pub right: ValuePlace,
    /// Why both values are a pair.
    pub kind: PairKind,
    /// The verdict.
    pub status: PairStatus,
    /// True if everything that both values are computed from agrees, as far as it is paired.
    pub inputs_agree: bool,
    /// The shape; that of the left value if the shapes differ, and empty for sequences.
    pub shape: Vec<i64>,
    /// The element type of the left and of the right value.
    pub types: [String; 2],
    /// The number of elements.
    pub count: usize,
    /// The number of elements beyond the tolerance.
    pub beyond: usize,
    /// The largest distance of two elements; infinite beside a NaN or an infinity, None
    /// if the elements are no numbers.
    pub max_abs: Option<f64>,
    /// The largest distance relative to the right element; infinite beside a zero.
    pub max_rel: Option<f64>,
    /// The length of the difference relative to the left value as a vector.
    pub relative_l2: Option<f64>,
    /// The cosine of the angle between both values as vectors.
    pub cosine: Option<f64>,
    /// The ratio of signal and noise in decibels, with the left value as the signal. None
    /// for equal values.
    pub snr_db: Option<f64>,
    /// The reason why the values could not be compared or differ as a whole, or how they were
    /// made comparable; may be empty.
    pub note: String,
}

/// A value of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ValuePlace {
    /// The node that computes the value, or the input.
    pub node: NodeOrigin,
    /// The name of the value; may be empty.
    pub value: String,
}

/// The reason why two values are a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PairKind {
    /// Their nodes compute the same from the inputs, or correspond in the diff of both models.
    Structure,
    /// Corresponding nodes use them at the same position.
    Use,
    /// They are outputs at the same position.
    Output,
    /// Quantisation in one model gives a rounded form of the value of the other.
    Quantized,
}

/// The verdict on a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PairStatus {
    /// The values could not be compared.
    Skipped,
    /// Every bit is the same, or NaN on both sides.
    Same,
    /// The values differ within the tolerance.
    Close,
    /// The values differ beyond the tolerance.
    Different,
}

impl Divergence {
    /// True if at least one pair and all outputs were compared, and no pair diverges.
    /// O(pairs).
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.first.is_none() && self.compared() > 0 && self.open_outputs == [0, 0]
    }

    /// The first pair that diverges although its inputs agree. O(1).
    #[must_use]
    pub fn first_pair(&self) -> Option<&PairError> {
        self.pairs.get(self.first?)
    }

    /// The number of pairs that were compared. O(pairs).
    #[must_use]
    pub fn compared(&self) -> usize {
        let compared = |pair: &&PairError| pair.status != PairStatus::Skipped;
        self.pairs.iter().filter(compared).count()
    }
}

impl PairError {
    /// True if the values differ beyond the tolerance. O(1).
    #[must_use]
    pub fn diverges(&self) -> bool {
        self.status == PairStatus::Different
    }
}
