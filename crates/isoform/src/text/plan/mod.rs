//! Decides which nodes get a name and a line of their own, and places these lines.
//!
//! Variables, shared nodes, dag nodes, singletons, and deeply nested nodes get a name.
//! A named node is defined on a line of the innermost *block* around all its uses: the
//! whole text is a block, and an object of a scope type, too. Only variables are
//! defined in place, in a field that binds them.
//!
//! Lines are in the order of the nodes, hence after the nodes in their references. A
//! line may still precede the definition of one of its variables, if the definition is
//! within a later line; the parser accepts names before their definition.
//!
//! Each name belongs to the innermost block that holds its definition and all its uses, so
//! a name of one function never depends on the names of another function.

mod kinds;
mod walk;

use hashbrown::HashMap;
use unicode_width::UnicodeWidthStr;

use self::kinds::BlockLabels;
use super::graph::{Graph, Item, Node, NodeKind, Part, Presence};
use super::names::Names;
use super::spelling::Sigil;
use crate::kernel::error::Result;
use crate::kernel::object::access::Poll;
use crate::kernel::pages::empty;
use crate::kernel::types::Kind;

/// Longer texts without parts are not repeated.
const REPEATED: usize = 64;

const NONE: u32 = u32::MAX;

/// The plan of a text.
pub(super) struct Plan {
    spots: Vec<NodeLayout>,
    blocks: Vec<Block>,
    /// Large constants in the order of their names.
    pub(super) constants: Vec<u32>,
    pub(super) names: Names,
}

/// The decisions about a node.
#[derive(Clone, Copy)]
pub(super) struct NodeLayout {
    /// The number of printed nodes around the node.
    uses: u32,
    /// The block around all uses of the node; for a definition in place, the node
    /// around the definition.
    home: u32,
    /// The index of that part.
    site: u32,
    /// The block of the node itself.
    block: u32,
    /// Its name.
    name: u32,
    /// The block around the text of the node.
    place: u32,
    /// The block to which the node's name belongs: around the definition and all uses.
    scope: u32,
    /// The width of the node's own text on one line.
    width: u32,
    /// The node's level of nesting, while being determined.
    level: u8,
    /// True if references use the node's name.
    is_named: bool,
    /// True if the node's name is the content of its name field.
    is_hint: bool,
    /// True if it is defined in place.
    in_place: bool,
}

struct Block {
    /// The block around the lines of this one.
    outer: Nesting,
    /// The block around the text of this one, where a header is inside of its own block.
    around: Nesting,
    level: u8,
    /// The nodes defined in the block.
    lines: Vec<u32>,
}

/// The position of a block in a tree of blocks.
#[derive(Clone, Copy)]
struct Nesting {
    parent: u32,
    depth: u8,
}

impl Nesting {
    const ROOT: Nesting = Nesting {
        parent: 0,
        depth: 0,
    };
}

/// Labels of nodes, by node.
type Labels = HashMap<u32, String, rapidhash::fast::RandomState>;

/// Wider than any line.
pub(super) const TOO_WIDE: u32 = u32::MAX / 2;

/// The plan of the text of a graph, in an empty list.
pub(super) fn plan(graph: &Graph<'_>, mut spots: Vec<NodeLayout>) -> Result<Plan> {
    let spot = NodeLayout {
        uses: 0,
        home: NONE,
        site: 0,
        block: NONE,
        name: NONE,
        place: NONE,
        scope: NONE,
        width: 0,
        level: 0,
        is_named: false,
        is_hint: false,
        in_place: false,
    };
    spots.resize(graph.len(), spot);
    let mut plan = Plan {
        spots,
        blocks: vec![Block {
            outer: Nesting::ROOT,
            around: Nesting::ROOT,
            level: 0,
            lines: Vec::new(),
        }],
        constants: Vec::new(),
        names: Names::default(),
    };
    let mut poll = Poll::default();
    plan.place(graph, &mut poll)?;
    let named = plan.walk(graph, &mut poll)?;
    plan.find_scopes(graph, &mut poll)?;
    plan.name(graph, named, &mut poll)?;
    plan.measure(graph, &mut poll)?;
    Ok(plan)
}

