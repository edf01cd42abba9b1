//! Types and symbolic dimensions.

use std::collections::HashMap;

use isoform::{Array, Ref, Value};

use super::{context::normal_domain, scope::Scope};
use crate::{
    elem_type::ElemType,
    error::{OnnxError, Result},
    ir::{Dim, MapType, OpaqueType, OptionalType, SequenceType, SparseTensorType, TensorType},
    proto::{DimensionValue, TensorShapeProto, TypeProto, TypeValue},
};

/// The symbolic dimensions usable by a type: the dimensions of the body, to which the
/// type may add, and of the enclosing bodies.
pub(super) struct Dims<'s, 'a> {
    pub(super) own: &'s mut HashMap<&'a str, Ref<Dim>>,
    pub(super) outer: &'s [Scope<'a>],
}

impl<'a> Dims<'_, 'a> {
    fn get(&mut self, name: &'a str) -> Ref<Dim> {
        let outer = || {
            let mut scopes = self.outer.iter().rev();
            scopes.find_map(|scope| scope.dims.get(name)).cloned()
        };
        if let Some(dim) = self.own.get(name).cloned().or_else(outer) {
            return dim;
        }
        let dim = Dim::new(name);
        self.own.insert(name, dim.clone());
        dim
    }
}

/// An element type as a value; zero means an unknown type.
fn elem(code: i32) -> Result<Value> {
    if code == 0 {
        return Ok(Value::NONE);
    }
    let elem = ElemType::from_code(code)
        .ok_or_else(|| OnnxError::value(format!("{code} is not an element type")))?;
    Ok(elem.dtype().map_or_else(|| elem.name().into(), Value::from))
}

fn shape<'a>(shape: Option<&'a TensorShapeProto>, dims: &mut Dims<'_, 'a>) -> Option<Array> {
    let dim = |value: &'a Option<DimensionValue>| match value {
        // Some exporters write -1 for an unknown extent.
        Some(DimensionValue::DimValue(extent)) if *extent < 0 => Value::NONE,
        Some(DimensionValue::DimValue(extent)) => Value::from(*extent),
        Some(DimensionValue::DimParam(name)) if !name.is_empty() => dims.get(name).into(),
        // An empty name means the same as no name.
        Some(DimensionValue::DimParam(_)) | None => Value::NONE,
    };
    Some(
        shape?
            .dim
            .iter()
            .map(|entry| &entry.value)
            .map(dim)
            .collect(),
    )
}

/// A type constructor around a type that is yet to be built.
enum Wrapper {
    Sequence,
    Optional,
    Map(Value),
}

/// Converts a type to a value; None if the type is unknown.
pub(super) fn type_value<'a>(ty: Option<&'a TypeProto>, dims: &mut Dims<'_, 'a>) -> Result<Value> {
    let mut wrappers = Vec::new();
    let mut inside = ty;
    let innermost = loop {
        let Some(value) = inside.and_then(|ty| ty.value.as_ref()) else {
            break Value::NONE;
        };
        inside = match value {
            TypeValue::TensorType(ty) => {
                break Ref::new(TensorType {
                    elem: elem(ty.elem_type)?,
                    shape: shape(ty.shape.as_ref(), dims),
                })
                .into();
            }
            TypeValue::SparseTensorType(ty) => {
                break Ref::new(SparseTensorType {
                    elem: elem(ty.elem_type)?,
                    shape: shape(ty.shape.as_ref(), dims),
                })
                .into();
            }
            TypeValue::OpaqueType(ty) => {
                break Ref::new(OpaqueType {
                    domain: normal_domain(&ty.domain).into(),
                    name: ty.name.as_str().into(),
                })
                .into();
            }
            TypeValue::SequenceType(ty) => {
                wrappers.push(Wrapper::Sequence);
                ty.elem_type.as_ref()
            }
            TypeValue::OptionalType(ty) => {
                wrappers.push(Wrapper::Optional);
                ty.elem_type.as_ref()
            }
            TypeValue::MapType(ty) => {
                wrappers.push(Wrapper::Map(elem(ty.key_type)?));
                ty.value_type.as_ref()
            }
        };
    };
    Ok(wrappers
        .into_iter()
        .rev()
        .fold(innermost, |value, wrapper| match wrapper {
            Wrapper::Sequence => Ref::new(SequenceType { elem: value }).into(),
            Wrapper::Optional => Ref::new(OptionalType { elem: value }).into(),
            Wrapper::Map(key) => Ref::new(MapType { key, value }).into(),
        }))
}
