//! References to changeable values.

use isoform::{Node, Ref, export};
use isoform_ir::ir::{RelayExpr, Span};

use super::expr::ExprWithOp;

/// Makes a reference with a first value.
#[derive(Node)]
#[node(key = "relay.RefCreate", kind = dag, init = make_ref_create)]
#[repr(C)]
pub struct RefCreate {
    #[node(base, default)]
    base: ExprWithOp,
    /// The value.
    pub value: Ref<RelayExpr>,
}

/// Makes the expression that makes a reference.
#[export("relay.RefCreate")]
fn make_ref_create(value: Ref<RelayExpr>, span: Option<Ref<Span>>) -> Ref<RefCreate> {
    let base = ExprWithOp::at(span);
    Ref::new(RefCreate { base, value })
}

/// The value of a reference at this moment.
#[derive(Node)]
#[node(key = "relay.RefRead", kind = dag, init = make_ref_read)]
#[repr(C)]
pub struct RefRead {
    #[node(base, default)]
    base: ExprWithOp,
    /// The reference.
    #[node(name = "ref")]
    pub reference: Ref<RelayExpr>,
}

/// Makes the expression that reads a reference.
#[export("relay.RefRead")]
fn make_ref_read(r#ref: Ref<RelayExpr>, span: Option<Ref<Span>>) -> Ref<RefRead> {
    Ref::new(RefRead {
        base: ExprWithOp::at(span),
        reference: r#ref,
    })
}

/// Replaces the value of a reference; the value of the expression is the empty tuple.
#[derive(Node)]
#[node(key = "relay.RefWrite", kind = dag, init = make_ref_write)]
#[repr(C)]
pub struct RefWrite {
    #[node(base, default)]
    base: ExprWithOp,
    /// The reference.
    #[node(name = "ref")]
    pub reference: Ref<RelayExpr>,
    /// The new value.
    pub value: Ref<RelayExpr>,
}

/// Makes the expression that writes to a reference.
#[export("relay.RefWrite")]
fn make_ref_write(
    r#ref: Ref<RelayExpr>,
    value: Ref<RelayExpr>,
    span: Option<Ref<Span>>,
) -> Ref<RefWrite> {
    Ref::new(RefWrite {
        base: ExprWithOp::at(span),
        reference: r#ref,
        value,
    })
}
