//! The page of `isoform show` for a model.

use std::collections::HashSet;

use isoform::Ref;
use isoform_onnx::ir::{Call, Program};
use isoform_onnx::layout::{Node, list};
use isoform_onnx::summary::{ModelSummary, ValueSummary};
use isoform_onnx::{Counts, Model};
use isoform_page::Mark;
use isoform_page::page::{Fact, Line, Listing, Page, PieceRole, Row, Section, TableRow, Verdict};

use super::tensor_table::{NamedTensor, tensor_table};
use super::{fact, row, table};
use crate::optimize::bytes_text;
use crate::output::{Palette, counted};
use crate::pages::model_rows::{RowKind, rows_listed};
use crate::pages::words::piece;
use crate::show::labels::Naming;
use crate::show::names::{NameOptions, quoted};
use crate::show::rows::{Rows, domain_name};
use crate::show::shapes::Shapes;

/// Operators named in the sentence.
const NAMED: usize = 3;

/// The parts of a model that its page shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelPage {
    /// Where the names of values come from.
    pub naming: Naming,
    /// True if the contents of constants are shown.
    pub contents: bool,
    /// True if the file's own names follow each node.
    pub names: bool,
    /// True if the derived types of results follow each node.
    pub shapes: bool,
}

/// The page of a model, given its name. O(nodes × depth of bodies), and linear in the elements
/// of weights, which are read only with [`ModelPage::contents`].
#[must_use]
pub fn page_of_model(model: &Model, title: String, options: ModelPage) -> Page {
    page(model.program(), Some(model), title, options)
}

/// The page of a program that has no file, as [`page_of_model`].
#[must_use]
pub fn page_of_program(program: &Ref<Program>, title: String, options: ModelPage) -> Page {
    page(program, None, title, options)
}

fn page(program: &Ref<Program>, model: Option<&Model>, title: String, options: ModelPage) -> Page {
    let summary = ModelSummary::new(program);
    let mut sections = Vec::new();
    let values = values_table(&summary);
    sections.push(Section::Table(values));
    sections.push(Section::Table(operator_table(&summary)));
    let weights = weights(program, model, options.contents);
    if !weights.is_empty() {
        sections.push(Section::Table(tensor_table("Weights", weights)));
    }
    if !summary.functions.is_empty() {
        let rows = summary.functions.iter();
        let rows =
            rows.map(|function| row(vec![function.name.clone(), function.nodes.to_string()]));
        let functions = table("Functions", &["function", "nodes"], rows);
        sections.push(Section::Table(functions));
    }
    sections.push(Section::Listing(listing(program, model, options)));
    Page {
        title,
        verdict: Verdict::Shown,
        sentence: sentence(&summary),
        facts: facts(model.map(Model::counts).unwrap_or_default(), &summary),
        sections,
    }
}

/// Operators and the numbers of their nodes, most first.
fn operators(summary: &ModelSummary) -> Vec<(String, usize)> {
    let operators = summary.operators.iter();
    let mut operators: Vec<(String, usize)> = operators
        .map(|(operator, count)| (operator.to_string(), *count))
        .collect();
    operators.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    operators
}

fn sentence(summary: &ModelSummary) -> String {
    let operators = operators(summary);
    let most: Vec<String> = operators
        .iter()
        .take(NAMED)
        .map(|(name, count)| format!("{name} × {count}"))
        .collect();
    let most = match most.len() {
        0 => String::new(),
        _ => format!(", most of them {}", most.join(", ")),
    };
    let totals = summary.weights.values();
    let (count, elements) = totals.fold((0, 0_u64), |(count, elements), weights| {
        let elements = elements.saturating_add(weights.elements);
        (count + weights.count, elements)
    });
    format!(
        "{} of {}{most}; {} with {}",
        counted(summary.nodes, "node"),
        counted(operators.len(), "operator"),
        counted(count, "weight"),
        counted(elements as usize, "element"),
    )
}

fn facts(counts: Counts, summary: &ModelSummary) -> Vec<Fact> {
    let mut facts = vec![fact("nodes", summary.nodes, Mark::Same)];
    for (dtype, weights) in &summary.weights {
        let text = format!(
            "{} with {}, {}",
            weights.count,
            counted(weights.elements as usize, "element"),
            bytes_text(weights.bytes)
        );
        facts.push(fact(format!("weights of {dtype}"), text, Mark::Same));
    }
    facts.push(fact("inputs", summary.inputs.len(), Mark::Same));
    facts.push(fact("outputs", summary.outputs.len(), Mark::Same));
    for (domain, versions) in &summary.opsets {
        let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
        let name = format!("opset {}", domain_name(domain));
        facts.push(fact(&name, versions.join(", "), Mark::Same));
    }
    facts.push(fact("longest chain of nodes", summary.depth, Mark::Same));
    let more = [
        ("functions", summary.functions.len()),
        ("depth of bodies", summary.nesting),
        ("nodes left out that no output needs", counts.dropped),
        ("training steps left out", counts.training),
    ];
    let more = more.into_iter().filter(|(_, count)| *count > 0);
    facts.extend(more.map(|(name, count)| fact(name, count, Mark::Same)));
    facts.push(fact("IR version", summary.ir_version, Mark::Same));
    if !summary.producer.is_empty() {
        facts.push(fact("producer", &summary.producer, Mark::Same));
    }
    facts
}

