//! The table of all rules, converted to rules of the driver.

use std::sync::Arc;

use super::purity::Purity;
use super::row::{Exact, Row};
use super::rule_match::{Holes, RuleMatch};
use super::rules::{arithmetic, casts, likes, moves};
use crate::{AttrsWildcard, Call, Constant, Wildcard, op};
use isoform::pattern::{Hole, PatternOptions, Rule};
use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Ref, Result};

/// The rules in the order of trials on an expression.
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

/// Ready-made rules.
pub(super) struct Prepared {
    pub(super) rules: Vec<Rule>,
    /// The names of the rules.
    pub(super) names: Vec<&'static str>,
    pub(super) purity: Arc<Purity>,
}

/// All rules, or only the rules and parts that keep every bit.
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
            prepared
                .rules
                .push(Rule::computed(pattern, move |pattern_match| {
                    let (holes, purity) = (&*holes, &*purity);
                    let rule_match = RuleMatch {
                        found: pattern_match,
                        holes,
                        purity,
                    };
                    row.apply(&rule_match, exact)
                }));
            prepared.names.push(row.name);
        }
    }
    Ok(prepared)
}

/// The holes of a template, with the requirements on their parts.
fn holes_of(template: &Ref<Call>, holes: &Holes) -> Result<Vec<Hole>> {
    let mut pattern_holes: Vec<Hole> = Vec::new();
    walk_objects(template, |object, _| {
        let is_known = |hole: &Hole| {
            hole.var()
                .as_object()
                .is_some_and(|var| var.same_as(object))
        };
        if pattern_holes.iter().any(is_known) {
            return Ok(WalkResult::<()>::Advance);
        }
        if let Some(var) = object.downcast_ref::<Wildcard>() {
            let hole = Hole::new(var);
            pattern_holes.push(match var {
                var if var.same_as(&holes.c) || var.same_as(&holes.d) => hole.class::<Constant>(),
                var if holes.only.iter().any(|only| var.same_as(only)) => hole.one_use(),
                _ => hole,
            });
        } else if let Some(var) = object.downcast_ref::<AttrsWildcard>() {
            pattern_holes.push(Hole::new(var));
        }
        Ok(WalkResult::Advance)
    })?;
    Ok(pattern_holes)
}
