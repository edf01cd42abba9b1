//! Visits in post-order.

use indexmap::IndexMap;
use isoform::functions::Function as Callback;
use isoform::{Error, Ref, Result, export};
use isoform_ir::ir::RelayExpr;
use rapidhash::fast::RandomState;

use super::order::{Step, Visitor, visit, visit_below};

/// Calls a function once per expression, in post-order.
///
/// Operators, global variables and constructors are expressions, too; types, attributes and
/// patterns are not visited. The order below an expression is that of the fields, except
/// that the value of a binding comes before its variable. Depth is limited by memory only.
/// Linear in the number of expressions.
///
/// ```
/// use isoform_relay::{AsExpr, Let, Tuple, Var, analysis};
///
/// let (x, y) = (Var::new("x"), Var::new("y"));
/// let mut order = Vec::new();
/// analysis::post_order_visit(&Let::new(&x, &y, Tuple::new([x.expr(), y.expr()])).expr(), |expr| {
///     order.push(expr.type_info().key());
///     Ok(())
/// })?;
/// assert_eq!(order, ["relay.Var", "relay.Var", "relay.Tuple", "relay.Let"]);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// Errors of the function; an error ends the visit.
pub fn post_order_visit(
    expr: &Ref<RelayExpr>,
    function: impl FnMut(&Ref<RelayExpr>) -> Result<()>,
) -> Result<()> {
    PostOrderOptions::default().visit(expr, function)
}

/// Options of [`post_order_visit`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PostOrderOptions {
    /// How often an expression is visited at most, if several ways lead to it: 1 to 9.
    pub visit_limit: u32,
}

impl Default for PostOrderOptions {
    fn default() -> Self {
        PostOrderOptions { visit_limit: 1 }
    }
}

impl PostOrderOptions {
    /// Sets how often an expression is visited at most. The expressions below it are
    /// visited only the first time.
    #[must_use]
    pub fn visit_limit(mut self, visit_limit: u32) -> Self {
        self.visit_limit = visit_limit;
        self
    }

    /// [`post_order_visit`] with these options.
    ///
    /// # Errors
    ///
    /// `ValueError` for a limit outside of 1 to 9; errors of the function.
    pub fn visit(
        self,
        expr: &Ref<RelayExpr>,
        function: impl FnMut(&Ref<RelayExpr>) -> Result<()>,
    ) -> Result<()> {
        if !(1..=9).contains(&self.visit_limit) {
            return Err(Error::value_error(format!(
                "PostOrderOptions.visit_limit: expected a number from 1 to 9, got {}",
                self.visit_limit
            )));
        }
        visit(
            expr,
            &mut PostOrder {
                limit: self.visit_limit,
                function,
            },
        )
    }
}

struct PostOrder<F> {
    limit: u32,
    function: F,
}

impl<F: FnMut(&Ref<RelayExpr>) -> Result<()>> Visitor for PostOrder<F> {
    type VisitAction = Ref<RelayExpr>;

    fn arrive(
        &mut self,
        expr: &Ref<RelayExpr>,
        arrivals: u32,
        next: &mut Vec<Step<Self::VisitAction>>,
    ) -> Result<()> {
        if arrivals == 1 {
            visit_below(expr, next);
        }
        if arrivals <= self.limit {
            next.push(Step::Then(expr.clone()));
        }
        Ok(())
    }

    fn then(&mut self, expr: Ref<RelayExpr>) -> Result<()> {
        (self.function)(&expr)
    }
}

/// The numbers of places of expressions, by identity, in the order of
/// [`post_order_visit`]; the root counts as one place. Linear in the number of
/// expressions.
pub fn expr_ref_counts(expr: &Ref<RelayExpr>) -> IndexMap<u64, u32, RandomState> {
    struct Counts(IndexMap<u64, u32, RandomState>);
    impl Visitor for Counts {
        type VisitAction = u64;

        fn arrive(
            &mut self,
            expr: &Ref<RelayExpr>,
            arrivals: u32,
            next: &mut Vec<Step<u64>>,
        ) -> Result<()> {
            if arrivals == 1 {
                visit_below(expr, next);
            }
            next.push(Step::Then(expr.identity()));
            Ok(())
        }

        fn then(&mut self, identity: u64) -> Result<()> {
            *self.0.entry(identity).or_insert(0) += 1;
            Ok(())
        }
    }
    let mut counts = Counts(IndexMap::default());
    let counted = visit(expr, &mut counts);
    debug_assert!(counted.is_ok(), "counting does not fail");
    counts.0
}

/// Calls a function once per expression, in post-order.
#[export("relay.analysis.post_order_visit")]
fn exported_post_order_visit(expr: &Ref<RelayExpr>, fvisit: Callback) -> Result<()> {
    post_order_visit(expr, |expr| fvisit.call(&[expr.into()]).map(drop))
}

/// The expressions with their numbers of places, in post-order.
#[export("relay.analysis.expr_ref_counts")]
fn exported_ref_counts(expr: &Ref<RelayExpr>) -> Result<Vec<(Ref<RelayExpr>, i64)>> {
    let counts = expr_ref_counts(expr);
    let mut found = Vec::with_capacity(counts.len());
    post_order_visit(expr, |expr| {
        let count = counts.get(&expr.identity()).copied().unwrap_or(0);
        found.push((expr.clone(), count.into()));
        Ok(())
    })?;
    Ok(found)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_post_order_visit, exported_ref_counts]
}
