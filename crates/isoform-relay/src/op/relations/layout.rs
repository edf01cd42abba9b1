//! Layouts: the order of axes by letters, with blocks, as in `NCHW4c`.

use super::dims::{self, Dim};
use crate::attrs::{LayoutTransformAttrs, size};
use crate::op::relation::CallTypes;
use crate::text::dim_text;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::Type;

/// An axis of a layout: a letter, with a size for blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Axis {
    letter: char,
    block: Option<i64>,
}

/// The axes of a layout.
fn parsed(name: &str, layout: &str) -> Result<Vec<Axis>> {
    let fail = |what: &str| {
        Error::value_error(format!(
            "{name}: expected upper-case letters, and lower-case ones after a block size, as in \
             NCHW4c, got '{layout}': {what}"
        ))
    };
    let mut axes: Vec<Axis> = Vec::new();
    let mut block: Option<i64> = None;
    for letter in layout.chars() {
        if let Some(digit) = letter.to_digit(10) {
            let number = block.unwrap_or(0).checked_mul(10);
            let number = number.and_then(|number| number.checked_add(i64::from(digit)));
            block = Some(number.ok_or_else(|| fail("the block size is too large"))?);
            continue;
        }
        let axis = match block.take() {
            None if letter.is_ascii_uppercase() => Axis {
                letter,
                block: None,
            },
            Some(size) if letter.is_ascii_lowercase() && size > 0 => Axis {
                letter: letter.to_ascii_uppercase(),
                block: Some(size),
            },
            _ => return Err(fail("a letter does not fit")),
        };
        let same = |other: &Axis| {
            other.letter == axis.letter && other.block.is_some() == axis.block.is_some()
        };
        if axes.iter().any(same) {
            return Err(fail("a letter occurs twice"));
        }
        axes.push(axis);
    }
    if block.is_some() {
        return Err(fail("a block size without an axis"));
    }
    let has_axis = |letter| {
        axes.iter()
            .any(|axis| axis.letter == letter && axis.block.is_none())
    };
    match axes.iter().find(|axis| !has_axis(axis.letter)) {
        Some(_) => Err(fail("a block of an axis that is missing")),
        None => Ok(axes),
    }
}

/// The positions of the axes of `order` in a layout without blocks.
///
/// # Errors
///
/// `ValueError` unless the layout consists of exactly these letters.
pub(super) fn positions<const N: usize>(
    name: &str,
    layout: &str,
    order: &str,
) -> Result<[usize; N]> {
    let mut found = [0; N];
    let mut letters: Vec<char> = layout.chars().collect();
    letters.sort_unstable();
    let mut expected: Vec<char> = order.chars().collect();
    expected.sort_unstable();
    if letters != expected {
        return Err(Error::value_error(format!(
            "{name}: expected the axes {order} in any order, got '{layout}'"
        )));
    }
    for (position, letter) in order.chars().enumerate() {
        found[position] = layout.find(letter).unwrap_or_default();
    }
    Ok(found)
}

/// The input in another layout.
pub(in super::super) fn layout_transform(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<LayoutTransformAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let from = parsed("src_layout", &attrs.src_layout)?;
    let to = parsed("dst_layout", &attrs.dst_layout)?;
    let shape = dims::shape_of(data);
    dims::expect_rank("data", &shape, from.len())?;
    let axes = |layout: &[Axis]| {
        let mut letters: Vec<char> = layout.iter().map(|axis| axis.letter).collect();
        letters.sort_unstable();
        letters.dedup();
        letters
    };
    if axes(&from) != axes(&to) {
        return Err(Error::value_error(format!(
            "cannot convert the layout {} to {}: they have different axes",
            attrs.src_layout, attrs.dst_layout
        )));
    }
    // The size of an axis without its block.
    let whole = |letter: char| -> Result<Dim> {
        let parts = from
            .iter()
            .zip(&shape)
            .filter(|(axis, _)| axis.letter == letter);
        for (axis, dim) in parts.clone() {
            if axis
                .block
                .is_some_and(|block| dims::known(dim).is_some_and(|dim| dim != block))
            {
                return Err(Error::value_error(format!(
                    "src_layout={}: the block of {letter} has size {} in the data",
                    attrs.src_layout,
                    dim_text(dim)
                )));
            }
        }
        dims::product(parts.map(|(_, dim)| dim))
    };
    let mut shape = Vec::with_capacity(to.len());
    for axis in &to {
        if let Some(block) = axis.block {
            shape.push(size(block));
            continue;
        }
        let block = to
            .iter()
            .find(|other| other.letter == axis.letter && other.block.is_some());
        let dim = whole(axis.letter)?;
        let block = block.and_then(|axis| axis.block).unwrap_or(1);
        if dims::known(&dim).is_some_and(|dim| dim % block != 0) {
            return Err(Error::value_error(format!(
                "dst_layout={}: the size {} of axis {} is not divisible by {block}",
                attrs.dst_layout,
                dim_text(&dim),
                axis.letter
            )));
        }
        shape.push(dims::div(&dim, &size(block))?);
    }
    Ok(Some(dims::tensor(shape, data.dtype)))
}
