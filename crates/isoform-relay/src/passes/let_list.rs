//! Bindings in order, from which a chain of `let` is made.

use crate::{AsExpr, Let, Var};
use isoform::{Node, Ref};
use isoform_ir::ir::RelayExpr;

/// The bindings of a scope in the order in which they are computed.
#[derive(Default)]
pub(super) struct LetList {
    bindings: Vec<Binding>,
}

struct Binding {
    var: Ref<Var>,
    value: Ref<RelayExpr>,
    /// The `let` of the program that the binding comes from.
    source: Option<Ref<Let>>,
}

impl LetList {
    /// Adds a binding that the program has already, maybe of another value.
    pub(super) fn push_source(&mut self, source: &Ref<Let>, value: Ref<RelayExpr>) {
        self.bindings.push(Binding {
            var: source.var.clone(),
            value,
            source: Some(source.clone()),
        });
    }

    /// Adds a binding.
    pub(super) fn push(&mut self, var: Ref<Var>, value: Ref<RelayExpr>) {
        self.bindings.push(Binding {
            var,
            value,
            source: None,
        });
    }

    /// The body with these bindings around it. A `let` of the program is reused where
    /// nothing in it changes, and otherwise keeps its span; a new one has the span of its
    /// value. Its checked type is that of the body.
    pub(super) fn around(self, body: Ref<RelayExpr>) -> Ref<RelayExpr> {
        let wrap = |body: Ref<RelayExpr>, binding: Binding| {
            let Binding { var, value, source } = binding;
            match source {
                None => Let::made(var, value, body).expr(),
                Some(source) => with_let(&source, value, body),
            }
        };
        self.bindings.into_iter().rev().fold(body, wrap)
    }
}

/// A `let` of the program with another value and body: itself if both are those that it
/// has.
pub(super) fn with_let(
    source: &Ref<Let>,
    value: Ref<RelayExpr>,
    body: Ref<RelayExpr>,
) -> Ref<RelayExpr> {
    if source.value.same_as(&value) && source.body.same_as(&body) {
        return source.expr();
    }
    let mut fields = source.clone_fields();
    (fields.value, fields.body) = (value, body);
    Ref::new(fields).expr()
}

/// A variable for a value, numbered within its function.
pub(super) fn fresh_var(number: &mut usize, value: &Ref<RelayExpr>) -> Ref<Var> {
    let name = format!("x_{number}");
    *number += 1;
    Var::holding(name, value)
}
