//! How a [`Sequential`] runs: which of its passes, and what each of them requires.

use super::context::PassContext;
use super::nodes::{RunPass, Sequential};
use super::registry::make_pass;
use super::run::run;
use crate::kernel::error::Result;
use crate::kernel::object::reference::{Obj, Ref};

impl RunPass for Sequential {
    fn run_on(&self, root: &Ref<Obj>, ctx: &Ref<PassContext>) -> Result<Ref<Obj>> {
        let mut result = root.clone();
        for pass in self.passes.iter() {
            if !ctx.enables(&pass.info) {
                tracing::debug!(
                    target: "isoform.transform",
                    "pass {} is not enabled at level {}",
                    pass.info.name,
                    ctx.opt_level
                );
                continue;
            }
            for name in pass.info.required.iter() {
                let required = make_pass(name, []).map_err(|error| {
                    error.noted(format!("required by pass '{}'", pass.info.name))
                })?;
                result = run(&required, &result, ctx)?;
            }
            result = run(pass, &result, ctx)?;
        }
        Ok(result)
    }
}
