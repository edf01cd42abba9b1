//! Rewriting in post-order: a rewriter gets the old and the new form of each expression.
//!
//! `ExprRewriter` is a policy of `traverse/rewrite.rs`, like map and substitution: the
//! policy decides which parts are expressions, and keeps the results of shared
//! expressions.

use std::sync::LazyLock;

use isoform::functions::Function as Callback;
use isoform::plumbing::{
    Arena, Cursor, MemoResults as Results, ObjRef, Outcome, Part, PartRef, Payload, Policy,
    Progress, Rewriter, Section, View, access, cyclic,
};
use isoform::traverse::Dispatch;
use isoform::types::{IsA, RegionKind};
use isoform::{Ref, Result, Value, export};
use isoform_ir::ir::{Constructor, GlobalVar, Op, RelayExpr};

use crate::{Clause, Constant, Let, Var};

type Rewrite<'f, C> =
    Box<dyn Fn(&mut C, &Ref<RelayExpr>, &Ref<RelayExpr>) -> Result<Option<Ref<RelayExpr>>> + 'f>;
type Before<'f, C> = Box<dyn Fn(&mut C, &Ref<RelayExpr>) -> Result<Option<Ref<RelayExpr>>> + 'f>;

/// Rewrites expressions by functions for their original classes.
///
/// A function gets an expression before and after its parts are rewritten, and returns the
/// replacement, or None to keep the rewritten expression. A class without a function uses
/// the function of the nearest class it extends. An expression is rewritten once, however
/// many paths lead to it, and stays the same object if no part changes. Types, attributes
/// and patterns are kept; copies keep spans and checked types.
///
/// Parameters are rewritten before the body of a function. The variable of a `let` is
/// rewritten at its first use, which is after the value unless the value is a recursive
/// function. An unused variable is rewritten after the body. If a function replaces the
/// variable by anything but a variable, the replacement takes the place of all uses,
/// and the binding disappears: its result is the body.
///
/// [`NodeMutator`](isoform::traverse::NodeMutator) rewrites types and everything else, too,
/// but does not show the original nodes.
///
/// ```
/// use isoform_relay::{AsExpr, ExprRewriter, If, Tuple, Var};
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
    /// A rewriter without functions; keeps every expression.
    pub fn new() -> Self {
        ExprRewriter {
            rewrite: Dispatch::new(),
            before: Dispatch::new(),
        }
    }

    /// Sets the function for expressions of a class. The function is not called for an
    /// expression rewritten to another class.
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

    /// Sets the function for expressions of a class, regardless of the class after
    /// rewriting.
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

    /// Sets the function that sees expressions of a class before the expressions below.
    /// A returned expression replaces the visited expression, and the expressions below
    /// are not rewritten.
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
    /// Errors of the functions; `TypeError` for an expression that does not fit its
    /// field, for example a call in place of a parameter.
    pub fn rewrite(&self, context: &mut C, expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        let (root, parts) = (Value::from(expr), Arena::default());
        let mut run = Run {
            rewriter: self,
            context,
            results: Results::default(),
            stacks: Rewriter::new(&parts),
        };
        let part = Part::alone(&root, RegionKind::Use);
        let outcome = access::traversing(|section| run.run(section, part))?;
        outcome.into_value(part.met).extract()
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

/// Rewrites an expression by one function for all classes, like [`ExprRewriter`]. The
/// function gets every expression before and after rewriting the parts, and returns the
/// replacement, or None to keep the rewritten expression. Linear in the number of
/// expressions.
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

/// The treatment of objects of a type by a rewrite.
#[derive(Clone, Copy, PartialEq)]
enum Strategy {
    /// An expression without inner expressions.
    Leaf,
    Expr,
    /// A `let`; the variable is rewritten last.
    Binding,
    /// Another object with expressions inside.
    Around,
}

/// Objects of other types stay unchanged, except sequences.
static WAYS: LazyLock<Dispatch<Strategy>> = LazyLock::new(|| {
    Dispatch::new()
        .on::<RelayExpr>(Strategy::Expr)
        .on::<Let>(Strategy::Binding)
        .on::<Constant>(Strategy::Leaf)
        .on::<Var>(Strategy::Leaf)
        .on::<GlobalVar>(Strategy::Leaf)
        .on::<Op>(Strategy::Leaf)
        .on::<Constructor>(Strategy::Leaf)
        .on::<Clause>(Strategy::Around)
});

/// One rewrite.
struct Run<'r, 'f, 'a, C> {
    rewriter: &'r ExprRewriter<'f, C>,
    context: &'r mut C,
    /// The results of objects with several owners.
    results: Results,
    stacks: Rewriter<'a, OpenObject>,
}

/// An object with parts being rewritten.
struct OpenObject {
    way: Strategy,
    /// True if the object has several owners.
    is_shared: bool,
}

impl<'a, C> Policy<'a> for Run<'_, '_, 'a, C> {
    type Extra = OpenObject;

    fn rewriter(&mut self) -> &mut Rewriter<'a, OpenObject> {
        &mut self.stacks
    }

    fn wants_plain(&self) -> bool {
        false
    }

    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<Progress> {
        match part.met {
            PartRef::Object(object) => self.meet_object(section, object, part.region),
            PartRef::Plain(_) => Ok(Progress::Same),
        }
    }

    #[inline(always)]
    fn meet_object(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
    ) -> Result<Progress> {
        if region != RegionKind::Use
            && let Some((_, open)) = self.stacks.innermost()
            && open.way == Strategy::Binding
        {
            return Ok(Progress::Same);
        }
        self.enter(section, object, region)
    }

    fn close(&mut self, section: &mut Section) -> Result<Progress> {
        let binding = self
            .stacks
            .innermost()
            .filter(|(_, open)| open.way == Strategy::Binding);
        if let Some((cursor, _)) = binding {
            let binding = *cursor;
            if let Some(body) = self.bind(section, &binding)?
                && let Some((cursor, open, _)) = self.stacks.build(section, false)?
            {
                return self.done(section, cursor.object(), &open, body);
            }
        }
        let built = self.stacks.rebuild(section)?;
        let Some((cursor, open)) = self.stacks.pop() else {
            return Ok(Progress::Same);
        };
        let outcome = self.stacks.take(built);
        self.done(section, cursor.object(), &open, outcome)
    }
}

