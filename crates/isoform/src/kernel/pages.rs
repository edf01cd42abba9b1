//! Side tables of objects, by identity number.
//!
//! Identity numbers are dense within a thread, so a paged array beats a hash table:
//! neighbours in a program are neighbours in a page, and the pages used last are found
//! without a lookup. The objects are not written to, so any number of traversals may
//! visit the same objects at once.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// The number of bytes kept allocated when a table is emptied: otherwise, a comparison
/// of shared nodes would spend much of its time on allocating memory again.
const KEPT_BYTES: usize = 1 << 22;

/// Empties a table, keeping up to `KEPT_BYTES` for the next use.
pub(crate) fn empty<T>(table: &mut Vec<T>) {
    table.clear();
    table.shrink_to(KEPT_BYTES / size_of::<T>());
}

/// Never the page number of an identity number, since page numbers are shifted.
const NO_PAGE: u64 = u64::MAX;

/// The number of pages found without a lookup: a walk alternates between a place in the
/// program and a few objects used everywhere.
const RECENT: usize = 8;

/// Pages of a fixed number of words; a fresh page is all zero.
pub(crate) struct Pages<W, const WORDS: usize> {
    pages: Vec<[W; WORDS]>,
    directory: HashMap<u64, u32, rapidhash::fast::RandomState>,
    /// By the last digits of the page number.
    recent: [(u64, u32); RECENT],
}

impl<W, const WORDS: usize> Default for Pages<W, WORDS> {
    fn default() -> Self {
        Pages {
            pages: Vec::new(),
            directory: HashMap::default(),
            recent: [(NO_PAGE, 0); RECENT],
        }
    }
}

impl<W: Copy + Default, const WORDS: usize> Pages<W, WORDS> {
    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Returns a word for reading; None if the page was never written.
    #[inline]
    pub(crate) fn get(&mut self, index: u64) -> Option<W> {
        let number = index / WORDS as u64;
        let recent = &mut self.recent[number as usize % RECENT];
        if recent.0 != number {
            *recent = (number, *self.directory.get(&number)?);
        }
        Some(self.pages[recent.1 as usize][index as usize % WORDS])
    }

    /// [`get`](Self::get) for tables in their final state.
    pub(crate) fn peek(&self, index: u64) -> Option<W> {
        let page = *self.directory.get(&(index / WORDS as u64))?;
        Some(self.pages[page as usize][index as usize % WORDS])
    }

    /// Returns a word for writing.
    #[inline]
    pub(crate) fn word(&mut self, index: u64) -> &mut W {
        let number = index / WORDS as u64;
        if self.recent[number as usize % RECENT].0 != number {
            self.find_page(number);
        }
        let page = self.recent[number as usize % RECENT].1;
        &mut self.pages[page as usize][index as usize % WORDS]
    }

    #[cold]
    fn find_page(&mut self, number: u64) {
        let page = match self.directory.entry(number) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.pages.push([W::default(); WORDS]);
                // Four billion pages do not fit into any memory.
                *entry.insert((self.pages.len() - 1) as u32)
            }
        };
        self.recent[number as usize % RECENT] = (number, page);
    }

    /// Sets all words to zero, keeping part of the memory.
    pub(crate) fn clear(&mut self) {
        if self.pages.is_empty() {
            return;
        }
        let kept = KEPT_BYTES / size_of::<[W; WORDS]>();
        empty(&mut self.pages);
        self.directory.clear();
        self.directory.shrink_to(kept);
        self.recent = [(NO_PAGE, 0); RECENT];
    }
}
