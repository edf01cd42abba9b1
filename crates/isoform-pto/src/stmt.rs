//! Statements.

use isoform::types::{Enumerator, IntoField, NodeEnum};
use isoform::{Array, Error, Map, Node, Ref, Result, Str, Value, export};

use super::arguments::Attrs;
use super::enums::{ForKind, ForKindObject, InlineLanguage};
use super::expr::{Expr, IterArg, Var};
use super::node::{IRNode, Span};

/// The base of all statements; a plain `Stmt` has no effect.
#[derive(Node, Default)]
#[node(key = "pto.Stmt")]
#[node(attrs("init.keyword_only" = "leading_comments"))]
#[repr(C)]
pub struct Stmt {
    #[node(base, default)]
    base: IRNode,
    /// The comments before the statement, one per line.
    #[node(ignore, default, repr = false)]
    pub leading_comments: Array<Str>,
}

impl Stmt {
    /// The fields of a statement at a place.
    pub fn at(span: Option<Ref<Span>>) -> Self {
        Stmt {
            base: IRNode::at(span),
            leading_comments: Array::new(),
        }
    }
}

/// Assigns a value to a variable, for the following statements.
#[derive(Node)]
#[node(key = "pto.AssignStmt")]
#[repr(C)]
pub struct AssignStmt {
    #[node(base, default)]
    base: Stmt,
    /// The variable.
    #[node(def)]
    pub var: Ref<Var>,
    /// The value.
    pub value: Ref<Expr>,
}

/// A choice between two statements; the yields of the chosen statement become the
/// values of variables.
#[derive(Node)]
#[node(key = "pto.IfStmt")]
#[repr(C)]
pub struct IfStmt {
    #[node(base, default)]
    base: Stmt,
    /// The condition.
    pub condition: Ref<Expr>,
    /// The statement for a true condition.
    pub then_body: Ref<Stmt>,
    /// The statement for a false condition.
    pub else_body: Option<Ref<Stmt>>,
    /// The variables for the yielded values.
    #[node(def)]
    pub return_vars: Array<Ref<Var>>,
}

