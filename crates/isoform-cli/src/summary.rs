//! `isoform summary`: the contents of a file in numbers, and the numbers of two files.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Ref, Value};
use isoform_onnx::elements;
use isoform_onnx::eval::Control;
use isoform_onnx::summary::{
    Changed, Line, MeasuredWeight, ModelSummary, ModelsSummary, Role, ValueSummary,
};
use serde_json::{Value as Json, json};

use crate::args::{Common, SummaryArgs};
use crate::input::{Input, is_dash, load_complete, message, simplified_input};
use crate::output::{Failure, Output, printable};

pub(crate) fn run(
    args: &SummaryArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let read = |file: &Path| {
        let fixed = args.fix.apply(file, load_complete(file, common)?)?;
        simplified_input(file, fixed, args.simplify)
    };
    let Some(right) = &args.right else {
        return match read(&args.left).and_then(|input| one(&args.left, &input)) {
            Ok(summary) => summary.print(output),
            Err(failure) => output.failed_file(&args.left, &failure),
        };
    };
    if is_dash(&args.left) && is_dash(right) {
        let failure = "standard input can be read only once".into();
        return output.failed_file(&args.left, &failure);
    }
    let (left_input, right_input) = rayon::join(|| read(&args.left), || read(right));
    let (left_input, right_input) = match (left_input, right_input) {
        (Ok(left_input), Ok(right_input)) => (left_input, right_input),
        (left_input, right_input) => {
            for (file, input) in [(&args.left, left_input), (right, right_input)] {
                if let Err(failure) = input {
                    output.failed_file(file, &failure)?;
                }
            }
            return Ok(());
        }
    };
    match two(&args.left, &left_input, right, &right_input) {
        Ok(summary) => summary.print(output),
        Err(failure) => output.failed_file(right, &failure),
    }
}

/// A summary in both forms.
struct Summary {
    lines: Vec<Line>,
    json: Json,
}

impl Summary {
    fn print(self, output: &mut Output<'_, '_>) -> io::Result<()> {
        if output.json {
            return output.json_line(&self.json);
        }
        let palette = output.style;
        for line in self.lines {
            let text = printable(&line.text);
            let style = match line.role {
                Role::Heading => palette.strong,
                Role::Changed => palette.ty,
                Role::Left => palette.left,
                Role::Right => palette.right,
                _ => {
                    output.line(text)?;
                    continue;
                }
            };
            output.line(format_args!("{style}{text}{style:#}"))?;
        }
        Ok(())
    }
}

fn one(file: &Path, input: &Input) -> Result<Summary, Failure> {
    if let Input::Model(model) = input {
        let summary = ModelSummary::new(model.program());
        let json = json!({"file": file.to_string_lossy(), "model": model_json(&summary)});
        let lines = summary.lines();
        return Ok(Summary { lines, json });
    }
    let types = types(file, input)?;
    let rows = types
        .iter()
        .map(|(key, count)| (Role::Row, key.clone(), count.to_string()));
    Ok(Summary {
        lines: table(rows.collect()),
        json: json!({"file": file.to_string_lossy(), "types": types}),
    })
}

fn two(
    left: &Path,
    left_input: &Input,
    right: &Path,
    right_input: &Input,
) -> Result<Summary, Failure> {
    match (left_input, right_input) {
        (Input::Model(left_model), Input::Model(right_model)) => {
            let control = Control::default();
            let summary = ModelsSummary::new(left_model.program(), right_model.program(), &control)
                .map_err(|error| message(left, &error))?;
            Ok(Summary {
                lines: summary.lines(),
                json: models_json(left, right, &summary),
            })
        }
        (Input::Value(_), Input::Value(_)) => {
            let sides = [types(left, left_input)?, types(right, right_input)?];
            Ok(types_of_two(left, right, &sides))
        }
        _ => Err(format!(
            "expected two models or two IR files, got one of each; 'isoform convert {} model.iso' makes an IR file of a model",
            match left_input {
                Input::Model(_) => left.display(),
                Input::Value(_) => right.display(),
            }
        )
        .into()),
    }
}

/// The number of objects of each type, by the key of the type; of a file of tensors, the
/// number of tensors with each type of elements.
fn types(file: &Path, input: &Input) -> Result<BTreeMap<String, u64>, Failure> {
    if let Input::Value(file) = input
        && file.tensors.is_some()
    {
        let mut counts = BTreeMap::new();
        for (name, _) in file.elements() {
            *counts.entry(name).or_insert(0) += 1;
        }
        return Ok(counts);
    }
    let value = input.to_value();
    let counted = match value.peek::<Ref<isoform_mlir::Program>>() {
        Some(_) => operations(value),
        None => object_types(value),
    };
    counted.map_err(|error| message(file, &error))
}

