//! Inputs for programs, given by a user or drawn at random, with chosen sizes for
//! unknown dimensions.
//!
//! Inputs are drawn for several assignments of the dimensions.

use std::collections::HashMap;
use std::fmt;

use isoform::errors::ErrorKind;
use isoform::values::ValueRef;
use isoform::{Error, Ref, Value};

use super::draw::{Elem, Random, tensor};
use crate::ir::{Dim, Graph, Input, StringTensor, TensorType};

/// Values for the inputs of a program, by name.
pub type Inputs = Vec<(String, Value)>;

/// All inputs together have at most this many elements.
const MAX_ELEMENTS: i64 = 1 << 24;

/// Sizes for first axes, last axes and the axes between: equal sizes, or sizes counting
/// up from the given number to distinguish the dimensions. The bound applies to
/// integers.
const PATTERNS: &[Pattern] = &[
    Pattern::new([2, 2, 2], 8).distinct(),
    Pattern::new([3, 3, 3], 3).distinct(),
    Pattern::new([2, 2, 2], 2),
    Pattern::new([3, 3, 3], 2),
    Pattern::new([1, 1, 1], 2),
    Pattern::new([1, 4, 4], 2),
    Pattern::new([2, 8, 8], 2),
    Pattern::new([1, 16, 16], 2),
    Pattern::new([2, 32, 32], 2),
    Pattern::new([1, 64, 64], 2),
    Pattern::new([1, 128, 128], 1),
    // A stretch of sound, beside a state of a batch of one.
    Pattern::new([1, 1, 256], 2),
    Pattern::new([1, 1, 512], 2),
    Pattern::new([1, 1, 1024], 2),
    Pattern::new([1, 224, 224], 2),
    Pattern::new([1, 256, 256], 2),
    Pattern::new([1, 640, 640], 2),
    Pattern::new([1, 1024, 1024], 1),
    Pattern::new([1, 4096, 4096], 1),
    Pattern::new([1, 1, 16000], 1),
    Pattern::new([1, 16384, 16384], 1),
    Pattern::new([1, 48000, 48000], 1),
];

/// The number of patterns to try if only the elements can vary.
const FIXED_PATTERNS: usize = 6;

/// The number of patterns with small sizes.
const SMALL_PATTERNS: u64 = 9;

#[derive(Clone, Copy)]
struct Pattern {
    /// By [`Place`].
    sizes: [i64; 3],
    distinct: bool,
    bound: u64,
}

impl Pattern {
    const fn new(sizes: [i64; 3], bound: u64) -> Self {
        Pattern {
            sizes,
            distinct: false,
            bound,
        }
    }

    const fn distinct(mut self) -> Self {
        self.distinct = true;
        self
    }
}

/// Where a dimension occurs first.
#[derive(Clone, Copy)]
enum Place {
    First,
    Middle,
    Last,
}

/// The inputs and sizes given by a user.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UserInputs {
    pub(crate) values: Inputs,
    pub(crate) shapes: Vec<(String, Vec<i64>)>,
}

