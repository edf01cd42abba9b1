//! Conflicts of a merge as text and as JSON: the node concerned, by the model's own names,
//! and its three versions.

use isoform::compare::Conflict;
use isoform::paths::{AccessPath, AccessStep};
use isoform::text::{TensorText, TextOptions};
use isoform::values::ValueRef;
use isoform::{Ref, Str, Value};
use isoform_onnx::Model;
use isoform_onnx::ir::{Call, Function, Graph, Input as GraphInput};
use serde_json::{Value as Json, json};

use super::engine::Merged;
use crate::input::Input;
use crate::output::{Palette, printable};
use crate::show::{Describer, text_of};

/// The number of lines that are shown of one part.
const LINES: usize = 12;

/// A conflict in words.
pub(crate) struct ConflictText {
    path: String,
    /// The place by the model's own names.
    place: String,
    origin: Json,
    reason: Option<String>,
    /// The parts in the base, on the left and on the right.
    parts: [Vec<String>; 3],
}

/// All conflicts in words. O(conflicts × depth + nodes), plus the text of the parts.
pub(crate) fn describe(base: &Input, merged: &Merged) -> Vec<ConflictText> {
    let mut describer = base.model().map(Describer::new);
    let conflicts = merged.merge.conflicts().iter();
    conflicts
        .map(|conflict| ConflictText::new(base, merged, describer.as_mut(), conflict))
        .collect()
}

impl ConflictText {
    fn new(
        base: &Input,
        merged: &Merged,
        mut describer: Option<&mut Describer>,
        conflict: &Conflict,
    ) -> Self {
        let mut text = |part: &Value| {
            let restored = merged.ports.as_ref().map(|ports| ports.part(part));
            let restored = restored.and_then(isoform::Result::ok);
            let part = restored.as_ref().unwrap_or(part);
            match &mut describer {
                Some(describer) => describer.part(part),
                None => value_text(part),
            }
        };
        let path = conflict.path();
        let (path, port) = match &merged.ports {
            Some(ports) => ports.place(path),
            None => (path.clone(), None),
        };
        // Under the key of an input or output, None is an absent part.
        let is_absent = |part: &&Value| port.is_some() && part.is_none();
        let of = |parts: &[Value]| {
            let parts = parts.iter().filter(|part| !is_absent(part));
            parts.map(&mut text).collect()
        };
        let parts = match conflict.reason() {
            Some(_) => Default::default(),
            None => [conflict.base(), conflict.left(), conflict.right()].map(of),
        };
        let (place, origin) = match base.model() {
            Some(model) => model_place(model, &path, port),
            None => (path.to_string(), Json::Null),
        };
        ConflictText {
            place,
            path: path.to_string(),
            origin,
            reason: conflict.reason().map(str::to_owned),
            parts,
        }
    }

    /// A line for the place, and at least one for each version.
    pub(crate) fn lines(&self, palette: Palette) -> Vec<String> {
        let bad = palette.bad;
        let mut head = format!("{bad}conflict{bad:#} in {}", printable(&self.place));
        if let Some(reason) = &self.reason {
            head = format!(
                "{bad}conflict{bad:#} of both sides as a whole: {}",
                printable(reason)
            );
            return vec![head];
        }
        let mut lines = vec![head];
        let styles = [palette.faint, palette.left, palette.right];
        let names = ["base ", "left ", "right"];
        for ((name, style), parts) in names.iter().zip(styles).zip(&self.parts) {
            if parts.is_empty() {
                lines.push(format!("  {name}  {style}nothing{style:#}"));
            }
            for (number, line) in parts.iter().flat_map(|part| part.lines()).enumerate() {
                let name = if number == 0 { name } else { "     " };
                lines.push(format!("  {name}  {style}{}{style:#}", printable(line)));
            }
        }
        lines
    }

    pub(crate) fn json(&self) -> Json {
        let [base, left, right] = &self.parts;
        json!({
            "path": self.path, "place": self.place, "origin": self.origin,
            "reason": self.reason, "base": base, "left": left, "right": right,
        })
    }
}

