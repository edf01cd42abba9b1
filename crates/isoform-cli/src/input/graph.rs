//! The unknown types of JSON graphs: their fields, and which of these hold numbers of nodes.
//!
//! A graph does not tell an integer from the number of a node. The order of the nodes does:
//! every node but the root is a part of another, and directly before a node come those of its
//! parts that are parts of no earlier node, with their own parts. Where this does not decide,
//! the field counts as one of integers, and is reported as unsure.

use std::collections::{BTreeMap, HashMap};

use isoform::Value;
use isoform::plumbing::read_data;
use isoform::plumbing::sketches::{TypeSketch, is_reference};
use isoform::types::Schema;
use isoform::values::{DType, ValueRef};

/// The types of nodes that the format itself defines.
const BUILT_IN: [&str; 15] = [
    "None",
    "bool",
    "int",
    "float",
    "DataType",
    "Device",
    "ffi.BigInt",
    "ffi.String",
    "ffi.Bytes",
    "ffi.Shape",
    "ffi.Tensor",
    "ffi.Array",
    "ffi.List",
    "ffi.Map",
    "ffi.Dict",
];
const CONTAINERS: [&str; 4] = ["ffi.Array", "ffi.List", "ffi.Map", "ffi.Dict"];

/// A JSON graph as data.
pub(super) struct Graph {
    /// The whole text.
    pub(super) data: Value,
    nodes: Vec<Node>,
    root: usize,
}

struct Node {
    key: String,
    data: Value,
}

impl Graph {
    /// The graph of a text; None if the text is not one.
    pub(super) fn read(text: &str) -> Option<Graph> {
        let data = read_data(text).ok()?;
        let map = data.as_map()?;
        let items = map.get("nodes")?.as_array()?;
        let root = usize::try_from(map.get("root_index")?.as_int()?).ok()?;
        let node = |item: &Value| {
            let item = item.as_map()?;
            Some(Node {
                key: item.get("type")?.as_str()?.to_owned(),
                data: item.get("data").cloned().unwrap_or(Value::NONE),
            })
        };
        let nodes = items
            .values()
            .iter()
            .map(node)
            .collect::<Option<Vec<_>>>()?;
        Some(Graph { data, nodes, root })
    }

    /// The keys of all types, each once.
    pub(super) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for node in self.nodes.iter().filter(|node| is_declared(&node.key)) {
            if !keys.contains(&node.key) {
                keys.push(node.key.clone());
            }
        }
        keys
    }
}

fn is_declared(key: &str) -> bool {
    !BUILT_IN.contains(&key)
}

/// The unknown types of several graphs, which declare them alike.
pub(super) struct GraphTypes {
    pub(super) types: Vec<TypeSketch>,
    /// The fields that hold integers or numbers of nodes.
    pub(super) unsure: Vec<String>,
}

/// A type and a field.
type Place = (String, String);

/// The values of a field.
#[derive(Default)]
struct Evidence {
    /// Graph, node and value.
    ints: Vec<(usize, usize, i64)>,
    floats: bool,
    bools: bool,
    dtypes: bool,
    nulls: bool,
    other: bool,
    count: usize,
}

impl Evidence {
    fn note(&mut self, graph: usize, node: usize, value: &Value) {
        self.count += 1;
        match value.view() {
            ValueRef::Int(number) => self.ints.push((graph, node, number)),
            ValueRef::Float(_) => self.floats = true,
            ValueRef::Bool(_) => self.bools = true,
            ValueRef::None => self.nulls = true,
            ValueRef::Str(text) if text.parse::<DType>().is_ok() => self.dtypes = true,
            _ => self.other = true,
        }
    }

    /// The type of the plain values; None for integers that may be numbers of nodes, and
    /// an error for data that is not a field.
    fn schema(&self) -> Result<Option<Schema>, ()> {
        let ints = !self.ints.is_empty();
        match (self.floats, self.bools, self.dtypes, self.nulls, self.other) {
            (true, false, false, false, false) => Ok(Some(Schema::Float)),
            (false, true, false, false, false) if !ints => Ok(Some(Schema::Bool)),
            (false, false, true, false, false) if !ints => Ok(Some(Schema::DType)),
            (false, false, false, true, false) if !ints => Ok(Some(Schema::None)),
            (false, false, false, false, false) => {
                // Parts come first.
                let is_part = |&(_, node, number): &(usize, usize, i64)| {
                    usize::try_from(number).is_ok_and(|number| number < node)
                };
                Ok((!self.ints.iter().all(is_part)).then_some(Schema::Int))
            }
            _ => Err(()),
        }
    }
}

