//! Random inputs for programs, and sizes for their symbolic dimensions.

use std::collections::HashMap;
use std::fmt;

use isoform::values::{Bytes, DType, DTypeCode, Shape, Tensor, ValueRef};
use isoform::{Array, Ref, Value};

use crate::ir::{Dim, Graph, Input, StringTensor, TensorType};

/// Values for the inputs of a program, by name.
pub type Inputs = Vec<(String, Value)>;

/// All inputs together have at most this many elements.
const MAX_ELEMENTS: i64 = 1 << 24;

/// Sizes for the first axis and for all others: equal ones, or counting up from there if
/// the dimensions are to be told apart. The bound is that of integers.
const PATTERNS: &[Pattern] = &[
    Pattern::new(2, 2, true, 8),
    Pattern::new(3, 3, true, 3),
    Pattern::new(2, 2, false, 2),
    Pattern::new(3, 3, false, 2),
    Pattern::new(1, 1, false, 2),
    Pattern::new(1, 4, false, 2),
    Pattern::new(2, 8, false, 2),
    Pattern::new(1, 16, false, 2),
    Pattern::new(2, 32, false, 2),
    Pattern::new(1, 64, false, 2),
    Pattern::new(1, 128, false, 1),
    Pattern::new(1, 224, false, 2),
    Pattern::new(1, 256, false, 2),
    Pattern::new(1, 640, false, 2),
    Pattern::new(1, 1024, false, 1),
    Pattern::new(1, 4096, false, 1),
    Pattern::new(1, 16384, false, 1),
    Pattern::new(1, 48000, false, 1),
];

#[derive(Clone, Copy)]
struct Pattern {
    first: i64,
    others: i64,
    distinct: bool,
    bound: u64,
}

impl Pattern {
    const fn new(first: i64, others: i64, distinct: bool, bound: u64) -> Self {
        Pattern {
            first,
            others,
            distinct,
            bound,
        }
    }
}

/// Sizes for all dimensions of one set of inputs.
pub(super) struct Plan {
    inputs: Vec<Planned>,
    /// The sizes by name, in the order of occurrence.
    dims: Vec<(String, i64)>,
    bound: u64,
    /// Tells the inputs from those of other plans with the same sizes.
    number: u64,
}

#[derive(Clone)]
struct Planned {
    name: String,
    elem: Elem,
    shape: Vec<i64>,
}

#[derive(Clone, Copy)]
enum Elem {
    Number(DType),
    Text,
}

