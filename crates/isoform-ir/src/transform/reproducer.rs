//! Reproducers: files with a failed pass and its input, to repeat the failure.

use std::fs;
use std::path::Path;

use super::config::REPRODUCER;
use super::context::{DEFAULT_LEVEL, PassContext};
use super::nodes::Pass;
use super::pipeline::pipeline_text;
use super::registry;
use isoform::files::to_json_graph;
use isoform::text::to_text;
use isoform::{Error, Obj, Ref, Result};

/// Writes the input of a pass and the text of the pass, if the context asks for it; the
/// error of the pass with a note about the files.
pub(super) fn write(pass: &Ref<Pass>, root: &Ref<Obj>, ctx: &PassContext, error: Error) -> Error {
    let folder = if ctx.config.is_empty() {
        None
    } else {
        ctx.config.get(REPRODUCER)
    };
    let Some(folder) = folder.and_then(|folder| folder.as_str()) else {
        return error;
    };
    match written(pass, root, ctx, Path::new(folder)) {
        Ok(note) => error.noted(note),
        // The error of the pass is more important than a full disk.
        Err(failure) => error.noted(format!("no reproducer was written: {failure}")),
    }
}

fn written(pass: &Ref<Pass>, root: &Ref<Obj>, ctx: &PassContext, folder: &Path) -> Result<String> {
    let pipeline = pipeline_text(pass)?;
    let json = to_json_graph(root)?;
    fs::create_dir_all(folder)?;
    let name = file_name(&pass.info.name);
    // Older reproducers are kept.
    let path = |number: u32, end: &str| folder.join(format!("{name}-{number:03}.{end}"));
    let number = (0..)
        .find(|number| !path(*number, "json").exists())
        .unwrap_or_default();
    let (program, passes) = (path(number, "json"), path(number, "pipeline"));
    fs::write(&program, json)?;
    fs::write(&passes, format!("{pipeline}\n"))?;
    let condition = match registry::factory(&pass.info.name) {
        Ok(_) => String::new(),
        Err(_) => format!(", once a pass is registered as '{}'", pass.info.name),
    };
    Ok(format!(
        "to repeat it{condition}: {} {} {}",
        command(pass, ctx),
        quoted(&format!("@{}", passes.display())),
        quoted(&program.display().to_string())
    ))
}

/// The command for running the pass under the same conditions.
fn command(pass: &Ref<Pass>, ctx: &PassContext) -> String {
    let mut command = match registry::module_of(&pass.info.name) {
        Some(module) => format!("python -m isoform run --import {}", quoted(&module)),
        None => "isoform run".to_owned(),
    };
    // The pass may have been run directly, whatever its level.
    let level = ctx.opt_level.max(pass.info.opt_level);
    if level != DEFAULT_LEVEL {
        command.push_str(&format!(" --opt-level {level}"));
    }
    for (key, value) in ctx.config.iter() {
        if *key == *REPRODUCER {
            continue;
        }
        // Values without text are rare, and cannot be given on a command line.
        if let Ok(text) = to_text(value) {
            let setting = format!("{key}={}", text.trim_end());
            command.push_str(&format!(" --config {}", quoted(&setting)));
        }
    }
    command
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A name with replacements for the characters that files cannot have.
pub(super) fn file_name(name: &str) -> String {
    let replace = |c: char| match c {
        '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*' => '_',
        c if c.is_control() => '_',
        c => c,
    };
    name.chars().map(replace).collect()
}
