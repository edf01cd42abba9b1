//! Why two nodes are a pair.

use std::fmt;

/// Why a [difference](crate::compare::Difference) counts two dag nodes as one node, or as
/// a node and its replacement.
///
/// The reason is the step of the alignment that made the pair. It displays as a sentence
/// without a full stop, in which a free node is a node without a partner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum PairReason {
    /// The nodes are equal, and so is everything from which they are computed. No other
    /// node of either side is like that.
    EqualBelow,
    /// The nodes are equal, and so is everything computed from them, up to the results or
    /// to nodes that correspond. No other node without a partner is like that.
    EqualAbove,
    /// The nodes have the same operator and the same number of operands, and are at the
    /// same place if both graphs are read from the results in the order of computation.
    SameOrder,
    /// The nodes are equal, and their neighbours up to this distance are equal or
    /// correspond. No other node without a partner is like that.
    EqualAround(usize),
    /// The nodes have the same operator, and their neighbours up to this distance have the
    /// same operators or correspond. No other node without a partner is like that.
    SameOperatorsAround(usize),
    /// The nodes have the same operator, and are the same operand of nodes that correspond.
    OperandOfPair,
    /// The nodes have the same operator, and use values that correspond as the same
    /// operand.
    UserOfPair,
    /// The nodes are equal apart from their operands, and are operands of nodes that correspond,
    /// at other positions or through another node. Neither node has a better partner.
    MovedOperand,
    /// The nodes have the same operator, and more of their neighbours correspond than with
    /// the partner that one of the nodes had before.
    BetterFit,
    /// The nodes have the same operator, and a neighbour of them corresponds. Other
    /// neighbours speak against the pair, but neither node has a better partner.
    Kept,
    /// The caller of the alignment has given the pair.
    Given,
    /// The nodes have different operators. All of their operands correspond, and the same
    /// nodes use them: the right node replaced the left node.
    Replaced,
}

impl fmt::Display for PairReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            PairReason::EqualBelow => {
                "equal, with everything from which they are computed, as no other node is"
            }
            PairReason::EqualAbove => {
                "the same operator and attributes, and so has everything that is computed from \
                 them, as no other free node has"
            }
            PairReason::SameOrder => {
                "the same operator at the same place in the order of computation"
            }
            PairReason::EqualAround(distance) => {
                let steps = Steps(*distance);
                return write!(
                    f,
                    "the same operator and attributes, with neighbours up to {steps} away that are \
                     alike or correspond, as no other free node has"
                );
            }
            PairReason::SameOperatorsAround(distance) => {
                let steps = Steps(*distance);
                return write!(
                    f,
                    "the same operator, with neighbours up to {steps} away that have the same \
                     operators or correspond, as no other free node has"
                );
            }
            PairReason::OperandOfPair => {
                "the same operator, as the same operand of nodes that correspond"
            }
            PairReason::UserOfPair => {
                "the same operator, applied to values that correspond, as the same operand"
            }
            PairReason::MovedOperand => {
                "the same operator and attributes, used by nodes that correspond, at other \
                 positions or through another node"
            }
            PairReason::BetterFit => {
                "the same operator, and more neighbours correspond than with any other partner"
            }
            PairReason::Kept => {
                "the same operator, and some neighbours correspond; no better partner exists"
            }
            PairReason::Given => "the pair was given",
            PairReason::Replaced => {
                "different operators, applied to operands that correspond, and used by nodes \
                 that correspond"
            }
        };
        f.write_str(text)
    }
}

/// A distance in words.
struct Steps(usize);

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 step"),
            count => write!(f, "{count} steps"),
        }
    }
}
