//! The dataflow nodes of values in a canonical order. An item has a word for its
//! computation and edges to the items used.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;
use smallvec::SmallVec;

use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::object::class::Payload;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::info;
use crate::kernel::types::Kind;
use crate::kernel::value::Value;
use crate::structural::CompareOptions;
use crate::traverse::bindings::Bindings;
use crate::traverse::children_of;
use crate::traverse::graph::{Graph, NodeId, Role};
use crate::traverse::uses::Uses;

/// A word: equal for nodes with the same computation on the nodes used.
pub(super) type Word = u32;

/// No item: the target of an edge to an object that is not a node.
pub(super) const OUTSIDE: u32 = u32::MAX;

/// A part with more edges than this becomes an item of its own, to avoid a copy of the
/// edges at every occurrence of the part.
const MANY_EDGES: usize = 16;

/// The maximum number of steps from a variable along bindings to other variables.
const COPIES: usize = 16;

/// An edge of an item: the target item, and the number of the variable among the
/// target's definitions; zero for the item itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Edge {
    pub(super) item: u32,
    pub(super) definition: u32,
}

/// The items of all values, one value after the other.
#[derive(Default)]
pub(super) struct Items {
    pub(super) words: Vec<Word>,
    /// The nodes; None for items that only bind a node to a variable, and for parts.
    pub(super) objects: Vec<Option<Ref<Obj>>>,
    edges: Vec<Edge>,
    /// The start of an item's edges, by item, and the end.
    starts: Vec<u32>,
    /// The end of a value's items, by value.
    ends: Vec<usize>,
    table: Words,
}

impl Items {
    /// The comparison of parts without uses of other nodes.
    pub(super) const PART_OPTIONS: CompareOptions = CompareOptions {
        map_free_vars: false,
        skip_tensor_content: true,
    };

    /// Lists the items of values. Linear in their distinct objects.
    ///
    /// # Errors
    ///
    /// `ValueError` with the path for a cycle; errors of custom comparisons and hashes.
    pub(super) fn of(values: &[Value]) -> Result<Items> {
        let mut items = Items {
            starts: vec![0],
            ..Items::default()
        };
        let mut words = Words::default();
        for value in values {
            if value.as_object().is_some() {
                Reader::new(&Uses::of(value)?, &mut words).read(&mut items)?;
            }
            items.ends.push(items.words.len());
        }
        items.table = words;
        Ok(items)
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn edges(&self, item: usize) -> &[Edge] {
        &self.edges[self.starts[item] as usize..self.starts[item + 1] as usize]
    }

    /// The form of each word; None for the word of a single item.
    pub(super) fn forms(&self) -> Vec<Option<Form<'_>>> {
        let mut forms = Vec::new();
        forms.resize_with(self.table.count as usize, || None);
        let plain = self.table.plain.values().flatten();
        let plain = plain.map(|(value, word)| (*word, Form::Plain(value)));
        let shapes = self.table.shapes.iter();
        let shapes = shapes.map(|(tokens, word)| (*word, Form::Shape(tokens)));
        for (word, form) in plain.chain(shapes) {
            forms[word as usize] = Some(form);
        }
        forms
    }

    /// The name of a type that is the same in every process.
    pub(super) fn type_name(index: u32) -> [u8; 16] {
        info(TypeIndex(index)).portable_name
    }

    /// The number of the value that contains an item.
    pub(super) fn value_of(&self, item: usize) -> usize {
        self.ends.partition_point(|end| *end <= item)
    }
}

/// The form of the items with a word.
pub(super) enum Form<'i> {
    /// The tokens of the node, whose words are older.
    Shape(&'i [Token]),
    /// A value without uses of other nodes.
    Plain(&'i Value),
}

/// The form of a node, or of a part of a node, without the nodes and variables used.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Token {
    Object(u32),
    Plain(Word),
    Part(Word),
    Item,
    Use,
    Definition,
}

/// The words of shapes, and of values without parts.
#[derive(Default)]
struct Words {
    shapes: HashMap<Vec<Token>, Word, RandomState>,
    /// Values with their numbers, by hash.
    plain: HashMap<u64, Vec<(Value, Word)>, RandomState>,
    count: Word,
}

impl Words {
    fn fresh(&mut self) -> Word {
        self.count += 1;
        self.count - 1
    }

    fn of_shape(&mut self, tokens: Vec<Token>) -> Word {
        if let Some(&known) = self.shapes.get(&tokens) {
            return known;
        }
        let word = self.fresh();
        self.shapes.insert(tokens, word);
        word
    }

    /// The word of a value without uses of other nodes; a new word if the value cannot
    /// be compared.
    fn of_plain(&mut self, value: &Value) -> Result<Word> {
        let options = Items::PART_OPTIONS;
        let hash = match options.hash(value) {
            Err(error) if error.kind() == ErrorKind::Type => return Ok(self.fresh()),
            hash => hash?,
        };
        for (known, word) in self.plain.get(&hash).into_iter().flatten() {
            if options.equal(known, value)? {
                return Ok(*word);
            }
        }
        let word = self.fresh();
        self.plain
            .entry(hash)
            .or_default()
            .push((value.clone(), word));
        Ok(word)
    }
}

/// The targets of edges, as nodes of the graph.
type Targets = SmallVec<[NodeId; 4]>;

/// A part that is not an item.
struct Shape {
    word: Word,
    targets: Targets,
}

struct Reader<'u, 'w> {
    graph: &'u Graph,
    bindings: &'u Bindings,
    words: &'w mut Words,
    shapes: Vec<Option<Shape>>,
    items: HashMap<NodeId, u32, RandomState>,
    /// For each definition, the item around it and the position among the item's edges.
    definitions: HashMap<NodeId, (u32, u32), RandomState>,
}

