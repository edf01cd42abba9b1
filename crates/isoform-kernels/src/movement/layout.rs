//! Layouts by name, like `NCHW` and `NCHW16c`.

use super::permuted;
use crate::control::Control;
use crate::error::{KernelError, Result};
use crate::tensor::{Tensor, View};

/// A layout: its axes, outermost first. An axis has a letter, and a size if it is the
/// inner part of a split axis.
struct Layout {
    axes: Vec<(char, Option<usize>)>,
}

impl Layout {
    fn parse(text: &str) -> Result<Self> {
        let fault = |what: &str| {
            KernelError::shape(format!(
                "layout: expected letters such as NCHW or NCHW16c, {what}, got {text:?}"
            ))
        };
        let mut axes: Vec<(char, Option<usize>)> = Vec::new();
        let mut factor: Option<usize> = None;
        for letter in text.chars() {
            if let Some(digit) = letter.to_digit(10) {
                let grown = factor
                    .unwrap_or(0)
                    .checked_mul(10)
                    .and_then(|tens| tens.checked_add(digit as usize));
                factor = Some(grown.ok_or_else(|| fault("with a factor in range"))?);
                continue;
            }
            let axis = match (letter, factor.take()) {
                ('A'..='Z', None) => (letter, None),
                ('a'..='z', Some(factor @ 1..)) => (letter.to_ascii_uppercase(), Some(factor)),
                _ => {
                    return Err(fault(
                        "a factor above 0 before each small letter and only there",
                    ));
                }
            };
            if axes
                .iter()
                .any(|(other, part)| *other == axis.0 && part.is_some() == axis.1.is_some())
            {
                return Err(fault("each letter once"));
            }
            axes.push(axis);
        }
        let outer = |letter: char| axes.contains(&(letter, None));
        if factor.is_some() || axes.iter().any(|(letter, _)| !outer(*letter)) {
            return Err(fault("a capital letter for each small one"));
        }
        Ok(Layout { axes })
    }

    /// The letters of the whole axes, in their order.
    fn letters(&self) -> Vec<char> {
        let whole = self.axes.iter().filter(|(_, factor)| factor.is_none());
        whole.map(|(letter, _)| *letter).collect()
    }

    /// The factor by which an axis is split; 1 for an unsplit axis.
    fn factor(&self, letter: char) -> usize {
        let parts = self.axes.iter().filter(|(other, _)| *other == letter);
        parts.filter_map(|(_, factor)| *factor).product()
    }

    fn position(&self, letter: char, inner: bool) -> Option<usize> {
        let mut axes = self.axes.iter();
        axes.position(|(other, factor)| *other == letter && factor.is_some() == inner)
    }
}

/// The elements in another layout.
///
/// A layout names the axes, outermost first, by capital letters; a number with a small
/// letter is the inner part of an axis that is split into blocks of that size.
///
/// ```
/// use isoform_kernels::movement::layout_transform;
/// use isoform_kernels::{Control, Tensor};
///
/// let x = Tensor::from_slice(&[1, 4, 2], &[0_u8, 1, 2, 3, 4, 5, 6, 7])?;
/// let blocked = layout_transform(x.view(), "NCW", "NCW2c", &Control::default())?;
/// assert_eq!(blocked.shape(), [1, 2, 2, 2]);
/// assert_eq!(blocked.bytes(), [0, 2, 1, 3, 4, 6, 5, 7]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A shape error for an invalid layout, if the layouts have different letters, the
/// first layout does not fit the shape, or a block size does not divide its axis.
pub fn layout_transform(
    x: View<'_>,
    source: &str,
    target: &str,
    control: &Control<'_>,
) -> Result<Tensor> {
    let (from, to) = (Layout::parse(source)?, Layout::parse(target)?);
    let fault = |what: String| KernelError::shape(format!("layout_transform: {what}"));
    let (mut left, mut right) = (from.letters(), to.letters());
    left.sort_unstable();
    right.sort_unstable();
    if left != right {
        return Err(fault(format!(
            "expected the same letters, got {source:?} and {target:?}"
        )));
    }
    let fits = |((_, factor), size): (&(char, Option<usize>), &usize)| {
        factor.is_none_or(|factor| factor == *size)
    };
    if x.rank() != from.axes.len() || !from.axes.iter().zip(x.shape()).all(fits) {
        return Err(fault(format!(
            "expected a shape of layout {source:?}, got {:?}",
            x.shape()
        )));
    }
    // First, move the inner part of each axis after the outer part, and merge both.
    let mut order = Vec::new();
    let mut sizes = Vec::new();
    for letter in from.letters() {
        let parts: Vec<usize> = [false, true]
            .into_iter()
            .filter_map(|inner| from.position(letter, inner))
            .collect();
        sizes.push(parts.iter().map(|axis| x.shape()[*axis]).product::<usize>());
        order.extend(parts);
    }
    let shape: Vec<usize> = order.iter().map(|axis| x.shape()[*axis]).collect();
    let merged = permuted(x, &order, &shape, control)?;
    // Then split each axis as in the target layout, and move the parts to their places.
    let mut split = Vec::new();
    let mut places = vec![0; to.axes.len()];
    for (letter, size) in from.letters().into_iter().zip(sizes) {
        let factor = to.factor(letter);
        if !size.is_multiple_of(factor) {
            return Err(fault(format!(
                "expected blocks of {factor} that divide axis {letter} of size {size}"
            )));
        }
        for (inner, size) in [(false, size / factor), (true, factor)] {
            if let Some(position) = to.position(letter, inner) {
                places[position] = split.len();
                split.push(size);
            }
        }
    }
    let shape: Vec<usize> = places.iter().map(|place| split[*place]).collect();
    let view = View::new(x.element_type(), &split, &merged)?;
    let bytes = permuted(view, &places, &shape, control)?;
    Ok(Tensor::raw(x.element_type(), shape, bytes))
}
