//! Knowledge about one value.

use isoform::Value;
use isoform::values::{DType, Tensor, ValueRef};

use super::size::Size;
use super::symbols::Symbols;
use crate::elem_type::ElemType;
use crate::ir::{Dim, SparseTensor, StringTensor, TensorType};

/// Tensors of up to this many integers are followed element by element.
pub const MAX_ELEMENTS: usize = 64;

/// Kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A dense tensor.
    Tensor,
    /// A sequence, map, optional or sparse tensor, or a value of unknown kind.
    Other,
}

/// The knowledge about a value that holds in every run.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The kind of the value.
    pub kind: Kind,
    /// The element type of a tensor.
    pub elem: Option<ElemType>,
    /// The extents of a tensor; None if even the rank is unknown. An unknown extent is a
    /// symbol that occurs nowhere else.
    pub shape: Option<Vec<Size>>,
    /// The elements of a tensor of integers or bools in row-major order, if there are at
    /// most [`MAX_ELEMENTS`]. The shape then consists of constants. A bool is 0 or 1.
    pub elements: Option<Vec<Size>>,
    /// The value itself, if it is a constant of the program.
    pub constant: Option<Value>,
}

impl Fact {
    /// Nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Fact {
            kind: Kind::Other,
            elem: None,
            shape: None,
            elements: None,
            constant: None,
        }
    }

    /// A tensor of which only the element type and the shape may be known.
    #[must_use]
    pub fn tensor(elem: Option<ElemType>, shape: Option<Vec<Size>>) -> Self {
        Fact {
            kind: Kind::Tensor,
            elem,
            shape,
            ..Self::unknown()
        }
    }

    /// A constant of the program: a tensor of numbers, of strings, or a sparse one. O(1),
    /// because only small tensors are read.
    #[must_use]
    pub fn of_constant(value: &Value) -> Self {
        let dims = |shape: &[i64]| Some(shape.iter().map(|dim| Size::from(*dim)).collect());
        let mut fact = match value.view() {
            ValueRef::Tensor(tensor) => Fact {
                elements: integers(tensor),
                ..Self::tensor(elem_of(tensor.dtype()), dims(tensor.shape()))
            },
            ValueRef::Object(object) => {
                if let Some(strings) = object.downcast_ref::<StringTensor>() {
                    Self::tensor(Some(ElemType::String), dims(&strings.shape))
                } else if object.downcast_ref::<SparseTensor>().is_some() {
                    Self::unknown()
                } else {
                    return Self::unknown();
                }
            }
            _ => return Self::unknown(),
        };
        fact.constant = Some(value.clone());
        fact
    }

    /// The number of axes, if known.
    #[must_use]
    pub fn rank(&self) -> Option<usize> {
        self.shape.as_ref().map(Vec::len)
    }

    /// The shape, if all extents are known numbers.
    #[must_use]
    pub fn dims_const(&self) -> Option<Vec<i64>> {
        self.shape.as_ref()?.iter().map(Size::as_const).collect()
    }

    /// The elements, if all are known numbers.
    #[must_use]
    pub fn elements_const(&self) -> Option<Vec<i64>> {
        self.elements.as_ref()?.iter().map(Size::as_const).collect()
    }

    /// The number of elements of the tensor; None if the rank is unknown, or the product
    /// would be too large.
    #[must_use]
    pub fn count(&self) -> Option<Size> {
        Size::product(self.shape.as_ref()?)
    }

    /// The constant, if it is a tensor of numbers.
    #[must_use]
    pub fn constant_tensor(&self) -> Option<&Tensor> {
        match self.constant.as_ref()?.view() {
            ValueRef::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

/// The element type of a tensor's data type.
pub(crate) fn elem_of(ty: DType) -> Option<ElemType> {
    let mut all = ElemType::ALL.iter().copied();
    all.find(|elem| elem.dtype() == Some(ty))
}

/// The elements of a small tensor of integers or bools.
fn integers(tensor: &Tensor) -> Option<Vec<Size>> {
    let elem = elem_of(tensor.dtype())?;
    let width = match elem {
        ElemType::Bool | ElemType::Int8 | ElemType::Uint8 => 1,
        ElemType::Int16 | ElemType::Uint16 => 2,
        ElemType::Int32 | ElemType::Uint32 => 4,
        ElemType::Int64 | ElemType::Uint64 => 8,
        _ => return None,
    };
    let data = tensor.data();
    if data.len() > MAX_ELEMENTS * width {
        return None;
    }
    let is_signed = matches!(
        elem,
        ElemType::Int8 | ElemType::Int16 | ElemType::Int32 | ElemType::Int64
    );
    let number = |bytes: &[u8]| {
        let is_negative = is_signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut wide = [if is_negative { 0xff } else { 0 }; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        let number = i128::from_le_bytes(wide);
        match elem {
            ElemType::Bool => Some(i64::from(number != 0)),
            _ => i64::try_from(number).ok(),
        }
    };
    (data.chunks_exact(width))
        .map(|bytes| number(bytes).map(Size::from))
        .collect()
}

/// The fact of a declared type, which holds only for values provided by a caller.
pub(crate) fn fact_of_type(ty: &Value, symbols: &mut Symbols) -> Fact {
    let declared = ty
        .as_object()
        .and_then(|ty| ty.downcast_ref::<TensorType>());
    let Some(declared) = declared else {
        return Fact::unknown();
    };
    let elem = match declared.elem.view() {
        ValueRef::DType(ty) => elem_of(ty),
        ValueRef::Str(name) => ElemType::from_name(name),
        _ => None,
    };
    let mut extent = |dim: &Value| match dim.view() {
        ValueRef::Int(extent) if extent >= 0 => Size::from(extent),
        _ => match dim.as_object().and_then(|dim| dim.downcast_ref::<Dim>()) {
            Some(dim) => symbols.dim(dim),
            None => symbols.fresh_extent(),
        },
    };
    let shape = declared.shape.as_ref();
    let shape = shape.map(|shape| shape.values().iter().map(&mut extent).collect());
    Fact::tensor(elem, shape)
}
