//! Makes a patch from the pairs found by a walk.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::patch::{Edit, Keyed, New, Patch, Source, Splice, is_around};
use super::sequence;
use super::tables::{Cell, HAS_IDENTITY, NONE, Tables};
use super::tokens::{Tokens, exact, of_plain, step};
use super::walk::Walk;
use crate::kernel::container::Str;
use crate::kernel::value::Value;

/// The fate of a right node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    /// Reuses a left node unchanged.
    Left(u32),
    /// Takes the edited version of a left node.
    Image(u32),
    /// Takes the node and all nodes below from the right side.
    Fresh,
    New(u32),
}

/// The pairs of a walk on which a patch relies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    All,
    /// All pairs except pairs of variables: a variable is its own partner.
    Objects,
    Nothing,
}

const EDITED: u64 = 0x4b33_a62e_d433_d4a3;
const KEPT: u64 = 0x2d35_8dcc_aa6c_78a5;
const IDENTITY: u64 = 0x8bb8_4b93_962e_acc9;

/// Decides how to obtain every right node, and collects the edits and new nodes of the
/// patch.
pub(super) struct Maker<'t> {
    left: &'t Tables,
    right: &'t Tables,
    /// The left partner of a right node, or [`NONE`], by right node.
    partners: Vec<u32>,
    /// The tokens of both sides. Nodes with equal tokens can replace each other.
    tokens: [Tokens; 2],
    by_token: Option<HashMap<u64, u32, RandomState>>,
    /// The left variables by identity, and all other left objects if there are no
    /// pairs.
    known_objects: HashMap<u64, u32, RandomState>,
    trust: Trust,
    states: Vec<State>,
    /// The right node into which a left node is edited, or [`NONE`], by left node.
    images: Vec<u32>,
    touched: Vec<bool>,
    /// The number of left nodes whose `touched` is known.
    known: u32,
    news: Vec<New>,
}

impl<'t> Maker<'t> {
    /// Builds a maker that relies on pairs of the walk only as far as `trust` allows.
    pub(super) fn new(walk: &'t Walk<'t>, trust: Trust) -> Self {
        let (left, right) = (walk.left, walk.right);
        let is_known = |node: &super::tables::Node| node.is_var() || trust == Trust::Nothing;
        let lefts = left
            .nodes
            .iter()
            .zip(0..)
            .filter(|(node, _)| is_known(node));
        let known_objects: HashMap<u64, u32, RandomState> = lefts
            .map(|(node, number)| (node.object.identity(), number))
            .collect();
        let partner_of = |(number, node): (usize, &super::tables::Node)| {
            let same = || known_objects.get(&node.object.identity()).copied();
            match (trust, node.is_var()) {
                (Trust::All, true) => match walk.bindings.labels_right[number] {
                    NONE => walk.partners[1][number],
                    label => label,
                },
                (_, true) => same().unwrap_or(NONE),
                (Trust::Nothing, false) => NONE,
                (_, false) => walk.partners[1][number],
            }
        };
        let mut partners: Vec<u32> = right.nodes.iter().enumerate().map(partner_of).collect();
        if trust != Trust::Nothing {
            pair_below_variables([left, right], &known_objects, &mut partners);
        }
        let lefts = exact(left, |number, content| step(content, u64::from(number)));
        let rights = exact(right, |number, content| match partners[number as usize] {
            NONE => step(content ^ IDENTITY, u64::from(number)),
            partner => step(content, u64::from(partner)),
        });
        Maker {
            left,
            right,
            partners,
            tokens: [lefts, rights],
            by_token: None,
            known_objects,
            trust,
            states: vec![State::Unknown; right.nodes.len()],
            images: vec![NONE; left.nodes.len()],
            touched: vec![false; left.nodes.len()],
            known: 0,
            news: Vec::new(),
        }
    }

    /// The patch for the whole value. O(n) for n nodes and parts of both sides.
    pub(super) fn make(mut self) -> Patch {
        let root = match self.right.root.node_number() {
            None => Source::Value(self.right.root.value.clone()),
            Some(root) => {
                self.resolve(root);
                self.source_of(root)
            }
        };
        let is_image = matches!(root, Source::Image(number)
            if self.left.root.node_number() == Some(number));
        Patch {
            edits: self.edits().into(),
            news: self.news.into(),
            root: (!is_image).then_some(root),
            objects: Some(self.left.nodes.len() as u32),
            check: None,
        }
    }