impl<'u, 'w> Reader<'u, 'w> {
    fn new(uses: &'u Uses, words: &'w mut Words) -> Self {
        Reader {
            graph: uses.graph(),
            bindings: uses.bindings(),
            words,
            shapes: Vec::new(),
            items: HashMap::default(),
            definitions: HashMap::default(),
        }
    }

    /// Adds the items of the graph, parts before wholes.
    fn read(mut self, items: &mut Items) -> Result<()> {
        let mut targets: Vec<Targets> = Vec::new();
        let first = items.len();
        let mut poll = Poll::default();
        for node in 0..self.graph.nodes.len() as NodeId {
            poll.step_outside()?;
            let Some(shape) = self.shape(node)? else {
                self.shapes.push(None);
                continue;
            };
            let is_dataflow = self.is_dataflow(node);
            if !is_dataflow && shape.targets.len() <= MANY_EDGES {
                self.shapes.push(Some(shape));
                continue;
            }
            let item = items.len() as u32;
            self.items.insert(node, item);
            for (position, target) in shape.targets.iter().enumerate() {
                if self.graph.node(*target).role == Role::Definition {
                    let place = (item, position as u32 + 1);
                    self.definitions.entry(*target).or_insert(place);
                }
            }
            let value = &self.graph.node(node).value;
            let binds = self.bindings.roles.of(value)?;
            let is_node = is_dataflow && binds.is_none_or(|roles| roles.binding.is_none());
            items.words.push(shape.word);
            items
                .objects
                .push(value.as_object().filter(|_| is_node).cloned());
            targets.push(shape.targets);
            self.shapes.push(None);
        }
        debug_assert_eq!(items.len(), first + targets.len());
        for targets in targets {
            let edges = targets.iter().map(|target| self.resolved(*target));
            items.edges.extend(edges);
            items.starts.push(items.edges.len() as u32);
        }
        Ok(())
    }

    fn is_dataflow(&self, node: NodeId) -> bool {
        let node = self.graph.node(node);
        let kind = node
            .value
            .as_object()
            .map(|object| object.type_info().kind());
        kind == Some(Kind::Dag) && !node.is_key
    }

    /// The shape of a node, apart from being an item; None for variables.
    fn shape(&mut self, node: NodeId) -> Result<Option<Shape>> {
        let graph_node = self.graph.node(node);
        if graph_node.role != Role::Plain {
            return Ok(None);
        }
        let Some(object) = graph_node.value.as_object() else {
            let word = self.words.of_plain(&graph_node.value)?;
            return Ok(Some(Shape {
                word,
                targets: Targets::new(),
            }));
        };
        let info = object.borrowed().info();
        let mut targets = Targets::new();
        let has_parts = matches!(
            info.class(),
            Payload::Plain
                | Payload::Node
                | Payload::Sequence
                | Payload::Mapping
                | Payload::Mutable
        );
        let by_itself = !has_parts || matches!(info.kind, Kind::Singleton | Kind::None);
        if by_itself {
            let word = self.words.of_plain(&graph_node.value)?;
            return Ok(Some(Shape { word, targets }));
        }
        let mut tokens = vec![Token::Object(info.index().0)];
        let mut kids = graph_node.kids.iter().peekable();
        for (position, child) in children_of(&graph_node.value)
            .iter(graph_node.region)
            .enumerate()
        {
            let kid = kids.next_if(|kid| kid.position as usize == position);
            tokens.push(match kid {
                Some(kid) => self.token(kid.node, &mut targets),
                None => Token::Plain(self.words.of_plain(&child.value)?),
            });
        }
        let custom = info.class() == Payload::Node && !info.hooks.are_structural_defaults();
        let word = match (custom, targets.is_empty()) {
            (false, _) => self.words.of_shape(tokens),
            // Custom comparison decides; if the decision depends on a context, no two
            // nodes are equal.
            (true, true) => self.words.of_plain(&graph_node.value)?,
            (true, false) => self.words.fresh(),
        };
        Ok(Some(Shape { word, targets }))
    }

    /// The token of a part, whose edges are added to `targets`.
    fn token(&self, kid: NodeId, targets: &mut Targets) -> Token {
        match self.graph.node(kid).role {
            Role::Use => {
                targets.push(kid);
                return Token::Use;
            }
            Role::Definition => {
                targets.push(kid);
                return Token::Definition;
            }
            Role::Plain => {}
        }
        match &self.shapes[kid as usize] {
            Some(shape) => {
                targets.extend_from_slice(&shape.targets);
                Token::Part(shape.word)
            }
            None => {
                targets.push(kid);
                Token::Item
            }
        }
    }

    /// The target of an edge.
    fn resolved(&self, mut target: NodeId) -> Edge {
        for _ in 0..COPIES {
            let node = self.graph.node(target);
            if node.role != Role::Use {
                break;
            }
            let ident = node.value.as_object().map(Ref::identity);
            let bound = ident.and_then(|ident| self.bindings.of(self.graph, ident));
            target = match (bound, node.kids.first()) {
                (Some(bound), _) if bound.index.is_none() => bound.value,
                (_, Some(definition)) => definition.node,
                _ => break,
            };
        }
        if let Some(&item) = self.items.get(&target) {
            return Edge {
                item,
                definition: 0,
            };
        }
        let (item, definition) = self
            .definitions
            .get(&target)
            .copied()
            .unwrap_or((OUTSIDE, 0));
        Edge { item, definition }
    }
}
