//! Attributes of nodes.

use std::collections::HashMap;

use isoform::{Array, Map, Ref, Str, Value};

use super::{
    attribute_kind::{fields, kind, names_in, names_values},
    context::{Importer, Unit},
    plan::{Bodies, Plan},
    scope::{self, Scope},
    types::{Dims, type_value},
};
use crate::{
    error::{OnnxError, Result, ResultExt},
    ir::{AttrRef, TypeAttr},
    proto::{AttributeProto, AttributeType, NodeProto, TypeProto},
};

impl<'a> Importer<'a> {
    /// All attributes of a node at `position` in its body.
    pub(super) fn attributes(
        &mut self,
        unit: &mut Unit<'a>,
        scopes: &mut Vec<Scope<'a>>,
        node: &'a NodeProto,
        position: usize,
        bodies: &mut Bodies<'a>,
    ) -> Result<Map<Str, Value>> {
        let mut values: Vec<(Str, Value)> = Vec::with_capacity(node.attribute.len());
        let mut seen = std::collections::HashSet::new();
        for (index, attr) in node.attribute.iter().enumerate() {
            let place = || format!("attribute '{}'", attr.name);
            if attr.name.is_empty() {
                return Err(OnnxError::value(format!("attribute #{index} has no name")));
            }
            if !seen.insert(attr.name.as_str()) {
                return Err(OnnxError::value("it is given twice").within(place()));
            }
            let value = if names_values(node, attr) {
                self.named_values(scopes, attr)
            } else {
                let body = |graph| bodies.remove(&(position, index, graph));
                self.attribute(unit, scopes, attr, body)
            };
            values.push((attr.name.as_str().into(), value.within(place)?));
        }
        Ok(values.into_iter().collect())
    }

    fn named_values(&mut self, scopes: &[Scope<'a>], attr: &'a AttributeProto) -> Result<Value> {
        let mut values = Vec::new();
        for name in names_in(attr)? {
            values.push(scope::value(scopes, name)?);
        }
        Ok(values.into())
    }

    /// One attribute; `body` hands out the planned graphs.
    pub(super) fn attribute(
        &mut self,
        unit: &mut Unit<'a>,
        scopes: &mut Vec<Scope<'a>>,
        attr: &'a AttributeProto,
        mut body: impl FnMut(usize) -> Option<Plan<'a>>,
    ) -> Result<Value> {
        if !attr.ref_attr_name.is_empty() {
            return reference(unit, attr);
        }
        let mut graph = |importer: &mut Self, unit: &mut Unit<'a>, position, name: &str| {
            let plan = body(position)
                .ok_or_else(|| OnnxError::unsupported("a graph is not possible here"))?;
            importer
                .build_graph(unit, scopes, plan)
                .map(Value::from)
                .within(|| format!("graph '{name}'"))
        };
        Ok(match kind(attr)? {
            AttributeType::Undefined => Value::NONE,
            AttributeType::Float => f64::from(attr.f.unwrap_or_default()).into(),
            AttributeType::Int => attr.i.unwrap_or_default().into(),
            AttributeType::String => text(&attr.s.clone().unwrap_or_default()),
            AttributeType::Floats => list(attr.floats.iter().map(|&x| f64::from(x).into())),
            AttributeType::Ints => list(attr.ints.iter().map(|&x| x.into())),
            AttributeType::Strings => list(attr.strings.iter().map(text)),
            AttributeType::Tensor => match &attr.t {
                Some(tensor) => self.tensor(tensor)?,
                None => Value::NONE,
            },
            AttributeType::Tensors => {
                let values = attr.tensors.iter().map(|tensor| self.tensor(tensor));
                values.collect::<Result<Vec<Value>>>()?.into()
            }
            AttributeType::SparseTensor => match &attr.sparse_tensor {
                Some(sparse) => self.sparse_tensor(sparse)?,
                None => Value::NONE,
            },
            AttributeType::SparseTensors => {
                let values = attr
                    .sparse_tensors
                    .iter()
                    .map(|sparse| self.sparse_tensor(sparse));
                values.collect::<Result<Vec<Value>>>()?.into()
            }
            AttributeType::Graph => match &attr.g {
                Some(proto) => graph(self, unit, 0, &proto.name)?,
                None => Value::NONE,
            },
            AttributeType::Graphs => {
                let graphs = attr.graphs.iter().enumerate();
                let values =
                    graphs.map(|(position, proto)| graph(self, unit, position, &proto.name));
                values.collect::<Result<Vec<Value>>>()?.into()
            }
            AttributeType::TypeProto => type_attribute(scopes, attr.tp.as_deref())?,
            AttributeType::TypeProtos => {
                let types = attr.type_protos.iter();
                let values = types.map(|ty| type_attribute(scopes, Some(ty)));
                values.collect::<Result<Vec<Value>>>()?.into()
            }
        })
    }
}

/// A use of an attribute of the enclosing function.
fn reference(unit: &Unit<'_>, attr: &AttributeProto) -> Result<Value> {
    let name = attr.ref_attr_name.as_str();
    let Some(attributes) = &unit.attributes else {
        return Err(OnnxError::value(format!(
            "it refers to the attribute '{name}' of a function, but is not in a function"
        )));
    };
    if !attributes.contains(name) {
        return Err(OnnxError::key(format!(
            "the function has no attribute '{name}'"
        )));
    }
    if let Some((_, field, _)) = fields(attr).iter().find(|(_, _, filled)| *filled) {
        return Err(OnnxError::value(format!(
            "both {field} and a reference to '{name}' are given"
        )));
    }
    Ok(Ref::new(AttrRef { name: name.into() }).into())
}

/// A type that may use symbolic dimensions of the enclosing graphs. Dimensions that no
/// signature introduces belong to this attribute alone: the result does not depend on
/// the order in which attributes are imported.
fn type_attribute<'a>(scopes: &[Scope<'a>], ty: Option<&'a TypeProto>) -> Result<Value> {
    let mut own = HashMap::new();
    let mut dims = Dims {
        own: &mut own,
        outer: scopes,
    };
    let ty = type_value(ty, &mut dims)?;
    Ok(Ref::new(TypeAttr { ty }).into())
}

/// Text as a string, or as bytes if not UTF-8.
fn text(bytes: &bytes::Bytes) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => isoform::values::Bytes::from(bytes.clone()).into(),
    }
}

fn list(values: impl Iterator<Item = Value>) -> Value {
    values.collect::<Array>().into()
}
