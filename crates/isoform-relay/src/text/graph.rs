//! The pieces of a whole value as a graph: a node for each distinct part, parts before
//! their users.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use isoform::{Obj, Ref, Value};

use super::pieces::{Description, Piece, Pieces, annotation, text, variable};

/// The number of a node.
pub(super) type Id = u32;

/// Repeated parts of more nodes than this get a line of their own.
const SMALL: u32 = 16;

/// The pieces of a node in a graph.
pub(super) type NodePieces = Vec<Piece<Id, u32>>;

type ByIdent<T> = HashMap<u64, T, RandomState>;

/// The pieces of a value and its parts. Parts have smaller numbers than their users.
#[derive(Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<GraphNode>,
    /// The variables in the order of arrival.
    pub(super) variables: Vec<Ref<Obj>>,
    /// The lines that introduce variables without a binding, and the root.
    pub(super) headers: Vec<Id>,
    pub(super) root: Id,
    /// The nodes of objects.
    ids: ByIdent<Id>,
}

pub(super) struct GraphNode {
    pub(super) pieces: NodePieces,
    is_computed: bool,
    /// The number of places that use the node.
    uses: u32,
    /// True for a use where a value can be written in place.
    is_open: bool,
    /// True for a use as the result of a scope.
    is_result: bool,
    /// True if the node has a line of its own, and a number.
    pub(super) is_numbered: bool,
}

impl GraphNode {
    /// True for a `let`.
    pub(super) fn is_let(&self) -> bool {
        matches!(self.pieces.last(), Some(Piece::Rest(_)))
    }

    /// True for a `let` written into the lines of the scope around it.
    pub(super) fn is_joined(&self) -> bool {
        self.is_let() && self.is_result && self.uses == 1
    }

    /// True for a `let` with a scope of its own.
    pub(super) fn is_braced(&self) -> bool {
        self.is_let() && !self.is_joined()
    }
}

/// Calls a function with each part of a piece.
pub(super) fn for_parts<T: Clone, V>(piece: &Piece<T, V>, mut take: impl FnMut(&T)) {
    match piece {
        Piece::Part(part) | Piece::Bound(part) | Piece::Block(part) | Piece::Rest(part) => {
            take(part);
        }
        Piece::List(parts) => parts.iter().for_each(take),
        _ => {}
    }
}

impl Graph {
    /// The graph of a value. `head` replaces the pieces of the root. Linear.
    pub(super) fn of(root: &Value, head: Option<Pieces>) -> Graph {
        let mut collector = Collector::default();
        let mut description = Description::of(root);
        if let Some(pieces) = head {
            description.pieces = pieces;
        }
        let identity = root.as_object().map(Ref::identity);
        let root = collector.collect(identity, description);
        collector.add_headers();
        let mut graph = collector.graph;
        graph.root = root;
        graph.count();
        graph
    }

    /// The node of an object, if the object is part of the value.
    pub(super) fn id(&self, identity: u64) -> Option<Id> {
        self.ids.get(&identity).copied()
    }

    /// Counts uses, and decides which nodes get a line of their own.
    fn count(&mut self) {
        let results = self.headers.iter().chain([&self.root]).copied();
        for id in results.collect::<Vec<_>>() {
            self.add_use(id, true, true);
        }
        for user in 0..self.nodes.len() {
            let pieces = std::mem::take(&mut self.nodes[user].pieces);
            for piece in &pieces {
                let is_result = matches!(piece, Piece::Block(_) | Piece::Rest(_));
                let is_open = is_result || matches!(piece, Piece::Bound(_));
                for_parts(piece, |part| self.add_use(*part, is_open, is_result));
            }
            self.nodes[user].pieces = pieces;
        }
        // The number of nodes written in the place of a node.
        let mut sizes: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for node in &mut self.nodes {
            let mut size = 1_u32;
            for piece in &node.pieces {
                for_parts(piece, |part| {
                    size = size.saturating_add(sizes[*part as usize]);
                });
                if matches!(piece, Piece::Block(_)) {
                    size = u32::MAX;
                }
            }
            node.is_numbered = if node.is_computed {
                node.uses > 1 || !node.is_open
            } else {
                node.uses > 1 && size > SMALL
            };
            sizes.push(if node.is_numbered { 1 } else { size });
        }
    }

    fn add_use(&mut self, id: Id, is_open: bool, is_result: bool) {
        let node = &mut self.nodes[id as usize];
        node.uses += 1;
        node.is_open |= is_open;
        node.is_result |= is_result;
    }
}

/// A node whose parts are being collected.
struct OpenNode {
    identity: Option<u64>,
    description: Description,
    /// The parts not yet collected, the next part last.
    pending: Vec<Value>,
    /// The numbers of the collected parts.
    parts: Vec<Id>,
}

