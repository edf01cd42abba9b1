//! The choice of the repeated passages that become blocks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::items::Items;
use super::suffixes::{Passage, Suffixes};
use crate::kernel::error::Result;
use crate::kernel::object::access::Poll;

/// The maximum number of searches for passages in the remaining items.
const ROUNDS: usize = 8;

/// The occurrences picked in a round per item, and the items checked per item.
const WORK: usize = 64;

/// A block: the items of its copies.
pub(super) struct Block {
    pub(super) starts: Vec<u32>,
    pub(super) length: usize,
}

/// The facts known about a candidate.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// A passage; its score is a bound.
    Passage(u32),
    /// Occurrences that do not overlap.
    Picked,
    /// Copies whose edges agree.
    Checked,
}

/// A candidate. Candidates examined first are greater: more nodes saved, and for equal
/// savings a shorter length and an earlier start.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// The nodes saved, or a bound.
    score: usize,
    length: Reverse<u32>,
    starts: Reverse<Vec<u32>>,
    known: Certainty,
}

/// The choice of blocks.
pub(super) struct Chooser<'i> {
    items: &'i Items,
    min_size: usize,
    min_count: usize,
    /// The number of nodes before an item, by item, and the total.
    nodes: Vec<usize>,
    /// The items of chosen blocks: starts with ends.
    taken: BTreeMap<u32, u32>,
    blocks: Vec<Block>,
    picks: usize,
    checks: usize,
    poll: Poll,
}

impl<'i> Chooser<'i> {
    pub(super) fn new(items: &'i Items, min_size: usize, min_count: usize) -> Self {
        let mut nodes = vec![0];
        for object in &items.objects {
            nodes.push(nodes[nodes.len() - 1] + usize::from(object.is_some()));
        }
        Chooser {
            items,
            min_size,
            min_count,
            nodes,
            taken: BTreeMap::new(),
            blocks: Vec::new(),
            picks: 0,
            checks: 0,
            poll: Poll::default(),
        }
    }

    /// Chooses blocks until no passage is left, or the rounds are used up.
    pub(super) fn run(&mut self) -> Result<Vec<Block>> {
        for _ in 0..ROUNDS {
            let known = self.blocks.len();
            self.round()?;
            if self.blocks.len() == known {
                break;
            }
        }
        Ok(std::mem::take(&mut self.blocks))
    }

    fn round(&mut self) -> Result<()> {
        let text = self.text();
        let suffixes = Suffixes::of(&text, self.min_size);
        let count = self.items.len();
        (self.picks, self.checks) = (WORK * count, WORK * count);
        let passages = suffixes.passages.iter().enumerate();
        let candidates = passages
            .filter(|(_, passage)| passage.count() >= self.min_count)
            .map(|(number, passage)| {
                let length = passage.length as usize;
                Candidate {
                    score: ((length - 1) * (passage.count() - 1)).min(count - length),
                    length: Reverse(0),
                    starts: Reverse(Vec::new()),
                    known: Certainty::Passage(number as u32),
                }
            });
        let mut heap: BinaryHeap<Candidate> = candidates.collect();
        while let Some(candidate) = heap.pop() {
            self.poll.step_outside()?;
            let length = candidate.length.0;
            match candidate.known {
                Certainty::Passage(number) => {
                    let passage = suffixes.passages[number as usize];
                    self.pick(&suffixes, passage, &mut heap);
                }
                _ if !self.are_free(&candidate.starts.0, length) => {
                    let starts = candidate
                        .starts
                        .0
                        .into_iter()
                        .filter(|start| self.is_free(*start, length));
                    heap.extend(self.candidate(starts.collect(), length, Certainty::Picked));
                }
                Certainty::Picked => {
                    let starts = self.agreeing(candidate.starts.0, length);
                    heap.extend(self.candidate(starts, length, Certainty::Checked));
                }
                Certainty::Checked => {
                    let (starts, length) = self.shortened(&text, &suffixes, candidate);
                    self.take(starts, length);
                }
            }
        }
        Ok(())
    }

    /// The words of all items. Items of chosen blocks have unique words.
    fn text(&self) -> Vec<u32> {
        let mut text = self.items.words.clone();
        let mut unique = text.iter().copied().max().unwrap_or(0);
        let taken = self.taken.iter().flat_map(|(start, end)| *start..*end);
        for item in taken {
            unique += 1;
            text[item as usize] = unique;
        }
        text
    }

