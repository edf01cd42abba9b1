//! Attributes of nodes, and default values of functions' attributes.

use bytes::Bytes;
use isoform::values::ValueRef;
use isoform::{Array, Ref, Value};

use super::{
    types::{ConstantProto, constant_proto, type_proto},
    values::{Key, named_values},
    writer::{Context, Writer},
};
use crate::{
    error::{OnnxError, Result, ResultExt},
    ir::{AttrRef, Call, Graph, TypeAttr},
    proto::{AttributeProto, AttributeType, GraphProto, TensorProto},
    schema::lookup,
};

impl Writer<'_, '_> {
    /// The attribute of a call; `kept` is the description from the file.
    pub(super) fn call_attribute(
        &mut self,
        call: &Call,
        name: &str,
        value: &Value,
        kept: Option<&AttributeProto>,
    ) -> Result<AttributeProto> {
        if let Some(items) = named_values(call, name, value) {
            return self.names_of(name, items, kept);
        }
        let expected = || {
            let schema = lookup(&call.domain, &call.op, call.version)?;
            Some(schema.attribute(name)?.kind)
        };
        self.attribute(name, value, kept, expected)
    }

    /// An attribute that names values.
    fn names_of(
        &mut self,
        name: &str,
        items: &Array,
        kept: Option<&AttributeProto>,
    ) -> Result<AttributeProto> {
        let mut names = Vec::new();
        for item in items.values() {
            names.push(text(self.names.of(&Key::of(item)?)?));
        }
        let is_single = match kept.map(AttributeProto::r#type) {
            None | Some(AttributeType::Undefined) => name == "y",
            Some(kind) => kind == AttributeType::String,
        };
        let mut attr = AttributeProto {
            name: name.into(),
            ..Default::default()
        };
        match (is_single, names.as_slice()) {
            (true, [single]) => {
                attr.s = Some(single.clone());
                attr.set_type(AttributeType::String);
            }
            _ => {
                attr.strings = names;
                attr.set_type(AttributeType::Strings);
            }
        }
        Ok(attr)
    }

