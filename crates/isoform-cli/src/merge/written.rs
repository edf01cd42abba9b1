//! The merged file, in the format of the left one.

use std::path::Path;

use isoform::{Ref, Value};
use isoform_onnx::ir::Program;

use super::args::MergeArgs;
use crate::args::ConvertArgs;
use crate::convert::{check_data, encode};
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
    let file = match left {
        Input::Model(model) => {
            let program: Ref<Program> = value.extract().map_err(|error| message(target, &error))?;
            convert.model = keeping_layout(model, target, false, &args.model);
            check_target(target, args.force)?;
            check_data(&convert)?;
            write_model(&program, target, &convert.model, output)?;
            return Ok(TargetForm::Onnx);
        }
        Input::Value(file) => file,
    };
    let form = file.form;
    let merged = Input::Value(IrFile {
        value,
        form,
        tensors: None,
        metadata: file.metadata.clone(),
        files: Vec::new(),
    });
    let bytes = encode(&convert, &merged, form).map_err(|error| message(target, &error))?;
    if is_dash(target) {
        output.bytes(&bytes).map_err(|error| error.to_string())?;
    } else {
        write(&convert, &bytes)?;
    }
    Ok(TargetForm::from(form))
}
