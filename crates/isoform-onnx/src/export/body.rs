//! Graphs, their nodes, inputs and constants as messages.

use std::collections::{HashMap, HashSet};

use isoform::{Str, Value};

use super::{
    attribute::describe_tensor,
    meta::kept,
    place::call_place,
    types::{ConstantProto, add_denotations, constant_proto, type_proto},
    values::Key,
    writer::Writer,
};
use crate::{
    error::{OnnxError, Result, ResultExt},
    import::context::{FIRST_IR_VERSION_WITH_DEFAULTS, one_line},
    ir::{Call, Graph, Input},
    layout::{BodyKind, Node, attributes},
    proto::{
        AttributeProto, AttributeType, GraphProto, NodeProto, TensorAnnotation, TensorProto,
        ValueInfoProto,
    },
    schema::{Form, listed_inputs, refusals},
};

/// The first IR version in which a graph may have sparse initializers.
const FIRST_IR_VERSION_WITH_SPARSE: i64 = 6;

/// The constants of a body as messages.
#[derive(Default)]
struct Constants {
    dense: Vec<TensorProto>,
    sparse: Vec<crate::proto::SparseTensorProto>,
    nodes: Vec<NodeProto>,
    /// Declarations of the initializers that are also listed as graph inputs.
    inputs: HashMap<String, ValueInfoProto>,
}

impl Writer<'_, '_> {
    /// A main graph or the body in an attribute. Recurses along the nesting of graphs,
    /// whose depth was checked.
    pub(super) fn graph(&mut self, body: usize) -> Result<GraphProto> {
        let listing = self.values.listing;
        let BodyKind::Graph(graph) = &listing.bodies[body].kind else {
            return Err(OnnxError::value("expected a graph"));
        };
        let said: GraphProto = kept(graph.meta.as_ref())?;
        self.dims.enter();
        let made = self.graph_inside(body, graph, said);
        self.dims.leave();
        made
    }

    fn graph_inside(&mut self, body: usize, graph: &Graph, said: GraphProto) -> Result<GraphProto> {
        let names = self.names.body(body);
        let mut proto = GraphProto {
            name: match graph.name.as_str() {
                // The standard requires a name.
                "" => "graph".into(),
                name => name.into(),
            },
            doc_string: graph.doc.to_string(),
            ..Default::default()
        };
        // Types of inputs and outputs come first, because they introduce the symbolic
        // dimensions.
        let mut inputs = Vec::new();
        for (param, name) in graph.params.iter().zip(&names.params) {
            inputs.push(
                self.input(param, name)
                    .within(|| format!("input '{}'", param.name))?,
            );
        }
        let said_of = by_name(&said.output, |info| &info.name);
        for (index, name) in names.results.iter().enumerate() {
            let none = Value::NONE;
            let ty = graph.result_types.get(index).unwrap_or(&none);
            let wanted = graph.result_names.get(index);
            let said = wanted.and_then(|name| said_of.get(name.as_str()).copied());
            let output = self.described(name, ty, said);
            proto
                .output
                .push(output.within(|| format!("result #{index} '{name}'"))?);
        }
        let mut constants = self.constants(body, &said)?;
        self.defaults(graph, body, &mut constants)?;
        proto.node = std::mem::take(&mut constants.nodes);
        proto.node.extend(self.nodes(body)?);
        proto.input = merged(inputs, &said, constants.inputs);
        proto.initializer = constants.dense;
        proto.sparse_initializer = constants.sparse;
        let names = self.names.body(body);
        let holds = |info: &ValueInfoProto| names.still_has(&info.name);
        proto.value_info = said.value_info.into_iter().filter(holds).collect();
        let holds = |annotation: &TensorAnnotation| {
            let others = annotation
                .quant_parameter_tensor_names
                .iter()
                .map(|entry| &entry.value);
            let mut all = others.chain([&annotation.tensor_name]);
            all.all(|name| names.still_has(name))
        };
        let annotations = said.quantization_annotation.into_iter();
        proto.quantization_annotation = annotations.filter(holds).collect();
        proto.metadata_props = said.metadata_props;
        Ok(proto)
    }

    fn input(&mut self, param: &Input, name: &Str) -> Result<ValueInfoProto> {
        let said: ValueInfoProto = kept(param.meta.as_ref())?;
        self.described(name, &param.ty, Some(&said))
    }

    /// A named and typed value, with its description from the file.
    fn described(
        &mut self,
        name: &Str,
        ty: &Value,
        said: Option<&ValueInfoProto>,
    ) -> Result<ValueInfoProto> {
        let mut info = ValueInfoProto {
            name: name.to_string(),
            r#type: type_proto(ty, &mut self.dims)?,
            ..Default::default()
        };
        if let Some(said) = said {
            info.doc_string.clone_from(&said.doc_string);
            info.metadata_props.clone_from(&said.metadata_props);
            if let (Some(ty), Some(said)) = (&mut info.r#type, &said.r#type) {
                add_denotations(ty, said);
            }
        }
        Ok(info)
    }

