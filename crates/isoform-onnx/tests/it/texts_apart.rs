//! Short texts tell two values apart, wherever the values differ.

use std::cell::Cell;

use isoform::values::{Bytes, DType, Shape, Tensor};
use isoform::{Array, Map, Str, Value, structural_equal};
use isoform_onnx::elements::texts_that_differ;
use isoform_testing::source::{RandomCases, Source};

/// Characters of a text, fewer than of most of the drawn values.
const MOST: usize = 40;

fn bytes(source: &mut Source<'_>) -> Vec<u8> {
    let count = source.below(120);
    // Few different bytes, so that values begin alike.
    (0..count)
        .map(|_| b"aaaaaaa\"\\"[source.below(9)])
        .collect()
}

fn tensor(source: &mut Source<'_>) -> Value {
    let dtypes = [
        "float32", "int64", "uint8", "bool", "float16", "uint4", "int8x2",
    ];
    let dtype: DType = dtypes[source.below(dtypes.len())].parse().expect("a type");
    let count = source.below(3) * 24;
    let bits = usize::from(dtype.bits()) * usize::from(dtype.lanes());
    let data = vec![0; (count * bits).div_ceil(8)];
    let shape = vec![count as i64 / 2, 2];
    Tensor::new(dtype, shape, data).expect("a tensor").into()
}

fn plain(source: &mut Source<'_>) -> Value {
    match source.below(6) {
        0 => Value::from(Str::from(String::from_utf8_lossy(&bytes(source)).as_ref())),
        1 => Value::from(Bytes::from(bytes(source))),
        2 => Value::from(Shape::from(vec![7; source.below(60)])),
        3 => tensor(source),
        4 => Value::from(source.below(3) as f64 / 3.0),
        _ => Value::from(source.below(3) as i64),
    }
}

fn value(source: &mut Source<'_>) -> Value {
    let items = |source: &mut Source<'_>| -> Vec<Value> {
        let count = source.below(40);
        let item = plain(source);
        let mut items = vec![item; count];
        if source.chance(30) {
            items.push(plain(source));
        }
        items
    };
    match source.below(4) {
        0 => Value::from(Array::from(items(source))),
        1 => {
            let inner = Value::from(Array::from(items(source)));
            Value::from(Array::from(vec![inner; 1 + source.below(3)]))
        }
        2 => {
            let entries = items(source).into_iter().enumerate();
            let entries = entries.map(|(number, item)| (Str::from(format!("k{number}")), item));
            Value::from(entries.collect::<Map<Str, Value>>())
        }
        _ => plain(source),
    }
}

/// The value with a change near its end, or the value itself.
fn edited(source: &mut Source<'_>, value: &Value) -> Value {
    if let Some(text) = value.as_str() {
        return Value::from(Str::from(format!(
            "{text}{}",
            ["", "a", "b"][source.below(3)]
        )));
    }
    if let Some(items) = value.peek::<Array>() {
        let mut items = items.values().to_vec();
        if let Some(last) = items.last_mut() {
            match last.peek::<Array>().cloned() {
                Some(inner) => {
                    let mut inner = inner.values().to_vec();
                    inner.push(plain(source));
                    *last = Value::from(Array::from(inner));
                }
                None => *last = edited_plain(source, last),
            }
        }
        return Value::from(Array::from(items));
    }
    edited_plain(source, value)
}

fn edited_plain(source: &mut Source<'_>, value: &Value) -> Value {
    if let Some(tensor) = value.peek::<Tensor>() {
        let mut data = tensor.data().to_vec();
        if let Some(last) = data.last_mut() {
            *last ^= u8::from(source.chance(70));
        }
        let tensor = Tensor::new(tensor.dtype(), tensor.shape().to_vec(), data);
        return tensor.expect("a tensor").into();
    }
    if let Some(bytes) = value.peek::<Bytes>() {
        let mut bytes = bytes.to_vec();
        bytes.push(source.byte());
        return Value::from(Bytes::from(bytes));
    }
    plain(source)
}

#[test]
fn texts_differ_where_values_do() {
    let (cases, alike) = (Cell::new(0), Cell::new(0));
    RandomCases {
        seed: 11,
        count: 20_000,
        lengths: 20..240,
    }
    .check("texts_differ_where_values_do", |bytes| {
        let mut source = Source::new(bytes);
        let left = value(&mut source);
        let right = match source.below(3) {
            0 => value(&mut source),
            _ => edited(&mut source, &left),
        };
        // A text that begins as most other ones do.
        let short = |value: &Value| format!("{value:?}").chars().take(8).collect::<String>();
        let [one, other] = texts_that_differ([&left, &right], MOST, short);
        let is_equal = structural_equal(&left, &right).map_err(|error| error.to_string())?;
        cases.set(cases.get() + 1);
        alike.set(alike.get() + usize::from(!is_equal && short(&left) == short(&right)));
        if (one == other) == is_equal {
            return Ok(());
        }
        Err(format!("{one} and {other}: {left:?} and {right:?}"))
    });
    assert!(
        10 * alike.get() > cases.get(),
        "{} of {}",
        alike.get(),
        cases.get()
    );
}
