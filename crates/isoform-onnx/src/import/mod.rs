//! Conversion of the messages of a file to a program.
//!
//! A body (the main graph, a function, the graphs inside) is imported in two steps.
//! `plan` deals with names: it finds the values read by each node, sorts producers
//! before users, whatever the order in the file, and drops nodes that no output needs.
//! `build` then makes the nodes in this order. No step follows a chain of nodes by
//! recursion; recursion only follows the nesting of graphs, and stops at
//! [`MAX_NESTING`](context::MAX_NESTING).
//!
//! # Names
//!
//! A body sees its names and the names of the graphs around. A name defined in a body
//! hides the outer name. The standard forbids most hiding, but hiding is harmless
//! unless the inner definition is listed after its use: readers then disagree which of
//! the two definitions is used, so the importer reports an error. A name defined twice
//! in a single body is also an error.
//!
//! The importer does not depend on operators, with two exceptions. `Constant` is a
//! constant. The attributes `xs`, `zs` and `y` of `ai.onnx.preview.training.Gradient`
//! hold names of tensors, which are replaced by the tensors.
//!
//! All operator sets and unknown domains can be imported.

mod attribute;
pub(crate) mod attribute_kind;
mod build;
mod constant;
pub(crate) mod context;
mod function;
pub(crate) mod kept;
mod plan;
mod scope;
pub(crate) mod types;

use std::collections::{HashMap, HashSet};

use isoform::values::Tensor;
use isoform::{Array, Ref, Str};

use context::{Importer, Unit, opsets};

use crate::{
    error::{OnnxError, Result, ResultExt},
    external::ExternalResolver,
    ir::Program,
    options::ImportOptions,
    proto::ModelProto,
};

/// The size of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Nodes in the file: the nodes of the main graph, of all nested bodies and of the
    /// functions, with each function counted once.
    pub nodes: usize,
    /// Nodes that no output needs, including all nodes of uncalled functions. The
    /// program does not contain these nodes.
    pub dropped: usize,
    /// Initializers, dense and sparse, of the main graph and of all bodies.
    pub initializers: usize,
    /// Local functions that the program calls.
    pub functions: usize,
    /// Bytes of all constants; a string counts by its length.
    pub bytes: u64,
    /// Training steps in the file, which are not part of the program.
    pub training: usize,
}

/// The result of an import.
pub(crate) struct Imported {
    pub(crate) program: Ref<Program>,
    pub(crate) counts: Counts,
    /// Tensors whose external data was not read.
    pub(crate) left_out: Vec<Tensor>,
}

/// Imports a model; see [`load`](crate::load).
pub(crate) fn import_model(
    model: &ModelProto,
    resolver: &ExternalResolver,
    options: ImportOptions,
) -> Result<Imported> {
    let graph = model
        .graph
        .as_ref()
        .ok_or_else(|| OnnxError::key("the model has no graph"))?;
    let ir_version = model.ir_version.unwrap_or(0);
    let mut importer = Importer {
        resolver,
        ir_version,
        functions: HashMap::new(),
        built: vec![None; model.functions.len()],
        initializers: 0,
        bytes: 0,
        left_out: Vec::new(),
    };
    let functions = importer.functions(&model.functions)?;

    let mut opsets = opsets(&model.opset_import)?;
    if opsets.is_empty() {
        // Models from before operator sets were versioned use the first version.
        opsets.insert("", 1);
    }
    let mut unit = Unit {
        opsets,
        attributes: None,
        called: HashSet::new(),
    };
    let (graph_object, tally) = (|| {
        let plan = importer.plan_graph(&mut Vec::new(), graph)?;
        let tally = (plan.nodes, plan.kept);
        let built = importer.build_graph(&mut unit, &mut Vec::new(), plan)?;
        Ok((built, tally))
    })()
    .within(|| format!("graph '{}'", graph.name))?;

    let mut counts = Counts {
        initializers: importer.initializers,
        bytes: importer.bytes,
        training: model.training_info.len(),
        ..Counts::default()
    };
    let (nodes, kept) = tally;
    counts.nodes = nodes;
    counts.dropped = nodes - kept;
    let used = function::reachable(&unit.called, &functions);
    counts.functions = used.len();
    for (index, function) in functions.iter().enumerate() {
        counts.nodes += function.nodes;
        counts.dropped += function.nodes;
        if used.contains(&index) {
            counts.dropped -= function.kept;
        }
    }

    let names = |names: &mut dyn Iterator<Item = &Str>| names.cloned().collect::<Array<Str>>();
    let io_names = if options.io_names {
        let inputs = names(&mut graph_object.params.iter().map(|input| &input.name));
        let outputs = names(&mut graph_object.result_names.iter());
        Array::from(vec![inputs, outputs])
    } else {
        Array::new()
    };
    let producer = format!("{} {}", model.producer_name, model.producer_version);
    let program = Ref::new(Program {
        graph: graph_object,
        io_names,
        ir_version,
        producer: producer.trim().into(),
        meta: kept::of_model(model),
    });
    Ok(Imported {
        program,
        counts,
        left_out: importer.left_out,
    })
}
