//! The unknown types of JSON graphs: their fields, and which of these hold numbers of nodes.
//!
//! A graph does not tell an integer from the number of a node. Two facts do: a node comes
//! after its parts, and every node but the root is a part of another. Where they do not
//! decide, the field counts as one of integers, and is reported as unsure.

use std::collections::{BTreeMap, HashMap};

use isoform::Value;
use isoform::plumbing::read_data;
use isoform::plumbing::sketches::{TypeSketch, is_known, is_reference};
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
        let nodes = items.values().iter().map(node).collect::<Option<Vec<_>>>()?;
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

/// Describes the unknown types of graphs; `known` are sketches from files that tell numbers
/// from nodes. None if a node is part of no other, so that nothing follows.
pub(super) fn graph_types(graphs: &[Graph], known: &[TypeSketch]) -> Option<GraphTypes> {
    let mut types: Vec<TypeSketch> = Vec::new();
    let mut places: BTreeMap<Place, Evidence> = BTreeMap::new();
    let mut claimed: Vec<Vec<bool>> = Vec::new();
    for (number, graph) in graphs.iter().enumerate() {
        claimed.push(vec![false; graph.nodes.len()]);
        let claims = &mut claimed[number];
        *claims.get_mut(graph.root)? = true;
        for (own, node) in graph.nodes.iter().enumerate() {
            if is_declared(&node.key) && !is_known(&node.key) {
                note_object(&mut types, &mut places, number, own, node);
            } else {
                claim_parts(node, claims);
            }
        }
    }
    let mut decided: HashMap<Place, Schema> = HashMap::new();
    let mut open: Vec<(Place, Evidence)> = Vec::new();
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
                claim(&evidence, &mut claimed);
                decided.insert(place, Schema::Any);
            }
            (Some(schema), _) | (None, Ok(Some(schema))) => drop(decided.insert(place, schema)),
            (None, Ok(None)) => open.push((place, evidence)),
        }
    }
    open.retain(|(place, _)| !types.iter().any(|ty| ty.is_hooked && ty.key == place.0));
    let mut unsure = Vec::new();
    while let Some((field, is_sure)) = next_reference(&open, &claimed)? {
        let (place, evidence) = open.swap_remove(field);
        claim(&evidence, &mut claimed);
        if !is_sure {
            unsure.push(format!("{}.{}", place.0, place.1));
        }
        decided.insert(place, Schema::Any);
    }
    for (place, _) in open {
        unsure.push(format!("{}.{}", place.0, place.1));
        decided.insert(place, Schema::Int);
    }
    unsure.sort_unstable();
    for ty in &mut types {
        for field in &mut ty.fields {
            let place = (ty.key.clone(), field.name.clone());
            field.schema = decided.remove(&place).unwrap_or(Schema::Any);
        }
    }
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

/// Marks the parts of a node whose type is known.
fn claim_parts(node: &Node, claimed: &mut [bool]) {
    let mut mark = |value: &Value| {
        let part = value.as_int().and_then(|part| usize::try_from(part).ok());
        if let Some(part) = part.and_then(|part| claimed.get_mut(part)) {
            *part = true;
        }
    };
    if CONTAINERS.contains(&&*node.key) {
        if let Some(items) = node.data.as_array() {
            items.values().iter().for_each(&mut mark);
        }
    } else if is_declared(&node.key)
        && let Some(fields) = node.data.as_map()
    {
        for (name, value) in fields.iter() {
            if name.as_str().is_some_and(|name| is_reference(&node.key, name)) {
                mark(value);
            }
        }
    }
}

/// Marks the nodes that a field of references names.
fn claim(evidence: &Evidence, claimed: &mut [Vec<bool>]) {
    for (graph, _, number) in &evidence.ints {
        let number = usize::try_from(*number).ok();
        if let Some(part) = number.and_then(|number| claimed[*graph].get_mut(number)) {
            *part = true;
        }
    }
}

/// A field that refers to nodes because a node would be no part otherwise; false with it if
/// another field could do the same. The outer None means that there is no field for a node.
#[expect(clippy::option_option, reason = "no solution, and nothing left to solve")]
fn next_reference(
    open: &[(Place, Evidence)],
    claimed: &[Vec<bool>],
) -> Option<Option<(usize, bool)>> {
    let mut candidates: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (graph, claims) in claimed.iter().enumerate() {
        let free = claims.iter().enumerate().filter(|(_, claimed)| !**claimed);
        candidates.extend(free.map(|(node, _)| ((graph, node), Vec::new())));
    }
    for (field, (_, evidence)) in open.iter().enumerate() {
        for (graph, _, number) in &evidence.ints {
            let number = usize::try_from(*number).unwrap_or(usize::MAX);
            if let Some(fields) = candidates.get_mut(&(*graph, number))
                && !fields.contains(&field)
            {
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
        (Some(fields), _) => Some((fields[0], true)),
        (None, Some(fields)) => Some((fields[0], false)),
        (None, None) => None,
    })
}
