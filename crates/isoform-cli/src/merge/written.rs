//! The merged file, in the format of its name, or else in that of the left one.

use std::path::Path;

use isoform::{Array, Node, Ref, Value};
use isoform_onnx::ir::Program;

use super::args::MergeArgs;
use crate::args::ConvertArgs;
use crate::convert::{check_data, encode, program_of_model};
use crate::input::{Input, IrFile, TargetForm, is_dash, message};
use crate::optimize::{keeping_layout, write_model};
use crate::output::{Failure, Output};
use crate::target::{check_target, write};

/// Writes a merged value to a target.
pub(crate) fn save(
    args: &MergeArgs,
    target: &Path,
    left: &Input,
    value: Value,
    output: &mut Output<'_, '_>,
) -> Result<TargetForm, Failure> {
    let mut convert = ConvertArgs {
        source: args.left.clone(),
        target: target.to_owned(),
        to: None,
        force: args.force,
        text: args.text.clone(),
        model: args.model.clone(),
    };
    let failed = |error: isoform::Error| message(target, &error);
    let (merged, own) = match left {
        Input::Model(model) => {
            let program = value.extract().map_err(failed)?;
            convert.model = keeping_layout(model, target, false, &args.model);
            (Input::Model(model.with_program(program)), TargetForm::Onnx)
        }
        Input::Value(file) => {
            let merged = IrFile {
                value,
                form: file.form,
                tensors: None,
                metadata: file.metadata.clone(),
                files: Vec::new(),
                alone: None,
            };
            (Input::Value(merged), TargetForm::from(file.form))
        }
    };
    let form = TargetForm::of_name(target).unwrap_or(own);
    let Some(value_form) = form.form() else {
        let program = program_of_model(&merged).map_err(failed)?;
        check_target(target, args.force)?;
        check_data(&convert)?;
        write_model(&program, target, &convert.model, output)?;
        return Ok(form);
    };
    let bytes = encode(&convert, &without_io_names(merged), value_form).map_err(failed)?;
    if is_dash(target) {
        output.bytes(&bytes).map_err(|error| error.to_string())?;
    } else {
        write(&convert, &bytes)?;
    }
    Ok(form)
}

/// A model as `isoform convert` reads it: the names of inputs and outputs are not compared.
fn without_io_names(merged: Input) -> Input {
    match merged {
        Input::Model(model) => {
            let program = Ref::new(Program {
                io_names: Array::new(),
                ..model.program().clone_fields()
            });
            Input::Model(model.with_program(program))
        }
        merged => merged,
    }
}
