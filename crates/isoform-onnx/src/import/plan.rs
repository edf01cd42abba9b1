//! The first step of importing a body: names, order, and the nodes that are needed.

use std::collections::{HashMap, HashSet};

use isoform::values::Bytes;
use isoform::{Ref, Value};

use super::{
    attribute_kind::{names_in, names_values},
    context::{FIRST_IR_VERSION_WITH_DEFAULTS, Importer, MAX_NESTING, node_place},
    kept,
    scope::{self, Definition, Scope},
    types::{Dims, type_value},
};
use crate::{
    error::{OnnxError, Result, ResultExt},
    ir::Input,
    proto::{GraphProto, NodeProto},
};

/// Node, attribute of the node, position in the attribute.
pub(super) type BodyKey = (usize, usize, usize);

/// The bodies of a node by attribute and position there.
pub(super) type Bodies<'a> = HashMap<BodyKey, Plan<'a>>;

/// A body whose nodes can be built in sequence.
pub(super) struct Plan<'a> {
    /// The names; pushed on the stack of scopes while the body is built.
    pub(super) scope: Scope<'a>,
    pub(super) listed: &'a [NodeProto],
    /// The positions of the needed nodes, with producers before users.
    pub(super) order: Vec<usize>,
    /// The planned graphs inside the needed nodes.
    pub(super) bodies: Bodies<'a>,
    pub(super) params: Vec<Ref<Input>>,
    pub(super) result_types: Vec<Value>,
    pub(super) result_names: Vec<&'a str>,
    /// Name of the graph or function.
    pub(super) name: String,
    pub(super) doc: &'a str,
    /// The parts that the program ignores, as an encoded message.
    pub(super) meta: Option<Bytes>,
    /// Outer values that needed nodes and results use.
    captures: HashSet<Capture<'a>>,
    /// The number of all nodes, including nodes of inner graphs.
    pub(super) nodes: usize,
    /// The needed ones among them.
    pub(super) kept: usize,
}

/// The level and name of an outer value.
type Capture<'a> = (usize, &'a str);

/// The nodes of the same body, and the outer values, that a node reads.
#[derive(Default)]
struct ReadSet<'a> {
    local: Vec<usize>,
    outer: Vec<Capture<'a>>,
}

