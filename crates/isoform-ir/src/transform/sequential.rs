//! The order of the passes of a [`Sequential`]: every enabled pass, after its required
//! passes.

use super::context::PassContext;
use super::nodes::{Pass, Sequential};
use super::registry::make_pass;
use isoform::{Array, Ref, Result};

/// A pass to run.
pub(super) struct Step {
    pub(super) pass: Ref<Pass>,
    /// True if another pass requires this pass.
    pub(super) is_required: bool,
}

/// The remaining passes of a sequence.
pub(super) struct Steps {
    passes: Array<Ref<Pass>>,
    /// The position of the next pass.
    at: usize,
    /// The number of required passes of the next pass that have been run; None before
    /// the next pass is found to be enabled.
    required: Option<usize>,
}

impl Steps {
    pub(super) fn of(sequence: &Sequential) -> Steps {
        Steps {
            passes: sequence.passes.clone(),
            at: 0,
            required: None,
        }
    }

    /// The next pass; None at the end.
    pub(super) fn next(&mut self, ctx: &PassContext) -> Result<Option<Step>> {
        while let Some(pass) = self.passes.get(self.at) {
            if self.required.is_none() && !ctx.enables(&pass.info) {
                tracing::debug!(
                    target: "isoform.transform",
                    "pass {} is not enabled at level {}",
                    pass.info.name,
                    ctx.opt_level
                );
                self.at += 1;
                continue;
            }
            let done = self.required.unwrap_or_default();
            if let Some(name) = pass.info.required.get(done) {
                let required = make_pass(name, []).map_err(|error| {
                    error.noted(format!("required by pass '{}'", pass.info.name))
                })?;
                self.required = Some(done + 1);
                return Ok(Some(Step {
                    pass: required,
                    is_required: true,
                }));
            }
            let pass = pass.clone();
            self.at += 1;
            self.required = None;
            return Ok(Some(Step {
                pass,
                is_required: false,
            }));
        }
        Ok(None)
    }
}
