//! Rules: replacements for the matches of a pattern.

use std::fmt;
use std::sync::Arc;

use super::data::Pattern;
use super::demands::check_results;
use super::instantiate::Plan;
use super::matching::Match;
use crate::kernel::error::{Error, Result};
use crate::kernel::value::Value;
use crate::structural::variable;

/// Decides whether a rule applies to a match.
pub type RuleGuard = dyn Fn(&Match) -> Result<bool> + Send + Sync;
type Computed = dyn Fn(&Match) -> Result<Option<Value>> + Send + Sync;
type ComputedResults = dyn Fn(&Match) -> Result<Option<Vec<Value>>> + Send + Sync;

/// A pattern and its replacement.
///
/// ```
/// use isoform::pattern::{Pattern, Rule, rewrite};
/// use isoform_ir::tir;
/// use isoform::values::DType;
///
/// let int = |name| tir::Var::new(name, DType::INT32);
/// let (x, a, b) = (int("x"), int("a"), int("b"));
/// let same = Rule::new(Pattern::new(tir::Min::new(&x, &x)?, [&x])?, &x)?;
/// let root = tir::Add::new(&a, &tir::Min::new(&b, &b)?.upcast())?;
/// let done = rewrite(root, &[same])?;
/// assert!(isoform::structural_equal(&done.value, tir::Add::new(&a, &b)?)?);
/// assert_eq!(done.applied, [1]);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone)]
pub struct Rule {
    pattern: Pattern,
    replacement: Replacement,
    guard: Option<Arc<RuleGuard>>,
    benefit: u32,
}

#[derive(Clone)]
enum Replacement {
    Template(Box<Plan>),
    Computed(Arc<Computed>),
    Results(Vec<Plan>),
    ComputedResults(Arc<ComputedResults>),
}

/// The values that a rule puts in the place of a match.
pub(super) enum Replaced {
    Value(Value),
    /// One value per result.
    Results(Vec<Value>),
}

impl Rule {
    /// Makes a rule that replaces matches of `pattern` by the template `replacement`,
    /// filled in by [`Match::instantiate`]; if the result is None, the rule does not
    /// apply.
    ///
    /// # Errors
    ///
    /// `ValueError` if the replacement binds a hole or a free variable of the pattern,
    /// uses a variable that only the pattern binds, or has a free variable that the
    /// pattern lacks.
    pub fn new(pattern: Pattern, replacement: impl Into<Value>) -> Result<Rule> {
        Rule::introducing(pattern, replacement, std::iter::empty::<Value>())
    }

