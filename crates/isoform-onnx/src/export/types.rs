//! Types and constants as messages of the file format.

use std::collections::HashMap;

use isoform::values::{DType, ValueRef};
use isoform::{Array, Ref, Str, Value};

use crate::{
    elem_type::ElemType,
    error::{OnnxError, Result, ResultExt},
    ir::{
        Dim, MapType, OpaqueType, OptionalType, SequenceType, SparseTensor, SparseTensorType,
        StringTensor, TensorType,
    },
    proto::{
        DimensionProto, DimensionValue, MapTypeProto, OpaqueTypeProto, OptionalTypeProto,
        SequenceTypeProto, SparseTensorProto, SparseTensorTypeProto, TensorProto, TensorShapeProto,
        TensorTypeProto, TypeProto, TypeValue,
    },
};

/// The deepest nesting of types that a reader of the file can decode.
const MAX_NESTING: usize = 32;

/// The names of symbolic dimensions. A dimension keeps its name wherever the name is
/// visible, and different dimensions never share a visible name.
#[derive(Default)]
pub(super) struct Dims {
    names: HashMap<u64, Str>,
    /// For each enclosing graph, the names introduced by the graph, with the identities of
    /// the dimensions.
    scopes: Vec<HashMap<Str, u64>>,
    fresh: usize,
}

impl Dims {
    /// Enters a graph; a name introduced by the graph is free again outside.
    pub(super) fn enter(&mut self) {
        self.scopes.push(HashMap::new());
    }

    /// Leaves the graph that was entered last.
    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    fn holder(&self, name: &Str) -> Option<u64> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.get(name))
            .copied()
    }

    fn name(&mut self, dim: &Ref<Dim>) -> Str {
        let ident = dim.identity();
        if let Some(name) = self.names.get(&ident)
            && self.holder(name) == Some(ident)
        {
            return name.clone();
        }
        let mut name = dim.name.clone();
        while name.is_empty() || self.holder(&name).is_some() {
            self.fresh += 1;
            let base = if dim.name.is_empty() {
                "dim"
            } else {
                dim.name.as_str()
            };
            name = format!("{base}_{}", self.fresh).into();
        }
        self.names.insert(ident, name.clone());
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.clone(), ident);
        }
        name
    }
}

/// The element type of a data type.
fn elem_of(found: DType) -> Result<ElemType> {
    let mut all = ElemType::ALL.iter().copied();
    all.find(|&elem| elem.dtype() == Some(found))
        .ok_or_else(|| OnnxError::value(format!("no tensor can have elements of type {found}")))
}

/// The number of an element type; zero if it is unknown.
fn elem(value: &Value) -> Result<i32> {
    match value.view() {
        ValueRef::None => Ok(0),
        ValueRef::DType(dtype) => Ok(elem_of(dtype)?.code()),
        ValueRef::Str("string") => Ok(ElemType::String.code()),
        _ => Err(OnnxError::value(format!(
            "expected a dtype, the string \"string\" or None as element type, got {}",
            value.type_name()
        ))),
    }
}

fn shape(shape: Option<&Array>, dims: &mut Dims) -> Result<Option<TensorShapeProto>> {
    let Some(shape) = shape else {
        return Ok(None);
    };
    let mut dim = Vec::with_capacity(shape.values().len());
    for (axis, value) in shape.values().iter().enumerate() {
        let named = value
            .as_object()
            .and_then(|object| object.downcast_ref::<Dim>());
        let value = match (value.view(), named) {
            (ValueRef::None, _) => None,
            (ValueRef::Int(extent), _) => Some(DimensionValue::DimValue(extent)),
            (_, Some(named)) => Some(DimensionValue::DimParam(dims.name(named).to_string())),
            _ => {
                return Err(OnnxError::value(format!(
                    "dimension #{axis}: expected an int, onnx.Dim or None, got {}",
                    value.type_name()
                )));
            }
        };
        dim.push(DimensionProto {
            value,
            ..Default::default()
        });
    }
    Ok(Some(TensorShapeProto { dim }))
}