    /// An attribute; `expected` is the kind declared by the operator, if known.
    pub(super) fn attribute(
        &mut self,
        name: &str,
        value: &Value,
        kept: Option<&AttributeProto>,
        expected: impl Fn() -> Option<AttributeType>,
    ) -> Result<AttributeProto> {
        use AttributeType as Kind;
        let expected_kind = || {
            let kept = kept.map(AttributeProto::r#type);
            kept.filter(|&kind| kind != Kind::Undefined)
                .or_else(&expected)
        };
        let mut attr = AttributeProto {
            name: name.into(),
            ..Default::default()
        };
        let kind = match value.view() {
            ValueRef::Int(number) => {
                attr.i = Some(number);
                Kind::Int
            }
            ValueRef::Float(number) => {
                attr.f = Some(single(number)?);
                Kind::Float
            }
            ValueRef::Str(string) => {
                attr.s = Some(text(string));
                Kind::String
            }
            ValueRef::Bytes(bytes) => {
                attr.s = Some(Bytes::copy_from_slice(bytes));
                Kind::String
            }
            ValueRef::Array(items) => {
                if items.values().is_empty() {
                    expected_kind()
                        .filter(|kind| kind.is_list())
                        .unwrap_or(Kind::Ints)
                } else {
                    self.list(&mut attr, items)?
                }
            }
            _ => self.object(&mut attr, value, &expected_kind)?,
        };
        attr.set_type(kind);
        if let Some(kept) = kept {
            attr.doc_string.clone_from(&kept.doc_string);
            if let (Some(tensor), Some(kept)) = (&mut attr.t, &kept.t) {
                tensor.name.clone_from(&kept.name);
                describe_tensor(tensor, kept);
            }
        }
        Ok(attr)
    }

    /// An attribute with a single object.
    fn object(
        &mut self,
        attr: &mut AttributeProto,
        value: &Value,
        expected_kind: &dyn Fn() -> Option<AttributeType>,
    ) -> Result<AttributeType> {
        if let Some(constant) = constant_proto(value, "")? {
            return Ok(match constant {
                ConstantProto::Dense(tensor) => {
                    attr.t = Some(tensor);
                    AttributeType::Tensor
                }
                ConstantProto::Sparse(tensor) => {
                    attr.sparse_tensor = Some(tensor);
                    AttributeType::SparseTensor
                }
            });
        }
        if let Some(graph) = value.peek::<Ref<Graph>>() {
            attr.g = Some(Box::new(self.body_in(graph)?));
            return Ok(AttributeType::Graph);
        }
        if let Some(ty) = value.peek::<Ref<TypeAttr>>() {
            attr.tp = Some(Box::new(self.type_in(ty)?));
            return Ok(AttributeType::TypeProto);
        }
        if let Some(reference) = value.peek::<Ref<AttrRef>>() {
            let is_known = match &self.context {
                Context::Main => false,
                Context::Function(function) => {
                    let name = &reference.name;
                    function.attrs.iter().any(|attr| attr == name)
                        || function.attr_defaults.iter().any(|(attr, _)| attr == name)
                }
            };
            if !is_known {
                return Err(OnnxError::value(format!(
                    "it refers to the attribute '{}', which is not one of an enclosing function",
                    reference.name
                )));
            }
            attr.ref_attr_name = reference.name.to_string();
            return Ok(expected_kind().unwrap_or(AttributeType::Undefined));
        }
        Err(OnnxError::value(format!(
            "expected an int, float, string, bytes, constant, onnx.Graph, onnx.TypeAttr, \
             onnx.AttrRef, or an array of these, got {}",
            value.type_name()
        )))
    }

    /// An attribute that is a list with elements, all of the kind of the first.
    fn list(&mut self, attr: &mut AttributeProto, items: &Array) -> Result<AttributeType> {
        let mut kind = None;
        for (index, item) in items.values().iter().enumerate() {
            let found = self
                .element(attr, item)
                .within(|| format!("element #{index}"))?;
            if *kind.get_or_insert(found) != found {
                return Err(OnnxError::value(format!(
                    "element #{index}: expected the same kind as the elements before it, got {}",
                    item.type_name()
                )));
            }
        }
        Ok(kind.unwrap_or(AttributeType::Ints))
    }

    /// Adds an element of a list, and says of which kind the list is.
    fn element(&mut self, attr: &mut AttributeProto, item: &Value) -> Result<AttributeType> {
        use AttributeType as Kind;
        match item.view() {
            ValueRef::Int(number) => {
                attr.ints.push(number);
                return Ok(Kind::Ints);
            }
            ValueRef::Float(number) => {
                attr.floats.push(single(number)?);
                return Ok(Kind::Floats);
            }
            ValueRef::Str(string) => {
                attr.strings.push(text(string));
                return Ok(Kind::Strings);
            }
            ValueRef::Bytes(bytes) => {
                attr.strings.push(Bytes::copy_from_slice(bytes));
                return Ok(Kind::Strings);
            }
            _ => {}
        }
        if let Some(constant) = constant_proto(item, "")? {
            return Ok(match constant {
                ConstantProto::Dense(tensor) => {
                    attr.tensors.push(*tensor);
                    Kind::Tensors
                }
                ConstantProto::Sparse(tensor) => {
                    attr.sparse_tensors.push(*tensor);
                    Kind::SparseTensors
                }
            });
        }
        if let Some(graph) = item.peek::<Ref<Graph>>() {
            attr.graphs.push(self.body_in(graph)?);
            return Ok(Kind::Graphs);
        }
        if let Some(ty) = item.peek::<Ref<TypeAttr>>() {
            attr.type_protos.push(self.type_in(ty)?);
            return Ok(Kind::TypeProtos);
        }
        Err(OnnxError::value(format!(
            "expected an int, float, string, bytes, constant, onnx.Graph or onnx.TypeAttr, got {}",
            item.type_name()
        )))
    }

    fn body_in(&mut self, graph: &Ref<Graph>) -> Result<GraphProto> {
        let body = self
            .values
            .body_of
            .get(&graph.identity())
            .copied()
            .ok_or_else(|| OnnxError::value("a graph is not possible here"))?;
        self.graph(body)
            .within(|| format!("graph '{}'", graph.name))
    }

    fn type_in(&mut self, ty: &TypeAttr) -> Result<crate::proto::TypeProto> {
        // Dimensions that no signature introduces belong to this attribute alone.
        self.dims.enter();
        let made = type_proto(&ty.ty, &mut self.dims);
        self.dims.leave();
        Ok(made?.unwrap_or_default())
    }
}

/// Adds the file's description of a tensor.
pub(super) fn describe_tensor(tensor: &mut TensorProto, kept: &TensorProto) {
    tensor.doc_string.clone_from(&kept.doc_string);
    tensor.metadata_props.clone_from(&kept.metadata_props);
}

fn text(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// A float of the file format, with 32 bits.
fn single(number: f64) -> Result<f32> {
    let narrow = number as f32;
    if narrow.is_infinite() && number.is_finite() {
        Err(OnnxError::value(format!(
            "expected a float of 32 bits, got {number}, which is larger"
        )))
    } else {
        Ok(narrow)
    }
}
