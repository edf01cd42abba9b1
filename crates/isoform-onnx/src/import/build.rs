//! The second step of importing a body: makes the nodes, operands before users.

use isoform::{Array, Ref, Str, Value};

use super::{
    context::{Importer, Unit, full_name, node_place, normal_domain},
    kept,
    plan::{Bodies, Plan},
    scope::{self, ImportedNode, Scope},
};
use crate::{
    error::{OnnxError, Result, ResultExt},
    ir::{Call, Graph},
    proto::NodeProto,
    schema::{Form, listed_inputs, refusals},
};

/// A position in a body, for error messages.
struct Place {
    graph: Str,
    in_function: bool,
}

impl<'a> Importer<'a> {
    /// Makes a planned graph.
    pub(super) fn build_graph(
        &mut self,
        unit: &mut Unit<'a>,
        scopes: &mut Vec<Scope<'a>>,
        mut plan: Plan<'a>,
    ) -> Result<Ref<Graph>> {
        let results = self.build(unit, scopes, &mut plan, false)?;
        Ok(Ref::new(Graph {
            params: plan.params.into(),
            result_types: plan.result_types.into(),
            results: results.into(),
            name: plan.name.as_str().into(),
            result_names: plan
                .result_names
                .iter()
                .map(|&name| Str::from(name))
                .collect(),
            doc: plan.doc.into(),
            meta: plan.meta,
        }))
    }

    /// Makes the nodes of a planned body, and returns its results.
    pub(super) fn build(
        &mut self,
        unit: &mut Unit<'a>,
        scopes: &mut Vec<Scope<'a>>,
        plan: &mut Plan<'a>,
        in_function: bool,
    ) -> Result<Vec<Value>> {
        let place = Place {
            graph: plan.name.as_str().into(),
            in_function,
        };
        let mut scope = std::mem::take(&mut plan.scope);
        scope.made.resize_with(plan.listed.len(), || None);
        scopes.push(scope);
        for &position in &plan.order {
            let node = &plan.listed[position];
            let call = self
                .node(unit, scopes, node, position, &place, &mut plan.bodies)
                .within(|| node_place(node, position))?;
            if let Some(scope) = scopes.last_mut() {
                scope.made[position] = Some(call);
            }
        }
        let results: Result<Vec<Value>> = plan
            .result_names
            .iter()
            .map(|name| scope::value(scopes, name))
            .collect();
        scopes.pop();
        results
    }

    fn node(
        &mut self,
        unit: &mut Unit<'a>,
        scopes: &mut Vec<Scope<'a>>,
        node: &'a NodeProto,
        position: usize,
        place: &Place,
        bodies: &mut Bodies<'a>,
    ) -> Result<ImportedNode> {
        let domain = normal_domain(&node.domain);
        if node.op_type.is_empty() {
            return Err(OnnxError::value("the node names no operator"));
        }
        let key = (domain, node.op_type.as_str(), node.overload.as_str());
        let callee = self.functions.get(&key).copied();
        if callee.is_none()
            && domain.is_empty()
            && node.op_type == "Constant"
            && let Some(value) = self.constant_node(node)?
        {
            return Ok(ImportedNode::Constant(value));
        }
        let attrs = self.attributes(unit, scopes, node, position, bodies)?;
        let mut inputs = Vec::with_capacity(node.input.len());
        for name in &node.input {
            inputs.push(match name.as_str() {
                "" => Value::NONE,
                name => scope::value(scopes, name)?,
            });
        }
        while inputs.last().is_some_and(Value::is_none) {
            inputs.pop();
        }
        let asked = node
            .output
            .iter()
            .rposition(|name| !name.is_empty())
            .map_or(0, |last| last + 1);

        let op_name = full_name(domain, &node.op_type, &node.overload);
        let mut call = Call {
            domain: Str::default(),
            op: Str::default(),
            version: 0,
            callee: None,
            attrs,
            inputs: Array::from(inputs),
            outputs: asked as i64,
            name: node.name.as_str().into(),
            op_name: op_name.into(),
            doc: node.doc_string.as_str().into(),
            input_names: node.input.iter().map(Str::from).collect(),
            output_names: node.output.iter().map(Str::from).collect(),
            graph: place.graph.clone(),
            in_function: place.in_function,
            position: position as i64,
            depth: scopes.len() as i64 - 1,
            meta: None,
        };
        let mut refused = Vec::new();
        match callee {
            Some(index) => self.call_function(unit, index, &mut call)?,
            None => {
                call.domain = domain.into();
                // An overload that belongs to no local function is part of the name.
                call.op = full_name("", &node.op_type, &node.overload).into();
                call.version = *unit.opsets.get(domain).ok_or_else(|| {
                    let shown = if domain.is_empty() { "ai.onnx" } else { domain };
                    OnnxError::key(format!("the operator set '{shown}' is not imported"))
                })?;
                refused = refusals(&Form {
                    domain,
                    op: call.op.as_str(),
                    version: call.version,
                    inputs: call.inputs.len().max(listed_inputs(domain, &call.op)),
                    outputs: asked,
                    attributes: &node.attribute,
                });
            }
        }
        call.meta = kept::of_node(node, &refused)?;
        Ok(ImportedNode::Call(Ref::new(call)))
    }

    /// Fills in the fields specific to the call of a local function.
    fn call_function(&mut self, unit: &mut Unit<'a>, index: usize, call: &mut Call) -> Result<()> {
        let function = self.built.get(index).and_then(Option::as_ref);
        let function = function
            .ok_or_else(|| OnnxError::value("the function is used before it is complete"))?;
        let (params, results) = (function.params.len(), function.results.len());
        if call.inputs.len() > params {
            return Err(OnnxError::value(format!(
                "expected at most {params} inputs, as the function has, got {}",
                call.inputs.len()
            )));
        }
        if call.outputs > results as i64 {
            return Err(OnnxError::value(format!(
                "expected at most {results} outputs, as the function has, got {}",
                call.outputs
            )));
        }
        // The results of a function do not depend on how many of them are requested.
        call.outputs = results as i64;
        call.callee = Some(function.clone());
        unit.called.insert(index);
        Ok(())
    }
}
