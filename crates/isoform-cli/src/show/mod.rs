//! `isoform show`: prints a model as program text, or any other value as text.

mod canonical;
mod describe;
mod json;
pub(crate) mod labels;
pub(crate) mod names;
pub(crate) mod rows;
mod shapes;
mod tensors;
mod text;
mod value;

use std::io;

use indicatif::HumanBytes;
use isoform_onnx::{Counts, ExternalData, Model, layout};
use serde_json::json;

use crate::args::{Common, ShowArgs};
use crate::input::{Input, load_with, message};
use crate::output::{Failure, Output, Palette, counted};
use labels::Naming;
use names::NameOptions;
use rows::Rows;
use shapes::Shapes;

pub(crate) use describe::Describer;
pub(crate) use value::text_of;

pub(crate) fn run(args: &ShowArgs, common: &Common, output: &mut Output<'_, '_>) -> io::Result<()> {
    match print(args, common, output)? {
        Some(failure) => output.failed_file(&args.file, &failure),
        None => Ok(()),
    }
}

/// Prints the file; returns the reason if nothing was printed.
pub(crate) fn print(
    args: &ShowArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<Option<Failure>> {
    match read(args, common) {
        Ok(Input::Model(model)) => print_model(&model, args, common, output).map(|()| None),
        Ok(Input::Value(file)) => value::print(args, &file, output),
        Err(failure) => Ok(Some(failure)),
    }
}

fn print_model(
    model: &Model,
    args: &ShowArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let style = if output.json {
        Palette::default()
    } else {
        output.style
    };
    let program = model.program();
    let options = NameOptions {
        naming: args.naming(),
        contents: !common.architecture,
        checksums: true,
        style,
    };
    let mut rows = Rows::new(program, Some(model), layout::list(program), options);
    if args.shapes {
        rows.shapes = Some(Shapes::new(program));
    }
    let nodes = rows.listing.node_count();
    let counts = model.counts();
    if output.json {
        let mut object = json::program(&mut rows, args);
        object["file"] = json!(args.file.to_string_lossy());
        object["counts"] = json!(counts);
        object["counts"]["nodes"] = json!(nodes);
        return output.json_line(&object);
    }
    if !output.quiet {
        output.faint("# ONNX model")?;
    }
    text::print(&mut rows, args, output)?;
    if output.quiet {
        Ok(())
    } else {
        // The end is where a change of counts does not hide that the rest is the same.
        output.faint(&format!("# {}", counts_text(nodes, counts)))
    }
}

/// Prints the result of passes on a model, which had `before` nodes.
pub(crate) fn print_result(
    model: &Model,
    nodes_before: usize,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let options = NameOptions {
        naming: Naming::File,
        contents: true,
        checksums: true,
        style: output.style,
    };
    let program = model.program();
    let mut rows = Rows::new(program, Some(model), layout::list(program), options);
    let nodes = rows.listing.node_count();
    if !output.quiet {
        output.faint("# ONNX model")?;
    }
    text::print(&mut rows, &ShowArgs::default(), output)?;
    if output.quiet {
        Ok(())
    } else {
        output.faint(&format!("# {nodes_before} → {nodes} nodes"))
    }
}

impl ShowArgs {
    fn naming(&self) -> Naming {
        if self.canonical {
            Naming::Structure
        } else if self.numbers {
            Naming::Numbers
        } else {
            Naming::File
        }
    }
}

/// Reads the file. External data may be missing unless something is computed from it.
fn read(args: &ShowArgs, common: &Common) -> Result<Input, Failure> {
    let external_data = if common.architecture || args.skip_external_data {
        ExternalData::Skipped
    } else {
        ExternalData::IfPresent
    };
    let input = load_with(&args.file, common, external_data)?;
    let input = args.fix.apply(&args.file, input)?;
    match input {
        Input::Model(model) if args.shapes => {
            let model = model.complete();
            Ok(Input::Model(
                model.map_err(|error| message(&args.file, &error))?,
            ))
        }
        input => Ok(input),
    }
}

fn counts_text(nodes: usize, counts: Counts) -> String {
    let mut parts = vec![
        counted(nodes, "node"),
        counted(counts.initializers, "initializer"),
        format!("{} of constants", HumanBytes(counts.bytes)),
    ];
    if counts.functions > 0 {
        parts.push(counted(counts.functions, "function"));
    }
    if counts.dropped > 0 {
        let nodes = counted(counts.dropped, "node");
        parts.push(format!("{nodes} left out that no output needs"));
    }
    if counts.training > 0 {
        parts.push(format!(
            "{} left out",
            counted(counts.training, "training step")
        ));
    }
    parts.join(", ")
}
