//! A program as one message.

use std::collections::{BTreeMap, HashSet};

use isoform::Str;

use super::{
    functions::FunctionNames,
    meta::kept,
    names::Names,
    place::call_place,
    types::Dims,
    values::{Values, body_place},
    writer::{Context, Writer},
};
use crate::{
    error::{OnnxError, Result, ResultExt},
    import::context::{FIRST_IR_VERSION_WITH_DEFAULTS, normal_domain},
    ir::{Call, Function, Program},
    layout::{BodyKind, Listing, list},
    proto::{
        FunctionProto, GraphProto, ModelProto, OperatorSetIdProto, TensorProto, TrainingInfoProto,
    },
    schema::ir_version_for,
};

/// The default operator set of `ai.onnx` for programs without a version: every current
/// runtime supports it.
const DEFAULT_OPSET: i64 = 17;

/// The default version of the format, if neither the program nor its operator set
/// determines a version.
const DEFAULT_IR_VERSION: i64 = 8;

/// The first version in which models list their operator sets.
const FIRST_IR_VERSION_WITH_OPSETS: i64 = 3;

/// The first version with local functions, and the first version with their further
/// parts.
const FIRST_IR_VERSION_WITH_FUNCTIONS: i64 = 8;
const FIRST_IR_VERSION_WITH_ATTRIBUTE_DEFAULTS: i64 = 9;
const FIRST_IR_VERSION_WITH_OVERLOADS: i64 = 10;

/// A program as a message whose tensors share the memory of the program.
pub(super) fn model_proto(program: &Program, check: bool) -> Result<ModelProto> {
    let said: ModelProto = kept(program.meta.as_ref())?;
    let listing = list(program);
    let functions = FunctionNames::choose(&listing)?;
    let ends = listing
        .functions
        .iter()
        .copied()
        .chain([listing.bodies.len()]);
    let starts = [0].into_iter().chain(listing.functions.iter().copied());
    let units: Vec<(usize, usize)> = starts.zip(ends).collect();

    let mut model = ModelProto {
        domain: said.domain,
        model_version: said.model_version,
        doc_string: said.doc_string,
        metadata_props: said.metadata_props,
        ..Default::default()
    };
    let producer = format!("{} {}", said.producer_name, said.producer_version);
    if producer.trim() == program.producer.as_str() {
        model.producer_name = said.producer_name;
        model.producer_version = said.producer_version;
    } else {
        model.producer_name = program.producer.to_string()
    }
    let mut opsets = Opsets::of(&listing, units[0].0, units[0].1, &said.opset_import)?;
    let main_opset = *opsets
        .versions
        .entry(String::new())
        .or_insert(DEFAULT_OPSET);
    for domain in functions.domains() {
        opsets.versions.entry(domain.to_owned()).or_insert(1);
    }
    let ir_version = ir_version(program, &listing, &functions, main_opset);
    model.ir_version = Some(ir_version);
    if ir_version >= FIRST_IR_VERSION_WITH_OPSETS {
        model.opset_import = opsets.imports();
    }
    for (index, &(start, end)) in units.iter().enumerate() {
        let is_main = index == 0;
        let place = || body_place(&listing.bodies[start]);
        let listed = if is_main && ir_version < FIRST_IR_VERSION_WITH_DEFAULTS {
            listed_inputs(program)?
        } else {
            HashSet::new()
        };
        let values = Values::collect(&listing, start, end, &listed)?;
        let names = Names::choose(&values, is_main)?;
        let mut writer = Writer {
            context: Context::Main,
            values: &values,
            names: &names,
            functions: &functions,
            opset: main_opset,
            ir_version,
            check,
            dims: Dims::default(),
        };
        match &listing.bodies[start].kind {
            BodyKind::Graph(_) => {
                model.graph = Some(writer.graph(start).within(place)?);
                let keep = |info: &TrainingInfoProto| {
                    let mut names_used = training_names(info);
                    names_used.all(|name| names.body(start).still_has(name))
                };
                model.training_info = said
                    .training_info
                    .iter()
                    .filter(|info| keep(info))
                    .cloned()
                    .collect();
            }
            BodyKind::Function(function) => {
                writer.context = Context::Function(function.clone());
                let proto = (|| {
                    let said: FunctionProto = kept(function.meta.as_ref())?;
                    let mut opsets = Opsets::of(&listing, start, end, &said.opset_import)?;
                    writer.opset = *opsets.versions.entry(String::new()).or_insert(main_opset);
                    let calls = listing.bodies[start..end]
                        .iter()
                        .flat_map(|body| &body.nodes);
                    for callee in calls.filter_map(|node| node.call.callee.as_ref()) {
                        let domain = functions.of(callee)?.domain.clone();
                        opsets.versions.entry(domain).or_insert(1);
                    }
                    function_proto(&mut writer, function, start, said, opsets)
                })();
                model.functions.push(proto.within(place)?);
            }
        }
    }
    Ok(model)
}

