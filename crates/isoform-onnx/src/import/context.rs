//! State shared by the steps of an import.

use std::collections::{HashMap, HashSet};

use isoform::Ref;
use isoform::values::Tensor;

use crate::{
    error::{OnnxError, Result},
    external::ExternalResolver,
    ir::Function,
    proto::{NodeProto, OperatorSetIdProto},
};

/// The maximum nesting of graphs. The decoder already rejects deeper files; this also
/// bounds the stack for messages that were made by hand.
pub(crate) const MAX_NESTING: usize = 40;

/// From this version on, an initializer that is listed as an input is a default.
pub(crate) const FIRST_IR_VERSION_WITH_DEFAULTS: i64 = 4;

/// Versions of operator sets by normalised domain.
pub(super) type Opsets<'a> = HashMap<&'a str, i64>;

/// Domain, name and overload of a local function.
pub(super) type FunctionKey<'a> = (&'a str, &'a str, &'a str);

/// The state for the whole model: constants of the import, and results collected so far.
pub(super) struct Importer<'a> {
    pub(super) resolver: &'a ExternalResolver,
    pub(super) ir_version: i64,
    pub(super) functions: HashMap<FunctionKey<'a>, usize>,
    pub(super) built: Vec<Option<Ref<Function>>>,
    pub(super) initializers: usize,
    pub(super) bytes: u64,
    /// Tensors whose external data was not read.
    pub(super) left_out: Vec<Tensor>,
}

/// The state shared by a main graph or function and all graphs inside it.
pub(super) struct Unit<'a> {
    pub(super) opsets: Opsets<'a>,
    /// Names of the attributes of the function; None in a main graph.
    pub(super) attributes: Option<HashSet<&'a str>>,
    /// Local functions called by the nodes made so far.
    pub(super) called: HashSet<usize>,
}

/// Normalises a domain: the default one becomes empty.
pub(crate) fn normal_domain(domain: &str) -> &str {
    match domain {
        "ai.onnx" => "",
        other => other,
    }
}

pub(super) fn opsets(imports: &[OperatorSetIdProto]) -> Result<Opsets<'_>> {
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

/// The description of a node in messages.
pub(super) fn node_place(node: &NodeProto, position: usize) -> String {
    match node.name.as_str() {
        "" => format!("node #{position} ({})", node.op_type),
        name => format!("node '{name}' ({})", node.op_type),
    }
}

/// A name with its domain and overload, if any.
pub(crate) fn full_name(domain: &str, name: &str, overload: &str) -> String {
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

/// A reason why the operator set does not allow a node, in the form stored in calls.
pub(crate) fn one_line(refusal: &OnnxError) -> String {
    refusal.to_string().replace('\n', " ")
}

/// Converts an error of the library, which can only come from constructing values, to
/// an error that can record a place.
pub(super) fn from_library(error: isoform::Error) -> OnnxError {
    OnnxError::value(error.message())
}
