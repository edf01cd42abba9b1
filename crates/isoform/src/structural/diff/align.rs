//! Pairs the parts of two nodes: the fields of objects, the elements of lists, the entries
//! of maps.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::sequence;
use super::tables::{Cell, IS_IGNORED, NONE, Tables};
use super::tokens::{Tokens, of_plain};
use crate::kernel::container::Str;
use crate::kernel::object::dynamic::field_value_at;

/// The fate of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The parts at these positions are partners.
    Both(u32, u32),
    /// Only on the left.
    Left(u32),
    /// Only on the right.
    Right(u32),
    /// The entries with their keys at these positions, which have the same value under
    /// different keys.
    Renamed(u32, u32),
}

/// Two parts with this share of common contents are similar enough to be one edited
/// part; the threshold of GumTree and Mergiraf.
const SIMILAR: f64 = 0.4;
/// A block with more pairs than this is paired without a test for similarity.
const MANY: usize = 10_000;
/// The similarity from which a value under another key counts as the same value,
/// edited.
const RENAMED: f64 = 0.7;
/// The weight of an element of a list that stays, above all sizes.
const STAYS: u64 = 1 << 32;
/// The size from which elements of lists are all large.
const LARGE: u64 = 1 << 16;
/// The number of parts in the sketch of a node.
const SKETCH: usize = 64;

/// Pairs parts by tokens, then by shape, then by similarity.
pub(super) struct Aligner<'t> {
    pub(super) left: &'t Tables,
    pub(super) right: &'t Tables,
    pub(super) tokens: [Tokens; 2],
    sketches: [HashMap<u32, Box<[u64]>, RandomState>; 2],
    /// The steps of comparing sketches, for tests of complexity.
    pub(super) comparisons: u64,
}

impl<'t> Aligner<'t> {
    pub(super) fn new(left: &'t Tables, right: &'t Tables, tokens: [Tokens; 2]) -> Self {
        Aligner {
            left,
            right,
            tokens,
            sketches: [HashMap::default(), HashMap::default()],
            comparisons: 0,
        }
    }