/// Describes the types of graphs of which `is_apart` is true; `known` are sketches from files that tell numbers
/// from nodes. None if a node is part of no other, so that nothing follows.
pub(super) fn graph_types(
    graphs: &[Graph],
    known: &[TypeSketch],
    is_apart: &dyn Fn(&str) -> bool,
) -> Option<GraphTypes> {
    let mut types: Vec<TypeSketch> = Vec::new();
    let mut places: BTreeMap<Place, Evidence> = BTreeMap::new();
    let mut parts = Vec::new();
    for (number, graph) in graphs.iter().enumerate() {
        parts.push(Parts::new(graph)?);
        for (own, node) in graph.nodes.iter().enumerate() {
            if is_declared(&node.key) && is_apart(&node.key) {
                note_object(&mut types, &mut places, number, own, node);
            } else {
                parts[number].add_known(own, node);
            }
        }
    }
    let mut decided: HashMap<Place, Schema> = HashMap::new();
    let mut open: Vec<(Place, Evidence)> = Vec::new();
    let mut unsure = Vec::new();
    for (place, evidence) in places {
        let elsewhere = known.iter().find(|ty| ty.key == place.0);
        let elsewhere = elsewhere.and_then(|ty| {
            let field = ty.fields.iter().find(|field| field.name == place.1);
            field.map(|field| field.schema.clone())
        });
        match (elsewhere, evidence.schema()) {
            (_, Err(())) => {
                if let Some(ty) = types.iter_mut().find(|ty| ty.key == place.0) {
                    ty.is_hooked = true;
                }
            }
            (Some(Schema::Any), _) => {
                evidence.add_to(&mut parts);
                decided.insert(place, Schema::Any);
            }
            (Some(schema), _) | (None, Ok(Some(schema))) => drop(decided.insert(place, schema)),
            (None, Ok(None)) => open.push((place, evidence)),
        }
    }
    open.retain(|(place, _)| !types.iter().any(|ty| ty.is_hooked && ty.key == place.0));
    let all_open: Vec<Place> = open.iter().map(|(place, _)| place.clone()).collect();
    while let Next::Reference { field, is_sure } = next_reference(&open, &parts)? {
        let (place, evidence) = open.swap_remove(field);
        evidence.add_to(&mut parts);
        if !is_sure {
            unsure.push(place.clone());
        }
        decided.insert(place, Schema::Any);
    }
    for (place, _) in open {
        unsure.push(place.clone());
        decided.insert(place, Schema::Int);
    }
    if !parts.iter().all(Parts::are_in_order) {
        // Somebody else has written the graph, and its order says nothing.
        unsure = all_open;
    }
    unsure.sort_unstable();
    for ty in &mut types {
        for field in &mut ty.fields {
            let place = (ty.key.clone(), field.name.clone());
            field.schema = decided.remove(&place).unwrap_or(Schema::Any);
        }
    }
    let unsure = unsure.iter().map(|(key, field)| format!("{key}.{field}"));
    let unsure = unsure.collect();
    Some(GraphTypes { types, unsure })
}

fn note_object(
    types: &mut Vec<TypeSketch>,
    places: &mut BTreeMap<Place, Evidence>,
    graph: usize,
    own: usize,
    node: &Node,
) {
    let position = types.iter().position(|ty| ty.key == node.key);
    let ty = match position {
        Some(position) => &mut types[position],
        None => {
            types.push(TypeSketch::new(&node.key));
            let last = types.len() - 1;
            &mut types[last]
        }
    };
    let Some(fields) = node.data.as_map() else {
        ty.is_hooked = true;
        return;
    };
    for (name, value) in fields.iter() {
        let Some(name) = name.as_str() else {
            continue;
        };
        ty.add(name, Schema::Any);
        let place = (node.key.clone(), name.to_owned());
        places.entry(place).or_default().note(graph, own, value);
    }
}

/// The parts of the nodes of a graph, as far as they are known.
struct Parts {
    root: usize,
    /// The parts of each node.
    of: Vec<Vec<usize>>,
    /// The first node with this part; [`NOBODY`] if there is none.
    first: Vec<usize>,
}

const NOBODY: usize = usize::MAX;