    /// Like [`new`](Self::new), for a replacement with free variables that the pattern
    /// lacks: `variables` names them. They are variables around the program, such as
    /// global ones, and binders of the program do not capture them.
    ///
    /// ```
    /// use isoform::pattern::{Pattern, Rule, rewrite};
    /// use isoform_ir::tir;
    /// use isoform::values::DType;
    ///
    /// let [x, a, limit] = ["x", "a", "limit"].map(|name| tir::Var::new(name, DType::INT32));
    /// let double = Pattern::new(tir::Add::new(&x, &x)?, [&x])?;
    /// let limited = tir::Min::new(&x, &limit)?;
    /// assert!(Rule::new(double.clone(), &limited).is_err());
    /// let rule = Rule::introducing(double, &limited, [&limit])?;
    /// let done = rewrite(tir::Add::new(&a, &a)?, &[rule])?;
    /// assert!(isoform::structural_equal(&done.value, tir::Min::new(&a, &limit)?)?);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn introducing<V: Into<Value>>(
        pattern: Pattern,
        replacement: impl Into<Value>,
        variables: impl IntoIterator<Item = V>,
    ) -> Result<Rule> {
        let variables = variables.into_iter().map(Into::into);
        let named: Vec<u64> = variables.filter_map(|var| variable(&var)).collect();
        let plan = Plan::new(&pattern, &replacement.into())?;
        plan.check_own(
            &pattern,
            &named,
            "`introduces` of the rule (in Rust, `Rule::introducing`)",
        )?;
        Ok(Rule::with(pattern, Replacement::Template(Box::new(plan))))
    }

    fn with(pattern: Pattern, replacement: Replacement) -> Rule {
        Rule {
            pattern,
            replacement,
            guard: None,
            benefit: 1,
        }
    }

    /// Makes a rule for a node with several results: the templates `replacements`
    /// replace the results, starting with result 0. Types of objects that select a
    /// result of a node declare this as [`PROJECTION`](crate::traverse::PROJECTION);
    /// types that bind variables to all results at once declare
    /// [`BINDING`](crate::traverse::BINDING).
    ///
    /// The rule applies if every use of the node selects a result that has a
    /// replacement. Variables are replaced only by values without parts, or if they are
    /// used once. Only [`rewrite_greedily`](super::rewrite_greedily()) takes such
    /// rules.
    ///
    /// # Errors
    ///
    /// As [`Rule::new`]; `ValueError` also if no type selects or binds the results of
    /// such nodes.
    pub fn results(
        pattern: Pattern,
        replacements: impl IntoIterator<Item = Value>,
    ) -> Result<Rule> {
        let plans = replacements
            .into_iter()
            .map(|replacement| {
                let plan = Plan::new(&pattern, &replacement)?;
                plan.check_own(&pattern, &[], "a function that makes the replacements")?;
                Ok(plan)
            })
            .collect::<Result<Vec<Plan>>>()?;
        check_results(&pattern.facts.roots)?;
        Ok(Rule::with(pattern, Replacement::Results(plans)))
    }

    /// Like [`results`](Self::results), with replacements computed by a function; if
    /// the function returns None, the rule does not apply.
    pub fn computed_results(
        pattern: Pattern,
        replacements: impl Fn(&Match) -> Result<Option<Vec<Value>>> + Send + Sync + 'static,
    ) -> Rule {
        Rule::with(
            pattern,
            Replacement::ComputedResults(Arc::new(replacements)),
        )
    }

    /// Makes a rule whose replacement a function computes; if the function returns
    /// None, the rule does not apply. The result is used unchanged: its variables have
    /// the meaning of the match's place.
    pub fn computed(
        pattern: Pattern,
        replacement: impl Fn(&Match) -> Result<Option<Value>> + Send + Sync + 'static,
    ) -> Rule {
        Rule::with(pattern, Replacement::Computed(Arc::new(replacement)))
    }

    /// Sets the benefit, by default 1: of several matching rules, the rule with the
    /// highest benefit is used, and among equals the first.
    #[must_use]
    pub fn with_benefit(mut self, benefit: u32) -> Rule {
        self.benefit = benefit;
        self
    }

    /// The benefit.
    pub fn benefit(&self) -> u32 {
        self.benefit
    }

    /// Restricts the rule to matches accepted by a function.
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
            _ => None,
        }
    }

    /// True if the rule replaces several results of a node.
    pub fn has_results(&self) -> bool {
        matches!(
            self.replacement,
            Replacement::Results(_) | Replacement::ComputedResults(_)
        )
    }

    /// Returns the replacement of a value; None if the rule does not apply.
    ///
    /// # Errors
    ///
    /// As [`Pattern::match_value`] and [`Match::instantiate`], and errors of guards and
    /// functions.
    pub fn apply(&self, value: impl Into<Value>) -> Result<Option<Value>> {
        let Some(found) = self.pattern.match_value(value)? else {
            return Ok(None);
        };
        match self.replace(&found)? {
            None => Ok(None),
            Some(Replaced::Value(value)) => Ok(Some(value)),
            Some(Replaced::Results(_)) => Err(Error::value_error(
                "Rule.apply: the rule replaces the results of a node one by one, so only \
                 rewrite_greedily, which knows what uses them, can apply it",
            )),
        }
    }

    /// Returns the replacement of a match; None if the rule does not apply.
    pub(super) fn replace(&self, found: &Match) -> Result<Option<Replaced>> {
        if let Some(guard) = &self.guard
            && !guard(found)?
        {
            return Ok(None);
        }
        match &self.replacement {
            Replacement::Template(plan) => Ok(plan.instantiate(found)?.map(Replaced::Value)),
            Replacement::Computed(replacement) => Ok(replacement(found)?.map(Replaced::Value)),
            Replacement::ComputedResults(replacements) => {
                Ok(replacements(found)?.map(Replaced::Results))
            }
            Replacement::Results(plans) => {
                let results = plans
                    .iter()
                    .map(|plan| plan.instantiate(found))
                    .collect::<Result<Option<Vec<Value>>>>()?;
                Ok(results.map(Replaced::Results))
            }
        }
    }

    /// True if a function computes the replacement.
    pub(super) fn is_computed(&self) -> bool {
        matches!(
            self.replacement,
            Replacement::Computed(_) | Replacement::ComputedResults(_)
        )
    }

    /// True if comparison at any depth, or a function of the user, decides about a match.
    pub(super) fn sees_deep(&self) -> bool {
        self.guard.is_some() || self.pattern.sees_deep() || self.is_computed()
    }

    /// The templates of the replacement.
    fn plans(&self) -> &[Plan] {
        match &self.replacement {
            Replacement::Template(plan) => std::slice::from_ref(plan),
            Replacement::Results(plans) => plans,
            Replacement::Computed(_) | Replacement::ComputedResults(_) => &[],
        }
    }

    /// The variables introduced into the value by a replacement.
    pub(super) fn own_variables(&self) -> Vec<(u64, Value)> {
        let plans = self.plans().iter();
        let own = plans.flat_map(|plan| plan.own_variables(&self.pattern));
        own.map(|(ident, var)| (ident, var.clone())).collect()
    }

    /// The rule with other variables in place of the variables that its replacement
    /// introduces into the value.
    pub(super) fn renamed(&self, pairs: &[(Value, Value)]) -> Result<Rule> {
        let own: Vec<u64> = self.own_variables().iter().map(|own| own.0).collect();
        let pairs: Vec<_> = pairs
            .iter()
            .filter(|pair| variable(&pair.0).is_some_and(|v| own.contains(&v)))
            .cloned()
            .collect();
        let renamed = |plan: &Plan| {
            let template = crate::traverse::substitute(plan.template(), &pairs)?;
            Plan::new(&self.pattern, &template)
        };
        let mut rule = self.clone();
        match &mut rule.replacement {
            Replacement::Template(plan) => **plan = renamed(plan)?,
            Replacement::Results(plans) => {
                for plan in plans {
                    *plan = renamed(plan)?;
                }
            }
            Replacement::Computed(_) | Replacement::ComputedResults(_) => {}
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
