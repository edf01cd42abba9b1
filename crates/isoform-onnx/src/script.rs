//! Programs as text for people, by the names in the file.
//!
//! A value keeps its name when other values come and go. The difference between the
//! texts before and after a pass therefore shows the work of the pass. The text cannot
//! be read back.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use isoform::structural_digest;
use isoform::text::{TensorText, TextOptions};
use isoform::values::{Tensor, ValueRef};
use isoform::{Array, Node as _, Ref, Result, Str, Value};
use isoform_ir::transform::Script;

use crate::ir::{Call, Dim, Function, Graph, Input, Output, Program, TensorType};
use crate::layout::{Body, BodyKind, Listing, Node, attributes, holds_graphs, list, list_body};

/// Tensors of up to this many elements are written in full.
const WHOLE_TENSOR: usize = 8;

/// The main graph, then the local functions.
impl Script for Program {
    fn script(&self) -> Result<Str> {
        Writer::new(list(self)).text()
    }
}

impl Script for Graph {
    fn script(&self) -> Result<Str> {
        let graph = Ref::new(self.clone_fields());
        Writer::new(list_body(BodyKind::Graph(graph))).text()
    }
}

impl Script for Function {
    fn script(&self) -> Result<Str> {
        let function = Ref::new(self.clone_fields());
        Writer::new(list_body(BodyKind::Function(function))).text()
    }
}

/// A pending step of writing; bodies nest, so the steps are on an explicit stack.
enum Step {
    /// The nodes of a body from a position on, at an indentation.
    Nodes(usize, usize, usize),
    /// The body held by an attribute, with a label.
    Open(String, usize, usize),
    Line(String),
}

struct Writer {
    listing: Listing,
    /// The names of inputs, and of the outputs of nodes, by identity.
    names: HashMap<u64, Vec<String>>,
    taken: HashSet<String>,
    /// The usual version of each domain.
    versions: HashMap<Str, i64>,
    plain: TextOptions,
    out: String,
}

impl Writer {
    fn new(listing: Listing) -> Self {
        let mut versions = HashMap::new();
        for Node { call, .. } in listing.bodies.iter().flat_map(|body| &body.nodes) {
            if call.callee.is_none() {
                versions.entry(call.domain.clone()).or_insert(call.version);
            }
        }
        Writer {
            listing,
            names: HashMap::new(),
            taken: HashSet::new(),
            versions,
            plain: TextOptions::default()
                .width(usize::MAX)
                .ignored_fields(false)
                .tensors(TensorText::Abbreviated)
                .placeholders(true),
            out: String::new(),
        }
    }