    /// The constants defined by a body: initializers, or nodes if the body allows no
    /// initializers.
    fn constants(&mut self, body: usize, said: &GraphProto) -> Result<Constants> {
        let names = self.names;
        let mut constants = Constants::default();
        let is_old = self.ir_version < FIRST_IR_VERSION_WITH_DEFAULTS;
        let is_function = matches!(self.values.listing.bodies[body].kind, BodyKind::Function(_));
        let abouts = by_name(&said.initializer, |about| &about.name);
        let inputs = by_name(&said.input, |info| &info.name);
        for (name, value) in &names.body(body).constants {
            let place = || format!("constant '{name}'");
            let proto = constant_proto(value, name)
                .within(place)?
                .ok_or_else(|| OnnxError::value("expected a constant"))?;
            let about = abouts.get(name.as_str()).copied();
            let listed = inputs.get(name.as_str()).copied();
            match proto {
                ConstantProto::Dense(mut tensor)
                    if !is_function && (!is_old || listed.is_some()) =>
                {
                    if let Some(about) = about {
                        describe_tensor(&mut tensor, about);
                    }
                    if let (true, Some(listed)) = (is_old, listed) {
                        let info = weight_info(&tensor, listed);
                        constants.inputs.insert(tensor.name.clone(), info);
                    }
                    constants.dense.push(*tensor);
                }
                ConstantProto::Sparse(mut sparse)
                    if !is_function && self.ir_version >= FIRST_IR_VERSION_WITH_SPARSE =>
                {
                    if let (Some(values), Some(about)) = (&mut sparse.values, about) {
                        describe_tensor(values, about);
                    }
                    constants.sparse.push(*sparse);
                }
                proto => {
                    let mut node = constant_node(name, proto);
                    if let Some(about) = about {
                        node.doc_string.clone_from(&about.doc_string);
                        node.metadata_props.clone_from(&about.metadata_props);
                    }
                    let form = form(&node, "", "Constant", self.opset);
                    if self.check
                        && let Some(refusal) = refusals(&form).pop()
                    {
                        return Err(refusal.within(place()));
                    }
                    constants.nodes.push(node);
                }
            }
        }
        Ok(constants)
    }

    /// The defaults of inputs, which are initializers of the same name.
    fn defaults(&mut self, graph: &Graph, body: usize, made: &mut Constants) -> Result<()> {
        let names = self.names.body(body);
        for (param, name) in graph.params.iter().zip(&names.params) {
            if param.default.is_none() {
                continue;
            }
            let place = || format!("default of input '{name}'");
            match constant_proto(&param.default, name).within(place)? {
                Some(ConstantProto::Dense(tensor)) => made.dense.push(*tensor),
                Some(ConstantProto::Sparse(sparse)) => made.sparse.push(*sparse),
                None => {
                    return Err(OnnxError::value(format!(
                        "expected a constant or None, got {}",
                        param.default.type_name()
                    ))
                    .within(place()));
                }
            }
        }
        Ok(())
    }

    /// The nodes of a body, and the nodes that give results their names.
    pub(super) fn nodes(&mut self, body: usize) -> Result<Vec<NodeProto>> {
        let listing = self.values.listing;
        let names = self.names;
        let mut made = Vec::new();
        let nodes = &listing.bodies[body].nodes;
        for (node, outputs) in nodes.iter().zip(&names.body(body).outputs) {
            let place = || call_place(&node.call);
            made.push(self.node(node, outputs).within(place)?);
        }
        for (key, name) in &names.body(body).copies {
            let node = NodeProto {
                input: vec![self.names.of(key)?.to_string()],
                output: vec![name.to_string()],
                op_type: "Identity".into(),
                ..Default::default()
            };
            made.push(node);
        }
        Ok(made)
    }

    /// The constants of a function's own body, as nodes.
    pub(super) fn constant_nodes(
        &mut self,
        body: usize,
        said: &GraphProto,
    ) -> Result<Vec<NodeProto>> {
        Ok(self.constants(body, said)?.nodes)
    }

