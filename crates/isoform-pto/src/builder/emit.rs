//! Adding statements to the innermost open part of a builder.

use super::frame::placed;
use super::ir_builder::IRBuilder;
use crate::*;
use isoform::types::IntoField;
use isoform::{Array, Ref, Result, Str};

impl IRBuilder {
    /// Adds a statement.
    ///
    /// # Errors
    ///
    /// `ValueError` without an open part.
    pub fn emit(&mut self, stmt: impl IntoField<Ref<Stmt>>) -> Result<()> {
        let frame = self.innermost("emit", "a function")?;
        frame.stmts.push(stmt.into_field());
        Ok(())
    }

    /// Assigns a value to a variable.
    ///
    /// # Errors
    ///
    /// As [`emit`](Self::emit).
    pub fn assign(
        &mut self,
        var: impl IntoField<Ref<Var>>,
        value: impl IntoField<Ref<Expr>>,
    ) -> Result<()> {
        let value = self.called(value.into_field())?;
        let stmt = AssignStmt::new(var.into_field(), value);
        self.emit_placed(stmt.upcast())
    }

    /// A new variable with this value, and with the type of the value.
    ///
    /// # Errors
    ///
    /// As [`emit`](Self::emit).
    pub fn let_(
        &mut self,
        name: impl Into<Str>,
        value: impl IntoField<Ref<Expr>>,
    ) -> Result<Ref<Var>> {
        let value = self.called(value.into_field())?;
        let var = self.placed_var(name.into(), value.ty.clone());
        self.assign(&var, &value)?;
        Ok(var)
    }

    /// Evaluates an expression for its effect.
    ///
    /// # Errors
    ///
    /// As [`emit`](Self::emit).
    pub fn eval(&mut self, expr: impl IntoField<Ref<Expr>>) -> Result<()> {
        let expr = self.called(expr.into_field())?;
        self.emit_placed(EvalStmt::new(expr).upcast())
    }

    /// Ends the function with values.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a function.
    pub fn emit_return(&mut self, values: impl IntoField<Array<Ref<Expr>>>) -> Result<()> {
        if !self.in_function() {
            return Err(self.outside("return", "a function"));
        }
        let values = self.all_called(&values.into_field())?;
        self.emit_placed(ReturnStmt::new(values).upcast())
    }

    /// Ends an iteration of the loop, or a branch, with values.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a loop or `if`.
    pub fn emit_yield(&mut self, values: impl IntoField<Array<Ref<Expr>>>) -> Result<()> {
        if !self.in_loop() && !self.in_if() {
            return Err(self.outside("yield", "a loop or an if"));
        }
        let values = self.all_called(&values.into_field())?;
        self.emit_placed(YieldStmt::new(values).upcast())
    }

    /// Ends the loop.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a loop.
    pub fn emit_break(&mut self) -> Result<()> {
        if !self.in_loop() {
            return Err(self.outside("break", "a loop"));
        }
        self.emit_placed(BreakStmt::new().upcast())
    }

    /// Ends an iteration of the loop.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a loop.
    pub fn emit_continue(&mut self) -> Result<()> {
        if !self.in_loop() {
            return Err(self.outside("continue", "a loop"));
        }
        self.emit_placed(ContinueStmt::new().upcast())
    }

    fn emit_placed(&mut self, stmt: Ref<Stmt>) -> Result<()> {
        let stmt = placed(stmt, self.span.as_ref())?;
        self.emit(stmt)
    }
}
