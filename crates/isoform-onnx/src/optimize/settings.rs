//! Options of optimisation, checked.

use std::collections::HashMap;

use isoform::Error;
use isoform::host::name_hint;

use super::rule::{Rule, RuleGroup};
use super::rules::rules as library_rules;
use super::steps::STEPS;
use crate::ir::Call;

/// The calls on constants to be computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fold {
    /// None.
    None,
    /// Calls whose results the standard fixes bit by bit.
    #[default]
    Exact,
    /// All calls with a result, including transcendental functions, sums of floats and
    /// products of matrices, whose last bits differ between runtimes.
    All,
}

/// The options as one walk needs them.
pub(super) struct Settings {
    pub(super) fold: Fold,
    pub(super) max_constant: u64,
    rules: Vec<Rule>,
    by_op: HashMap<String, Vec<usize>>,
    steps: Vec<&'static str>,
}

impl Settings {
    pub(super) fn new(
        fold: Fold,
        max_constant: u64,
        rules: Vec<Rule>,
        only: Option<&[String]>,
        without: &[String],
    ) -> isoform::Result<Settings> {
        for name in only.unwrap_or_default().iter().chain(without) {
            check_name(name, &rules)?;
        }
        let chosen = |name: &str| {
            only.is_none_or(|only| only.iter().any(|chosen| chosen == name))
                && !without.iter().any(|left_out| left_out == name)
        };
        let steps = STEPS
            .iter()
            .map(|step| step.name)
            .filter(|name| chosen(name))
            .collect();
        let rules: Vec<Rule> = rules
            .into_iter()
            .filter(|rule| chosen(rule.name()) || rule.group() == RuleGroup::User)
            .collect();
        let mut by_op: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, rule) in rules.iter().enumerate() {
            for op in rule.patterns.iter().flat_map(|pattern| &pattern.root.ops) {
                let listed = by_op.entry(op.clone()).or_default();
                if listed.last() != Some(&index) {
                    listed.push(index);
                }
            }
        }
        Ok(Settings {
            fold,
            max_constant,
            rules,
            by_op,
            steps,
        })
    }

    /// True if a step or a rule is used.
    pub(super) fn uses(&self, step: &str) -> bool {
        self.steps.contains(&step)
    }

    /// True for the name of a rule that the user added.
    pub(super) fn is_user(&self, name: &str) -> bool {
        let mut users = self.rules.iter().rev();
        users
            .by_ref()
            .take_while(|rule| rule.group() == RuleGroup::User)
            .any(|rule| rule.name() == name)
    }

    /// The rules whose patterns begin with the operator of a call.
    pub(super) fn rules_for(&self, call: &Call) -> impl Iterator<Item = &Rule> {
        let listed = if call.callee.is_some() {
            None
        } else if call.domain.is_empty() {
            self.by_op.get(call.op.as_str())
        } else {
            self.by_op.get(&format!("{}::{}", call.domain, call.op))
        };
        listed
            .into_iter()
            .flatten()
            .map(|index| &self.rules[*index])
    }
}

/// Refuses a name that is neither a step nor a rule. A rule of the library may be left out
/// though it would not be used anyway, for example without fusion.
fn check_name(name: &str, rules: &[Rule]) -> isoform::Result<()> {
    let steps = STEPS.iter().map(|step| step.name);
    let all = steps.chain(rules.iter().chain(library_rules()).map(Rule::name));
    let mut names: Vec<&str> = Vec::new();
    for known in all {
        if !names.contains(&known) {
            names.push(known);
        }
    }
    if names.contains(&name) {
        return Ok(());
    }
    let hint = name_hint(name, names.iter().copied());
    Err(Error::value_error(if hint.is_empty() {
        format!(
            "there is no rule '{name}'; the rules are {}",
            names.join(", ")
        )
    } else {
        format!("there is no rule '{name}'{hint}")
    }))
}
