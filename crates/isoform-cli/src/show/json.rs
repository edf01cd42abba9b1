//! A program as JSON for other programs.

use serde_json::{Map, Value, json};

use super::rows::{Rows, domain_name};
use crate::args::ShowArgs;
use isoform_onnx::layout::{BodyKind, Node};

/// The members of the JSON object that describe the program.
pub(crate) fn program(rows: &mut Rows, args: &ShowArgs) -> Map<String, Value> {
    let count = rows.listing.bodies.len();
    let mut bodies: Vec<Value> = vec![Value::Null; count];
    // Inner bodies have greater positions: every body is done before it is needed.
    // Bodies nest only as deep as the reader of models allows.
    for body in (0..count).rev() {
        bodies[body] = self::body(rows, args, body, &mut bodies);
    }
    let mut out = Map::new();
    let opsets: Map<String, Value> = rows
        .opsets
        .iter()
        .map(|(name, version)| (name.clone(), json!(version)))
        .collect();
    out.insert("opsets".to_owned(), opsets.into());
    if args.names {
        let dims: Map<String, Value> = rows
            .names
            .dims()
            .map(|(dim, name)| (dim, json!(name)))
            .collect();
        out.insert("dims".to_owned(), dims.into());
    }
    if let Some(shapes) = &rows.shapes {
        let problems: Vec<Value> = shapes.problems().map(|problem| json!(problem)).collect();
        out.insert("problems".to_owned(), problems.into());
    }
    let functions: Vec<Value> = rows
        .listing
        .functions
        .iter()
        .map(|&body| bodies[body].take())
        .collect();
    out.insert("functions".to_owned(), functions.into());
    out.insert("program".to_owned(), bodies[0].take());
    out
}

fn body(rows: &mut Rows, args: &ShowArgs, body: usize, bodies: &mut [Value]) -> Value {
    let head = rows.head(body);
    let mut out = Map::new();
    match head.function {
        Some(function) => {
            out.insert("function".to_owned(), json!(function));
            out.insert("attributes".to_owned(), json!(head.attributes));
        }
        None => {
            out.insert("result_types".to_owned(), json!(head.result_types));
        }
    }
    out.insert("inputs".to_owned(), json!(head.params));
    out.insert("outputs".to_owned(), json!(rows.results(body)));
    let listed = &rows.listing.bodies[body];
    if args.names {
        let name = match &listed.kind {
            BodyKind::Graph(graph) => &graph.name,
            BodyKind::Function(function) => &function.name,
        };
        out.insert("name".to_owned(), json!(name.as_str()));
    }
    let hidden = args.depth.is_some_and(|depth| listed.depth > depth);
    let all = listed.nodes.len();
    let shown = if hidden {
        0
    } else {
        args.limit.map_or(all, |limit| limit.min(all))
    };
    out.insert("omitted".to_owned(), json!(all - shown));
    let nodes: Vec<Value> = (0..shown)
        .map(|at| node(rows, args, body, at, bodies))
        .collect();
    out.insert("nodes".to_owned(), nodes.into());
    Value::Object(out)
}

fn node(rows: &mut Rows, args: &ShowArgs, body: usize, at: usize, bodies: &mut [Value]) -> Value {
    let Node {
        call,
        bodies: inner,
    } = &rows.listing.bodies[body].nodes[at];
    let (call, inner) = (call.clone(), inner.clone());
    let row = rows.row(&call);
    let attributes: Map<String, Value> = row
        .attributes
        .into_iter()
        .map(|(name, value)| (name, json!(value)))
        .chain(
            inner
                .into_iter()
                .map(|(label, inner)| (label, bodies[inner].take())),
        )
        .collect();
    let mut out = Map::new();
    match &call.callee {
        Some(_) => {
            out.insert("function".to_owned(), json!(row.op));
        }
        None => {
            out.insert("op_type".to_owned(), json!(call.op.as_str()));
            out.insert(
                "domain".to_owned(),
                json!(domain_name(call.domain.as_str())),
            );
            out.insert("version".to_owned(), json!(call.version));
        }
    }
    out.insert("inputs".to_owned(), json!(row.inputs));
    out.insert("attributes".to_owned(), attributes.into());
    out.insert("outputs".to_owned(), json!(row.outputs));
    if let Some(types) = row.types {
        out.insert("types".to_owned(), json!(types));
    }
    if args.names {
        let texts = |names: &isoform::Array<isoform::Str>| {
            names
                .iter()
                .map(|name| json!(name.as_str()))
                .collect::<Vec<Value>>()
        };
        out.insert("name".to_owned(), json!(call.name.as_str()));
        out.insert("input_names".to_owned(), texts(&call.input_names).into());
        out.insert("output_names".to_owned(), texts(&call.output_names).into());
    }
    Value::Object(out)
}
