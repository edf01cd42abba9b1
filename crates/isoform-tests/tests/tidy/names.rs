//! Rules about names: the name of a type is a descriptive noun.

use crate::repo::Repo;
use crate::tokens::{lex, matches_at};
use crate::{Finding, assert_found, enforce};

/// Participles, pronouns and adverbs without information about a type.
const VAGUE_NAMES: [&str; 17] = [
    "Alike", "At", "Becomes", "Found", "Given", "Kept", "Kid", "Known", "Loose", "Made", "Met",
    "Sight", "Since", "Then", "Way", "What", "Which",
];

/// The keywords that introduce the name of a type.
const KEYWORDS: [&str; 4] = ["enum", "struct", "trait", "type"];

fn vague_types(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repo.sources() {
        let tokens = match lex(path, text) {
            Ok(tokens) => tokens,
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        for (index, token) in tokens.iter().enumerate() {
            if !KEYWORDS.contains(&&*token.text) {
                continue;
            }
            let named = |name: &&&str| matches_at(&tokens, index, &[&token.text, **name]);
            if let Some(name) = VAGUE_NAMES.iter().find(named) {
                let what = format!("{} {name}", token.text);
                findings.push(Finding::new(path, token.line, what));
            }
        }
    }
    findings
}

#[test]
fn types_have_names_that_are_nouns() {
    enforce(
        "a type is named by a noun, not by a bare participle, pronoun or adverb",
        "name it by what it is, as in `PatternMatch`; crates/isoform-tests/tests/tidy/names.rs has the list",
        &vague_types(&Repo::load()),
    );
}

#[test]
fn types_have_names_that_are_nouns_can_fail() {
    for name in VAGUE_NAMES {
        let source = format!(
            "pub struct {name};\nenum {name} {{}}\ntrait A {{\n    type {name}<'v>;\n}}\n\
             pub(crate) trait {name} {{}}\n// struct {name}\nenum B {{\n    {name}(u32),\n}}\n\
             struct {name}s;\nfn f() {{ B::{name}(1); }}\n"
        );
        let repo = Repo::example([
            ("crates/a/src/lib.rs", source.as_str()),
            ("crates/a/tests/it.rs", source.as_str()),
        ]);
        let places = [1, 2, 4, 6].map(|line| format!("crates/a/src/lib.rs:{line}"));
        assert_found(&vague_types(&repo), &places.each_ref().map(String::as_str));
    }
}
