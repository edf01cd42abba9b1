//! `isoform run`: applies passes to a program.

use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use std::io;

use indicatif::ProgressBar;
use isoform::text::TensorText;
use isoform::{Obj, Ref, Result};
use isoform_ir::transform::instruments::timing;
use isoform_ir::transform::{Instrument, PassInfo, PassInstrument, Sequential};
use isoform_onnx::ir::Program;
use isoform_onnx::layout;
use isoform_page::Page;
use serde_json::json;

use super::changes::{Changes, PassRun, report};
use super::{failure_of, note_skipped, options_of, pipeline_of, program_of};
use crate::args::{Common, ConvertArgs, RunArgs, TextArgs};
use crate::convert::{encode, form_of_target, write_model};
use crate::input::{Form, Input, IrFile, TargetForm, is_dash, load_complete};
use crate::model_args::ModelArgs;
use crate::output::{Output, printable};
use crate::pages::commands::page_of_run;
use crate::pages::file::title_of;
use crate::progress::bar_of;
use crate::show::{print_result, text_of};
use crate::target::{check_target, write};

/// Shows the running pass of a long pipeline.
struct Progress(ProgressBar);

impl Instrument for Progress {
    fn before(&self, _root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        self.0.set_message(info.name.to_string());
        Ok(())
    }

    fn after(&self, _root: &Ref<Obj>, _info: &Ref<PassInfo>) -> Result<()> {
        self.0.inc(1);
        Ok(())
    }
}

/// The number of passes, including passes of inner sequences.
fn count(pipeline: &Ref<Sequential>) -> usize {
    let mut found = 0;
    let mut stack = vec![pipeline.clone()];
    while let Some(sequence) = stack.pop() {
        found += 1;
        for pass in sequence.passes.iter() {
            match pass.downcast_ref::<Sequential>() {
                Some(inner) => stack.push(inner.clone()),
                None => found += 1,
            }
        }
    }
    found
}

/// The results of a run besides the program.
struct Report {
    program: Ref<Obj>,
    /// The changes of each pass, if they were observed.
    passes: Vec<PassRun>,
    times: String,
}

fn apply(
    args: &RunArgs,
    pipeline: &Ref<Sequential>,
    root: &Ref<Obj>,
    shows_progress: bool,
) -> Result<Report> {
    let changes = Changes::default();
    let mut options = options_of(&args.passes)?;
    if let Some(folder) = &args.reproducer {
        options = options.config("transform.reproducer", &*folder.to_string_lossy());
    }
    if args.changes || args.page.html.is_some() {
        options = changes.observe(options);
    }
    let clock = timing::timing();
    if args.timing {
        options = options.instrument(&clock);
    }
    let bar = bar_of(count(pipeline), shows_progress, "passes");
    if shows_progress {
        options = options.instrument(&PassInstrument::of(Progress(bar.clone())));
    }
    let mut times = String::new();
    let program = options.make()?.within(|| {
        let program = pipeline.run(root)?;
        if args.timing {
            times = timing::render(&clock)?;
        }
        Ok(program)
    });
    bar.finish_and_clear();
    Ok(Report {
        program: program?,
        passes: changes.take_runs(),
        times,
    })
}

pub(crate) fn run(args: &RunArgs, common: &Common, output: &mut Output<'_, '_>) -> io::Result<()> {
    let to_standard = is_dash(&args.output);
    let target = ConvertArgs {
        source: args.file.clone(),
        target: args.output.clone(),
        to: args.to.or(to_standard.then_some(TargetForm::Text)),
        force: args.force,
        text: TextArgs { ..args.text },
        model: ModelArgs::default(),
    };
    // Fail early, before anything large is read.
    let page = match args
        .page
        .check(args.force, &[&args.file, &args.output], output)
    {
        Ok(page) => page,
        Err((file, failure)) => return output.failed_file(file, &failure),
    };
    let form = if to_standard && !output.json {
        Ok(target.to.unwrap_or(TargetForm::Text))
    } else {
        form_of_target(&target, common)
            .and_then(|form| check_target(&target.target, target.force).map(|()| form))
    };
    let form = match form {
        Ok(form) => form,
        Err(failure) => return output.failed_file(&args.output, &failure),
    };
    let pipeline = match pipeline_of(&args.pipeline) {
        Ok(pipeline) => pipeline,
        Err(failure) => return output.failed_file("PIPELINE".as_ref(), &failure),
    };
    let input = match load_complete(&args.file, common) {
        Ok(input) => input,
        Err(failure) => return output.failed_file(&args.file, &failure),
    };
    note_skipped(&pipeline, &args.passes, output);
    let done = program_of(&input).and_then(|program| {
        apply(args, &pipeline, &program, output.shows_progress())
            .map_err(|error| failure_of(&error))
    });
    let done = match done {
        Ok(done) => done,
        Err(failure) => return output.failed_file(&args.file, &failure),
    };
    if args.timing {
        output.aside(&done.times);
    }
    if let Some(page) = page {
        page.write(&page_of(args, &input, &done), output)?;
    }
    if args.page.is_output() {
        // The line about a model would follow the page.
        output.quiet = true;
    } else if args.changes {
        let limit = args.limit.map(|lines| (lines, args.text.width));
        output.bytes(report(&done.passes, limit).as_bytes())?;
    }
    if to_standard && (args.changes || args.page.is_output()) {
        return Ok(());
    }
    finish(args, &target, form, input, done.program, output)
}