/// The names listed as inputs by the file, including weights.
fn listed_inputs(program: &Program) -> Result<HashSet<Str>> {
    let said: GraphProto = kept(program.graph.meta.as_ref())?;
    let names = said.input.iter().map(|input| Str::from(&input.name));
    Ok(names.collect())
}

fn function_proto(
    writer: &mut Writer<'_, '_>,
    function: &Function,
    start: usize,
    said: FunctionProto,
    opsets: Opsets,
) -> Result<FunctionProto> {
    let BodyKind::Function(object) = &writer.values.listing.bodies[start].kind else {
        return Err(OnnxError::value("expected a function"));
    };
    let name = writer.functions.of(object)?;
    let names = writer.names.body(start);
    let strings = |names: &[Str]| names.iter().map(Str::to_string).collect();
    let mut proto = FunctionProto {
        name: name.name.clone(),
        domain: name.domain.clone(),
        overload: name.overload.clone(),
        input: strings(&names.params),
        output: strings(&names.results),
        attribute: function.attrs.iter().map(Str::to_string).collect(),
        doc_string: function.doc.to_string(),
        opset_import: opsets.imports(),
        metadata_props: said.metadata_props,
        ..Default::default()
    };
    writer.dims.enter();
    let mut defaults: Vec<_> = function.attr_defaults.iter().collect();
    defaults.sort_by_key(|(name, _)| name.as_str());
    for (name, value) in defaults {
        let mut about = said.attribute_proto.iter();
        let about = about.find(|attr| *name == attr.name.as_str());
        let attr = writer
            .attribute(name, value, about, || None)
            .within(|| format!("attribute '{name}'"))?;
        proto.attribute_proto.push(attr);
    }
    let about = GraphProto {
        initializer: said
            .node
            .into_iter()
            .map(|node| TensorProto {
                name: node.output.into_iter().next().unwrap_or_default(),
                doc_string: node.doc_string,
                metadata_props: node.metadata_props,
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    proto.node = writer.constant_nodes(start, &about)?;
    proto.node.extend(writer.nodes(start)?);
    let infos = said.value_info.into_iter();
    proto.value_info = infos.filter(|info| names.still_has(&info.name)).collect();
    Ok(proto)
}

/// The versions of operator sets that the nodes of a main graph or function need.
struct Opsets {
    versions: BTreeMap<String, i64>,
    /// The domains in the order and spelling of the file.
    listed: Vec<String>,
}

impl Opsets {
    fn of(
        listing: &Listing,
        start: usize,
        end: usize,
        said: &[OperatorSetIdProto],
    ) -> Result<Self> {
        let mut needed: BTreeMap<String, (i64, &Call)> = BTreeMap::new();
        for node in listing.bodies[start..end]
            .iter()
            .flat_map(|body| &body.nodes)
        {
            let call: &Call = &node.call;
            if call.callee.is_some() {
                continue;
            }
            let entry = needed.entry(call.domain.to_string());
            let &mut (version, first) = entry.or_insert((call.version, call));
            if version != call.version {
                let shown = if call.domain.is_empty() {
                    "ai.onnx"
                } else {
                    &call.domain
                };
                return Err(OnnxError::value(format!(
                    "a model or function imports one version of an operator set, but {} is of \
                     version {version} of {shown}, and {} of version {}",
                    call_place(first),
                    call_place(call),
                    call.version
                ))
                .within(body_place(&listing.bodies[start])));
            }
        }
        let mut versions: BTreeMap<String, i64> = said
            .iter()
            .map(|import| (normal_domain(&import.domain).to_owned(), import.version))
            .collect();
        for (domain, (version, _)) in needed {
            versions.insert(domain, version);
        }
        Ok(Opsets {
            versions,
            listed: said.iter().map(|import| import.domain.clone()).collect(),
        })
    }

    /// The imports: first the imports of the file in its order, then the remaining
    /// imports.
    fn imports(&self) -> Vec<OperatorSetIdProto> {
        let mut seen = HashSet::new();
        let others = self.versions.keys().map(String::as_str);
        let domains = self.listed.iter().map(String::as_str).chain(others);
        let new = domains.filter(|domain| seen.insert(normal_domain(domain)));
        new.map(|domain| OperatorSetIdProto {
            domain: domain.to_owned(),
            version: self
                .versions
                .get(normal_domain(domain))
                .copied()
                .unwrap_or(1),
        })
        .collect()
    }
}

/// The version of the format: the program's version, unless it lacks a feature of the
/// program.
fn ir_version(program: &Program, listing: &Listing, functions: &FunctionNames, opset: i64) -> i64 {
    let own = match program.ir_version {
        version if version > 0 => version,
        _ => ir_version_for(opset)
            .unwrap_or(DEFAULT_IR_VERSION)
            .max(FIRST_IR_VERSION_WITH_DEFAULTS),
    };
    let mut needed = 1;
    let mut need = |condition: bool, version: i64| {
        if condition {
            needed = needed.max(version);
        }
    };
    let mut bodies = listing.bodies.iter();
    need(
        bodies.any(|body| {
            body.kind
                .params()
                .iter()
                .any(|param| !param.default.is_none())
        }),
        FIRST_IR_VERSION_WITH_DEFAULTS,
    );
    need(
        !listing.functions.is_empty(),
        FIRST_IR_VERSION_WITH_FUNCTIONS,
    );
    let has_defaults = listing
        .functions
        .iter()
        .any(|&start| match &listing.bodies[start].kind {
            BodyKind::Function(function) => function.attr_defaults.iter().next().is_some(),
            BodyKind::Graph(_) => false,
        });
    need(has_defaults, FIRST_IR_VERSION_WITH_ATTRIBUTE_DEFAULTS);
    need(functions.has_overloads(), FIRST_IR_VERSION_WITH_OVERLOADS);
    // Before operator sets had versions, models used the first version.
    let mut calls = listing
        .bodies
        .iter()
        .flat_map(|body| &body.nodes)
        .map(|node| &node.call);
    need(
        calls.any(|call| call.callee.is_none() && !(call.domain.is_empty() && call.version == 1)),
        FIRST_IR_VERSION_WITH_OPSETS,
    );
    own.max(needed)
}

/// The names of the main graph on which a training step depends.
fn training_names(info: &TrainingInfoProto) -> impl Iterator<Item = &str> {
    let bindings = info
        .initialization_binding
        .iter()
        .chain(&info.update_binding);
    let graphs = info.initialization.iter().chain(&info.algorithm);
    bindings
        .map(|entry| entry.key.as_str())
        .chain(graphs.flat_map(free_names))
}

/// The names that a graph uses and does not define.
fn free_names(graph: &GraphProto) -> Vec<&str> {
    let mut free = Vec::new();
    // Graphs to visit, with the names defined by the enclosing graphs.
    let mut pending: Vec<(&GraphProto, HashSet<&str>)> = vec![(graph, HashSet::new())];
    while let Some((graph, mut defined)) = pending.pop() {
        defined.extend(graph.input.iter().map(|input| input.name.as_str()));
        defined.extend(graph.initializer.iter().map(|tensor| tensor.name.as_str()));
        let sparse = graph.sparse_initializer.iter();
        let sparse = sparse.filter_map(|sparse| sparse.values.as_ref());
        defined.extend(sparse.map(|values| values.name.as_str()));
        let outputs = graph.node.iter().flat_map(|node| &node.output);
        defined.extend(outputs.map(String::as_str));
        let inputs = graph.node.iter().flat_map(|node| &node.input);
        let results = graph.output.iter().map(|output| &output.name);
        let used = inputs.chain(results).map(String::as_str);
        free.extend(used.filter(|name| !name.is_empty() && !defined.contains(name)));
        let attributes = graph.node.iter().flat_map(|node| &node.attribute);
        for inner in attributes.flat_map(|attr| attr.g.as_deref().into_iter().chain(&attr.graphs)) {
            pending.push((inner, defined.clone()));
        }
    }
    free
}
