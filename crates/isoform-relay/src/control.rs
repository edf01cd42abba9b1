//! Bindings and branches.

use isoform::{Node, Ref, export};
use isoform_ir::ir::{RelayExpr, Span};

use super::expr::ExprWithOp;
use super::var::Var;

/// Binds a variable to a value in a body.
///
/// The variable is also bound in the value itself, so a function can call itself.
#[derive(Node)]
#[node(key = "relay.Let", kind = dag, scope, init = make_let)]
#[repr(C)]
pub struct Let {
    #[node(base, default)]
    base: ExprWithOp,
    /// The variable.
    #[node(def)]
    pub var: Ref<Var>,
    /// Its value.
    pub value: Ref<RelayExpr>,
    /// The result.
    pub body: Ref<RelayExpr>,
}

impl Let {
    /// A binding made by a pass, with the type of its body and the span of its value.
    pub(super) fn made(var: Ref<Var>, value: Ref<RelayExpr>, body: Ref<RelayExpr>) -> Ref<Let> {
        Ref::new(Let {
            base: ExprWithOp::typed(body.checked_type_.clone(), value.span.clone()),
            var,
            value,
            body,
        })
    }
}

/// Makes a binding.
#[export("relay.Let")]
fn make_let(
    variable: Ref<Var>,
    value: Ref<RelayExpr>,
    body: Ref<RelayExpr>,
    span: Option<Ref<Span>>,
) -> Ref<Let> {
    Ref::new(Let {
        base: ExprWithOp::at(span),
        var: variable,
        value,
        body,
    })
}

/// A conditional; only the chosen branch is evaluated.
#[derive(Node)]
#[node(key = "relay.If", kind = dag, init = make_if)]
#[repr(C)]
pub struct If {
    #[node(base, default)]
    base: ExprWithOp,
    /// The condition, a scalar of type bool.
    pub cond: Ref<RelayExpr>,
    /// The value for a true condition.
    pub true_branch: Ref<RelayExpr>,
    /// The value for a false condition.
    pub false_branch: Ref<RelayExpr>,
}

/// Makes a choice between two values.
#[export("relay.If")]
fn make_if(
    cond: Ref<RelayExpr>,
    true_branch: Ref<RelayExpr>,
    false_branch: Ref<RelayExpr>,
    span: Option<Ref<Span>>,
) -> Ref<If> {
    Ref::new(If {
        base: ExprWithOp::at(span),
        cond,
        true_branch,
        false_branch,
    })
}
