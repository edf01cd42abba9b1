//! Bindings in order, for making a chain of `let`.

use crate::{AsExpr, Let, Var};
use isoform::{Node, Ref};
use isoform_ir::ir::RelayExpr;

/// The bindings of a scope in the order of computation.
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
    /// Adds a binding of the program, possibly with another value.
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

    /// The body inside of these bindings. An unchanged `let` of the program is reused,
    /// and a changed `let` keeps its span; a new `let` has the span of its value. The
    /// checked type is the checked type of the body.
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

/// A `let` of the program with another value and body; the same object if neither
/// changes.
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

/// A variable for a value, with a number within the function.
pub(super) fn fresh_var(number: &mut usize, value: &Ref<RelayExpr>) -> Ref<Var> {
    let name = format!("x_{number}");
    *number += 1;
    Var::holding(name, value)
}
