//! Options, and the comparison of two programs by examples.

use isoform::{Ref, Value};
use isoform_ir::transform::check_interrupted;

use isoform_kernels::difference::Tolerance;

use super::compare::{self, HALF, LOOSE, wider};
use super::inputs::{self, Inputs, UserInputs};
use super::outcome::{Difference, Outcome};
use super::runner::{Evaluator, Ran, Runner, Subject};
use super::verification::{Case, Verification};
use crate::ir::Program;
use crate::optimize::OptimizeOptions;

/// The number of sets of inputs on which programs have to agree.
const CASES: usize = 2;

/// If a runner gives the same reason for this many sets of inputs of different sizes,
/// the sizes are not the cause.
const SAME_REASONS: usize = 4;

/// The largest constant to be computed beforehand, in bytes, unless it replaces larger
/// constants.
const MAX_CONSTANT: u64 = 1 << 20;

/// Options of [`verify`](VerifyOptions::verify).
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyOptions {
    tolerance: Option<Tolerance>,
    seed: u64,
    given: UserInputs,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            tolerance: None,
            seed: 1,
            given: UserInputs::default(),
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

    /// Gives values for inputs by name, in the form used by the evaluator; the
    /// remaining inputs are drawn. If all inputs have values, there is one case.
    #[must_use]
    pub fn inputs<S: Into<String>>(mut self, inputs: impl IntoIterator<Item = (S, Value)>) -> Self {
        let inputs = inputs.into_iter().map(|(name, value)| (name.into(), value));
        self.given.values.extend(inputs);
        self
    }

    /// Gives shapes of inputs by name, for inputs with drawn values. A dimension has
    /// the same size wherever its name occurs.
    #[must_use]
    pub fn shapes<S: Into<String>>(
        mut self,
        shapes: impl IntoIterator<Item = (S, Vec<i64>)>,
    ) -> Self {
        let shapes = shapes.into_iter().map(|(name, shape)| (name.into(), shape));
        self.given.shapes.extend(shapes);
        self
    }

    /// Runs both programs on the same inputs and compares all outputs.
    ///
    /// Dimensions without a size get two different assignments, at first with sizes from 2
    /// and from 3; if the original does not run with them, others are tried. Integers are
    /// small and not negative, since most are positions or lengths. Runners are tried in
    /// order; the first runner that can run the original on at least one set of inputs
    /// decides.
    ///
    /// A runtime computes 16-bit floats in steps of its choice. If the program has
    /// 16-bit floats, runners other than [`Evaluator`] are judged with
    /// [`HALF`](super::HALF) at least. A runtime also multiplies by constants in
    /// another order than by computed weights. If an output differs no more than
    /// [`LOOSE`](super::LOOSE) allows, both programs are run again with all constants
    /// computed beforehand, and then have to agree bit by bit: the outcome is
    /// [`Outcome::Rounded`].
    ///
    /// The time is the time of the runs.
    ///
    /// # Errors
    ///
    /// `KeyError` for inputs missing from the original, and `ValueError` for given
    /// sizes and elements that contradict each other or the types of the inputs. Errors
    /// of the runners; interruption. A failure to run, or a difference, is a result.
    pub fn verify(
        &self,
        original: Subject<'_>,
        optimized: Subject<'_>,
        runners: &[&dyn Runner],
    ) -> isoform::Result<Verification> {
        let mut verification = Verification::default();
        let graphs = [original, optimized].map(|subject| &subject.program.graph);
        let plans = match inputs::plans(graphs[0], graphs[1], &self.given)? {
            Ok(plans) => plans,
            Err(reason) => {
                verification.cases.push(Case {
                    inputs: "no inputs".to_owned(),
                    runner: "nothing".to_owned(),
                    outcome: Outcome::NotRun { reason },
                });
                return Ok(verification);
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
                is_own,
                tolerance: match (self.tolerance, half && !is_own) {
                    (Some(tolerance), true) => Some(wider(tolerance, HALF)),
                    (None, true) => Some(HALF),
                    (tolerance, false) => tolerance,
                },
            };
            judge.cases(&plans, self.seed, &mut verification)?;
            if verification.judged() > 0 {
                break;
            }
        }
        Ok(verification)
    }
}

