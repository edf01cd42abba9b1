//! `isoform show`: prints a model as program text, or any other value as text.

mod canonical;
mod describe;
mod json;
pub(crate) mod labels;
pub(crate) mod names;
pub(crate) mod rows;
pub(crate) mod shapes;
mod tensors;
mod text;
mod value;

use std::io;

use indicatif::HumanBytes;
use isoform::Ref;
use isoform_onnx::ir::Program;
use isoform_onnx::{Counts, ExternalData, Model, layout};
use isoform_page::page::Section;
use isoform_page::{Page, Picture};
use serde_json::json;

use crate::args::{Common, ShowArgs};
use crate::input::alone::{self, Purpose};
use crate::input::{Input, load_with, message};
use crate::output::{Failure, Output, Palette, counted};
use crate::pages::commands::{ModelPage, page_of_model};
use crate::pages::file::title_of;
use crate::pages::pictures::{PictureFormat, model_picture, value_picture};
use labels::Naming;
use names::NameOptions;
use rows::Rows;
use shapes::Shapes;

pub(crate) use describe::Describer;
pub(crate) use tensors::metadata_text;
pub(crate) use value::{root_type, text_of};

pub(crate) fn run(args: &ShowArgs, common: &Common, output: &mut Output<'_, '_>) -> io::Result<()> {
    if args.page.is_output() && args.format.is_some() {
        let failure = "standard output gets --format; give the page a file";
        return output.failed_file("-".as_ref(), &failure.into());
    }
    let page = match args.page.check(args.force, &[&args.file], output) {
        Ok(page) => page,
        Err((file, failure)) => return output.failed_file(file, &failure),
    };
    let input = match read(args, common) {
        Ok(input) => input,
        Err(failure) => return output.failed_file(&args.file, &failure),
    };
    alone::tell(&[&input], Purpose::Show, &common.types, output);
    // The page first: a reader of the text may go away.
    if let Some(page) = page {
        match page_of(args, common, &input) {
            Ok(shown) => page.write(&shown, output)?,
            Err(failure) => return output.failed_file(&args.file, &failure),
        }
    }
    if !args.page.is_output()
        && let Some(failure) = print_input(args, common, &input, output)?
    {
        return output.failed_file(&args.file, &failure);
    }
    Ok(())
}

/// The page of the file, with a picture before the other sections. Files of tensors have
/// none.
fn page_of(args: &ShowArgs, common: &Common, input: &Input) -> Result<Page, Failure> {
    let mut page = page_without_picture(args, common, input)?;
    if matches!(input, Input::Value(file) if file.tensors.is_some()) {
        return Ok(page);
    }
    let picture = picture_of(args, input)?;
    page.sections.insert(0, Section::Picture(picture));
    Ok(page)
}

fn page_without_picture(args: &ShowArgs, common: &Common, input: &Input) -> Result<Page, Failure> {
    let title = title_of(&args.file);
    match input {
        Input::Model(model) => {
            let options = ModelPage {
                naming: args.naming(),
                contents: !common.architecture,
                names: args.names,
                shapes: args.shapes,
            };
            Ok(page_of_model(model, title, options))
        }
        Input::Value(file) => value::page(args, file, title),
    }
}

/// Prints the file; returns the reason if nothing was printed.
pub(crate) fn print(
    args: &ShowArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<Option<Failure>> {
    match read(args, common) {
        Ok(input) => print_input(args, common, &input, output),
        Err(failure) => Ok(Some(failure)),
    }
}

fn print_input(
    args: &ShowArgs,
    common: &Common,
    input: &Input,
    output: &mut Output<'_, '_>,
) -> io::Result<Option<Failure>> {
    if let Some(format) = args.format {
        return print_picture(args, input, format, output);
    }
    match input {
        Input::Model(model) => print_model(model, args, common, output).map(|()| None),
        Input::Value(file) => value::print(args, file, output),
    }
}

/// Prints the file as a picture; returns the reason if nothing was printed.
fn print_picture(
    args: &ShowArgs,
    input: &Input,
    format: PictureFormat,
    output: &mut Output<'_, '_>,
) -> io::Result<Option<Failure>> {
    if output.json {
        return Ok(Some("--json and --format exclude each other".into()));
    }
    match picture_of(args, input) {
        Ok(picture) => format.write(picture, output).map(|()| None),
        Err(failure) => Ok(Some(failure)),
    }
}

fn picture_of(args: &ShowArgs, input: &Input) -> Result<Picture, Failure> {
    let title = args.file.file_name().map(|name| name.to_string_lossy());
    let title = title.unwrap_or_default();
    let picture = match input {
        Input::Model(model) => model_picture(model.program(), &title),
        Input::Value(file) => match file.value.peek::<Ref<Program>>() {
            Some(program) => model_picture(program, &title),
            None => Ok(value_picture(&file.value, &title)),
        },
    };
    picture.map_err(|error| message(&args.file, &error))
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
        let counts = if args.canonical {
            // Equal programs have equal texts, so parts of the file that are no parts of the
            // program do not count.
            program_text(nodes, counts)
        } else {
            counts_text(nodes, counts)
        };
        output.faint(&format!("# {counts}"))
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
    let read = load_with(&args.file, common, external_data);
    let [read] = alone::settled([read], Purpose::Show);
    let input = read?;
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

fn program_text(nodes: usize, counts: Counts) -> String {
    let mut parts = vec![counted(nodes, "node")];
    if counts.functions > 0 {
        parts.push(counted(counts.functions, "function"));
    }
    parts.join(", ")
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
