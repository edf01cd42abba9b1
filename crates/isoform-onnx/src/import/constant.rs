//! Constants: initializers, tensors in attributes, and the values of `Constant` nodes.

use isoform::values::{Bytes, DType, DTypeCode, Shape, Tensor};
use isoform::{Array, Ref, Value};

use super::context::{Importer, from_library};
use crate::{
    error::{OnnxError, Result, ResultExt},
    ir::{SparseTensor, StringTensor},
    proto::{AttributeProto, AttributeType, NodeProto, SparseTensorProto, TensorProto},
    sparse::decode_sparse_tensor,
    tensor_data::{TensorData, TensorPayload, decode_tensor},
};

impl Importer<'_> {
    /// A tensor as a value that shares the memory of the file.
    pub(super) fn tensor(&mut self, tensor: &TensorProto) -> Result<Value> {
        let data = decode_tensor(tensor, self.resolver)?;
        let is_left_out = data
            .bytes()
            .is_some_and(|bytes| self.resolver.is_stand_in(bytes));
        let value = self
            .constant(data)
            .within(|| format!("tensor '{}'", tensor.name))?;
        if is_left_out {
            self.left_out.extend(value.peek::<Tensor>().cloned());
        }
        Ok(value)
    }

    /// A sparse tensor as a value.
    pub(super) fn sparse_tensor(&mut self, sparse: &SparseTensorProto) -> Result<Value> {
        let data = decode_sparse_tensor(sparse, self.resolver)?;
        let bytes = data.positions.iter().flat_map(|at| at.to_le_bytes());
        let positions = self.numbers(
            DType::new(DTypeCode::UInt, 64),
            vec![length(data.positions.len())?],
            bytes.collect::<Vec<u8>>().into(),
        )?;
        Ok(Ref::new(SparseTensor {
            shape: data.dims.into(),
            positions,
            values: self.constant(data.values)?,
        })
        .into())
    }

    fn constant(&mut self, data: TensorData) -> Result<Value> {
        match (data.data, data.elem.dtype()) {
            (TensorPayload::Packed(bytes), Some(dtype)) => {
                Ok(self.numbers(dtype, data.dims, bytes)?.into())
            }
            (TensorPayload::Strings(strings), None) => Ok(self.strings(data.dims, &strings)),
            _ => Err(OnnxError::value(format!(
                "the elements are not of type {}",
                data.elem
            ))),
        }
    }

    fn numbers(&mut self, dtype: DType, shape: Vec<i64>, bytes: bytes::Bytes) -> Result<Tensor> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        Tensor::new(dtype, shape, bytes).map_err(from_library)
    }

    fn strings(&mut self, shape: Vec<i64>, strings: &[bytes::Bytes]) -> Value {
        let bytes: u64 = strings.iter().map(|text| text.len() as u64).sum();
        self.bytes = self.bytes.saturating_add(bytes);
        let values = strings.iter().cloned().map(Bytes::from);
        Ref::new(StringTensor {
            shape: Shape::from(shape),
            values: values.collect::<Array<Bytes>>(),
        })
        .into()
    }

    /// The value of a `Constant` node; None if the form of the value is unknown, for
    /// instance because it comes from an attribute of a function.
    pub(super) fn constant_node(&mut self, node: &NodeProto) -> Result<Option<Value>> {
        let ([attr], [], [_]) = (
            node.attribute.as_slice(),
            node.input.as_slice(),
            node.output.as_slice(),
        ) else {
            return Ok(None);
        };
        if !attr.ref_attr_name.is_empty() {
            return Ok(None);
        }
        self.constant_attribute(attr)
            .within(|| format!("attribute '{}'", attr.name))
    }

    fn constant_attribute(&mut self, attr: &AttributeProto) -> Result<Option<Value>> {
        let kind = super::attribute_kind::kind(attr)?;
        let float = DType::FLOAT32;
        let int = DType::INT64;
        let value = match (attr.name.as_str(), kind) {
            ("value", AttributeType::Tensor) => match &attr.t {
                Some(tensor) => self.tensor(tensor)?,
                None => return Ok(None),
            },
            ("sparse_value", AttributeType::SparseTensor) => match &attr.sparse_tensor {
                Some(sparse) => self.sparse_tensor(sparse)?,
                None => return Ok(None),
            },
            ("value_float", AttributeType::Float) => {
                let bytes = attr.f.unwrap_or_default().to_le_bytes().to_vec();
                self.numbers(float, vec![], bytes.into())?.into()
            }
            ("value_floats", AttributeType::Floats) => {
                let bytes: Vec<u8> = attr.floats.iter().flat_map(|x| x.to_le_bytes()).collect();
                let shape = vec![length(attr.floats.len())?];
                self.numbers(float, shape, bytes.into())?.into()
            }
            ("value_int", AttributeType::Int) => {
                let bytes = attr.i.unwrap_or_default().to_le_bytes().to_vec();
                self.numbers(int, vec![], bytes.into())?.into()
            }
            ("value_ints", AttributeType::Ints) => {
                let bytes: Vec<u8> = attr.ints.iter().flat_map(|x| x.to_le_bytes()).collect();
                let shape = vec![length(attr.ints.len())?];
                self.numbers(int, shape, bytes.into())?.into()
            }
            ("value_string", AttributeType::String) => {
                self.strings(vec![], &[attr.s.clone().unwrap_or_default()])
            }
            ("value_strings", AttributeType::Strings) => {
                self.strings(vec![length(attr.strings.len())?], &attr.strings)
            }
            _ => return Ok(None),
        };
        Ok(Some(value))
    }
}

fn length(count: usize) -> Result<i64> {
    i64::try_from(count).map_err(|_| OnnxError::value("there are too many elements"))
}
