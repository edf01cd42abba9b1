//! `isoform optimize --list-rules`.

use std::io;

use isoform_onnx::optimize::{Pattern, Rule, RuleGroup, STEPS, rules};
use serde_json::json;

use crate::output::Output;

pub(super) fn list(output: &mut Output<'_, '_>) -> io::Result<()> {
    for step in STEPS {
        if output.json {
            output.json_line(&json!({
                "name": step.name,
                "group": "step",
                "opsets": [1, null],
                "before": [],
                "after": step.effect,
                "reason": step.reason,
            }))?;
        } else {
            entry(step.name, "step", &[], step.effect, step.reason, output)?;
        }
    }
    for rule in rules() {
        let group = match rule.group() {
            RuleGroup::Fuse => "fuse",
            _ => "exact",
        };
        let before: Vec<&str> = rule.patterns().map(Pattern::text).collect();
        if output.json {
            let opsets = rule.since_until();
            let last = Some(*opsets.end()).filter(|last| *last < i64::MAX);
            output.json_line(&json!({
                "name": rule.name(),
                "group": group,
                "opsets": [opsets.start(), last],
                "before": before,
                "after": rule.replacement(),
                "reason": rule.reason(),
            }))?;
        } else {
            let about = match opsets(rule) {
                None => group.to_owned(),
                Some(opsets) => format!("{group}, {opsets}"),
            };
            entry(
                rule.name(),
                &about,
                &before,
                rule.replacement(),
                rule.reason(),
                output,
            )?;
        }
    }
    Ok(())
}

/// The versions of the operator set to which a rule applies; None for all versions.
fn opsets(rule: &Rule) -> Option<String> {
    let versions = rule.since_until();
    match (*versions.start(), *versions.end()) {
        (..=1, i64::MAX) => None,
        (first, i64::MAX) => Some(format!("opset {first} or later")),
        (first, last) => Some(format!("opsets {first} to {last}")),
    }
}

fn entry(
    name: &str,
    about: &str,
    before: &[&str],
    after: &str,
    reason: &str,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let (strong, faint) = (output.style.strong, output.style.faint);
    output.line(format_args!(
        "{strong}{name}{strong:#}  {faint}{about}{faint:#}"
    ))?;
    for pattern in before {
        output.line(format_args!("  {pattern}"))?;
    }
    output.line(format_args!("  → {after}"))?;
    output.line(format_args!("  {reason}"))?;
    output.line("")
}
