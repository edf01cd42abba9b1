//! A program as JSON for other programs.

use isoform::{Array, Str};
use serde_json::{Value, json};

use super::rows::{Rows, domain_name};
use crate::args::ShowArgs;
use isoform_onnx::layout::{BodyKind, Node};

/// The members of the JSON object that describe the program.
pub(crate) fn program(rows: &mut Rows, args: &ShowArgs) -> Value {
    let count = rows.listing.bodies.len();
    let mut bodies: Vec<Value> = vec![Value::Null; count];
    // Inner bodies have greater positions: every body is done before it is needed.
    // Bodies nest only as deep as the reader of models allows.
    for body in (0..count).rev() {
        bodies[body] = self::body(rows, args, body, &mut bodies);
    }
    let mut out = json!({});
    out["opsets"] = rows.opsets.iter().cloned().collect();
    if args.names {
        out["dims"] = rows.names.dims().collect();
    }
    if let Some(shapes) = &rows.shapes {
        out["problems"] = shapes.problems().collect();
    }
    let functions = rows.listing.functions.iter();
    // Trees are moved: `json!` would copy them.
    out["functions"] = functions.map(|&body| bodies[body].take()).collect();
    out["program"] = bodies[0].take();
    out
}

fn body(rows: &mut Rows, args: &ShowArgs, body: usize, bodies: &mut [Value]) -> Value {
    let head = rows.head(body);
    let mut out = json!({"inputs": head.params, "outputs": rows.results(body)});
    match head.function {
        Some(function) => {
            out["function"] = json!(function);
            out["attributes"] = json!(head.attributes);
        }
        None => out["result_types"] = json!(head.result_types),
    }
    let listed = &rows.listing.bodies[body];
    if args.names {
        let name = match &listed.kind {
            BodyKind::Graph(graph) => &graph.name,
            BodyKind::Function(function) => &function.name,
        };
        out["name"] = json!(name.as_str());
    }
    let hidden = args.depth.is_some_and(|depth| listed.depth > depth);
    let all = listed.nodes.len();
    let shown = if hidden {
        0
    } else {
        args.limit.map_or(all, |limit| limit.min(all))
    };
    out["omitted"] = json!(all - shown);
    let nodes = (0..shown).map(|position| node(rows, args, body, position, bodies));
    out["nodes"] = nodes.collect();
    out
}

fn node(
    rows: &mut Rows,
    args: &ShowArgs,
    body: usize,
    position: usize,
    bodies: &mut [Value],
) -> Value {
    let Node {
        call,
        bodies: inner,
    } = &rows.listing.bodies[body].nodes[position];
    let (call, inner) = (call.clone(), inner.clone());
    let row = rows.row(&call);
    let mut out = json!({"inputs": row.inputs, "outputs": row.outputs});
    match &call.callee {
        Some(_) => out["function"] = json!(row.op),
        None => {
            out["op_type"] = json!(call.op.as_str());
            out["domain"] = json!(domain_name(call.domain.as_str()));
            out["version"] = json!(call.version);
        }
    }
    out["attributes"] = row.attributes.into_iter().collect();
    for (label, inner) in inner {
        out["attributes"][label] = bodies[inner].take();
    }
    if let Some(types) = row.types {
        out["types"] = json!(types);
    }
    if args.names {
        let texts = |names: &Array<Str>| names.iter().map(|name| name.as_str()).collect();
        out["name"] = json!(call.name.as_str());
        out["input_names"] = texts(&call.input_names);
        out["output_names"] = texts(&call.output_names);
    }
    out
}
