//! Basic block normal form.

use hashbrown::HashMap;
use isoform::objects::repr;
use isoform::{Error, Ref, Result, export};
use isoform_ir::ir::{Constructor, GlobalVar, Op, RelayExpr};
use rapidhash::fast::RandomState;

use super::order::{Step, Visitor, visit, visit_below};
use crate::{Constant, Function, If, Match, Var};

/// Checks that an expression is in basic block normal form: a `let` binds every
/// expression used by several blocks, unless the first use is in a block around the
/// others. The body of a function, the branches of an `if` and the results of clauses
/// are blocks; variables, constants, operators, global variables and constructors may
/// be used anywhere.
///
/// Linear in the number of expressions.
///
/// # Errors
///
/// `ValueError` with an expression used by several blocks.
pub fn check_basic_block_normal_form(expr: &Ref<RelayExpr>) -> Result<()> {
    let mut blocks = Blocks::default();
    visit(expr, &mut blocks)
}

#[derive(Default)]
struct Blocks {
    /// The blocks around the current place, the innermost last.
    open: Vec<usize>,
    /// For every block, true after the visit of the whole block.
    is_closed: Vec<bool>,
    /// The blocks of the first uses of expressions; None outside of all blocks.
    block_of: HashMap<u64, Option<usize>, RandomState>,
}

/// The border of a block.
enum Border {
    Open,
    Close,
}

impl Visitor for Blocks {
    type VisitAction = Border;

    fn arrive(
        &mut self,
        expr: &Ref<RelayExpr>,
        arrivals: u32,
        next: &mut Vec<Step<Border>>,
    ) -> Result<()> {
        let is_atomic = expr.isa::<Var>()
            || expr.isa::<Constant>()
            || expr.isa::<Op>()
            || expr.isa::<GlobalVar>()
            || expr.isa::<Constructor>();
        if is_atomic {
            return Ok(());
        }
        let here = self.open.last().copied();
        let first = *self.block_of.entry(expr.identity()).or_insert(here);
        if first.is_some_and(|first| self.is_closed[first]) {
            return Err(Error::value_error(format!(
                "the expression is not in basic block normal form: several blocks use {}; bind \
                 it with a let where the blocks begin",
                repr(expr)
            )));
        }
        if arrivals > 1 {
            return Ok(());
        }
        let mut block = |part: &Ref<RelayExpr>| {
            next.push(Step::Then(Border::Open));
            next.push(Step::Visit(part.clone()));
            next.push(Step::Then(Border::Close));
        };
        if let Some(func) = expr.downcast_ref::<Function>() {
            block(&func.body);
        } else if let Some(branch) = expr.downcast_ref::<If>() {
            block(&branch.true_branch);
            block(&branch.false_branch);
            next.insert(0, Step::Visit(branch.cond.clone()));
        } else if let Some(cases) = expr.downcast_ref::<Match>() {
            cases.clauses.iter().for_each(|clause| block(&clause.rhs));
            next.insert(0, Step::Visit(cases.data.clone()));
        } else {
            visit_below(expr, next);
        }
        Ok(())
    }

    fn then(&mut self, border: Border) -> Result<()> {
        match border {
            Border::Open => {
                self.open.push(self.is_closed.len());
                self.is_closed.push(false);
            }
            Border::Close => {
                if let Some(block) = self.open.pop() {
                    self.is_closed[block] = true;
                }
            }
        }
        Ok(())
    }
}

/// Returns True for an expression in basic block normal form; otherwise raises
/// ValueError with an expression used by several blocks.
#[export("relay.analysis.check_basic_block_normal_form")]
fn exported_check(expr: &Ref<RelayExpr>) -> Result<bool> {
    check_basic_block_normal_form(expr)?;
    Ok(true)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_check]
}
