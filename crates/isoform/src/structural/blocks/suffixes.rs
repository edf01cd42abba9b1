//! The repeated passages of a text, found by a suffix array.

/// A passage that occurs several times and cannot be extended to the right at all
/// occurrences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Passage {
    pub(super) length: u32,
    /// The occurrences, as a range of the suffix array.
    pub(super) first: u32,
    pub(super) end: u32,
}

impl Passage {
    pub(super) fn count(&self) -> usize {
        (self.end - self.first) as usize
    }
}

/// The suffixes of a text in lexicographic order, and its repeated passages.
pub(super) struct Suffixes {
    pub(super) order: Vec<u32>,
    pub(super) passages: Vec<Passage>,
}

impl Suffixes {
    /// Sorts the suffixes of a text by prefix doubling, and lists the passages of at
    /// least `min_length` words, at most one for each position. O(n log² n).
    ///
    /// Sources: Manber and Myers, "Suffix arrays", 1993; Kasai, Lee, Arimura, Arikawa and
    /// Park, "Linear-time longest-common-prefix computation in suffix arrays", 2001;
    /// Abouelhoda, Kurtz and Ohlebusch, "Replacing suffix trees with enhanced suffix
    /// arrays", 2004.
    pub(super) fn of(text: &[u32], min_length: usize) -> Suffixes {
        let order = sorted(text);
        let common = common_prefixes(text, &order);
        let passages = passages(&common, min_length.max(1) as u32);
        Suffixes { order, passages }
    }

    /// Where a passage of the text occurs, in no particular order. O(length × log n).
    pub(super) fn find(&self, text: &[u32], passage: &[u32]) -> &[u32] {
        let start = |suffix: u32| {
            let end = text.len().min(suffix as usize + passage.len());
            &text[suffix as usize..end]
        };
        let first = self
            .order
            .partition_point(|&suffix| start(suffix) < passage);
        let end = self
            .order
            .partition_point(|&suffix| start(suffix) <= passage);
        &self.order[first..end]
    }
}

fn sorted(text: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..text.len() as u32).collect();
    let mut ranks = text.to_vec();
    let mut next = ranks.clone();
    // The ranks of prefixes of this many words, one word at the start.
    let mut width = 0;
    loop {
        let key = |start: u32| {
            let start = start as usize;
            // A suffix that ends is less than a longer suffix.
            (ranks[start], ranks.get(start + width).copied())
        };
        order.sort_unstable_by_key(|&start| key(start));
        let mut rank = 0;
        for (position, &start) in order.iter().enumerate() {
            rank += u32::from(position > 0 && key(order[position - 1]) != key(start));
            next[start as usize] = rank;
        }
        if rank as usize + 1 >= text.len() {
            return order;
        }
        std::mem::swap(&mut ranks, &mut next);
        width = (2 * width).max(1);
    }
}

/// For each suffix in order, the length of the prefix shared with the previous suffix.
fn common_prefixes(text: &[u32], order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0u32; order.len()];
    for (rank, &start) in order.iter().enumerate() {
        ranks[start as usize] = rank as u32;
    }
    let mut common = vec![0u32; order.len()];
    let mut length = 0usize;
    for start in 0..text.len() {
        let Some(before) = ranks[start].checked_sub(1) else {
            length = 0;
            continue;
        };
        let other = order[before as usize] as usize;
        let rest = text[start + length..].iter().zip(&text[other + length..]);
        length += rest.take_while(|(one, two)| one == two).count();
        common[ranks[start] as usize] = length as u32;
        length = length.saturating_sub(1);
    }
    common
}

/// The intervals of suffixes that share a prefix.
fn passages(common: &[u32], min_length: u32) -> Vec<Passage> {
    let mut passages = Vec::new();
    // The length of the open intervals, and where they start.
    let mut open: Vec<(u32, u32)> = Vec::new();
    let ends = common.iter().copied().chain([0]);
    for (position, length) in ends.enumerate().skip(1) {
        let mut first = position as u32 - 1;
        while let Some(&(inner, start)) = open.last()
            && inner > length
        {
            open.pop();
            first = start;
            if inner >= min_length {
                passages.push(Passage {
                    length: inner,
                    first: start,
                    end: position as u32,
                });
            }
        }
        if length > 0 && open.last().is_none_or(|(outer, _)| *outer < length) {
            open.push((length, first));
        }
    }
    passages
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::Suffixes;

    fn random(state: &mut u64, limit: u64) -> u64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % limit
    }

    #[test]
    fn passages_are_those_of_the_definition() {
        let mut state = 5;
        for _ in 0..500 {
            let count = random(&mut state, 30) as usize;
            let letters = 1 + random(&mut state, 4);
            let text: Vec<u32> = (0..count)
                .map(|_| random(&mut state, letters) as u32)
                .collect();
            let suffixes = Suffixes::of(&text, 1);
            let mut sorted: Vec<u32> = (0..count as u32).collect();
            sorted.sort_by_key(|&start| &text[start as usize..]);
            assert_eq!(suffixes.order, sorted, "{text:?}");
            let mut places: BTreeMap<&[u32], BTreeSet<usize>> = BTreeMap::new();
            for start in 0..count {
                for end in start + 1..=count {
                    places.entry(&text[start..end]).or_default().insert(start);
                }
            }
            // The longest of the passages with the same occurrences.
            let mut expected: BTreeMap<&BTreeSet<usize>, usize> = BTreeMap::new();
            for (passage, starts) in places.iter().filter(|(_, starts)| starts.len() > 1) {
                let length = expected.entry(starts).or_default();
                *length = (*length).max(passage.len());
            }
            let actual: BTreeMap<BTreeSet<usize>, usize> = suffixes
                .passages
                .iter()
                .map(|passage| {
                    let range = passage.first as usize..passage.end as usize;
                    let starts = suffixes.order[range].iter().map(|start| *start as usize);
                    (starts.collect(), passage.length as usize)
                })
                .collect();
            assert_eq!(actual.len(), suffixes.passages.len(), "{text:?}");
            let expected: BTreeMap<BTreeSet<usize>, usize> = expected
                .into_iter()
                .map(|(starts, length)| (starts.clone(), length))
                .collect();
            assert_eq!(actual, expected, "{text:?}");
        }
    }
}