    /// Determines the states of a node and of all nodes below.
    fn resolve(&mut self, root: u32) {
        let mut stack = vec![(root, false)];
        while let Some((node, parts_done)) = stack.pop() {
            if self.states[node as usize] != State::Unknown {
                continue;
            }
            if parts_done {
                self.states[node as usize] = self.made(node);
                continue;
            }
            if let Some(known) = self.taken_over(node) {
                self.states[node as usize] = State::Left(known);
                continue;
            }
            stack.push((node, true));
            let parts = self.right.cells(node).iter().filter_map(Cell::node_number);
            stack.extend(parts.map(|part| (part, false)));
        }
    }

    /// The left node that can take the place of a right node.
    fn taken_over(&mut self, node: u32) -> Option<u32> {
        let token = self.tokens[1][node as usize];
        let partner = self.partners[node as usize];
        let right_node = self.right.node(node);
        let is_var = right_node.is_var();
        let same = self
            .known_objects
            .get(&right_node.object.identity())
            .copied();
        // Without pairs, an object on both sides is its own partner, as inside of
        // variables.
        if is_var && self.trust != Trust::All || same.is_some() && self.trust == Trust::Nothing {
            return same;
        }
        if partner != NONE && self.tokens[0][partner as usize] == token {
            return Some(partner);
        }
        if self.is_edited(partner, node) {
            return None;
        }
        if is_var {
            // A copy would be another variable.
            return same;
        }
        let tokens = &self.tokens[0];
        let by_token = self.by_token.get_or_insert_with(|| {
            let mut map = HashMap::with_capacity_and_hasher(tokens.len(), RandomState::default());
            for (number, &token) in tokens.iter().enumerate() {
                map.entry(token).or_insert(number as u32);
            }
            map
        });
        by_token.get(&token).copied()
    }

    /// True if a right node is a left node with other parts.
    fn is_edited(&self, partner: u32, node: u32) -> bool {
        let found = self.right.node(node);
        partner != NONE
            && !found.is_singleton()
            && self.left.node(partner).info().index() == found.info().index()
            && self.images[partner as usize] == NONE
    }

    fn source_of(&self, node: u32) -> Source {
        match self.states[node as usize] {
            State::Left(number) => Source::Left(number),
            State::Image(number) => Source::Image(number),
            State::New(number) => Source::New(number),
            State::Fresh | State::Unknown => {
                Source::Value(Value::from(&self.right.node(node).object))
            }
        }
    }

    fn source(&self, cell: &Cell) -> Source {
        match cell.node_number() {
            Some(node) => self.source_of(node),
            None => Source::Value(cell.value.clone()),
        }
    }

    /// The state of a node whose parts are known.
    fn made(&mut self, node: u32) -> State {
        let right_node = self.right.node(node);
        let cells = self.right.cells(node);
        if right_node.is_singleton() {
            return State::Fresh;
        }
        let is_fresh = cells.iter().all(|cell| match cell.node_number() {
            Some(part) => self.states[part as usize] == State::Fresh,
            None => true,
        });
        let partner = self.partners[node as usize];
        if self.is_edited(partner, node) && !cells.is_empty() {
            // An edited object keeps its ignored fields.
            self.images[partner as usize] = node;
            return State::Image(partner);
        }
        if is_fresh {
            return State::Fresh;
        }
        let new = match right_node.info().container() {
            Some(container) if container.is_mapping() => {
                let entries = cells
                    .chunks_exact(2)
                    .map(|entry| (self.source(&entry[0]), self.source(&entry[1])));
                New::Entries(container, entries.collect())
            }
            Some(container) => {
                let items = cells.iter().map(|cell| self.source(cell));
                New::Items(container, items.collect())
            }
            None => self.copy_of(node, cells),
        };
        self.news.push(new);
        State::New((self.news.len() - 1) as u32)
    }