/// A type constructor around another type.
enum Wrapper {
    Sequence,
    Optional,
    Map(i32),
}

/// A type; None if it is unknown.
pub(super) fn type_proto(ty: &Value, dims: &mut Dims) -> Result<Option<TypeProto>> {
    let mut wrappers = Vec::new();
    let mut inside = ty.clone();
    let innermost = loop {
        if inside.is_none() {
            break None;
        }
        if wrappers.len() > MAX_NESTING {
            return Err(OnnxError::value(format!(
                "types are nested more than {MAX_NESTING} deep"
            )));
        }
        if let Some(ty) = inside.peek::<Ref<SequenceType>>() {
            wrappers.push(Wrapper::Sequence);
            inside = ty.elem.clone();
        } else if let Some(ty) = inside.peek::<Ref<OptionalType>>() {
            wrappers.push(Wrapper::Optional);
            inside = ty.elem.clone();
        } else if let Some(ty) = inside.peek::<Ref<MapType>>() {
            wrappers.push(Wrapper::Map(elem(&ty.key)?));
            inside = ty.value.clone();
        } else {
            break Some(plain_type(&inside, dims)?);
        }
    };
    let wrapped = |value| {
        Some(TypeProto {
            value: Some(value),
            ..Default::default()
        })
    };
    let wrappers = wrappers.into_iter().rev();
    Ok(wrappers.fold(innermost, |inner, wrapper| {
        wrapped(match wrapper {
            Wrapper::Sequence => {
                TypeValue::SequenceType(Box::new(SequenceTypeProto { elem_type: inner }))
            }
            Wrapper::Optional => {
                TypeValue::OptionalType(Box::new(OptionalTypeProto { elem_type: inner }))
            }
            Wrapper::Map(key_type) => TypeValue::MapType(Box::new(MapTypeProto {
                key_type,
                value_type: inner,
            })),
        })
    }))
}

/// A type that is not made of another type.
fn plain_type(ty: &Value, dims: &mut Dims) -> Result<TypeProto> {
    let value = if let Some(ty) = ty.peek::<Ref<TensorType>>() {
        TypeValue::TensorType(TensorTypeProto {
            elem_type: elem(&ty.elem)?,
            shape: shape(ty.shape.as_ref(), dims)?,
        })
    } else if let Some(ty) = ty.peek::<Ref<SparseTensorType>>() {
        TypeValue::SparseTensorType(SparseTensorTypeProto {
            elem_type: elem(&ty.elem)?,
            shape: shape(ty.shape.as_ref(), dims)?,
        })
    } else if let Some(ty) = ty.peek::<Ref<OpaqueType>>() {
        TypeValue::OpaqueType(OpaqueTypeProto {
            domain: ty.domain.to_string(),
            name: ty.name.to_string(),
        })
    } else {
        return Err(OnnxError::value(format!(
            "expected a type such as onnx.TensorType or None, got {}",
            ty.type_name()
        )));
    };
    Ok(TypeProto {
        value: Some(value),
        ..Default::default()
    })
}

/// Adds the denotations of another type, as far as both types have the same form.
pub(super) fn add_denotations(ty: &mut TypeProto, from: &TypeProto) {
    let (mut ty, mut from) = (ty, from);
    loop {
        ty.denotation.clone_from(&from.denotation);
        let next = match (&mut ty.value, &from.value) {
            (Some(TypeValue::TensorType(ty)), Some(TypeValue::TensorType(from))) => {
                return shape_denotations(ty.shape.as_mut(), from.shape.as_ref());
            }
            (Some(TypeValue::SparseTensorType(ty)), Some(TypeValue::SparseTensorType(from))) => {
                return shape_denotations(ty.shape.as_mut(), from.shape.as_ref());
            }
            (Some(TypeValue::SequenceType(ty)), Some(TypeValue::SequenceType(from))) => {
                (ty.elem_type.as_mut(), from.elem_type.as_ref())
            }
            (Some(TypeValue::OptionalType(ty)), Some(TypeValue::OptionalType(from))) => {
                (ty.elem_type.as_mut(), from.elem_type.as_ref())
            }
            (Some(TypeValue::MapType(ty)), Some(TypeValue::MapType(from))) => {
                (ty.value_type.as_mut(), from.value_type.as_ref())
            }
            _ => return,
        };
        let (Some(inner), Some(from_inner)) = next else {
            return;
        };
        (ty, from) = (inner, from_inner);
    }
}

