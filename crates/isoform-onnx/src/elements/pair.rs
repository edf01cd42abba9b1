//! Short texts that tell two values apart.

use isoform::compare::CompareOptions;
use isoform::paths::{AccessPath, AccessStep};
use isoform::values::ValueRef;
use isoform::{Error, Value};

use super::{abbreviated_pair, element, first_difference, indices, tensor_type};

/// Steps of a path that are shown; a longer one ends with the last of them.
const MOST_STEPS: usize = 8;

/// The texts of two values. Where the texts are the same although the values differ, the
/// first part that differs is shown instead, with its place: an element of a tensor, an
/// item of a list, the parts of long strings. Equal values have equal texts. O(values).
///
/// ```
/// use isoform::{Array, Value};
/// use isoform_onnx::elements::texts_that_differ;
///
/// let list = |last: i64| Value::from(Array::from((0..50).chain([last]).collect::<Vec<i64>>()));
/// let text = |value: &Value| match value.as_int() {
///     Some(number) => number.to_string(),
///     None => "[0, 1, ...]".to_owned(),
/// };
/// let [left, right] = texts_that_differ([&list(7), &list(8)], 80, text);
/// assert_eq!([left, right], ["7 at [50]", "8 at [50]"]);
/// ```
#[must_use]
pub fn texts_that_differ(
    values: [&Value; 2],
    most: usize,
    text: impl Fn(&Value) -> String,
) -> [String; 2] {
    if let [ValueRef::Str(_), ValueRef::Str(_)] = values.map(Value::view) {
        return plain_pair(values, most).unwrap_or_else(|| values.map(&text));
    }
    let texts = values.map(&text);
    if texts[0] != texts[1] {
        return texts;
    }
    match first_part(values, most, &text) {
        Ok(None) => texts,
        Ok(Some(parts)) if parts[0] != parts[1] => parts,
        _ => with_another(texts),
    }
}

/// Two texts of different values; the same texts are told apart by a word. O(texts).
#[must_use]
pub fn with_another([left, right]: [String; 2]) -> [String; 2] {
    let right = if left == right {
        format!("another {right}")
    } else {
        right
    };
    [left, right]
}

/// The first parts that differ; None for equal values.
fn first_part(
    values: [&Value; 2],
    most: usize,
    text: impl Fn(&Value) -> String,
) -> Result<Option<[String; 2]>, Error> {
    if let Some(texts) = plain_pair(values, most).or_else(|| counts(values, &text)) {
        return Ok((texts[0] != texts[1]).then_some(texts));
    }
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    let Some(found) = options.explain_mismatch(values[0].clone(), values[1].clone())? else {
        return Ok(None);
    };
    let sides = [found.left.as_ref(), found.right.as_ref()];
    let parts = match sides {
        [Some(left), Some(right)] => {
            let parts = [left, right];
            let apart = plain_pair(parts, most).or_else(|| counts(parts, &text));
            apart.unwrap_or_else(|| parts.map(&text))
        }
        _ => sides.map(|side| side.map_or_else(|| "nothing".to_owned(), &text)),
    };
    let places = [&found.left_path, &found.right_path].map(place);
    let [left, right] = [0, 1].map(|side| match places[side].as_str() {
        "" => parts[side].clone(),
        place => format!("{} at {place}", parts[side]),
    });
    Ok(Some(with_another([left, right])))
}

/// Values without parts: the texts around their first difference; None for others.
fn plain_pair(values: [&Value; 2], most: usize) -> Option<[String; 2]> {
    let whole = match values.map(Value::view) {
        [ValueRef::Str(left), ValueRef::Str(right)] => {
            [left, right].map(|text| format!("{text:?}"))
        }
        [ValueRef::Bytes(left), ValueRef::Bytes(right)] => {
            [left, right].map(|bytes| format!("b\"{}\"", bytes.escape_ascii()))
        }
        // Digits in base 10 take quadratic time.
        [ValueRef::BigInt(left), ValueRef::BigInt(right)] => {
            [left, right].map(|number| format!("{number:#x}"))
        }
        [ValueRef::Shape(left), ValueRef::Shape(right)] => {
            [left, right].map(|shape| format!("{:?}", &shape[..]))
        }
        [ValueRef::Tensor(left), ValueRef::Tensor(right)] => {
            let index = first_difference(left, right)?;
            let at = indices(left.shape(), index);
            return Some([left, right].map(|tensor| {
                let ty = tensor_type(tensor);
                format!("{} at {at:?} of {ty}", element(tensor, index))
            }));
        }
        _ => return None,
    };
    Some(abbreviated_pair(whole.each_ref().map(String::as_str), most))
}

/// Containers of different lengths with their lengths; None for others.
fn counts(values: [&Value; 2], text: impl Fn(&Value) -> String) -> Option<[String; 2]> {
    let count = |value: &Value| match value.view() {
        ValueRef::Array(items) => Some(items.len()),
        ValueRef::List(items) => Some(items.len()),
        ValueRef::Map(entries) => Some(entries.len()),
        ValueRef::Dict(entries) => Some(entries.len()),
        _ => None,
    };
    let [Some(left), Some(right)] = values.map(count) else {
        return None;
    };
    let counts = [left, right];
    (left != right)
        .then(|| [0, 1].map(|side| format!("{} with {} items", text(values[side]), counts[side])))
}

/// The last steps of a path.
fn place(path: &AccessPath) -> String {
    let steps = path.steps();
    let start = steps.len().saturating_sub(MOST_STEPS);
    let shown: String = steps[start..].iter().map(AccessStep::to_string).collect();
    if start > 0 {
        return format!("...{shown}");
    }
    shown.trim_start_matches('.').to_owned()
}
