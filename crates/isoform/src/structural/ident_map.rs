//! A map from identity numbers to small indices.
//!
//! Identity numbers are dense within a thread, so beyond a handful of entries
//! a paged array beats a hash table: neighbours in the program are neighbours
//! in a page. Nothing is written into the objects, so any number of
//! comparisons may run over the same objects at once.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// Up to this many entries are kept in a list that is searched in order.
const FEW: usize = 8;
/// Entries of one page, a power of two.
const PAGE: usize = 256;
const PAGE_SHIFT: u32 = PAGE.trailing_zeros();

type Page = Box<[u32; PAGE]>;

/// Identity number to index; indices are below `u32::MAX`.
#[derive(Default)]
pub(crate) struct IdentMap {
    few: Vec<(u64, u32)>,
    pages: Vec<Page>,
    used: usize,
    directory: HashMap<u64, u32, rapidhash::fast::RandomState>,
    last: (u64, u32),
}

impl IdentMap {
    /// The index of an identity number.
    #[inline]
    pub(crate) fn get(&mut self, ident: u64) -> Option<u32> {
        if self.used == 0 {
            let found = self.few.iter().find(|(known, _)| *known == ident)?;
            return Some(found.1);
        }
        self.get_paged(ident)
    }

    #[inline]
    fn get_paged(&mut self, ident: u64) -> Option<u32> {
        let number = ident >> PAGE_SHIFT;
        let page = if self.last.0 == number {
            self.last.1
        } else {
            let page = *self.directory.get(&number)?;
            self.last = (number, page);
            page
        };
        // Zero stands for "absent", so stored indices are one higher.
        self.pages[page as usize][ident as usize % PAGE].checked_sub(1)
    }

    /// Sets or, with None, removes the index of an identity number.
    pub(crate) fn set(&mut self, ident: u64, index: Option<u32>) {
        if self.used == 0 {
            let position = self.few.iter().position(|(known, _)| *known == ident);
            match (position, index) {
                (Some(position), Some(index)) => self.few[position].1 = index,
                (Some(position), None) => {
                    self.few.swap_remove(position);
                }
                (None, None) => {}
                (None, Some(index)) if self.few.len() < FEW => self.few.push((ident, index)),
                (None, Some(index)) => {
                    for (known, old) in std::mem::take(&mut self.few) {
                        self.set_paged(known, Some(old));
                    }
                    self.set_paged(ident, Some(index));
                }
            }
            return;
        }
        self.set_paged(ident, index);
    }

    fn set_paged(&mut self, ident: u64, index: Option<u32>) {
        let number = ident >> PAGE_SHIFT;
        let page = if self.used > 0 && self.last.0 == number {
            self.last.1
        } else {
            let page = match self.directory.entry(number) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    if self.used == self.pages.len() {
                        self.pages.push(Box::new([0; PAGE]));
                    }
                    self.used += 1;
                    *entry.insert((self.used - 1) as u32)
                }
            };
            self.last = (number, page);
            page
        };
        self.pages[page as usize][ident as usize % PAGE] = index.map_or(0, |index| index + 1);
    }

    /// Empties the map and keeps some of its memory for the next use.
    pub(crate) fn clear(&mut self) {
        self.few.clear();
        if self.used == 0 {
            return;
        }
        const KEPT_PAGES: usize = 256;
        self.pages.truncate(KEPT_PAGES);
        for page in self.pages.iter_mut().take(self.used) {
            page.fill(0);
        }
        self.used = 0;
        self.directory.clear();
        self.directory.shrink_to(KEPT_PAGES);
        self.last = (u64::MAX, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::IdentMap;

    #[test]
    fn few_and_many_entries_behave_alike() {
        for count in [1u64, 8, 9, 1000, 100_000] {
            let mut map = IdentMap::default();
            for round in 0..2 {
                for key in 0..count {
                    assert_eq!(map.get(key * 7), None, "round {round}");
                    map.set(key * 7, Some(key as u32));
                }
                for key in 0..count {
                    assert_eq!(map.get(key * 7), Some(key as u32));
                    assert_eq!(map.get(key * 7 + 1), None);
                }
                map.set(0, Some(77));
                assert_eq!(map.get(0), Some(77));
                map.set(0, None);
                assert_eq!(map.get(0), None);
                map.clear();
            }
        }
    }
}