    /// Adds the candidates to which a passage leads.
    fn pick(&mut self, suffixes: &Suffixes, passage: Passage, heap: &mut BinaryHeap<Candidate>) {
        if !spend(&mut self.picks, passage.count()) {
            return;
        }
        let range = passage.first as usize..passage.end as usize;
        let mut starts = suffixes.order[range].to_vec();
        starts.sort_unstable();
        let gaps = starts.windows(2).map(|pair| pair[1] - pair[0]);
        // Occurrences that overlap come from a shorter repeated passage.
        if let Some(period) = gaps.min().filter(|gap| *gap < passage.length) {
            let picked = self.apart(&starts, period);
            heap.extend(self.candidate(picked, period, Certainty::Picked));
        }
        let picked = self.apart(&starts, passage.length);
        heap.extend(self.candidate(picked, passage.length, Certainty::Picked));
    }

    /// The copies of a candidate, or the copies of the smaller block that the candidate
    /// repeats.
    fn shortened(
        &mut self,
        text: &[u32],
        suffixes: &Suffixes,
        candidate: Candidate,
    ) -> (Vec<u32>, u32) {
        let (starts, length) = (candidate.starts.0, candidate.length.0);
        let start = starts[0];
        let passage = &text[start as usize..(start + length) as usize];
        let is_repeated = |part: &u32| {
            let (whole, part) = (passage.len(), *part as usize);
            whole.is_multiple_of(part) && passage[part..] == passage[..whole - part]
        };
        let parts = (1..=length / 2).filter(|part| self.nodes_in(start, *part) >= self.min_size);
        let Some(part) = parts.into_iter().find(is_repeated) else {
            return (starts, length);
        };
        let mut starts_of_part = suffixes.find(text, &passage[..part as usize]).to_vec();
        starts_of_part.sort_unstable();
        let starts_of_part = self.agreeing(self.apart(&starts_of_part, part), part);
        if starts_of_part.len() >= starts.len() * (length / part) as usize {
            (starts_of_part, part)
        } else {
            (starts, length)
        }
    }

    /// The first of these occurrences, and always the next occurrence without overlap.
    fn apart(&self, starts: &[u32], length: u32) -> Vec<u32> {
        let mut end = 0;
        let mut picked = Vec::new();
        for &start in starts {
            if start >= end && self.is_free(start, length) && self.is_in_one_value(start, length) {
                picked.push(start);
                end = start + length;
            }
        }
        picked
    }

    /// A candidate, if it is large and frequent enough.
    fn candidate(&self, starts: Vec<u32>, length: u32, known: Certainty) -> Option<Candidate> {
        let size = self.nodes_in(*starts.first()?, length);
        let is_wanted = starts.len() >= self.min_count && size >= self.min_size;
        is_wanted.then(|| Candidate {
            score: (size - 1) * (starts.len() - 1),
            length: Reverse(length),
            starts: Reverse(starts),
            known,
        })
    }

    /// The largest set of occurrences whose items use items of their own copy exactly
    /// where their counterparts do.
    fn agreeing(&mut self, starts: Vec<u32>, length: u32) -> Vec<u32> {
        if !spend(&mut self.checks, starts.len() * length as usize) {
            return Vec::new();
        }
        let mut groups: HashMap<Vec<u32>, Vec<u32>, RandomState> = HashMap::default();
        for start in starts {
            groups
                .entry(self.wiring(start, length))
                .or_default()
                .push(start);
        }
        let groups = groups.into_values();
        let largest = groups.max_by_key(|starts| (starts.len(), Reverse(starts[0])));
        largest.unwrap_or_default()
    }

    /// The targets of the edges of a run of items, relative to the run.
    fn wiring(&self, start: u32, length: u32) -> Vec<u32> {
        let mut wiring = Vec::new();
        for item in start..start + length {
            for edge in self.items.edges(item as usize) {
                match edge.item.wrapping_sub(start) {
                    inside if inside < length => wiring.extend([inside + 1, edge.definition]),
                    _ => wiring.push(0),
                }
            }
        }
        wiring
    }

    fn take(&mut self, starts: Vec<u32>, length: u32) {
        let ranges = starts.iter().map(|start| (*start, start + length));
        self.taken.extend(ranges);
        self.blocks.push(Block {
            starts,
            length: length as usize,
        });
    }

    fn nodes_in(&self, start: u32, length: u32) -> usize {
        self.nodes[(start + length) as usize] - self.nodes[start as usize]
    }

    fn are_free(&self, starts: &[u32], length: u32) -> bool {
        starts.iter().all(|start| self.is_free(*start, length))
    }

    fn is_free(&self, start: u32, length: u32) -> bool {
        let before = self.taken.range(..start + length).next_back();
        before.is_none_or(|(_, end)| *end <= start)
    }

    fn is_in_one_value(&self, start: u32, length: u32) -> bool {
        let last = (start + length - 1) as usize;
        self.items.value_of(start as usize) == self.items.value_of(last)
    }
}

/// Subtracts work from the remaining budget; false if the budget is too small.
fn spend(left: &mut usize, work: usize) -> bool {
    let can = *left >= work;
    *left = left.saturating_sub(work);
    can
}
