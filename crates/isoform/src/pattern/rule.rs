//! Rules: replacements for the matches of a pattern.

use std::fmt;
use std::sync::Arc;

use super::instantiate::Plan;
use super::matching::{Match, Pattern};
use crate::kernel::error::Result;
use crate::kernel::value::Value;
use crate::structural::variable;

/// Decides whether a rule applies to a match.
pub type RuleGuard = dyn Fn(&Match) -> Result<bool> + Send + Sync;
type Computed = dyn Fn(&Match) -> Result<Option<Value>> + Send + Sync;

/// A pattern and its replacement.
///
/// ```
/// use isoform::pattern::{Pattern, Rule, rewrite};
/// use isoform::tir;
/// use isoform::values::DType;
///
/// let int = |name| tir::Var::new(name, DType::INT32);
/// let (x, a, b) = (int("x"), int("a"), int("b"));
/// let same = Rule::new(Pattern::new(tir::Min::new(&x, &x)?, [&x])?, &x)?;
/// let root = tir::Add::new(&a, &tir::Min::new(&b, &b)?.upcast())?;
/// let done = rewrite(&root.into(), &[same])?;
/// assert!(isoform::structural_equal(&done.value, tir::Add::new(&a, &b)?)?);
/// assert_eq!(done.applied, [1]);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone)]
pub struct Rule {
    pattern: Pattern,
    replacement: Replacement,
    guard: Option<Arc<RuleGuard>>,
}

#[derive(Clone)]
enum Replacement {
    Template(Box<Plan>),
    Computed(Arc<Computed>),
}

impl Rule {
    /// Makes a rule that replaces matches of `pattern` by the template
    /// `replacement`, filled in by [`Match::instantiate`]; if that returns
    /// None, the rule does not apply.
    ///
    /// # Errors
    ///
    /// `ValueError` if the replacement binds a hole or a free variable of the
    /// pattern, or uses a variable that only the pattern binds.
    pub fn new(pattern: Pattern, replacement: impl Into<Value>) -> Result<Rule> {
        let plan = Plan::new(&pattern, &replacement.into())?;
        Ok(Rule {
            pattern,
            replacement: Replacement::Template(Box::new(plan)),
            guard: None,
        })
    }

    /// Makes a rule whose replacement a function computes; if it returns None,
    /// the rule does not apply. The result is used unchanged: its variables
    /// mean what they mean at the place of the match.
    pub fn computed(
        pattern: Pattern,
        replacement: impl Fn(&Match) -> Result<Option<Value>> + Send + Sync + 'static,
    ) -> Rule {
        Rule {
            pattern,
            replacement: Replacement::Computed(Arc::new(replacement)),
            guard: None,
        }
    }

    /// Restricts the rule to matches that a function accepts.
    #[must_use]
    pub fn guard(mut self, guard: impl Fn(&Match) -> Result<bool> + Send + Sync + 'static) -> Rule {
        self.guard = Some(Arc::new(guard));
        self
    }

    /// The pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The template of the replacement, unless a function computes it.
    pub fn replacement(&self) -> Option<&Value> {
        match &self.replacement {
            Replacement::Template(plan) => Some(plan.template()),
            Replacement::Computed(_) => None,
        }
    }

    /// Returns the replacement of a value; None if the rule does not apply.
    ///
    /// # Errors
    ///
    /// As [`Pattern::match_value`] and [`Match::instantiate`], plus those of
    /// guards and functions.
    pub fn apply(&self, value: &Value) -> Result<Option<Value>> {
        let Some(found) = self.pattern.match_value(value)? else {
            return Ok(None);
        };
        if let Some(guard) = &self.guard
            && !guard(&found)?
        {
            return Ok(None);
        }
        match &self.replacement {
            Replacement::Template(plan) => plan.instantiate(&found),
            Replacement::Computed(replacement) => replacement(&found),
        }
    }

    /// The variables that a replacement introduces into the value.
    pub(super) fn own_variables(&self) -> Vec<(u64, Value)> {
        match &self.replacement {
            Replacement::Template(plan) => {
                let own = plan.own_variables(&self.pattern);
                own.map(|(ident, var)| (ident, var.clone())).collect()
            }
            Replacement::Computed(_) => Vec::new(),
        }
    }

    /// The rule with other variables in place of those that its replacement
    /// introduces into the value.
    pub(super) fn renamed(&self, pairs: &[(Value, Value)]) -> Result<Rule> {
        let mut rule = self.clone();
        if let Replacement::Template(plan) = &self.replacement {
            let own: Vec<u64> = self.own_variables().iter().map(|own| own.0).collect();
            let pairs: Vec<_> = pairs
                .iter()
                .filter(|pair| variable(&pair.0).is_some_and(|v| own.contains(&v)))
                .cloned()
                .collect();
            let template = crate::traverse::substitute(plan.template(), &pairs)?;
            rule.replacement =
                Replacement::Template(Box::new(Plan::new(&self.pattern, &template)?));
        }
        Ok(rule)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule")
            .field("pattern", &self.pattern)
            .field("replacement", &self.replacement())
            .finish_non_exhaustive()
    }
}
