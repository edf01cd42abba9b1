//! The list of rules in `docs/onnx.md` equals the rules of the library.
//!
//! `ISOFORM_WRITE_DOCS=1 cargo test -p isoform-onnx --features optimize --test rules_page`
//! writes it.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use isoform_onnx::optimize::{Pattern, Rule, RuleGroup, STEPS, rules};

const BEGIN: &str = "<!-- rules: written by the test rules_page of isoform-onnx -->\n";
const END: &str = "<!-- end of rules -->\n";

fn versions(rule: &Rule) -> String {
    let versions = rule.since_until();
    match (*versions.start(), *versions.end()) {
        (..=1, i64::MAX) => "All operator sets.".to_owned(),
        (first, i64::MAX) => format!("From operator set {first}."),
        (first, last) => format!("Operator sets {first} to {last}."),
    }
}

/// Turns a reason, written without a capital and a full stop, into a sentence.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    format!("{first}{}.", letters.as_str())
}

fn picture(out: &mut String, rule: &Rule) {
    let _ = writeln!(out, "\n#### `{}`\n\n```text", rule.name());
    for (position, pattern) in rule.patterns().map(Pattern::text).enumerate() {
        let head = if position == 0 { "before" } else { "or" };
        let _ = writeln!(out, "{head:>6}  {pattern}");
    }
    let _ = writeln!(out, "{:>6}  {}\n```\n", "after", rule.replacement());
    let _ = writeln!(out, "{}", sentence(rule.reason()));
    let _ = writeln!(out, "{}", versions(rule));
}

fn page() -> String {
    let mut out = String::from("\n### Steps\n\n");
    out.push_str("These look at more than a few calls; they are chosen by name as rules are.\n\n");
    out.push_str("| step | what it does | why the result is the same |\n|---|---|---|\n");
    for step in STEPS {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} |",
            step.name, step.effect, step.reason
        );
    }
    for (group, title) in [
        (RuleGroup::Exact, "Rules that keep every bit"),
        (RuleGroup::Fuse, "Rules that `--fuse` allows"),
    ] {
        let _ = writeln!(out, "\n### {title}");
        for rule in rules().iter().filter(|rule| rule.group() == group) {
            picture(&mut out, rule);
        }
    }
    out.push('\n');
    out
}

/// The page with the list in its place.
fn with_list(old: &str) -> String {
    let (head, rest) = old.split_once(BEGIN).expect("the list begins somewhere");
    let (_, tail) = rest.split_once(END).expect("the list ends somewhere");
    format!("{head}{BEGIN}{}{END}{tail}", page())
}

#[test]
fn the_page_has_the_rules_of_the_library() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/onnx.md");
    let old = fs::read_to_string(&path).expect("the page can be read");
    let new = with_list(&old);
    if env::var_os("ISOFORM_WRITE_DOCS").is_some() {
        fs::write(&path, &new).expect("the page can be written");
        return;
    }
    assert!(
        old == new,
        "docs/onnx.md is out of date; write it with ISOFORM_WRITE_DOCS=1"
    );
}

#[test]
fn a_page_without_a_rule_is_out_of_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/onnx.md");
    let page = fs::read_to_string(&path).expect("the page can be read");
    let without = page.replace("#### `merge-transposes`", "");
    assert!(without != page, "the page has no such rule");
    assert!(with_list(&without) != without, "a missing rule is noticed");
}

#[test]
fn every_rule_says_what_it_does_and_why() {
    for rule in rules() {
        assert!(rule.patterns().next().is_some(), "{}", rule.name());
        assert!(!rule.replacement().is_empty(), "{}", rule.name());
        assert!(!rule.reason().ends_with('.'), "{}", rule.name());
        assert!(rule.reason().len() > 10, "{}", rule.name());
    }
}
