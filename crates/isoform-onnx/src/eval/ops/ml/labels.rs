//! Operators from categories to numbers and back.

use std::collections::HashMap;

use isoform::Value;
use isoform::values::Bytes;
use isoform_ir::kernels::Input;
use isoform_kernels::{ElementType, Tensor, View, to_f64s, to_i64s};

use crate::eval::args::Args;
use crate::eval::constants;
use crate::eval::ops::kernel::Kernel;
use crate::eval::ops::words;
use crate::eval::refusal::Refusal;
use crate::eval::results::{OpResult, Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "LabelEncoder" => label_encoder,
        "CategoryMapper" => category_mapper,
        "OneHotEncoder" => one_hot_encoder,
        _ => return None,
    })
}

/// Something to look up.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Int(i64),
    /// The bits of a float, with the bits of 0 for -0.
    Float(u64),
    Text(Vec<u8>),
}

fn float_key(value: f64) -> Key {
    Key::Float(if value == 0.0 { 0 } else { value.to_bits() })
}

/// The elements of a tensor as keys.
fn keys_of(args: &Args<'_>, view: View<'_>) -> Result<Vec<Key>, Refusal> {
    if view.element_type().is_float() {
        let values = to_f64s(view, args.control)?;
        if values.iter().any(|value| value.is_nan()) {
            return Err(args.fault("runtimes differ in whether NaN is found"));
        }
        return Ok(values.into_iter().map(float_key).collect());
    }
    let values = to_i64s(view, args.control)?;
    Ok(values.into_iter().map(Key::Int).collect())
}

fn text_keys<'t>(texts: impl IntoIterator<Item = &'t Bytes>) -> Vec<Key> {
    let texts = texts.into_iter();
    texts.map(|text| Key::Text(text.to_vec())).collect()
}

/// The elements of the input as keys.
fn input_keys(args: &Args<'_>) -> Result<Vec<Key>, Refusal> {
    if args.is_string(0) {
        return Ok(text_keys(args.texts(0)?.values.iter()));
    }
    keys_of(args, args.input(0)?)
}

/// Numbers or strings of which results consist.
enum Labels {
    Tensor(Tensor),
    Texts(Vec<Bytes>),
}

impl Labels {
    /// The labels in a constant.
    fn of(args: &Args<'_>, value: &Value) -> Result<Self, Refusal> {
        if let Some(tensor) = constants::dense(value) {
            let input = Input::new(tensor, args.control)?;
            return Ok(Labels::Tensor(input.view()?.to_tensor(args.control)?));
        }
        match constants::strings(value) {
            Some(texts) => Ok(Labels::Texts(texts.values.iter().cloned().collect())),
            None => Err(args.fault("expected a tensor as attribute")),
        }
    }

    /// The labels in the attribute that a call has among `{prefix}_floats`, `_int64s`,
    /// `_strings` and `_tensor`.
    fn given(args: &Args<'_>, prefix: &str) -> Result<Self, Refusal> {
        let named = |suffix: &str| format!("{prefix}_{suffix}");
        if let Some(value) = args.call.attribute(&named("tensor"))? {
            return Labels::of(args, value);
        }
        if let Some(values) = args.floats(&named("floats"))? {
            let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            return Ok(Labels::Tensor(Tensor::from_slice(
                &[values.len()],
                &values,
            )?));
        }
        if let Some(values) = args.ints(&named("int64s"))? {
            return Ok(Labels::Tensor(Tensor::from_slice(
                &[values.len()],
                &values,
            )?));
        }
        let texts = args
            .text_list(&named("strings"))?
            .ok_or_else(|| args.fault(format!("expected one of the attributes '{prefix}_…'")))?;
        Ok(Labels::Texts(texts))
    }

    fn len(&self) -> usize {
        match self {
            Labels::Tensor(tensor) => tensor.view().len(),
            Labels::Texts(texts) => texts.len(),
        }
    }

    fn keys(&self, args: &Args<'_>) -> Result<Vec<Key>, Refusal> {
        match self {
            Labels::Tensor(tensor) => keys_of(args, tensor.view()),
            Labels::Texts(texts) => Ok(text_keys(texts)),
        }
    }

    /// The label of each place; `None` stands for the default.
    fn at(
        &self,
        args: &Args<'_>,
        places: &[Option<usize>],
        default: &Labels,
        shape: &[usize],
    ) -> Result<OpResult, Refusal> {
        match (self, default) {
            (Labels::Texts(texts), Labels::Texts(default)) if default.len() == 1 => {
                words::limit(args, shape)?;
                let label =
                    |place: &Option<usize>| place.map_or(&default[0], |index| &texts[index]);
                let labels = places.iter().map(label).cloned().collect();
                words::made(args, shape.to_vec(), labels)
            }
            (Labels::Tensor(labels), Labels::Tensor(default))
                if default.element_type() == labels.element_type() && default.view().len() == 1 =>
            {
                let size = labels.element_type().size();
                let result = isoform_kernels::create::full(shape, one_of(default)?, args.control)?;
                let (ty, shape, mut bytes) = result.into_parts();
                for (place, to) in places.iter().zip(bytes.chunks_exact_mut(size)) {
                    if let Some(index) = place {
                        to.copy_from_slice(&labels.view().bytes()[index * size..][..size]);
                    }
                }
                Ok(Tensor::new(ty, shape, bytes)?.into())
            }
            _ => Err(args.fault("expected one default of the type of the labels")),
        }
    }
}

