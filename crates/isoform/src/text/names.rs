//! Chooses the names of nodes in the text.

use hashbrown::{HashMap, HashSet};

use super::spelling::{Sigil, is_name_char, starts_word};

/// Longer hints are truncated, to keep lines free for other text.
const LONGEST: usize = 60;

/// Names that are all different.
#[derive(Default)]
pub(super) struct Names {
    texts: Vec<String>,
    taken: HashSet<Box<str>, rapidhash::fast::RandomState>,
    /// The last number tried after a name.
    suffixes: HashMap<Box<str>, u32, rapidhash::fast::RandomState>,
    /// The next number without a hint, by sigil.
    numbers: [u32; 3],
}

impl Names {
    /// The name with this number, with its sigil.
    pub(super) fn get(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// Returns a new name, and true if the name is the hint itself.
    pub(super) fn choose(&mut self, sigil: Sigil, hint: Option<&str>) -> (u32, bool) {
        let number = self.texts.len() as u32;
        let wanted = hint.map(|hint| cleaned(sigil, hint)).unwrap_or_default();
        let name = match wanted.len() {
            0 | 1 => self.numbered(sigil),
            _ => self.unique(wanted),
        };
        let is_hint = hint.is_some_and(|hint| hint == &name[1..]);
        self.taken.insert(name.as_str().into());
        self.texts.push(name);
        (number, is_hint)
    }

    fn numbered(&mut self, sigil: Sigil) -> String {
        // Hints never start with a digit: numbers are free.
        let next = &mut self.numbers[sigil as usize];
        let name = format!("{}{next}", sigil.letter());
        *next += 1;
        name
    }

    fn unique(&mut self, wanted: String) -> String {
        if !self.taken.contains(wanted.as_str()) {
            return wanted;
        }
        let suffix = self.suffixes.entry(wanted.as_str().into()).or_insert(0);
        loop {
            *suffix += 1;
            let name = format!("{wanted}_{suffix}");
            if !self.taken.contains(name.as_str()) {
                return name;
            }
        }
    }
}

/// The hint, with forbidden characters replaced; only the sigil if nothing is left.
fn cleaned(sigil: Sigil, hint: &str) -> String {
    let mut name = String::from(sigil.letter());
    let allowed = |c| if is_name_char(c) { c } else { '_' };
    name.extend(hint.chars().take(LONGEST).map(allowed));
    if name.len() > 1 && !name[1..].starts_with(starts_word) {
        name.insert(1, '_');
    }
    name
}
