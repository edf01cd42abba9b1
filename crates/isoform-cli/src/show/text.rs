//! A program as text for people.

use std::io;

use super::names::quoted;
use super::rows::{Row, Rows, body_names};
use super::shapes::Shapes;
use crate::args::ShowArgs;
use crate::output::{Output, Palette, counted};
use isoform_onnx::layout::Node;

/// A pending step of printing.
enum Step {
    /// The nodes of a body from a position on, at an indentation.
    Nodes(usize, usize, usize),
    /// The head of the body that an attribute holds.
    Open(String, usize, usize),
    Line(String),
}

pub(crate) fn print(
    rows: &mut Rows,
    args: &ShowArgs,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if !rows.opsets.is_empty() {
        let opsets: Vec<String> = rows
            .opsets
            .iter()
            .map(|(name, version)| format!("{name} {version}"))
            .collect();
        output.line(format_args!("opset {}", opsets.join(", ")))?;
    }
    if args.names {
        for (dim, name) in rows.names.dims() {
            let line = format!("# {dim} is {}", quoted(name));
            output.faint(&line)?;
        }
    }
    let problems = rows.shapes.iter().flat_map(Shapes::problems);
    for problem in problems.collect::<Vec<_>>() {
        output.faint(&format!("# {problem}"))?;
    }
    for root in std::iter::once(0).chain(rows.listing.functions.clone()) {
        let mut stack = vec![Step::Open(String::new(), root, 0)];
        // Bodies may nest, so the loop keeps an explicit stack instead of the native
        // stack.
        while let Some(step) = stack.pop() {
            match step {
                Step::Line(line) => output.line(line)?,
                Step::Open(label, body, indent) => {
                    open(rows, args, output, &mut stack, label, body, indent)?
                }
                Step::Nodes(body, position, indent) => {
                    node(rows, args, output, &mut stack, body, position, indent)?
                }
            }
        }
    }
    Ok(())
}

fn open(
    rows: &mut Rows,
    args: &ShowArgs,
    output: &mut Output<'_, '_>,
    stack: &mut Vec<Step>,
    label: String,
    body: usize,
    indent: usize,
) -> io::Result<()> {
    let head = rows.head(body);
    let strong = output.style.strong;
    let pad = "  ".repeat(indent);
    if args.names {
        let (kind, name, params, results) = body_names(&rows.listing.bodies[body]);
        let params = params.join(", ");
        output.faint(&format!(
            "{pad}# {kind} {name}: {params} -> {}",
            results.join(", ")
        ))?;
    }
    let what = head.function.as_deref().unwrap_or("graph");
    let mut line = format!(
        "{pad}{label}{strong}{what}{strong:#}({})",
        head.params.join(", ")
    );
    if !head.attributes.is_empty() {
        line.push_str(&format!(" {{{}}}", head.attributes.join(", ")));
    }
    if head.function.is_none() {
        line.push_str(&format!(" -> ({})", head.result_types.join(", ")));
    }
    let listed = &rows.listing.bodies[body];
    if args.depth.is_some_and(|depth| listed.depth > depth) {
        return output.line(format_args!(
            "{line} {{ ... {} }}",
            counted(listed.nodes.len(), "node")
        ));
    }
    stack.push(Step::Line(format!("{pad}}}")));
    stack.push(Step::Nodes(body, 0, indent + 1));
    output.line(format_args!("{line} {{"))
}

fn node(
    rows: &mut Rows,
    args: &ShowArgs,
    output: &mut Output<'_, '_>,
    stack: &mut Vec<Step>,
    body: usize,
    position: usize,
    indent: usize,
) -> io::Result<()> {
    let all = &rows.listing.bodies[body].nodes;
    let pad = "  ".repeat(indent);
    let shown = args.limit.map_or(all.len(), |limit| limit.min(all.len()));
    if position == shown {
        let left = all.len() - shown;
        if left > 0 {
            output.line(format_args!("{pad}... {}", counted(left, "node")))?;
        }
        let strong = output.style.strong;
        let results = rows.results(body).join(", ");
        return output.line(format!("{pad}{strong}return{strong:#} {results}").trim_end());
    }
    stack.push(Step::Nodes(body, position + 1, indent));
    let Node { call, bodies } = &all[position];
    let (call, bodies) = (call.clone(), bodies.clone());
    let row = rows.row(&call);
    let mut line = format!("{pad}{}", row_text(&row, output.style));
    if !bodies.is_empty() {
        line.push_str(" {");
        stack.push(Step::Line(format!("{pad}}}")));
        for (label, inner) in bodies.into_iter().rev() {
            stack.push(Step::Open(format!("{label} = "), inner, indent + 1));
        }
    }
    if let Some(types) = &row.types {
        let faint = output.style.faint;
        line.push_str(&format!("  {faint}# {}{faint:#}", types.join(", ")));
    }
    if args.names {
        let texts = |names: &isoform::Array<isoform::Str>| {
            let names: Vec<String> = names.iter().map(|name| quoted(name.as_str())).collect();
            names.join(", ")
        };
        let faint = output.style.faint;
        line.push_str(&format!(
            "  {faint}# {}: {} -> {}{faint:#}",
            quoted(call.name.as_str()),
            texts(&call.input_names),
            texts(&call.output_names)
        ));
    }
    output.line(line)
}

/// The outputs, operator, inputs and attributes of a node.
pub(super) fn row_text(row: &Row, style: Palette) -> String {
    let strong = style.strong;
    let mut line = String::new();
    if !row.outputs.is_empty() {
        line.push_str(&row.outputs.join(", "));
        line.push_str(" = ");
    }
    line.push_str(&format!(
        "{strong}{}{strong:#}({})",
        row.op,
        row.inputs.join(", ")
    ));
    if !row.attributes.is_empty() {
        let attributes: Vec<String> = row
            .attributes
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        line.push_str(&format!(" {{{}}}", attributes.join(", ")));
    }
    line
}