impl<'a, C> Run<'_, '_, 'a, C> {
    /// Rewrites the variable of a `let`, the innermost object; returns the body if the
    /// binding disappears.
    fn bind(&mut self, section: &mut Section, binding: &Cursor<'a>) -> Result<Option<Outcome>> {
        let part = Part::object(binding.object(), RegionKind::Use);
        let Some(mut parts) = Cursor::open(section, binding.object(), part, View::Compared) else {
            return Ok(None);
        };
        let is_bound = |part: &Part<'_>| part.region != RegionKind::Use;
        let Some((var, region)) = parts
            .next(section)
            .filter(is_bound)
            .and_then(|part| Some((part.met.object()?, part.region)))
        else {
            return Ok(None);
        };
        let position = parts.position() - 1;
        let progress = self.enter(section, var, region)?;
        match self.stacks.take(progress) {
            Outcome::Same => Ok(None),
            Outcome::New(value) if value.peek::<Ref<Var>>().is_some() => {
                self.stacks.change_earlier(position, value);
                Ok(None)
            }
            Outcome::New(_) => {
                let mut body = None;
                while let Some(part) = parts.next(section) {
                    body = Some((parts.position() - 1, part.met));
                }
                let body = body.map(|(position, body)| match self.stacks.changed(position) {
                    Some(changed) => changed.clone(),
                    None => body.to_value(),
                });
                Ok(body.map(Outcome::New))
            }
        }
    }

    /// Rewrites an object, or opens it.
    #[inline(always)]
    fn enter(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
    ) -> Result<Progress> {
        let info = object.info();
        let way = match WAYS.get(info.index()) {
            Some(way) => *way,
            None if object.items().is_some_and(<[Value]>::is_empty) => return Ok(Progress::Same),
            None if matches!(info.class(), Payload::Sequence | Payload::Mutable) => {
                Strategy::Around
            }
            None => return Ok(Progress::Same),
        };
        let is_shared = object.is_shared();
        if is_shared && let Some(result) = self.results.found(object.ident()) {
            let Some(result) = result.cloned() else {
                return Err(cyclic(object).at(self.stacks.path()));
            };
            return Ok(self.stacks.settle(Some(result)));
        }
        if way != Strategy::Around
            && let Some(before) = self.rewriter.before.get(info.index())
            && let Some(expr) = object.as_ref().downcast_ref::<RelayExpr>()
        {
            let context = &mut *self.context;
            if let Some(replacement) = access::outside(section, || before(context, expr))? {
                return Ok(self.end(
                    object,
                    is_shared,
                    Outcome::of(replacement.into(), PartRef::Object(object)),
                ));
            }
        }
        let cursor = match way {
            Strategy::Leaf => None,
            Strategy::Expr | Strategy::Binding | Strategy::Around => {
                let part = Part::object(object, region);
                Cursor::open(section, object, part, View::Compared)
            }
        };
        let Some(cursor) = cursor else {
            return self.done(
                section,
                object,
                &OpenObject { way, is_shared },
                Outcome::Same,
            );
        };
        if is_shared {
            self.results.open(object.ident());
        }
        self.stacks.push(cursor, OpenObject { way, is_shared });
        Ok(Progress::Opened)
    }

    /// Calls the function for an object after rewriting the objects below.
    fn done(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        open: &OpenObject,
        below: Outcome,
    ) -> Result<Progress> {
        let outcome = match self.rewriter.rewrite.get(object.type_index()) {
            Some(rewrite) if open.way != Strategy::Around => {
                let now = match &below {
                    Outcome::Same => object.as_ref(),
                    Outcome::New(value) => value.as_object().unwrap_or(object.as_ref()),
                };
                let exprs = (object.as_ref().downcast_ref(), now.downcast_ref());
                let replacement = match exprs {
                    (Some(before), Some(after)) => {
                        let context = &mut *self.context;
                        access::outside(section, || rewrite(context, before, after))?
                    }
                    _ => None,
                };
                match replacement {
                    Some(replacement) => Outcome::of(replacement.into(), PartRef::Object(object)),
                    None => below,
                }
            }
            _ => below,
        };
        Ok(self.end(object, open.is_shared, outcome))
    }

    /// Records the result for an object.
    fn end(&mut self, object: ObjRef<'a>, is_shared: bool, outcome: Outcome) -> Progress {
        if is_shared {
            self.results.set(object.ident(), outcome.clone());
        }
        self.stacks.settle(Some(outcome))
    }
}

/// Rewrites an expression by a function. The function gets every expression before and
/// after rewriting the parts, and returns the replacement, or None to keep the
/// rewritten expression.
#[export("relay.ir.post_order_rewrite")]
fn exported_rewrite(expr: &Ref<RelayExpr>, function: Callback) -> Result<Ref<RelayExpr>> {
    post_order_rewrite(expr, |before, after| {
        let made = function.call(&[before.into(), after.into()])?;
        if made.is_none() {
            Ok(None)
        } else {
            made.extract().map(Some)
        }
    })
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_rewrite]
}
