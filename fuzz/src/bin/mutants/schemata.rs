//! Many mutants in one program: every edit is added next to the original, with a switch
//! for selection at run time. One build therefore serves all mutants.

use std::cmp::Reverse;
use std::ops::Range;

use crate::operators::{Edit, Place};

/// A module of the mutated crate: the active mutant, and the reached mutants.
///
/// The number comes from the environment, once. Zero is the unchanged program; with a
/// file to write to, a test records there the reached mutants.
pub(crate) const SWITCH: &str = r#"//! Which mutant is on.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const UNREAD: u32 = u32::MAX;
const RECORD: u32 = u32::MAX - 1;

static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);

thread_local! {
    static REACHED: RefCell<BTreeSet<u32>> = const { RefCell::new(BTreeSet::new()) };
}

/// True if this mutant is the one that runs.
#[inline(always)]
pub(crate) fn on(mutant: u32) -> bool {
    let active = ACTIVE.load(Relaxed);
    active >= RECORD && reached(mutant) || active == mutant
}

#[cold]
#[inline(never)]
fn reached(mutant: u32) -> bool {
    let first = REACHED.try_with(|reached| reached.borrow_mut().insert(mutant));
    if !first.unwrap_or(true) {
        return ACTIVE.load(Relaxed) == mutant;
    }
    let file = std::env::var_os("ISOFORM_MUTANTS_REACHED");
    if ACTIVE.load(Relaxed) == UNREAD {
        let number = std::env::var("ISOFORM_MUTANT").ok();
        let number = number.and_then(|number| number.parse().ok()).unwrap_or(0);
        ACTIVE.store(if file.is_some() { RECORD } else { number }, Relaxed);
    }
    if let Some(file) = file {
        let line = format!("{mutant} {}\n", std::thread::current().name().unwrap_or("?"));
        let file = std::fs::OpenOptions::new().append(true).create(true).open(file);
        file.expect("the record").write_all(line.as_bytes()).expect("the record");
    }
    ACTIVE.load(Relaxed) == mutant
}
"#;

/// A source file with switches.
pub(crate) struct Schema {
    pub(crate) text: String,
    /// The bytes of the new text that belong to mutants.
    marks: Vec<Mark>,
}

struct Mark {
    range: Range<usize>,
    mutants: Vec<u32>,
}

impl Schema {
    /// Adds the edits of a source, with switches of these numbers.
    pub(crate) fn new(source: &str, edits: &[(u32, &Edit)]) -> Schema {
        let mut edits = edits.to_vec();
        // The order in which switches open: outer switches first.
        edits.sort_by_key(|(number, edit)| {
            let Range { start, end } = edit.range;
            (start, Reverse(end), edit.place, *number)
        });
        let mut schema = Schema {
            text: String::new(),
            marks: Vec::new(),
        };
        let mut read = 0;
        // The open switches, with the place of their mark.
        let mut open: Vec<(&Edit, usize)> = Vec::new();
        for same in edits.chunk_by(|(_, left), (_, right)| {
            left.range == right.range && left.place == right.place
        }) {
            let edit = same[0].1;
            schema.close(source, &mut read, &mut open, edit.range.start);
            schema.copy(source, &mut read, edit.range.start);
            let mark = schema.marks.len();
            schema.marks.push(Mark {
                range: schema.text.len()..0,
                mutants: same.iter().map(|(number, _)| *number).collect(),
            });
            schema.open(same);
            open.push((edit, mark));
        }
        schema.close(source, &mut read, &mut open, usize::MAX);
        schema.copy(source, &mut read, source.len());
        schema
    }

    fn open(&mut self, same: &[(u32, &Edit)]) {
        for (place, (number, edit)) in same.iter().enumerate() {
            let on = format!("crate::mutants::on({number})");
            match edit.place {
                Place::Statement => self.text += &format!("if !{on} {{ "),
                Place::Expression => {
                    self.text += if place == 0 { "(if " } else { "if " };
                    self.text += &format!("{on} {{ ");
                    let start = self.text.len();
                    self.text += &edit.text;
                    self.marks.push(Mark {
                        range: start..self.text.len(),
                        mutants: vec![*number],
                    });
                    self.text += " } else ";
                }
            }
        }
        if same[0].1.place == Place::Expression {
            self.text += "{ ";
        }
    }