impl OpenNode {
    fn new(identity: Option<u64>, description: Description) -> Self {
        let mut pending = Vec::new();
        for piece in &description.pieces {
            for_parts(piece, |part| pending.push(part.clone()));
        }
        pending.reverse();
        OpenNode {
            identity,
            description,
            pending,
            parts: Vec::new(),
        }
    }
}

/// The number of a node in a cycle, while its parts are being collected.
const OPEN: Id = Id::MAX;

#[derive(Default)]
struct Collector {
    graph: Graph,
    /// The nodes whose sharing has no meaning, by their pieces.
    known: HashMap<NodePieces, Id, RandomState>,
    variables: ByIdent<u32>,
    bound: HashSet<u32>,
}

impl Collector {
    fn collect(&mut self, identity: Option<u64>, description: Description) -> Id {
        let mut stack = vec![self.open(identity, description)];
        loop {
            let Some(top) = stack.last_mut() else {
                return OPEN;
            };
            if let Some(part) = top.pending.pop() {
                let identity = part.as_object().map(Ref::identity);
                match identity.and_then(|identity| self.graph.id(identity)) {
                    Some(OPEN) => {
                        let cycle = vec![text("<cycle>")];
                        top.parts.push(self.add(cycle, false, true));
                    }
                    Some(id) => top.parts.push(id),
                    None => {
                        let next = self.open(identity, Description::of(&part));
                        stack.push(next);
                    }
                }
                continue;
            }
            let Some(done) = stack.pop() else {
                return OPEN;
            };
            let id = self.close(done);
            match stack.last_mut() {
                Some(user) => user.parts.push(id),
                None => return id,
            }
        }
    }

    fn open(&mut self, identity: Option<u64>, description: Description) -> OpenNode {
        if let Some(identity) = identity {
            self.graph.ids.insert(identity, OPEN);
        }
        OpenNode::new(identity, description)
    }

    fn close(&mut self, open: OpenNode) -> Id {
        let Description {
            pieces,
            is_computed,
            is_tree,
        } = open.description;
        let mut parts = open.parts.into_iter();
        let mut next = || parts.next().unwrap_or_default();
        let mut numbered = NodePieces::with_capacity(pieces.len());
        for piece in pieces {
            numbered.push(match piece {
                Piece::Text(text) => Piece::Text(text),
                Piece::Part(_) => Piece::Part(next()),
                Piece::List(parts) => Piece::List(parts.iter().map(|_| next()).collect()),
                Piece::Bound(_) => Piece::Bound(next()),
                Piece::Block(_) => Piece::Block(next()),
                Piece::Rest(_) => Piece::Rest(next()),
                Piece::Binding(var) => {
                    let number = self.variable(&var);
                    self.bound.insert(number);
                    Piece::Binding(number)
                }
                Piece::Variable(var) => Piece::Variable(self.variable(&var)),
                Piece::Constant(digest, summary) => Piece::Constant(digest, summary),
                Piece::Line => Piece::Line,
                Piece::Indent => Piece::Indent,
                Piece::Dedent => Piece::Dedent,
            });
        }
        let id = self.add(numbered, is_computed, is_tree);
        if let Some(identity) = open.identity {
            self.graph.ids.insert(identity, id);
        }
        id
    }

    fn variable(&mut self, var: &Ref<Obj>) -> u32 {
        let next = self.graph.variables.len() as u32;
        let number = *self.variables.entry(var.identity()).or_insert(next);
        if number == next {
            self.graph.variables.push(var.clone());
        }
        number
    }

    /// Adds a node. Equal nodes are one node if sharing has no meaning, so that equal
    /// programs have the same text.
    fn add(&mut self, pieces: NodePieces, is_computed: bool, is_tree: bool) -> Id {
        let has_scope = |piece: &Piece<Id, u32>| matches!(piece, Piece::Block(_) | Piece::Rest(_));
        let next = self.graph.nodes.len() as Id;
        if is_tree && !pieces.iter().any(has_scope) {
            let id = *self.known.entry(pieces.clone()).or_insert(next);
            if id != next {
                return id;
            }
        }
        self.graph.nodes.push(GraphNode {
            pieces,
            is_computed,
            uses: 0,
            is_open: false,
            is_result: false,
            is_numbered: false,
        });
        next
    }

    /// Adds the lines that introduce variables without a binding. Their annotations may
    /// contain further variables.
    fn add_headers(&mut self) {
        let mut number = 0;
        while let Some(var) = self.graph.variables.get(number).cloned() {
            let is_expr = variable(&var).is_some_and(|(_, sign)| !sign.is_empty());
            if is_expr && self.bound.insert(number as u32) {
                let mut pieces = vec![text("free_var "), Piece::Binding(var.clone())];
                pieces.extend(annotation(&var));
                let description = Description {
                    pieces,
                    is_computed: false,
                    is_tree: false,
                };
                let header = self.collect(None, description);
                self.graph.headers.push(header);
            }
            number += 1;
        }
    }
}
