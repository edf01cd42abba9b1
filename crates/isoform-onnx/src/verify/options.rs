//! Options, and the comparison of two programs by examples.

use isoform::transform::check_interrupted;
use isoform::{Ref, Value};

use isoform_kernels::difference::Tolerance;

use super::compare::{self, HALF, wider};
use super::inputs::{self, Inputs};
use super::outcome::{Difference, Outcome};
use super::runner::{Evaluator, Ran, Runner, Subject};
use super::verification::{Case, Verification};
use crate::ir::Program;

/// The number of sets of inputs on which programs have to agree.
const CASES: usize = 2;

/// A runner that gives one and the same reason for so many sets of inputs of different sizes
/// does not fail because of the sizes.
const SAME_REASONS: usize = 4;

/// Options of [`verify`](VerifyOptions::verify).
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyOptions {
    tolerance: Option<Tolerance>,
    seed: u64,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            tolerance: None,
            seed: 1,
        }
    }
}

/// Compares two programs on random inputs, bit by bit; see [`VerifyOptions::verify`].
///
/// # Errors
///
/// As there.
pub fn verify(original: &Ref<Program>, optimized: &Ref<Program>) -> isoform::Result<Verification> {
    VerifyOptions::default().verify(original.into(), optimized.into(), &[&Evaluator])
}

impl VerifyOptions {
    /// Sets how far numbers may be apart; by default not a bit.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// Sets the seed of the inputs; 1 by default. Equal seeds draw equal inputs.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Runs both programs on the same random inputs and compares all outputs.
    ///
    /// Symbolic dimensions get two different assignments, at first with sizes from 2 and
    /// from 3; if the original does not run with them, others are tried. Integers are small
    /// and not negative, since most are positions or lengths. The first runner that runs the
    /// original on some inputs decides; the others are asked if it runs it on none.
    ///
    /// A runtime computes in 16-bit floats with steps of its own, so if the program has
    /// some, runners other than [`Evaluator`] are judged with [`HALF`](super::HALF) at least.
    ///
    /// The time is that of the runs.
    ///
    /// # Errors
    ///
    /// Errors of the runners; interruption. What cannot be run, or differs, is a result.
    pub fn verify(
        &self,
        original: Subject<'_>,
        optimized: Subject<'_>,
        runners: &[&dyn Runner],
    ) -> isoform::Result<Verification> {
        let mut found = Verification::default();
        let plans = match inputs::plans(&original.program.graph, &optimized.program.graph) {
            Ok(plans) => plans,
            Err(reason) => {
                found.cases.push(Case {
                    inputs: "no inputs".to_owned(),
                    runner: "nothing".to_owned(),
                    outcome: Outcome::NotRun { reason },
                });
                return Ok(found);
            }
        };
        let half = compare::has_half(original.program);
        for runner in runners {
            let name = runner.name();
            let is_own = name == Evaluator.name();
            let judge = Judge {
                runner: *runner,
                name,
                original,
                optimized,
                tolerance: match (self.tolerance, half && !is_own) {
                    (Some(tolerance), true) => Some(wider(tolerance, HALF)),
                    (None, true) => Some(HALF),
                    (tolerance, false) => tolerance,
                },
            };
            judge.cases(&plans, self.seed, &mut found)?;
            if found.judged() > 0 {
                break;
            }
        }
        Ok(found)
    }
}

struct Judge<'a> {
    runner: &'a dyn Runner,
    name: String,
    original: Subject<'a>,
    optimized: Subject<'a>,
    tolerance: Option<Tolerance>,
}

impl Judge<'_> {
    /// Tries one plan after the other until enough of them run.
    fn cases(
        &self,
        plans: &[inputs::Plan],
        seed: u64,
        found: &mut Verification,
    ) -> isoform::Result<()> {
        let mut judged = 0;
        let mut rest = plans;
        while judged < CASES && !rest.is_empty() {
            check_interrupted()?;
            let (now, later) = rest.split_at(CASES.min(rest.len()));
            rest = later;
            let drawn: Vec<Inputs> = now.iter().map(|plan| plan.draw(seed)).collect();
            let expected = self.runner.run(self.original, &drawn)?;
            let mut runs = Vec::new();
            for ((plan, inputs), expected) in now.iter().zip(drawn).zip(expected) {
                match expected {
                    Ok(values) => runs.push((plan, inputs, values)),
                    Err(reason) => found
                        .cases
                        .push(self.case(plan, Outcome::NotRun { reason })),
                }
            }
            runs.truncate(CASES - judged);
            if runs.is_empty() {
                let repeated = found.cases.chunk_by(Case::repeats).last();
                if repeated.is_some_and(|cases| cases.len() >= SAME_REASONS) {
                    break;
                }
                continue;
            }
            judged += runs.len();
            let inputs: Vec<Inputs> = runs.iter().map(|(_, inputs, _)| inputs.clone()).collect();
            let actual = self.runner.run(self.optimized, &inputs)?;
            for ((plan, _, expected), actual) in runs.into_iter().zip(actual) {
                let outcome = self.outcome(&expected, actual);
                found.cases.push(self.case(plan, outcome));
            }
        }
        Ok(())
    }

    fn case(&self, plan: &inputs::Plan, outcome: Outcome) -> Case {
        Case {
            inputs: plan.to_string(),
            runner: self.name.clone(),
            outcome,
        }
    }

    fn outcome(&self, expected: &[Value], actual: Ran) -> Outcome {
        let names = compare::output_names(self.optimized.program);
        match actual {
            Err(reason) => Outcome::Different(vec![Difference::failed(reason)]),
            Ok(actual) => compare::outcome(&names, expected, &actual, self.tolerance),
        }
    }
}
