//! The program without lost nodes, made again in an order of computation.

use std::collections::{HashMap, HashSet};

use isoform::values::ValueRef;
use isoform::{Array, Map, Node as _, Ref, Str, Value};

use super::Draft;
use crate::ir::{Call, Graph, Input, Program};
use crate::layout::{self, BodyKind, graph_in, operands};
use crate::values::{ValueKey, constant, made_by, output};

/// A walk over the main graph and its bodies that makes calls again whose inputs changed.
pub(super) struct Rebuild<'d> {
    pub(super) draft: &'d Draft,
    /// The calls that go.
    pub(super) gone: HashSet<u64>,
    /// Values that other values replace.
    pub(super) replaced: HashMap<ValueKey, Value>,
    /// Values that become inputs where they are used.
    pub(super) cut: HashSet<ValueKey>,
    /// Calls in whose place the nodes of a body are computed.
    pub(super) opened: HashMap<u64, usize>,
    /// The new values of old ones.
    pub(super) made: HashMap<ValueKey, Value>,
    /// The new inputs of the main graph, and the values that they replace.
    inputs: Vec<(Ref<Input>, ValueKey)>,
    names: HashSet<Str>,
    /// The old call of each call made again.
    origin: HashMap<u64, u64>,
    graphs: HashMap<usize, Ref<Graph>>,
}

#[derive(Clone, Copy)]
enum Task {
    Body(usize),
    Node(usize, usize),
    /// The bodies of the node are made.
    Finish(usize, usize),
    /// The nodes of the body are made.
    Results(usize),
    /// The nodes of the body that takes the place of the node are made.
    Close(usize, usize),
}

impl<'d> Rebuild<'d> {
    pub(super) fn new(draft: &'d Draft) -> Self {
        let params = draft.program.graph.params.iter();
        Rebuild {
            draft,
            gone: HashSet::new(),
            replaced: HashMap::new(),
            cut: HashSet::new(),
            opened: HashMap::new(),
            made: HashMap::new(),
            inputs: Vec::new(),
            names: params.map(|param| param.name.clone()).collect(),
            origin: HashMap::new(),
            graphs: HashMap::new(),
        }
    }

    /// Makes all calls; false if a value has no replacement.
    pub(super) fn run(&mut self) -> bool {
        let listing = &self.draft.listing;
        let mut stack: Vec<Task> = Vec::new();
        let push_nodes = |stack: &mut Vec<Task>, body: usize| {
            let nodes = 0..listing.bodies[body].nodes.len();
            stack.extend(nodes.rev().map(|node| Task::Node(body, node)));
        };
        push_nodes(&mut stack, 0);
        while let Some(task) = stack.pop() {
            match task {
                Task::Body(body) => {
                    stack.push(Task::Results(body));
                    push_nodes(&mut stack, body);
                }
                Task::Node(body, at) => {
                    let node = &listing.bodies[body].nodes[at];
                    if let Some(inner) = self.opened.get(&node.call.identity()).copied() {
                        if !self.open(&node.call, inner) {
                            return false;
                        }
                        stack.push(Task::Close(body, at));
                        push_nodes(&mut stack, inner);
                    } else if self.gone.contains(&node.call.identity()) {
                        self.replace(&node.call);
                    } else {
                        stack.push(Task::Finish(body, at));
                        let bodies = node.bodies.iter().rev();
                        stack.extend(bodies.map(|(_, inner)| Task::Body(*inner)));
                    }
                }
                Task::Close(body, at) => {
                    let call = &listing.bodies[body].nodes[at].call;
                    if !self.close(call, self.opened[&call.identity()]) {
                        return false;
                    }
                }
                Task::Finish(body, at) => self.call(body, at),
                Task::Results(body) => self.graph(body),
            }
        }
        true
    }

    /// The new value of an old one.
    pub(super) fn value(&mut self, old: &Value) -> Value {
        let key = ValueKey::of(old);
        if let Some(made) = self.made.get(&key) {
            return made.clone();
        }
        if self.cut.contains(&key)
            && let Some(input) = self.input(old)
        {
            return input;
        }
        old.clone()
    }

