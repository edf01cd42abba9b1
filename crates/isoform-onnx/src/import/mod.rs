//! From the messages of a file to a program.
//!
//! Each body (the main graph, a function, the graphs inside them) is imported in two
//! steps. `plan` sees the names: it finds what each node reads, puts the nodes into an
//! order in which everything is made before it is used, whatever order they are listed
//! in, and drops those that no output needs. `build` then makes the nodes in that order.
//! So no step follows a chain of nodes by recursion; recursion follows the nesting of
//! graphs alone, and stops at [`MAX_NESTING`].
//!
//! # Names
//!
//! A body sees its own names and those of the graphs around it. A name that a body
//! defines hides the one outside; the standard forbids most of this, and it harms nobody
//! except where the inner definition is listed after its use, as readers then disagree
//! which of the two is meant: that is an error. So is a name that one body defines twice.
//!
//! The importer knows no operators, with two exceptions. `Constant` is a constant. The
//! attributes `xs`, `zs` and `y` of `ai.onnx.preview.training.Gradient` hold names of
//! tensors, which become the tensors.

mod attribute;
mod build;
mod constant;
mod function;
mod plan;
mod scope;
mod types;

use std::collections::{HashMap, HashSet};

use isoform::{Array, Ref, Str};

use crate::{
    error::{OnnxError, Result, ResultExt},
    external::ExternalResolver,
    ir::{Function, Program},
    model::{Counts, ImportOptions},
    proto::{ModelProto, NodeProto, OperatorSetIdProto},
};

/// How deep graphs may be nested. The decoder refuses deeper files already; this bounds
/// the stack also for messages that were put together by hand.
const MAX_NESTING: usize = 40;

/// From this version on, an initializer that is listed as an input is a default.
const FIRST_IR_VERSION_WITH_DEFAULTS: i64 = 4;

/// Versions of operator sets by normalised domain.
type Opsets<'a> = HashMap<&'a str, i64>;

/// Domain, name and overload of a local function.
type FunctionKey<'a> = (&'a str, &'a str, &'a str);

/// What is the same for the whole model, and what is found out on the way.
struct Importer<'a> {
    resolver: &'a ExternalResolver,
    ir_version: i64,
    functions: HashMap<FunctionKey<'a>, usize>,
    built: Vec<Option<Ref<Function>>>,
    initializers: usize,
    bytes: u64,
}

/// What is the same for a main graph or function and all graphs inside it.
struct Unit<'a> {
    opsets: Opsets<'a>,
    /// Names of the attributes of the function; None in a main graph.
    attributes: Option<HashSet<&'a str>>,
    /// Local functions that the nodes made so far call.
    called: HashSet<usize>,
}

/// Imports a model; what [`load`](crate::load) documents.
pub(crate) fn import_model(
    model: &ModelProto,
    resolver: &ExternalResolver,
    options: &ImportOptions,
) -> Result<(Ref<Program>, Counts)> {
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
    });
    Ok((program, counts))
}

/// The one spelling of a domain: the default one is empty.
fn normal_domain(domain: &str) -> &str {
    match domain {
        "ai.onnx" => "",
        other => other,
    }
}

fn opsets(imports: &[OperatorSetIdProto]) -> Result<Opsets<'_>> {
    let mut opsets = Opsets::new();
    for import in imports {
        let domain = normal_domain(&import.domain);
        if let Some(old) = opsets.insert(domain, import.version)
            && old != import.version
        {
            return Err(OnnxError::value(format!(
                "operator set '{domain}' is imported in versions {old} and {}",
                import.version
            )));
        }
    }
    Ok(opsets)
}

/// How messages name a node.
fn node_place(node: &NodeProto, position: usize) -> String {
    match node.name.as_str() {
        "" => format!("node #{position} ({})", node.op_type),
        name => format!("node '{name}' ({})", node.op_type),
    }
}

/// A name with its domain and overload, where there are any.
fn full_name(domain: &str, name: &str, overload: &str) -> String {
    let mut text = String::new();
    if !domain.is_empty() {
        text.push_str(domain);
        text.push('.');
    }
    text.push_str(name);
    if !overload.is_empty() {
        text.push(':');
        text.push_str(overload);
    }
    text
}

/// Turns an error of the library, which can only come from constructing values here,
/// into one that can take a place.
fn from_library(error: isoform::Error) -> OnnxError {
    OnnxError::value(error.message())
}