    fn tables(&self, side: usize) -> &'t Tables {
        [self.left, self.right][side]
    }

    pub(super) fn token(&self, side: usize, cell: &Cell) -> u64 {
        match cell.node_number() {
            Some(number) => self.tokens[side][number as usize],
            None => of_plain(cell.word),
        }
    }

    /// The steps for all parts of two lists, in the order of the right list; parts that
    /// are only on the left keep their place.
    pub(super) fn lists(&mut self, left: &[Cell], right: &[Cell]) -> Vec<Step> {
        let tokens = |side: usize, cells: &[Cell]| -> Vec<u64> {
            cells.iter().map(|cell| self.token(side, cell)).collect()
        };
        // As many elements as possible stay, and among these the largest: the remaining
        // elements may have moved.
        let weight = |at: usize| STAYS + self.left.size_of(&left[at]).min(LARGE);
        let equal = sequence::align_heaviest(&tokens(0, left), &tokens(1, right), weight);
        let mut steps = Vec::with_capacity(left.len().max(right.len()));
        let mut start = (0, 0);
        let ends = [(left.len() as u32, right.len() as u32)];
        for (at_left, at_right) in equal.into_iter().chain(ends) {
            self.block(left, right, start.0..at_left, start.1..at_right, &mut steps);
            if (at_left as usize) < left.len() && (at_right as usize) < right.len() {
                steps.push(Step::Both(at_left, at_right));
            }
            start = (at_left + 1, at_right + 1);
        }
        steps
    }

    /// Pairs the parts between two pairs of equal parts: those of the left list at
    /// `lefts`, and those of the right list at `rights`.
    fn block(
        &mut self,
        left: &[Cell],
        right: &[Cell],
        lefts: Range<u32>,
        rights: Range<u32>,
        steps: &mut Vec<Step>,
    ) {
        if lefts.is_empty() || rights.is_empty() {
            steps.extend(lefts.map(Step::Left));
            steps.extend(rights.map(Step::Right));
            return;
        }
        if (lefts.len(), rights.len()) == (1, 1) {
            // A part in the place of another part has replaced it, or is the same part,
            // edited.
            steps.push(Step::Both(lefts.start, rights.start));
            return;
        }
        let (mut start, end) = ((lefts.start, rights.start), (lefts.end, rights.end));
        let pairs = match lefts.len().saturating_mul(rights.len()) {
            0..=MANY => self.most_similar(left, right, lefts, rights),
            _ => self.same_shape(left, right, lefts, rights),
        };
        for (at_left, at_right) in pairs.into_iter().chain([end]) {
            // A part in the place of another part has replaced it.
            if (at_left - start.0, at_right - start.1) == (1, 1) {
                steps.push(Step::Both(start.0, start.1));
                start = (start.0 + 1, start.1 + 1);
            }
            steps.extend((start.0..at_left).map(Step::Left));
            steps.extend((start.1..at_right).map(Step::Right));
            if at_left < end.0 {
                steps.push(Step::Both(at_left, at_right));
            }
            start = (at_left + 1, at_right + 1);
        }
    }

    /// The pairs, in order, whose similarities have the largest sum. O(n m).
    fn most_similar(
        &mut self,
        left: &[Cell],
        right: &[Cell],
        lefts: Range<u32>,
        rights: Range<u32>,
    ) -> Vec<(u32, u32)> {
        let (l, r) = (lefts.start, rights.start);
        let (rows, columns) = (lefts.len(), rights.len());
        let mut gains = vec![0.0; rows * columns];
        for row in 0..rows {
            for column in 0..columns {
                let (left_cell, right_cell) =
                    (&left[l as usize + row], &right[r as usize + column]);
                gains[row * columns + column] = self.similarity(left_cell, right_cell);
            }
        }
        // The best sums for the rests of both blocks.
        let mut best = vec![0.0f64; (rows + 1) * (columns + 1)];
        let index = |row: usize, column: usize| row * (columns + 1) + column;
        for row in (0..rows).rev() {
            for column in (0..columns).rev() {
                let gain = gains[row * columns + column];
                let skip = best[index(row + 1, column)].max(best[index(row, column + 1)]);
                best[index(row, column)] = if gain >= SIMILAR {
                    skip.max(gain + best[index(row + 1, column + 1)])
                } else {
                    skip
                };
            }
        }
        let (mut row, mut column) = (0, 0);
        let mut pairs = Vec::new();
        while row < rows && column < columns {
            let gain = gains[row * columns + column];
            let sum = best[index(row, column)];
            if gain >= SIMILAR && sum == gain + best[index(row + 1, column + 1)] {
                pairs.push((l + row as u32, r + column as u32));
                (row, column) = (row + 1, column + 1);
            } else if sum == best[index(row + 1, column)] {
                row += 1;
            } else {
                column += 1;
            }
        }
        pairs
    }

    /// Pairs of the same shape in order, and position by position between them.
    fn same_shape(
        &self,
        left: &[Cell],
        right: &[Cell],
        lefts: Range<u32>,
        rights: Range<u32>,
    ) -> Vec<(u32, u32)> {
        let shapes = |side: usize, cells: &[Cell]| -> Vec<u64> {
            let shape = |cell: &Cell| match cell.node_number() {
                Some(number) => self.tables(side).node(number).shape,
                None => u64::from(cell.value.type_index().0),
            };
            cells.iter().map(shape).collect()
        };
        let (first, end) = ((lefts.start, rights.start), (lefts.end, rights.end));
        let aligned = sequence::align(
            &shapes(0, &left[first.0 as usize..end.0 as usize]),
            &shapes(1, &right[first.1 as usize..end.1 as usize]),
        );
        let mut pairs = Vec::new();
        let mut start = first;
        let shifted = aligned.into_iter().map(|(a, b)| (first.0 + a, first.1 + b));
        for (at_left, at_right) in shifted.chain([end]) {
            let both = (at_left - start.0).min(at_right - start.1);
            let between = (0..both).map(|offset| (start.0 + offset, start.1 + offset));
            pairs.extend(
                between.filter(|&(a, b)| self.have_one_type(&left[a as usize], &right[b as usize])),
            );
            if at_left < end.0 {
                pairs.push((at_left, at_right));
            }
            start = (at_left + 1, at_right + 1);
        }
        pairs
    }

    fn have_one_type(&self, left: &Cell, right: &Cell) -> bool {
        match (left.node_number(), right.node_number()) {
            (Some(l), Some(r)) => {
                self.left.node(l).info().index() == self.right.node(r).info().index()
            }
            (None, None) => left.value.type_index() == right.value.type_index(),
            _ => false,
        }
    }

    /// The common share of two parts, from 0 to 1 and a little more for the same shape:
    /// twice the common parts below, divided by all parts below (Dice). Parts of
    /// different types have a share of 0.
    pub(super) fn similarity(&mut self, left: &Cell, right: &Cell) -> f64 {
        if !self.have_one_type(left, right) {
            return 0.0;
        }
        let (Some(l), Some(r)) = (left.node_number(), right.node_number()) else {
            // Two plain values at the same place count as a changed value.
            return 0.5;
        };
        let (one, other) = (self.left.node(l), self.right.node(r));
        if one.has(IS_IGNORED) {
            return 1.0;
        }
        let same_shape = one.shape == other.shape;
        if one.size <= 2 && other.size <= 2 {
            return if same_shape { 0.6 } else { 0.45 };
        }
        self.dice(l, r) + if same_shape { 0.25 } else { 0.0 }
    }

    /// The share of common parts below two nodes of any types.
    pub(super) fn dice(&mut self, left: u32, right: u32) -> f64 {
        self.sketch(0, left);
        self.sketch(1, right);
        let empty: &[u64] = &[];
        let l = self.sketches[0]
            .get(&left)
            .map_or(empty, |sketch| &**sketch);
        let r = self.sketches[1]
            .get(&right)
            .map_or(empty, |sketch| &**sketch);
        let (mut i, mut j, mut common) = (0, 0, 0);
        while i < l.len() && j < r.len() {
            match l[i].cmp(&r[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
            }
        }
        self.comparisons += (l.len() + r.len()) as u64;
        match l.len() + r.len() {
            0 => 0.0,
            all => f64::from(2 * common) / all as f64,
        }
    }

    /// The tokens of the parts nearest to a node, sorted.
    fn sketch(&mut self, side: usize, node: u32) {
        if self.sketches[side].contains_key(&node) {
            return;
        }
        let tables = self.tables(side);
        let mut found = Vec::new();
        let mut queue = vec![node];
        let mut next = 0;
        while let Some(&open) = queue.get(next) {
            next += 1;
            for cell in tables.cells(open) {
                if found.len() == SKETCH {
                    break;
                }
                found.push(self.token(side, cell));
                queue.extend(cell.node_number());
            }
        }
        found.sort_unstable();
        self.sketches[side].insert(node, found.into());
    }

    /// The steps for the fields of two objects of different types: equal parts in
    /// order, fields with the same name, and then all remaining fields, position by
    /// position.
    pub(super) fn fields(&mut self, left: u32, right: u32) -> Vec<Step> {
        let (l, r) = (self.left.cells(left), self.right.cells(right));
        let names = |tables: &Tables, node: u32, count: usize| -> Vec<String> {
            let info = tables.node(node).info();
            let name = |position: usize| match info.visited.get(position) {
                Some(slot) => info.fields()[slot.field as usize].name().to_owned(),
                None => position.to_string(),
            };
            (0..count).map(name).collect()
        };
        let (left_names, right_names) = (
            names(self.left, left, l.len()),
            names(self.right, right, r.len()),
        );
        let mut partner = vec![NONE; r.len()];
        let mut taken = vec![false; l.len()];
        let tokens = |side: usize, cells: &[Cell]| -> Vec<u64> {
            cells.iter().map(|cell| self.token(side, cell)).collect()
        };
        for (a, b) in sequence::align(&tokens(0, l), &tokens(1, r)) {
            (taken[a as usize], partner[b as usize]) = (true, a);
        }
        for (position, name) in right_names.iter().enumerate() {
            let same = left_names.iter().position(|other| other == name);
            if let Some(same) = same.filter(|&same| !taken[same] && partner[position] == NONE) {
                (taken[same], partner[position]) = (true, same as u32);
            }
        }
        let mut free = (0..l.len() as u32).filter(|&index| !taken[index as usize]);
        for partner in &mut partner {
            if *partner == NONE {
                *partner = free.next().unwrap_or(NONE);
            }
        }
        let mut steps: Vec<Step> = free.map(Step::Left).collect();
        for (position, &partner) in partner.iter().enumerate() {
            steps.push(match partner {
                NONE => Step::Right(position as u32),
                left_position => Step::Both(left_position, position as u32),
            });
        }
        steps
    }

    /// The steps for the entries of two maps, as positions of keys. `partner_of`
    /// returns the left partner of a right key.
    pub(super) fn maps(
        &mut self,
        left: &[Cell],
        right: &[Cell],
        partner_of: impl Fn(u32) -> u32,
    ) -> Vec<Step> {
        let mut by_node: HashMap<u32, u32, RandomState> = HashMap::default();
        let mut by_token: HashMap<u64, (u32, u32), RandomState> = HashMap::default();
        let mut by_name: HashMap<Str, (u32, u32), RandomState> = HashMap::default();
        for position in (0..left.len()).step_by(2) {
            let key = &left[position];
            if let Some(node) = key.node_number() {
                by_node.insert(node, position as u32);
                if let Some(name) = name_of(self.left, node) {
                    let entry = by_name.entry(name).or_insert((position as u32, 0));
                    entry.1 += 1;
                }
            }
            let entry = by_token
                .entry(self.token(0, key))
                .or_insert((position as u32, 0));
            entry.1 += 1;
        }
        let mut taken = vec![false; left.len()];
        let mut partner = vec![NONE; right.len()];
        let mut take = |left_position: u32, position: usize, partner: &mut [u32]| {
            if !std::mem::replace(&mut taken[left_position as usize], true) {
                partner[position] = left_position;
            }
        };
        for position in (0..right.len()).step_by(2) {
            let key = &right[position];
            let bound = key
                .node_number()
                .map(&partner_of)
                .filter(|&node| node != NONE);
            if let Some(&left_position) = bound.and_then(|node| by_node.get(&node)) {
                take(left_position, position, &mut partner);
            }
        }
        for position in (0..right.len()).step_by(2) {
            let key = &right[position];
            if partner[position] != NONE {
                continue;
            }
            let entry = by_token.get(&self.token(1, key));
            // Object keys that look alike are different keys.
            let entry = entry.filter(|(_, count)| *count == 1 || !key.is_node());
            let named = || {
                let name = name_of(self.right, key.node_number()?)?;
                by_name.get(&name).filter(|(_, count)| *count == 1)
            };
            if let Some(&(left_position, _)) = entry.or_else(named) {
                take(left_position, position, &mut partner);
            }
        }
        let mut renamed = vec![NONE; right.len()];
        for (at_left, at_right) in self.renamed(left, right, &taken, &partner) {
            taken[at_left as usize] = true;
            renamed[at_right as usize] = at_left;
        }
        let mut steps = Vec::with_capacity(right.len() / 2);
        for position in (0..left.len()).step_by(2).filter(|&index| !taken[index]) {
            steps.push(Step::Left(position as u32));
        }
        for position in (0..right.len()).step_by(2) {
            steps.push(match (partner[position], renamed[position]) {
                (NONE, NONE) => Step::Right(position as u32),
                (NONE, left_position) => Step::Renamed(left_position, position as u32),
                (left_position, _) => Step::Both(left_position, position as u32),
            });
        }
        steps
    }

    /// Renamed entries, with the key on one side and the value on the other: pairs of
    /// values that occur once among the remaining values of both sides.
    fn renamed(
        &mut self,
        left: &[Cell],
        right: &[Cell],
        taken: &[bool],
        partner: &[u32],
    ) -> Vec<(u32, u32)> {
        let mut values: HashMap<u64, (u32, u32), RandomState> = HashMap::default();
        for position in (0..left.len()).step_by(2).filter(|&index| !taken[index]) {
            let entry = values
                .entry(self.token(0, &left[position + 1]))
                .or_insert((position as u32, 0));
            entry.1 += 1;
        }
        let mut right_values: HashMap<u64, (u32, u32), RandomState> = HashMap::default();
        let mut order = Vec::new();
        for position in (0..right.len())
            .step_by(2)
            .filter(|&index| partner[index] == NONE)
        {
            let token = self.token(1, &right[position + 1]);
            let entry = right_values.entry(token).or_insert((position as u32, 0));
            entry.1 += 1;
            order.push(token);
        }
        let unique = order.into_iter().filter_map(|token| {
            let (&(at_left, in_left), &(at_right, in_right)) =
                (values.get(&token)?, right_values.get(&token)?);
            (in_left == 1 && in_right == 1).then_some((at_left, at_right))
        });
        let mut pairs: Vec<(u32, u32)> = unique.collect();
        self.renamed_and_edited(left, taken, right, partner, &mut pairs);
        pairs
    }

    /// Adds entries with a renamed key and an edited value: the most similar entries,
    /// as long as few are left.
    fn renamed_and_edited(
        &mut self,
        left: &[Cell],
        taken: &[bool],
        right: &[Cell],
        partner: &[u32],
        pairs: &mut Vec<(u32, u32)>,
    ) {
        let paired: [HashSet<u32, RandomState>; 2] = [
            pairs.iter().map(|pair| pair.0).collect(),
            pairs.iter().map(|pair| pair.1).collect(),
        ];
        let keys = |count: usize, side: usize, is_free: &dyn Fn(usize) -> bool| -> Vec<u32> {
            let free = (0..count)
                .step_by(2)
                .filter(|&index| is_free(index))
                .map(|index| index as u32);
            free.filter(|index| !paired[side].contains(index)).collect()
        };
        let lefts = keys(left.len(), 0, &|index| !taken[index]);
        let rights = keys(right.len(), 1, &|index| partner[index] == NONE);
        if lefts.len().saturating_mul(rights.len()) > MANY {
            return;
        }
        let mut used: HashSet<u32, RandomState> = HashSet::default();
        for &at_right in &rights {
            let mut best: Option<(f64, u32)> = None;
            for &at_left in lefts.iter().filter(|index| !used.contains(*index)) {
                let cells = (&left[at_left as usize + 1], &right[at_right as usize + 1]);
                // Values without parts are alike by chance.
                if !cells.0.is_node() || !cells.1.is_node() {
                    continue;
                }
                let gain = self.similarity(cells.0, cells.1);
                if gain >= RENAMED && best.is_none_or(|(paired, _)| gain > paired) {
                    best = Some((gain, at_left));
                }
            }
            if let Some((_, at_left)) = best {
                used.insert(at_left);
                pairs.push((at_left, at_right));
            }
        }
    }
}

/// The name of an object used as a key: its first string.
fn name_of(tables: &Tables, node: u32) -> Option<Str> {
    let object = &tables.node(node).object;
    let count = object.type_info().fields().len();
    (0..count).find_map(|field| field_value_at(object, field)?.peek::<Str>().cloned())
}
