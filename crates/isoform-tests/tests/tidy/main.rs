//! The rules of the repository that no compiler and no linter checks, in ordinary
//! tests.
//!
//! Each rule is a function from the files of the repository to findings. One test
//! applies the rule to the repository and prints every finding as `file:line`, with the
//! remedy; a second test shows that the rule can fail, on a small example in memory.

mod code;
mod complexity;
mod dependencies;
mod docs;
#[path = "../it/exports.rs"]
mod exports;
mod layers;
mod layout;
mod names;
mod repo;
mod text;
mod tokens;
mod words;

use std::fmt;

/// One place where a rule is broken.
#[derive(Debug)]
struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Finding {
            path: path.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Fails the calling test on findings, and lists all findings.
#[track_caller]
fn enforce(rule: &str, remedy: &str, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    let list: String = findings
        .iter()
        .map(|finding| format!("\n  {finding}"))
        .collect();
    panic!("{list}\nrule: {rule}\nto do: {remedy}\n");
}

/// The self-test of a rule: on a bad example it finds exactly these places.
#[track_caller]
fn assert_found(findings: &[Finding], expected: &[&str]) {
    let found: Vec<String> = findings
        .iter()
        .map(|finding| format!("{}:{}", finding.path, finding.line))
        .collect();
    assert_eq!(found, expected, "{findings:#?}");
}

#[test]
#[should_panic(expected = "a.rs:7: it is blue")]
fn enforce_lists_place_and_remedy() {
    enforce(
        "all is green",
        "paint it",
        &[Finding::new("a.rs", 7, "it is blue")],
    );
}
