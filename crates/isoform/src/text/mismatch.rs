//! A mismatch with the text of both sides around it.

use std::fmt::Write;

use super::options::{TensorText, TextOptions};
use super::print_marked;
use crate::kernel::display::{EXPLAIN_BUDGET, short};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::dynamic::field_value_at;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::setters::setters;
use crate::kernel::value::{Value, ValueRef};
use crate::structural::{CompareOptions, Mismatch};

/// Limits for how much of both sides to show.
///
/// ```
/// use isoform::explain_mismatch;
/// use isoform::text::MismatchOptions;
/// let (left, right) = ([1, 2].into(), [1, 3].into());
/// let mismatch = explain_mismatch(&left, &right)?.expect("they differ");
/// let text = MismatchOptions::default().lines(1).render(&left, &right, &mismatch);
/// assert_eq!(text, "\
/// the values differ
///   left:  <root>[1]
///     [1, 2]
///     //  ^
///   right: <root>[1]
///     [1, 3]
///     //  ^");
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MismatchOptions {
    /// The maximum number of values shown per side, taken from the smallest part around
    /// the mismatch. A larger place is truncated.
    pub values: usize,
    /// The number of lines shown above and below the mismatch.
    pub lines: usize,
    /// The maximum width of a line.
    pub width: usize,
    /// True to colour the text for a terminal.
    pub color: bool,
}

impl Default for MismatchOptions {
    fn default() -> Self {
        MismatchOptions {
            values: 400,
            lines: 6,
            width: 100,
            color: false,
        }
    }
}

impl MismatchOptions {
    setters! {
        /// Sets the maximum number of values shown per side.
        values: usize,
        /// Sets the number of lines shown above and below the mismatch.
        lines: usize,
        /// Sets the maximum width of a line.
        width: usize,
        /// Sets whether to colour the text for a terminal.
        color: bool,
    }

    /// [`render_mismatch`] with these options.
    pub fn render(&self, left: &Value, right: &Value, mismatch: &Mismatch) -> String {
        let mut out = mismatch.reason.to_string();
        let sides = [
            ("left: ", left, &mismatch.left_path, &mismatch.left),
            ("right:", right, &mismatch.right_path, &mismatch.right),
        ];
        for (name, root, path, found) in sides {
            // Writing to a string cannot fail.
            let _ = write!(out, "\n  {name} {path}");
            for line in side(root, path, found.as_ref(), self, &mut out) {
                let _ = write!(out, "\n    {line}");
            }
        }
        out
    }

    /// The lines of both sides that [`render`](Self::render) shows, without the paths.
    pub fn sides(&self, left: &Value, right: &Value, mismatch: &Mismatch) -> [Vec<String>; 2] {
        let sides = [
            (left, &mismatch.left_path, &mismatch.left),
            (right, &mismatch.right_path, &mismatch.right),
        ];
        sides.map(|(root, path, found)| side(root, path, found.as_ref(), self, &mut String::new()))
    }
}

/// The reason of a mismatch and both sides as text, with the place underlined.
///
/// `left` and `right` are the compared values. Fields ignored by comparison are left
/// out, and large values are shown in part: the cost depends only on the options and
/// the length of the paths.
pub fn render_mismatch(left: &Value, right: &Value, mismatch: &Mismatch) -> String {
    MismatchOptions::default().render(left, right, mismatch)
}

/// The lines of a side. The position of the first line is printed after its path.
fn side(
    root: &Value,
    path: &AccessPath,
    part: Option<&Value>,
    options: &MismatchOptions,
    out: &mut String,
) -> Vec<String> {
    let places = places(root, path);
    let place = places.last().unwrap_or(root);
    if is_larger(place, options.values) {
        return vec![short(place, EXPLAIN_BUDGET)];
    }
    let mut first = places.len() - 1;
    while first > 0 && !is_larger(&places[first - 1], options.values) {
        first -= 1;
    }
    let steps = path.steps();
    if first > 0 {
        let from = AccessPath::from_steps(steps[..first].to_vec());
        let _ = write!(out, ", in {from}:");
    }
    let note = if part.is_none() {
        "has no such part"
    } else {
        ""
    };
    let inner = AccessPath::from_steps(steps[first..].to_vec());
    let text = TextOptions::default()
        .width(options.width.saturating_sub(4))
        .color(options.color)
        .tensors(TensorText::Abbreviated)
        .placeholders(true)
        // Ignored fields, such as spans, cannot be the difference.
        .ignored_fields(false)
        .mark(inner, note);
    let mut printed = print_marked(&places[first], &text, None);
    if part.is_some() && printed.as_ref().is_ok_and(|printed| !printed.is_exact) {
        // If the difference is in a field with its default value, or a hook compares
        // more than the fields, the field is shown.
        let text = text.show_fields(fields_on(&places[first..], &steps[first..]));
        printed = print_marked(&places[first], &text, None);
    }
    match printed {
        Ok(printed) => around(&printed.text, &printed.lines, options.lines),
        // Values that contain themselves have no text.
        Err(_) => vec![short(place, EXPLAIN_BUDGET)],
    }
}

