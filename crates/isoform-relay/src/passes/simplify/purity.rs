//! Finds the expressions that can be left out.

use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::passes::effects::is_stateful;
use crate::passes::form::Form;
use isoform::{Ref, Result};
use isoform_ir::ir::RelayExpr;

/// The expressions known to compute only their value, and the expressions known to do
/// more.
#[derive(Default)]
pub(super) struct Purity(Mutex<HashMap<u64, bool, RandomState>>);

impl Purity {
    /// Forgets all expressions: the next program has other expressions.
    pub(super) fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// True if an expression has no effect and makes no reference, so omitting a use
    /// makes no difference. Calls of functions may have any effect, because the search
    /// sees only one function of the program.
    ///
    /// Every expression is looked at once in a run.
    pub(super) fn may_drop(&self, expr: &Ref<RelayExpr>) -> Result<bool> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // An expression, and the number of its visited operands.
        let mut stack: Vec<(&Ref<RelayExpr>, usize)> = vec![(expr, 0)];
        let mut last = true;
        while let Some((expr, next)) = stack.last_mut() {
            let form = Form::of(expr)?;
            if *next == 0 {
                if let Some(verdict) = cache.get(&expr.identity()) {
                    last = *verdict;
                    stack.pop();
                    continue;
                }
                last = is_pure_itself(form)?;
            }
            // The effects of a function take place in calls.
            let operand = if last && !matches!(form, Form::Function(_)) {
                form.operand(*next)
            } else {
                None
            };
            match operand {
                Some(operand) => {
                    *next += 1;
                    stack.push((operand, 0));
                }
                None => {
                    cache.insert(expr.identity(), last);
                    stack.pop();
                }
            }
        }
        Ok(last)
    }
}

/// True if an expression has no effect besides the effects of its operands.
fn is_pure_itself(form: Form<'_>) -> Result<bool> {
    Ok(match form {
        Form::RefCreate(_) | Form::RefRead(_) | Form::RefWrite(_) => false,
        Form::Call(call) => match Form::of(&call.op)? {
            Form::Op(op) => !is_stateful(op),
            Form::Constructor(_) => true,
            _ => false,
        },
        _ => true,
    })
}
