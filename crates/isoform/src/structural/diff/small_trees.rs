//! Pairs that are small trees: the changes of a cheapest edit.

use super::change::ChangeKind;
use super::findings::SideValue;
use super::pairs::Visit;
use super::places::Link;
use super::tables::{HAS_SINGLETONS, NONE};
use super::tree_edit::{Element, SMALL, SmallTree};
use super::walk::Walk;
use crate::kernel::types::region::RegionKind;

/// The partner of an element without a partner.
const ALONE: u32 = NONE;
/// The partner of an element inside of a tree that another tree replaces as a whole.
const COVERED: u32 = NONE - 1;

impl Walk<'_> {
    /// Notes the changes between two small trees that differ in more than literals;
    /// false if the pair is to be compared from the roots down.
    pub(super) fn small_trees(
        &mut self,
        left: u32,
        right: u32,
        pair: u32,
        place: u32,
        visit: Visit,
    ) -> bool {
        let (l, r) = (self.left.node(left), self.right.node(right));
        if l.size > SMALL || r.size > SMALL || l.shape == r.shape || !l.counts() || !r.counts() {
            return false;
        }
        // A tree has an element for each node, and comparing two trees takes at least a
        // step for each pair of elements. Only singletons may have parts that are not
        // elements.
        let is_counted = !l.has(HAS_SINGLETONS) && !r.has(HAS_SINGLETONS);
        if is_counted && !self.can_spend(l.size * r.size) {
            return false;
        }
        // Variables bound in this region have to be met from the roots down.
        let binds = visit.binds || self.options.compare.map_free_vars;
        let tokens = self.tokens();
        let trees = (
            SmallTree::of(self.left, &tokens[0], left, binds),
            SmallTree::of(self.right, &tokens[1], right, binds),
        );
        let (Some(left_tree), Some(right_tree)) = trees else {
            return false;
        };
        let steps = left_tree.weight().saturating_mul(right_tree.weight());
        if !self.spend(steps) {
            return false;
        }
        let mut partners = [
            vec![ALONE; left_tree.elements.len()],
            vec![ALONE; right_tree.elements.len()],
        ];
        let pair = self.open_pair(left, right, visit, pair);
        self.left_pairs.push(pair);
        let pairs = self.savings.mapping(&left_tree, &right_tree);
        for &(a, b) in &pairs {
            partners[0][a as usize] = b;
            partners[1][b as usize] = a;
        }
        let replacements = self.replacements([&left_tree, &right_tree], &pairs, &mut partners);
        let places = [
            self.places_of(&left_tree, 0, place),
            self.places_of(&right_tree, 1, place),
        ];
        for a in 0..left_tree.elements.len() {
            let b = partners[0][a];
            if matches!(b, ALONE | COVERED) {
                continue;
            }
            let (a_place, b_place) = (places[0][a], places[1][b as usize]);
            let both = self
                .places
                .add(NONE, Link::Place(a_place), Link::Place(b_place));
            let elements = [
                (&left_tree, &left_tree.elements[a]),
                (&right_tree, &right_tree.elements[b as usize]),
            ];
            match replacements.binary_search(&(a as u32)) {
                Ok(_) => {
                    let [left, right] = elements.map(|(_, element)| element.node);
                    if left != NONE && right != NONE {
                        self.pair_up(left, right);
                    }
                    let sizes = (left_tree.nodes(a as u32), right_tree.nodes(b));
                    self.replaced_elements(elements, sizes, pair, both);
                }
                Err(_) => self.elements(elements, pair, both),
            }
        }
        for side in 0..2 {
            self.alone([&left_tree, &right_tree], side, &partners, &places, pair);
        }
        true
    }

    /// Trees that other trees replace as a whole, by their left roots in order.
    ///
    /// Any pair of different elements saves the cheapest edit as much as any other, so it
    /// pairs elements that have nothing in common, such as an operator deep inside of a
    /// product and the number that the product became. A pair without evidence, of different
    /// elements with nothing paired below, of different types or without parts, therefore
    /// goes up on both sides to the tops of the trees in which nothing else is paired.
    fn replacements(
        &self,
        trees: [&SmallTree; 2],
        pairs: &[(u32, u32)],
        partners: &mut [Vec<u32>; 2],
    ) -> Vec<u32> {
        // For each element, the number of pairs in the tree below.
        let counts = [0, 1].map(|side| {
            let mut counts = vec![0u32; trees[side].elements.len()];
            for (number, element) in trees[side].elements.iter().enumerate() {
                counts[number] += u32::from(partners[side][number] != ALONE);
                let count = counts[number];
                if let Some(around) = counts.get_mut(element.parent as usize) {
                    *around += count;
                }
            }
            counts
        });
        let mut replaced = Vec::new();
        for &(a, b) in pairs {
            let numbers = [a, b];
            let elements = [0, 1].map(|side| &trees[side].elements[numbers[side] as usize]);
            let is_only = (0..2).all(|side| counts[side][numbers[side] as usize] == 1);
            let are_leaves = (0..2).all(|side| trees[side].is_leaf(numbers[side] as usize));
            let is_other_type = !self.is_same_type(elements);
            if elements[0].is_same(elements[1]) || !is_only || !(is_other_type || are_leaves) {
                continue;
            }
            let tops = [0, 1].map(|side| {
                let mut top = numbers[side];
                loop {
                    let parent = trees[side].elements[top as usize].parent;
                    let is_free = partners[side].get(parent as usize) == Some(&ALONE);
                    if !is_free || counts[side][parent as usize] != 1 {
                        return top;
                    }
                    top = parent;
                }
            });
            if tops == numbers && !is_other_type {
                continue;
            }
            for side in 0..2 {
                let first = trees[side].elements[tops[side] as usize].leftmost();
                partners[side][first as usize..tops[side] as usize].fill(COVERED);
                partners[side][tops[side] as usize] = tops[1 - side];
            }
            replaced.push(tops[0]);
        }
        replaced.sort_unstable();
        replaced
    }

    /// True if both elements are nodes of one type, or both are values without parts.
    fn is_same_type(&self, [left, right]: [&Element; 2]) -> bool {
        match (left.node, right.node) {
            (NONE, NONE) => true,
            (NONE, _) | (_, NONE) => false,
            (left, right) => {
                let (l, r) = (self.left.node(left), self.right.node(right));
                l.info().index() == r.info().index()
            }
        }
    }

    /// Notes that an element took the place of another one, with so many nodes of each tree.
    fn replaced_elements(
        &mut self,
        [(left_tree, a), (right_tree, b)]: [(&SmallTree, &Element); 2],
        sizes: (u64, u64),
        pair: u32,
        place: u32,
    ) {
        let left = self.element(0, left_tree, a);
        let right = self.element(1, right_tree, b);
        let kind = ChangeKind::Replaced;
        self.note(kind, place, pair, Some(left), Some(right), sizes);
    }

    /// The places of all elements on one side.
    fn places_of(&mut self, tree: &SmallTree, side: usize, place: u32) -> Vec<u32> {
        let mut places = vec![place; tree.elements.len()];
        // Parents come after their children.
        for number in (0..tree.elements.len()).rev() {
            let element = &tree.elements[number];
            let Some(&around) = places.get(element.parent as usize) else {
                continue;
            };
            let mut at = around;
            for &(node, position) in tree.way(element) {
                let part = Link::Part(node, position);
                at = match side {
                    0 => self.places.add(at, part, Link::Nowhere),
                    _ => self.places.add(at, Link::Nowhere, part),
                };
            }
            places[number] = at;
        }
        places
    }

    /// Two elements that correspond.
    fn elements(&mut self, both: [(&SmallTree, &Element); 2], pair: u32, place: u32) {
        let [(_, a), (_, b)] = both;
        let (left, right) = (a.node, b.node);
        if (left, right) == (NONE, NONE) {
            self.items(both, pair, place);
            return;
        }
        if left == NONE || right == NONE {
            self.replaced_elements(both, (1, 1), pair, place);
            return;
        }
        let (l, r) = (self.left.node(left), self.right.node(right));
        if l.is_var() && r.is_var() {
            self.use_of(left, right, pair, place);
            return;
        }
        self.pair_up(left, right);
        if l.is_singleton() && r.is_singleton() && a.is_same(b) {
            return;
        }
        if l.is_singleton() || l.info().index() != r.info().index() {
            self.replaced_elements(both, (1, 1), pair, place);
            return;
        }
        for position in 0..l.count {
            let cells = (
                self.left.cell(left, position),
                self.right.cell(right, position),
            );
            match (cells.0.is_node(), cells.1.is_node()) {
                (false, false) => {
                    let links = (Link::Part(left, position), Link::Part(right, position));
                    let place = self.places.add(place, links.0, links.1);
                    self.values(cells.0, cells.1, pair, place);
                }
                (true, true) => {}
                // An element that is only on one side is noted on that side.
                (true, false) | (false, true) => {
                    let plain = if cells.0.is_node() { cells.1 } else { cells.0 };
                    if !plain.value.is_none() {
                        let links = (Link::Part(left, position), Link::Part(right, position));
                        let place = self.places.add(place, links.0, links.1);
                        self.replaced(cells.0, cells.1, pair, place, RegionKind::Use);
                    }
                }
            }
        }
    }

    /// Two elements of lists that are values.
    fn items(&mut self, both: [(&SmallTree, &Element); 2], pair: u32, place: u32) {
        let [left, right] = both.map(|(tree, element)| tree.way(element).last());
        if let (Some(&(l, p)), Some(&(r, q))) = (left, right) {
            let cells = (self.left.cell(l, p), self.right.cell(r, q));
            self.values(cells.0, cells.1, pair, place);
        }
    }

    fn element(&self, side: usize, tree: &SmallTree, element: &Element) -> SideValue {
        if element.node != NONE {
            return self.spot_of(side, element.node);
        }
        let tables = [self.left, self.right][side];
        match tree.way(element).last() {
            Some(&(node, position)) => self.spot(side, tables.cell(node, position)),
            None => self.spot_of(side, 0),
        }
    }

    /// Connected elements without partners: deleted, inserted, or wrapped around
    /// elements with a partner.
    fn alone(
        &mut self,
        trees: [&SmallTree; 2],
        side: usize,
        partners: &[Vec<u32>; 2],
        places: &[Vec<u32>; 2],
        pair: u32,
    ) {
        let tree = trees[side];
        let count = tree.elements.len();
        let own = &partners[side];
        // For each element, the size of the group from the element down, and the first
        // paired element inside.
        let mut sizes = vec![0u64; count];
        let mut inner = vec![NONE; count];
        for number in 0..count {
            let parent = tree.elements[number].parent;
            if own[number] != ALONE {
                if parent != NONE && own[parent as usize] == ALONE && inner[parent as usize] == NONE
                {
                    inner[parent as usize] = number as u32;
                }
                continue;
            }
            sizes[number] += u64::from(tree.elements[number].node != NONE);
            if parent != NONE && own[parent as usize] == ALONE {
                sizes[parent as usize] += sizes[number];
                if inner[parent as usize] == NONE {
                    inner[parent as usize] = inner[number];
                }
            }
        }
        for number in (0..count).rev() {
            let element = &tree.elements[number];
            let is_top = element.parent == NONE || own[element.parent as usize] != ALONE;
            if own[number] != ALONE || !is_top {
                continue;
            }
            let spot = self.element(side, tree, element);
            let size = sizes[number].max(1);
            let here = places[side][number];
            let kept = inner[number];
            let (kind, other_spot, other_place) = match kept {
                NONE => {
                    // The place of the enclosing element on the other side.
                    let around = element.parent;
                    let partner = own.get(around as usize).copied().unwrap_or(ALONE);
                    let other = places[1 - side].get(partner as usize).copied();
                    let kind = [ChangeKind::Deleted, ChangeKind::Inserted][side];
                    (kind, None, other.or(places[1 - side].last().copied()))
                }
                kept => {
                    let partner = own[kept as usize];
                    let kind = [ChangeKind::Unwrapped, ChangeKind::Wrapped][side];
                    let other = places[1 - side].get(partner as usize).copied();
                    let inside = &trees[1 - side].elements[partner as usize];
                    (
                        kind,
                        Some(self.element(1 - side, trees[1 - side], inside)),
                        other,
                    )
                }
            };
            let other_link = other_place.map_or(Link::Nowhere, Link::Place);
            let (place, (left_spot, right_spot), sizes) = match side {
                0 => (
                    self.places.add(NONE, Link::Place(here), other_link),
                    (Some(spot), other_spot),
                    (size, 0),
                ),
                _ => (
                    self.places.add(NONE, other_link, Link::Place(here)),
                    (other_spot, Some(spot)),
                    (0, size),
                ),
            };
            self.note(kind, place, pair, left_spot, right_spot, sizes);
        }
    }
}