/// The number of objects of each type, by the key of the type.
pub(crate) fn object_types(value: Value) -> isoform::Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    walk_objects(value, |object, _| {
        let key = object.type_info().key();
        // A type has many objects, so its key is rarely new.
        match counts.get_mut(key) {
            Some(count) => *count += 1,
            None => {
                counts.insert(key.to_owned(), 1);
            }
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(counts)
}

/// The number of operations of each name in a program of MLIR.
fn operations(value: Value) -> isoform::Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    walk_objects(value, |object, _| {
        if let Some(operation) = object.downcast_ref::<isoform_mlir::Operation>() {
            *counts.entry(operation.name.to_string()).or_insert(0) += 1;
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(counts)
}

fn types_of_two(left: &Path, right: &Path, sides: &[BTreeMap<String, u64>; 2]) -> Summary {
    let keys: BTreeSet<&String> = sides.iter().flat_map(BTreeMap::keys).collect();
    let (mut rows, mut types) = (Vec::new(), Vec::new());
    for key in keys {
        let [old, new] = [0, 1].map(|side| sides[side].get(key).copied().unwrap_or(0));
        let role = match (old, new) {
            (old, new) if old == new => Role::Row,
            (0, _) => Role::Right,
            (_, 0) => Role::Left,
            _ => Role::Changed,
        };
        let change = new as i64 - old as i64;
        let text = match change {
            0 => old.to_string(),
            change => format!("{old} -> {new}  {change:+}"),
        };
        rows.push((role, key.clone(), text));
        types.push(json!({"type": key, "left": old, "right": new}));
    }
    let file = |file: &Path| json!({"file": file.to_string_lossy()});
    Summary {
        lines: table(rows),
        json: json!({"left": file(left), "right": file(right), "types": types}),
    }
}

/// Names with their counts, aligned.
fn table(rows: Vec<(Role, String, String)>) -> Vec<Line> {
    let width = rows
        .iter()
        .map(|(_, key, _)| key.chars().count())
        .max()
        .unwrap_or(0);
    let lines = rows.into_iter().map(|(role, key, text)| {
        let text = format!("{key:<width$}  {text}");
        Line { role, text }
    });
    lines.collect()
}

fn model_json(summary: &ModelSummary) -> Json {
    let mut model = json!(summary);
    let opsets = summary.opsets.iter();
    let opsets = opsets.map(|(domain, versions)| (domain_name(domain), json!(versions)));
    model["opsets"] = opsets.collect();
    model
}

fn domain_name(domain: &str) -> String {
    if domain.is_empty() { "ai.onnx" } else { domain }.to_owned()
}

fn models_json(left: &Path, right: &Path, summary: &ModelsSummary) -> Json {
    let side = |file: &Path, model: &ModelSummary| json!({"file": file.to_string_lossy(), "model": model_json(model)});
    let mut found = differences_json(summary);
    found["left"] = side(left, &summary.left);
    found["right"] = side(right, &summary.right);
    found
}

/// Where the numbers of two models differ.
pub(crate) fn differences_json(summary: &ModelsSummary) -> Json {
    let opsets = summary.opsets.iter().map(|(domain, changed)| {
        json!({"domain": domain_name(domain), "left": changed.left, "right": changed.right})
    });
    let value = |(at, changed): &(usize, Changed<ValueSummary>)| json!({"position": at, "left": changed.left, "right": changed.right});
    let mut found = json!({"operators": summary.operators, "weights": summary.weights});
    found["opsets"] = opsets.collect();
    found["inputs"] = summary.inputs.iter().map(value).collect();
    found["outputs"] = summary.outputs.iter().map(value).collect();
    let changed = summary.weights.changed.iter();
    found["weights"]["changed"] = changed.map(weight_json).collect();
    found
}

/// A pair with the indices of the first element that differs in place of its position.
fn weight_json(it: &MeasuredWeight) -> Json {
    let first = it.difference.and_then(|found| found.first);
    let first = first.map(|at| elements::indices(it.left.tensor.shape(), at as u64));
    let mut pair = json!(it);
    pair["first"] = json!(first);
    if let Some(pair) = pair.as_object_mut() {
        pair.remove("max_abs_int");
    }
    pair
}