/// The lines of a value's text around the place at a path, which is underlined. Costs as
/// much as [`render_mismatch`], whatever the size of the value.
pub fn excerpt(root: &Value, path: &AccessPath) -> Vec<String> {
    let place = path.get(root).ok();
    side(
        root,
        path,
        place.as_ref(),
        &MismatchOptions::default(),
        &mut String::new(),
    )
}

/// The fields on a path: objects and positions.
fn fields_on(places: &[Value], steps: &[AccessStep]) -> Vec<(Ref<Obj>, u32)> {
    let field = |(place, step): (&Value, &AccessStep)| match step {
        AccessStep::Attr(name) => {
            let object = place.as_object()?;
            let field = object.type_info().field_index(name)?;
            Some((object.clone(), field as u32))
        }
        _ => None,
    };
    places.iter().zip(steps).filter_map(field).collect()
}

/// The values on a path, from the root to the last existing value.
fn places(root: &Value, path: &AccessPath) -> Vec<Value> {
    let mut places = vec![root.clone()];
    for step in path.steps() {
        let one = AccessPath::from_steps(vec![step.clone()]);
        match one.get(&places[places.len() - 1]) {
            Ok(value) => places.push(value),
            Err(_) => break,
        }
    }
    places
}

/// True if a value has more than this number of parts, including parts of parts.
fn is_larger(value: &Value, limit: usize) -> bool {
    let mut stack = vec![value.clone()];
    let mut count = 0;
    while let Some(value) = stack.pop() {
        count += 1 + text_parts(&value);
        if count + stack.len() > limit {
            return true;
        }
        push_parts(&value, limit, &mut stack);
    }
    false
}

/// The number of parts taking as much space as the text of a value without parts.
fn text_parts(value: &Value) -> usize {
    match value.view() {
        ValueRef::Str(text) => text.len() / PART,
        ValueRef::Bytes(bytes) => bytes.len() / PART,
        ValueRef::BigInt(number) => number.bits() as usize / (3 * PART),
        ValueRef::Shape(dims) => dims.len(),
        _ => 0,
    }
}

/// The number of characters counted as one part.
const PART: usize = 32;

fn push_parts(value: &Value, limit: usize, stack: &mut Vec<Value>) {
    if let Some(contents) = value.contents() {
        stack.extend(contents.parts().take(limit + 1).cloned());
    } else if let ValueRef::Object(object) = value.view() {
        let fields = 0..object.type_info().fields().len();
        stack.extend(fields.filter_map(|field| field_value_at(object, field)));
    }
}

/// The lines around the marked lines, omitting all further lines.
fn around(text: &str, marked: &[usize], context: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let (Some(&first), Some(&last)) = (marked.first(), marked.last()) else {
        return lines.into_iter().map(str::to_owned).collect();
    };
    // The line above the carets is their subject.
    let start = first.saturating_sub(1 + context);
    let end = (last + 1 + context).min(lines.len());
    let mut shown = Vec::new();
    if start > 0 {
        shown.push("...".to_owned());
    }
    shown.extend(lines[start..end].iter().map(|line| (*line).to_owned()));
    if end < lines.len() {
        shown.push("...".to_owned());
    }
    shown
}

/// Passes when two values are structurally equal.
///
/// # Errors
///
/// `ValueError` with the [text](render_mismatch) of the mismatch for different values;
/// otherwise the errors of [`structural_equal`](crate::structural_equal).
pub fn assert_structural_equal(left: impl Into<Value>, right: impl Into<Value>) -> Result<()> {
    CompareOptions::default().assert_equal(left, right)
}

impl CompareOptions {
    /// [`assert_structural_equal`] with these options.
    ///
    /// # Errors
    ///
    /// As [`assert_structural_equal`].
    pub fn assert_equal(self, left: impl Into<Value>, right: impl Into<Value>) -> Result<()> {
        let (left, right) = (left.into(), right.into());
        match self.explain_mismatch(&left, &right)? {
            None => Ok(()),
            Some(mismatch) => {
                let text = render_mismatch(&left, &right, &mismatch);
                let text = format!("the values are not structurally equal: {text}");
                Err(Error::value_error(text).at_shown(mismatch.left_path))
            }
        }
    }
}

/// Panics, with both sides as text and the place marked, unless two values are
/// structurally equal: `assert_eq!` for values.
///
/// Takes anything that converts to a [`Value`], and a message like that of `assert_eq!`.
///
/// ```
/// use isoform::{Array, assert_structural_eq};
///
/// assert_structural_eq!(Array::from([1i64, 2]), Array::from([1i64, 2]));
/// ```
///
/// ```should_panic
/// use isoform::{Array, assert_structural_eq};
///
/// let pass = "the pass";
/// assert_structural_eq!(Array::from([1i64]), Array::from([2i64]), "after {pass}");
/// ```
#[macro_export]
macro_rules! assert_structural_eq {
    ($left:expr, $right:expr $(,)?) => {
        if let Err(error) = $crate::text::assert_structural_equal($left, $right) {
            panic!("{error}");
        }
    };
    ($left:expr, $right:expr, $($message:tt)+) => {
        if let Err(error) = $crate::text::assert_structural_equal($left, $right) {
            panic!("{}: {error}", format_args!($($message)+));
        }
    };
}
