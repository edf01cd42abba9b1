//! `isoform diff --first`: where two files first differ, with both sides.

use std::io;
use std::path::Path;

use isoform::Value;
use isoform::compare::Mismatch;
use isoform::paths::{AccessPath, AccessStep};
use isoform::text::MismatchOptions;
use isoform::values::ValueRef;
use isoform_onnx::NodeOrigin;
use isoform_onnx::elements;
use serde_json::{Value as Json, json};

use super::args::DiffArgs;
use crate::args::Common;
use crate::input::Input;
use crate::output::{DIFFERENT, Output, printable};

/// Information about one of the two files.
struct Side<'a> {
    file: &'a Path,
    path: AccessPath,
    /// The text of the value at `path`; None if the place does not exist.
    value: Option<String>,
    origin: Option<NodeOrigin>,
}

/// Explains the first difference of two files; the inner result is the result of
/// writing.
pub(super) fn explain(
    args: &DiffArgs,
    common: &Common,
    left: &Input,
    right: &Input,
    output: &mut Output<'_, '_>,
) -> isoform::Result<io::Result<()>> {
    let options = common.compare_options();
    match options.explain_mismatch(left.to_value(), right.to_value())? {
        None => Ok(equal(args, output)),
        Some(mismatch) => {
            // The result is known, even if nobody reads the explanation.
            output.status = DIFFERENT;
            Ok(different(args, left, right, &mismatch, output))
        }
    }
}

/// Prints the verdict of `--first` about equal files.
fn equal(args: &DiffArgs, output: &mut Output<'_, '_>) -> io::Result<()> {
    if output.json {
        let side = |file: &Path| json!({"file": file.to_string_lossy()});
        return output.json_line(&json!({
            "equal": true,
            "reason": null,
            "left": side(&args.left),
            "right": side(&args.right),
        }));
    }
    let good = output.style.good;
    output.line(format_args!("{good}equal{good:#}"))
}

fn different(
    args: &DiffArgs,
    left: &Input,
    right: &Input,
    mismatch: &Mismatch,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if output.quiet {
        return Ok(());
    }
    let is_ir = left.model().is_none() && right.model().is_none();
    let rendered = is_ir.then(|| {
        let color = output.style.is_color && !output.json;
        let options = MismatchOptions::default().color(color);
        options.render(left.to_value(), right.to_value(), mismatch)
    });
    let (left_text, right_text) = mismatch_texts(mismatch);
    let origin = |input: &Input, path| input.model().and_then(|model| model.node_at(path));
    let left = Side {
        file: &args.left,
        path: mismatch.left_path.clone(),
        value: left_text,
        origin: origin(left, &mismatch.left_path),
    };
    let right = Side {
        file: &args.right,
        path: mismatch.right_path.clone(),
        value: right_text,
        origin: origin(right, &mismatch.right_path),
    };
    let reason = mismatch.reason.to_string();
    if output.json {
        return output.json_line(&json!({
            "equal": false,
            "reason": reason,
            "left": left.json(),
            "right": right.json(),
            "text": rendered,
        }));
    }
    let bad = output.style.bad;
    output.line(format_args!(
        "{bad}different{bad:#}: {}",
        printable(&reason)
    ))?;
    if let Some(rendered) = rendered {
        return underlined(&rendered, &left, &right, output);
    }
    let styles = (output.style.left, output.style.right);
    for (name, side, style) in [("left", left, styles.0), ("right", right, styles.1)] {
        let file = side.file.display().to_string();
        output.line(format_args!(
            "{style}{name:<5}{style:#}  {}",
            printable(&file)
        ))?;
        if let Some(origin) = &side.origin {
            output.line(format_args!("  in     {}", printable(&origin_text(origin))))?;
        }
        let value = side.value.as_deref().unwrap_or("nothing");
        output.line(format_args!(
            "  value  {style}{}{style:#}",
            printable(value)
        ))?;
        let path = path_text(&side.path);
        output.line(format_args!("  path   {}", printable(&path)))?;
    }
    Ok(())
}

