//! Normal forms: programs with bindings at the beginning of scopes.
//!
//! One visit in the order of evaluation makes both forms. An expression to bind goes to
//! the list of the scope that computes the expression, once all operands are ready.
//! After the visit of a scope, its list is wrapped around its result.

use super::form::{Form, with_operands};
use super::graph::{Graph, Id};
use super::let_list::{LetList, fresh_var};
use super::scopes::{Scope, Scopes};
use crate::{AsExpr, Let};
use isoform::{Ref, Result};
use isoform_ir::ir::RelayExpr;

/// The scopes of a program during the conversion to a normal form.
pub(super) struct Blocks<'g> {
    pub(super) graph: &'g Graph,
    pub(super) scopes: &'g Scopes,
    lists: Vec<LetList>,
    /// The rewritten expressions.
    pub(super) results: Vec<Ref<RelayExpr>>,
    /// The number of fresh variables so far.
    fresh: usize,
}

impl<'g> Blocks<'g> {
    pub(super) fn new(graph: &'g Graph, scopes: &'g Scopes) -> Blocks<'g> {
        let mut lists = Vec::new();
        lists.resize_with(scopes.len(), LetList::default);
        Blocks {
            graph,
            scopes,
            lists,
            results: graph.exprs.clone(),
            fresh: 0,
        }
    }

    /// The expression with its rewritten operands; operands in separate scopes include
    /// the bindings of the scope.
    pub(super) fn rebuilt(&mut self, id: Id, form: Form<'_>) -> Result<Ref<RelayExpr>> {
        let here = self.scopes.scope(id);
        let operands = self.graph.operands(id).iter().enumerate();
        let mut rebuilt = Vec::with_capacity(operands.len());
        for (position, operand) in operands {
            let result = self.results[*operand as usize].clone();
            let scope = self.scopes.of_operand(form, id, position);
            rebuilt.push(if scope == here {
                result
            } else {
                self.finish(scope, result)
            });
        }
        if rebuilt.is_empty() {
            Ok(self.graph.expr(id).clone())
        } else {
            with_operands(self.graph.expr(id), &rebuilt)
        }
    }

    /// Binds a value to a fresh variable at the end of a scope's list.
    pub(super) fn bind_fresh(&mut self, scope: Scope, value: Ref<RelayExpr>) -> Ref<RelayExpr> {
        let var = fresh_var(&mut self.fresh, &value);
        let result = var.expr();
        self.lists[scope as usize].push(var, value);
        result
    }

    /// Binds the variable of a `let` of the program at the end of a scope's list.
    pub(super) fn bind_source(&mut self, scope: Scope, source: &Ref<Let>, value: Ref<RelayExpr>) {
        self.lists[scope as usize].push_source(source, value);
    }

    /// The bindings of a scope around its result.
    pub(super) fn finish(&mut self, scope: Scope, result: Ref<RelayExpr>) -> Ref<RelayExpr> {
        std::mem::take(&mut self.lists[scope as usize]).around(result)
    }

    /// The whole program.
    pub(super) fn into_root(mut self) -> Ref<RelayExpr> {
        let result = self.results[0].clone();
        self.finish(0, result)
    }
}
