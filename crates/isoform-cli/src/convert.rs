//! `isoform convert`: converts a file to another format.

use std::io;

use isoform::files::{JsonOptions, to_bytes};
use isoform::text::TensorText;
use isoform::{Error, Map, Ref, Str, Value};
use isoform_onnx::{SaveOptions, ir::Program};
use serde_json::json;

use crate::args::{Common, ConvertArgs};
use crate::input::{Form, Input, TargetForm, is_dash, load_complete, message};
use crate::model_args::ModelArgs;
use crate::optimize::write_model as write_program;
use crate::output::{Failure, Output};
use crate::show::text_of;
use crate::target::{check_target, write};

pub(crate) fn run(
    args: &ConvertArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    // Fail early, before anything large is read.
    let form = match form_of_target(args, common).and_then(|form| {
        if matches!(form.form(), None | Some(Form::Binary)) {
            output.check_binary(&args.target)?;
        }
        check_target(&args.target, args.force)?;
        Ok(form)
    }) {
        Ok(form) => form,
        Err(failure) => return output.failed_file(&args.target, &failure),
    };
    let input = match load_complete(&args.source, common) {
        Ok(input) => input,
        Err(failure) => return output.failed_file(&args.source, &failure),
    };
    let Some(value_form) = form.form() else {
        return write_model(args, &input, output);
    };
    let bytes = match encode(args, &input, value_form) {
        Ok(bytes) => bytes,
        Err(error) => {
            let failure = message(&args.source, &error);
            return output.failed_file(&args.source, &failure);
        }
    };
    if is_dash(&args.target) {
        return output.bytes(&bytes);
    }
    if let Err(failure) = write(args, &bytes) {
        return output.failed_file(&args.target, &failure);
    }
    if !output.json {
        return Ok(());
    }
    output.json_line(&json!({
        "file": args.source.to_string_lossy(),
        "to": args.target.to_string_lossy(),
        "form": form.key(),
        "bytes": bytes.len(),
    }))
}

/// The format of the target.
pub(crate) fn form_of_target(args: &ConvertArgs, common: &Common) -> Result<TargetForm, Failure> {
    if common.json && is_dash(&args.target) {
        return Err("--json writes its report to standard output, which is also the target; for a JSON graph, use --to json".into());
    }
    match args.to.or_else(|| TargetForm::of_name(&args.target)) {
        Some(form) => Ok(form),
        None => Err(
            "the name does not determine the format (.json, .iso, .isob, .mlir or .onnx); use --to json, text, binary, mlir or onnx"
                .into(),
        ),
    }
}

/// Writes a program as an ONNX model, and reports the result.
pub(crate) fn write_model(
    args: &ConvertArgs,
    input: &Input,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let program = match program_of_model(input) {
        Ok(program) => program,
        Err(error) => {
            let failure = message(&args.source, &error);
            return output.failed_file(&args.source, &failure);
        }
    };
    let saved = check_target(&args.target, args.force)
        .and_then(|()| check_data(args))
        .and_then(|()| write_program(&program, &args.target, &args.model, output));
    let saved = match saved {
        Ok(saved) => saved,
        Err(failure) => return output.failed_file(&args.target, &failure),
    };
    if !output.json {
        return Ok(());
    }
    let names = saved.external_files.iter();
    output.json_line(&json!({
        "file": args.source.to_string_lossy(),
        "to": args.target.to_string_lossy(),
        "form": TargetForm::Onnx.key(),
        "bytes": saved.bytes,
        "external": names.map(|name| name.to_string_lossy()).collect::<Vec<_>>(),
    }))
}

impl ModelArgs {
    /// The options of the library.
    pub(crate) fn options(&self) -> SaveOptions {
        let mut options = SaveOptions::default()
            .save_as_external_data(self.external_data)
            .all_tensors_to_one_file(!self.file_per_tensor)
            .convert_attribute(self.convert_attribute)
            .check(!self.no_check);
        if let Some(location) = &self.location {
            options = options.location(location);
        }
        match self.size_threshold {
            Some(bytes) => options.size_threshold(bytes),
            None => options,
        }
    }
}

/// The program of a model, or of a file that holds one.
pub(crate) fn program_of_model(input: &Input) -> isoform::Result<Ref<Program>> {
    let file = match input {
        Input::Model(model) => return Ok(model.program().clone()),
        Input::Value(file) => file,
    };
    file.value.extract::<Ref<Program>>().map_err(|_| {
        Error::type_error(format!(
            "only the program of a model can be written as an ONNX model: expected onnx.Program, got {}",
            file.value.type_name()
        ))
    })
}

/// The program of a file of MLIR.
fn mlir_program(value: &Value) -> isoform::Result<Ref<isoform_mlir::Program>> {
    value.extract::<Ref<isoform_mlir::Program>>().map_err(|_| {
        Error::type_error(format!(
            "only a program of MLIR can be written as MLIR: expected mlir.Program, got {}",
            value.type_name()
        ))
    })
}

/// Refuses to replace a file of external data unasked.
pub(crate) fn check_data(args: &ConvertArgs) -> Result<(), Failure> {
    let model = &args.model;
    if is_dash(&args.target) || !model.external_data || model.file_per_tensor || args.force {
        return Ok(());
    }
    let target = match (&model.location, args.target.file_name()) {
        (Some(location), _) => args.target.with_file_name(location),
        (None, Some(name)) => {
            let mut name = name.to_owned();
            name.push(".data");
            args.target.with_file_name(name)
        }
        (None, None) => return Ok(()),
    };
    if target.exists() {
        Err(format!("{} exists; --force replaces it", target.display()).into())
    } else {
        Ok(())
    }
}

/// The bytes of a file.
pub(crate) fn encode(args: &ConvertArgs, input: &Input, form: Form) -> isoform::Result<Vec<u8>> {
    let value = input.to_value();
    match form {
        Form::Binary => to_bytes(&value),
        Form::Mlir => Ok(isoform_mlir::write(&mlir_program(&value)?)?.into_bytes()),
        Form::Text => {
            let tensors = if args.text.full_tensors {
                TensorText::Inline
            } else {
                TensorText::Section
            };
            let options = args.text.options().tensors(tensors);
            Ok(text_of(&value, &options)?.into_bytes())
        }
        Form::Json => {
            let kept = match input {
                Input::Value(file) => file.metadata.clone(),
                Input::Model(_) => None,
            };
            let metadata = kept.unwrap_or_else(|| {
                let version = ("isoform_version".into(), env!("CARGO_PKG_VERSION").into());
                Value::from(Map::<Str, Str>::from_iter([version]))
            });
            Ok(JsonOptions::default()
                .metadata(metadata)
                .to_json_graph(&value)?
                .into_bytes())
        }
    }
}