struct Judge<'a> {
    runner: &'a dyn Runner,
    name: String,
    original: Subject<'a>,
    optimized: Subject<'a>,
    /// True for the evaluator, which computes alike whatever is constant.
    is_own: bool,
    tolerance: Option<Tolerance>,
}

impl Judge<'_> {
    /// Tries plans in sequence until enough plans run.
    fn cases(
        &self,
        plans: &[inputs::Plan],
        seed: u64,
        verification: &mut Verification,
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
                    Err(reason) => verification
                        .cases
                        .push(self.case(plan, Outcome::NotRun { reason })),
                }
            }
            runs.truncate(CASES - judged);
            if runs.is_empty() {
                let repeated = verification.cases.chunk_by(Case::repeats).last();
                if repeated.is_some_and(|cases| cases.len() >= SAME_REASONS) {
                    break;
                }
                continue;
            }
            judged += runs.len();
            let inputs: Vec<Inputs> = runs.iter().map(|(_, inputs, _)| inputs.clone()).collect();
            let actual = self.runner.run(self.optimized, &inputs)?;
            let mut outcomes = Vec::new();
            for ((_, _, expected), actual) in runs.iter().zip(&actual) {
                outcomes.push(self.outcome(expected, actual, self.tolerance));
            }
            let is_different = |outcome: &Outcome| matches!(outcome, Outcome::Different(_));
            if outcomes.iter().any(is_different) && self.tolerance.is_none() && !self.is_own {
                let expected: Vec<&[Value]> = runs.iter().map(|run| run.2.as_slice()).collect();
                self.with_constants(&inputs, &expected, &actual, &mut outcomes)?;
            }
            for ((plan, ..), outcome) in runs.iter().zip(outcomes) {
                verification.cases.push(self.case(plan, outcome));
            }
        }
        Ok(())
    }

    /// Judges nearly equal programs again with all their constants computed beforehand,
    /// because the runtime's rounding may explain the difference.
    fn with_constants(
        &self,
        inputs: &[Inputs],
        expected: &[&[Value]],
        actual: &[Ran],
        outcomes: &mut [Outcome],
    ) -> isoform::Result<()> {
        let mut near = Vec::new();
        for (index, outcome) in outcomes.iter().enumerate() {
            if let Outcome::Different(_) = outcome
                && let Outcome::Close { max_abs } =
                    self.outcome(expected[index], &actual[index], Some(LOOSE))
            {
                near.push((index, max_abs));
            }
        }
        if near.is_empty() {
            return Ok(());
        }
        let computed = OptimizeOptions::default()
            .only(["fold-constants", "drop-identity"])
            .max_constant(MAX_CONSTANT);
        let left = computed.optimize(self.original.program)?.program;
        let right = computed.optimize(self.optimized.program)?.program;
        let inputs: Vec<Inputs> = near
            .iter()
            .map(|(index, _)| inputs[*index].clone())
            .collect();
        let expected = self.runner.run((&left).into(), &inputs)?;
        let actual = self.runner.run((&right).into(), &inputs)?;
        for (((index, max_abs), expected), actual) in near.into_iter().zip(expected).zip(actual) {
            if let Ok(expected) = expected
                && let Outcome::Same = self.outcome(&expected, &actual, None)
            {
                outcomes[index] = Outcome::Rounded { max_abs };
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

    fn outcome(&self, expected: &[Value], actual: &Ran, tolerance: Option<Tolerance>) -> Outcome {
        let names = compare::output_names(self.optimized.program);
        match actual {
            Err(reason) => Outcome::Different(vec![Difference::failed(reason.clone())]),
            Ok(actual) => compare::outcome(&names, expected, actual, tolerance),
        }
    }
}
