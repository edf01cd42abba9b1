//! The page of costs is complete, and the tests named on the page exist.

use crate::exports::functions_of_values;
use crate::repo::Repo;
use crate::{Finding, assert_found, enforce};

const PAGE: &str = "docs/complexity.md";

/// The inline code of a line.
fn codes(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Functions without a row on the page.
fn missing_rows(repo: &Repo, functions: &[String]) -> Vec<Finding> {
    let page = repo.text(PAGE).unwrap_or_default();
    let rows = page.lines().filter(|line| line.starts_with('|'));
    // The first column has the names in Rust.
    let named: Vec<&str> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(codes)
        .collect();
    let missing = functions
        .iter()
        .filter(|name| !named.contains(&name.as_str()));
    missing
        .map(|name| Finding::new(PAGE, 1, format!("no row for {name}")))
        .collect()
}

/// Rows without a test, and tests that do not exist.
fn missing_tests(repo: &Repo) -> Vec<Finding> {
    let page = repo.text(PAGE).unwrap_or_default();
    let mut findings = Vec::new();
    for (number, line) in page.lines().enumerate() {
        let is_row = line.starts_with('|') && line.matches('|').count() == 5;
        let is_head = line.starts_with("| Rust |") || line.starts_with("|---");
        let tests: Vec<&str> = codes(line).filter(|code| is_test(code)).collect();
        if is_row && !is_head && tests.is_empty() {
            findings.push(Finding::new(PAGE, number + 1, "no test holds the bound"));
        }
        let gone = tests.into_iter().filter(|test| !exists(repo, test));
        findings.extend(gone.map(|test| Finding::new(PAGE, number + 1, format!("no test {test}"))));
    }
    findings
}

fn is_test(code: &str) -> bool {
    code.contains(".rs::") || code.contains(".py::")
}

fn exists(repo: &Repo, test: &str) -> bool {
    let Some((file, name)) = test.split_once("::") else {
        return false;
    };
    let head = if file.ends_with(".py") {
        format!("def {name}(")
    } else {
        format!("fn {name}(")
    };
    let mut files = repo.ending(file);
    files.any(|(path, text)| path.ends_with(&format!("/{file}")) && text.contains(&head))
}

#[test]
fn every_function_of_a_value_has_a_row() {
    enforce(
        "docs/complexity.md has a row for every exported function that takes a value",
        "add the row, or the name to the list in crates/isoform-tests/tests/it/exports.rs",
        &missing_rows(&Repo::load(), &functions_of_values()),
    );
}

#[test]
fn every_function_of_a_value_has_a_row_can_fail() {
    let repo = Repo::example([(PAGE, "`gone` in a text\n| `here` | `gone` | O(1) |\n")]);
    let functions = ["here", "gone"].map(str::to_owned);
    assert_found(&missing_rows(&repo, &functions), &["docs/complexity.md:1"]);
}

#[test]
fn every_bound_is_held_by_a_test() {
    enforce(
        "every row of docs/complexity.md names a test, and the test exists",
        "name the test that holds the bound now",
        &missing_tests(&Repo::load()),
    );
}

#[test]
fn every_bound_is_held_by_a_test_can_fail() {
    let page = "| Rust | Python | bound | held by |\n|---|---|---|---|\n\
                | `f` | `g` | O(1) | `a.rs::here` |\n| `f` | | O(1) | `a.rs::gone` |\n\
                | `f` | | O(1) | |\n\nIn a text: `b.py::here`, `b.py::gone`\n";
    let repo = Repo::example([
        (PAGE, page),
        ("tests/it/a.rs", "fn here() {}"),
        ("tests/b.py", "def here(x):"),
    ]);
    assert_found(
        &missing_tests(&repo),
        &[
            "docs/complexity.md:4",
            "docs/complexity.md:5",
            "docs/complexity.md:7",
        ],
    );
}