impl<'a> Importer<'a> {
    /// Plans a graph inside of `scopes`.
    pub(super) fn plan_graph(
        &mut self,
        scopes: &mut Vec<Scope<'a>>,
        graph: &'a GraphProto,
    ) -> Result<Plan<'a>> {
        let mut scope = Scope::default();
        let (params, result_types) = self.signature(scopes, &mut scope, graph)?;
        let mut result_names = Vec::with_capacity(graph.output.len());
        for (index, output) in graph.output.iter().enumerate() {
            if output.name.is_empty() {
                return Err(OnnxError::value(format!("output #{index} has no name")));
            }
            result_names.push(output.name.as_str());
        }
        let mut plan = self.plan(scopes, scope, &graph.node, result_names)?;
        plan.params = params;
        plan.result_types = result_types;
        plan.name.clone_from(&graph.name);
        plan.doc = &graph.doc_string;
        plan.meta = kept::of_graph(graph, self.ir_version);
        Ok(plan)
    }

    /// Defines the initializers and inputs of a graph, and reads the types of its inputs
    /// and outputs.
    fn signature(
        &mut self,
        scopes: &[Scope<'a>],
        scope: &mut Scope<'a>,
        graph: &'a GraphProto,
    ) -> Result<(Vec<Ref<Input>>, Vec<Value>)> {
        let mut constants: Vec<(&'a str, Value)> = Vec::with_capacity(graph.initializer.len());
        for tensor in &graph.initializer {
            constants.push((&tensor.name, self.tensor(tensor).within(|| "initializer")?));
        }
        for sparse in &graph.sparse_initializer {
            let name = sparse.values.as_ref().map_or("", |values| &values.name);
            let value = self.sparse_tensor(sparse).within(|| "initializer")?;
            constants.push((name, value));
        }
        self.initializers += constants.len();
        let defaults_count = self.ir_version >= FIRST_IR_VERSION_WITH_DEFAULTS;
        let mut listed = HashSet::new();
        for input in &graph.input {
            if !listed.insert(input.name.as_str()) {
                return Err(OnnxError::value(format!(
                    "input '{}' is defined twice",
                    input.name
                )));
            }
        }
        let mut defaults = std::collections::HashMap::new();
        for (name, value) in constants {
            if defaults_count && listed.contains(name) {
                if defaults.insert(name, value).is_some() {
                    return Err(OnnxError::value(format!(
                        "initializer '{name}' is defined twice"
                    )));
                }
            } else {
                scope.define("initializer", name, Definition::Value(value))?;
            }
        }
        let mut params = Vec::new();
        for input in &graph.input {
            let name = input.name.as_str();
            if scope.get(name).is_some() {
                continue;
            }
            let mut dims = Dims {
                own: &mut scope.dims,
                outer: scopes,
            };
            let param = Ref::new(Input {
                name: name.into(),
                ty: type_value(input.r#type.as_ref(), &mut dims)
                    .within(|| format!("input '{name}'"))?,
                default: defaults.remove(name).unwrap_or(Value::NONE),
                graph: graph.name.as_str().into(),
                in_function: false,
                position: params.len() as i64,
                meta: kept::of_input(input),
            });
            scope.define("input", name, Definition::Value((&param).into()))?;
            params.push(param);
        }
        let mut result_types = Vec::with_capacity(graph.output.len());
        for output in &graph.output {
            let mut dims = Dims {
                own: &mut scope.dims,
                outer: scopes,
            };
            let ty = type_value(output.r#type.as_ref(), &mut dims)
                .within(|| format!("output '{}'", output.name))?;
            result_types.push(ty);
        }
        Ok((params, result_types))
    }

    /// Plans the nodes of a body whose inputs and constants are defined in `scope`.
    pub(super) fn plan(
        &mut self,
        scopes: &mut Vec<Scope<'a>>,
        mut scope: Scope<'a>,
        listed: &'a [NodeProto],
        result_names: Vec<&'a str>,
    ) -> Result<Plan<'a>> {
        if scopes.len() > MAX_NESTING {
            return Err(OnnxError::value(format!(
                "graphs are nested more than {MAX_NESTING} deep"
            )));
        }
        for (position, node) in listed.iter().enumerate() {
            for (output, name) in node.output.iter().enumerate() {
                // An output without a name is never used.
                if !name.is_empty() {
                    let definition = Definition::Node {
                        node: position,
                        output,
                    };
                    scope
                        .define("output", name, definition)
                        .within(|| node_place(node, position))?;
                }
            }
        }
        let level = scopes.len();
        scopes.push(scope);
        let mut bodies = Bodies::new();
        let mut reads = Vec::with_capacity(listed.len());
        for (position, node) in listed.iter().enumerate() {
            let node_reads = self
                .reads(scopes, node, position, &mut bodies)
                .within(|| node_place(node, position))?;
            reads.push(node_reads);
        }
        let order = topological(listed, &reads)?;

        let mut needed = vec![false; listed.len()];
        let mut captures = HashSet::new();
        for name in &result_names {
            match resolve(scopes, name).within(|| format!("output '{name}'"))? {
                (scope_level, Some(node)) if scope_level == level => needed[node] = true,
                (scope_level, _) if scope_level < level => {
                    _ = captures.insert((scope_level, *name))
                }
                _ => {}
            }
        }
        for &node in order.iter().rev() {
            if needed[node] {
                for &other in &reads[node].local {
                    needed[other] = true;
                }
                captures.extend(&reads[node].outer);
            }
        }
        let nested: usize = bodies.values().map(|body| body.nodes).sum();
        bodies.retain(|key, _| needed[key.0]);
        let kept: usize = bodies.values().map(|body| body.kept).sum();
        let order: Vec<usize> = order.into_iter().filter(|&node| needed[node]).collect();
        let scope = scopes.pop().unwrap_or_default();
        Ok(Plan {
            scope,
            listed,
            kept: order.len() + kept,
            order,
            bodies,
            params: Vec::new(),
            result_types: Vec::new(),
            result_names,
            name: String::new(),
            doc: "",
            meta: None,
            captures,
            nodes: listed.len() + nested,
        })
    }

    /// Collects the reads of a node in the innermost scope, and plans the graphs inside it.
    fn reads(
        &mut self,
        scopes: &mut Vec<Scope<'a>>,
        node: &'a NodeProto,
        position: usize,
        bodies: &mut Bodies<'a>,
    ) -> Result<ReadSet<'a>> {
        let mut reads = ReadSet::default();
        for (index, name) in node.input.iter().enumerate() {
            if !name.is_empty() {
                reads
                    .add(scopes, name, position)
                    .within(|| format!("input #{index}"))?;
            }
        }
        for (index, attr) in node.attribute.iter().enumerate() {
            (|| {
                if names_values(node, attr) {
                    for name in names_in(attr)? {
                        reads.add(scopes, name, position)?;
                    }
                }
                let graphs = attr.g.as_deref().into_iter().chain(&attr.graphs);
                for (number, graph) in graphs.enumerate() {
                    let body = self
                        .plan_graph(scopes, graph)
                        .within(|| format!("graph '{}'", graph.name))?;
                    for &(_, name) in &body.captures {
                        reads.add(scopes, name, position)?;
                    }
                    bodies.insert((position, index, number), body);
                }
                Ok(())
            })()
            .within(|| format!("attribute '{}'", attr.name))?;
        }
        Ok(reads)
    }
}

impl<'a> ReadSet<'a> {
    /// Adds a name that the node at `position` of the innermost scope uses.
    fn add(&mut self, scopes: &[Scope<'a>], name: &'a str, position: usize) -> Result<()> {
        let (level, node) = resolve(scopes, name)?;
        if level + 1 < scopes.len() {
            self.outer.push((level, name));
        } else if let Some(node) = node {
            if node >= position && scope::find(&scopes[..level], name).is_some() {
                return Err(OnnxError::value(format!(
                    "'{name}' is used before it is defined here, and is defined outside too"
                )));
            }
            self.local.push(node);
        }
        Ok(())
    }
}

/// The level that defines a name, and the node, if a node makes the value.
fn resolve(scopes: &[Scope<'_>], name: &str) -> Result<(usize, Option<usize>)> {
    let level = scope::find(scopes, name).ok_or_else(|| scope::undefined(name))?;
    match scopes[level].get(name) {
        Some(&Definition::Node { node, .. }) => Ok((level, Some(node))),
        _ => Ok((level, None)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Sorts nodes such that producers come before users.
fn topological(listed: &[NodeProto], reads: &[ReadSet<'_>]) -> Result<Vec<usize>> {
    let mut marks = vec![Mark::New; reads.len()];
    let mut order = Vec::with_capacity(reads.len());
    // Nodes being visited, with the number of their reads that are done.
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for start in 0..reads.len() {
        if marks[start] == Mark::New {
            marks[start] = Mark::Open;
            stack.push((start, 0));
        }
        while let Some((node, next)) = stack.last_mut() {
            let Some(&other) = reads[*node].local.get(*next) else {
                marks[*node] = Mark::Done;
                order.push(*node);
                stack.pop();
                continue;
            };
            *next += 1;
            match marks[other] {
                Mark::Done => {}
                Mark::New => {
                    marks[other] = Mark::Open;
                    stack.push((other, 0));
                }
                Mark::Open => return Err(cyclic(listed, &stack, other)),
            }
        }
    }
    Ok(order)
}

/// The longest cycle that is written out in full.
const SHOWN_CYCLE: usize = 8;

fn cyclic(listed: &[NodeProto], stack: &[(usize, usize)], from: usize) -> OnnxError {
    let start = stack.iter().position(|&(node, _)| node == from);
    let mut cycle: Vec<usize> = stack[start.unwrap_or(0)..]
        .iter()
        .map(|&(node, _)| node)
        .collect();
    // Each node on the stack reads from the next node; data flows the other way.
    cycle.reverse();
    let mut text: Vec<String> = cycle
        .iter()
        .take(SHOWN_CYCLE)
        .map(|&node| node_place(&listed[node], node))
        .collect();
    if cycle.len() > SHOWN_CYCLE {
        text.push(format!("{} more", cycle.len() - SHOWN_CYCLE));
    }
    text.push("the first again".to_owned());
    OnnxError::value(format!("the graph is cyclic: {}", text.join(" > ")))
}
