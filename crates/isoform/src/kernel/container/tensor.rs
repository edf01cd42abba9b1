//! `Tensor`: contiguous numbers over a shared buffer.
//!
//! A tensor is a data type, a shape and a slice of a buffer that several tensors may
//! share.

use std::fmt;

use crate::kernel::error::{Error, Result};
use crate::kernel::object::reference::Ref;
use crate::kernel::value::{DType, DTypeCode, Value};

/// The payload of a tensor.
pub(crate) struct TensorObj {
    pub(crate) dtype: DType,
    pub(crate) shape: Box<[i64]>,
    pub(crate) data: bytes::Bytes,
}

impl TensorObj {
    pub(crate) fn copy_payload(&self) -> Self {
        TensorObj {
            dtype: self.dtype,
            shape: self.shape.clone(),
            data: self.data.clone(),
        }
    }

    /// The NaN bit patterns; None for a type without NaN.
    pub(crate) fn nan_rule(&self) -> Option<NanRule> {
        NanRule::of(self.dtype)
    }
}

/// An immutable n-dimensional array of numbers, row-major and contiguous, in
/// little-endian bytes.
///
/// The bytes may be in any shared buffer (a memory-mapped file, a slice of a larger
/// block); comparison and hash do not copy them.
///
/// ```
/// use isoform::values::{DType, Tensor};
/// let data: Vec<u8> = [1.0f32, 2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
/// let t = Tensor::new(DType::FLOAT32, vec![2], data)?;
/// assert_eq!(t.shape(), [2]);
/// assert!(Tensor::new(DType::FLOAT32, vec![3], vec![0; 8]).is_err());
/// # Ok::<(), isoform::Error>(())
/// ```
#[repr(transparent)]
#[derive(Clone)]
pub struct Tensor(Ref<TensorObj>);

impl Tensor {
    /// Makes a tensor over these bytes, without copying.
    ///
    /// # Errors
    ///
    /// `ValueError` if the dtype is `void`, a dimension is negative, the size overflows, or the number of
    /// bytes is not exactly what dtype and shape need.
    pub fn new(dtype: DType, shape: Vec<i64>, data: impl Into<bytes::Bytes>) -> Result<Self> {
        let data = data.into();
        if dtype.is_void() {
            return Err(Error::value_error(format!(
                "a tensor of shape {shape:?} needs the dtype of its elements, got void"
            )));
        }
        let mut count = 1u64;
        for &dim in &shape {
            let size = u64::try_from(dim).map_err(|_| {
                Error::value_error(format!("tensor shape {shape:?} has a negative dimension"))
            })?;
            count = count
                .checked_mul(size)
                .ok_or_else(|| too_large(dtype, &shape))?;
        }
        let expected = dtype
            .byte_size(count)
            .ok_or_else(|| too_large(dtype, &shape))?;
        if data.len() as u64 != expected {
            return Err(Error::value_error(format!(
                "tensor of dtype {dtype} and shape {shape:?}: expected {expected} bytes, got {}",
                data.len()
            )));
        }
        Ok(Tensor(Ref::new(TensorObj {
            dtype,
            shape: shape.into(),
            data,
        })))
    }

    /// The data type of the elements.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// The dimensions.
    pub fn shape(&self) -> &[i64] {
        &self.0.shape
    }

    /// The elements' bytes.
    pub fn data(&self) -> &bytes::Bytes {
        &self.0.data
    }

    /// True if both are the same object.
    pub fn same_as(&self, other: &Tensor) -> bool {
        self.0.same_as(&other.0)
    }
}

fn too_large(dtype: DType, shape: &[i64]) -> Error {
    Error::value_error(format!(
        "tensor of dtype {dtype} and shape {shape:?} is too large"
    ))
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<&Tensor> for Value {
    fn from(tensor: &Tensor) -> Self {
        tensor.clone().into()
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Value::from_object(tensor.0.into_object())
    }
}

/// The NaN bit patterns of an element: `low <= bits & mask <= high`.
///
/// Only whole-byte elements of one, two, four or eight bytes have a rule;
/// narrower formats (`float4_e2m1fn`, `float6_*`) have no NaN.
#[derive(Clone, Copy, Debug)]
pub struct NanRule {
    /// Bytes of one element.
    pub width: usize,
    mask: u64,
    low: u64,
    high: u64,
    /// The pattern that represents every NaN.
    pub(crate) canonical: u64,
}

impl NanRule {
    /// The NaN bit patterns of a data type; None for a type without NaN.
    pub fn of(dtype: DType) -> Option<NanRule> {
        use DTypeCode as C;
        let rule = |width, mask, low, high, canonical| {
            Some(NanRule {
                width,
                mask,
                low,
                high,
                canonical,
            })
        };
        // A NaN has all exponent bits set and a nonzero fraction: without its sign, a
        // NaN is larger than infinity.
        match (dtype.code(), dtype.bits()) {
            (C::Float, 16) => rule(2, 0x7fff, 0x7c01, 0x7fff, 0x7e00),
            (C::Float, 32) | (C::Complex, 64) => {
                rule(4, 0x7fff_ffff, 0x7f80_0001, 0x7fff_ffff, 0x7fc0_0000)
            }
            (C::Float, 64) | (C::Complex, 128) => {
                let infinity = 0x7ff0_0000_0000_0000;
                rule(
                    8,
                    i64::MAX as u64,
                    infinity + 1,
                    i64::MAX as u64,
                    0x7ff8_0000_0000_0000,
                )
            }
            (C::Complex, 32) => rule(2, 0x7fff, 0x7c01, 0x7fff, 0x7e00),
            (C::BFloat, 16) => rule(2, 0x7fff, 0x7f81, 0x7fff, 0x7fc0),
            // These types have one NaN per sign, or a single NaN pattern in all.
            (C::Float8E4M3FN, _) => rule(1, 0x7f, 0x7f, 0x7f, 0x7f),
            (C::Float8E4M3, _) => rule(1, 0x7f, 0x79, 0x7f, 0x7c),
            (C::Float8E3M4, _) => rule(1, 0x7f, 0x71, 0x7f, 0x78),
            (C::Float8E5M2, _) => rule(1, 0x7f, 0x7d, 0x7f, 0x7e),
            (C::Float8E4M3FNUZ | C::Float8E4M3B11FNUZ | C::Float8E5M2FNUZ, _) => {
                rule(1, 0xff, 0x80, 0x80, 0x80)
            }
            (C::Float8E8M0FNU, _) => rule(1, 0xff, 0xff, 0xff, 0xff),
            _ => None,
        }
    }

    /// True if the bits of an element are a NaN.
    #[inline(always)]
    pub fn is_nan(&self, bits: u64) -> bool {
        let magnitude = bits & self.mask;
        self.low <= magnitude && magnitude <= self.high
    }

    /// True if a chunk of whole elements holds a NaN.
    pub(crate) fn any(&self, chunk: &[u8]) -> bool {
        // One loop per width, each simple enough to be vectorised.
        macro_rules! scan {
            ($number:ty) => {{
                let (mask, low, high) = (
                    self.mask as $number,
                    self.low as $number,
                    self.high as $number,
                );
                let (elements, _) = chunk.as_chunks::<{ size_of::<$number>() }>();
                elements.iter().fold(false, |any, bytes| {
                    let magnitude = <$number>::from_le_bytes(*bytes) & mask;
                    any | (low <= magnitude && magnitude <= high)
                })
            }};
        }
        match self.width {
            1 => scan!(u8),
            2 => scan!(u16),
            4 => scan!(u32),
            _ => scan!(u64),
        }
    }
}