    /// A new input of the main graph in place of a value; None if the type is unknown.
    pub(super) fn input(&mut self, old: &Value) -> Option<Value> {
        let key = ValueKey::of(old);
        let ty = self.draft.types.declaration(key)?;
        let wanted = name_of(old).unwrap_or_else(|| "input".into());
        let mut name = wanted.clone();
        let mut number = 1;
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}").into();
        }
        let input = Ref::new(Input {
            name,
            ty,
            default: Value::NONE,
            graph: self.draft.program.graph.name.clone(),
            in_function: false,
            position: (self.draft.program.graph.params.len() + self.inputs.len()) as i64,
            meta: None,
        });
        let value = Value::from(&input);
        self.inputs.push((input, key));
        self.made.insert(key, value.clone());
        Some(value)
    }

    fn replace(&mut self, call: &Ref<Call>) {
        for index in 0..call.outputs {
            let key = ValueKey::Output(call.identity(), index);
            if let Some(other) = self.replaced.get(&key).cloned() {
                let other = self.value(&other);
                self.made.insert(key, other);
            }
        }
    }

    fn values(&mut self, old: &Array) -> Option<Array> {
        let new: Vec<Value> = old.values().iter().map(|value| self.value(value)).collect();
        let mut pairs = old.values().iter().zip(&new);
        let is_same = pairs.all(|(old, new)| ValueKey::of(old) == ValueKey::of(new));
        (!is_same).then(|| Array::from(new))
    }

    /// Makes a call again if its inputs or bodies changed.
    fn call(&mut self, body: usize, at: usize) {
        let node = &self.draft.listing.bodies[body].nodes[at];
        let old = &node.call;
        let inputs = self.values(&old.inputs);
        let attrs = self.attributes(node);
        if inputs.is_none() && attrs.is_none() {
            return;
        }
        let call = Ref::new(Call {
            inputs: inputs.unwrap_or_else(|| old.inputs.clone()),
            attrs: attrs.unwrap_or_else(|| old.attrs.clone()),
            ..old.clone_fields()
        });
        self.origin.insert(call.identity(), old.identity());
        for index in 0..old.outputs {
            let key = ValueKey::Output(old.identity(), index);
            self.made.insert(key, output(&call, index));
        }
    }

    /// The attributes with the new bodies and values; None if all stay the same.
    fn attributes(&mut self, node: &layout::Node) -> Option<Map<Str, Value>> {
        let mut bodies = node.bodies.iter();
        let mut changed = false;
        let mut new: HashMap<String, Value> = HashMap::new();
        // The order in which the bodies are listed.
        for (name, value) in layout::attributes(&node.call) {
            let mut one = |value: &Value| {
                let made = if graph_in(value).is_some() {
                    let body = bodies.next();
                    let graph = body.and_then(|(_, body)| self.graphs.get(body));
                    graph.map_or_else(|| value.clone(), Value::from)
                } else if made_by(value).is_some() {
                    self.value(value)
                } else {
                    return value.clone();
                };
                changed |= ValueKey::of(&made) != ValueKey::of(value);
                made
            };
            let made = match value.view() {
                ValueRef::Array(items) => {
                    let items: Vec<Value> = items.values().iter().map(&mut one).collect();
                    Array::from(items).into()
                }
                _ => one(value),
            };
            new.insert(name.to_owned(), made);
        }
        if !changed {
            return None;
        }
        let attrs = node.call.attrs.iter();
        let attrs = attrs.filter_map(|(name, _)| Some((name.clone(), new.remove(name.as_str())?)));
        Some(attrs.collect())
    }

    fn graph(&mut self, body: usize) {
        let BodyKind::Graph(old) = &self.draft.listing.bodies[body].kind else {
            return;
        };
        if let Some(results) = self.values(&old.results) {
            let graph = Ref::new(Graph {
                results,
                ..old.clone_fields()
            });
            self.graphs.insert(body, graph);
        }
    }

    /// The draft with these results of the main graph. With `keeps_all`, nodes of the main
    /// graph whose values have lost all users become outputs; otherwise, they go.
    pub(super) fn finish(
        self,
        mut results: Vec<(Str, Value, Value)>,
        keeps_all: bool,
    ) -> Option<Draft> {
        let mut reached = Reached::default();
        for (_, value, _) in &results {
            reached.add(value);
        }
        if keeps_all {
            self.add_ends(&mut results, &mut reached);
        }
        if results.is_empty() {
            return None;
        }
        let program = &self.draft.program;
        let old = &program.graph;
        let params = old.params.iter();
        let new = self.inputs.iter().map(|(input, _)| input);
        let params: Vec<Ref<Input>> = params
            .chain(new)
            .filter(|input| reached.inputs.contains(&input.identity()))
            .cloned()
            .collect();
        let graph = Ref::new(Graph {
            params: params.into(),
            result_names: results.iter().map(|(name, _, _)| name.clone()).collect(),
            result_types: results.iter().map(|(_, _, ty)| ty.clone()).collect(),
            results: results.into_iter().map(|(_, value, _)| value).collect(),
            ..old.clone_fields()
        });
        let io_names = if program.io_names.is_empty() {
            Array::default()
        } else {
            let inputs = graph.params.iter().map(|input| input.name.clone());
            Array::from([inputs.collect(), graph.result_names.clone()])
        };
        let program = Ref::new(Program {
            graph,
            io_names,
            ..program.clone_fields()
        });
        let inputs: Vec<(Value, ValueKey)> = self
            .inputs
            .iter()
            .map(|(input, old)| (input.into(), *old))
            .collect();
        self.draft.changed(program, &self.origin, &inputs)
    }

    /// Makes outputs of the nodes of the main graph that no result needs any more.
    fn add_ends(&self, results: &mut Vec<(Str, Value, Value)>, reached: &mut Reached) {
        let main = &self.draft.listing.bodies[0];
        let used = self.draft.used();
        let first = results.len();
        // Users come first in this direction.
        for node in main.nodes.iter().rev() {
            let old = &node.call;
            if self.gone.contains(&old.identity()) || self.opened.contains_key(&old.identity()) {
                continue;
            }
            let key = ValueKey::Output(old.identity(), 0);
            let new = self.made.get(&key).and_then(made_by);
            let new = new.map_or(old, |(call, _)| call);
            if reached.calls.contains(&new.identity()) {
                continue;
            }
            for index in (0..old.outputs).rev() {
                let key = ValueKey::Output(old.identity(), index);
                if !used.contains(&key) {
                    continue;
                }
                let value = output(new, index);
                reached.add(&value);
                let ty = self.draft.types.declaration(key).unwrap_or(Value::NONE);
                let name = name_of(&value)
                    .unwrap_or_else(|| format!("output_{}_{index}", results.len()).into());
                results.push((name, value, ty));
            }
        }
        results[first..].reverse();
    }
}

