//! `isoform bisect`: finds the pass and the functions that make a program fail a check.

use isoform_ir::transform::PassContextRef;
use std::io;
use std::process::{Command, ExitStatus, Stdio};

use isoform::errors::ErrorKind;
use isoform::{Error, Obj, Ref, Result};
use isoform_ir::transform::instruments::changes_text;
use serde_json::json;

use super::{failure_of, note_skipped, options_of, pipeline_of, program_of};
use crate::args::{BisectArgs, Common, ConvertArgs, TextArgs};
use crate::convert::encode;
use crate::input::{Form, Input, IrFile, load_complete};
use crate::model_args::ModelArgs;
use crate::output::Output;
use crate::pages::commands::page_of_bisection;
use crate::pages::file::title_of;
use crate::scratch::Folder;

/// The command of the user, which gets a file with the program.
pub(crate) struct Check<'a> {
    command: &'a [std::ffi::OsString],
    folder: Folder,
    form: Form,
}

impl<'a> Check<'a> {
    /// A check by a command, whose files have this form.
    pub(crate) fn new(command: &'a [std::ffi::OsString], form: Form) -> Result<Self> {
        let folder = Folder::new()?;
        Ok(Check {
            command,
            folder,
            form,
        })
    }

    pub(crate) fn accepts(&self, program: &Ref<Obj>) -> Result<bool> {
        let extension = match self.form {
            Form::Json => "json",
            Form::Text => "iso",
            Form::Binary => "isob",
            Form::Mlir => "mlir",
        };
        let target = self.folder.path().join(format!("program.{extension}"));
        let args = ConvertArgs {
            source: "-".into(),
            target: target.clone(),
            to: Some(self.form.into()),
            force: true,
            text: TextArgs::default(),
            model: ModelArgs::default(),
        };
        let file = Input::Value(IrFile {
            value: program.into(),
            form: self.form,
            tensors: None,
            metadata: None,
            files: Vec::new(),
            alone: None,
        });
        std::fs::write(&target, encode(&args, &file, self.form)?)?;
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).arg(&target);
        // The output of the command would be mixed with the result.
        let status = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .map_err(|error| {
                let name = self.command[0].display();
                Error::value_error(format!("the command {name} does not start: {error}"))
            })?;
        self.verdict(status)
    }

    /// True for a good program, false for a bad program. Any other status, or a signal,
    /// is an error, because the check did not judge the program.
    fn verdict(&self, status: ExitStatus) -> Result<bool> {
        match status.code() {
            Some(0) => return Ok(true),
            Some(1..=125) => return Ok(false),
            _ => {}
        }
        let reason = match status.code() {
            Some(126 | 127) => ", with which a shell reports a command that does not start",
            Some(128..) => ", with which a shell reports a signal",
            _ => "",
        };
        let name = self.command[0].display();
        let message = format!(
            "the command {name} ended with {status}{reason}; a check ends with status 0 for a good \
             program, and with 1 to 125 for a bad one"
        );
        Err(Error::new(ErrorKind::Runtime, message))
    }
}

pub(crate) fn bisect(
    args: &BisectArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let page = match args.page.check(args.force, &[&args.file], output) {
        Ok(page) => page,
        Err((file, failure)) => return output.failed_file(file, &failure),
    };
    let pipeline = match pipeline_of(&args.pipeline) {
        Ok(pipeline) => pipeline,
        Err(failure) => return output.failed_file("PIPELINE".as_ref(), &failure),
    };
    let loaded = load_complete(&args.file, common).and_then(|input| {
        let form = match &input {
            Input::Value(file) => file.form,
            Input::Model(_) => Form::Json,
        };
        Ok((program_of(&input)?, form))
    });
    let (root, form) = match loaded {
        Ok(loaded) => loaded,
        Err(failure) => return output.failed_file(&args.file, &failure),
    };
    note_skipped(&pipeline, &args.passes, output);
    let result = Check::new(&args.command, form).and_then(|check| {
        let pipeline = pipeline.upcast();
        let ctx = options_of(&args.passes)?.make()?;
        let bisection = ctx.within(|| {
            isoform_ir::transform::bisect(&pipeline, &root, |program| check.accepts(program))
        })?;
        let changes = changes_text(&bisection.before, &bisection.after)?;
        Ok((bisection, changes))
    });
    let (bisection, changes) = match result {
        Ok(parts) => parts,
        Err(error) => return output.failed_file(&args.file, &failure_of(&error)),
    };
    if let Some(page) = page {
        let title = format!("{}: {}", title_of(&args.file), args.pipeline.trim());
        page.write(&page_of_bisection(title, &bisection, &changes), output)?;
        if args.page.is_output() {
            return Ok(());
        }
    }
    let name = &*bisection.pass.info.name;
    if output.json {
        return output.json_line(&json!({
            "pass": name,
            "position": bisection.position,
            "functions": bisection.functions,
            "checks": bisection.checks,
            "changes": changes,
        }));
    }
    output.line(format_args!(
        "the check fails after pass '{name}', which is number {}",
        bisection.position + 1
    ))?;
    if !bisection.functions.is_empty() {
        let functions = bisection.functions.join(", ");
        output.line(format_args!(
            "the changes of these functions suffice: {functions}"
        ))?;
    }
    output.bytes(changes.as_bytes())
}
