//! Runners of programs, and the built-in runner [`Evaluator`].

use std::cell::Cell;
use std::path::Path;

use isoform::{Ref, Value};
use isoform_ir::transform::check_interrupted;
use isoform_kernels::Control;

use super::inputs::Inputs;
use crate::eval::{Refusal, RunError, run};
use crate::ir::Program;

/// The evaluator gives up on results of more bytes than this.
const MAX_BYTES: usize = 1 << 30;

/// The evaluator gives up after this many steps: a step is a call, or about a million
/// elements of a call.
const MAX_POLLS: u64 = 1 << 18;

/// A program to run, and the file that contains the program, if any.
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
    /// Only errors that have to end the whole verification, for instance an
    /// interruption. A failure to run a program is a result.
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
        let run_case = |inputs: &Inputs| {
            let polls = Cell::new(0);
            let interrupted = || {
                polls.set(polls.get() + 1);
                polls.get() > MAX_POLLS || check_interrupted().is_err()
            };
            let control = Control {
                max_bytes: MAX_BYTES,
                interrupted: Some(&interrupted),
            };
            match run(subject.program, inputs, &control) {
                Ok(values) => Ok(Ok(values)),
                Err(RunError {
                    refusal: Refusal::Interrupted,
                    ..
                }) => check_interrupted().map(|()| Err("it takes too many steps".to_owned())),
                Err(error) => Ok(Err(error.to_string())),
            }
        };
        cases.iter().map(run_case).collect()
    }
}