impl Draft {
    /// The values that a node, a body or the main graph uses.
    fn used(&self) -> HashSet<ValueKey> {
        let bodies = &self.listing.bodies;
        let nodes = bodies.iter().flat_map(|body| &body.nodes);
        let operands = nodes.flat_map(|node| operands(&node.call));
        let results = bodies.iter().flat_map(|body| body.kind.results().values());
        operands.chain(results).map(ValueKey::of).collect()
    }
}

/// The calls and inputs that some values need.
#[derive(Default)]
struct Reached {
    calls: HashSet<u64>,
    inputs: HashSet<u64>,
}

impl Reached {
    fn add(&mut self, value: &Value) {
        let mut stack = vec![value.clone()];
        while let Some(value) = stack.pop() {
            if let Some((call, _)) = made_by(&value) {
                if self.calls.insert(call.identity()) {
                    stack.extend(operands(call).into_iter().cloned());
                }
            } else if let Some(graph) = graph_in(&value) {
                stack.extend(graph.results.values().iter().cloned());
            } else if let Some(object) = value.as_object()
                && object.downcast_ref::<Input>().is_some()
            {
                self.inputs.insert(object.identity());
            }
        }
    }
}

/// True if a node computes the value.
pub(super) fn is_computed(value: &Value) -> bool {
    constant(value).is_none() && made_by(value).is_some()
}

/// The name of a value in the file.
pub(super) fn name_of(value: &Value) -> Option<Str> {
    let name = match made_by(value) {
        Some((call, index)) => call.output_names.get(usize::try_from(index).ok()?).cloned(),
        None => {
            let input = value.as_object()?.downcast_ref::<Input>()?;
            Some(input.name.clone())
        }
    };
    name.filter(|name| !name.is_empty())
}