impl UserInputs {
    fn value(&self, name: &str) -> Option<&Value> {
        let found = self.values.iter().rfind(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    fn shape(&self, name: &str) -> Option<Vec<i64>> {
        let found = self.shapes.iter().rfind(|(known, _)| known == name);
        match self.value(name) {
            Some(value) => shape_of(value),
            None => found.map(|(_, shape)| shape.clone()),
        }
    }

    /// Checks that there are such inputs.
    fn check(&self, graph: &Graph) -> isoform::Result<()> {
        let values = self.values.iter().map(|(name, _)| name);
        for name in values.chain(self.shapes.iter().map(|(name, _)| name)) {
            if !graph
                .params
                .iter()
                .any(|param| param.name.as_str() == name.as_str())
            {
                let names: Vec<String> = graph
                    .params
                    .iter()
                    .map(|param| format!("'{}'", param.name))
                    .collect();
                let listing = if names.is_empty() {
                    "no inputs".to_owned()
                } else {
                    format!("the inputs {}", names.join(", "))
                };
                let text = format!("input '{name}': the model has {listing}");
                return Err(Error::new(ErrorKind::Key, text));
            }
        }
        for (name, shape) in &self.shapes {
            if let Some(size) = shape.iter().find(|size| **size < 0) {
                let text = format!("input '{name}': expected sizes from 0, got {size}");
                return Err(Error::value_error(text));
            }
        }
        Ok(())
    }
}

fn shape_of(value: &Value) -> Option<Vec<i64>> {
    match value.view() {
        ValueRef::Tensor(tensor) => Some(tensor.shape().to_vec()),
        _ => {
            let texts = value.as_object()?.downcast_ref::<StringTensor>()?;
            Some(texts.shape.to_vec())
        }
    }
}

/// Sizes for all dimensions of one set of inputs.
#[derive(Clone)]
pub(crate) struct Plan {
    inputs: Vec<InputPlan>,
    /// The sizes by name, in the order of occurrence.
    dims: Vec<(String, i64)>,
    bound: u64,
    /// Distinguishes the inputs from the inputs of other plans with the same sizes.
    number: u64,
    /// How often other numbers were asked for.
    repeats: u64,
}

#[derive(Clone)]
struct InputPlan {
    name: String,
    source: Source,
}

/// The origin of a value.
#[derive(Clone)]
enum Source {
    Given(Value),
    Drawn(Elem, Vec<i64>),
}

/// `n=2, m=3`, or the number of the plan if there are no dimensions to choose.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.inputs.is_empty() && !self.has_drawn() {
            return f.write_str("the given inputs");
        }
        if self.dims.is_empty() {
            let number = self.number + self.repeats * FIXED_PATTERNS as u64;
            return write!(f, "inputs {}", number + 1);
        }
        for (index, (name, size)) in self.dims.iter().enumerate() {
            write!(f, "{}{name}={size}", if index > 0 { ", " } else { "" })?;
        }
        if self.repeats > 0 {
            write!(f, ", numbers {}", self.repeats + 1)?;
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
    /// Names, and where they occur first.
    listed: Vec<(String, Place)>,
    by_object: HashMap<u64, usize>,
    by_name: HashMap<String, usize>,
    /// Sizes that follow from the user's arguments.
    fixed: HashMap<usize, i64>,
}

impl Dims {
    fn add(&mut self, name: String, place: Place) -> usize {
        self.listed.push((name, place));
        self.listed.len() - 1
    }

    fn axis(&mut self, input: &str, position: usize, rank: usize, dim: &Value) -> Axis {
        // Negative extents are unknown ones.
        if let Some(size) = dim.as_int().filter(|size| *size >= 0) {
            return Axis::Fixed(size);
        }
        let place = match position {
            0 => Place::First,
            _ if position + 1 == rank => Place::Last,
            _ => Place::Middle,
        };
        let symbol = dim.peek::<Ref<Dim>>();
        let number = match symbol {
            // Two inputs may have different objects for one name.
            Some(dim) => match (
                self.by_object.get(&dim.identity()),
                self.by_name.get(dim.name.as_str()),
            ) {
                (Some(number), _) | (None, Some(number)) => *number,
                (None, None) => {
                    let number = self.add(dim.name.to_string(), place);
                    self.by_object.insert(dim.identity(), number);
                    self.by_name.insert(dim.name.to_string(), number);
                    number
                }
            },
            None => self.add(format!("{input}[{position}]"), place),
        };
        Axis::Free(number)
    }

