//! Tensors of programs as those of kernels, and back.

use isoform_kernels::{
    Control, ElementType, KernelError, Tensor as Computed, View, pack_nibbles, unpack_nibbles,
};
use smallvec::SmallVec;

use crate::kernel::container::Tensor;
use crate::kernel::error::{Error, Result};
use crate::kernel::value::{DType, DTypeCode};

/// The data types that kernels know, under both of their names.
const TYPES: [(ElementType, DTypeCode, u8); 19] = {
    use DTypeCode as C;
    use ElementType as E;
    [
        (E::Float32, C::Float, 32),
        (E::Int32, C::Int, 32),
        (E::Bool, C::Bool, 8),
        (E::Int64, C::Int, 64),
        (E::Float64, C::Float, 64),
        (E::Float16, C::Float, 16),
        (E::BFloat16, C::BFloat, 16),
        (E::Int8, C::Int, 8),
        (E::UInt8, C::UInt, 8),
        (E::Int16, C::Int, 16),
        (E::UInt16, C::UInt, 16),
        (E::UInt32, C::UInt, 32),
        (E::UInt64, C::UInt, 64),
        (E::Int4, C::Int, 4),
        (E::UInt4, C::UInt, 4),
        (E::Float8E4M3Fn, C::Float8E4M3FN, 8),
        (E::Float8E4M3FnUz, C::Float8E4M3FNUZ, 8),
        (E::Float8E5M2, C::Float8E5M2, 8),
        (E::Float8E5M2FnUz, C::Float8E5M2FNUZ, 8),
    ]
};

/// The element type for a data type.
///
/// # Errors
///
/// `TypeError` for vectors and for types that kernels do not know.
pub(super) fn element_type(dtype: DType) -> Result<ElementType> {
    let found = TYPES
        .iter()
        .find(|(_, code, bits)| dtype == DType::new(*code, *bits));
    found.map(|(ty, ..)| *ty).ok_or_else(|| {
        Error::type_error(format!(
            "expected elements that can be computed, such as int32, bool or float32, got {dtype}"
        ))
    })
}

/// The data type of an element type.
pub(super) fn dtype_of(ty: ElementType) -> Result<DType> {
    let found = TYPES.iter().find(|(known, ..)| *known == ty);
    found
        .map(|(_, code, bits)| DType::new(*code, *bits))
        .ok_or_else(|| Error::type_error(format!("expected elements of a known type, got {ty}")))
}

/// A tensor as an argument of kernels.
pub(super) struct Input<'a> {
    pub(super) tensor: &'a Tensor,
    pub(super) ty: ElementType,
    pub(super) shape: SmallVec<[usize; 4]>,
    /// Elements of four bits, one per byte; in a tensor, there are two.
    unpacked: Option<Box<Computed>>,
}

impl<'a> Input<'a> {
    pub(super) fn new(tensor: &'a Tensor, control: &Control<'_>) -> Result<Self, InputError> {
        let ty = element_type(tensor.dtype())?;
        // A dimension that does not fit cannot have that many bytes in memory, unless
        // another one is 0.
        let sizes = tensor.shape().iter();
        let shape = sizes.map(|dim| usize::try_from(*dim).unwrap_or(usize::MAX));
        let shape: SmallVec<[usize; 4]> = shape.collect();
        let unpacked = match ty {
            ElementType::Int4 | ElementType::UInt4 => {
                let unpacked = unpack_nibbles(ty, &shape, tensor.data(), control)?;
                Some(Box::new(unpacked))
            }
            _ => None,
        };
        Ok(Input {
            tensor,
            ty,
            shape,
            unpacked,
        })
    }

    pub(super) fn view(&self) -> Result<View<'_>, KernelError> {
        let bytes = match &self.unpacked {
            Some(unpacked) => unpacked.bytes(),
            None => self.tensor.data(),
        };
        View::new(self.ty, &self.shape, bytes)
    }
}

/// Why a tensor is not an argument of a kernel.
pub(super) enum InputError {
    Unknown(Error),
    Kernel(KernelError),
}

impl From<Error> for InputError {
    fn from(error: Error) -> Self {
        InputError::Unknown(error)
    }
}

impl From<KernelError> for InputError {
    fn from(error: KernelError) -> Self {
        InputError::Kernel(error)
    }
}

/// The result of a kernel as a tensor of a program; only elements of four bits are copied.
pub(super) fn tensor_of(computed: Computed, control: &Control<'_>) -> Result<Tensor, InputError> {
    let dtype = dtype_of(computed.element_type())?;
    let packed = match computed.element_type() {
        ElementType::Int4 | ElementType::UInt4 => Some(pack_nibbles(computed.view(), control)?),
        _ => None,
    };
    let (_, shape, bytes) = computed.into_parts();
    let shape = shape.into_iter().map(|size| size as i64).collect();
    Ok(Tensor::new(dtype, shape, packed.unwrap_or(bytes))?)
}
