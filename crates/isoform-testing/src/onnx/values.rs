//! Values of the generator: their types, sizes and elements.

use isoform::Value;
use isoform_onnx::ElemType;

use super::build;
use crate::source::Source;

/// A size under each of the two assignments of the symbolic dimensions.
pub(super) type Size = [i64; 2];

/// A value of a program being drawn.
#[derive(Clone, Debug)]
pub(super) struct Val {
    pub(super) value: Value,
    pub(super) elem: ElemType,
    pub(super) dims: Vec<Size>,
    /// The elements of a small tensor of int64 under each assignment, if known.
    pub(super) ints: Option<[Vec<i64>; 2]>,
    /// True if the elements are finite and between -100 and 100.
    pub(super) tame: bool,
    /// True for a constant.
    pub(super) constant: bool,
}

impl Val {
    pub(super) fn new(value: Value, elem: ElemType, dims: Vec<Size>) -> Self {
        Val {
            value,
            elem,
            dims,
            ints: None,
            tame: false,
            constant: false,
        }
    }

    pub(super) fn rank(&self) -> usize {
        self.dims.len()
    }

    /// True if no dimension differs between the assignments.
    pub(super) fn is_fixed(&self) -> bool {
        self.dims.iter().all(|size| size[0] == size[1])
    }

    /// True if a dimension is zero under one of the assignments.
    pub(super) fn may_be_empty(&self) -> bool {
        self.dims.iter().any(|size| size.contains(&0))
    }

    /// The number of elements.
    pub(super) fn count(&self) -> Size {
        product(&self.dims)
    }

    /// The shape under an assignment.
    pub(super) fn shape(&self, assignment: usize) -> Vec<i64> {
        self.dims.iter().map(|size| size[assignment]).collect()
    }
}

pub(super) fn product(dims: &[Size]) -> Size {
    dims.iter()
        .fold([1, 1], |all, size| [all[0] * size[0], all[1] * size[1]])
}

/// The sizes of two tensors broadcast together; None if one assignment forbids it.
pub(super) fn broadcast(left: &[Size], right: &[Size]) -> Option<Vec<Size>> {
    let rank = left.len().max(right.len());
    let size_of = |dims: &[Size], axis: usize| {
        let missing = rank - dims.len();
        axis.checked_sub(missing)
            .map_or([1, 1], |index| dims[index])
    };
    let mut result = Vec::with_capacity(rank);
    for axis in 0..rank {
        let (left, right) = (size_of(left, axis), size_of(right, axis));
        let mut size = [0, 0];
        for which in 0..2 {
            size[which] = match (left[which], right[which]) {
                (left, right) if left == right => left,
                (1, right) => right,
                (left, 1) => left,
                _ => return None,
            };
        }
        result.push(size);
    }
    Some(result)
}

pub(super) const FLOAT8: [ElemType; 4] = [
    ElemType::Float8E4m3fn,
    ElemType::Float8E4m3fnuz,
    ElemType::Float8E5m2,
    ElemType::Float8E5m2fnuz,
];

pub(super) const SIGNED: [ElemType; 4] = [
    ElemType::Int64,
    ElemType::Int32,
    ElemType::Int8,
    ElemType::Int16,
];

pub(super) const UNSIGNED: [ElemType; 4] = [
    ElemType::Uint8,
    ElemType::Uint32,
    ElemType::Uint64,
    ElemType::Uint16,
];

pub(super) fn is_float(elem: ElemType) -> bool {
    use ElemType::{Bfloat16, Double, Float, Float16};
    matches!(elem, Float | Double | Float16 | Bfloat16)
}

pub(super) fn is_integer(elem: ElemType) -> bool {
    SIGNED.contains(&elem) || UNSIGNED.contains(&elem)
}

