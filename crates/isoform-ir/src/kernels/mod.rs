//! Tensors of programs as operands of the crate `isoform-kernels`, and results of
//! kernels as tensors.
//!
//! Elements of fewer bits than a byte are packed in a [`Tensor`] and have a byte of their
//! own in kernels; all others share their bytes.

mod difference;

pub use difference::{number_difference, tensor_change, tensor_difference, within};

use isoform_kernels::{
    Control, ElementType, KernelError, Tensor as Computed, View, pack_bits, unpack_bits,
};
use smallvec::SmallVec;

use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Error, Result};

/// The data types of kernels, under both of their names.
const TYPES: [(ElementType, DTypeCode, u8); 27] = {
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
        (E::Int2, C::Int, 2),
        (E::UInt2, C::UInt, 2),
        (E::Float4E2M1Fn, C::Float4E2M1FN, 4),
        (E::Float6E2M3Fn, C::Float6E2M3FN, 6),
        (E::Float6E3M2Fn, C::Float6E3M2FN, 6),
        (E::Float8E8M0Fnu, C::Float8E8M0FNU, 8),
        (E::Complex64, C::Complex, 64),
        (E::Complex128, C::Complex, 128),
    ]
};

/// The element type for a data type.
///
/// # Errors
///
/// `TypeError` for vectors and for types unknown to kernels.
pub fn element_type(dtype: DType) -> Result<ElementType> {
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
///
/// # Errors
///
/// `TypeError` for a type unknown to tensors of programs.
pub fn dtype_of(ty: ElementType) -> Result<DType> {
    let found = TYPES.iter().find(|(known, ..)| *known == ty);
    found
        .map(|(_, code, bits)| DType::new(*code, *bits))
        .ok_or_else(|| Error::type_error(format!("expected elements of a known type, got {ty}")))
}

/// A tensor as an argument of kernels.
pub struct Input<'a> {
    /// The tensor of the program.
    pub tensor: &'a Tensor,
    /// The type of the elements.
    pub ty: ElementType,
    /// The sizes of the axes.
    pub shape: SmallVec<[usize; 4]>,
    /// Elements of fewer bits than a byte, one per byte; in a tensor, they are packed.
    unpacked: Option<Box<Computed>>,
}

impl<'a> Input<'a> {
    /// Unpacks elements of fewer bits than a byte, and borrows all others.
    ///
    /// # Errors
    ///
    /// `TypeError` for elements that kernels do not know; a size error for unpacked elements
    /// beyond the limit of `control`.
    pub fn new(tensor: &'a Tensor, control: &Control<'_>) -> Result<Self, InputError> {
        let ty = element_type(tensor.dtype())?;
        // A dimension beyond `usize` cannot occur in memory, unless another dimension
        // is 0.
        let sizes = tensor.shape().iter();
        let shape = sizes.map(|dim| usize::try_from(*dim).unwrap_or(usize::MAX));
        let shape: SmallVec<[usize; 4]> = shape.collect();
        let unpacked = if ty.packed_bits() < 8 {
            let unpacked = unpack_bits(ty, &shape, tensor.data(), control)?;
            Some(Box::new(unpacked))
        } else {
            None
        };
        Ok(Input {
            tensor,
            ty,
            shape,
            unpacked,
        })
    }

    /// The operand of a kernel.
    ///
    /// # Errors
    ///
    /// A shape error for sizes out of range.
    pub fn view(&self) -> Result<View<'_>, KernelError> {
        let bytes = match &self.unpacked {
            Some(unpacked) => unpacked.bytes(),
            None => self.tensor.data(),
        };
        View::new(self.ty, &self.shape, bytes)
    }
}

/// Why a tensor is not an argument of a kernel.
#[derive(Debug)]
pub enum InputError {
    /// Kernels do not know the data type.
    Unknown(Error),
    /// The kernel's own error.
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

/// The result of a kernel as a tensor of a program; only elements of fewer bits than a byte are copied.
///
/// # Errors
///
/// A size error for packed elements beyond the limit of `control`.
pub fn tensor_of(computed: Computed, control: &Control<'_>) -> Result<Tensor, InputError> {
    let dtype = dtype_of(computed.element_type())?;
    let packed = if computed.element_type().packed_bits() < 8 {
        Some(pack_bits(computed.view(), control)?)
    } else {
        None
    };
    let (_, shape, bytes) = computed.into_parts();
    let shape = shape.into_iter().map(|size| size as i64).collect();
    Ok(Tensor::new(dtype, shape, packed.unwrap_or(bytes))?)
}
