//! Strings that match a regular expression as a whole.
//!
//! The standard asks for the syntax of RE2; the crate `regex` has a dialect of RE2.
//! Constructs with another meaning in RE2 are refused, and so are texts on which
//! classes of characters differ.

use isoform_kernels::Tensor;
use regex::RegexBuilder;

use super::dense::Work;
use crate::eval::args::Args;
use crate::eval::results::{Outcome, one};
use crate::eval::strings::sizes;

pub(super) fn full_match(args: &Args<'_>) -> Outcome {
    let x = args.texts(0)?;
    let pattern = args.text("pattern", "")?;
    let dialect = Dialect::of(&pattern).map_err(|what| {
        args.fault(format!(
            "expected a pattern of RE2, got {what} in '{pattern}'"
        ))
    })?;
    let whole = format!(r"\A(?:{pattern})\z");
    let regex = RegexBuilder::new(&whole).build().map_err(|error| {
        args.fault(format!(
            "expected a regular expression, got '{pattern}': {error}"
        ))
    })?;
    let mut work = Work::new(args.control);
    let mut matches = Vec::new();
    for text in x.values.iter() {
        let text =
            std::str::from_utf8(text).map_err(|_| args.fault("expected strings in UTF-8"))?;
        if dialect.needs_ascii && !text.is_ascii() {
            return Err(args.fault(
                "the classes of the pattern are those of ASCII, and have other members elsewhere",
            ));
        }
        matches.push(regex.is_match(text));
        work.advance(text.len() + 1)?;
    }
    let shape = sizes(&x.shape)?;
    one(Tensor::from_slice(&shape, &matches)?)
}

/// The condition under which both dialects agree on a pattern.
struct Dialect {
    /// True if the pattern has classes that are limited to ASCII in RE2.
    needs_ascii: bool,
}

impl Dialect {
    /// The dialect of a pattern, or a construct that has another meaning in RE2.
    fn of(pattern: &str) -> Result<Self, &'static str> {
        let mut needs_ascii = false;
        let mut class = 0;
        let mut rest = pattern;
        // Where a class begins, `]` is a character.
        let mut begins = false;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            let begun = std::mem::take(&mut begins);
            let skip = match c {
                '\\' => match after.chars().next() {
                    Some('d' | 'D' | 'w' | 'W' | 's' | 'S') => {
                        needs_ascii = true;
                        1
                    }
                    Some('b' | 'B') if class == 0 => {
                        if after[1..].starts_with('{') {
                            return Err(r"\b{");
                        }
                        needs_ascii = true;
                        1
                    }
                    Some('<' | '>') => return Err(r"\< or \>"),
                    Some('u' | 'U' | 'C' | 'Q' | 'E' | 'X' | 'R') => return Err("an escape"),
                    Some(other) => other.len_utf8(),
                    None => return Err("an escape of nothing"),
                },
                '[' if class == 0 => {
                    class = 1;
                    begins = true;
                    usize::from(after.starts_with('^'))
                }
                '[' if after.starts_with(':') => match after.find(":]") {
                    Some(end) => end + 2,
                    None => return Err("'[' in a class"),
                },
                '[' => return Err("'[' in a class"),
                ']' if class == 1 && !begun => {
                    class = 0;
                    0
                }
                '&' | '-' | '~' if class == 1 && after.starts_with(c) => {
                    return Err("an operation of classes");
                }
                '{' if class == 0 && after.starts_with(',') => return Err("'{,'"),
                '(' if class == 0 && after.starts_with('?') => {
                    let flags: String = after[1..]
                        .chars()
                        .take_while(|c| c.is_ascii_alphabetic() || *c == '-')
                        .collect();
                    let is_name = flags.starts_with('P');
                    if !is_name && flags.contains(['x', 'R', 'u']) {
                        return Err("a flag");
                    }
                    0
                }
                _ => 0,
            };
            rest = &after[skip..];
        }
        Ok(Dialect { needs_ascii })
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    #[test]
    fn dialects_are_told_apart() {
        for (pattern, needs_ascii) in [
            (r"www\.[\w.-]+\.\bcom\b", true),
            (r"(?i)[a-z]+(?P<x>.)", false),
            (r"[]a-]+[^]]", false),
            (r"[[:alpha:]]{2,}", false),
            (r"\pN\x41", false),
        ] {
            let dialect = Dialect::of(pattern).unwrap_or_else(|what| panic!("{pattern}: {what}"));
            assert_eq!(dialect.needs_ascii, needs_ascii, "{pattern}");
        }
        for pattern in [
            r"[a&&b]",
            r"[[a]b]",
            r"a{,2}",
            r"\b{start}",
            r"\<a",
            r"\Qa\E",
            r"(?x)a b",
            r"[a--b]",
            "\\",
        ] {
            assert!(Dialect::of(pattern).is_err(), "{pattern}");
        }
    }
}
