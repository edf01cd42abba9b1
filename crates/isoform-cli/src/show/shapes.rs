//! Derived types of values, for `isoform show --shapes`.

use std::fmt;

use isoform::Ref;
use isoform_onnx::facts::{Analysis, Problem, problems};
use isoform_onnx::ir::{Call, Program};

use crate::output::printable;

/// Facts about the values of a program.
pub(crate) struct Shapes {
    analysis: Analysis,
    problems: Vec<Problem>,
}

impl Shapes {
    pub(crate) fn new(program: &Program) -> Self {
        let mut analysis = Analysis::of_program(program);
        let problems = problems(&mut analysis, &program.graph);
        Shapes { analysis, problems }
    }

    /// The types of the results of a call.
    pub(crate) fn of(&mut self, call: &Ref<Call>) -> Vec<String> {
        let facts = self.analysis.results(call);
        let texts = facts.iter().map(|fact| fact.to_string());
        texts.map(|text| printable(&text).into_owned()).collect()
    }

    /// The outputs of the main graph whose declared type is wrong.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        let texts = self.problems.iter().map(ToString::to_string);
        texts.map(|text| printable(&text).into_owned())
    }
}

impl fmt::Debug for Shapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shapes").finish_non_exhaustive()
    }
}
