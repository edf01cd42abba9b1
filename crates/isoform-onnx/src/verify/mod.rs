//! Proof by example: runs two programs on the same inputs and compares what comes out.
//!
//! ```no_run
//! use isoform_onnx::optimize::OptimizeOptions;
//! use isoform_onnx::verify::verify;
//!
//! let model = isoform_onnx::load("model.onnx")?;
//! let done = OptimizeOptions::default().optimize(model.program())?;
//! assert!(verify(model.program(), &done.program)?.is_same());
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! | concept | items |
//! |---|---|
//! | comparison of two programs | [`verify`], [`VerifyOptions`], [`Tolerance`] |
//! | what was run, and what came out | [`Verification`], [`Case`], [`Outcome`], [`Difference`] |
//! | what runs programs | [`Runner`], [`Evaluator`], [`Subject`] |
//!
//! `inputs` draws the inputs, and `compare` judges the results. Whoever has a runtime at
//! hand runs the programs with that, as the Python package does with onnxruntime;
//! [`Evaluator`] is the one that is always there.

mod compare;
mod inputs;

use std::fmt;
use std::path::Path;

use isoform::transform::check_interrupted;
use isoform::{Ref, Value};
use isoform_kernels::Control;

use crate::eval::{Refusal, RunError, run};
use crate::ir::Program;

pub use compare::{Difference, Tolerance};
pub use inputs::Inputs;

/// The number of sets of inputs on which programs have to agree.
const CASES: usize = 2;

/// The evaluator gives up on results of more bytes than this.
const MAX_BYTES: usize = 1 << 30;

/// A runner that gives one and the same reason for so many sets of inputs of different sizes
/// has no trouble with the sizes.
const SAME_REASONS: usize = 4;

/// A program to run, and the file that holds it, if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The program.
    pub program: &'a Ref<Program>,
    /// The file from which it was loaded.
    pub file: Option<&'a Path>,
}

impl<'a> From<&'a Ref<Program>> for Subject<'a> {
    fn from(program: &'a Ref<Program>) -> Self {
        Subject {
            program,
            file: None,
        }
    }
}

/// The results of a run, or the reason why it failed.
pub type Ran = Result<Vec<Value>, String>;

/// Something that runs programs.
pub trait Runner {
    /// The name, with the version, for reports.
    fn name(&self) -> String;

    /// Runs a program on each of several sets of inputs.
    ///
    /// # Errors
    ///
    /// Only what has to end the whole verification, such as an interruption; a program that
    /// cannot be run is a result.
    fn run(&self, subject: Subject<'_>, cases: &[Inputs]) -> isoform::Result<Vec<Ran>>;
}

/// The evaluator of this crate: slow, but the same bits on every machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evaluator;

impl Runner for Evaluator {
    fn name(&self) -> String {
        "isoform's evaluator".to_owned()
    }

    fn run(&self, subject: Subject<'_>, cases: &[Inputs]) -> isoform::Result<Vec<Ran>> {
        let interrupted = || check_interrupted().is_err();
        let control = Control {
            max_bytes: MAX_BYTES,
            interrupted: Some(&interrupted),
        };
        let one = |inputs: &Inputs| match run(subject.program, inputs, &control) {
            Ok(values) => Ok(Ok(values)),
            Err(RunError {
                refusal: Refusal::Interrupted,
                ..
            }) => check_interrupted().map(|()| Err(Refusal::Interrupted.to_string())),
            Err(error) => Ok(Err(error.to_string())),
        };
        cases.iter().map(one).collect()
    }
}

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
    /// The outputs differ.
    Different(Vec<Difference>),
    /// The original could not be run on these inputs, which says nothing about the other.
    NotRun {
        /// The reason, as the runner tells it.
        reason: String,
    },
}

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
    /// The sets of inputs, those that could not be run included.
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
    fn repeats(&self, other: &Case) -> bool {
        matches!(self.outcome, Outcome::NotRun { .. })
            && (&self.runner, &self.outcome) == (&other.runner, &other.outcome)
    }
}

/// One line for each set of inputs, and one for neighbours that could not be run for the
/// same reason.
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
                Outcome::NotRun { reason } => write!(f, "could not run: {reason}")?,
                Outcome::Different(found) => {
                    write!(f, "different")?;
                    for difference in found {
                        write!(f, "\n  {difference}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

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
    /// some, runners other than [`Evaluator`] are judged with [`Tolerance::HALF`] at least.
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
                    (Some(tolerance), true) => Some(tolerance.max(Tolerance::HALF)),
                    (None, true) => Some(Tolerance::HALF),
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