/// The bytes of one number of a type; wide numbers lose their upper bits.
pub(super) fn number(elem: ElemType, number: f64) -> Vec<u8> {
    let integer = number as i64;
    match elem {
        ElemType::Float => (number as f32).to_le_bytes().to_vec(),
        ElemType::Double => number.to_le_bytes().to_vec(),
        ElemType::Float16 => half(number).to_le_bytes().to_vec(),
        ElemType::Bfloat16 => (((number as f32).to_bits() >> 16) as u16)
            .to_le_bytes()
            .to_vec(),
        ElemType::Int64 | ElemType::Uint64 => integer.to_le_bytes().to_vec(),
        ElemType::Int32 | ElemType::Uint32 => (integer as i32).to_le_bytes().to_vec(),
        ElemType::Int16 | ElemType::Uint16 => (integer as i16).to_le_bytes().to_vec(),
        ElemType::Bool => vec![u8::from(number != 0.0)],
        ElemType::Int4 | ElemType::Uint4 => vec![integer as u8 & 15],
        // 8 is 0.015625, 1 or a nearby number in all the formats.
        elem if FLOAT8.contains(&elem) => vec![match integer {
            0 => 0,
            _ => 0x38,
        }],
        ElemType::String => format!("{number}").into_bytes(),
        _ => vec![integer as u8],
    }
}

/// The bits of a small number, or special number, in a float of 16 bits.
fn half(number: f64) -> u16 {
    let bits = (number as f32).to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let exponent = (bits >> 23 & 0xff) as i32 - 127;
    let fraction = (bits >> 13 & 0x3ff) as u16;
    match exponent {
        128 => sign | 0x7c00 | u16::from(number.is_nan()) << 9,
        16.. => sign | 0x7bff,
        -14.. => sign | ((exponent + 15) as u16) << 10 | fraction,
        _ if number == 0.0 => sign,
        _ => sign | 1,
    }
}

/// Small numbers, exact in every float type.
const TAME: [f64; 8] = [1.0, 0.0, 2.0, -1.0, 0.5, 3.0, -0.0, -2.5];

/// Numbers at which operators take care.
const WILD: [f64; 12] = [
    1.0,
    0.0,
    -0.0,
    -1.0,
    2.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    -1e30,
    1e-30,
    0.1,
];

/// The bytes of a drawn element.
pub(super) fn element(source: &mut Source<'_>, elem: ElemType, tame: bool) -> Vec<u8> {
    match elem {
        ElemType::String => source.pick(&["", "a", "b", "é"]).as_bytes().to_vec(),
        ElemType::Bool => vec![source.below(2) as u8],
        elem if FLOAT8.contains(&elem) => vec![source.byte()],
        elem if is_float(elem) && tame => number(elem, *source.pick(&TAME)),
        elem if is_float(elem) => match source.below(WILD.len() + 1) {
            // A NaN with a payload and a sign, which moves have to keep.
            12 => match elem {
                ElemType::Float => 0xffc0_0123_u32.to_le_bytes().to_vec(),
                ElemType::Double => 0xfff8_0000_0000_0123_u64.to_le_bytes().to_vec(),
                _ => 0xffc3_u16.to_le_bytes().to_vec(),
            },
            index => number(elem, WILD[index]),
        },
        elem if tame => number(elem, source.below(5) as f64),
        elem => {
            let small = *source.pick(&[0_i64, 1, 2, 3, -1, 7, 100, i64::MAX, i64::MIN]);
            let bytes = small.to_le_bytes().to_vec();
            let width = number(elem, 0.0).len();
            match small {
                // The high bytes of these extremes are the extremes of narrower types.
                i64::MIN | i64::MAX => bytes[8 - width..].to_vec(),
                _ => bytes[..width].to_vec(),
            }
        }
    }
}

/// A tensor of drawn elements.
pub(super) fn random_tensor(
    source: &mut Source<'_>,
    elem: ElemType,
    shape: &[i64],
    tame: bool,
) -> Value {
    let count: i64 = shape.iter().product();
    // Most elements repeat a few values, to use little of the source.
    let drawn = usize::try_from(count).unwrap_or(0).min(4);
    let few: Vec<Vec<u8>> = (0..drawn).map(|_| element(source, elem, tame)).collect();
    let elements: Vec<Vec<u8>> = (0..count as usize)
        .map(|at| few[(at + at / 4) % drawn].clone())
        .collect();
    build::tensor(elem, shape, &elements)
}
