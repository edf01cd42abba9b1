//! The nodes of a program in the order of printing and writing, grouped by body.
//!
//! A program is a graph of uses without an inherent order. The order chosen by this
//! module depends only on the structure of the program: every node comes after the
//! nodes used by it, in the innermost body that contains all users. A node listed
//! further out in the file stays further out if it uses nothing of the bodies between.
//! Nothing in this module recurses, since a chain of nodes may be as long as memory
//! allows.

use std::collections::HashMap;

use isoform::values::ValueRef;
use isoform::{Array, Ref, Str, Value};

use crate::ir::{Call, Function, Graph, Input, Output, Program};

/// A program with its layout.
#[derive(Debug)]
pub struct Listing {
    /// All bodies, with enclosing bodies before nested bodies.
    pub bodies: Vec<Body>,
    /// The positions at which functions start: the main graph is the first body, and
    /// the functions follow with their bodies.
    pub functions: Vec<usize>,
}

/// A graph or function, with its nodes.
#[derive(Debug)]
pub struct Body {
    /// The owner.
    pub kind: BodyKind,
    /// The nodes in an order of computation.
    pub nodes: Vec<Node>,
    /// The number of bodies around this one.
    pub depth: usize,
    /// The enclosing body; an outermost body is its own parent.
    pub(crate) parent: usize,
}

/// The owner of a body.
#[derive(Debug)]
pub enum BodyKind {
    /// The main graph, or a graph in an attribute of a node.
    Graph(Ref<Graph>),
    /// A local function.
    Function(Ref<Function>),
}

/// A node, and the bodies in its attributes.
#[derive(Debug)]
pub struct Node {
    /// The node itself.
    pub call: Ref<Call>,
    /// The attribute that holds a body, and the body's position in the listing.
    pub bodies: Vec<(String, usize)>,
}

impl BodyKind {
    /// The inputs.
    pub fn params(&self) -> &Array<Ref<Input>> {
        match self {
            BodyKind::Graph(graph) => &graph.params,
            BodyKind::Function(function) => &function.params,
        }
    }

    /// The results, which are values.
    pub fn results(&self) -> &Array {
        match self {
            BodyKind::Graph(graph) => &graph.results,
            BodyKind::Function(function) => &function.results,
        }
    }

    /// Names of the results in the file.
    pub fn result_names(&self) -> &Array<Str> {
        match self {
            BodyKind::Graph(graph) => &graph.result_names,
            BodyKind::Function(function) => &function.result_names,
        }
    }
}

/// Lays out one graph or function with the bodies inside, but without the called
/// functions. O(nodes × depth of bodies).
pub fn list_body(kind: BodyKind) -> Listing {
    let mut listing = Listing {
        bodies: Vec::new(),
        functions: Vec::new(),
    };
    listing.add(kind);
    listing
}

/// Lays out a program: the main graph first, then the functions in the order of their
/// first use. O(nodes × depth of bodies).
pub fn list(program: &Program) -> Listing {
    let mut listing = Listing {
        bodies: Vec::new(),
        functions: Vec::new(),
    };
    let mut seen = HashMap::new();
    let mut pending = vec![BodyKind::Graph(program.graph.clone())];
    let mut next = 0;
    while next < pending.len() {
        let kind = match &pending[next] {
            BodyKind::Graph(graph) => BodyKind::Graph(graph.clone()),
            BodyKind::Function(function) => BodyKind::Function(function.clone()),
        };
        if next > 0 {
            listing.functions.push(listing.bodies.len());
        }
        for call in listing.add(kind) {
            if let Some(callee) = &call.callee
                && seen.insert(callee.identity(), ()).is_none()
            {
                pending.push(BodyKind::Function(callee.clone()));
            }
        }
        next += 1;
    }
    listing
}