/// The innermost named part of a model around a conflict, and the field inside; or the words
/// for an input or output.
fn model_place(model: &Model, path: &AccessPath, port: Option<String>) -> (String, Json) {
    let mut value = Some(model.to_value());
    let (mut inside, mut start) = (None, 0);
    for (position, step) in path.steps().iter().enumerate() {
        let Some(owner) = value else {
            break;
        };
        if is_named(&owner) {
            (inside, start) = (Some(owner.clone()), position);
        }
        let step = AccessPath::from_steps(vec![step.clone()]);
        value = step.get(&owner).ok();
    }
    if let Some(last) = value.filter(is_named) {
        (inside, start) = (Some(last), path.steps().len());
    }
    let origin = model.node_at(path);
    let json = origin.as_ref().map_or(Json::Null, |origin| json!(origin));
    let is_node = |part: &Value| part.peek::<Ref<Call>>().is_some();
    if let Some(port) = port.filter(|_| !inside.as_ref().is_some_and(is_node)) {
        return (port, json);
    }
    let head = match (&origin, &inside) {
        (Some(origin), _) => origin.to_string(),
        (None, Some(part)) => part_name(part),
        (None, None) => "the model".to_owned(),
    };
    let field = field(inside.as_ref(), &path.steps()[start..]);
    (format!("{head}{field}"), json)
}

fn is_named(value: &Value) -> bool {
    value.as_object().is_some_and(|object| {
        object.isa::<Call>()
            || object.isa::<Graph>()
            || object.isa::<Function>()
            || object.isa::<GraphInput>()
    })
}

fn part_name(part: &Value) -> String {
    if let Some(graph) = part.peek::<Ref<Graph>>() {
        return format!("graph '{}'", graph.name);
    }
    if let Some(function) = part.peek::<Ref<Function>>() {
        return format!("function '{}'", function.name);
    }
    "the model".to_owned()
}

/// The words for a field of a named part.
fn field(part: Option<&Value>, steps: &[AccessStep]) -> String {
    let [AccessStep::Attr(name), rest @ ..] = steps else {
        return String::new();
    };
    let call = part.and_then(|part| part.peek::<Ref<Call>>());
    match (name.as_str(), rest.first()) {
        ("op" | "domain" | "callee", _) => ": operator".to_owned(),
        ("version", _) => ": version of the operator".to_owned(),
        ("outputs", _) => ": number of outputs".to_owned(),
        ("attrs", Some(AccessStep::MapItem(key) | AccessStep::MapItemMissing(key))) => {
            let key = key.peek::<Str>().map_or("?", |key| key.as_str());
            match rest.get(1) {
                Some(AccessStep::ArrayItem(index)) => format!(": attribute '{key}'[{index}]"),
                _ => format!(": attribute '{key}'"),
            }
        }
        ("inputs", Some(AccessStep::ArrayItem(index) | AccessStep::ArrayItemMissing(index))) => {
            let names = call.map(|call| &call.input_names);
            match names.and_then(|names| names.get(*index)) {
                Some(name) if !name.is_empty() => format!(": input {index} '{name}'"),
                _ => format!(": input {index}"),
            }
        }
        ("results", Some(AccessStep::ArrayItem(index))) => format!(": output {index}"),
        ("params", Some(AccessStep::ArrayItem(index))) => format!(": input {index}"),
        ("result_types", Some(AccessStep::ArrayItem(index))) => {
            format!(": type of output {index}")
        }
        ("ty", _) => ": type".to_owned(),
        (name, _) => format!(": {}", name.replace('_', " ")),
    }
}

/// A part of an IR file: its text, up to a number of lines.
fn value_text(part: &Value) -> String {
    let options = TextOptions::default()
        .tensors(TensorText::Abbreviated)
        .placeholders(true);
    let text = match part.view() {
        ValueRef::Object(_) | ValueRef::Array(_) => text_of(part, &options).ok(),
        _ => None,
    };
    let text = text.unwrap_or_else(|| format!("{part:?}"));
    let mut lines: Vec<&str> = text.trim_end().lines().collect();
    if lines.len() > LINES {
        lines.truncate(LINES - 1);
        lines.push("...");
    }
    lines.join("\n")
}