fn values_table(summary: &ModelSummary) -> isoform_page::page::Table {
    let value_row = |side: &str, value: &ValueSummary| {
        row(vec![
            side.to_owned(),
            value.name.clone(),
            value.dtype.clone(),
            value.shape.clone(),
        ])
    };
    let inputs = summary.inputs.iter().map(|it| value_row("input", it));
    let outputs = summary.outputs.iter().map(|it| value_row("output", it));
    let rows: Vec<TableRow> = inputs.chain(outputs).collect();
    let columns = ["", "name", "type", "shape"];
    table("Inputs and outputs", &columns, rows.into_iter())
}

fn operator_table(summary: &ModelSummary) -> isoform_page::page::Table {
    let operators = operators(summary);
    let rows = operators.into_iter();
    let rows = rows.map(|(name, count)| row(vec![name, count.to_string()]));
    table("Operators", &["operator", "nodes"], rows)
}

/// The constant tensors that are inputs of nodes, each once, with the name where it is first
/// used.
fn weights(program: &Ref<Program>, model: Option<&Model>, contents: bool) -> Vec<NamedTensor> {
    let lacks = |tensor| model.is_some_and(|model| model.lacks_contents(tensor));
    let listing = list(program);
    let mut met = HashSet::new();
    let mut weights = Vec::new();
    for Node { call, .. } in listing.bodies.iter().flat_map(|body| &body.nodes) {
        for (position, value) in call.inputs.values().iter().enumerate() {
            let Some(tensor) = value.peek::<isoform::values::Tensor>() else {
                continue;
            };
            let identity = value.as_object().map_or(0, |object| object.identity());
            if met.insert(identity) {
                let name = call.input_names.get(position);
                weights.push(NamedTensor {
                    name: name.map_or_else(String::new, ToString::to_string),
                    stored: None,
                    tensor: tensor.clone(),
                    has_numbers: contents && !lacks(tensor),
                });
            }
        }
    }
    weights
}

/// The text of `isoform show`, with names as bindings.
fn listing(program: &Ref<Program>, model: Option<&Model>, options: ModelPage) -> Listing {
    let names = NameOptions {
        naming: options.naming,
        contents: options.contents,
        checksums: true,
        style: Palette::default(),
    };
    let rows = Rows::new(program, model, list(program), names);
    let (listed, rows) = rows_listed(rows);
    let mut shapes = options.shapes.then(|| Shapes::new(program));
    let dims = rows.names.dims();
    let mut lines: Vec<Row> = dims
        .map(|(dim, name)| comment_row(format!("# {dim} is {}", quoted(name))))
        .collect();
    let problems = shapes.iter().flat_map(Shapes::problems);
    lines.extend(problems.map(|problem| comment_row(format!("# {problem}"))));
    for mut listed in listed.rows {
        if let RowKind::Node(call) = &listed.what {
            let types = shapes.as_mut().map(|shapes| shapes.of(call).join(", "));
            let names = options.names.then(|| names_of(call));
            for text in types.into_iter().chain(names) {
                let text = format!("  # {text}");
                listed.line.pieces.push(piece(text, PieceRole::Comment));
            }
        }
        lines.push(row_of(listed.line));
    }
    Listing {
        title: "Program".to_owned(),
        sides: vec!["program".to_owned()],
        rows: lines,
        ..Listing::default()
    }
}

/// The file's own names of a node, its inputs and its outputs.
fn names_of(call: &Ref<Call>) -> String {
    let texts = |names: &isoform::Array<isoform::Str>| {
        let names: Vec<String> = names.iter().map(|name| quoted(name.as_str())).collect();
        names.join(", ")
    };
    let (inputs, outputs) = (texts(&call.input_names), texts(&call.output_names));
    format!("{}: {inputs} -> {outputs}", quoted(call.name.as_str()))
}

fn comment_row(text: String) -> Row {
    row_of(Line {
        depth: 0,
        pieces: vec![piece(text, PieceRole::Comment)],
    })
}

fn row_of(line: Line) -> Row {
    Row {
        left: Some(line),
        ..Row::default()
    }
}
