//! A value as a graph recording the users of each object.
//!
//! An object has a node for each kind of region of its occurrences. The use of a
//! variable and its definition are therefore two nodes, and the use refers to the
//! definition. Parts have lower numbers than the objects around them.
//!
//! Values are immutable, so a change is recorded here first: an edge leads to another
//! node, and all nodes above are *stale*. [`Graph::refresh`] rebuilds the stale nodes
//! below a node, each object once, however many of its parts changed.
//!
//! If an object is stale, all objects around it up to the root are stale. A stale
//! object is rebuilt once before the next mark, so marking costs no more than
//! rebuilding.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;
use smallvec::SmallVec;

use super::cursor::{Cursor, Part, View, cyclic, path_of};
use super::parts::children_of;
use crate::kernel::container::Contents;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// The number of a node.
pub(crate) type NodeId = u32;

/// No node: a removed item of an array.
pub(crate) const NOTHING: NodeId = u32::MAX;
/// The number of an object with parts still being visited.
const OPEN: NodeId = u32::MAX - 1;

/// A part of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) node: NodeId,
    /// Its position in the order of visit.
    pub(crate) position: u32,
    /// The position of this edge among the users of the part.
    back: u32,
}

/// A place where a node is used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) user: NodeId,
    /// The position among the kids of the user.
    pub(crate) kid: u32,
}

/// The role of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Plain,
    /// All uses of one variable.
    Use,
    /// All definitions of one variable.
    Definition,
}

/// An object in one kind of region.
pub(crate) struct GraphNode {
    /// The object in its last built form.
    pub(crate) value: Value,
    pub(crate) kids: SmallVec<[Operand; 2]>,
    pub(crate) users: SmallVec<[Edge; 1]>,
    pub(crate) role: Role,
    pub(crate) region: RegionKind,
    pub(crate) is_key: bool,
    /// True if something below changed since the object was built.
    pub(crate) stale: bool,
    /// True for a node without users.
    pub(crate) dead: bool,
    /// True if an item was removed.
    cut: bool,
    /// True while its parts are being rebuilt.
    open: bool,
}

/// The identity number of an object, and the kind of place where it is met.
type Place = (u64, u8);

/// A value as a graph.
#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<GraphNode>,
    places: HashMap<Place, NodeId, RandomState>,
    /// True if an object occurs in several kinds of regions.
    pub(crate) is_doubled: bool,
    /// True if an object other than a variable occurs in a definition, or as a key.
    has_definitions: bool,
    /// The nodes rebuilt since the list was last emptied.
    pub(crate) rebuilt: Vec<NodeId>,
    /// The root, which is never dead.
    pub(crate) pinned: NodeId,
}

fn place_of(object: ObjRef<'_>, region: RegionKind, is_key: bool) -> Place {
    let is_var = PartRef::Object(object).variable().is_some();
    let region = match (is_var, region) {
        (true, RegionKind::DefSimple) => RegionKind::Def,
        (_, region) => region,
    };
    (object.ident(), region as u8 | u8::from(is_key) << 2)
}

/// An object whose parts are being visited.
struct Opened<'a> {
    cursor: Cursor<'a>,
    place: Place,
    role: Role,
    /// The start of its kids among the kids of all opened objects.
    first: usize,
}

impl Graph {
    /// Adds a value and all parts missing in the graph; returns the value's node.
    /// Linear in the added parts.
    ///
    /// # Errors
    ///
    /// `ValueError` with the path for a value that contains itself.
    pub(crate) fn import(
        &mut self,
        root: &Value,
        region: RegionKind,
        is_key: bool,
    ) -> Result<NodeId> {
        let part = Part {
            met: PartRef::of(root),
            region,
            is_key,
        };
        access::traversing(|section| self.add(section, part))
    }

