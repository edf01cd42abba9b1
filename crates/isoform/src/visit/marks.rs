//! Marks on objects, by identity number, without writing into the objects.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// What is known of an object that is met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    /// It was not entered before.
    Fresh,
    /// It was entered and not left since.
    Open,
    /// It was entered and left.
    Done,
}

/// Words of one page; a page is one cache line.
const WORDS: usize = 8;
/// Objects per word: each has two bits, "entered" and "open".
const PER_WORD: u64 = 32;
const PAGE_SHIFT: u32 = (WORDS as u64 * PER_WORD).trailing_zeros();

/// Pages that stay allocated when all marks are taken off.
const KEPT_PAGES: usize = 1 << 12;

/// The marks of one walk.
///
/// Identity numbers are dense within a thread, so neighbours in a program
/// share a page, and the page used last is found without a lookup.
pub(super) struct Marks {
    pages: Vec<[u64; WORDS]>,
    directory: HashMap<u64, u32, rapidhash::fast::RandomState>,
    last: (u64, u32),
}

/// No identity number has this page number, since it is a number shifted.
const NO_PAGE: u64 = u64::MAX;

impl Default for Marks {
    fn default() -> Self {
        Marks {
            pages: Vec::new(),
            directory: HashMap::default(),
            last: (NO_PAGE, 0),
        }
    }
}

impl Marks {
    /// Enters an object; what was known of it before. One that was left stays
    /// so unless `again` is set.
    #[inline]
    pub(super) fn enter(&mut self, ident: u64, again: bool) -> Mark {
        let shift = shift_of(ident);
        let word = self.word(ident);
        let mark = match *word >> shift & 0b11 {
            0b00 => Mark::Fresh,
            0b01 => Mark::Done,
            _ => Mark::Open,
        };
        if mark == Mark::Fresh || again {
            *word |= 0b11 << shift;
        }
        mark
    }

    /// Leaves an object that was entered.
    #[inline]
    pub(super) fn leave(&mut self, ident: u64) {
        *self.word(ident) &= !(0b10 << shift_of(ident));
    }

    /// Takes all marks off and keeps a moderate part of the memory.
    pub(super) fn clear(&mut self) {
        if self.pages.is_empty() {
            return;
        }
        self.pages.clear();
        self.pages.shrink_to(KEPT_PAGES);
        self.directory.clear();
        self.directory.shrink_to(KEPT_PAGES);
        self.last = (NO_PAGE, 0);
    }

    #[inline]
    fn word(&mut self, ident: u64) -> &mut u64 {
        let number = ident >> PAGE_SHIFT;
        if self.last.0 != number {
            self.find_page(number);
        }
        &mut self.pages[self.last.1 as usize][(ident / PER_WORD) as usize % WORDS]
    }

    #[cold]
    fn find_page(&mut self, number: u64) {
        let page = match self.directory.entry(number) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.pages.push([0; WORDS]);
                // Four billion pages of 64 bytes do not fit any memory.
                *entry.insert((self.pages.len() - 1) as u32)
            }
        };
        self.last = (number, page);
    }
}

#[inline]
fn shift_of(ident: u64) -> u32 {
    2 * (ident % PER_WORD) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Mark, Marks};

    #[test]
    fn agrees_with_a_hash_map() {
        let mut marks = Marks::default();
        for round in 0..2 {
            let mut model = HashMap::new();
            let mut number = 1u64;
            for step in 0..40_000u64 {
                // Half of the numbers are dense, half are spread widely.
                number = number
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let ident = if step % 2 == 0 {
                    number >> 50
                } else {
                    number >> 20
                };
                let before = model.insert(ident, Mark::Open).unwrap_or(Mark::Fresh);
                assert_eq!(
                    marks.enter(ident, true),
                    before,
                    "round {round}, step {step}"
                );
                if step % 3 == 0 {
                    model.insert(ident, Mark::Done);
                    marks.leave(ident);
                }
            }
            assert!(model.values().any(|mark| *mark == Mark::Done));
            assert!(model.values().any(|mark| *mark == Mark::Open));
            for (&ident, &mark) in &model {
                assert_eq!(marks.enter(ident, true), mark);
            }
            marks.clear();
        }
    }

    #[test]
    fn neighbours_at_the_edges_of_words_and_pages_are_distinct() {
        let mut marks = Marks::default();
        for ident in [0, 31, 33, 255, 257, 1 << 32, u64::MAX >> 1] {
            assert_eq!(marks.enter(ident, true), Mark::Fresh);
            assert_eq!(marks.enter(ident, true), Mark::Open);
            marks.leave(ident);
            assert_eq!(marks.enter(ident, false), Mark::Done);
            assert_eq!(marks.enter(ident, true), Mark::Done);
            assert_eq!(marks.enter(ident, false), Mark::Open);
            assert_eq!(marks.enter(ident + 1, true), Mark::Fresh);
        }
    }
}
