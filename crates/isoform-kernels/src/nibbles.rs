//! 4-bit integers, packed two per byte as files and devices have them.

use crate::control::{BLOCK, Control};
use crate::element_type::ElementType;
use crate::error::{KernelError, Result};
use crate::tensor::{Tensor, View};

/// A tensor of 4-bit integers from bytes with two elements each, the first one in the low
/// half, as ONNX and TVM store them.
///
/// ```
/// use isoform_kernels::{Control, ElementType, unpack_nibbles};
///
/// let tensor = unpack_nibbles(ElementType::Int4, &[3], &[0xf1, 0x07], &Control::default())?;
/// assert_eq!(tensor.bytes(), [1, 15, 7]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for types of other sizes, a shape error for a wrong number of bytes.
pub fn unpack_nibbles(
    element_type: ElementType,
    shape: &[usize],
    packed: &[u8],
    control: &Control<'_>,
) -> Result<Tensor> {
    check(element_type)?;
    let mut bytes = control.zeros(shape, 1)?;
    if packed.len() != bytes.len().div_ceil(2) {
        return Err(KernelError::shape(format!(
            "unpack_nibbles: expected {} bytes for shape {shape:?}, got {}",
            bytes.len().div_ceil(2),
            packed.len()
        )));
    }
    let mut progress = control.progress();
    for (pairs, packed) in bytes.chunks_mut(2 * BLOCK).zip(packed.chunks(BLOCK)) {
        for (pair, byte) in pairs.chunks_mut(2).zip(packed) {
            for (out, half) in pair.iter_mut().zip([byte & 15, byte >> 4]) {
                *out = half;
            }
        }
        progress.advance(pairs.len())?;
    }
    Ok(Tensor::raw(element_type, shape.to_vec(), bytes))
}

/// The elements of a tensor of 4-bit integers, two per byte; the reverse of
/// [`unpack_nibbles`]. The high half of an odd last byte is 0.
///
/// # Errors
///
/// A type error for types of other sizes.
pub fn pack_nibbles(tensor: View<'_>, control: &Control<'_>) -> Result<Vec<u8>> {
    check(tensor.element_type())?;
    let mut packed = control.zeros(&[tensor.len().div_ceil(2)], 1)?;
    let mut progress = control.progress();
    for (packed, pairs) in packed
        .chunks_mut(BLOCK)
        .zip(tensor.bytes().chunks(2 * BLOCK))
    {
        for (byte, pair) in packed.iter_mut().zip(pairs.chunks(2)) {
            *byte = (pair[0] & 15) | (pair.get(1).map_or(0, |high| high << 4));
        }
        progress.advance(pairs.len())?;
    }
    Ok(packed)
}

fn check(element_type: ElementType) -> Result<()> {
    if matches!(element_type, ElementType::Int4 | ElementType::UInt4) {
        return Ok(());
    }
    Err(KernelError::ty(format!(
        "nibbles: expected int4 or uint4, got {element_type}"
    )))
}
