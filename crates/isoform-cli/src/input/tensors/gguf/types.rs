//! The types of elements in ggml, by their numbers.

use isoform::values::DTypeCode;

/// A type of elements, which lie in blocks of one or more.
#[derive(Debug)]
pub(super) struct Element {
    number: u32,
    /// The name in ggml.
    pub(super) name: &'static str,
    /// The number of elements in a block.
    pub(super) elements: u64,
    /// The number of bytes in a block.
    pub(super) bytes: u64,
    pub(super) layout: Layout,
}

/// The bytes of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    /// One number, of this type and number of bits.
    Plain(DTypeCode, u8),
    /// Quantised numbers, with their scales.
    Blocks,
}

/// The type with this number.
pub(super) fn element(number: u32) -> Result<&'static Element, String> {
    if let Some(element) = ELEMENTS.iter().find(|element| element.number == number) {
        return Ok(element);
    }
    if let Some((_, name)) = REMOVED.iter().find(|(removed, _)| *removed == number) {
        return Err(format!(
            "elements of type {number} ({name}) were removed from the format; quantise the original model again with a current llama.cpp"
        ));
    }
    Err(format!(
        "elements of type {number} are not read; they may be newer than this version of isoform"
    ))
}

const fn plain(number: u32, name: &'static str, code: DTypeCode, bits: u8) -> Element {
    Element {
        number,
        name,
        elements: 1,
        bytes: (bits / 8) as u64,
        layout: Layout::Plain(code, bits),
    }
}

const fn blocks(number: u32, name: &'static str, elements: u64, bytes: u64) -> Element {
    Element {
        number,
        name,
        elements,
        bytes,
        layout: Layout::Blocks,
    }
}

const ELEMENTS: &[Element] = &[
    plain(0, "F32", DTypeCode::Float, 32),
    plain(1, "F16", DTypeCode::Float, 16),
    blocks(2, "Q4_0", 32, 2 + 16),
    blocks(3, "Q4_1", 32, 2 + 2 + 16),
    blocks(6, "Q5_0", 32, 2 + 4 + 16),
    blocks(7, "Q5_1", 32, 2 + 2 + 4 + 16),
    blocks(8, "Q8_0", 32, 2 + 32),
    // The library's own size. The Python package states 40, from the time when scale and
    // sum had 32 bits; the type is for activations, and files hardly contain it.
    blocks(9, "Q8_1", 32, 2 + 2 + 32),
    blocks(10, "Q2_K", 256, 2 + 2 + 16 + 64),
    blocks(11, "Q3_K", 256, 2 + 64 + 32 + 12),
    blocks(12, "Q4_K", 256, 2 + 2 + 128 + 12),
    blocks(13, "Q5_K", 256, 2 + 2 + 128 + 32 + 12),
    blocks(14, "Q6_K", 256, 2 + 128 + 64 + 16),
    blocks(15, "Q8_K", 256, 4 + 256 + 32),
    blocks(16, "IQ2_XXS", 256, 2 + 64),
    blocks(17, "IQ2_XS", 256, 2 + 64 + 8),
    blocks(18, "IQ3_XXS", 256, 2 + 64 + 32),
    blocks(19, "IQ1_S", 256, 2 + 32 + 16),
    blocks(20, "IQ4_NL", 32, 2 + 16),
    blocks(21, "IQ3_S", 256, 2 + 64 + 32 + 8 + 4),
    blocks(22, "IQ2_S", 256, 2 + 64 + 16),
    blocks(23, "IQ4_XS", 256, 2 + 2 + 128 + 4),
    plain(24, "I8", DTypeCode::Int, 8),
    plain(25, "I16", DTypeCode::Int, 16),
    plain(26, "I32", DTypeCode::Int, 32),
    plain(27, "I64", DTypeCode::Int, 64),
    plain(28, "F64", DTypeCode::Float, 64),
    blocks(29, "IQ1_M", 256, 32 + 16 + 8),
    plain(30, "BF16", DTypeCode::BFloat, 16),
    blocks(34, "TQ1_0", 256, 2 + 48 + 4),
    blocks(35, "TQ2_0", 256, 2 + 64),
    blocks(39, "MXFP4", 32, 1 + 16),
    blocks(40, "NVFP4", 64, 4 + 32),
    blocks(41, "Q1_0", 128, 2 + 16),
];

/// Types that the library no longer knows.
const REMOVED: [(u32, &str); 8] = [
    (4, "Q4_2"),
    (5, "Q4_3"),
    (31, "Q4_0_4_4"),
    (32, "Q4_0_4_8"),
    (33, "Q4_0_8_8"),
    (36, "IQ4_NL_4_4"),
    (37, "IQ4_NL_4_8"),
    (38, "IQ4_NL_8_8"),
];
