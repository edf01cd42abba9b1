//! `isoform mlir`: questions about programs of MLIR alone.

pub(crate) mod args;
mod bisect;

use std::io;
use std::path::Path;

use isoform_mlir::{DumpMoment, PassDump, PassHistory, PassStep, UnitChange, read_dumps_so_far};
use serde_json::{Value as Json, json};

use crate::input::{is_dash, message, standard_input};
use crate::output::{Failure, Output, counted, printable};
use args::{DumpArgs, MlirArgs, MlirCommand};

pub(crate) fn run(args: &MlirArgs, output: &mut Output<'_, '_>) -> io::Result<()> {
    match &args.command {
        MlirCommand::Passes(args) => passes(args, output),
        MlirCommand::Bisect(args) => bisect::bisect(args, output),
    }
}

fn passes(args: &DumpArgs, output: &mut Output<'_, '_>) -> io::Result<()> {
    let read = bytes_of(&args.file).and_then(|bytes| {
        let failed = |error: &isoform::Error| message(&args.file, error);
        let (dumps, mistake) = read_dumps_so_far(bytes);
        if let (true, Some(mistake)) = (dumps.is_empty(), &mistake) {
            return Err(failed(mistake));
        }
        let history = PassHistory::new(&dumps).map_err(|error| failed(&error))?;
        Ok((dumps, history, mistake.as_ref().map(failed)))
    });
    let (dumps, history, mistake) = match read {
        Ok(read) => read,
        Err(failure) => return output.failed_file(&args.file, &failure),
    };
    if let Some(mistake) = mistake {
        // The dumps before it tell what happened until then.
        output.failed_file(&args.file, &mistake)?;
    }
    if let Some(name) = &args.origin {
        return origins(args, name, &dumps, &history, output);
    }
    if output.json {
        for step in &history.steps {
            output.json_line(&step_json(step))?;
        }
        return Ok(());
    }
    let names: Vec<String> = history.steps.iter().map(name_of).collect();
    let widest = names.iter().map(|name| name.chars().count()).max();
    let width = widest.unwrap_or(0).min(40);
    for (number, (step, name)) in history.steps.iter().zip(&names).enumerate() {
        let style = match (step.is_first, step.changes.is_empty()) {
            (false, false) => output.style.ty,
            _ => output.style.faint,
        };
        let number = number + 1;
        let summary = step.summary();
        let summary = printable(&summary);
        let name = printable(name);
        output.line(format_args!(
            "{number:>3} {name:width$}  {style}{summary}{style:#}"
        ))?;
        if args.changes {
            tell_changes(step, args.max, output)?;
        }
    }
    let idle = history.idle().count();
    if idle > 0 && !output.quiet {
        let passes = counted(history.steps.len(), "dump");
        output.faint(&format!("{idle} of {passes} show no change"))?;
    }
    Ok(())
}

fn bytes_of(file: &Path) -> Result<Vec<u8>, Failure> {
    if is_dash(file) {
        return standard_input();
    }
    std::fs::read(file).map_err(|error| error.to_string().into())
}

/// The name of a step: that of its pass, and the moment if it is not after the pass.
fn name_of(step: &PassStep) -> String {
    let name = match (step.argument.as_str(), step.pass.as_str()) {
        ("", "") => return "(no pass)".to_owned(),
        ("", pass) => pass,
        (argument, _) => argument,
    };
    match step.moment {
        DumpMoment::Before => format!("before {name}"),
        DumpMoment::Failed => format!("{name} (failed)"),
        DumpMoment::After | DumpMoment::Text => name.to_owned(),
    }
}

fn tell_changes(step: &PassStep, max: usize, output: &mut Output<'_, '_>) -> io::Result<()> {
    for change in &step.changes {
        let UnitChange::Changed(_, report) = change else {
            continue;
        };
        let most = if max == 0 { usize::MAX } else { max };
        for change in report.changes.iter().take(most) {
            output.line(format_args!("      {}", printable(&change.text)))?;
            if change.is_complete {
                continue;
            }
            let [left, right] = &change.lines;
            let sides = [
                ("-", output.style.left, left),
                ("+", output.style.right, right),
            ];
            for (sign, style, line) in sides {
                if let Some(line) = line {
                    let line = printable(line);
                    output.line(format_args!("        {style}{sign} {line}{style:#}"))?;
                }
            }
        }
        let more = report.changes.len().saturating_sub(most);
        if more > 0 {
            let more = counted(more, "more change");
            output.faint(&format!("      ... and {more}; --max 0 shows all"))?;
        }
    }
    Ok(())
}

fn origins(
    args: &DumpArgs,
    name: &str,
    dumps: &[PassDump],
    history: &PassHistory,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let found = match PassHistory::origins(dumps, name) {
        Ok(found) => found,
        Err(error) => return output.failed_file(&args.file, &message(&args.file, &error)),
    };
    if found.is_empty() {
        let failure = format!(
            "the last dumps have no operation '{name}'; 'isoform summary' lists the operations of a module"
        );
        return output.failed_file(&args.file, &failure.into());
    }
    let step = |at: usize| history.steps.get(at);
    for operation in &found {
        if output.json {
            let place = |at: usize| step(at).map_or(Json::Null, place_json);
            let changed = operation.changed.iter().map(|&at| place(at));
            output.json_line(&json!({
                "symbol": operation.symbol,
                "text": operation.text,
                "origin": place(operation.origin),
                "changed": changed.collect::<Json>(),
            }))?;
            continue;
        }
        let text = printable(&operation.text);
        output.line(format_args!("@{}: {text}", printable(&operation.symbol)))?;
        let told = |at: usize| {
            step(at).map_or_else(String::new, |step| format!("{} {}", at + 1, name_of(step)))
        };
        let origin = match step(operation.origin) {
            Some(first) if first.is_first => "in the first dump".to_owned(),
            _ => format!("made by {}", told(operation.origin)),
        };
        let changed: Vec<String> = operation.changed.iter().map(|&at| told(at)).collect();
        let changed = if changed.is_empty() {
            String::new()
        } else {
            format!(", changed by {}", changed.join(", "))
        };
        output.faint(&printable(&format!("    {origin}{changed}")))?;
    }
    Ok(())
}

fn place_json(step: &PassStep) -> Json {
    json!({"pass": step.pass, "argument": step.argument, "line": step.line})
}

fn step_json(step: &PassStep) -> Json {
    let changes = step.changes.iter().map(|change| {
        let (symbol, kind, operations) = match change {
            UnitChange::Added(symbol) => (symbol, "added", Vec::new()),
            UnitChange::Removed(symbol) => (symbol, "removed", Vec::new()),
            UnitChange::Changed(symbol, report) => {
                let texts = report.changes.iter().map(|change| change.text.as_str());
                (symbol, "changed", texts.collect())
            }
        };
        json!({"symbol": symbol, "kind": kind, "operations": operations})
    });
    let mut object = place_json(step);
    object["moment"] = json!(match step.moment {
        DumpMoment::Before => "before",
        DumpMoment::After => "after",
        DumpMoment::Failed => "failed",
        DumpMoment::Text => "text",
    });
    object["first"] = json!(step.is_first);
    object["summary"] = json!(step.summary());
    object["changes"] = changes.collect();
    object
}