    fn add<'a>(&mut self, section: &mut Section, root: Part<'a>) -> Result<NodeId> {
        let mut stack: Vec<Opened<'a>> = Vec::new();
        let mut kids: Vec<(u32, NodeId)> = Vec::new();
        let mut poll = Poll::default();
        let mut met = Some(root);
        let mut done = NOTHING;
        loop {
            poll.step(section)?;
            if let Some(part) = met.take() {
                match self.meet(section, part, kids.len()) {
                    Err(object) => {
                        let cursors = stack.iter().map(|open| &open.cursor);
                        return Err(cyclic(object).at(path_of(cursors)));
                    }
                    Ok(Err(opened)) => {
                        stack.push(opened);
                        continue;
                    }
                    Ok(Ok(node)) => done = node,
                }
            } else if let Some(open) = stack.last_mut() {
                match open.cursor.next(section) {
                    Some(part) if part.met.object().is_some() => {
                        met = Some(part);
                        continue;
                    }
                    Some(_) => continue,
                    None => done = self.close(&mut stack, &mut kids),
                }
            }
            match stack.last() {
                None => return Ok(done),
                Some(open) => kids.push((open.cursor.position() as u32 - 1, done)),
            }
        }
    }

    /// Finds a part, adds a part without parts, or opens the part; fails for an open
    /// part.
    fn meet<'a>(
        &mut self,
        section: &Section,
        part: Part<'a>,
        first: usize,
    ) -> std::result::Result<std::result::Result<NodeId, Opened<'a>>, ObjRef<'a>> {
        let PartRef::Object(object) = part.met else {
            return Ok(Ok(self.push(part, Role::Plain)));
        };
        let place = place_of(object, part.region, part.is_key);
        match self.places.get(&place) {
            Some(&OPEN) => return Err(object),
            Some(&node) if !self.nodes[node as usize].dead => return Ok(Ok(node)),
            _ => {}
        }
        let role = match (part.met.variable(), part.region) {
            (None, _) => Role::Plain,
            (Some(_), RegionKind::Use) => Role::Use,
            (Some(_), _) => Role::Definition,
        };
        if role == Role::Use {
            let node = self.push(part, role);
            self.places.insert(place, node);
            let definition = (object.ident(), RegionKind::Def as u8);
            if let Some(&definition_node) = self.places.get(&definition)
                && definition_node < OPEN
            {
                self.link(node, 0, definition_node);
            }
            return Ok(Ok(node));
        }
        match Cursor::open(section, object, part, View::Compared) {
            Some(cursor) if cursor.len() > 0 => {
                self.places.insert(place, OPEN);
                Ok(Err(Opened {
                    cursor,
                    place,
                    role,
                    first,
                }))
            }
            _ => {
                let node = self.push(part, role);
                self.settle(place, node);
                Ok(Ok(node))
            }
        }
    }

    fn close(&mut self, stack: &mut Vec<Opened<'_>>, kids: &mut Vec<(u32, NodeId)>) -> NodeId {
        let Some(open) = stack.pop() else {
            return NOTHING;
        };
        let part = Part {
            met: PartRef::Object(open.cursor.object()),
            region: open.cursor.region,
            is_key: open.cursor.is_key,
        };
        let node = self.push(part, open.role);
        self.nodes[node as usize]
            .kids
            .reserve_exact(kids.len() - open.first);
        for (position, kid) in kids.drain(open.first..) {
            self.link(node, position, kid);
        }
        self.settle(open.place, node);
        node
    }

    /// Records the node of a place; uses of a variable refer to the definition.
    fn settle(&mut self, place: Place, node: NodeId) {
        self.places.insert(place, node);
        let ident = place.0;
        if self.nodes[node as usize].role == Role::Definition {
            for tag in [0, 1 << 2] {
                if let Some(&known) = self.places.get(&(ident, RegionKind::Use as u8 | tag))
                    && self.nodes[known as usize].kids.is_empty()
                {
                    self.link(known, 0, node);
                }
            }
        } else if !self.is_doubled {
            self.has_definitions |= place.1 != RegionKind::Use as u8;
            if !self.has_definitions {
                return;
            }
            let others = (0..3u8).map(|region| (ident, region));
            self.is_doubled = others.filter(|at| self.places.contains_key(at)).count() > 1;
        }
    }

    fn push(&mut self, part: Part<'_>, role: Role) -> NodeId {
        self.nodes.push(GraphNode {
            value: part.met.to_value(),
            kids: SmallVec::new(),
            users: SmallVec::new(),
            role,
            region: part.region,
            is_key: part.is_key,
            stale: false,
            dead: false,
            cut: false,
            open: false,
        });
        self.nodes.len() as NodeId - 1
    }

    pub(crate) fn node(&self, node: NodeId) -> &GraphNode {
        &self.nodes[node as usize]
    }

    /// The node of an object in a kind of region; None without an occurrence there.
    pub(crate) fn find(&self, ident: u64, region: RegionKind, is_key: bool) -> Option<NodeId> {
        let place = (ident, region as u8 | u8::from(is_key) << 2);
        let node = self.places.get(&place).copied()?;
        (!self.nodes[node as usize].dead).then_some(node)
    }

    /// The nodes of an object, uses first.
    pub(crate) fn all_of(&self, ident: u64) -> impl Iterator<Item = NodeId> {
        (0..8u8)
            .filter_map(move |tag| self.places.get(&(ident, tag)).copied())
            .filter(|&node| !self.nodes[node as usize].dead)
    }

    /// Forgets the node of an object: the next import of the object makes a new node.
    pub(crate) fn forget(&mut self, node: NodeId) {
        let node = &self.nodes[node as usize];
        if let Some(object) = node.value.as_object() {
            let place = place_of(object.borrowed(), node.region, node.is_key);
            self.places.remove(&place);
        }
    }

    fn link(&mut self, user: NodeId, position: u32, kid: NodeId) {
        let slot = self.nodes[user as usize].kids.len() as u32;
        let users = &mut self.nodes[kid as usize].users;
        let back = users.len() as u32;
        users.push(Edge { user, kid: slot });
        self.nodes[user as usize].kids.push(Operand {
            node: kid,
            position,
            back,
        });
    }

    /// Removes an edge from the users of the part.
    fn unlink(&mut self, user: NodeId, slot: u32) {
        let kid = self.nodes[user as usize].kids[slot as usize];
        if kid.node == NOTHING {
            return;
        }
        let users = &mut self.nodes[kid.node as usize].users;
        users.swap_remove(kid.back as usize);
        if let Some(&moved) = users.get(kid.back as usize) {
            self.nodes[moved.user as usize].kids[moved.kid as usize].back = kid.back;
        }
        self.nodes[user as usize].kids[slot as usize].node = NOTHING;
    }

    /// Makes all users of a node use another node; returns the places. O(users), plus
    /// the newly stale nodes.
    pub(crate) fn redirect(&mut self, old: NodeId, new: NodeId) -> SmallVec<[Edge; 1]> {
        let users = std::mem::take(&mut self.nodes[old as usize].users);
        for &edge in &users {
            // The new node may be a user of the old node.
            let kids = &mut self.nodes[edge.user as usize].kids;
            kids[edge.kid as usize].node = new;
            let back = self.nodes[new as usize].users.len() as u32;
            self.nodes[edge.user as usize].kids[edge.kid as usize].back = back;
            self.nodes[new as usize].users.push(edge);
            self.mark_stale(edge.user);
        }
        users
    }

    /// Removes an item from an array.
    pub(crate) fn remove_item(&mut self, edge: Edge) {
        self.unlink(edge.user, edge.kid);
        self.nodes[edge.user as usize].cut = true;
        self.mark_stale(edge.user);
    }

    /// Marks a node and all its direct and indirect users as stale. Stale nodes are not
    /// visited again, so marking costs no more than the following rebuild.
    fn mark_stale(&mut self, node: NodeId) {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            let node = &mut self.nodes[node as usize];
            if !node.stale {
                node.stale = true;
                stack.extend(node.users.iter().map(|edge| edge.user));
            }
        }
    }

    /// Marks a node as dead, and all nodes used only by the node; reports each part
    /// that lost a user and is still used, or defines a variable.
    pub(crate) fn bury(&mut self, node: NodeId, mut lost: impl FnMut(&Graph, NodeId)) {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            let this = &self.nodes[node as usize];
            if this.dead || !this.users.is_empty() || node == self.pinned {
                continue;
            }
            self.nodes[node as usize].dead = true;
            for slot in 0..self.nodes[node as usize].kids.len() as u32 {
                let kid = self.nodes[node as usize].kids[slot as usize].node;
                if kid == NOTHING {
                    continue;
                }
                self.unlink(node, slot);
                if self.nodes[kid as usize].users.is_empty() {
                    stack.push(kid);
                }
                lost(self, kid);
            }
        }
    }

    /// Rebuilds the stale nodes from a node downwards.
    ///
    /// # Errors
    ///
    /// `TypeError` with the path if a part does not fit its field; `ValueError` if a
    /// replacement contains the replaced value.
    pub(crate) fn refresh(&mut self, root: NodeId) -> Result<()> {
        let mut stack = vec![root];
        while let Some(&node) = stack.last() {
            let this = &mut self.nodes[node as usize];
            if !this.stale {
                stack.pop();
                continue;
            }
            if !this.open {
                this.open = true;
                let height = stack.len();
                for slot in 0..self.nodes[node as usize].kids.len() {
                    let kid = self.nodes[node as usize].kids[slot].node;
                    if kid == NOTHING || !self.nodes[kid as usize].stale {
                        continue;
                    }
                    if self.nodes[kid as usize].open {
                        return Err(Error::value_error(format!(
                            "rewrite: the replacement of a part contains the {} around it",
                            self.nodes[kid as usize].value.type_name()
                        )));
                    }
                    stack.push(kid);
                }
                if stack.len() > height {
                    continue;
                }
            }
            stack.pop();
            self.rebuild(node)?;
        }
        Ok(())
    }

    fn rebuild(&mut self, node: NodeId) -> Result<()> {
        let now = if self.nodes[node as usize].cut {
            Some(self.without_removed(node))
        } else {
            self.with_kids(node, |kid| Some(&self.nodes[kid as usize].value))?
        };
        let this = &mut self.nodes[node as usize];
        (this.stale, this.open, this.cut) = (false, false, false);
        if let Some(now) = now {
            if let Some(object) = now.as_object() {
                let place = place_of(object.borrowed(), this.region, this.is_key);
                self.places.insert(place, node);
            }
            let is_mapping = this.value.container().is_some_and(|row| row.is_mapping());
            this.value = now;
            self.rebuilt.push(node);
            if is_mapping {
                self.realign(node);
            }
        }
        Ok(())
    }

    /// Finds the parts of a map again, since their order depends on the identity of the
    /// keys.
    fn realign(&mut self, node: NodeId) {
        let mut positions: HashMap<(u64, bool), Vec<u32>, RandomState> = HashMap::default();
        let this = &self.nodes[node as usize];
        let children = children_of(&this.value);
        for (position, child) in children.iter(this.region).enumerate() {
            if let Some(object) = child.value.as_object() {
                let key = (object.identity(), child.is_key);
                positions.entry(key).or_default().push(position as u32);
            }
        }
        for slot in 0..self.nodes[node as usize].kids.len() {
            let kid = &self.nodes[self.nodes[node as usize].kids[slot].node as usize];
            let ident = kid.value.as_object().map_or(0, |object| object.identity());
            let found = positions.get_mut(&(ident, kid.is_key)).and_then(Vec::pop);
            if let Some(position) = found {
                self.nodes[node as usize].kids[slot].position = position;
            }
        }
    }

    /// The value of a node with replaced parts; None for an unchanged value.
    ///
    /// # Errors
    ///
    /// `TypeError` with the path if a part does not fit its field.
    pub(super) fn with_kids<'v>(
        &self,
        node: NodeId,
        image: impl Fn(NodeId) -> Option<&'v Value>,
    ) -> Result<Option<Value>> {
        let this = &self.nodes[node as usize];
        if this.role == Role::Use {
            let image = this.kids.first().and_then(|kid| image(kid.node));
            return Ok(image.filter(|image| **image != this.value).cloned());
        }
        let children = children_of(&this.value);
        let mut changes = Vec::new();
        for kid in &this.kids {
            let Some(image) = image(kid.node) else {
                continue;
            };
            let was = children.get(kid.position as usize, this.region);
            if was.is_none_or(|was| was.value != *image) {
                changes.push((kid.position as usize, image.clone()));
            }
        }
        if changes.is_empty() {
            return Ok(None);
        }
        let built = children.replace(changes);
        built.map(Some).map_err(|error| error.at(self.path(node)))
    }

    /// The array of a node without the removed items.
    fn without_removed(&mut self, node: NodeId) -> Value {
        let this = &self.nodes[node as usize];
        let Some(Contents::Items(old)) = this.value.contents() else {
            return this.value.clone();
        };
        let mut items: Vec<Option<Value>> = old.values().iter().cloned().map(Some).collect();
        for kid in &this.kids {
            items[kid.position as usize] = match kid.node {
                NOTHING => None,
                kid => Some(self.nodes[kid as usize].value.clone()),
            };
        }
        let mut before = 0;
        let places: Vec<u32> = items
            .iter()
            .map(|item| {
                before += u32::from(item.is_some());
                before
            })
            .collect();
        let kept: Vec<Operand> = this
            .kids
            .iter()
            .filter(|kid| kid.node != NOTHING)
            .map(|kid| Operand {
                position: places[kid.position as usize] - 1,
                ..*kid
            })
            .collect();
        for (slot, kid) in kept.iter().enumerate() {
            let edge = &mut self.nodes[kid.node as usize].users[kid.back as usize];
            edge.kid = slot as u32;
        }
        let this = &mut self.nodes[node as usize];
        this.kids = kept.into();
        let items: Vec<Value> = items.into_iter().flatten().collect();
        let container = this.value.container();
        let array = container.and_then(|row| row.holding(Contents::Items(items.into())));
        array.unwrap_or_else(|| this.value.clone())
    }

    /// The places of a node: its users, without the uses of a variable defined by the
    /// node.
    pub(crate) fn places(&self, node: NodeId) -> impl Iterator<Item = Edge> {
        let users = self.nodes[node as usize].users.iter().copied();
        users.filter(|edge| self.nodes[edge.user as usize].role != Role::Use)
    }

    /// The nodes for the uses of a variable, given by its definition.
    pub(crate) fn uses_of(&self, definition: NodeId) -> impl Iterator<Item = NodeId> {
        let users = self.nodes[definition as usize]
            .users
            .iter()
            .map(|edge| edge.user);
        users.filter(|&user| {
            let user = &self.nodes[user as usize];
            user.role == Role::Use && !user.dead && !user.users.is_empty()
        })
    }

    /// True if the variable of a definition is used.
    pub(crate) fn is_used(&self, definition: NodeId) -> bool {
        self.uses_of(definition).next().is_some()
    }

    /// The step from a user to the used part.
    pub(crate) fn step(&self, edge: Edge) -> Option<AccessStep> {
        let user = &self.nodes[edge.user as usize];
        let position = user.kids[edge.kid as usize].position;
        children_of(&user.value).step(position as usize)
    }

    /// A path from the root to a node: the first way found. O(depth).
    pub(crate) fn path(&self, node: NodeId) -> AccessPath {
        let mut steps = Vec::new();
        let mut at = node;
        while let Some(edge) = self.places(at).next() {
            // A replacement containing its surroundings leads back to itself.
            if steps.len() > self.nodes.len() {
                break;
            }
            steps.extend(self.step(edge));
            at = edge.user;
        }
        steps.reverse();
        AccessPath::from_steps(steps)
    }
}
