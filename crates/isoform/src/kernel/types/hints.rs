//! What somebody meant who wrote the name of a field wrongly.

use crate::kernel::object::table::TypeInfo;

/// `, did you mean 'params'?` when a field of the type is named nearly as what
/// was written; else nothing. For the end of a message.
pub fn field_hint(info: &TypeInfo, written: &str) -> String {
    let names = info.fields().iter().map(|field| field.name());
    let near = names.filter_map(|name| Some((distance(written, name)?, name)));
    match near.min() {
        Some((_, name)) => format!(", did you mean '{name}'?"),
        None => String::new(),
    }
}

/// How many letters are wrong, missing, too many or exchanged with their
/// neighbour; None if that is more than a third of the name.
fn distance(written: &str, name: &str) -> Option<usize> {
    let name: Vec<char> = name.chars().collect();
    let most = name.len() / 3;
    // What a file calls a field may be of any length.
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
