//! `isoform optimize --list-rules`.

use std::io;

use isoform_onnx::optimize::{RuleInfo, rule_infos};
use serde_json::json;

use crate::output::Output;

pub(super) fn list(output: &mut Output<'_, '_>) -> io::Result<()> {
    for rule in rule_infos() {
        if output.json {
            output.json_line(&json!({
                "name": rule.name,
                "group": rule.group,
                "opsets": rule.versions,
                "before": rule.before,
                "after": rule.after,
                "reason": rule.reason,
            }))?;
        } else {
            entry(&rule, output)?;
        }
    }
    Ok(())
}

fn entry(rule: &RuleInfo, output: &mut Output<'_, '_>) -> io::Result<()> {
    let (strong, faint) = (output.style.strong, output.style.faint);
    let about = match rule.versions {
        (..=1, None) => rule.group.to_owned(),
        (first, None) => format!("{}, opset {first} or later", rule.group),
        (first, Some(last)) => format!("{}, opsets {first} to {last}", rule.group),
    };
    output.line(format_args!(
        "{strong}{}{strong:#}  {faint}{about}{faint:#}",
        rule.name
    ))?;
    for pattern in &rule.before {
        output.line(format_args!("  {pattern}"))?;
    }
    output.line(format_args!("  → {}", rule.after))?;
    output.line(format_args!("  {}", rule.reason))?;
    output.line("")
}
