//! Differences as JSON, for other programs.

use std::collections::HashMap;
use std::path::Path;

use isoform::compare::{Change, Difference, Place, PlacePaths};
use isoform::values::ValueRef;
use isoform_ir::kernels::tensor_difference;
use isoform_onnx::elements;
use isoform_onnx::eval::Control;
use isoform_onnx::report::Report;
use serde_json::{Value as Json, json};

use super::args::DiffArgs;
use super::first::value_text;
use crate::summary::differences_json;

/// The name of the format.
pub(super) const FORMAT: &str = "isoform.diff";

/// The version of the format, which grows when programs that read it have to change.
pub(super) const VERSION: u64 = 2;

/// The difference of two models.
pub(super) fn of_models(args: &DiffArgs, report: &Report) -> Json {
    let mut summary = differences_json(&report.summary);
    summary["counts"] = counts(&report.difference);
    summary["nodes"] = json!(report.nodes);
    let mut found = head(args, report.is_equal(), summary);
    if !args.stat {
        let mut place = |change: &Change, places: &(Place, Place)| {
            json!({
                "left_path": report.place_text(change, &places.0),
                "right_path": report.place_text(change, &places.1),
                "origin": report.origin(change, places),
            })
        };
        add_changes(&mut found, &report.difference, &mut place);
        found["groups"] = json!(report.groups);
    }
    found
}

/// The difference of two other values.
pub(super) fn of_values(args: &DiffArgs, difference: &Difference) -> Json {
    let summary = json!({"counts": counts(difference)});
    let mut found = head(args, difference.is_empty(), summary);
    if !args.stat {
        let mut paths = PlacePaths::default();
        let mut place = |_: &Change, (left, right): &(Place, Place)| {
            json!({
                "left_path": paths.text(left),
                "right_path": paths.text(right),
                "origin": null,
            })
        };
        add_changes(&mut found, difference, &mut place);
        found["places"] = json!(paths.tree().beginnings());
    }
    found
}

/// The difference of two programs of MLIR.
pub(super) fn of_mlir(
    args: &DiffArgs,
    difference: &Difference,
    report: &isoform_mlir::Report,
) -> Json {
    let mut found = of_values(args, difference);
    if !args.stat {
        let groups = report.changes.iter().map(|change| {
            json!({
                "kind": change.kind.name(),
                "text": change.text,
                "count": change.count,
                "changes": change.changes,
                "complete": change.is_complete,
                "lines": change.lines,
                "line_numbers": change.line_numbers,
            })
        });
        found["groups"] = groups.collect();
    }
    found
}

fn head(args: &DiffArgs, is_equal: bool, summary: Json) -> Json {
    let side = |file: &Path| json!({"file": file.to_string_lossy()});
    json!({
        "format": FORMAT,
        "version": VERSION,
        "equal": is_equal,
        "left": side(&args.left),
        "right": side(&args.right),
        "summary": summary,
    })
}

fn counts(difference: &Difference) -> Json {
    let counts = difference.counts().into_iter();
    counts.map(|(kind, count)| (kind.name(), count)).collect()
}

/// Writes both sides of a place of a change.
type WritePlace<'a> = &'a mut dyn FnMut(&Change, &(Place, Place)) -> Json;

fn add_changes(found: &mut Json, difference: &Difference, place: WritePlace<'_>) {
    let changes = difference.changes().iter();
    found["changes"] = changes.map(|it| change(it, place)).collect();
    // Hashes of groups differ between processes, and files of differences are compared.
    let mut groups: HashMap<u64, usize> = HashMap::new();
    let hunks = difference.hunks().into_iter().map(|hunk| {
        let next = groups.len();
        let group = *groups.entry(hunk.group).or_insert(next);
        let side = |nodes: &[isoform::Value]| nodes.iter().map(value_text).collect::<Vec<_>>();
        json!({
            "left": side(&hunk.left),
            "right": side(&hunk.right),
            "is_enclosed": hunk.is_enclosed,
            "group": format!("{group:016x}"),
        })
    });
    found["hunks"] = hunks.collect();
}

fn change(change: &Change, place: WritePlace<'_>) -> Json {
    let places: Vec<Json> = change.places().map(|it| place(change, &it)).collect();
    let first = |key: &str| places.first().map(|place| place[key].clone());
    let value = |value: Option<&isoform::Value>| value.map(value_text);
    json!({
        "kind": change.kind().name(),
        "count": change.count(),
        "left_path": first("left_path"),
        "right_path": first("right_path"),
        "left": value(change.left()),
        "right": value(change.right()),
        "left_size": change.left_size(),
        "right_size": change.right_size(),
        "origin": first("origin"),
        "tensor": tensor(change),
        "places": places,
    })
}

/// The distance of two tensors; null unless the change has two tensors of one type and
/// shape.
fn tensor(change: &Change) -> Json {
    let (Some(left), Some(right)) = (change.left(), change.right()) else {
        return Json::Null;
    };
    let (ValueRef::Tensor(left), ValueRef::Tensor(right)) = (left.view(), right.view()) else {
        return Json::Null;
    };
    let Ok(difference) = tensor_difference(left, right, None, &Control::default()) else {
        return Json::Null;
    };
    let lanes = u64::from(left.dtype().lanes());
    let first = difference
        .first
        .map(|position| elements::indices(left.shape(), position as u64 / lanes));
    json!({
        "elements": difference.count,
        "differing": difference.differing,
        "first": first,
        "max_abs": difference.max_abs,
        "max_rel": difference.max_rel,
        "relative_l2": difference.relative_l2,
        "cosine": difference.cosine,
    })
}
