//! The row of a file: what an index tells of a model.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use isoform::compare::{CompareOptions, repeated_blocks};
use isoform::traverse::{WalkResult, walk_objects};
use isoform::values::Tensor;
use isoform::{Ref, Result, Value};
use isoform_corpus::{Block, Inspector, Row, SourceFile};
use isoform_mlir::Level;
use isoform_onnx::Model;
use isoform_onnx::summary::{ModelSummary, ValueSummary};

use crate::args::Common;
use crate::find::{ir_form_of_name, is_model_name};
use crate::input::{Input, IrFile, load_source, message};

/// The smallest number of nodes of a block in an index.
const MIN_BLOCK: usize = 4;

/// Reads the models, IR files and files of tensors of a collection.
///
/// ```no_run
/// # fn main() -> isoform::Result<()> {
/// use isoform_cli::ModelInspector;
/// use isoform_corpus::update_index;
///
/// let roots = ["models".to_owned()];
/// let inspector = ModelInspector::default();
/// update_index(&roots, "models.parquet".as_ref(), &inspector, 2, |_| Ok(()))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ModelInspector {
    common: Common,
}

impl ModelInspector {
    /// Sets whether external data may be a symbolic link that leads out of the folder of
    /// its model; false by default.
    #[must_use]
    pub fn follow_links(mut self, follow_links: bool) -> Self {
        self.common.follow_links = follow_links;
        self
    }
}

impl Inspector for ModelInspector {
    fn is_wanted(&self, name: &str) -> bool {
        let path = Path::new(name);
        is_model_name(path) || ir_form_of_name(path).is_some()
    }

    fn open(&self, path: &Path) -> Result<Bytes> {
        let options = isoform_onnx::LoadOptions::default();
        Ok(options.read(path)?)
    }

    fn row(&self, file: &SourceFile) -> Option<Row> {
        let path = Path::new(&file.path);
        let row = match load_source(file, &self.common) {
            Ok(None) => return None,
            Ok(Some(input)) => row_of(&input).map_err(|error| message(path, &error)),
            Err(failure) => Err(failure),
        };
        Some(row.unwrap_or_else(|failure| Row::failed("", failure.message)))
    }
}

/// The options under which the digests of an index are made.
fn compare_options(architecture: bool) -> CompareOptions {
    let common = Common {
        architecture,
        ..Common::default()
    };
    common.compare_options()
}

fn row_of(input: &Input) -> Result<Row> {
    let value = input.to_value();
    let mut row = Row::default();
    let digest = |architecture: bool| -> Result<String> {
        let mut value = value.clone();
        if let Some(program) = value.peek::<Ref<isoform_mlir::Program>>() {
            let level = Level::strict().io_names(false).contents(!architecture);
            value = level.apply(program)?.into();
        }
        Ok(compare_options(architecture).digest(value)?.to_string())
    };
    row.digest = Some(digest(false)?);
    row.architecture = Some(digest(true)?);
    match input {
        Input::Model(model) => add_model(&mut row, model),
        Input::Value(ir) => add_value(&mut row, ir)?,
    }
    for block in repeated_blocks(&[value], MIN_BLOCK, 2)? {
        row.blocks.extend(block.digest.map(|digest| Block {
            digest: digest.to_string(),
            nodes: block.size() as u64,
            count: block.places.len() as u64,
        }));
    }
    Ok(row)
}

fn add_model(row: &mut Row, model: &Model) {
    let summary = ModelSummary::new(model.program());
    row.kind = Some("onnx".to_owned());
    row.nodes = Some(summary.nodes as u64);
    // A link may lead to another file tomorrow, so the name counts and not the target.
    row.files = model.external_locations().to_vec();
    let operators = summary.operators.iter();
    let operators = operators.map(|(operator, count)| (operator.to_string(), *count as u64));
    row.operators = operators.collect::<BTreeMap<_, _>>().into_iter().collect();
    for (domain, versions) in &summary.opsets {
        let domain = if domain.is_empty() { "ai.onnx" } else { domain };
        let newest = versions
            .last()
            .and_then(|version| u64::try_from(*version).ok());
        row.opsets
            .extend(newest.map(|newest| (domain.to_owned(), newest)));
    }
    row.opsets.sort();
    let weights = summary.weights.iter();
    row.elements = weights
        .map(|(dtype, weights)| (dtype.clone(), weights.elements))
        .collect();
    row.parameters = Some(row.elements.iter().map(|(_, elements)| elements).sum());
    let text = |value: &ValueSummary| format!("{}: {}{}", value.name, value.dtype, value.shape);
    row.inputs = summary.inputs.iter().map(text).collect();
    row.outputs = summary.outputs.iter().map(text).collect();
}

fn add_value(row: &mut Row, ir: &IrFile) -> Result<()> {
    row.kind = Some(ir.form_key().to_owned());
    row.files.clone_from(&ir.files);
    let mut elements: BTreeMap<String, u64> = BTreeMap::new();
    if ir.tensors.is_some() {
        for (dtype, count) in ir.elements() {
            let total = elements.entry(dtype).or_default();
            *total = total.saturating_add(count);
        }
    } else {
        let mut types: BTreeMap<&str, u64> = BTreeMap::new();
        let mut operations: BTreeMap<String, u64> = BTreeMap::new();
        walk_objects(&ir.value, |object, _| {
            let value = Value::from(object);
            if let Some(tensor) = value.peek::<Tensor>() {
                let count: i64 = tensor.shape().iter().product();
                *elements.entry(tensor.dtype().to_string()).or_default() += count.unsigned_abs();
            }
            *types.entry(object.type_info().key()).or_default() += 1;
            if let Some(operation) = object.downcast_ref::<isoform_mlir::Operation>() {
                *operations.entry(operation.name.to_string()).or_default() += 1;
            }
            Ok(WalkResult::<()>::Advance)
        })?;
        if !operations.is_empty() {
            row.nodes = Some(operations.values().sum());
            row.operators = operations.into_iter().collect();
            return Ok(());
        }
        row.nodes = Some(types.values().sum());
        let types = types
            .into_iter()
            .map(|(key, count)| (key.to_owned(), count));
        row.operators = types.collect();
    }
    row.parameters = Some(elements.values().sum());
    row.elements = elements.into_iter().collect();
    Ok(())
}
