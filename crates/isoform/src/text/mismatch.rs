//! A mismatch with the text of both sides around it.

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

use super::options::{TensorText, TextOptions};
use super::print_marked;
use crate::kernel::display::{EXPLAIN_BUDGET, is_larger, own_text_within, printable, short};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::setters::setters;
use crate::kernel::value::Value;
use crate::structural::{CompareOptions, Mismatch};

/// Limits for how much of both sides to show.
///
/// ```
/// use isoform::explain_mismatch;
/// use isoform::text::MismatchOptions;
/// let (left, right) = ([1, 2], [1, 3]);
/// let mismatch = explain_mismatch(left, right)?.expect("they differ");
/// let text = MismatchOptions::default().lines(1).render(left, right, &mismatch);
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
    pub fn render(
        &self,
        left: impl Into<Value>,
        right: impl Into<Value>,
        mismatch: &Mismatch,
    ) -> String {
        self.rendered([&left.into(), &right.into()], mismatch)
    }

    fn rendered(&self, [left, right]: [&Value; 2], mismatch: &Mismatch) -> String {
        let mut out = mismatch.reason.to_string();
        if let Some(Scripts { places, lines }) = scripts(left, right, mismatch, self) {
            let paths = [&mismatch.left_path, &mismatch.right_path];
            for (side, name) in ["left: ", "right:"].into_iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = write!(out, "\n  {name} {}", paths[side]);
                if let Some(place) = &places[side] {
                    let _ = write!(out, ", in {place}:");
                }
                for line in &lines[side] {
                    let _ = write!(out, "\n    {line}");
                }
            }
            return out;
        }
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
    pub fn sides(
        &self,
        left: impl Into<Value>,
        right: impl Into<Value>,
        mismatch: &Mismatch,
    ) -> [Vec<String>; 2] {
        let (left, right) = (&left.into(), &right.into());
        if let Some(scripts) = scripts(left, right, mismatch, self) {
            return scripts.lines;
        }
        let sides = [
            (left, &mismatch.left_path, &mismatch.left),
            (right, &mismatch.right_path, &mismatch.right),
        ];
        sides.map(|(root, path, found)| side(root, path, found.as_ref(), self, &mut String::new()))
    }
}

/// The reason of a mismatch and both sides as text, with the place underlined.
///
/// `left` and `right` are the compared values. The text of a part is that of its type where
/// the type gives one and the texts of both sides differ; the outermost part around the mismatch
/// that is not too large is shown. Fields ignored by comparison are left
/// out, and large values are shown in part: the cost depends only on the options and
/// the length of the paths.
pub fn render_mismatch(
    left: impl Into<Value>,
    right: impl Into<Value>,
    mismatch: &Mismatch,
) -> String {
    MismatchOptions::default().render(left, right, mismatch)
}

/// Both sides in the text of their types.
struct Scripts {
    /// The part that is shown, unless it is the place of the mismatch itself.
    places: [Option<AccessPath>; 2],
    lines: [Vec<String>; 2],
}

/// Both sides in the text of the types of the outermost parts around the mismatch that are small
/// enough and have such texts, and different ones; None without such parts.
fn scripts(
    left: &Value,
    right: &Value,
    mismatch: &Mismatch,
    options: &MismatchOptions,
) -> Option<Scripts> {
    let paths = [&mismatch.left_path, &mismatch.right_path];
    let found = [places(left, paths[0]), places(right, paths[1])];
    // The text of an inner part begins with what it takes from outside, and says less.
    for depth in 0..found[0].len().min(found[1].len()) {
        let text = |side: usize| own_text_within(&found[side][depth], options.values);
        let (Some(left), Some(right)) = (text(0), text(1)) else {
            continue;
        };
        let Some(lines) = changed_lines([&left, &right], options) else {
            continue;
        };
        let place = |side: usize| {
            let steps = paths[side].steps();
            let is_inner = depth < steps.len();
            is_inner.then(|| AccessPath::from_steps(steps[..depth].to_vec()))
        };
        return Some(Scripts {
            places: [place(0), place(1)],
            lines,
        });
    }
    None
}

/// The lines of two texts around the first line that differs, with the difference
/// underlined; None for texts that differ nowhere, or beyond the width of the lines.
fn changed_lines(texts: [&str; 2], options: &MismatchOptions) -> Option<[Vec<String>; 2]> {
    let lines = texts.map(|text| text.lines().map(printable).collect::<Vec<_>>());
    let pairs = lines[0].iter().zip(&lines[1]);
    let first = pairs.take_while(|(left, right)| left == right).count();
    if first >= lines[0].len().max(lines[1].len()) {
        return None;
    }
    let line = |side: usize| lines[side].get(first).map_or("", String::as_str);
    let pairs = || line(0).chars().zip(line(1).chars());
    let before = pairs().take_while(|(left, right)| left == right).count();
    if before >= options.width {
        return None;
    }
    let rest = |side: usize| line(side).chars().count() - before;
    let back = line(0).chars().rev().zip(line(1).chars().rev());
    let same = back.take_while(|(left, right)| left == right).count();
    let after = same.min(rest(0)).min(rest(1));
    // Tabs and wide characters take as much space below as above.
    let space = |c: char| match c {
        '\t' => c.to_string(),
        _ => " ".repeat(c.width().unwrap_or(1)),
    };
    Some([0, 1].map(|side| {
        let mut shown: Vec<String> = lines[side]
            .iter()
            .map(|it| cut(it, options.width))
            .collect();
        let mut marked = first;
        if first < shown.len() {
            let changed = line(side).chars().skip(before).take(rest(side) - after);
            let carets: usize = changed.map(|c| c.width().unwrap_or(1)).sum();
            let carets = carets.clamp(1, options.width - before);
            let mut mark: String = line(side).chars().take(before).map(space).collect();
            mark += &"^".repeat(carets);
            marked = first + 1;
            shown.insert(marked, mark);
        }
        around(&shown.join("\n"), &[marked], options.lines)
    }))
}

/// A line of at most this number of characters.
fn cut(line: &str, width: usize) -> String {
    match line.char_indices().nth(width) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
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