/// `n=2, m=3`, or the number of the plan if there are no dimensions to choose.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dims.is_empty() {
            return write!(f, "inputs {}", self.number + 1);
        }
        for (index, (name, size)) in self.dims.iter().enumerate() {
            write!(f, "{}{name}={size}", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// An axis of an input.
enum Axis {
    Fixed(i64),
    /// The position of a dimension in the list of them.
    Free(usize),
}

/// The dimensions of the inputs, each once.
#[derive(Default)]
struct Dims {
    /// Names, and true for those of a first axis.
    listed: Vec<(String, bool)>,
    by_object: HashMap<u64, usize>,
    by_name: HashMap<String, usize>,
}

impl Dims {
    fn add(&mut self, name: String, is_first: bool) -> usize {
        self.listed.push((name, is_first));
        self.listed.len() - 1
    }

    fn axis(&mut self, input: &str, position: usize, dim: &Value) -> Axis {
        if let Some(size) = dim.as_int() {
            return Axis::Fixed(size);
        }
        let known = dim.peek::<Ref<Dim>>();
        let at = match known {
            // Two inputs may have objects of their own for one name.
            Some(dim) => match (
                self.by_object.get(&dim.identity()),
                self.by_name.get(dim.name.as_str()),
            ) {
                (Some(at), _) | (None, Some(at)) => *at,
                (None, None) => {
                    let at = self.add(dim.name.to_string(), position == 0);
                    self.by_object.insert(dim.identity(), at);
                    self.by_name.insert(dim.name.to_string(), at);
                    at
                }
            },
            None => self.add(format!("{input}[{position}]"), position == 0),
        };
        Axis::Free(at)
    }
}

/// Ways to make inputs for two programs, likely ones first.
///
/// The second program may fix dimensions that the first leaves open, so its declarations
/// come first.
///
/// # Errors
///
/// The reason why there are no inputs, for people.
pub(super) fn plans(original: &Graph, optimized: &Graph) -> Result<Vec<Plan>, String> {
    let mut dims = Dims::default();
    let mut parts = Vec::new();
    for param in original.params.iter().filter(|it| it.default.is_none()) {
        let other = optimized.params.iter().find(|it| it.name == param.name);
        let ty = tensor_type(other.unwrap_or(param)).or_else(|| tensor_type(param));
        let Some(ty) = ty else {
            return Err(format!(
                "input '{}' is not declared as a tensor, so there is nothing to feed it with",
                param.name
            ));
        };
        let elem = match ty.elem.view() {
            ValueRef::DType(dtype) => Elem::Number(dtype),
            ValueRef::Str(_) => Elem::Text,
            _ => {
                return Err(format!(
                    "input '{}' has no declared element type",
                    param.name
                ));
            }
        };
        let Some(shape) = &ty.shape else {
            return Err(format!("input '{}' has no declared rank", param.name));
        };
        let axes = shape.values().iter().enumerate();
        let axes: Vec<Axis> = axes
            .map(|(position, dim)| dims.axis(&param.name, position, dim))
            .collect();
        parts.push((param.name.to_string(), elem, axes));
    }
    let patterns = match dims.listed.is_empty() {
        // Sizes are fixed, so only the contents can be others.
        true => &PATTERNS[..6],
        false => PATTERNS,
    };
    let plans: Vec<Plan> = patterns
        .iter()
        .enumerate()
        .filter_map(|(number, pattern)| plan(&parts, &dims, *pattern, number as u64))
        .collect();
    match plans.is_empty() {
        true => Err("the inputs are too large to be made".to_owned()),
        false => Ok(plans),
    }
}

fn tensor_type(input: &Ref<Input>) -> Option<&TensorType> {
    input
        .ty
        .as_object()?
        .downcast_ref::<TensorType>()
        .map(|it| &**it)
}

fn plan(
    parts: &[(String, Elem, Vec<Axis>)],
    dims: &Dims,
    pattern: Pattern,
    number: u64,
) -> Option<Plan> {
    let sizes: Vec<i64> = dims
        .listed
        .iter()
        .enumerate()
        .map(|(at, (_, is_first))| {
            let base = if *is_first {
                pattern.first
            } else {
                pattern.others
            };
            let step = if pattern.distinct { at as i64 % 5 } else { 0 };
            base + step
        })
        .collect();
    let mut total = 0_i64;
    let mut inputs = Vec::new();
    for (name, elem, axes) in parts {
        let shape: Vec<i64> = axes
            .iter()
            .map(|axis| match axis {
                Axis::Fixed(size) => *size,
                Axis::Free(at) => sizes[*at],
            })
            .collect();
        let count = shape
            .iter()
            .try_fold(1_i64, |count, size| count.checked_mul((*size).max(0)))?;
        total = total
            .checked_add(count)
            .filter(|all| *all <= MAX_ELEMENTS)?;
        inputs.push(Planned {
            name: name.clone(),
            elem: *elem,
            shape,
        });
    }
    let names = dims.listed.iter().map(|(name, _)| name.clone());
    Some(Plan {
        inputs,
        dims: names.zip(sizes).collect(),
        bound: pattern.bound,
        number,
    })
}

impl Plan {
    /// The inputs; the same for the same seed.
    pub(super) fn draw(&self, seed: u64) -> Inputs {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9).wrapping_add(self.number));
        let draw = |input: &Planned| (input.name.clone(), value(input, self.bound, &mut random));
        self.inputs.iter().map(draw).collect()
    }
}

fn value(input: &Planned, bound: u64, random: &mut Random) -> Value {
    let count: i64 = input.shape.iter().map(|size| (*size).max(0)).product();
    let count = usize::try_from(count).unwrap_or(0);
    let dtype = match input.elem {
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
            let shape = Shape::from(input.shape.clone());
            return Ref::new(StringTensor { shape, values }).into();
        }
    };
    let data = elements(dtype, count, bound, random);
    // The number of bytes fits by construction; a tensor that cannot be made cannot be run.
    Tensor::new(dtype, input.shape.clone(), data).map_or(Value::NONE, Value::from)
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
        // Small floats: codes near that of one are finite in all of them.
        (_, 8) => data.extend((0..count).map(|_| 0x30 + random.below(16) as u8)),
        (_, bits) => {
            let bytes = (count * usize::from(bits)).div_ceil(8);
            data.extend((0..bytes).map(|_| random.next() as u8));
        }
    }
    data
}

/// A number that 16-bit floats hold exactly, as its code.
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
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below the bound, which is small.
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
