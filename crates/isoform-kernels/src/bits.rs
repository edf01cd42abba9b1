//! Elements of fewer bits than a byte, packed as in files and on devices.

use crate::control::{BLOCK, Control};
use crate::element_type::ElementType;
use crate::error::{KernelError, Result};
use crate::tensor::{Tensor, View};

/// A tensor of elements of 2, 4 or 6 bits from packed bytes. Elements follow each other
/// from the lowest bit on, as in ONNX and TVM.
///
/// ```
/// use isoform_kernels::{Control, ElementType, unpack_bits};
///
/// let tensor = unpack_bits(ElementType::Int4, &[3], &[0xf1, 0x07], &Control::default())?;
/// assert_eq!(tensor.bytes(), [1, 15, 7]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for types of other sizes, a shape error for a wrong number of bytes.
pub fn unpack_bits(
    element_type: ElementType,
    shape: &[usize],
    packed: &[u8],
    control: &Control<'_>,
) -> Result<Tensor> {
    let width = width(element_type)?;
    let mut bytes = control.zeros(shape, 1)?;
    let expected = (bytes.len() * width).div_ceil(8);
    if packed.len() != expected {
        return Err(KernelError::shape(format!(
            "unpack_bits: expected {expected} bytes for shape {shape:?}, got {}",
            packed.len()
        )));
    }
    let mut progress = control.progress();
    // Eight elements fill whole bytes, whatever their width.
    let groups = bytes
        .chunks_mut(8 * BLOCK)
        .zip(packed.chunks(width * BLOCK));
    for (elements, packed) in groups {
        unpack(width, packed, elements);
        progress.advance(elements.len())?;
    }
    Ok(Tensor::raw(element_type, shape.to_vec(), bytes))
}

/// Writes each element of packed bytes to a separate byte.
fn unpack(width: usize, packed: &[u8], elements: &mut [u8]) {
    let mask = (1_u32 << width) - 1;
    for (eight, packed) in elements.chunks_mut(8).zip(packed.chunks(width)) {
        let word = packed
            .iter()
            .rev()
            .fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        for (at, to) in eight.iter_mut().enumerate() {
            *to = ((word >> (at * width)) as u32 & mask) as u8;
        }
    }
}

/// The elements of packed bytes, in pieces that need little memory.
pub(crate) fn unpacked_pieces(
    element_type: ElementType,
    count: usize,
    packed: &[u8],
) -> Result<impl Iterator<Item = Vec<u8>>> {
    let width = width(element_type)?;
    let expected = count.checked_mul(width).map(|bits| bits.div_ceil(8));
    if expected != Some(packed.len()) {
        return Err(KernelError::shape(format!(
            "packed elements: expected {} bytes for {count} elements of {width} bits, got {}",
            expected.map_or("a number in range".to_owned(), |bytes| bytes.to_string()),
            packed.len()
        )));
    }
    let pieces = packed.chunks(width * (BLOCK / 8)).enumerate();
    Ok(pieces.map(move |(at, packed)| {
        let mut elements = vec![0; BLOCK.min(count - at * BLOCK)];
        unpack(width, packed, &mut elements);
        elements
    }))
}

/// The elements of a tensor of 2, 4 or 6 bits each, packed; the reverse of
/// [`unpack_bits`]. Unused bits of the last byte are 0.
///
/// # Errors
///
/// A type error for types of other sizes.
pub fn pack_bits(tensor: View<'_>, control: &Control<'_>) -> Result<Vec<u8>> {
    let width = width(tensor.element_type())?;
    let mask = (1_u8 << width) - 1;
    let mut packed = control.zeros(&[(tensor.len() * width).div_ceil(8)], 1)?;
    let mut progress = control.progress();
    let groups = packed
        .chunks_mut(width * BLOCK)
        .zip(tensor.bytes().chunks(8 * BLOCK));
    for (packed, elements) in groups {
        for (packed, eight) in packed.chunks_mut(width).zip(elements.chunks(8)) {
            let word = eight.iter().rev().fold(0_u64, |word, element| {
                word << width | u64::from(element & mask)
            });
            for (at, to) in packed.iter_mut().enumerate() {
                *to = (word >> (8 * at)) as u8;
            }
        }
        progress.advance(elements.len())?;
    }
    Ok(packed)
}

fn width(element_type: ElementType) -> Result<usize> {
    let bits = element_type.packed_bits();
    if bits < 8 {
        return Ok(bits);
    }
    Err(KernelError::ty(format!(
        "bits: expected elements of 2, 4 or 6 bits, got {element_type}"
    )))
}
