//! `isoform passes`: lists the passes.

use std::collections::HashSet;
use std::io;

use isoform_ir::transform::{PassEntry, registered_passes};
use serde_json::{Value, json};

use super::failure_of;
use crate::input::register_types;
use crate::output::Output;

pub(crate) fn list(output: &mut Output<'_, '_>) -> io::Result<()> {
    // A program that has its own command registers its passes before those of the library.
    let own: HashSet<String> = names(registered_passes()).collect();
    if let Err(error) = register_types() {
        output.failure("passes".as_ref(), &failure_of(&error));
        return Ok(());
    }
    let mut entries = registered_passes();
    entries.sort_by_key(|entry| !own.contains(entry.name()));
    for entry in entries {
        if output.json {
            output.json_line(&as_json(&entry))?;
            continue;
        }
        let strong = output.style.strong;
        output.line(format_args!(
            "{strong}{}{strong:#}{}{}",
            entry.name(),
            options(&entry),
            conditions(&entry)
        ))?;
        for line in entry.doc().lines() {
            output.faint(&format!("    {}", line.trim()))?;
        }
    }
    Ok(())
}

fn names(entries: Vec<PassEntry>) -> impl Iterator<Item = String> {
    entries.into_iter().map(|entry| entry.name().to_owned())
}

/// The options in the notation of pipelines, with types: `{depth: int = 4}`.
fn options(entry: &PassEntry) -> String {
    if entry.options().is_empty() {
        return String::new();
    }
    let option = |option: &isoform::functions::Parameter| {
        let name = option.name().unwrap_or("_");
        let default = option.default().map(|value| format!(" = {value:?}"));
        format!("{name}: {}{}", option.schema(), default.unwrap_or_default())
    };
    let all: Vec<String> = entry.options().iter().map(option).collect();
    format!("{{{}}}", all.join(", "))
}

fn conditions(entry: &PassEntry) -> String {
    let Some(info) = entry.info() else {
        return String::new();
    };
    let required: Vec<&str> = info.required.iter().map(|name| &**name).collect();
    if required.is_empty() {
        format!("  (level {})", info.opt_level)
    } else {
        format!(
            "  (level {}, requires {})",
            info.opt_level,
            required.join(", ")
        )
    }
}

fn as_json(entry: &PassEntry) -> Value {
    let info = entry.info();
    let required: Vec<String> = info
        .iter()
        .flat_map(|info| info.required.iter().map(ToString::to_string))
        .collect();
    let options: Vec<Value> = entry
        .options()
        .iter()
        .map(|option| {
            json!({
                "name": option.name(),
                "type": option.schema().to_string(),
                "default": option.default().map(|value| format!("{value:?}")),
            })
        })
        .collect();
    json!({
        "name": entry.name(),
        "opt_level": info.map(|info| info.opt_level),
        "required": required,
        "doc": entry.doc(),
        "options": options,
    })
}
