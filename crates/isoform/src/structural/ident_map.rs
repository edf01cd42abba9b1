//! A map from identity numbers to small indices.

use crate::kernel::pages::Pages;

/// The list `few`, which is searched in order, keeps up to this many entries.
const FEW: usize = 8;

/// Identity number to index; indices are below `u32::MAX`.
#[derive(Default)]
pub(crate) struct IdentMap {
    few: Vec<(u64, u32)>,
    /// Used instead of `few` as soon as the pages are not empty. Zero means "absent":
    /// the stored numbers are the indices plus one.
    many: Pages<u32, 256>,
}

impl IdentMap {
    /// The index of an identity number.
    #[inline(always)]
    pub(crate) fn get(&mut self, ident: u64) -> Option<u32> {
        if self.many.is_empty() {
            let found = self.few.iter().find(|(known, _)| *known == ident)?;
            return Some(found.1);
        }
        self.many.get(ident)?.checked_sub(1)
    }

    /// Sets or, with None, removes the index of an identity number.
    #[inline]
    pub(crate) fn set(&mut self, ident: u64, index: Option<u32>) {
        if self.many.is_empty() {
            self.set_among_few(ident, index);
        } else {
            *self.many.word(ident) = index.map_or(0, |index| index + 1);
        }
    }

    #[cold]
    fn set_among_few(&mut self, ident: u64, index: Option<u32>) {
        let position = self.few.iter().position(|(known, _)| *known == ident);
        match (position, index) {
            (Some(position), Some(index)) => self.few[position].1 = index,
            (Some(position), None) => {
                self.few.swap_remove(position);
            }
            (None, None) => {}
            (None, Some(index)) if self.few.len() < FEW => self.few.push((ident, index)),
            (None, Some(index)) => {
                self.few.push((ident, index));
                for (known, index) in self.few.drain(..) {
                    *self.many.word(known) = index + 1;
                }
            }
        }
    }

    /// Empties the map and keeps part of the memory for the next use.
    pub(crate) fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
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
