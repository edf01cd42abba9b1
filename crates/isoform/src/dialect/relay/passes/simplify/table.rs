//! The rules as data, and how a row of the table becomes rules of the driver.

use std::sync::Arc;

use super::found::{Expr, Found, Holes, is_integer};
use super::purity::Purity;
use super::rules::{arithmetic, casts, likes, moves};
use crate::dialect::relay::{AsExpr, AttrsWildcard, Call, Constant, Wildcard, op};
use crate::ir::{Op, RelayExpr};
use crate::kernel::convert::IsA;
use crate::kernel::error::Result;
use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;
use crate::pattern::{Hole, InteriorUses, PatternOptions, Rule};
use crate::structural::structural_equal;
use crate::traverse::{WalkResult, walk_objects};

/// The values for which a rule keeps every bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exact {
    Always,
    /// Those of integers, which wrap around; floats are rounded differently.
    Integers,
    Never,
}

/// One rule.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) exact: Exact,
    /// The argument that the rule is right.
    pub(super) reason: &'static str,
    /// The expressions that it replaces.
    pub(super) templates: fn(&Holes) -> Result<Vec<Ref<Call>>>,
    /// The users that nodes below the root of a template may have: by default only the
    /// match, because otherwise their work would be done twice.
    pub(super) inner: InteriorUses,
    pub(super) guard: fn(&Found<'_>) -> Result<bool>,
    /// The part that the replacement no longer uses, which therefore must have no effect.
    pub(super) drops: Option<Dropped>,
    pub(super) replacement: fn(&Found<'_>) -> Result<Option<Expr>>,
}

/// A part that a replacement does without.
pub(super) type Dropped = fn(&Holes) -> &Ref<Wildcard>;

/// The rules in the order in which they are tried on an expression.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    let tables = [
        likes::ROWS,
        arithmetic::IDENTITIES,
        moves::ROWS,
        casts::ROWS,
        arithmetic::CONSTANTS,
    ];
    tables.into_iter().flatten()
}

/// Rules that are ready to run.
pub(super) struct Prepared {
    pub(super) rules: Vec<Rule>,
    /// The row of each rule.
    pub(super) names: Vec<&'static str>,
    pub(super) purity: Arc<Purity>,
}

/// The rules, or only what of them keeps every bit.
///
/// # Errors
///
/// `ValueError` if a program has taken the name of an operator.
pub(super) fn prepared(exact: bool) -> Result<Prepared> {
    op::register()?;
    let holes = Arc::new(Holes::new());
    let purity = Arc::new(Purity::default());
    let mut prepared = Prepared {
        rules: Vec::new(),
        names: Vec::new(),
        purity: Arc::clone(&purity),
    };
    for row in rows().filter(|row| !exact || row.exact != Exact::Never) {
        for template in (row.templates)(&holes)? {
            let options = PatternOptions::default().interior_uses(row.inner);
            let pattern = options.pattern(&template, holes_of(&template, &holes)?)?;
            let (holes, purity) = (Arc::clone(&holes), Arc::clone(&purity));
            prepared.rules.push(Rule::computed(pattern, move |found| {
                let (holes, purity) = (&*holes, &*purity);
                let found = Found {
                    found,
                    holes,
                    purity,
                };
                row.apply(&found, exact)
            }));
            prepared.names.push(row.name);
        }
    }
    Ok(prepared)
}

impl Row {
    /// The expression that comes in the place of a match; None if the rule does not apply.
    fn apply(&self, found: &Found<'_>, exact: bool) -> Result<Option<Value>> {
        let Some(ty) = found.ty()? else {
            return Ok(None);
        };
        if exact && self.exact == Exact::Integers && !is_integer(ty.dtype) || !(self.guard)(found)?
        {
            return Ok(None);
        }
        if let Some(dropped) = self.drops
            && !found.purity.may_drop(found.part(dropped(found.holes))?)?
        {
            return Ok(None);
        }
        let Some(next) = (self.replacement)(found)? else {
            return Ok(None);
        };
        // The users of the expression were typed with the type that it has.
        let is_same = match &next.checked_type_ {
            Some(next) => structural_equal(next, ty)?,
            None => false,
        };
        Ok(is_same.then(|| Value::from(next)))
    }
}

/// The holes that occur in a template, with what they ask of their parts.
fn holes_of(template: &Ref<Call>, holes: &Holes) -> Result<Vec<Hole>> {
    let mut found: Vec<Hole> = Vec::new();
    walk_objects(template, |object, _| {
        let is_known = |hole: &Hole| {
            hole.var()
                .as_object()
                .is_some_and(|var| var.same_as(object))
        };
        if found.iter().any(is_known) {
            return Ok(WalkResult::<()>::Advance);
        }
        if let Some(var) = object.downcast_ref::<Wildcard>() {
            let hole = Hole::new(var);
            found.push(match var {
                var if var.same_as(&holes.c) || var.same_as(&holes.d) => hole.class::<Constant>(),
                var if holes.only.iter().any(|only| var.same_as(only)) => hole.one_use(),
                _ => hole,
            });
        } else if let Some(var) = object.downcast_ref::<AttrsWildcard>() {
            found.push(Hole::new(var));
        }
        Ok(WalkResult::Advance)
    })?;
    Ok(found)
}

/// A template of a call with one argument and any attributes.
pub(super) fn call_with<T: IsA<RelayExpr>>(
    name: &str,
    arg: &Ref<T>,
    attrs: &Ref<AttrsWildcard>,
) -> Result<Ref<Call>> {
    Ok(Call::new(Op::get(name)?, [arg.expr()]).with_attrs(attrs))
}

/// The guard of rules that only their templates restrict.
pub(super) fn always(_: &Found<'_>) -> Result<bool> {
    Ok(true)
}

/// The result of a rule that keeps a part.
pub(super) fn keep(part: &Expr) -> Result<Option<Expr>> {
    Ok(Some(part.clone()))
}