impl Plan {
    /// The list of decisions, emptied, for the next text.
    pub(super) fn into_spots(mut self) -> Vec<NodeLayout> {
        empty(&mut self.spots);
        self.spots
    }

    /// True if the node is referred to by a name.
    pub(super) fn is_named(&self, node: u32) -> bool {
        self.spots[node as usize].is_named
    }

    /// Columns of a part printed on one line.
    pub(super) fn reference_width(&self, graph: &Graph<'_>, item: Item) -> u32 {
        match item {
            Item::Text(text) => columns(graph.text(text)),
            Item::Node(item) => {
                let spot = &self.spots[item as usize];
                match (spot.is_named, spot.in_place) {
                    (true, false) => columns(self.name_of(item)),
                    // The name is short compared with its definition.
                    (true, true) => TOO_WIDE,
                    (false, _) => spot.width,
                }
            }
        }
    }

    /// True if the node is defined as this part of the parent node.
    pub(super) fn is_in_place(&self, node: u32, parent: u32, part: u32) -> bool {
        let spot = &self.spots[node as usize];
        spot.in_place && (spot.home, spot.site) == (parent, part)
    }

    /// The name of a named node.
    pub(super) fn name_of(&self, node: u32) -> &str {
        self.names.get(self.spots[node as usize].name)
    }

    /// The width of the node's own text on one line; [`TOO_WIDE`] for a text of several
    /// lines.
    pub(super) fn width(&self, node: u32) -> u32 {
        self.spots[node as usize].width
    }

    /// The lines defined in a node.
    pub(super) fn lines_in(&self, node: u32) -> &[u32] {
        match self.spots[node as usize].block {
            NONE => &[],
            block => &self.blocks[block as usize].lines,
        }
    }

    /// The lines of the text itself.
    pub(super) fn lines(&self) -> &[u32] {
        &self.blocks[0].lines
    }

    /// True if a part of a node is printed.
    pub(super) fn prints(&self, graph: &Graph<'_>, node: u32, part: &Part) -> bool {
        match (part.presence, part.item) {
            (Presence::Always, _) | (_, Item::Text(_)) => true,
            (Presence::UnlessShared, Item::Node(item)) => {
                let is_shared = |item: u32| self.spots[item as usize].uses > 1;
                is_shared(item)
                    || graph.parts_of(item).iter().any(|part| match part.item {
                        Item::Node(inner) => is_shared(inner),
                        Item::Text(_) => false,
                    })
            }
            (Presence::UnlessNamed, _) => {
                let spot = &self.spots[node as usize];
                !(spot.is_hint && spot.is_named)
            }
        }
    }

    /// Decides which nodes are named, and their home blocks.
    ///
    /// Every node comes after the nodes around it.
    fn place(&mut self, graph: &Graph<'_>, poll: &mut Poll) -> Result<()> {
        let root = graph.root();
        let limit = graph.options().levels();
        for number in (0..=root).rev() {
            poll.step_outside()?;
            let node = graph.node(number);
            let ty = graph.type_of(number);
            let spot = &mut self.spots[number as usize];
            if number == root {
                spot.home = 0;
            } else if spot.uses == 0 {
                continue;
            }
            let kind = ty.map(|ty| ty.kind());
            let is_scope = ty.is_some_and(|ty| ty.info.is_scope());
            let is_shared = spot.uses > 1;
            spot.is_named = match node.what {
                NodeKind::Leaf(text) => is_shared && graph.text(text).len() > REPEATED,
                what if graph.is_constant(what) => true,
                NodeKind::Tensor(_) | NodeKind::Whole(_) => is_shared,
                _ => match kind {
                    Some(Kind::Var | Kind::Singleton) => true,
                    Some(Kind::Dag) if !is_scope => true,
                    _ => is_shared || spot.level > limit && node.count > 0,
                },
            };
            // The root needs no name, but keeps its own.
            spot.is_named &= number != root || kind == Some(Kind::Var);
            if kind == Some(Kind::Singleton) {
                spot.home = 0;
            }
            let (home, is_named) = (spot.home, spot.is_named);
            if is_named {
                spot.level = self.blocks[home as usize].level;
                let is_line = kind != Some(Kind::Var) && !graph.is_constant(node.what);
                if is_line {
                    self.blocks[home as usize].lines.push(number);
                }
            }
            let level = self.spots[number as usize].level;
            // A line inside has at least half of the levels for itself.
            let inside = if is_scope && level < limit / 2 {
                self.spots[number as usize].block = self.blocks.len() as u32;
                self.blocks.push(Block {
                    outer: self.nesting_in(home, |block| block.outer),
                    around: Nesting::ROOT,
                    level: level + 1,
                    lines: Vec::new(),
                });
                self.spots[number as usize].block
            } else {
                home
            };
            for (position, part) in graph.parts_of(number).iter().enumerate() {
                let Item::Node(item) = part.item else {
                    continue;
                };
                let is_header = (position as u32) < node.header;
                let place = if is_header { home } else { inside };
                let old_home = self.spots[item as usize].home;
                let home = if old_home == NONE {
                    place
                } else {
                    self.common(old_home, place, |block| block.outer)
                };
                let spot = &mut self.spots[item as usize];
                spot.home = home;
                spot.uses = spot.uses.saturating_add(1);
                // Omitted parts, and shared parts with a name, are never nested too
                // deeply.
                spot.level = match part.presence {
                    Presence::UnlessShared => 0,
                    _ => level.saturating_add(1),
                };
            }
        }
        Ok(())
    }

