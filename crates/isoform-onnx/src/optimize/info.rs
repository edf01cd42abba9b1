//! The rules and steps of the library, for people.

use super::{Pattern, RuleGroup, STEPS, rules};

/// A rule or step of the library, in words.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct RuleInfo {
    /// The name, by which it can be chosen or left out.
    pub name: &'static str,
    /// `step`, `exact`, or `fuse` for those that have to be allowed.
    pub group: &'static str,
    /// The first and the last version of `ai.onnx` to which it applies; None for no last one.
    pub versions: (i64, Option<i64>),
    /// The patterns that it looks for.
    pub before: Vec<&'static str>,
    /// The replacement.
    pub after: &'static str,
    /// Why the result is the same.
    pub reason: &'static str,
}

/// The steps, and the rules in the order in which they are tried.
pub fn rule_infos() -> impl Iterator<Item = RuleInfo> {
    let steps = STEPS.iter().map(|step| RuleInfo {
        name: step.name,
        group: "step",
        versions: (1, None),
        before: Vec::new(),
        after: step.effect,
        reason: step.reason,
    });
    let rules = rules().iter().map(|rule| {
        let versions = rule.since_until();
        let last = Some(*versions.end()).filter(|last| *last < i64::MAX);
        RuleInfo {
            name: rule.name(),
            group: match rule.group() {
                RuleGroup::Fuse => "fuse",
                _ => "exact",
            },
            versions: (*versions.start(), last),
            before: rule.patterns().map(Pattern::text).collect(),
            after: rule.replacement(),
            reason: rule.reason(),
        }
    });
    steps.chain(rules)
}
