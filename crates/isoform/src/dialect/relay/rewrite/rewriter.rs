//! Rewriting in post-order, with each expression as it was and as it has become.

use hashbrown::HashMap;
use isoform_macros::export;
use rapidhash::fast::RandomState;

use crate::dialect::relay::analysis::order::{Step, Visitor, visit, visit_below};
use crate::dialect::relay::{
    Call, Clause, Function, If, Let, Match, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem,
    with_fields,
};
use crate::ir::RelayExpr;
use crate::kernel::container::Array;
use crate::kernel::convert::IsA;
use crate::kernel::error::Result;
use crate::kernel::function::Function as Callback;
use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;
use crate::traverse::Dispatch;

type Rewrite<'f, C> =
    Box<dyn Fn(&mut C, &Ref<RelayExpr>, &Ref<RelayExpr>) -> Result<Option<Ref<RelayExpr>>> + 'f>;
type Before<'f, C> = Box<dyn Fn(&mut C, &Ref<RelayExpr>) -> Result<Option<Ref<RelayExpr>>> + 'f>;

/// Rewrites expressions, each by the function for the class that it had at first.
///
/// A function gets the expression as it was, and as it is after everything below it was
/// rewritten, and returns the expression that comes in its place, or None for the latter. A
/// class without a function has that of the nearest class it extends. An expression is
/// rewritten once, however many ways lead to it, and is the same object if nothing in it
/// changes. Types, attributes and patterns are kept; so are spans and checked types in the
/// copies.
///
/// [`NodeMutator`](crate::traverse::NodeMutator) rewrites types and everything else, too, but does not
/// show what a node was before.
///
/// ```
/// use isoform::dialect::relay::{AsExpr, ExprRewriter, If, Tuple, Var};
///
/// // Every choice becomes its first branch.
/// let collapse = ExprRewriter::new().on(|count: &mut i32, before: &Ref<If>, after: &Ref<If>| {
///     *count += 1;
///     assert!(before.same_as(after));
///     Ok(Some(after.true_branch.clone()))
/// });
/// # use isoform::Ref;
/// let [c, x, y] = ["c", "x", "y"].map(Var::new);
/// let choice = If::new(&c, &x, &y);
/// let pair = Tuple::new([choice.expr(), choice.expr()]);
/// let mut count = 0;
/// let rewritten = collapse.rewrite(&mut count, &pair.expr())?;
/// let rewritten = rewritten.downcast_ref::<Tuple>().expect("a tuple");
/// assert!(count == 1 && rewritten.fields.iter().all(|field| field.same_as(&x)));
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct ExprRewriter<'f, C> {
    rewrite: Dispatch<Rewrite<'f, C>>,
    before: Dispatch<Before<'f, C>>,
}

impl<'f, C> ExprRewriter<'f, C> {
    /// A rewriter without functions, which keeps every expression.
    pub fn new() -> Self {
        ExprRewriter {
            rewrite: Dispatch::new(),
            before: Dispatch::new(),
        }
    }

    /// Sets the function for expressions of a class. If an expression has become one of
    /// another class, it is not called.
    #[must_use]
    pub fn on<T: IsA<RelayExpr>>(
        self,
        function: impl Fn(&mut C, &Ref<T>, &Ref<T>) -> Result<Option<Ref<RelayExpr>>> + 'f,
    ) -> Self {
        self.on_any::<T>(move |context, before, after| match after.downcast_ref() {
            Some(after) => function(context, before, after),
            None => Ok(None),
        })
    }

    /// Sets the function for expressions of a class, whatever they have become.
    #[must_use]
    pub fn on_any<T: IsA<RelayExpr>>(
        mut self,
        function: impl Fn(&mut C, &Ref<T>, &Ref<RelayExpr>) -> Result<Option<Ref<RelayExpr>>> + 'f,
    ) -> Self {
        let function =
            move |context: &mut C, before: &Ref<RelayExpr>, after: &Ref<RelayExpr>| match before
                .downcast_ref()
            {
                Some(before) => function(context, before, after),
                None => Ok(None),
            };
        self.rewrite.insert(T::type_index(), Box::new(function));
        self
    }

    /// Sets the function that sees expressions of a class before what lies below them: if
    /// it returns an expression, that comes in place of this one, and nothing below it is
    /// rewritten.
    #[must_use]
    pub fn before<T: IsA<RelayExpr>>(
        mut self,
        function: impl Fn(&mut C, &Ref<T>) -> Result<Option<Ref<RelayExpr>>> + 'f,
    ) -> Self {
        let function = move |context: &mut C, expr: &Ref<RelayExpr>| match expr.downcast_ref() {
            Some(expr) => function(context, expr),
            None => Ok(None),
        };
        self.before.insert(T::type_index(), Box::new(function));
        self
    }

    /// Rewrites an expression. Depth is limited by memory only. Linear in the number of
    /// expressions.
    ///
    /// # Errors
    ///
    /// Those of the functions; `TypeError` for an expression that does not fit its field,
    /// such as a call in place of a parameter.
    pub fn rewrite(&self, context: &mut C, expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        let mut run = Run {
            rewriter: self,
            context,
            done: HashMap::default(),
        };
        visit(expr, &mut run)?;
        Ok(run.of(expr))
    }
}