impl Listing {
    /// Adds a graph or function with all bodies inside, and returns the nodes.
    fn add(&mut self, kind: BodyKind) -> Vec<Ref<Call>> {
        let order = order_of_computation(kind.results());
        let root = self.bodies.len();
        self.bodies.push(Body {
            kind,
            nodes: Vec::new(),
            depth: 0,
            parent: root,
        });
        // The body that contains all users of a node; users come first in this direction.
        let mut place: HashMap<u64, usize> = HashMap::new();
        self.claim(root, root, &mut place);
        let mut bounds = None;
        let mut body_of = HashMap::new();
        for call in order.iter().rev() {
            let here = place.get(&call.identity()).copied().unwrap_or(root);
            let here = match usize::try_from(call.depth) {
                Ok(depth) if depth < self.bodies[here].depth => {
                    let bounds = bounds.get_or_insert_with(|| Bounds::of(&order));
                    let graphs = bounds.graphs(call).iter();
                    let used = graphs.filter_map(|graph| body_of.get(graph));
                    let bound = used.map(|&body: &usize| self.bodies[body].depth).max();
                    self.around(here, depth.max(bound.unwrap_or(0)))
                }
                _ => here,
            };
            for operand in operands(call) {
                self.claim_value(operand, here, &mut place);
            }
            let mut bodies = Vec::new();
            for (label, graph) in graphs_of(call) {
                let body = self.bodies.len();
                body_of.insert(graph.identity(), body);
                self.bodies.push(Body {
                    kind: BodyKind::Graph(graph),
                    nodes: Vec::new(),
                    depth: self.bodies[here].depth + 1,
                    parent: here,
                });
                bodies.push((label, body));
                self.claim(body, body, &mut place);
            }
            self.bodies[here].nodes.push(Node {
                call: call.clone(),
                bodies,
            });
        }
        for body in &mut self.bodies[root..] {
            body.nodes.reverse();
        }
        order
    }

    /// Records that `user` uses the results of `body`.
    fn claim(&mut self, body: usize, user: usize, place: &mut HashMap<u64, usize>) {
        for value in self.bodies[body].kind.results().clone().values() {
            self.claim_value(value, user, place);
        }
    }

    fn claim_value(&self, value: &Value, user: usize, place: &mut HashMap<u64, usize>) {
        if let Some(call) = call_of(value) {
            let held = place.entry(call.identity()).or_insert(user);
            *held = self.common(*held, user);
        }
    }

    /// The outermost body around `body` with at least this depth.
    fn around(&self, mut body: usize, depth: usize) -> usize {
        while self.bodies[body].depth > depth {
            body = self.bodies[body].parent;
        }
        body
    }

    /// The innermost body around two bodies.
    pub(crate) fn common(&self, mut left: usize, mut right: usize) -> usize {
        while left != right {
            let deeper = if self.bodies[left].depth >= self.bodies[right].depth {
                &mut left
            } else {
                &mut right
            };
            *deeper = self.bodies[*deeper].parent;
        }
        left
    }
}

/// For each node, the graphs on whose inputs it depends: the node can only be listed
/// inside of these graphs.
struct Bounds {
    of_call: HashMap<u64, u32>,
    /// Sorted sets of graphs by identity, without repetition; the first set is empty.
    sets: Vec<Vec<u64>>,
    known: HashMap<Vec<u64>, u32>,
}

impl Bounds {
    /// The bounds of nodes given in the order of computation. O(nodes × depth of
    /// bodies).
    fn of(order: &[Ref<Call>]) -> Self {
        let mut owners = HashMap::new();
        for (_, graph) in order.iter().flat_map(|call| graphs_of(call)) {
            for param in graph.params.iter() {
                owners.insert(param.identity(), graph.identity());
            }
        }
        let mut bounds = Bounds {
            of_call: HashMap::new(),
            sets: vec![Vec::new()],
            known: HashMap::from([(Vec::new(), 0)]),
        };
        for call in order {
            let mut members = bounds.union(&owners, operands(call).into_iter());
            for (_, graph) in graphs_of(call) {
                let mut inside = bounds.union(&owners, graph.results.values().iter());
                inside.retain(|&other| other != graph.identity());
                members.extend(inside);
            }
            members.sort_unstable();
            members.dedup();
            if !members.is_empty() {
                let next = bounds.sets.len() as u32;
                let set = *bounds.known.entry(members.clone()).or_insert(next);
                if set == next {
                    bounds.sets.push(members);
                }
                bounds.of_call.insert(call.identity(), set);
            }
        }
        bounds
    }