/// The page of what the passes did.
fn page_of(args: &RunArgs, input: &Input, done: &Report) -> Page {
    let nodes = |program: &Program| layout::list(program).node_count();
    let nodes = match (input, done.program.downcast_ref::<Program>()) {
        (Input::Model(before), Some(after)) => Some([nodes(before.program()), nodes(after)]),
        _ => None,
    };
    let title = format!("{}: {}", title_of(&args.file), args.pipeline.trim());
    page_of_run(title, &done.passes, nodes)
}

/// Writes or prints the result.
fn finish(
    args: &RunArgs,
    target: &ConvertArgs,
    target_form: TargetForm,
    input: Input,
    program: Ref<Obj>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    // Before and after, if it is a model.
    let models = match (&input, program.downcast_ref::<Program>()) {
        (Input::Model(before), Some(after)) => Some((before.clone(), after.clone())),
        _ => None,
    };
    let nodes = |program: &Program| layout::list(program).node_count();
    if let (Some((before, after)), true, None) = (&models, is_dash(&args.output), args.to) {
        let model = before.with_program(after.clone());
        return print_result(&model, nodes(before.program()), output);
    }
    let metadata = match input {
        Input::Value(file) => file.metadata,
        Input::Model(_) => None,
    };
    let form = target_form.form().unwrap_or(Form::Binary);
    let result = Input::Value(IrFile {
        tensors: None,
        value: program.into(),
        form,
        metadata,
        files: Vec::new(),
        alone: None,
    });
    let told = models.map(|(before, after)| {
        let (before, after) = (nodes(before.program()), nodes(&after));
        let name = args.output.display().to_string();
        format!("{}: {before} → {after} nodes", printable(&name))
    });
    if target_form == TargetForm::Onnx {
        write_model(target, &result, output)?;
        return tell(told, args, output);
    }
    let to_standard = is_dash(&args.output);
    let bytes = if to_standard && form == Form::Text {
        // For people, as `isoform show` prints it.
        let tensors = if args.text.full_tensors {
            TensorText::Inline
        } else {
            TensorText::Abbreviated
        };
        let options = args.text.options().tensors(tensors).placeholders(true);
        text_of(&result.to_value(), &options).map(String::into_bytes)
    } else {
        encode(target, &result, form)
    };
    let written = bytes.map_err(|error| failure_of(&error)).and_then(|bytes| {
        if to_standard {
            Ok(bytes)
        } else {
            write(target, &bytes).map(|()| bytes)
        }
    });
    match written {
        Err(failure) => output.failed_file(&args.output, &failure),
        Ok(bytes) if to_standard => output.bytes(&bytes),
        Ok(bytes) if output.json => output.json_line(&json!({
            "file": args.file.to_string_lossy(),
            "to": args.output.to_string_lossy(),
            "form": form.key(),
            "bytes": bytes.len(),
        })),
        Ok(_) => tell(told, args, output),
    }
}

/// Prints the line about a model that was written.
fn tell(line: Option<String>, args: &RunArgs, output: &mut Output<'_, '_>) -> io::Result<()> {
    match line {
        Some(line) if !output.json && !output.quiet && output.status == 0 => {
            if is_dash(&args.output) {
                output.aside(&format!("{line}\n"));
                return Ok(());
            }
            output.line(line)
        }
        _ => Ok(()),
    }
}