/// Both sides as text, with the place underlined.
fn underlined(
    rendered: &str,
    left: &Side<'_>,
    right: &Side<'_>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let mut sides = [
        ("left ", left, output.style.left),
        ("right", right, output.style.right),
    ]
    .into_iter()
    .peekable();
    // The reason has already been printed.
    for line in rendered.lines().skip(1) {
        // Lines of the text itself are indented deeper.
        let heading = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '));
        match (heading, sides.peek()) {
            (Some(heading), Some((name, side, style))) => {
                let file = side.file.display().to_string();
                output.line(format_args!("{style}{name}{style:#}  {}", printable(&file)))?;
                let path = path_text(&side.path);
                output.line(format_args!("  path   {}", printable(&path)))?;
                // The path may be followed by the part of the value.
                let whole = side.path.to_string();
                if let Some((_, around)) = heading.split_once(&format!("{whole}, in ")) {
                    let around = tail(around.trim_end_matches(':'));
                    output.line(format_args!("  in     {}", printable(&around)))?;
                }
                sides.next();
            }
            _ => output.line(line)?,
        }
    }
    Ok(())
}

/// A path, with a long path abbreviated to its end.
fn tail(path: &str) -> String {
    match path.char_indices().nth_back(VALUE_CHARS) {
        Some((start, _)) => format!("...{}", &path[start..]),
        None => path.to_owned(),
    }
}

/// A node by its names, and the input concerned.
fn origin_text(origin: &NodeOrigin) -> String {
    match &origin.input {
        Some(input) if !input.is_empty() => format!("{origin}, input '{input}'"),
        _ => origin.to_string(),
    }
}

/// Both values as short text. For two tensors, only the first differing element matters,
/// and their types are the same then.
fn mismatch_texts(mismatch: &Mismatch) -> (Option<String>, Option<String>) {
    if let (Some(left), Some(right)) = (&mismatch.left, &mismatch.right)
        && let (ValueRef::Tensor(l), ValueRef::Tensor(r)) = (left.view(), right.view())
        && let Some(index) = elements::first_difference(l, r)
    {
        let at = elements::indices(l.shape(), index);
        let text = |tensor| {
            let ty = elements::tensor_type(tensor);
            format!("{} at {at:?} of {ty}", elements::element(tensor, index))
        };
        return (Some(text(l)), Some(text(r)));
    }
    let [left, right] = value_texts([mismatch.left.as_ref(), mismatch.right.as_ref()]);
    (left, right)
}

/// Both sides of a change as short texts that tell them apart.
pub(crate) fn value_texts(sides: [Option<&Value>; 2]) -> [Option<String>; 2] {
    match sides {
        [Some(left), Some(right)] => {
            elements::texts_that_differ([left, right], VALUE_CHARS, value_text).map(Some)
        }
        _ => sides.map(|side| side.map(value_text)),
    }
}

/// The whole of a string, in quotes; None for other values.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value.view() {
        ValueRef::Str(text) => Some(format!("{text:?}")),
        _ => None,
    }
}

pub(crate) fn value_text(value: &Value) -> String {
    match value.view() {
        ValueRef::Tensor(tensor) => {
            let ty = elements::tensor_type(tensor);
            format!("{ty} {}", elements::abbreviated(tensor, 8, 3))
        }
        ValueRef::Float(number) => elements::float(number),
        _ => {
            let [text, _] = elements::abbreviated_pair([&format!("{value:?}"), ""], VALUE_CHARS);
            text
        }
    }
}

/// The number of steps printed at the beginning and at the end of a longer path.
const PATH_ENDS: (usize, usize) = (4, 8);

/// A path for people, who find the place by the names of its node. A long path leads
/// from node to node, so only its ends are informative.
fn path_text(path: &AccessPath) -> String {
    let (first, last) = PATH_ENDS;
    let steps = path.steps();
    let written = |steps: &[AccessStep]| steps.iter().map(AccessStep::to_string).collect();
    if steps.len() <= first + last + 1 {
        let all: String = written(steps);
        return format!("<root>{all}");
    }
    let (start, rest) = steps.split_at(first);
    let (middle, end) = rest.split_at(rest.len() - last);
    let (start, end): (String, String) = (written(start), written(end));
    format!("<root>{start} ...{} steps... {end}", middle.len())
}

/// The number of characters of a value; the place makes up for the rest.
const VALUE_CHARS: usize = 160;

impl Side<'_> {
    fn json(&self) -> Json {
        let steps: String = self
            .path
            .steps()
            .iter()
            .map(AccessStep::to_string)
            .collect();
        json!({
            "file": self.file.to_string_lossy(),
            // Programs get the full path.
            "path": format!("<root>{steps}"),
            "value": self.value,
            "origin": self.origin,
        })
    }
}