impl<C> Default for ExprRewriter<'_, C> {
    fn default() -> Self {
        ExprRewriter::new()
    }
}

impl<C> std::fmt::Debug for ExprRewriter<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ExprRewriter").field(&self.rewrite).finish()
    }
}

/// Rewrites an expression by one function for all classes, as [`ExprRewriter`] does: it gets
/// each expression as it was and as it has become, and returns what comes in its place, or
/// None for the latter. Linear in the number of expressions.
///
/// # Errors
///
/// As [`ExprRewriter::rewrite`].
pub fn post_order_rewrite(
    expr: &Ref<RelayExpr>,
    function: impl Fn(&Ref<RelayExpr>, &Ref<RelayExpr>) -> Result<Option<Ref<RelayExpr>>>,
) -> Result<Ref<RelayExpr>> {
    ExprRewriter::new()
        .on_any(|_: &mut (), before: &Ref<RelayExpr>, after| function(before, after))
        .rewrite(&mut (), expr)
}

/// One rewrite.
struct Run<'r, 'f, C> {
    rewriter: &'r ExprRewriter<'f, C>,
    context: &'r mut C,
    done: HashMap<u64, Ref<RelayExpr>, RandomState>,
}

impl<C> Run<'_, '_, C> {
    /// The expression that replaces another one.
    fn of<T: IsA<RelayExpr>>(&self, expr: &Ref<T>) -> Ref<RelayExpr> {
        match self.done.get(&expr.identity()) {
            Some(done) => done.clone(),
            None => T::upcast_to(expr.clone()),
        }
    }

    fn all<T: IsA<RelayExpr>>(&self, exprs: &Array<Ref<T>>) -> Value {
        let done: Array<Ref<RelayExpr>> = exprs.iter().map(|expr| self.of(expr)).collect();
        done.into()
    }

    /// The expression with everything below it rewritten.
    fn updated(&self, expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        let node = expr.as_object();
        macro_rules! on {
            ($($class:ident($of:ident): $($field:literal = $value:expr),+;)*) => {$(
                if let Some($of) = expr.downcast_ref::<$class>() {
                    let made = with_fields(node, [$(($field, Value::from($value))),+])?;
                    return made.cast();
                }
            )*};
        }
        on! {
            Call(call): "op" = self.of(&call.op), "args" = self.all(&call.args);
            Tuple(tuple): "fields" = self.all(&tuple.fields);
            TupleGetItem(get): "tuple_value" = self.of(&get.tuple_value);
            Let(binding):
                "var" = self.of(&binding.var),
                "value" = self.of(&binding.value),
                "body" = self.of(&binding.body);
            If(branch):
                "cond" = self.of(&branch.cond),
                "true_branch" = self.of(&branch.true_branch),
                "false_branch" = self.of(&branch.false_branch);
            Function(func): "params" = self.all(&func.params), "body" = self.of(&func.body);
            RefCreate(create): "value" = self.of(&create.value);
            RefRead(read): "ref" = self.of(&read.reference);
            RefWrite(write): "ref" = self.of(&write.reference), "value" = self.of(&write.value);
            Match(cases): "data" = self.of(&cases.data), "clauses" = self.clauses(cases);
        }
        Ok(expr.clone())
    }

    fn clauses(&self, cases: &Match) -> Array<Ref<Clause>> {
        let clauses = cases.clauses.iter().map(|clause| {
            let rhs = self.of(&clause.rhs);
            match rhs.same_as(&clause.rhs) {
                true => clause.clone(),
                false => clause.with_rhs(rhs),
            }
        });
        clauses.collect()
    }
}

impl<C> Visitor for Run<'_, '_, C> {
    type Then = Ref<RelayExpr>;

    fn arrive(
        &mut self,
        expr: &Ref<RelayExpr>,
        arrivals: u32,
        next: &mut Vec<Step<Self::Then>>,
    ) -> Result<()> {
        if arrivals > 1 {
            return Ok(());
        }
        if let Some(before) = self.rewriter.before.get(expr.type_index())
            && let Some(replacement) = before(self.context, expr)?
        {
            self.done.insert(expr.identity(), replacement);
            return Ok(());
        }
        visit_below(expr, next);
        next.push(Step::Then(expr.clone()));
        Ok(())
    }

    fn then(&mut self, expr: Ref<RelayExpr>) -> Result<()> {
        let mut made = self.updated(&expr)?;
        if let Some(rewrite) = self.rewriter.rewrite.get(expr.type_index())
            && let Some(replacement) = rewrite(self.context, &expr, &made)?
        {
            made = replacement;
        }
        if !made.same_as(&expr) {
            self.done.insert(expr.identity(), made);
        }
        Ok(())
    }
}

/// Rewrites an expression by a function, which gets each expression as it was and as it has
/// become, and returns what comes in its place, or None for the latter.
#[export("relay.ir.post_order_rewrite", crate = crate)]
fn exported_rewrite(expr: &Ref<RelayExpr>, function: Callback) -> Result<Ref<RelayExpr>> {
    post_order_rewrite(expr, |before, after| {
        let made = function.call(&[before.into(), after.into()])?;
        match made.is_none() {
            true => Ok(None),
            false => made.extract().map(Some),
        }
    })
}

pub(super) fn register() -> Result<()> {
    crate::ir::functions![exported_rewrite]
}