    fn text(mut self) -> Result<Str> {
        for root in std::iter::once(0).chain(self.listing.functions.clone()) {
            let mut stack = vec![Step::Open(String::new(), root, 0)];
            while let Some(step) = stack.pop() {
                match step {
                    Step::Line(line) => self.line(&line),
                    Step::Open(label, body, indent) => {
                        let head = self.head(body)?;
                        let pad = "  ".repeat(indent);
                        self.line(&format!("{pad}{label}{head} {{"));
                        stack.push(Step::Line(format!("{pad}}}")));
                        stack.push(Step::Nodes(body, 0, indent + 1));
                    }
                    Step::Nodes(body, at, indent) => self.node(&mut stack, body, at, indent)?,
                }
            }
        }
        Ok(self.out.into())
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// The kind and name of a body, its inputs and the types of its results.
    fn head(&mut self, body: usize) -> Result<String> {
        let Body { kind, depth, .. } = &self.listing.bodies[body];
        let (params, inner) = (kind.params().clone(), *depth > 0);
        let (mut head, types) = match kind {
            BodyKind::Graph(graph) if inner => (String::new(), Some(graph.result_types.clone())),
            BodyKind::Graph(graph) => (
                format!("graph {}", shown(&graph.name)),
                Some(graph.result_types.clone()),
            ),
            BodyKind::Function(function) => (format!("function {}", shown(&function.name)), None),
        };
        let mut inputs = Vec::new();
        for param in params.iter() {
            let mut input = self.name(param.identity(), 0, || Some(param.name.clone()));
            if !param.ty.is_none() {
                write_to(&mut input, format_args!(": {}", self.ty(&param.ty)?));
            }
            if !param.default.is_none() {
                write_to(
                    &mut input,
                    format_args!(" = {}", self.operand(&param.default)?),
                );
            }
            inputs.push(input);
        }
        write_to(&mut head, format_args!("({})", inputs.join(", ")));
        if let Some(types) = types.filter(|types| types.values().iter().any(|ty| !ty.is_none())) {
            let types = types
                .values()
                .iter()
                .map(|ty| self.ty(ty))
                .collect::<Result<Vec<_>>>()?;
            write_to(&mut head, format_args!(" -> ({})", types.join(", ")));
        }
        Ok(head)
    }

    fn node(
        &mut self,
        stack: &mut Vec<Step>,
        body: usize,
        position: usize,
        indent: usize,
    ) -> Result<()> {
        let pad = "  ".repeat(indent);
        let Some(Node { call, bodies }) = self.listing.bodies[body].nodes.get(position) else {
            let results = self.listing.bodies[body].kind.results().clone();
            let results = self.operands(&results)?;
            self.line(&format!("{pad}return {results}"));
            return Ok(());
        };
        let (call, bodies) = (call.clone(), bodies.clone());
        stack.push(Step::Nodes(body, position + 1, indent));
        let outputs: Vec<String> = (0..call.outputs).map(|n| self.output(&call, n)).collect();
        let mut line = format!("{pad}{} = {}", outputs.join(", "), self.op(&call));
        write_to(
            &mut line,
            format_args!("({})", self.operands(&call.inputs)?),
        );
        let mut written = Vec::new();
        for (name, value) in attributes(&call) {
            if !holds_graphs(value) {
                written.push(format!("{}={}", shown(name), self.operand(value)?));
            }
        }
        if !written.is_empty() {
            write_to(&mut line, format_args!(" {{{}}}", written.join(", ")));
        }
        if !bodies.is_empty() {
            line.push_str(" {");
            stack.push(Step::Line(format!("{pad}}}")));
            let inner = bodies.into_iter().rev();
            stack.extend(inner.map(|(label, body)| {
                Step::Open(format!("{} = ", shown(&label)), body, indent + 1)
            }));
        }
        self.line(&line);
        Ok(())
    }

    /// The operator with its domain. The version is added unless it is the usual
    /// version.
    fn op(&self, call: &Call) -> String {
        if let Some(callee) = &call.callee {
            return shown(&callee.name);
        }
        let mut op = if call.domain.is_empty() {
            shown(&call.op)
        } else {
            format!("{}.{}", shown(&call.domain), shown(&call.op))
        };
        if self.versions.get(&call.domain) != Some(&call.version) {
            write_to(&mut op, format_args!(":{}", call.version));
        }
        op
    }

    /// The name of the value at this position among the values of an input or node: the
    /// name from the file, unless another value has the same name.
    fn name(&mut self, owner: u64, index: usize, in_file: impl FnOnce() -> Option<Str>) -> String {
        let known = self.names.entry(owner).or_default();
        if let Some(name) = known.get(index).filter(|name| !name.is_empty()) {
            return name.clone();
        }
        let wanted = in_file()
            .filter(|name| !name.is_empty())
            .map_or_else(|| "unnamed".to_owned(), |name| shown(&name));
        let mut name = wanted.clone();
        let mut number = 1;
        while self.taken.contains(&name) {
            number += 1;
            name = format!("{wanted}#{number}");
        }
        self.taken.insert(name.clone());
        if known.len() <= index {
            known.resize(index + 1, String::new());
        }
        known[index].clone_from(&name);
        name
    }

    fn output(&mut self, call: &Ref<Call>, index: i64) -> String {
        let Ok(index) = usize::try_from(index) else {
            return format!("?{index}");
        };
        self.name(call.identity(), index, || {
            call.output_names.get(index).cloned()
        })
    }

    fn operands(&mut self, values: &Array) -> Result<String> {
        let texts = values.values().iter().map(|value| self.operand(value));
        Ok(texts.collect::<Result<Vec<_>>>()?.join(", "))
    }

    /// Formats an operand: inputs and outputs of nodes by name, other values by contents.
    fn operand(&mut self, value: &Value) -> Result<String> {
        match value.view() {
            ValueRef::None => Ok("_".to_owned()),
            ValueRef::Tensor(tensor) => self.tensor(tensor, value),
            ValueRef::Array(items) => Ok(format!("[{}]", self.operands(items)?)),
            ValueRef::Object(object) => {
                if let Some(output) = object.downcast_ref::<Output>() {
                    Ok(self.output(&output.call, output.index))
                } else if let Some(input) = object.downcast_ref::<Input>() {
                    Ok(self.name(input.identity(), 0, || Some(input.name.clone())))
                } else {
                    self.plain_text(value)
                }
            }
            _ => self.plain_text(value),
        }
    }

    /// A small tensor in full. A larger tensor is shown by type and the start of its
    /// digest.
    fn tensor(&self, tensor: &Tensor, value: &Value) -> Result<String> {
        let shape = tensor.shape();
        let count = shape
            .iter()
            .try_fold(1_i64, |count, dim| count.checked_mul(*dim));
        if count.is_some_and(|count| count <= WHOLE_TENSOR as i64) {
            return self.plain_text(value);
        }
        let digest = structural_digest(value)?.to_string();
        let start: String = digest.chars().take(8).collect();
        Ok(format!("{}{shape:?}#{start}", tensor.dtype()))
    }

    fn ty(&self, ty: &Value) -> Result<String> {
        let Some(tensor) = ty
            .as_object()
            .and_then(|ty| ty.downcast_ref::<TensorType>())
        else {
            return if ty.is_none() {
                Ok("?".to_owned())
            } else {
                self.plain_text(ty)
            };
        };
        let elem = match tensor.elem.view() {
            ValueRef::None => "?".to_owned(),
            ValueRef::Str(name) => shown(name),
            _ => self.plain_text(&tensor.elem)?,
        };
        let Some(shape) = &tensor.shape else {
            return Ok(format!("{elem}[...]"));
        };
        let dims: Vec<String> = shape
            .values()
            .iter()
            .map(|dim| match dim.view() {
                ValueRef::None => "?".to_owned(),
                ValueRef::Int(size) => size.to_string(),
                _ => match dim.as_object().and_then(|dim| dim.downcast_ref::<Dim>()) {
                    Some(dim) => shown(&dim.name),
                    None => format!("{dim:?}"),
                },
            })
            .collect();
        Ok(if dims.is_empty() {
            elem
        } else {
            format!("{elem}[{}]", dims.join(", "))
        })
    }

    fn plain_text(&self, value: &Value) -> Result<String> {
        let text = self.plain.to_text(value)?;
        // Parts that need separate lines are rare, and the text is for people.
        Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

fn write_to(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

/// A name of the file, in quotes if it could be mistaken for another token.
fn shown(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_/.:-+#[]<>$@!?*&|%".contains(c);
    if name.chars().all(plain) && !name.is_empty() {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}
