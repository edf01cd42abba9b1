//! `isoform show`: prints a model as program text, or any other value as text.

mod json;
mod names;
mod rows;
mod shapes;
mod text;
mod value;

use std::io;

use indicatif::HumanBytes;
use isoform_onnx::{Counts, layout};
use serde_json::{Value, json};

use crate::args::{Common, ShowArgs};
use crate::input::{Input, load};
use crate::output::{Output, Palette, counted, printable};
use rows::Rows;
use shapes::Shapes;

pub(crate) use value::text_of;

pub(crate) fn run(args: &ShowArgs, common: &Common, output: &mut Output<'_, '_>) -> io::Result<()> {
    let input = load(&args.file, common).and_then(|input| args.fix.apply(&args.file, input));
    let model = match input {
        Ok(Input::Model(model)) => model,
        Ok(Input::Value(file)) => return value::run(args, &file, output),
        Err(failure) => return output.failed_file(&args.file, &failure),
    };
    let style = if output.json {
        Palette::default()
    } else {
        output.style
    };
    let program = model.program();
    let mut rows = Rows::new(program, layout::list(program), style);
    if args.shapes {
        rows.shapes = Some(Shapes::new(program));
    }
    let counts = model.counts();
    if output.json {
        let mut object = json::program(&mut rows, args);
        object.insert("file".to_owned(), json!(args.file.to_string_lossy()));
        object.insert("counts".to_owned(), counts_json(counts));
        return output.json_line(&Value::Object(object));
    }
    if !output.quiet {
        let file = args.file.display().to_string();
        output.faint(&format!("# {}: {}", printable(&file), counts_text(counts)))?;
    }
    text::print(&mut rows, args, output)
}

fn counts_text(counts: Counts) -> String {
    let mut parts = vec![
        counted(counts.nodes - counts.dropped.min(counts.nodes), "node"),
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

fn counts_json(counts: Counts) -> Value {
    json!({
        "nodes": counts.nodes,
        "dropped": counts.dropped,
        "initializers": counts.initializers,
        "functions": counts.functions,
        "bytes": counts.bytes,
        "training": counts.training,
    })
}
