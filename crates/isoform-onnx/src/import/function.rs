//! Local functions.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use isoform::{Array, Ref, Str, Value};

use super::{
    context::{Importer, Unit, full_name, normal_domain, opsets},
    kept,
    scope::{Definition, Scope},
};
use crate::{
    error::{OnnxError, Result, ResultExt},
    ir::{Function, Input},
    proto::{FunctionProto, GraphProto, NodeProto},
};

/// Data about an imported function besides its object.
#[derive(Default)]
pub(super) struct Imported {
    /// The functions it calls.
    called: HashSet<usize>,
    pub(super) nodes: usize,
    pub(super) kept: usize,
}

/// Returns the functions needed directly or indirectly by `roots`.
pub(super) fn reachable(roots: &HashSet<usize>, functions: &[Imported]) -> HashSet<usize> {
    let mut found = roots.clone();
    let mut pending: Vec<usize> = roots.iter().copied().collect();
    while let Some(function) = pending.pop() {
        for &called in &functions[function].called {
            if found.insert(called) {
                pending.push(called);
            }
        }
    }
    found
}

impl<'a> Importer<'a> {
    /// Imports all functions of a model, callees first.
    pub(super) fn functions(&mut self, protos: &'a [FunctionProto]) -> Result<Vec<Imported>> {
        for (index, proto) in protos.iter().enumerate() {
            let domain = normal_domain(&proto.domain);
            let key = (domain, proto.name.as_str(), proto.overload.as_str());
            match self.functions.entry(key) {
                Entry::Vacant(entry) => _ = entry.insert(index),
                Entry::Occupied(_) => {
                    return Err(OnnxError::value("it is defined twice").within(place(proto)));
                }
            }
        }
        let calls: Vec<Vec<usize>> = protos.iter().map(|proto| self.calls(proto)).collect();
        let mut imported: Vec<Imported> = Vec::new();
        imported.resize_with(protos.len(), Imported::default);
        for index in callees_first(protos, &calls)? {
            let proto = &protos[index];
            imported[index] = self.function(index, proto).within(|| place(proto))?;
        }
        Ok(imported)
    }

    /// The local functions called by a function, including the calls in its bodies.
    fn calls(&self, proto: &FunctionProto) -> Vec<usize> {
        let mut found = Vec::new();
        let mut pending: Vec<&[NodeProto]> = vec![&proto.node];
        while let Some(nodes) = pending.pop() {
            for node in nodes {
                let domain = normal_domain(&node.domain);
                let key = (domain, node.op_type.as_str(), node.overload.as_str());
                found.extend(self.functions.get(&key));
                for attr in &node.attribute {
                    let graphs = attr.g.as_deref().into_iter().chain(&attr.graphs);
                    pending.extend(graphs.map(|graph: &GraphProto| graph.node.as_slice()));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn function(&mut self, index: usize, proto: &'a FunctionProto) -> Result<Imported> {
        let name = full_name(normal_domain(&proto.domain), &proto.name, &proto.overload);
        let with_default = proto.attribute_proto.iter().map(|attr| &attr.name);
        let attributes = proto.attribute.iter().chain(with_default);
        let mut unit = Unit {
            opsets: opsets(&proto.opset_import)?,
            attributes: Some(attributes.map(String::as_str).collect()),
            called: HashSet::new(),
        };
        let mut scope = Scope::default();
        let mut params = Vec::with_capacity(proto.input.len());
        for (position, input) in proto.input.iter().enumerate() {
            let param = Ref::new(Input {
                name: input.as_str().into(),
                ty: Value::NONE,
                default: Value::NONE,
                graph: name.as_str().into(),
                in_function: true,
                position: position as i64,
                meta: None,
            });
            scope.define("input", input, Definition::Value((&param).into()))?;
            params.push(param);
        }
        for (position, output) in proto.output.iter().enumerate() {
            if output.is_empty() {
                return Err(OnnxError::value(format!("output #{position} has no name")));
            }
        }
        let (attrs, attr_defaults) = self.attribute_parameters(&mut unit, proto)?;
        let results = proto.output.iter().map(String::as_str).collect();
        let mut plan = self.plan(&mut Vec::new(), scope, &proto.node, results)?;
        plan.name.clone_from(&name);
        let results = self.build(&mut unit, &mut Vec::new(), &mut plan, true)?;
        self.built[index] = Some(Ref::new(Function {
            params: params.into(),
            attrs,
            attr_defaults: attr_defaults.into_iter().collect(),
            results: results.into(),
            name: name.into(),
            result_names: proto.output.iter().map(Str::from).collect(),
            doc: proto.doc_string.as_str().into(),
            meta: kept::of_function(proto)?,
        }));
        Ok(Imported {
            called: unit.called,
            nodes: plan.nodes,
            kept: plan.kept,
        })
    }

    /// The names of the attributes without a default, and of the attributes with a
    /// default.
    fn attribute_parameters(
        &mut self,
        unit: &mut Unit<'a>,
        proto: &'a FunctionProto,
    ) -> Result<(Array<Str>, HashMap<Str, Value>)> {
        let mut names: Vec<&str> = proto.attribute.iter().map(String::as_str).collect();
        names.sort_unstable();
        let twice = |name: &str| {
            OnnxError::value("it is defined twice").within(format!("attribute '{name}'"))
        };
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(twice(pair[0]));
        }
        let mut defaults = HashMap::new();
        for attr in &proto.attribute_proto {
            let place = || format!("attribute '{}'", attr.name);
            if names.binary_search(&attr.name.as_str()).is_ok() {
                return Err(twice(&attr.name));
            }
            let value = self
                .attribute(unit, &mut Vec::new(), attr, |_| None)
                .within(place)?;
            if defaults.insert(attr.name.as_str().into(), value).is_some() {
                return Err(twice(&attr.name));
            }
        }
        Ok((names.into_iter().map(Str::from).collect(), defaults))
    }
}

fn place(proto: &FunctionProto) -> String {
    let domain = normal_domain(&proto.domain);
    format!(
        "function '{}'",
        full_name(domain, &proto.name, &proto.overload)
    )
}

/// Sorts functions such that callees come before callers.
fn callees_first(protos: &[FunctionProto], calls: &[Vec<usize>]) -> Result<Vec<usize>> {
    let mut order = Vec::with_capacity(calls.len());
    let mut done = vec![false; calls.len()];
    let mut open = vec![false; calls.len()];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for start in 0..calls.len() {
        if !done[start] {
            open[start] = true;
            stack.push((start, 0));
        }
        while let Some((function, next)) = stack.last_mut() {
            let Some(&called) = calls[*function].get(*next) else {
                done[*function] = true;
                open[*function] = false;
                order.push(*function);
                stack.pop();
                continue;
            };
            *next += 1;
            if open[called] {
                let path = stack.iter().map(|&(function, _)| function);
                let cycle = path.skip_while(|&function| function != called);
                let names: Vec<&str> = cycle
                    .chain([called])
                    .map(|function| protos[function].name.as_str())
                    .collect();
                return Err(OnnxError::value(format!(
                    "functions call one another in a circle: {}",
                    names.join(" > ")
                ))
                .within(place(&protos[called])));
            }
            if !done[called] {
                open[called] = true;
                stack.push((called, 0));
            }
        }
    }
    Ok(order)
}
