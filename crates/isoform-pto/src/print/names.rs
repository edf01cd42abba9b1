//! The names of variables in the program text.

use hashbrown::{HashMap, HashSet};

/// Words reserved in Python.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "self", "try",
    "while", "with", "yield",
];

/// Longer hints are truncated, to keep lines short.
const LONGEST: usize = 60;

/// Names of objects, all different, for one function.
#[derive(Default)]
pub(super) struct Names {
    by_object: HashMap<u64, String>,
    taken: HashSet<String>,
    /// The last number tried after a name.
    suffixes: HashMap<String, u32>,
}

impl Names {
    /// Starts again, with one reserved name.
    pub(super) fn clear(&mut self, reserved: &str) {
        self.by_object.clear();
        self.taken.clear();
        self.suffixes.clear();
        self.taken.insert(reserved.to_owned());
    }

    /// Returns the name of an object, and true for the first occurrence.
    pub(super) fn of(&mut self, object: u64, hint: &str) -> (&str, bool) {
        let known = self.by_object.contains_key(&object);
        if !known {
            let name = self.fresh(hint);
            self.by_object.insert(object, name);
        }
        (
            self.by_object.get(&object).map_or("", String::as_str),
            !known,
        )
    }

    /// A new name.
    pub(super) fn fresh(&mut self, hint: &str) -> String {
        let wanted = cleaned(hint);
        let mut name = wanted.clone();
        if self.taken.contains(&name) {
            let suffix = self.suffixes.entry(wanted.clone()).or_insert(0);
            while self.taken.contains(&name) {
                *suffix += 1;
                name = format!("{wanted}_{suffix}");
            }
        }
        self.taken.insert(name.clone());
        name
    }
}

/// A hint converted to a name of Python.
pub(super) fn cleaned(hint: &str) -> String {
    let allowed = |c: char| if c.is_alphanumeric() { c } else { '_' };
    let mut name: String = hint.chars().take(LONGEST).map(allowed).collect();
    if name.is_empty() {
        name.push('v');
    }
    if name.starts_with(|c: char| c.is_numeric()) {
        name.insert(0, '_');
    }
    if KEYWORDS.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_differ_and_are_names_of_python() {
        let mut names = Names::default();
        names.clear("pl");
        let mut name = |object, hint| names.of(object, hint).0.to_owned();
        assert_eq!(name(1, "x"), "x");
        assert_eq!(name(2, "x"), "x_1");
        assert_eq!(name(1, "x"), "x");
        assert_eq!(name(3, "x_1"), "x_1_1");
        assert_eq!(name(4, "pl"), "pl_1");
        assert_eq!(name(5, "for"), "for_");
        assert_eq!(name(6, "2 a"), "_2_a");
        assert_eq!(name(7, ""), "v");
    }
}
