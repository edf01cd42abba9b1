//! Random values without objects inside.

use isoform::types::Schema;
use isoform::values::{DType, Device, Shape, Tensor};
use isoform::{Result, Value};
use num_bigint::BigInt;

use super::NodeOptions;
use crate::source::Source;

/// A value of a schema; None for schemas of functions and of a host language.
pub(super) fn value(
    schema: &Schema,
    options: &NodeOptions,
    source: &mut Source<'_>,
) -> Result<Option<Value>> {
    let size = options.size;
    Ok(Some(match schema {
        Schema::None => Value::NONE,
        Schema::Any => match source.below(4) {
            0 => Value::NONE,
            1 => (source.below(2) == 1).into(),
            2 => int(options, source).into(),
            _ => text(size, source).into(),
        },
        Schema::Bool => (source.below(2) == 1).into(),
        Schema::Int => int(options, source).into(),
        Schema::BigInt => {
            let factor = BigInt::from(1) << *source.pick(&[0, 1, 64]);
            let number: BigInt = factor * BigInt::from(int(options, source));
            number.into()
        }
        Schema::Float => float(source).into(),
        Schema::Str => text(size, source).into(),
        Schema::Bytes => bytes(size, source).as_slice().into(),
        Schema::DType => {
            let names = [
                "int64", "bool", "int8", "uint8", "float16", "float32", "bfloat16",
            ];
            source.pick(&names).parse::<DType>()?.into()
        }
        Schema::Device => Device::new(1, source.below(4) as u32).into(),
        Schema::Literal(values) => source.pick(values).clone(),
        Schema::Shape => {
            let sizes = bytes(size, source).into_iter();
            Shape::from(sizes.map(|byte| i64::from(byte % 9)).collect::<Vec<_>>()).into()
        }
        Schema::Tensor => {
            let bytes = bytes(size, source);
            Tensor::new("uint8".parse()?, vec![bytes.len() as i64], bytes)?.into()
        }
        _ => return Ok(None),
    }))
}

/// A small number, a number at which representations change, or any number.
fn int(options: &NodeOptions, source: &mut Source<'_>) -> i64 {
    let (least, most) = (*options.ints.start(), *options.ints.end());
    let mut special = vec![0, 1, 2, -1, 10, least, most];
    special.retain(|number| options.ints.contains(number));
    let choice = source.below(special.len() + 2);
    if let Some(&number) = special.get(choice) {
        return number;
    }
    let bits = (0..8).fold(0, |bits, _| bits << 8 | i128::from(source.byte()));
    let count = i128::from(most) - i128::from(least) + 1;
    (i128::from(least) + bits % count.max(1)) as i64
}

fn float(source: &mut Source<'_>) -> f64 {
    let special = [
        0.0,
        1.0,
        -1.5,
        0.1,
        -0.0,
        1e300,
        5e-324,
        f64::INFINITY,
        f64::NAN,
    ];
    let choice = source.below(special.len() + 2);
    let any = || (f64::from(source.byte()) - 128.0) / 8.0;
    special.get(choice).copied().unwrap_or_else(any)
}

/// A text in which quotes, escapes and characters of several bytes come up.
fn text(size: usize, source: &mut Source<'_>) -> String {
    let characters = [
        'a', 'b', 'x', 'Z', '0', '_', '.', ' ', '"', '\'', '\\', '%', '\n', '\0', 'é', '変', '🦀',
    ];
    let count = source.below(size.saturating_mul(2).saturating_add(1));
    (0..count).map(|_| *source.pick(&characters)).collect()
}

fn bytes(size: usize, source: &mut Source<'_>) -> Vec<u8> {
    let count = source.below(size.saturating_add(1));
    (0..count).map(|_| source.byte()).collect()
}
