//! The uses of base objects by a patch.

use super::super::patch::{Edit, New, Patch, Source};
use super::super::tables::Tables;
use super::maps::EditedMap;

/// Parts of fewer nodes are alike by chance, and do not count as moved. Dag nodes below a part
/// are not parts of it: a use of a node at another place is another use.
const MOVED: u64 = 4;

/// The places of base objects in the value built by a patch.
pub(super) struct Uses {
    /// Objects that stay in the objects around them.
    is_kept: Vec<bool>,
    /// The number of places of an object where the base has another object: 0, 1, or 2
    /// for more.
    mentions: Vec<u8>,
    /// Objects of trees, large enough to be recognized and with one place in the base.
    can_move: Vec<bool>,
}

impl Uses {
    /// The uses by a patch. O(n) for n parts of the base, plus the size of the patch.
    pub(super) fn of(base: &Tables, patch: &Patch) -> Self {
        let count = base.nodes.len();
        let mut search = Search {
            base,
            patch,
            uses: Uses {
                is_kept: vec![false; count],
                mentions: vec![0; count],
                can_move: movable(base),
            },
            is_entered: [(); 2].map(|()| vec![false; count]),
            is_made: vec![false; patch.news.len()],
            stack: Vec::new(),
        };
        match (&patch.root, base.root.node_number()) {
            (Some(root), _) => search.mention(root),
            (None, Some(root)) => search.keep(root, Form::Image),
            (None, None) => {}
        }
        while let Some(entry) = search.stack.pop() {
            search.enter(entry);
        }
        search.uses
    }

    /// True for an object of a tree that has moved from one place to another.
    pub(super) fn has_moved(&self, node: u32) -> bool {
        let node = node as usize;
        self.can_move[node] && self.mentions[node] == 1 && !self.is_kept[node]
    }

    /// True if the other side's edits of an object do not count as changes of its
    /// place. Either the object has moved, or the object is one at all places, and some
    /// places are left.
    pub(super) fn is_elsewhere(&self, base: &Tables, node: u32) -> bool {
        if is_own(base, node) {
            self.is_kept[node as usize] || self.mentions[node as usize] > 0
        } else {
            self.has_moved(node)
        }
    }
}

/// True for an object that is one at all of its places.
pub(super) fn is_own(base: &Tables, node: u32) -> bool {
    let node = base.node(node);
    node.is_var() || node.is_dag() || node.is_mutable()
}

/// The objects that count as moved at another place.
fn movable(base: &Tables) -> Vec<bool> {
    let mut places = vec![0u8; base.nodes.len()];
    for cell in base.cells.iter().chain([&base.root]) {
        if let Some(node) = cell.node_number() {
            let places = &mut places[node as usize];
            *places = places.saturating_add(1);
        }
    }
    let places = places.into_iter().enumerate();
    let can_move = places.map(|(node, places)| {
        let is_large = base.nodes[node].own_size >= MOVED;
        places == 1 && is_large && !is_own(base, node as u32)
    });
    can_move.collect()
}

/// The form of an object: unchanged, or with the edits of the patch.
#[derive(Clone, Copy)]
enum Form {
    Image,
    Left,
}

#[derive(Clone, Copy)]
enum NodeSource {
    Base(u32, Form),
    New(u32),
}

struct Search<'p> {
    base: &'p Tables,
    patch: &'p Patch,
    uses: Uses,
    /// By form.
    is_entered: [Vec<bool>; 2],
    is_made: Vec<bool>,
    stack: Vec<NodeSource>,
}

impl Search<'_> {
    fn keep(&mut self, node: u32, form: Form) {
        self.uses.is_kept[node as usize] = true;
        self.stack.push(NodeSource::Base(node, form));
    }

    fn mention(&mut self, source: &Source) {
        let (node, form) = match *source {
            Source::Image(node) => (node, Form::Image),
            Source::Left(node) => (node, Form::Left),
            Source::New(number) => {
                self.stack.push(NodeSource::New(number));
                return;
            }
            Source::Value(_) => return,
        };
        let mentions = &mut self.uses.mentions[node as usize];
        *mentions = (*mentions + 1).min(2);
        self.stack.push(NodeSource::Base(node, form));
    }

    fn enter(&mut self, found: NodeSource) {
        match found {
            NodeSource::New(number) => {
                if !std::mem::replace(&mut self.is_made[number as usize], true) {
                    self.new_object(number);
                }
            }
            NodeSource::Base(node, form) => {
                let is_entered = &mut self.is_entered[form as usize];
                if !std::mem::replace(&mut is_entered[node as usize], true) {
                    self.object(node, form);
                }
            }
        }
    }

    fn new_object(&mut self, number: u32) {
        let patch = self.patch;
        match &patch.news[number as usize] {
            New::Copy(_, fields) | New::Object(_, fields) => {
                fields.iter().for_each(|(_, source)| self.mention(source));
            }
            New::Items(_, items) => items.iter().for_each(|source| self.mention(source)),
            New::Entries(_, entries) => {
                let parts = entries.iter().flat_map(|(key, source)| [key, source]);
                parts.for_each(|source| self.mention(source));
            }
        }
    }

    fn object(&mut self, node: u32, form: Form) {
        let (base, patch) = (self.base, self.patch);
        let edit = match form {
            Form::Image => patch.edit(node),
            Form::Left => None,
        };
        match edit {
            None => self.keep_parts(node, form, |_| true),
            Some(Edit::Fields(info, fields)) => {
                self.keep_parts(node, form, |position| {
                    let slot = info.visited.get(position);
                    slot.is_some_and(|slot| fields.iter().all(|(field, _)| *field != slot.field))
                });
                fields.iter().for_each(|(_, source)| self.mention(source));
            }
            Some(Edit::Items(splices)) => {
                self.keep_parts(node, form, |position| {
                    let after = splices.partition_point(|splice| splice.from as usize <= position);
                    let splice = after.checked_sub(1).map(|before| &splices[before]);
                    splice.is_none_or(|splice| position >= (splice.from + splice.removed) as usize)
                });
                let items = splices.iter().flat_map(|splice| &splice.items);
                items.for_each(|source| self.mention(source));
            }
            Some(Edit::Keyed(keyed)) => {
                let edited = EditedMap::of(base, node, keyed);
                self.keep_parts(node, form, |position| edited.keeps(position));
                for source in edited.set.values() {
                    self.mention(source);
                }
                for (key, source) in &edited.added {
                    self.mention(key);
                    self.mention(source);
                }
            }
        }
    }

    fn keep_parts(&mut self, node: u32, form: Form, is_kept: impl Fn(usize) -> bool) {
        let base = self.base;
        for (at, cell) in base.cells(node).iter().enumerate() {
            if let Some(part) = cell.node_number()
                && is_kept(at)
            {
                self.keep(part, form);
            }
        }
    }
}
