//! The objects that a walk has entered and not left: one met again contains
//! itself.

use crate::pages::Pages;

/// Words of one page; a page is one cache line.
const WORDS: usize = 8;

/// A set of identity numbers.
#[derive(Default)]
pub(super) struct Open {
    words: Pages<u64, WORDS>,
}

impl Open {
    /// Adds an object; false when it was there already.
    #[inline]
    pub(super) fn insert(&mut self, ident: u64) -> bool {
        let (word, bit) = (self.words.word(ident / 64), 1 << (ident % 64));
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }

    /// Removes an object.
    #[inline]
    pub(super) fn remove(&mut self, ident: u64) {
        *self.words.word(ident / 64) &= !(1 << (ident % 64));
    }

    /// Empties the set and keeps some of its memory for the next use.
    pub(super) fn clear(&mut self) {
        self.words.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Open;

    #[test]
    fn agrees_with_a_hash_set() {
        let mut open = Open::default();
        let mut model = HashSet::new();
        let mut number = 1u64;
        for step in 0..20_000u64 {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let ident = if step % 2 == 0 {
                number >> 52
            } else {
                number >> 20
            };
            if step % 3 == 0 {
                open.remove(ident);
                model.remove(&ident);
            } else {
                assert_eq!(open.insert(ident), model.insert(ident), "step {step}");
            }
        }
        open.clear();
        assert!(model.iter().all(|&ident| open.insert(ident)));
    }
}