    fn union<'v>(
        &self,
        owners: &HashMap<u64, u64>,
        values: impl Iterator<Item = &'v Value>,
    ) -> Vec<u64> {
        let mut found = Vec::new();
        let mut last = None;
        for value in values {
            if let Some(call) = call_of(value) {
                let set = self.of_call.get(&call.identity()).copied();
                // Most operands of a node depend on the same graphs.
                if let Some(set) = set.filter(|_| set != last) {
                    found.extend(&self.sets[set as usize]);
                    last = Some(set);
                }
            } else if let Some(input) = input_in(value) {
                found.extend(owners.get(&input.identity()));
            }
        }
        found
    }

    fn graphs(&self, call: &Ref<Call>) -> &[u64] {
        let set = self.of_call.get(&call.identity()).copied();
        &self.sets[set.unwrap_or(0) as usize]
    }
}

/// All nodes needed by the results: operands before their users, and nodes of bodies
/// before the node that contains the body.
fn order_of_computation(results: &Array) -> Vec<Ref<Call>> {
    let mut order = Vec::new();
    let mut entered = HashMap::new();
    let mut stack = Vec::new();
    let push = |stack: &mut Vec<(Ref<Call>, bool)>, values: &[&Value]| {
        // The call pushed last is visited first.
        let calls = values.iter().rev().filter_map(|value| call_of(value));
        stack.extend(calls.map(|call| (call.clone(), false)));
    };
    push(&mut stack, &results.values().iter().collect::<Vec<_>>());
    while let Some((call, left)) = stack.pop() {
        if left {
            order.push(call);
            continue;
        }
        if entered.insert(call.identity(), ()).is_some() {
            continue;
        }
        stack.push((call.clone(), true));
        for (_, graph) in graphs_of(&call).into_iter().rev() {
            push(
                &mut stack,
                &graph.results.values().iter().collect::<Vec<_>>(),
            );
        }
        push(&mut stack, &operands(&call));
    }
    order
}

/// The call that makes a value, and the index of the output; None for inputs and
/// constants.
pub(crate) fn made_by(value: &Value) -> Option<(&Ref<Call>, i64)> {
    let output = value.as_object()?.downcast_ref::<Output>()?;
    Some((&output.call, output.index))
}

/// The call that makes a value, if any.
pub(crate) fn call_of(value: &Value) -> Option<&Ref<Call>> {
    made_by(value).map(|(call, _)| call)
}

/// The value as an input; None if the value is not an input.
fn input_in(value: &Value) -> Option<&Ref<Input>> {
    value.as_object()?.downcast_ref::<Input>()
}

/// The values that a node may use: inputs, and attributes, because operators like
/// Gradient name values in attributes.
pub(crate) fn operands(call: &Call) -> Vec<&Value> {
    let mut operands: Vec<&Value> = call.inputs.values().iter().collect();
    for (_, value) in attributes(call) {
        match value.view() {
            ValueRef::Array(items) => operands.extend(items.values()),
            _ => operands.push(value),
        }
    }
    operands
}

/// The attributes of a node, sorted by name.
pub fn attributes(call: &Call) -> Vec<(&str, &Value)> {
    let mut attributes: Vec<(&str, &Value)> = call
        .attrs
        .iter()
        .map(|(name, value)| (name.as_str(), value))
        .collect();
    attributes.sort_by_key(|(name, _)| *name);
    attributes
}

/// The graph in a value, if any.
pub fn graph_in(value: &Value) -> Option<&Ref<Graph>> {
    value.as_object()?.downcast_ref::<Graph>()
}

/// True if the value of an attribute is a graph, or holds graphs.
pub fn holds_graphs(value: &Value) -> bool {
    match value.view() {
        ValueRef::Array(items) => items.values().iter().any(|item| graph_in(item).is_some()),
        _ => graph_in(value).is_some(),
    }
}

/// The labelled graphs in the attributes of a node.
fn graphs_of(call: &Call) -> Vec<(String, Ref<Graph>)> {
    let mut found = Vec::new();
    for (name, value) in attributes(call) {
        if let Some(graph) = graph_in(value) {
            found.push((name.to_owned(), graph.clone()));
        } else if let ValueRef::Array(items) = value.view() {
            let graphs = items.values().iter().enumerate();
            found.extend(graphs.filter_map(|(index, item)| {
                Some((format!("{name}[{index}]"), graph_in(item)?.clone()))
            }));
        }
    }
    found
}