    fn nesting_in(&self, parent: u32, tree: fn(&Block) -> Nesting) -> Nesting {
        let depth = tree(&self.blocks[parent as usize]).depth + 1;
        Nesting { parent, depth }
    }

    /// The innermost block that holds two blocks in one of the trees of blocks. The depth
    /// of blocks is limited.
    fn common(&self, mut one: u32, mut other: u32, tree: fn(&Block) -> Nesting) -> u32 {
        while one != other {
            let (a, b) = (
                tree(&self.blocks[one as usize]),
                tree(&self.blocks[other as usize]),
            );
            if a.depth >= b.depth {
                one = a.parent;
            } else {
                other = b.parent;
            }
        }
        one
    }

    /// Finds the block to which each name belongs. Every node comes after the nodes around
    /// it, so its uses are known.
    fn find_scopes(&mut self, graph: &Graph<'_>, poll: &mut Poll) -> Result<()> {
        let root = graph.root();
        for number in (0..=root).rev() {
            poll.step_outside()?;
            let spot = self.spots[number as usize];
            let place = match (spot.is_named, spot.in_place) {
                _ if number == root => 0,
                // The section after the text is outside of all blocks.
                _ if graph.is_constant(graph.node(number).what) => 0,
                (true, true) => self.inside(spot.home),
                (true, false) => spot.home,
                // The only use of the node is its place.
                (false, _) => spot.scope,
            };
            if place == NONE {
                continue;
            }
            let scope = match spot.scope {
                NONE => place,
                scope => self.common(scope, place, |block| block.around),
            };
            let spot = &mut self.spots[number as usize];
            (spot.place, spot.scope) = (place, scope);
            if spot.block != NONE {
                let block = spot.block as usize;
                self.blocks[block].around = self.nesting_in(place, |block| block.around);
            }
            let inside = self.inside(number);
            for part in graph.parts_of(number) {
                let Item::Node(item) = part.item else {
                    continue;
                };
                if !self.prints(graph, number, part) {
                    continue;
                }
                let scope = match self.spots[item as usize].scope {
                    NONE => inside,
                    scope => self.common(scope, inside, |block| block.around),
                };
                self.spots[item as usize].scope = scope;
            }
        }
        Ok(())
    }

    /// The block around the parts of a node.
    fn inside(&self, number: u32) -> u32 {
        let spot = &self.spots[number as usize];
        match spot.block {
            NONE => spot.place,
            block => block,
        }
    }

