//! A set of objects, by identity number.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// Words of one page; a page is one cache line of bits.
const WORDS: usize = 8;
const PAGE_BITS: u32 = (WORDS as u64 * 64).trailing_zeros();

/// Pages that stay allocated when the set is emptied.
const KEPT_PAGES: usize = 1 << 12;

/// A set of identity numbers.
///
/// Numbers are dense within a thread, so neighbours in a program share a page
/// of bits, and the page used last is found without a lookup.
pub(super) struct IdentSet {
    pages: Vec<[u64; WORDS]>,
    directory: HashMap<u64, u32, rapidhash::fast::RandomState>,
    last: (u64, u32),
}

/// No identity number has this page number, since it is a number shifted.
const NO_PAGE: u64 = u64::MAX;

impl Default for IdentSet {
    fn default() -> Self {
        IdentSet {
            pages: Vec::new(),
            directory: HashMap::default(),
            last: (NO_PAGE, 0),
        }
    }
}

impl IdentSet {
    /// Adds a number; false when it was there before.
    #[inline]
    pub(super) fn insert(&mut self, ident: u64) -> bool {
        let (word, bit) = place(ident);
        let page = self.page(ident >> PAGE_BITS);
        let bits = &mut self.pages[page as usize][word];
        let fresh = *bits & bit == 0;
        *bits |= bit;
        fresh
    }

    /// Whether the number is there.
    pub(super) fn contains(&self, ident: u64) -> bool {
        let (word, bit) = place(ident);
        let page = self.directory.get(&(ident >> PAGE_BITS));
        page.is_some_and(|&page| self.pages[page as usize][word] & bit != 0)
    }

    /// Takes a number out.
    pub(super) fn remove(&mut self, ident: u64) {
        let (word, bit) = place(ident);
        if let Some(&page) = self.directory.get(&(ident >> PAGE_BITS)) {
            self.pages[page as usize][word] &= !bit;
        }
    }

    /// Empties the set and keeps a moderate part of its memory.
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
    fn page(&mut self, number: u64) -> u32 {
        if self.last.0 == number {
            return self.last.1;
        }
        self.find_page(number)
    }

    fn find_page(&mut self, number: u64) -> u32 {
        let page = match self.directory.entry(number) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.pages.push([0; WORDS]);
                // Four billion pages of 64 bytes do not fit any memory.
                *entry.insert((self.pages.len() - 1) as u32)
            }
        };
        self.last = (number, page);
        page
    }
}

#[inline]
fn place(ident: u64) -> (usize, u64) {
    ((ident >> 6) as usize % WORDS, 1 << (ident & 63))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::IdentSet;

    #[test]
    fn agrees_with_a_hash_set() {
        let mut set = IdentSet::default();
        for round in 0..2 {
            let mut model = HashSet::new();
            let mut number = 1u64;
            for step in 0..20_000u64 {
                // Half of the numbers are dense, half are spread widely.
                number = number.wrapping_mul(6364136223846793005).wrapping_add(1);
                let ident = if step % 2 == 0 { step } else { number >> 20 };
                assert_eq!(set.contains(ident), model.contains(&ident));
                assert_eq!(set.insert(ident), model.insert(ident), "round {round}");
                if step % 7 == 0 {
                    set.remove(ident);
                    model.remove(&ident);
                }
            }
            assert!(model.iter().all(|&ident| set.contains(ident)));
            set.clear();
            assert!(model.iter().all(|&ident| !set.contains(ident)));
        }
    }

    #[test]
    fn the_edges_of_pages_are_distinct() {
        let mut set = IdentSet::default();
        for ident in [0, 63, 64, 511, 512, 1 << 32, u64::MAX >> 1] {
            assert!(set.insert(ident));
            assert!(!set.insert(ident));
            assert!(!set.contains(ident + 1));
        }
    }
}