    fn copy_of(&self, node: u32, cells: &[Cell]) -> New {
        let info = self.right.node(node).info();
        let is_own = |cell: &Cell| match cell.node_number() {
            Some(part) => self.states[part as usize] == State::Fresh,
            None => true,
        };
        let fields = cells
            .iter()
            .zip(&info.visited)
            .filter(|(cell, _)| !is_own(cell))
            .map(|(cell, slot)| (slot.field, self.source(cell)));
        New::Copy(Value::from(&self.right.node(node).object), fields.collect())
    }

    /// The edits of left nodes, parts before wholes: only changes that do not follow
    /// from the nodes' parts.
    fn edits(&mut self) -> Vec<(u32, Edit)> {
        let mut edits = Vec::new();
        for left in 0..self.left.nodes.len() as u32 {
            self.known = left;
            let is_around = is_around(self.left, left, &self.touched);
            let edit = match self.images[left as usize] {
                NONE => None,
                right => self.edit_of(left, right),
            };
            self.touched[left as usize] = is_around || edit.is_some();
            edits.extend(edit.map(|edit| (left, edit)));
        }
        edits
    }

    /// The edit that turns a left node into a right node; None if the parts' edits
    /// suffice.
    fn edit_of(&self, left: u32, right: u32) -> Option<Edit> {
        let (lefts, rights) = (self.left.cells(left), self.right.cells(right));
        let is_straight = lefts.len() == rights.len()
            && lefts.iter().zip(rights).all(|(l, r)| self.follows(l, r));
        if is_straight {
            return None;
        }
        let info = self.right.node(right).info();
        Some(match info.container() {
            Some(container) if container.is_mapping() => self.entries(lefts, rights)?,
            Some(_) => self.items(lefts, rights),
            None => {
                let fields = lefts
                    .iter()
                    .zip(rights)
                    .zip(&info.visited)
                    .filter(|((l, r), _)| !self.follows(l, r))
                    .map(|((_, r), slot)| (slot.field, self.source(r)));
                Edit::Fields(info, fields.collect())
            }
        })
    }

    /// True if the left part becomes the right part without a separate edit.
    fn follows(&self, left: &Cell, right: &Cell) -> bool {
        left.is_node() == right.is_node() && self.left_word(left) == self.right_word(right)
    }

    /// A hash of the object that a left part becomes: a hash of unchanged contents, or
    /// of the number of a changed node.
    fn left_word(&self, cell: &Cell) -> u64 {
        match cell.node_number() {
            Some(part) if self.touched[part as usize] => step(EDITED, u64::from(part)),
            Some(part) => step(KEPT, self.tokens[0][part as usize]),
            None => of_plain(cell.word),
        }
    }

    /// The same for a right part; a unique hash for new parts.
    fn right_word(&self, cell: &Cell) -> u64 {
        let Some(part) = cell.node_number() else {
            return of_plain(cell.word);
        };
        match self.states[part as usize] {
            State::Image(image) if image < self.known => self.left_word(&Cell::node(image)),
            // The parts being compared are earlier nodes.
            State::Image(image) => step(EDITED, u64::from(image)),
            State::Left(kept) => step(KEPT, self.tokens[0][kept as usize]),
            _ => step(IDENTITY, u64::from(part)),
        }
    }