    /// Names the nodes block by block, outer blocks first, because names inside of a block
    /// avoid the names around it.
    fn name(&mut self, graph: &Graph<'_>, named: Vec<u32>, poll: &mut Poll) -> Result<()> {
        let arounds = self.blocks.iter().map(|block| block.around.parent);
        self.names = Names::new(arounds.collect(), named.len());
        let mut order = named;
        // A stable sort keeps the order of the text within a block.
        order.sort_by_key(|&number| self.spots[number as usize].scope);
        let labels = if graph.options().structural_names {
            self.labels(graph, &order, poll)?
        } else {
            HashMap::default()
        };
        for number in order {
            poll.step_outside()?;
            let sigil = match graph.type_of(number).map(|ty| ty.kind()) {
                Some(Kind::Singleton) => Sigil::Global,
                _ if graph.is_constant(graph.node(number).what) => Sigil::Constant,
                _ => Sigil::Local,
            };
            let hint = graph.hints.get(&number).and_then(|hint| hint.as_str());
            let label = labels.get(&number).map(String::as_str);
            let spot = &mut self.spots[number as usize];
            let wanted = hint.filter(|hint| !hint.is_empty()).or(label);
            let is_wanted = self.names.choose(spot.name, spot.scope, sigil, wanted);
            spot.is_hint = is_wanted && wanted == hint;
        }
        Ok(())
    }

    /// The labels by kind of the nodes without a hint, which come block by block.
    fn labels(&self, graph: &Graph<'_>, order: &[u32], poll: &mut Poll) -> Result<Labels> {
        let has_hint = |number: u32| {
            let hint = graph.hints.get(&number).and_then(|hint| hint.as_str());
            hint.is_some_and(|hint| !hint.is_empty())
        };
        let mut labels = Labels::default();
        let scope = |number: &u32| self.spots[*number as usize].scope;
        for block in order.chunk_by(|one, other| scope(one) == scope(other)) {
            let mut of_block = BlockLabels::default();
            for &number in block.iter().filter(|&&number| !has_hint(number)) {
                poll.step_outside()?;
                labels.insert(number, of_block.next(graph, number));
            }
        }
        Ok(labels)
    }

    /// Measures the text of every node, parts first.
    fn measure(&mut self, graph: &Graph<'_>, poll: &mut Poll) -> Result<()> {
        for number in 0..graph.len() as u32 {
            poll.step_outside()?;
            let width = self.own_width(graph, number).min(TOO_WIDE);
            self.spots[number as usize].width = width;
        }
        Ok(())
    }

    fn own_width(&self, graph: &Graph<'_>, number: u32) -> u32 {
        let node = graph.node(number);
        let comment = graph
            .comments
            .get(&number)
            .map_or(0, |&text| columns(graph.text(text)) + 7);
        let mut width = match node.what {
            NodeKind::Leaf(text) | NodeKind::Whole(text) => return columns(graph.text(text)),
            NodeKind::Tensor(_) => return TOO_WIDE,
            NodeKind::Sequence(open) | NodeKind::Mapping(open) => open.len() as u32 + 1,
            NodeKind::Object(ty) => columns(&graph.types[ty as usize].head) + 1,
        };
        if !self.lines_in(number).is_empty() {
            return TOO_WIDE;
        }
        width = width.saturating_add(comment);
        let mut separator = 0;
        for part in graph.parts_of(number) {
            if self.prints(graph, number, part) {
                let part = self.part_width(graph, number, node, part);
                width = width.saturating_add(part).saturating_add(separator);
                separator = 2;
            }
        }
        width
    }

    /// Columns of a part with the name of its field.
    fn part_width(&self, graph: &Graph<'_>, number: u32, node: &Node, part: &Part) -> u32 {
        let label = match node.what {
            NodeKind::Object(ty) => {
                let fields = &graph.types[ty as usize].fields;
                columns(&fields[part.field as usize].name) + 1
            }
            _ => 0,
        };
        let item = match part.item {
            Item::Text(text) => columns(graph.text(text)),
            Item::Node(item) => {
                let spot = &self.spots[item as usize];
                match (spot.is_named, spot.in_place && spot.home == number) {
                    (false, _) => spot.width,
                    (true, false) => columns(self.names.get(spot.name)),
                    (true, true) => {
                        let name = columns(self.names.get(spot.name)) + 2;
                        spot.width.saturating_add(name)
                    }
                }
            }
        };
        label.saturating_add(item)
    }
}

/// The width of a text on a line, where wide characters take two columns.
pub(super) fn columns(text: &str) -> u32 {
    let count = if text.is_ascii() {
        text.len()
    } else {
        text.width()
    };
    u32::try_from(count).unwrap_or(TOO_WIDE)
}
