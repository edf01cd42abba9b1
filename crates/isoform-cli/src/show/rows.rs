//! The parts of a printed program as text, shared by the two output formats.

use std::collections::HashMap;

use isoform::Ref;
use isoform_onnx::Model;
use isoform_onnx::ir::{Call, Input, Program};

use super::names::{NameOptions, Names, quoted};
use super::shapes::Shapes;
use crate::output::printable;
use isoform_onnx::layout::{Body, BodyKind, Listing, Node, attributes, holds_graphs};

/// A program, and the names of its parts.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) listing: Listing,
    pub(crate) names: Names,
    /// The version of each domain's operators, in the order of use.
    pub(crate) opsets: Vec<(String, i64)>,
    versions: HashMap<String, i64>,
    /// True if the versions of operators are those of the file, and shown.
    pub(crate) has_versions: bool,
    io_names: Option<[Vec<String>; 2]>,
    /// The derived types, if they are shown.
    pub(crate) shapes: Option<Shapes>,
}

/// The parts of a printed node.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) op: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) outputs: Vec<String>,
    /// The derived types of the outputs, if they are shown.
    pub(crate) types: Option<Vec<String>>,
}

/// The parts of the head of a body.
#[derive(Debug)]
pub(crate) struct Head {
    /// The number of a function.
    pub(crate) function: Option<String>,
    pub(crate) params: Vec<String>,
    /// The attributes of a function, some with a default.
    pub(crate) attributes: Vec<String>,
    /// The types of the results of a graph.
    pub(crate) result_types: Vec<String>,
}

impl Rows {
    /// The rows of a program, and of its model if that may lack the contents of constants.
    pub(crate) fn new(
        program: &Program,
        model: Option<&Model>,
        listing: Listing,
        options: NameOptions,
    ) -> Self {
        let names = Names::new(model, &listing, options);
        let mut rows = Rows {
            listing,
            names,
            opsets: Vec::new(),
            versions: HashMap::new(),
            has_versions: true,
            io_names: None,
            shapes: None,
        };
        for body in &rows.listing.bodies {
            for Node { call, .. } in &body.nodes {
                let domain = call.domain.as_str();
                if call.callee.is_none() && !rows.versions.contains_key(domain) {
                    rows.versions.insert(domain.to_owned(), call.version);
                    rows.opsets.push((domain_name(domain), call.version));
                }
            }
        }
        let texts = |index: usize| {
            let names = program.io_names.get(index)?;
            Some(names.iter().map(|name| quoted(name.as_str())).collect())
        };
        if let (Some(inputs), Some(outputs)) = (texts(0), texts(1)) {
            rows.io_names = Some([inputs, outputs]);
        }
        rows
    }

    pub(crate) fn head(&mut self, body: usize) -> Head {
        let kind = &self.listing.bodies[body].kind;
        let names = &mut self.names;
        let mut params = Vec::new();
        for (position, param) in kind.params().iter().enumerate() {
            let fed = match &self.io_names {
                Some([inputs, _]) if body == 0 => inputs.get(position),
                _ => None,
            };
            params.push(param_text(names, param, fed));
        }
        let mut head = Head {
            function: None,
            params,
            attributes: Vec::new(),
            result_types: Vec::new(),
        };
        match kind {
            BodyKind::Graph(graph) => {
                let types = graph.result_types.values().iter();
                head.result_types = types.map(|ty| names.ty(ty)).collect();
            }
            BodyKind::Function(function) => {
                head.function = Some(names.function(function));
                for name in function.attrs.iter() {
                    head.attributes.push(printable(name.as_str()).into_owned());
                }
                let mut defaults: Vec<_> = function.attr_defaults.iter().collect();
                defaults.sort_by_key(|(name, _)| name.as_str());
                for (name, value) in defaults {
                    let name = printable(name.as_str());
                    head.attributes
                        .push(format!("{name}={}", names.attribute(value)));
                }
            }
        }
        head
    }

    pub(crate) fn results(&mut self, body: usize) -> Vec<String> {
        let values = self.listing.bodies[body].kind.results().values();
        let mut results: Vec<String> = values
            .iter()
            .map(|value| self.names.operand(value))
            .collect();
        if let Some([_, outputs]) = &self.io_names
            && body == 0
        {
            for (result, name) in results.iter_mut().zip(outputs) {
                result.push(' ');
                result.push_str(name);
            }
        }
        results
    }

    pub(crate) fn row(&mut self, call: &Ref<Call>) -> Row {
        let op = self.op(call);
        let types = self.shapes.as_mut().map(|shapes| shapes.of(call));
        let names = &mut self.names;
        let operands = call.inputs.values().iter();
        Row {
            op,
            inputs: operands.map(|value| names.operand(value)).collect(),
            attributes: attributes(call)
                .into_iter()
                .filter(|(_, value)| !holds_graphs(value))
                .map(|(name, value)| (printable(name).into_owned(), names.attribute(value)))
                .collect(),
            outputs: (0..call.outputs)
                .map(|index| names.output(call, index))
                .collect(),
            types,
        }
    }

    /// The operator with its domain. The version is added unless it is the usual
    /// version.
    fn op(&self, call: &Call) -> String {
        if let Some(callee) = &call.callee {
            return self.names.function(callee);
        }
        let domain = call.domain.as_str();
        let mut op = String::new();
        if !domain.is_empty() {
            op.push_str(&printable(domain));
            op.push('.');
        }
        op.push_str(&printable(call.op.as_str()));
        if self.has_versions && self.versions.get(domain) != Some(&call.version) {
            op.push_str(&format!(":{}", call.version));
        }
        op
    }
}

/// The name of a domain for people.
pub(crate) fn domain_name(domain: &str) -> String {
    if domain.is_empty() {
        "ai.onnx".to_owned()
    } else {
        printable(domain).into_owned()
    }
}

/// The description of a body for people: kind and name, and the names of inputs and
/// results, from the file.
pub(crate) fn body_names(body: &Body) -> (&'static str, String, Vec<String>, Vec<String>) {
    let names = |names: &isoform::Array<isoform::Str>| {
        names.iter().map(|name| quoted(name.as_str())).collect()
    };
    let params = body
        .kind
        .params()
        .iter()
        .map(|param| quoted(param.name.as_str()))
        .collect();
    match &body.kind {
        BodyKind::Graph(graph) => (
            "graph",
            quoted(graph.name.as_str()),
            params,
            names(&graph.result_names),
        ),
        BodyKind::Function(function) => (
            "function",
            quoted(function.name.as_str()),
            params,
            names(&function.result_names),
        ),
    }
}

fn param_text(names: &mut Names, param: &Ref<Input>, fed: Option<&String>) -> String {
    let mut out = names.label(param.identity(), 0);
    if let Some(name) = fed {
        out.push(' ');
        out.push_str(name);
    }
    if !param.ty.is_none() {
        out.push_str(": ");
        out.push_str(&names.ty(&param.ty));
    }
    if !param.default.is_none() {
        out.push_str(" = ");
        out.push_str(&names.operand(&param.default));
    }
    out
}
