//! Expressions split into their operands, and rebuilt from operands.

use std::sync::LazyLock;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::analysis::pattern_vars;
use crate::analysis::patterns::parts;
use crate::{
    Call, Clause, Constant, Function, If, Let, Match, Pattern, PatternConstructor, PatternTuple,
    PatternVar, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var,
};
use isoform::traverse::Dispatch;
use isoform::{Array, Error, Node, Ref, Result};
use isoform_ir::ir::{Constructor, GlobalVar, Op, RelayExpr};

/// By the identity number of an object.
pub(crate) type ByIdent<T> = HashMap<u64, T, RandomState>;

/// The class of an expression.
#[derive(Clone, Copy)]
pub(crate) enum Form<'a> {
    Var(&'a Ref<Var>),
    GlobalVar(&'a Ref<GlobalVar>),
    Op(&'a Ref<Op>),
    Constructor(&'a Ref<Constructor>),
    Constant(&'a Ref<Constant>),
    Call(&'a Ref<Call>),
    Tuple(&'a Ref<Tuple>),
    TupleGetItem(&'a Ref<TupleGetItem>),
    Function(&'a Ref<Function>),
    Let(&'a Ref<Let>),
    If(&'a Ref<If>),
    Match(&'a Ref<Match>),
    RefCreate(&'a Ref<RefCreate>),
    RefRead(&'a Ref<RefRead>),
    RefWrite(&'a Ref<RefWrite>),
}

macro_rules! classes {
    ($($class:ident),*) => {
        /// The class of an expression.
        #[derive(Clone, Copy)]
        enum Class {
            $($class,)*
        }

        /// By type, to find a class with one load.
        static CLASSES: LazyLock<Dispatch<Class>> =
            LazyLock::new(|| Dispatch::new()$(.on::<$class>(Class::$class))*);

        impl<'a> Form<'a> {
            /// The form of an expression; None for a class declared elsewhere. O(1).
            #[inline]
            pub(in crate) fn find(expr: &'a Ref<RelayExpr>) -> Option<Self> {
                match CLASSES.get(expr.type_index())? {
                    $(Class::$class => expr.downcast_ref().map(Form::$class),)*
                }
            }
        }
    };
}
classes![
    Var,
    GlobalVar,
    Op,
    Constructor,
    Constant,
    Call,
    Tuple,
    TupleGetItem,
    Function,
    Let,
    If,
    Match,
    RefCreate,
    RefRead,
    RefWrite
];

impl<'a> Form<'a> {
    /// The form of an expression. O(1).
    ///
    /// # Errors
    ///
    /// `TypeError` for a class declared elsewhere, whose evaluation is unknown.
    pub(crate) fn of(expr: &'a Ref<RelayExpr>) -> Result<Form<'a>> {
        if let Some(form) = Form::find(expr) {
            return Ok(form);
        }
        Err(Error::type_error(format!(
            "expected an expression of Relay, got {}; replace temporary expressions before \
             this pass",
            expr.type_info().key()
        )))
    }

    /// True for names: evaluating a name computes nothing.
    pub(crate) fn is_atom(self) -> bool {
        matches!(
            self,
            Form::Var(_) | Form::GlobalVar(_) | Form::Op(_) | Form::Constructor(_)
        )
    }

    /// True for the classes of expressions that bind variables.
    pub(crate) fn binds(self) -> bool {
        matches!(self, Form::Function(_) | Form::Let(_) | Form::Match(_))
    }

    /// The number of operands: the expressions below this one, in the order of evaluation.
    pub(crate) fn operand_count(self) -> usize {
        match self {
            Form::Var(_)
            | Form::GlobalVar(_)
            | Form::Op(_)
            | Form::Constructor(_)
            | Form::Constant(_) => 0,
            Form::Call(call) => 1 + call.args.len(),
            Form::Tuple(tuple) => tuple.fields.len(),
            Form::TupleGetItem(_) | Form::Function(_) | Form::RefCreate(_) | Form::RefRead(_) => 1,
            Form::Let(_) | Form::RefWrite(_) => 2,
            Form::If(_) => 3,
            Form::Match(cases) => 1 + cases.clauses.len(),
        }
    }

    /// An operand: callee and arguments; value and body; condition and branches; the value
    /// and the results of a match.
    pub(crate) fn operand(self, position: usize) -> Option<&'a Ref<RelayExpr>> {
        let pick = |parts: &[&'a Ref<RelayExpr>]| parts.get(position).copied();
        match self {
            Form::Var(_)
            | Form::GlobalVar(_)
            | Form::Op(_)
            | Form::Constructor(_)
            | Form::Constant(_) => None,
            Form::Call(call) => match position.checked_sub(1) {
                None => Some(&call.op),
                Some(argument) => call.args.get(argument),
            },
            Form::Tuple(tuple) => tuple.fields.get(position),
            Form::TupleGetItem(get) => pick(&[&get.tuple_value]),
            Form::Function(func) => pick(&[&func.body]),
            Form::RefCreate(create) => pick(&[&create.value]),
            Form::RefRead(read) => pick(&[&read.reference]),
            Form::RefWrite(write) => pick(&[&write.reference, &write.value]),
            Form::Let(binding) => pick(&[&binding.value, &binding.body]),
            Form::If(choice) => pick(&[&choice.cond, &choice.true_branch, &choice.false_branch]),
            Form::Match(cases) => match position.checked_sub(1) {
                None => Some(&cases.data),
                Some(clause) => cases.clauses.get(clause).map(|clause| &clause.rhs),
            },
        }
    }

    /// Calls a function with every variable bound by the expression itself, in order.
    pub(crate) fn for_each_bound(self, found: &mut dyn FnMut(&Ref<Var>)) {
        match self {
            Form::Let(binding) => found(&binding.var),
            Form::Function(func) => func.params.iter().for_each(found),
            Form::Match(cases) => {
                for clause in cases.clauses.iter() {
                    pattern_vars(&clause.lhs).iter().for_each(&mut *found);
                }
            }
            _ => {}
        }
    }
}

/// The expression with other operands; the same object for the same operands. All other
/// fields are kept, including the span and the checked type.
///
/// # Errors
///
/// As [`Form::of`].
pub(crate) fn with_operands(
    expr: &Ref<RelayExpr>,
    operands: &[Ref<RelayExpr>],
) -> Result<Ref<RelayExpr>> {
    let form = Form::of(expr)?;
    let is_same = |(position, operand): (usize, &Ref<RelayExpr>)| {
        form.operand(position)
            .is_some_and(|old| old.same_as(operand))
    };
    if operands.iter().enumerate().all(is_same) {
        return Ok(expr.clone());
    }
    Ok(match (form, operands) {
        (Form::Call(call), [op, args @ ..]) => {
            let mut fields = call.clone_fields();
            fields.op = op.clone();
            fields.args = rest(&call.args, args);
            made(fields)
        }
        (Form::Tuple(tuple), items) => {
            let mut fields = tuple.clone_fields();
            fields.fields = items.to_vec().into();
            made(fields)
        }
        (Form::TupleGetItem(get), [tuple_value]) => {
            let mut fields = get.clone_fields();
            fields.tuple_value = tuple_value.clone();
            made(fields)
        }
        (Form::Function(func), [body]) => {
            let mut fields = func.clone_fields();
            fields.body = body.clone();
            made(fields)
        }
        (Form::RefCreate(create), [value]) => {
            let mut fields = create.clone_fields();
            fields.value = value.clone();
            made(fields)
        }
        (Form::RefRead(read), [reference]) => {
            let mut fields = read.clone_fields();
            fields.reference = reference.clone();
            made(fields)
        }
        (Form::RefWrite(write), [reference, value]) => {
            let mut fields = write.clone_fields();
            fields.reference = reference.clone();
            fields.value = value.clone();
            made(fields)
        }
        (Form::Let(binding), [value, body]) => {
            let mut fields = binding.clone_fields();
            fields.value = value.clone();
            fields.body = body.clone();
            made(fields)
        }
        (Form::If(choice), [cond, true_branch, false_branch]) => {
            let mut fields = choice.clone_fields();
            fields.cond = cond.clone();
            fields.true_branch = true_branch.clone();
            fields.false_branch = false_branch.clone();
            made(fields)
        }
        (Form::Match(cases), [data, results @ ..]) => {
            let clauses: Array<Ref<Clause>> = cases
                .clauses
                .iter()
                .zip(results)
                .map(|(clause, result)| {
                    if clause.rhs.same_as(result) {
                        clause.clone()
                    } else {
                        Ref::new(Clause {
                            lhs: clause.lhs.clone(),
                            rhs: result.clone(),
                        })
                    }
                })
                .collect();
            {
                let mut fields = cases.clone_fields();
                fields.data = data.clone();
                fields.clauses = clauses;
                made(fields)
            }
        }
        _ => expr.clone(),
    })
}

fn made<T: isoform::types::IsA<RelayExpr>>(fields: T) -> Ref<RelayExpr> {
    T::upcast_to(Ref::new(fields))
}

/// The same array for exactly the same items.
fn rest(old: &Array<Ref<RelayExpr>>, new: &[Ref<RelayExpr>]) -> Array<Ref<RelayExpr>> {
    let mut pairs = old.iter().zip(new);
    if old.len() == new.len() && pairs.all(|(old, new)| old.same_as(new)) {
        old.clone()
    } else {
        new.to_vec().into()
    }
}

/// The `let`, function or match with fresh variables for its own bindings; the caller
/// replaces the operands.
///
/// # Errors
///
/// As [`Form::of`].
pub(crate) fn with_bound(
    expr: &Ref<RelayExpr>,
    fresh: &ByIdent<Ref<Var>>,
) -> Result<Ref<RelayExpr>> {
    let renewed = |var: &Ref<Var>| fresh.get(&var.identity()).unwrap_or(var).clone();
    Ok(match Form::of(expr)? {
        Form::Let(binding) => {
            let mut fields = binding.clone_fields();
            fields.var = renewed(&binding.var);
            made(fields)
        }
        Form::Function(func) => {
            let mut fields = func.clone_fields();
            fields.params = func.params.iter().map(renewed).collect();
            made(fields)
        }
        Form::Match(cases) => {
            let clauses = cases.clauses.iter().map(|clause| {
                Ref::new(Clause {
                    lhs: with_bound_in_pattern(&clause.lhs, &renewed),
                    rhs: clause.rhs.clone(),
                })
            });
            let mut fields = cases.clone_fields();
            fields.clauses = clauses.collect();
            made(fields)
        }
        _ => expr.clone(),
    })
}

/// A pattern with other variables.
fn with_bound_in_pattern(
    pattern: &Ref<Pattern>,
    renewed: &dyn Fn(&Ref<Var>) -> Ref<Var>,
) -> Ref<Pattern> {
    // The open patterns with their finished parts.
    let mut open: Vec<(Ref<Pattern>, Vec<Ref<Pattern>>)> = Vec::new();
    let mut next = pattern.clone();
    loop {
        let mut done = match parts(&next) {
            Some(inner) if !inner.is_empty() => {
                let first = inner.get(0).cloned();
                open.push((next.clone(), Vec::with_capacity(inner.len())));
                next = first.unwrap_or(next);
                continue;
            }
            _ => match next.downcast_ref::<PatternVar>() {
                Some(binder) => {
                    let mut fields = binder.clone_fields();
                    fields.var = renewed(&binder.var);
                    Ref::new(fields).upcast()
                }
                None => next.clone(),
            },
        };
        loop {
            let Some((around, finished)) = open.last_mut() else {
                return done;
            };
            finished.push(done);
            let following = parts(around).and_then(|inner| inner.get(finished.len()));
            if let Some(following) = following.cloned() {
                next = following;
                break;
            }
            done = with_parts(around, std::mem::take(finished));
            open.pop();
        }
    }
}

fn with_parts(pattern: &Ref<Pattern>, patterns: Vec<Ref<Pattern>>) -> Ref<Pattern> {
    if let Some(tuple) = pattern.downcast_ref::<PatternTuple>() {
        let mut fields = tuple.clone_fields();
        fields.patterns = patterns.into();
        return Ref::new(fields).upcast();
    }
    match pattern.downcast_ref::<PatternConstructor>() {
        Some(made) => {
            let mut fields = made.clone_fields();
            fields.patterns = patterns.into();
            Ref::new(fields).upcast()
        }
        None => pattern.clone(),
    }
}
