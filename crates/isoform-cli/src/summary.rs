//! `isoform summary`: the contents of a file in numbers, and the numbers of two files.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use isoform::traverse::{WalkResult, walk_objects};
use isoform::values::Tensor;
use isoform_onnx::elements;
use isoform_onnx::eval::Control;
use isoform_onnx::summary::{
    Changed, Line, MeasuredWeight, ModelSummary, ModelsSummary, Role, ValueSummary, Weight,
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
        (Input::Model(one), Input::Model(other)) => {
            let control = Control::default();
            let summary = ModelsSummary::new(one.program(), other.program(), &control)
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

/// The number of objects of each type, by the key of the type.
fn types(file: &Path, input: &Input) -> Result<BTreeMap<String, u64>, Failure> {
    let mut counts = BTreeMap::new();
    let walked = walk_objects(input.to_value(), |object, _| {
        let key = object.type_info().key();
        // A type has many objects, so its key is rarely new.
        match counts.get_mut(key) {
            Some(count) => *count += 1,
            None => {
                counts.insert(key.to_owned(), 1);
            }
        }
        Ok(WalkResult::<()>::Advance)
    });
    walked.map_err(|error| message(file, &error))?;
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
    let values = |values: &[ValueSummary]| values.iter().map(value_json).collect::<Vec<_>>();
    let weights = summary.weights.iter().map(|(dtype, it)| {
        let of_type = json!({"count": it.count, "elements": it.elements, "bytes": it.bytes});
        (dtype.clone(), of_type)
    });
    let operators = summary
        .operators
        .iter()
        .map(|(operator, count)| (operator.to_string(), json!(count)));
    let functions = summary
        .functions
        .iter()
        .map(|it| json!({"name": it.name, "nodes": it.nodes}));
    let opsets = summary
        .opsets
        .iter()
        .map(|(domain, versions)| (domain_name(domain), json!(versions)));
    json!({
        "ir_version": summary.ir_version,
        "producer": summary.producer,
        "opsets": opsets.collect::<serde_json::Map<_, _>>(),
        "inputs": values(&summary.inputs),
        "outputs": values(&summary.outputs),
        "nodes": summary.nodes,
        "depth": summary.depth,
        "nesting": summary.nesting,
        "constants": summary.constants,
        "weights": weights.collect::<serde_json::Map<_, _>>(),
        "functions": functions.collect::<Vec<_>>(),
        "operators": operators.collect::<serde_json::Map<_, _>>(),
    })
}

fn domain_name(domain: &str) -> String {
    if domain.is_empty() { "ai.onnx" } else { domain }.to_owned()
}

fn value_json(value: &ValueSummary) -> Json {
    json!({"name": value.name, "dtype": value.dtype, "shape": value.shape})
}

fn models_json(left: &Path, right: &Path, summary: &ModelsSummary) -> Json {
    let side = |file: &Path, model: &ModelSummary| json!({"file": file.to_string_lossy(), "model": model_json(model)});
    let mut found = differences_json(summary);
    found.insert("left".to_owned(), side(left, &summary.left));
    found.insert("right".to_owned(), side(right, &summary.right));
    Json::Object(found)
}

/// Where the numbers of two models differ.
pub(crate) fn differences_json(summary: &ModelsSummary) -> serde_json::Map<String, Json> {
    let opsets = summary.opsets.iter().map(|(domain, changed)| {
        json!({"domain": domain_name(domain), "left": changed.left, "right": changed.right})
    });
    let values = |values: &[(usize, Changed<ValueSummary>)]| -> Vec<Json> {
        let values = values.iter();
        let value = |(at, changed): &(usize, Changed<ValueSummary>)| {
            let [left, right] =
                [&changed.left, &changed.right].map(|side| side.as_ref().map(value_json));
            json!({"position": at, "left": left, "right": right})
        };
        values.map(value).collect()
    };
    let operators = summary
        .operators
        .iter()
        .map(|it| json!({"operator": it.operator.to_string(), "left": it.left, "right": it.right}));
    let weights = &summary.weights;
    let names = |names: &[isoform::Str]| {
        names
            .iter()
            .map(|name| name.to_string())
            .collect::<Vec<_>>()
    };
    let weights = json!({
        "pairs": weights.pairs,
        "changed": weights.changed.iter().map(weight_json).collect::<Vec<_>>(),
        "left_only": names(&weights.left_only),
        "right_only": names(&weights.right_only),
        "elements": weights.elements,
        "differing": weights.differing,
        "max_abs": weights.max_abs,
    });
    let parts = [
        ("opsets", opsets.collect()),
        ("inputs", values(&summary.inputs).into()),
        ("outputs", values(&summary.outputs).into()),
        ("operators", operators.collect()),
        ("weights", weights),
    ]
    .into_iter();
    parts.map(|(key, value)| (key.to_owned(), value)).collect()
}

fn weight_json(it: &MeasuredWeight) -> Json {
    let side = |it: &Weight| {
        json!({
            "name": it.name.to_string(),
            "dtype": it.tensor.dtype().to_string(),
            "shape": it.tensor.shape(),
        })
    };
    let first = |at: usize, tensor: &Tensor| elements::indices(tensor.shape(), at as u64);
    json!({
        "left": side(&it.left),
        "right": side(&it.right),
        "elements": it.difference.map(|it| it.count),
        "differing": it.difference.map(|it| it.differing),
        "first": it.difference.and_then(|found| found.first).map(|at| first(at, &it.left.tensor)),
        "max_abs": it.difference.and_then(|it| it.max_abs),
        "max_rel": it.difference.and_then(|it| it.max_rel),
        "relative_l2": it.difference.and_then(|it| it.relative_l2),
        "cosine": it.difference.and_then(|it| it.cosine),
    })
}
