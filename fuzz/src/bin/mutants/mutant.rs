//! Mutants, known equivalents of the original, and the configuration.

use std::collections::BTreeMap;

use crate::operators::Edit;

pub(crate) type Problem = Box<dyn std::error::Error + Send + Sync>;

/// `fuzz/mutants.toml`.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The mutated package, and its folder.
    pub(crate) package: String,
    pub(crate) folder: String,
    /// The test targets that cargo builds.
    pub(crate) tests: Vec<String>,
    /// Environment variables of the tests.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Paths from the root; the last part may be `*.rs`.
    pub(crate) files: Vec<String>,
    /// Mutants that behave like the original.
    #[serde(default)]
    pub(crate) same: Vec<EquivalentMutant>,
}

/// A single edit of the source, with the details for reports.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    /// The number of the mutant in the program, counted from one.
    pub(crate) number: u32,
    pub(crate) path: String,
    pub(crate) line: usize,
    /// The lines that change, before and after.
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) edit: Edit,
}

impl Mutant {
    pub(crate) fn new(path: &str, source: &str, edit: Edit) -> Mutant {
        let (before, after) = excerpt(source, &edit);
        Mutant {
            number: 0,
            path: path.to_owned(),
            line: source[..edit.range.start].matches('\n').count() + 1,
            before,
            after,
            edit,
        }
    }
}

/// An entry of the configuration for a mutant that no test can notice. The entry is matched
/// by text, and remains valid when lines move.
#[derive(serde::Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct EquivalentMutant {
    pub(crate) file: String,
    pub(crate) function: String,
    pub(crate) before: String,
    /// If absent, the entry covers every change of these lines.
    pub(crate) after: Option<String>,
    pub(crate) reason: String,
}

impl EquivalentMutant {
    pub(crate) fn is(&self, mutant: &Mutant) -> bool {
        self.file == mutant.path
            && self.function == mutant.edit.function
            && self.before == mutant.before
            && self
                .after
                .as_ref()
                .is_none_or(|after| *after == mutant.after)
    }
}

/// The text of the lines that an edit touches, before and after the edit. Both texts are
/// joined to a single line.
pub(crate) fn excerpt(source: &str, edit: &Edit) -> (String, String) {
    let range = &edit.range;
    let start = source[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = source[range.end..]
        .find('\n')
        .map_or(source.len(), |at| range.end + at);
    let after = [
        &source[start..range.start],
        &edit.text,
        &source[range.end..end],
    ];
    (one_line(&source[start..end]), one_line(&after.concat()))
}

/// Text on one line, shortened in the middle.
fn one_line(text: &str) -> String {
    const HEAD: usize = 140;
    const TAIL: usize = 60;
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: Vec<char> = words.join(" ").chars().collect();
    if line.len() <= HEAD + TAIL {
        return line.into_iter().collect();
    }
    let (head, tail) = (&line[..HEAD], &line[line.len() - TAIL..]);
    head.iter().chain(&[' ', '…', ' ']).chain(tail).collect()
}
