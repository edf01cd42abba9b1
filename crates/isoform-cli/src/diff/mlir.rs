//! Differences of programs of MLIR, told operation by operation.

use std::io;

use isoform::compare::Difference;
use isoform::{Ref, Value, structural_equal};
use isoform_mlir::{Level, OperationChange, OperationChangeKind, Program, Report};
use isoform_onnx::summary::{Line, Role};

use super::args::DiffArgs;
use super::{json, page, print as print_lines};
use crate::output::{DIFFERENT, Output, counted};
use crate::pages::page_of_mlir;
use crate::pages::pictures::value_changes_picture;

/// Prints how two programs differ.
pub(super) fn print(
    args: &DiffArgs,
    difference: &Difference,
    report: &Report,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if !difference.is_empty() {
        output.status = DIFFERENT;
    }
    if page::is_wanted(args, output) {
        let [left, right] = &args.names();
        let page = page_of_mlir(difference, report, [left, right]);
        if page::write(args, page, output)? {
            return Ok(());
        }
    }
    if output.quiet {
        return Ok(());
    }
    if let Some(format) = args.picture() {
        return format.write(value_changes_picture(difference), output);
    }
    if output.json {
        return output.json_line(&json::of_mlir(args, difference, report));
    }
    if !difference.is_empty() && is_order_alone(difference) {
        let text =
            "different: the order of private symbols alone, which --unordered-symbols ignores";
        let line = Line {
            role: Role::Heading,
            text: text.to_owned(),
        };
        return print_lines(vec![line], false, output);
    }
    let text = if difference.is_empty() {
        "equal".to_owned()
    } else {
        format!("different: {}", report.summary())
    };
    let mut lines = vec![Line {
        role: Role::Heading,
        text,
    }];
    if !args.stat {
        let shown = args.most().unwrap_or(usize::MAX).min(report.changes.len());
        lines.extend(report.changes[..shown].iter().flat_map(lines_of));
        if shown < report.changes.len() {
            let more = counted(report.changes.len() - shown, "more change");
            lines.push(Line {
                role: Role::Row,
                text: format!("... and {more}; --max 0 shows all"),
            });
        }
    }
    print_lines(lines, difference.is_empty(), output)
}

/// True if the programs differ in the order of private symbols alone.
fn is_order_alone(difference: &Difference) -> bool {
    let level = Level::strict().symbol_order(false);
    let form = |value: &Value| {
        let program = value.peek::<Ref<Program>>()?;
        level.apply(program).ok()
    };
    let (Some(left), Some(right)) = (form(difference.left()), form(difference.right())) else {
        return false;
    };
    structural_equal(left, right).unwrap_or(false)
}

/// The sentence about a change, and the operation on both sides.
fn lines_of(change: &OperationChange) -> Vec<Line> {
    let role = match change.kind {
        OperationChangeKind::Added => Role::Right,
        OperationChangeKind::Removed => Role::Left,
        _ => Role::Changed,
    };
    let line = |role, text| Line { role, text };
    let mut lines = vec![line(role, change.text.clone())];
    let [left, right] = &change.lines;
    if !change.is_complete {
        let sides = [("-", Role::Left, left), ("+", Role::Right, right)];
        let sides = sides.into_iter().filter_map(|(sign, role, text)| {
            Some(line(role, format!("    {sign} {}", text.as_ref()?)))
        });
        lines.extend(sides);
    }
    lines
}
