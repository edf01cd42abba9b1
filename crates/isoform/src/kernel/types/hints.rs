//! Suggestions for misspelled names.

use super::registered_types;
use crate::kernel::object::table::TypeInfo;

/// Returns `, did you mean 'params'?` if a field of the type has a similar name, and an
/// empty string otherwise. For the end of a message.
pub fn field_hint(info: &TypeInfo, written: &str) -> String {
    name_hint(written, info.fields().iter().map(|field| field.name()))
}

/// As [`field_hint`], for any names.
pub fn name_hint<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> String {
    match near(written, names) {
        Some(name) => format!(", did you mean '{name}'?"),
        None => String::new(),
    }
}

/// As [`field_hint`], with the remedy for files of an earlier declaration.
#[cold]
pub(crate) fn file_field_hint(info: &TypeInfo, written: &str) -> String {
    let hint = field_hint(info, written);
    format!(
        "{hint} (if it was renamed: aliases; if it was removed: ignore_unknown_fields; see \
         docs/evolution.md)"
    )
}

/// The end of messages about a field that a file leaves out.
pub(crate) const MISSING_FIELD: &str =
    " (if it is new: a default; if it was renamed: aliases; see docs/evolution.md)";

/// As [`field_hint`], for the key of a type in a file: types of the same dialect count.
pub(crate) fn type_hint(written: &str) -> String {
    let Some((dialect, name)) = written.rsplit_once('.') else {
        return String::new();
    };
    let types = registered_types();
    let names = types.iter().filter_map(|info| {
        let (known, name) = info.key().rsplit_once('.')?;
        (known == dialect && !info.is_builtin()).then_some(name)
    });
    let names: Vec<&str> = names.collect();
    // A built-in type has a spelling of its own, and no other name.
    if names.is_empty() || types.iter().any(|info| info.key() == written) {
        return String::new();
    }
    let near = near(name, names.into_iter());
    let near = near.map(|name| format!(", did you mean '{dialect}.{name}'?"));
    let remedy = " (if it was renamed: aliases, see docs/evolution.md)";
    near.unwrap_or_default() + remedy
}

/// The end of a message about an object of a type where another type was expected: what to do
/// if the type, or one that it extends, was declared again.
pub fn replaced_note(info: &TypeInfo) -> String {
    if info.is_replaced() {
        return " of an earlier declaration: make the object again".to_owned();
    }
    let mut parents = std::iter::successors(info.parent(), |parent| parent.parent());
    let replaced = parents.find(|parent| parent.is_replaced());
    replaced.map_or_else(String::new, |parent| {
        format!(
            ", which extends an earlier declaration of {}: declare it again, with override=True, \
             and make the object again",
            parent.key()
        )
    })
}

/// The name with the fewest wrong letters, if any is similar.
fn near<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = names.filter_map(|name| Some((distance(written, name)?, name)));
    near.min().map(|(_, name)| name)
}

/// The number of letters that are wrong, missing, superfluous or swapped with their
/// neighbour; None for more than a third of the name.
fn distance(written: &str, name: &str) -> Option<usize> {
    let name: Vec<char> = name.chars().collect();
    let most = name.len() / 3;
    // A field name in a file may have any length.
    let written: Vec<char> = written.chars().take(name.len() + most + 1).collect();
    if written.len().abs_diff(name.len()) > most {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=name.len()).collect();
    for (row, letter) in written.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, wanted) in name.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != wanted);
            let mut best = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let exchanged =
                row > 0 && column > 0 && *letter == name[column - 1] && written[row - 1] == *wanted;
            if exchanged {
                best = best.min(before[column - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut last, next);
    }
    last.pop().filter(|distance| *distance <= most)
}
