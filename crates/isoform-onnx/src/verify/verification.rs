//! The outcomes of all sets of inputs.

use std::fmt;

use super::outcome::{Difference, Outcome, ROUNDED};

/// A set of inputs on which both programs were run, or could not be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Case {
    /// The sizes of the dimensions and the seed, for people.
    pub inputs: String,
    /// The name of the runner.
    pub runner: String,
    /// The verdict.
    pub outcome: Outcome,
}

/// The sets of inputs that were run, and the verdicts.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Verification {
    /// The sets of inputs, including sets that could not be run.
    pub cases: Vec<Case>,
}

impl Verification {
    /// The number of sets of inputs on which both programs were compared.
    #[must_use]
    pub fn judged(&self) -> usize {
        let judged = |case: &&Case| !matches!(case.outcome, Outcome::NotRun { .. });
        self.cases.iter().filter(judged).count()
    }

    /// True if the programs were compared, and agree within the tolerance.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.judged() > 0 && self.differences().next().is_none()
    }

    /// The outputs that differ, of all cases.
    pub fn differences(&self) -> impl Iterator<Item = &Difference> {
        self.cases.iter().flat_map(|case| match &case.outcome {
            Outcome::Different(found) => found.as_slice(),
            _ => &[],
        })
    }
}

impl Case {
    /// True if another set of inputs could not be run for the same reason.
    pub(super) fn repeats(&self, other: &Case) -> bool {
        matches!(self.outcome, Outcome::NotRun { .. })
            && (&self.runner, &self.outcome) == (&other.runner, &other.outcome)
    }
}

/// One line for each set of inputs, with a single line for adjacent sets that could not
/// be run for the same reason.
impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, group) in self.cases.chunk_by(Case::repeats).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            let case = &group[0];
            write!(f, "{} ({}", case.runner, case.inputs)?;
            if group.len() > 1 {
                write!(f, " and {} others", group.len() - 1)?;
            }
            write!(f, "): ")?;
            match &case.outcome {
                Outcome::Same => write!(f, "same")?,
                Outcome::Close { max_abs } => {
                    write!(f, "close, the largest difference is {max_abs:.3e}")?;
                }
                Outcome::Rounded { max_abs } => {
                    write!(
                        f,
                        "close, the largest difference is {max_abs:.3e}: {ROUNDED}"
                    )?;
                }
                Outcome::NotRun { reason } => write!(f, "could not run: {reason}")?,
                Outcome::Different(differences) => {
                    write!(f, "different")?;
                    for difference in differences {
                        write!(f, "\n  {difference}")?;
                    }
                }
            }
        }
        Ok(())
    }
}
