//! Options for models, which several commands share.

use clap::Args;

/// Dimensions of models as numbers.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Dimensions of models")]
pub(crate) struct FixArgs {
    /// Fix a dimension by its name; may be given several times.
    #[arg(long = "dim", value_name = "NAME=EXTENT", value_parser = dim)]
    pub(crate) dims: Vec<(String, i64)>,
    /// Fix the shape of an input, for example x:1,3,224,224; `?` keeps an extent.
    #[arg(long = "input-shape", value_name = "NAME:EXTENTS", value_parser = input_shape)]
    pub(crate) inputs: Vec<InputShape>,
}

/// The shape that a user gives to an input.
#[derive(Clone, Debug)]
pub(crate) struct InputShape {
    pub(crate) name: String,
    pub(crate) extents: Vec<Option<i64>>,
}

fn dim(text: &str) -> Result<(String, i64), String> {
    let expected = || "expected a name and an extent, such as batch=1".to_owned();
    let (name, extent) = text.rsplit_once('=').ok_or_else(expected)?;
    Ok((
        name.to_owned(),
        extent.trim().parse().map_err(|_| expected())?,
    ))
}

fn input_shape(text: &str) -> Result<InputShape, String> {
    let expected = || "expected a name and extents, such as x:1,3,224,224".to_owned();
    // Names of inputs may contain colons, for example in TensorFlow.
    let (name, extents) = text.rsplit_once(':').ok_or_else(expected)?;
    let extent = |text: &str| match text.trim() {
        "?" => Ok(None),
        number => number.parse().map(Some).map_err(|_| expected()),
    };
    let extents = match extents.trim() {
        "" => Vec::new(),
        extents => extents.split(',').map(extent).collect::<Result<_, _>>()?,
    };
    Ok(InputShape {
        name: name.to_owned(),
        extents,
    })
}

/// The sizes of an input, all of them numbers.
pub(crate) fn sizes(text: &str) -> Result<(String, Vec<i64>), String> {
    let expected = || "expected a name and sizes, such as input:1,512".to_owned();
    let shape = input_shape(text).map_err(|_| expected())?;
    let sizes: Option<Vec<i64>> = shape.extents.into_iter().collect();
    Ok((shape.name, sizes.ok_or_else(expected)?))
}

/// How models are written.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "ONNX models")]
pub(crate) struct ModelArgs {
    /// Write large constants to a file beside the model, as is done anyway for models of
    /// more than 2 GB.
    #[arg(long)]
    pub(crate) external_data: bool,
    /// The name of the file with large constants; by default the name of the model with
    /// .data appended.
    #[arg(long, value_name = "NAME", requires = "external_data")]
    pub(crate) location: Option<String>,
    /// Write each constant to a separate file, named after the model and the constant.
    #[arg(long, requires = "external_data", conflicts_with = "location")]
    pub(crate) file_per_tensor: bool,
    /// The smallest constant to write to a file beside the model [default: 1024].
    #[arg(long, value_name = "BYTES", requires = "external_data")]
    pub(crate) size_threshold: Option<u64>,
    /// Write constants in attributes there, too.
    #[arg(long, requires = "external_data")]
    pub(crate) convert_attribute: bool,
    /// Write nodes that the imported operator set does not allow.
    #[arg(long)]
    pub(crate) no_check: bool,
}