    /// Gives the axes of an input the sizes that a user asks for.
    fn fix(&mut self, input: &str, axes: &[Axis], sizes: &[i64]) -> isoform::Result<()> {
        if axes.len() != sizes.len() {
            return Err(Error::value_error(format!(
                "input '{input}': expected {} sizes, as the model declares, got {}",
                axes.len(),
                sizes.len()
            )));
        }
        for (position, (axis, size)) in axes.iter().zip(sizes).enumerate() {
            let known_size = match axis {
                Axis::Fixed(known_size) => *known_size,
                Axis::Free(dim) => *self.fixed.entry(*dim).or_insert(*size),
            };
            if known_size == *size {
                continue;
            }
            return Err(Error::value_error(match axis {
                Axis::Fixed(_) => format!(
                    "input '{input}': expected {known_size} at axis {position}, as the model declares, got {size}"
                ),
                Axis::Free(dim) => format!(
                    "input '{input}': expected one size for the dimension '{}', got {known_size} and {size}",
                    self.listed[*dim].0
                ),
            }));
        }
        Ok(())
    }
}

/// The part of a plan that is the same for all sizes.
enum Part {
    Given(Value),
    Drawn(Elem, Vec<Axis>),
}

/// Ways to make inputs for two programs, likely plans first. Otherwise the reason, for
/// people, why no inputs can be made.
///
/// The second program may fix dimensions that the first leaves open, so its
/// declarations come first.
///
/// # Errors
///
/// For the user's arguments: `KeyError` for an unknown input, and `ValueError` for
/// sizes and elements that contradict each other or the model.
pub(crate) fn plans(
    original: &Graph,
    optimized: &Graph,
    user_inputs: &UserInputs,
) -> isoform::Result<Result<Vec<Plan>, String>> {
    user_inputs.check(original)?;
    let mut dims = Dims::default();
    let mut parts = Vec::new();
    for param in original.params.iter() {
        let name = param.name.as_str();
        let (value, shape) = (user_inputs.value(name), user_inputs.shape(name));
        if !param.default.is_none() && value.is_none() && shape.is_none() {
            continue;
        }
        let other = optimized
            .params
            .iter()
            .find(|input| input.name == param.name);
        let ty = tensor_type(other.unwrap_or(param)).or_else(|| tensor_type(param));
        let declared = ty.and_then(|ty| ty.shape.as_ref()).map(|shape| {
            let axes = shape.values().iter().enumerate();
            let axis = |(position, dim)| dims.axis(name, position, shape.len(), dim);
            axes.map(axis).collect::<Vec<Axis>>()
        });
        if let (Some(axes), Some(sizes)) = (&declared, &shape) {
            dims.fix(name, axes, sizes)?;
        }
        if let Some(value) = value {
            check_elements(name, ty, value)?;
            parts.push((name, Part::Given(value.clone())));
            continue;
        }
        let Some(ty) = ty else {
            return Ok(Err(format!(
                "input '{name}' is not declared as a tensor, so there is nothing to feed it with"
            )));
        };
        let elem = match ty.elem.view() {
            ValueRef::DType(dtype) => Elem::Number(dtype),
            ValueRef::Str(_) => Elem::Text,
            _ => return Ok(Err(format!("input '{name}' has no declared element type"))),
        };
        let fixed = || Some(shape?.into_iter().map(Axis::Fixed).collect());
        let Some(axes) = declared.or_else(fixed) else {
            return Ok(Err(format!("input '{name}' has no declared rank")));
        };
        parts.push((name, Part::Drawn(elem, axes)));
    }
    let is_drawn = parts
        .iter()
        .any(|(_, part)| matches!(part, Part::Drawn(..)));
    let patterns = match dims.listed.len() == dims.fixed.len() {
        _ if !is_drawn && !parts.is_empty() => &PATTERNS[..1],
        true => &PATTERNS[..FIXED_PATTERNS],
        false => PATTERNS,
    };
    let plans: Vec<Plan> = patterns
        .iter()
        .enumerate()
        .filter_map(|(number, pattern)| plan(&parts, &dims, *pattern, number as u64))
        .collect();
    Ok(if plans.is_empty() {
        Err("the inputs are too large to be made".to_owned())
    } else {
        Ok(plans)
    })
}

/// Refuses a value of another element type than the model declares.
fn check_elements(name: &str, ty: Option<&TensorType>, value: &Value) -> isoform::Result<()> {
    let declared = ty.map(|ty| ty.elem.view());
    let (expected, got) = match (declared, value.view()) {
        (Some(ValueRef::DType(dtype)), ValueRef::Tensor(tensor)) => {
            if dtype == tensor.dtype() {
                return Ok(());
            }
            (dtype.to_string(), tensor.dtype().to_string())
        }
        (Some(ValueRef::Str(_)), ValueRef::Tensor(tensor)) => {
            ("string".to_owned(), tensor.dtype().to_string())
        }
        _ => return Ok(()),
    };
    Err(Error::value_error(format!(
        "input '{name}': expected elements of {expected}, as the model declares, got {got}"
    )))
}

fn tensor_type(input: &Ref<Input>) -> Option<&TensorType> {
    input
        .ty
        .as_object()?
        .downcast_ref::<TensorType>()
        .map(|it| &**it)
}

fn plan(parts: &[(&str, Part)], dims: &Dims, pattern: Pattern, number: u64) -> Option<Plan> {
    let size = |(index, (_, place)): (usize, &(String, Place))| {
        let step = if pattern.distinct {
            index as i64 % 5
        } else {
            0
        };
        let fixed = dims.fixed.get(&index).copied();
        fixed.unwrap_or(pattern.sizes[*place as usize] + step)
    };
    let sizes: Vec<i64> = dims.listed.iter().enumerate().map(size).collect();
    let mut total = 0_i64;
    let mut inputs = Vec::new();
    for (name, part) in parts {
        let source = match part {
            Part::Given(value) => Source::Given(value.clone()),
            Part::Drawn(elem, axes) => {
                let shape: Vec<i64> = axes
                    .iter()
                    .map(|axis| match axis {
                        Axis::Fixed(size) => *size,
                        Axis::Free(index) => sizes[*index],
                    })
                    .collect();
                let count = shape
                    .iter()
                    .try_fold(1_i64, |count, size| count.checked_mul(*size))?;
                total = total
                    .checked_add(count)
                    .filter(|all| *all <= MAX_ELEMENTS)?;
                Source::Drawn(*elem, shape)
            }
        };
        let name = (*name).to_owned();
        inputs.push(InputPlan { name, source });
    }
    let names = dims.listed.iter().map(|(name, _)| name.clone());
    Some(Plan {
        inputs,
        dims: names.zip(sizes).collect(),
        bound: pattern.bound,
        number,
        repeats: 0,
    })
}

impl Plan {
    /// True for sizes that are only worth their time if no small sizes do.
    pub(crate) fn is_large(&self) -> bool {
        self.number >= SMALL_PATTERNS
    }

    fn has_drawn(&self) -> bool {
        let mut sources = self.inputs.iter().map(|input| &input.source);
        sources.any(|source| matches!(source, Source::Drawn(..)))
    }

    /// The same sizes with other numbers; None if nothing is drawn.
    pub(crate) fn again(&self) -> Option<Plan> {
        self.has_drawn().then(|| Plan {
            repeats: self.repeats + 1,
            ..self.clone()
        })
    }

    /// The inputs; the same for the same seed.
    pub(crate) fn draw(&self, seed: u64) -> Inputs {
        let number = self.number + self.repeats * PATTERNS.len() as u64;
        let mut random = Random::new(seed, number);
        let mut draw = |input: &InputPlan| {
            let value = match &input.source {
                Source::Given(value) => value.clone(),
                Source::Drawn(elem, shape) => tensor(*elem, shape, self.bound, &mut random),
            };
            (input.name.clone(), value)
        };
        self.inputs.iter().map(&mut draw).collect()
    }
}
