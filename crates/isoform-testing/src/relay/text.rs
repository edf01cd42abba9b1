//! An independent reader of the text of Relay: every name is introduced before its uses.

use std::collections::HashSet;

/// A block that is still open, with the names introduced by its lines.
#[derive(Default)]
struct Block {
    names: HashSet<String>,
}

/// Checks the scopes of a text: a variable or number is introduced once, and before the
/// first use, in a block that is still open.
///
/// Strings and comments may contain anything except line breaks.
pub(super) fn check_scopes(text: &str) -> Result<(), String> {
    let mut blocks = vec![Block::default()];
    let mut all = HashSet::new();
    for line in text.lines() {
        let line = without_strings(line.trim());
        let fail = |what: &str| Err(format!("{what} in the line {line:?} of\n{text}"));
        let rest = line.trim_start_matches('}');
        for _ in rest.len()..line.len() {
            blocks.pop();
        }
        if blocks.is_empty() {
            return fail("a closed block that was not open");
        }
        let (introduced, inside, uses) = parts(rest);
        for name in introduced.iter().chain(&inside) {
            if !all.insert(name.clone()) {
                return fail(&format!("another {name}"));
            }
        }
        for name in uses {
            let is_visible = |block: &Block| block.names.contains(&name);
            let is_recursive = rest.starts_with("let ") && introduced.contains(&name);
            if !blocks.iter().any(is_visible) && !inside.contains(&name) && !is_recursive {
                return fail(&format!("{name} is not introduced"));
            }
        }
        if let Some(block) = blocks.last_mut() {
            block.names.extend(introduced);
        }
        // A brace that closes in the same line belongs to an object.
        let opened = rest.matches('{').count();
        let closed = rest.matches('}').count();
        for _ in closed..opened {
            blocks.push(Block::default());
        }
        match blocks.last_mut() {
            Some(block) => block.names.extend(inside),
            None => return fail("no open block"),
        }
    }
    match blocks.len() {
        1 => Ok(()),
        _ => Err(format!("a block stays open in\n{text}")),
    }
}

/// The line with empty strings and without comments.
fn without_strings(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(['"', '/']) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
        } else if let Some(string) = rest.strip_prefix('"') {
            let mut is_escaped = false;
            let end = string.find(|c| {
                let is_end = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                is_end
            });
            rest = end.map_or("", |end| &string[end + 1..]);
            out.push_str("\"\"");
        } else {
            out.push('/');
            rest = &rest[1..];
        }
    }
    out + rest
}

/// The names that a line introduces for the lines after it, and for the lines of its
/// block, and the used names.
fn parts(line: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let (mut introduced, mut inside) = (Vec::new(), Vec::new());
    let mut rest = line;
    for keyword in ["let ", "free_var "] {
        rest = rest.strip_prefix(keyword).unwrap_or(rest);
    }
    let is_numbered = rest.strip_prefix('%').is_some_and(|rest| {
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        digits.len() < rest.len() && digits.starts_with(" = ")
    });
    if rest.len() < line.len() || is_numbered {
        let name = names(rest).remove(0);
        rest = &rest[name.len()..];
        introduced.push(name);
    }
    let mut uses = Vec::new();
    let head = match rest.split_once(" => {") {
        // The variables of a pattern.
        Some((pattern, result)) => {
            rest = result;
            pattern
        }
        // The parameters of a function, as written before its block.
        None if rest.ends_with('{') => {
            let start = rest.find("fn (").or_else(|| rest.find("def @"));
            let (before, head) = rest.split_at(start.unwrap_or(rest.len()));
            rest = before;
            head
        }
        None => "",
    };
    for name in names(head) {
        let is_number = name[1..].starts_with(|c: char| c.is_ascii_digit());
        if is_number { &mut uses } else { &mut inside }.push(name);
    }
    uses.extend(names(rest));
    (introduced, inside, uses)
}

/// The names in a text, with their sign.
fn names(text: &str) -> Vec<String> {
    let parts = text.split('%').skip(1);
    let name = |part: &str| {
        let end = part.find(|c: char| !c.is_alphanumeric() && c != '_');
        format!("%{}", &part[..end.unwrap_or(part.len())])
    };
    parts.map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::check_scopes;

    #[test]
    fn names_without_an_introduction_are_found() {
        check_scopes("free_var %x;\n%0 = f(%x);\n%0\n").expect("introduced");
        check_scopes("fn (%x, %y: f32) {\n  let %z = %x;\n  %z\n}\n").expect("introduced");
        check_scopes("free_var %f;\nlet %g = fn (%n) {\n  %g(%n)\n};\n%f\n").expect("a loop");
        check_scopes("free_var %x;\nmatch (%x) {\n  C(%h) => {\n    %h\n  },\n}\n").expect("bound");
        for wrong in [
            "%x\n",
            "f(%0);\n%0 = g();\n",
            "%0 = f(%0);\n",
            "fn (%x) {\n  %x\n}\n%x\n",
            "if (\"%c\") {\n  %0 = f();\n  %0\n} else {\n  %0\n}\n",
            "free_var %x;\nlet %x = 1;\n%x\n",
            "fn () {\n",
            "}\n",
        ] {
            check_scopes(wrong).expect_err(wrong);
        }
    }
}