    /// The changes of a list. A left element and its new version are at one place, even
    /// if the same object has different new versions elsewhere.
    fn items(&self, lefts: &[Cell], rights: &[Cell]) -> Edit {
        let content = |part: u32| step(KEPT, self.tokens[0][part as usize]);
        let left_word = |cell: &Cell| match cell.node_number() {
            Some(part) => content(part),
            None => of_plain(cell.word),
        };
        let right_word = |cell: &Cell| match cell.node_number() {
            None => of_plain(cell.word),
            Some(part) => match self.states[part as usize] {
                State::Image(left) | State::Left(left) => content(left),
                _ => step(IDENTITY, u64::from(part)),
            },
        };
        let words = (
            lefts.iter().map(left_word).collect::<Vec<_>>(),
            rights.iter().map(right_word).collect::<Vec<_>>(),
        );
        let same = sequence::align(&words.0, &words.1).into_iter();
        let ends = [(lefts.len() as u32, rights.len() as u32)];
        let mut splices: Vec<Splice> = Vec::new();
        let mut next = (0, 0);
        for (left, right) in same.chain(ends) {
            if next != (left, right) {
                let items = &rights[next.1 as usize..right as usize];
                splices.push(Splice {
                    from: next.0,
                    removed: left - next.0,
                    items: items.iter().map(|cell| self.source(cell)).collect(),
                });
            }
            let cells = (lefts.get(left as usize), rights.get(right as usize));
            if let (Some(l), Some(r)) = cells
                && !self.follows(l, r)
            {
                let item = self.source(r);
                match splices.last_mut() {
                    Some(last)
                        if last.from + last.removed == left
                            && last.items.len() == last.removed as usize =>
                    {
                        last.removed += 1;
                        last.items.push(item);
                    }
                    _ => splices.push(Splice {
                        from: left,
                        removed: 1,
                        items: vec![item],
                    }),
                }
            }
            next = (left + 1, right + 1);
        }
        Edit::Items(splices)
    }

    /// The changes of a map; None if only the order of the entries differs.
    fn entries(&self, lefts: &[Cell], rights: &[Cell]) -> Option<Edit> {
        let mut left_entries: HashMap<u64, usize, RandomState> = HashMap::default();
        for position in (0..lefts.len()).step_by(2) {
            let key = &lefts[position];
            let word = match key.node_number() {
                // Keys that look alike are different keys.
                Some(part) => step(EDITED, u64::from(part)),
                None => of_plain(key.word),
            };
            left_entries.insert(word, position);
        }
        let mut keyed = Keyed::default();
        for entry in rights.chunks_exact(2) {
            let [key, value] = entry else { continue };
            let state = key.node_number().map(|part| self.states[part as usize]);
            let word = match state {
                None => Some(of_plain(key.word)),
                Some(State::Image(image)) => Some(step(EDITED, u64::from(image))),
                Some(State::Left(kept)) if !self.touched[kept as usize] => {
                    Some(step(EDITED, u64::from(kept)))
                }
                Some(_) => None,
            };
            let same = word.and_then(|word| left_entries.remove(&word));
            if same.is_some_and(|same| self.follows(&lefts[same + 1], value)) {
                continue;
            }
            let value = self.source(value);
            match key.value.peek::<Str>() {
                Some(name) => keyed.named.push((name.clone(), value)),
                None => keyed.set.push((self.source(key), value)),
            }
        }
        keyed.removed = left_entries
            .into_values()
            .map(|position| position as u32)
            .collect();
        keyed.removed.sort_unstable();
        let is_empty = keyed.named.is_empty() && keyed.set.is_empty() && keyed.removed.is_empty();
        (!is_empty).then_some(Edit::Keyed(keyed))
    }
}

/// Pairs an object whose identity counts with itself, if the object is inside of a
/// variable of both sides and has no partner of its type. Where the variable stays, the
/// object stays.
fn pair_below_variables(
    [left, right]: [&Tables; 2],
    left_objects: &HashMap<u64, u32, RandomState>,
    partners: &mut [u32],
) {
    let is_alone = |partner: u32, node: u32| {
        partner == NONE || left.node(partner).info().index() != right.node(node).info().index()
    };
    let mut stack = Vec::new();
    for (node, number) in right.nodes.iter().zip(0..) {
        if node.is_var()
            && node.has(HAS_IDENTITY)
            && let Some(&same) = left_objects.get(&node.object.identity())
            && (partners[number as usize] == same || is_alone(partners[number as usize], number))
        {
            partners[number as usize] = same;
            stack.push((same, number));
        }
        while let Some((l, r)) = stack.pop() {
            // One object has the same parts on both sides.
            for (l, r) in left.cells(l).iter().zip(right.cells(r)) {
                if let (Some(l), Some(r)) = (l.node_number(), r.node_number())
                    && right.node(r).has(HAS_IDENTITY)
                    && is_alone(partners[r as usize], r)
                {
                    partners[r as usize] = l;
                    stack.push((l, r));
                }
            }
        }
    }
}
