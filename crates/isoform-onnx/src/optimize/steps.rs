//! The steps of simplification besides rules.

/// A step that no rule describes, because it looks at more than a few calls.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Step {
    /// The name for choosing the step or leaving it out, like the name of a rule.
    pub name: &'static str,
    /// The effect.
    pub effect: &'static str,
    /// Why the result is the same.
    pub reason: &'static str,
}

/// All steps.
pub const STEPS: &[Step] = &[
    Step {
        name: "fold-constants",
        effect: "a call on constants becomes its result",
        reason: "the standard fixes the result bit by bit; with `--fold all`, up to the last \
                 bits; never for random operators, nor for those of quantisation",
    },
    Step {
        name: "known-values",
        effect: "integers that follow from shapes become constants",
        reason: "they are the same for every input of the declared types",
    },
    Step {
        name: "merge-equal-calls",
        effect: "two calls of one operator on the same values become one",
        reason: "both compute the same; random operators and training stay two calls",
    },
    Step {
        name: "merge-known-values",
        effect: "two small integer tensors with the same elements in every run become one",
        reason: "their elements are the same polynomials over the dimensions of the inputs",
    },
    Step {
        name: "inline-if",
        effect: "an If whose condition is known becomes the branch that it takes",
        reason: "the other branch never runs",
    },
    Step {
        name: "merge-equal-branches",
        effect: "an If whose branches compute the same becomes one of them",
        reason: "it does not matter which one runs",
    },
    Step {
        name: "drop-failing-branch",
        effect: "an If becomes the branch whose results have as many axes as their users need",
        reason: "a run through the other branch ends in an error: recurrent networks, \
                 convolutions, Gemm and Transpose take operands of one number of axes",
    },
];