    /// Closes the switches that end before a byte of the source.
    fn close(
        &mut self,
        source: &str,
        read: &mut usize,
        open: &mut Vec<(&Edit, usize)>,
        before: usize,
    ) {
        while let Some((edit, mark)) = open.pop_if(|(edit, _)| edit.range.end <= before) {
            self.copy(source, read, edit.range.end);
            self.text += match edit.place {
                Place::Statement => " }",
                Place::Expression => " })",
            };
            self.marks[mark].range.end = self.text.len();
        }
    }

    fn copy(&mut self, source: &str, read: &mut usize, to: usize) {
        self.text += &source[*read..to];
        *read = to;
    }

    /// The mutants to blame for a compiler error at a place of the text: the mutants of
    /// the closest switch around it.
    pub(crate) fn around(&self, place: &Range<usize>) -> Option<&[u32]> {
        let holds = |mark: &&Mark| mark.range.start <= place.start && place.end <= mark.range.end;
        let around = self.marks.iter().filter(holds);
        let closest = around.min_by_key(|mark| mark.range.len())?;
        Some(&closest.mutants)
    }

    /// The mutants of the switches nearest to a place: the last ones to suspect.
    pub(crate) fn near(&self, place: &Range<usize>) -> Option<&[u32]> {
        let distance = |mark: &&Mark| mark.range.start.abs_diff(place.start);
        let nearest = self.marks.iter().min_by_key(distance)?;
        Some(&nearest.mutants)
    }
}

#[cfg(test)]
mod tests {
    use super::{SWITCH, Schema};
    use crate::operators::edits;

    fn schema(source: &str) -> Schema {
        let edits = edits(source).expect("a Rust file");
        let numbered: Vec<_> = (1u32..).zip(&edits).collect();
        let schema = Schema::new(source, &numbered);
        syn::parse_file(&schema.text).expect("the result is Rust as well");
        schema
    }

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let text = schema(&format!("fn f() -> bool {{ {body} }}")).text;
        let text = text.replace("crate::mutants::", "");
        assert_eq!(text, format!("fn f() -> bool {{ {expected} }}"));
    }

    #[test]
    fn an_edit_stands_beside_the_original() {
        check(
            "let c = a < b;",
            "let c = (if on(1) { a <= b } else { a < b });",
        );
        check("a.b();", "if !on(1) { a.b(); }");
        check(
            "let é = a + b; // ß\n let d = c + a;",
            "let é = (if on(1) { a - b } else { a + b }); // ß\n \
             let d = (if on(2) { c - a } else { c + a });",
        );
    }

    #[test]
    fn edits_of_one_place_form_one_switch() {
        check(
            "a.b()",
            "(if on(1) { true } else if on(2) { false } else { a.b() })",
        );
    }

    #[test]
    fn edits_inside_others_change_the_original_only() {
        check(
            "a.b(c + 0);",
            "if !on(1) { a.b((if on(2) { c - 0 } else { c + (if on(3) { 1 } else { 0 }) })); }",
        );
        check(
            "c += 0;",
            "if !on(1) { (if on(2) { c -= 0 } else { c += (if on(3) { 1 } else { 0 }) }); }",
        );
    }

    #[test]
    fn a_place_leads_to_its_mutants() {
        let schema = schema("fn f() { a.b(c + 0); }");
        let at = |needle: &str| {
            let start = schema.text.find(needle).expect(needle);
            start..start + needle.len()
        };
        assert_eq!(schema.around(&at("c - 0")), Some(&[2][..]));
        assert_eq!(schema.around(&at("c +")), Some(&[2][..]));
        assert_eq!(schema.around(&at("a.b")), Some(&[1][..]));
        assert_eq!(schema.around(&at("fn f")), None);
        assert_eq!(schema.near(&at("fn f")), Some(&[1][..]));
    }

    #[test]
    fn the_switch_is_a_module() {
        syn::parse_file(SWITCH).expect("a Rust file");
    }
}
