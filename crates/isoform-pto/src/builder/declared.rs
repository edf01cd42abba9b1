//! The types of calls of functions that the builder knows.

use super::frame::Kind;
use super::ir_builder::IRBuilder;
use crate::*;
use isoform::objects::with_field;
use isoform::{Array, Ref, Result};

impl IRBuilder {
    /// Makes the types of a function's results known: from now on, values and arguments of
    /// statements that are calls of this function by name, and have no type, get the type of
    /// the result, or the tuple of the types of several results.
    ///
    /// Functions built by this builder are known from the moment their result types are.
    ///
    /// ```
    /// use isoform_pto::{Call, DataType, Function, GlobalVar, IRBuilder, ScalarType, SeqStmts};
    ///
    /// let int = ScalarType::new(DataType::Int64);
    /// let mut ib = IRBuilder::new();
    /// ib.declare(&Function::new("answer", [], [int.upcast()], SeqStmts::new([])));
    /// ib.function("main", |ib| {
    ///     let x = ib.let_("x", Call::new(GlobalVar::new("answer"), []))?;
    ///     assert!(x.ty.isa::<ScalarType>());
    ///     Ok(())
    /// })?;
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn declare(&mut self, function: &Ref<Function>) {
        let types = function.return_types.clone();
        self.declared.insert(function.name.clone(), types);
    }

    /// The expression, with its type if it is a call of a known function.
    pub(super) fn called(&self, expr: Ref<Expr>) -> Result<Ref<Expr>> {
        let Some(call) = expr.downcast_ref::<Call>() else {
            return Ok(expr);
        };
        if !call.op.isa::<GlobalVar>() || !call.ty.isa::<UnknownType>() {
            return Ok(expr);
        }
        let name = &call.op.name;
        let open = self.frames.iter().find_map(|frame| match &frame.kind {
            Kind::Function {
                plan, return_types, ..
            } if plan.name == *name => Some(Array::from(return_types.clone())),
            _ => None,
        });
        let Some(types) = open.or_else(|| self.declared.get(name).cloned()) else {
            return Ok(expr);
        };
        let ty: Ref<Type> = match types.len() {
            0 => return Ok(expr),
            1 => types.iter().cloned().collect::<Vec<_>>().remove(0),
            _ => TupleType::new(types.iter().cloned().collect::<Vec<_>>()).upcast(),
        };
        with_field(expr.as_object(), "type", ty.into())?.cast()
    }

    /// [`called`](Self::called) for each expression.
    pub(super) fn all_called(&self, exprs: &Array<Ref<Expr>>) -> Result<Array<Ref<Expr>>> {
        exprs.iter().map(|expr| self.called(expr.clone())).collect()
    }
}
