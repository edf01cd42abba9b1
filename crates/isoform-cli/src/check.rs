//! `isoform check`: can files be read, and are texts in their canonical form?

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use isoform_onnx::ExternalData;
use serde_json::json;

use crate::args::{Common, ConvertArgs, TextArgs};
use crate::convert::encode;
use crate::input::{Form, Input, is_dash, is_packed, load_with, message};
use crate::model_args::ModelArgs;
use crate::output::{DIFFERENT, Failure, Output, TROUBLE, printable};
use crate::target::write;

/// Check that models and IR files can be read, for hooks and continuous integration.
///
/// Reads each file as the other commands do, without external data. With --canonical, a text
/// also has to be exactly as `isoform convert` writes it, so that only changes of the
/// program change lines; --fix rewrites other texts, which removes their comments.
#[derive(Args, Debug)]
#[command(after_help = CHECK_HELP)]
pub(crate) struct CheckArgs {
    /// The models or IR files to check; - is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Also check that texts are in their canonical form.
    #[arg(long)]
    pub(crate) canonical: bool,
    /// Rewrite texts that are not in their canonical form.
    #[arg(long)]
    pub(crate) fix: bool,
    #[command(flatten)]
    pub(crate) text: TextArgs,
}

const CHECK_HELP: &str = "\
Exit status:
  0  all files are good
  1  a text is not canonical, or was rewritten
  2  a file could not be read or rewritten

JSON (--json), one object for each file:
  {\"file\": NAME, \"verdict\": \"good\", \"not canonical\" or \"rewritten\"}
  A verdict \"not canonical\" has \"line\": NUMBER, too, from which the text differs.
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform check models/*.onnx
  isoform check --canonical golden/*.iso
  isoform check --fix golden/*.iso";

/// The verdict on a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    /// A text in another form than the canonical one, from this line on.
    Other(usize),
    /// A text that was in another form.
    Fixed,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Other(_) => "not canonical",
            Verdict::Fixed => "rewritten",
        }
    }
}

pub(crate) fn run(
    args: &CheckArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    for file in &args.files {
        let verdict = match check(args, file, common) {
            Ok(verdict) => verdict,
            Err(failure) => {
                output.failed_file(file, &failure)?;
                continue;
            }
        };
        if verdict != Verdict::Good && output.status != TROUBLE {
            output.status = DIFFERENT;
        }
        let name = file.to_string_lossy();
        if output.json {
            let mut line = json!({"file": name, "verdict": verdict.name()});
            if let Verdict::Other(number) = verdict {
                line["line"] = number.into();
            }
            output.json_line(&line)?;
        } else if let Verdict::Other(number) = verdict {
            output.line(format_args!(
                "{}: not canonical from line {number} on; `isoform check --fix` rewrites it",
                printable(&name)
            ))?;
        } else if verdict != Verdict::Good {
            output.line(format_args!("{}: {}", printable(&name), verdict.name()))?;
        }
    }
    Ok(())
}

fn check(args: &CheckArgs, file: &Path, common: &Common) -> Result<Verdict, Failure> {
    // Whether other files are complete is a question about a folder, not about this file.
    let input = load_with(file, common, ExternalData::Skipped)?;
    let is_text = matches!(&input, Input::Value(value) if value.form == Form::Text && value.tensors.is_none());
    if !(args.canonical || args.fix) || !is_text || is_dash(file) || is_packed(file) {
        return Ok(Verdict::Good);
    }
    let convert = ConvertArgs {
        source: file.to_owned(),
        target: file.to_owned(),
        to: None,
        force: true,
        text: args.text.clone(),
        model: ModelArgs::default(),
    };
    let canonical = encode(&convert, &input, Form::Text).map_err(|error| message(file, &error))?;
    let text = std::fs::read(file).map_err(|error| error.to_string())?;
    if text == canonical {
        return Ok(Verdict::Good);
    }
    if !args.fix {
        return Ok(Verdict::Other(first_difference(&text, &canonical)));
    }
    write(&convert, &canonical)?;
    Ok(Verdict::Fixed)
}

/// The first line in which two texts differ.
fn first_difference(one: &[u8], other: &[u8]) -> usize {
    let same = one
        .iter()
        .zip(other)
        .take_while(|(one, other)| one == other);
    1 + same.filter(|(byte, _)| **byte == b'\n').count()
}