/// Declares statements that leave a body with values.
macro_rules! leaving {
    ($($(#[$doc:meta])* $node:ident = $key:tt, $make:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Node)]
        #[node(key = $key, init = $make)]
        #[repr(C)]
        pub struct $node {
            #[node(base, default)]
            base: Stmt,
            /// The values.
            pub value: Array<Ref<Expr>>,
        }

        /// Makes the statement, with values or without.
        #[export($key)]
        pub(super) fn $make(
            #[default = ()] value: Value,
            span: Option<Ref<Span>>,
        ) -> Result<Ref<$node>> {
            let (value, span) = values_or_span($key, value, span)?;
            Ok(Ref::new($node { base: Stmt::at(span), value }))
        }
    )*};
}

leaving! {
    /// Ends an iteration of a loop or a branch, with results.
    YieldStmt = "pto.YieldStmt", make_yield;
    /// Ends a function, with results.
    ReturnStmt = "pto.ReturnStmt", make_return;
}

type Leaving = (Array<Ref<Expr>>, Option<Ref<Span>>);

/// Decides whether the first argument is already the source location.
fn values_or_span(key: &str, value: Value, span: Option<Ref<Span>>) -> Result<Leaving> {
    if value.is_none() {
        return Ok((Array::new(), span));
    }
    match (value.peek::<Ref<Span>>(), span) {
        (Some(place), None) => Ok((Array::new(), Some(place.clone()))),
        (Some(_), Some(_)) => Err(Error::type_error(format!(
            "{key}.__init__() argument 'value': expected expressions, got pto.Span"
        ))),
        (None, span) => {
            let values = <Array<Ref<Expr>> as isoform::functions::Argument>::from_value(value);
            let values = values.map_err(|error| {
                Error::new(
                    error.kind(),
                    format!("{key}.__init__() argument 'value': {}", error.message()),
                )
            })?;
            Ok((values, span))
        }
    }
}

/// A loop over numbers with carried values.
///
/// The values yielded by the body become the values of `iter_args` in the next
/// iteration, and the values of `return_vars` after the last iteration.
///
/// Everything computed before the first iteration is visited first: the definitions of
/// the loop are not bound there.
#[derive(Node)]
#[node(key = "pto.ForStmt", init = make_for, no_new)]
#[node(visit_order(start, stop, step, kind, attrs, iter_args, loop_var, body, return_vars))]
#[repr(C)]
pub struct ForStmt {
    #[node(base)]
    base: Stmt,
    /// The number of the iteration.
    #[node(def)]
    pub loop_var: Ref<Var>,
    /// The first one.
    pub start: Ref<Expr>,
    /// The number before which the loop ends.
    pub stop: Ref<Expr>,
    /// The distance between numbers.
    pub step: Ref<Expr>,
    /// The carried variables.
    #[node(def)]
    pub iter_args: Array<Ref<IterArg>>,
    /// The body.
    pub body: Ref<Stmt>,
    /// The variables for the last values.
    #[node(def)]
    pub return_vars: Array<Ref<Var>>,
    /// The relation between the iterations.
    pub kind: Enumerator<ForKind>,
    /// Additional information from passes and users.
    pub attrs: Map<Str, Value>,
}

impl ForStmt {
    /// A sequential loop without carried values.
    pub fn new(
        loop_var: impl IntoField<Ref<Var>>,
        start: impl IntoField<Ref<Expr>>,
        stop: impl IntoField<Ref<Expr>>,
        step: impl IntoField<Ref<Expr>>,
        body: impl IntoField<Ref<Stmt>>,
    ) -> Ref<Self> {
        ForStmt::carrying(
            loop_var,
            start,
            stop,
            step,
            Array::<Ref<IterArg>>::new(),
            body,
            Array::<Ref<Var>>::new(),
        )
    }

    /// A sequential loop with carried values.
    pub fn carrying(
        loop_var: impl IntoField<Ref<Var>>,
        start: impl IntoField<Ref<Expr>>,
        stop: impl IntoField<Ref<Expr>>,
        step: impl IntoField<Ref<Expr>>,
        iter_args: impl IntoField<Array<Ref<IterArg>>>,
        body: impl IntoField<Ref<Stmt>>,
        return_vars: impl IntoField<Array<Ref<Var>>>,
    ) -> Ref<Self> {
        Ref::new(ForStmt {
            base: Stmt::at(None),
            loop_var: loop_var.into_field(),
            start: start.into_field(),
            stop: stop.into_field(),
            step: step.into_field(),
            iter_args: iter_args.into_field(),
            body: body.into_field(),
            return_vars: return_vars.into_field(),
            kind: ForKind::Sequential.object(),
            attrs: Map::new(),
        })
    }
}

/// Makes a loop over numbers.
#[export("pto.ForStmt")]
#[allow(
    clippy::too_many_arguments,
    reason = "the parameters are those in Python"
)]
pub(super) fn make_for(
    loop_var: Ref<Var>,
    start: Ref<Expr>,
    stop: Ref<Expr>,
    step: Ref<Expr>,
    iter_args: Array<Ref<IterArg>>,
    body: Ref<Stmt>,
    return_vars: Array<Ref<Var>>,
    span: Option<Ref<Span>>,
    #[default = ForKind::Sequential.object()] kind: Ref<ForKindObject>,
    attrs: Option<Attrs>,
) -> Ref<ForStmt> {
    Ref::new(ForStmt {
        base: Stmt::at(span),
        loop_var,
        start,
        stop,
        step,
        iter_args,
        body,
        return_vars,
        kind,
        attrs: attrs.unwrap_or_default().0,
    })
}

/// A loop that ends when a condition on the carried values is false.
#[derive(Node)]
#[node(key = "pto.WhileStmt")]
#[node(visit_order(iter_args, condition, body, return_vars))]
#[repr(C)]
pub struct WhileStmt {
    #[node(base, default)]
    base: Stmt,
    /// True for another iteration; the condition may use `iter_args`.
    pub condition: Ref<Expr>,
    /// The carried variables.
    #[node(def)]
    pub iter_args: Array<Ref<IterArg>>,
    /// The body.
    pub body: Ref<Stmt>,
    /// The variables for the last values.
    #[node(def)]
    pub return_vars: Array<Ref<Var>>,
}

/// Statements one after the other.
#[derive(Node)]
#[node(key = "pto.SeqStmts")]
#[repr(C)]
pub struct SeqStmts {
    #[node(base, default)]
    base: Stmt,
    /// The statements.
    pub stmts: Array<Ref<Stmt>>,
}

/// Evaluates an expression for its effect.
#[derive(Node)]
#[node(key = "pto.EvalStmt")]
#[repr(C)]
pub struct EvalStmt {
    #[node(base, default)]
    base: Stmt,
    /// The expression.
    pub expr: Ref<Expr>,
}

/// Ends a loop.
#[derive(Node)]
#[node(key = "pto.BreakStmt")]
#[repr(C)]
pub struct BreakStmt {
    #[node(base, default)]
    base: Stmt,
}

/// Ends an iteration of a loop.
#[derive(Node)]
#[node(key = "pto.ContinueStmt")]
#[repr(C)]
pub struct ContinueStmt {
    #[node(base, default)]
    base: Stmt,
}

/// Program text in another language, copied verbatim.
#[derive(Node)]
#[node(key = "pto.InlineStmt")]
#[repr(C)]
pub struct InlineStmt {
    #[node(base, default)]
    base: Stmt,
    /// The text.
    pub body: Str,
    /// Its language.
    pub language: Enumerator<InlineLanguage>,
}
