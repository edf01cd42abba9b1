//! Marks on objects, by identity number, without writing to the objects.

use crate::kernel::pages::Pages;

/// The state of an object on arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    /// It has not been entered before.
    Fresh,
    /// Entered and not left since.
    Open,
    /// It has been entered and left.
    Done,
}

/// Words of one page; a page is one cache line.
const WORDS: usize = 8;
/// Objects per word: each object has two bits, "entered" and "open".
const PER_WORD: u64 = 32;

/// The marks of one walk.
#[derive(Default)]
pub(super) struct Marks {
    words: Pages<u64, WORDS>,
}

impl Marks {
    /// Enters an object and returns its previous state. A left object keeps this state
    /// unless `again` is set.
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

    /// Removes the mark of an object.
    pub(super) fn forget(&mut self, ident: u64) {
        *self.word(ident) &= !(0b11 << shift_of(ident));
    }

    /// Removes all marks.
    pub(super) fn clear(&mut self) {
        self.words.clear();
    }

    #[inline]
    fn word(&mut self, ident: u64) -> &mut u64 {
        self.words.word(ident / PER_WORD)
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
                // Half of the numbers are dense, the other half widely spread.
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