/// The only element of a tensor as a scalar.
fn one_of(tensor: &Tensor) -> Result<View<'_>, Refusal> {
    Ok(View::new(
        tensor.element_type(),
        &[],
        tensor.view().bytes(),
    )?)
}

/// The place of each key.
fn places(args: &Args<'_>, keys: Vec<Key>) -> Result<HashMap<Key, usize>, Refusal> {
    let mut places = HashMap::with_capacity(keys.len());
    for (at, key) in keys.into_iter().enumerate() {
        if places.insert(key, at).is_some() {
            return Err(
                args.fault("expected different keys, since runtimes differ in the one that counts")
            );
        }
    }
    Ok(places)
}

/// The shape of the input.
fn shape(args: &Args<'_>) -> Result<Vec<usize>, Refusal> {
    Ok(args.input(0)?.shape().to_vec())
}

fn label_encoder(args: &Args<'_>) -> Outcome {
    if args.version() < 2 {
        return mapped(args, "classes_strings", None);
    }
    let (keys, values) = (Labels::given(args, "keys")?, Labels::given(args, "values")?);
    if keys.len() != values.len() {
        return Err(args.fault(format!(
            "expected a value for each key, got {} and {}",
            values.len(),
            keys.len()
        )));
    }
    let default = match (args.call.attribute("default_tensor")?, &values) {
        (Some(default), _) => Labels::of(args, default)?,
        (None, Labels::Texts(_)) => default_text(args)?,
        (None, Labels::Tensor(values)) => Labels::Tensor(match values.element_type() {
            ElementType::Float32 => {
                Tensor::from_slice(&[1], &[args.float("default_float", -0.0)? as f32])?
            }
            ElementType::Int64 => Tensor::from_slice(&[1], &[args.int("default_int64", -1)?])?,
            other => {
                return Err(args.fault(format!("expected a default_tensor of {other}")));
            }
        }),
    };
    let places = places(args, keys.keys(args)?)?;
    let label_places: Vec<Option<usize>> = input_keys(args)?
        .iter()
        .map(|key| places.get(key).copied())
        .collect();
    Ok(vec![values.at(
        args,
        &label_places,
        &default,
        &shape(args)?,
    )?])
}

fn default_text(args: &Args<'_>) -> Result<Labels, Refusal> {
    let text = args.text("default_string", "_Unused")?;
    Ok(Labels::Texts(vec![Bytes::from(text.as_bytes().to_vec())]))
}

fn category_mapper(args: &Args<'_>) -> Outcome {
    let numbers = args.ints("cats_int64s")?.unwrap_or_default();
    mapped(args, "cats_strings", Some(numbers))
}

/// Maps strings to numbers, or back; without numbers, the number is the position of the
/// string.
fn mapped(args: &Args<'_>, name: &str, numbers: Option<Vec<i64>>) -> Outcome {
    let texts = args.text_list(name)?.unwrap_or_default();
    let numbers = numbers.unwrap_or_else(|| (0..texts.len() as i64).collect());
    if numbers.len() != texts.len() {
        return Err(args.fault(format!(
            "expected a number for each string, got {} and {}",
            numbers.len(),
            texts.len()
        )));
    }
    let numbers = Labels::Tensor(Tensor::from_slice(&[numbers.len()], &numbers)?);
    let texts = Labels::Texts(texts);
    let (keys, values, default) = if args.is_string(0) {
        let default = Tensor::from_slice(&[1], &[args.int("default_int64", -1)?])?;
        (texts, numbers, Labels::Tensor(default))
    } else {
        (numbers, texts, default_text(args)?)
    };
    let places = places(args, keys.keys(args)?)?;
    let label_places: Vec<Option<usize>> = input_keys(args)?
        .iter()
        .map(|key| places.get(key).copied())
        .collect();
    Ok(vec![values.at(
        args,
        &label_places,
        &default,
        &shape(args)?,
    )?])
}

fn one_hot_encoder(args: &Args<'_>) -> Outcome {
    let keys: Vec<Key> = if args.is_string(0) {
        text_keys(&args.text_list("cats_strings")?.unwrap_or_default())
    } else {
        let numbers = args.ints("cats_int64s")?.unwrap_or_default();
        numbers.into_iter().map(Key::Int).collect()
    };
    let count = keys.len();
    let places = places(args, keys)?;
    let row_keys = if args.is_string(0) {
        input_keys(args)?
    } else if args.input(0)?.element_type().is_float() {
        // Numbers are categories without their fractions.
        let values = args.input_floats(0)?;
        if values
            .iter()
            .any(|value| value.abs() >= 9e18 || value.is_nan())
        {
            return Err(args.fault("expected numbers within the range of int64"));
        }
        values
            .into_iter()
            .map(|value| Key::Int(value as i64))
            .collect()
    } else {
        input_keys(args)?
    };
    let accepts_others = args.flag("zeros", true)?;
    let mut shape = shape(args)?;
    shape.push(count);
    let zero = Tensor::scalar(0.0_f32);
    let mut result = isoform_kernels::create::full(&shape, zero.view(), args.control)?
        .view()
        .to_vec::<f32>()?;
    for (key, row) in row_keys.iter().zip(result.chunks_exact_mut(count.max(1))) {
        match places.get(key) {
            Some(place) => row[*place] = 1.0,
            None if accepts_others => {}
            None => return Err(args.fault(format!("expected a known category, got {key:?}"))),
        }
    }
    one(Tensor::from_slice(&shape, &result)?)
}