fn shape_denotations(shape: Option<&mut TensorShapeProto>, from: Option<&TensorShapeProto>) {
    if let (Some(shape), Some(from)) = (shape, from)
        && shape.dim.len() == from.dim.len()
    {
        for (dim, from) in shape.dim.iter_mut().zip(&from.dim) {
            dim.denotation.clone_from(&from.denotation);
        }
    }
}

/// A constant as a message.
pub(super) enum ConstantProto {
    Dense(Box<TensorProto>),
    Sparse(Box<SparseTensorProto>),
}

/// A constant with this name, sharing the memory of the value; None if the value is not
/// a constant.
pub(super) fn constant_proto(value: &Value, name: &str) -> Result<Option<ConstantProto>> {
    if let Some(sparse) = value.peek::<Ref<SparseTensor>>() {
        let made = Box::new(sparse_proto(sparse, name)?);
        return Ok(Some(ConstantProto::Sparse(made)));
    }
    Ok(dense_proto(value, name)?.map(|dense| ConstantProto::Dense(Box::new(dense))))
}

fn dense_proto(value: &Value, name: &str) -> Result<Option<TensorProto>> {
    if let ValueRef::Tensor(tensor) = value.view() {
        return Ok(Some(TensorProto {
            name: name.into(),
            dims: tensor.shape().to_vec(),
            data_type: elem_of(tensor.dtype())?.code(),
            raw_data: Some(tensor.data().clone()),
            ..Default::default()
        }));
    }
    let Some(strings) = value.peek::<Ref<StringTensor>>() else {
        return Ok(None);
    };
    let count = strings
        .shape
        .iter()
        .try_fold(1_i64, |count, &dim| count.checked_mul(dim));
    let got = strings.values.len();
    if count.and_then(|count| usize::try_from(count).ok()) != Some(got) {
        return Err(OnnxError::value(format!(
            "a constant of shape {:?} cannot have {got} strings",
            &strings.shape[..]
        )));
    }
    let texts = strings.values.iter();
    Ok(Some(TensorProto {
        name: name.into(),
        dims: strings.shape.to_vec(),
        data_type: ElemType::String.code(),
        string_data: texts
            .map(|text| bytes::Bytes::copy_from_slice(text))
            .collect(),
        ..Default::default()
    }))
}

fn sparse_proto(sparse: &SparseTensor, name: &str) -> Result<SparseTensorProto> {
    let positions = &sparse.positions;
    let is_right =
        ElemType::Uint64.dtype() == Some(positions.dtype()) && positions.shape().len() == 1;
    if !is_right {
        return Err(OnnxError::value(format!(
            "positions of a sparse constant: expected uint64 of rank 1, got {} of shape {:?}",
            positions.dtype(),
            positions.shape()
        )));
    }
    let values = dense_proto(&sparse.values, name).within(|| "values of a sparse constant")?;
    let values = values.ok_or_else(|| {
        OnnxError::value(format!(
            "values of a sparse constant: expected a tensor or onnx.StringTensor, got {}",
            sparse.values.type_name()
        ))
    })?;
    if values.dims != positions.shape() {
        return Err(OnnxError::value(format!(
            "values of a sparse constant: expected shape {:?} as the positions have, got {:?}",
            positions.shape(),
            values.dims
        )));
    }
    let indices = TensorProto {
        dims: positions.shape().to_vec(),
        data_type: ElemType::Int64.code(),
        // Positions lie below the number of elements, so their bits are the same as
        // int64.
        raw_data: Some(positions.data().clone()),
        ..Default::default()
    };
    Ok(SparseTensorProto {
        values: Some(values),
        indices: Some(indices),
        dims: sparse.shape.to_vec(),
    })
}