impl Parts {
    fn new(graph: &Graph) -> Option<Parts> {
        let count = graph.nodes.len();
        (graph.root < count).then(|| Parts {
            root: graph.root,
            of: vec![Vec::new(); count],
            first: vec![NOBODY; count],
        })
    }

    fn add(&mut self, own: usize, part: i64) {
        let part = usize::try_from(part).unwrap_or(NOBODY);
        if let Some(first) = self.first.get_mut(part) {
            *first = own.min(*first);
            self.of[own].push(part);
        }
    }

    /// Adds the parts of a node whose type is known.
    fn add_known(&mut self, own: usize, node: &Node) {
        if CONTAINERS.contains(&&*node.key) {
            let items = node.data.as_array();
            let items = items.iter().flat_map(|items| items.values().iter());
            for item in items.filter_map(Value::as_int) {
                self.add(own, item);
            }
        } else if is_declared(&node.key)
            && let Some(fields) = node.data.as_map()
        {
            for (name, value) in fields.iter() {
                if name
                    .as_str()
                    .is_some_and(|name| is_reference(&node.key, name))
                    && let Some(part) = value.as_int()
                {
                    self.add(own, part);
                }
            }
        }
    }

    /// True if the nodes are in the order in which the library writes them: those parts of a
    /// node that are new come directly before, with their own parts.
    fn are_in_order(&self) -> bool {
        let mut waiting: Vec<usize> = Vec::new();
        for (own, parts) in self.of.iter().enumerate() {
            let mut new: Vec<usize> = parts
                .iter()
                .copied()
                .filter(|part| self.first[*part] == own)
                .collect();
            new.sort_unstable();
            new.dedup();
            if !waiting.ends_with(&new) || parts.iter().any(|part| *part >= own) {
                return false;
            }
            waiting.truncate(waiting.len() - new.len());
            waiting.push(own);
        }
        waiting == [self.root]
    }
}

impl Evidence {
    /// Adds the nodes that a field of references names.
    fn add_to(&self, parts: &mut [Parts]) {
        for (graph, own, number) in &self.ints {
            parts[*graph].add(*own, *number);
        }
    }
}

/// The conclusion from the parts that are known.
enum Next {
    /// A field refers to nodes, because a node would be no part otherwise; not surely if
    /// another field could do the same.
    Reference { field: usize, is_sure: bool },
    /// Every node is a part.
    Nothing,
}

/// The number of nodes that are looked through between a node and its part.
const NEAR: usize = 4096;

/// None if a node is part of no other, whatever the fields hold.
fn next_reference(open: &[(Place, Evidence)], parts: &[Parts]) -> Option<Next> {
    // The first node that may have a part, if all open fields are references.
    let mut first: Vec<Vec<usize>> = parts.iter().map(|parts| parts.first.clone()).collect();
    let mut candidates: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (graph, parts) in parts.iter().enumerate() {
        let is_free = |node: &usize| parts.first[*node] == NOBODY && *node != parts.root;
        let free = (0..parts.first.len()).filter(is_free);
        candidates.extend(free.map(|node| ((graph, node), Vec::new())));
    }
    let part_of = |number: &i64| usize::try_from(*number).unwrap_or(NOBODY);
    for (_, evidence) in open {
        for (graph, own, number) in &evidence.ints {
            if let Some(first) = first[*graph].get_mut(part_of(number)) {
                *first = (*own).min(*first);
            }
        }
    }
    for (field, (_, evidence)) in open.iter().enumerate() {
        for (graph, own, number) in &evidence.ints {
            let part = part_of(number);
            let Some(fields) = candidates.get_mut(&(*graph, part)) else {
                continue;
            };
            // Otherwise a node in between would have to be a part of this one, too.
            let between = own.saturating_sub(part) <= NEAR;
            let fits = !between
                || first[*graph][part + 1..*own]
                    .iter()
                    .all(|first| first <= own);
            if fits && !fields.contains(&field) {
                fields.push(field);
            }
        }
    }
    if candidates.values().any(Vec::is_empty) {
        return None;
    }
    let only = candidates.values().find(|fields| fields.len() == 1);
    let any = candidates.values().next();
    Some(match (only, any) {
        (Some(fields), _) => Next::Reference {
            field: fields[0],
            is_sure: true,
        },
        (None, Some(fields)) => Next::Reference {
            field: fields[0],
            is_sure: false,
        },
        (None, None) => Next::Nothing,
    })
}