    fn node(&mut self, node: &Node, outputs: &[Str]) -> Result<NodeProto> {
        let call = &node.call;
        let said: NodeProto = kept(call.meta.as_ref())?;
        let mut proto = NodeProto {
            name: call.name.to_string(),
            doc_string: call.doc.to_string(),
            output: outputs.iter().map(Str::to_string).collect(),
            ..Default::default()
        };
        self.operator(call, &said, &mut proto)?;
        for (index, value) in call.inputs.values().iter().enumerate() {
            proto.input.push(if value.is_none() {
                String::new()
            } else {
                let name = Key::of(value).and_then(|key| self.names.of(&key).cloned());
                name.within(|| format!("input #{index}"))?.to_string()
            });
        }
        let listed = listed_inputs(&call.domain, &call.op);
        proto
            .input
            .resize(proto.input.len().max(listed), String::new());
        while proto.input.len() > listed && proto.input.last().is_some_and(String::is_empty) {
            proto.input.pop();
        }
        let said_of = by_name(&said.attribute, |attr| &attr.name);
        for (name, value) in attributes(call) {
            let about = said_of.get(name).copied();
            let attr = self
                .call_attribute(call, name, value, about)
                .within(|| format!("attribute '{name}'"))?;
            proto.attribute.push(attr);
        }
        proto.metadata_props = said.metadata_props;
        if self.check && call.callee.is_none() {
            let form = form(&proto, &call.domain, &call.op, call.version);
            let is_of_file = |refusal: &OnnxError| {
                let mut lines = said.doc_string.lines();
                lines.any(|line| line == one_line(refusal))
            };
            let mut refusals = refusals(&form).into_iter();
            // A node read from a file is written unchanged.
            if let Some(refusal) = refusals.find(|refusal| !is_of_file(refusal)) {
                return Err(refusal);
            }
        }
        Ok(proto)
    }

    /// The operator or function that a node calls.
    fn operator(&self, call: &Call, said: &NodeProto, proto: &mut NodeProto) -> Result<()> {
        if let Some(callee) = &call.callee {
            let name = self.functions.of(callee)?;
            proto.domain.clone_from(&name.domain);
            proto.op_type.clone_from(&name.name);
            proto.overload.clone_from(&name.overload);
            return Ok(());
        }
        if call.op.is_empty() {
            return Err(OnnxError::value(
                "expected the name of an operator in op, or a function in callee",
            ));
        }
        proto.domain = call.domain.to_string();
        let suffix = format!(":{}", said.overload);
        match call.op.strip_suffix(&suffix) {
            // An overload that belongs to no local function is part of the name.
            Some(op) if !said.overload.is_empty() => {
                proto.op_type = op.into();
                proto.overload.clone_from(&said.overload);
            }
            _ => proto.op_type = call.op.to_string(),
        }
        Ok(())
    }
}

/// The properties of a node that are checked against the schema.
fn form<'a>(node: &'a NodeProto, domain: &'a str, op: &'a str, version: i64) -> Form<'a> {
    Form {
        domain,
        op,
        version,
        inputs: node.input.len(),
        outputs: node.output.len(),
        attributes: &node.attribute,
    }
}

fn by_name<M>(items: &[M], name: impl Fn(&M) -> &String) -> HashMap<&str, &M> {
    items
        .iter()
        .map(|item| (name(item).as_str(), item))
        .collect()
}

/// A node that makes a constant.
fn constant_node(name: &str, proto: ConstantProto) -> NodeProto {
    let mut attr = AttributeProto::default();
    match proto {
        ConstantProto::Dense(mut tensor) => {
            tensor.name.clear();
            attr.name = "value".into();
            attr.t = Some(tensor);
            attr.set_type(AttributeType::Tensor);
        }
        ConstantProto::Sparse(mut sparse) => {
            if let Some(values) = &mut sparse.values {
                values.name.clear();
            }
            attr.name = "sparse_value".into();
            attr.sparse_tensor = Some(sparse);
            attr.set_type(AttributeType::SparseTensor);
        }
    }
    NodeProto {
        output: vec![name.into()],
        op_type: "Constant".into(),
        attribute: vec![attr],
        ..Default::default()
    }
}

/// The input that lists a weight, with the type of the weight.
fn weight_info(tensor: &TensorProto, listed: &ValueInfoProto) -> ValueInfoProto {
    use crate::proto::{
        DimensionProto, DimensionValue, TensorShapeProto, TensorTypeProto, TypeProto, TypeValue,
    };
    let dims = tensor.dims.iter().map(|&extent| DimensionProto {
        value: Some(DimensionValue::DimValue(extent)),
        ..Default::default()
    });
    let mut ty = TypeProto {
        value: Some(TypeValue::TensorType(TensorTypeProto {
            elem_type: tensor.data_type,
            shape: Some(TensorShapeProto {
                dim: dims.collect(),
            }),
        })),
        ..Default::default()
    };
    if let Some(said) = &listed.r#type {
        add_denotations(&mut ty, said);
    }
    ValueInfoProto {
        r#type: Some(ty),
        ..listed.clone()
    }
}

/// The inputs of a graph, with weights at the places where the file listed them.
fn merged(
    inputs: Vec<ValueInfoProto>,
    said: &GraphProto,
    mut weights: HashMap<String, ValueInfoProto>,
) -> Vec<ValueInfoProto> {
    if weights.is_empty() {
        return inputs;
    }
    let params: HashSet<String> = inputs.iter().map(|input| input.name.clone()).collect();
    let mut inputs = inputs.into_iter();
    let mut made = Vec::new();
    for listed in &said.input {
        if let Some(weight) = weights.remove(&listed.name) {
            made.push(weight);
        } else if params.contains(&listed.name) {
            made.extend(inputs.next());
        }
    }
    made.extend(inputs);
    made
}
