//! Random values for inputs.

use isoform::values::{Bytes, DType, DTypeCode, Shape, Tensor};
use isoform::{Array, Ref, Value};

use crate::ir::StringTensor;

/// The elements that are drawn.
#[derive(Clone, Copy)]
pub(super) enum Elem {
    Number(DType),
    Text,
}

/// A tensor of random elements; whole numbers are below the bound.
pub(super) fn tensor(elem: Elem, shape: &[i64], bound: u64, random: &mut Random) -> Value {
    let count: i64 = shape.iter().map(|size| (*size).max(0)).product();
    let count = usize::try_from(count).unwrap_or(0);
    let dtype = match elem {
        Elem::Number(dtype) => dtype,
        Elem::Text => {
            let text = |_| {
                Bytes::from(
                    TEXTS[random.below(TEXTS.len() as u64) as usize]
                        .as_bytes()
                        .to_vec(),
                )
            };
            let values: Array<Bytes> = (0..count).map(text).collect();
            let shape = Shape::from(shape.to_vec());
            return Ref::new(StringTensor { shape, values }).into();
        }
    };
    let data = elements(dtype, count, bound, random);
    // The number of bytes fits by construction; a tensor that cannot be made cannot be run.
    Tensor::new(dtype, shape.to_vec(), data).map_or(Value::NONE, Value::from)
}

const TEXTS: [&str; 6] = ["a", "b", "isoform", "", "two words", "3"];

fn elements(dtype: DType, count: usize, bound: u64, random: &mut Random) -> Vec<u8> {
    let mut data = Vec::with_capacity(count * 4);
    match (dtype.code(), dtype.bits()) {
        (DTypeCode::Bool, _) => data.extend((0..count).map(|_| random.below(2) as u8)),
        (DTypeCode::Int | DTypeCode::UInt, bits) if bits >= 8 => {
            let width = usize::from(bits / 8);
            for _ in 0..count {
                let number = random.below(bound.max(1)).to_le_bytes();
                data.extend_from_slice(&number[..width.min(8)]);
            }
        }
        (DTypeCode::Float, 64) => {
            data.extend((0..count).flat_map(|_| random.float().to_le_bytes()));
        }
        (DTypeCode::Float, 32) => {
            data.extend((0..count).flat_map(|_| (random.float() as f32).to_le_bytes()));
        }
        (DTypeCode::Float, 16) => {
            data.extend((0..count).flat_map(|_| half(random.sixteenth()).to_le_bytes()));
        }
        (DTypeCode::BFloat, 16) => {
            let upper = |number: f32| ((number.to_bits() >> 16) as u16).to_le_bytes();
            data.extend((0..count).flat_map(|_| upper(random.sixteenth())));
        }
        (DTypeCode::Complex, 64) => {
            data.extend((0..2 * count).flat_map(|_| (random.float() as f32).to_le_bytes()));
        }
        (DTypeCode::Complex, _) => {
            data.extend((0..2 * count).flat_map(|_| random.float().to_le_bytes()));
        }
        // Small floats: codes near the code of 1.0 are finite in all formats.
        (_, 8) => data.extend((0..count).map(|_| 0x30 + random.below(16) as u8)),
        (_, bits) => {
            let bytes = (count * usize::from(bits)).div_ceil(8);
            data.extend((0..bytes).map(|_| random.next() as u8));
        }
    }
    data
}

/// The bits of a 16-bit float that represents the number exactly.
fn half(number: f32) -> u16 {
    let bits = number.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    if number == 0.0 {
        return sign;
    }
    let exponent = ((bits >> 23) & 0xff) as i32 - 127 + 15;
    let fraction = (bits >> 13) as u16 & 0x03ff;
    sign | ((exponent.clamp(1, 30) as u16) << 10) | fraction
}

/// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators".
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9).wrapping_add(number))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which has to be small.
    fn below(&mut self, bound: u64) -> u64 {
        ((self.next() >> 32) * bound) >> 32
    }

    /// A number from -2 to 2.
    fn float(&mut self) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        unit * 4.0 - 2.0
    }

    /// A multiple of 1/64 from -2 to 2.
    fn sixteenth(&mut self) -> f32 {
        (self.below(257) as f32 - 128.0) / 64.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_their_codes() {
        for (number, code) in [
            (0.0, 0),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (1.0 / 64.0, 0x2400),
            (1.984_375, 0x3ff0),
        ] {
            assert_eq!(half(number), code, "{number}");
        }
    }

    #[test]
    fn equal_seeds_draw_equal_numbers() {
        let draw = |seed| {
            let mut random = Random(seed);
            (0..4).map(|_| random.float().to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let mut random = Random(3);
        assert!((0..1000).all(|_| random.float().abs() <= 2.0 && random.below(3) < 3));
    }
}
