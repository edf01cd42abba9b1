//! Convolutions and pooling: axes that a window moves along.

use super::context::Context;
use crate::facts::size::Size;
use crate::facts::symbols::Symbols;

type Shape = Option<Vec<Size>>;

/// How a window moves along the spatial axes.
struct Window {
    kernel: Vec<Size>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// All the starts, then all the ends.
    pads: Vec<i64>,
    auto_pad: AutoPad,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AutoPad {
    Explicit,
    Same,
    Valid,
}

fn auto_pad(c: &Context<'_>) -> Option<AutoPad> {
    match c.str("auto_pad", "NOTSET")? {
        "NOTSET" | "" => Some(AutoPad::Explicit),
        "SAME_UPPER" | "SAME_LOWER" => Some(AutoPad::Same),
        "VALID" => Some(AutoPad::Valid),
        _ => None,
    }
}

impl Window {
    fn new(c: &Context<'_>, kernel: Vec<Size>) -> Option<Self> {
        let axes = kernel.len();
        let positive = |ints: Vec<i64>| ints.iter().all(|int| *int > 0).then_some(ints);
        Some(Window {
            kernel,
            strides: positive(c.ints("strides", axes, 1)?)?,
            dilations: positive(c.ints("dilations", axes, 1)?)?,
            pads: c.ints("pads", axes.checked_mul(2)?, 0)?,
            auto_pad: auto_pad(c)?,
        })
    }

    /// The extent from the first to the last element under the window.
    fn span(&self, symbols: &mut Symbols, axis: usize) -> Size {
        let gaps = symbols.difference(&self.kernel[axis], &Size::from(1));
        let stretched = symbols.product(&gaps, &Size::from(self.dilations[axis]));
        symbols.sum(&stretched, &Size::from(1))
    }

    /// True if the elements under the window are adjacent.
    fn is_dense(&self) -> bool {
        self.dilations.iter().all(|step| *step == 1)
    }

    /// The number of elements added to an axis.
    fn padding(&self, axis: usize) -> Option<i64> {
        match self.auto_pad {
            AutoPad::Valid => Some(0),
            _ => self.pads[axis].checked_add(self.pads[axis + self.kernel.len()]),
        }
    }

    /// The number of positions of the window on an axis.
    fn positions(
        &self,
        symbols: &mut Symbols,
        axis: usize,
        size: &Size,
        round_up: bool,
    ) -> Option<Size> {
        let stride = self.strides[axis];
        if self.auto_pad == AutoPad::Same {
            return Some(symbols.ceil_div(size, stride));
        }
        let padded = size.add(&Size::from(self.padding(axis)?))?;
        let span = self.span(symbols, axis);
        let room = padded.sub(&span)?;
        let down = symbols.floor_div(&room, stride).add(&Size::from(1))?;
        if !round_up {
            return Some(down);
        }
        let up = symbols.ceil_div(&room, stride).add(&Size::from(1))?;
        if up == down {
            return Some(down);
        }
        // Some runtimes drop a window that starts beyond the input and its first
        // padding, and others keep such a window.
        let start = up.as_const()?.checked_sub(1)?.checked_mul(stride)?;
        let end = size.as_const()?.checked_add(self.pads[axis])?;
        (start < end).then_some(up)
    }

    fn all_positions(&self, c: &mut Context<'_>, spatial: &[Size], round_up: bool) -> Vec<Size> {
        let axes = spatial.iter().enumerate();
        let sizes = axes.map(|(axis, size)| {
            let positions = self.positions(c.symbols, axis, size, round_up);
            c.symbols.or_fresh(positions)
        });
        sizes.collect()
    }
}

/// The kernel from the attribute, or from the spatial axes of the weights.
fn kernel(c: &Context<'_>, weights: Option<&[Size]>, axes: usize) -> Option<Vec<Size>> {
    let kernel: Vec<Size> = match c.given_ints("kernel_shape")? {
        Some(kernel) => kernel.into_iter().map(Size::from).collect(),
        None => weights?.get(2..)?.to_vec(),
    };
    (kernel.len() == axes).then_some(kernel)
}

pub(super) fn conv(c: &mut Context<'_>, data: usize, weights: usize) -> Shape {
    let weights = c.shape(weights);
    let Some(data) = c.shape(data) else {
        return like_weights(c, weights);
    };
    let spatial = data.get(2..)?;
    let channels = weights.and_then(|weights| weights.first()).cloned();
    let mut shape = vec![data[0].clone(), c.symbols.or_fresh(channels)];
    let window = kernel(c, weights, spatial.len()).and_then(|kernel| Window::new(c, kernel));
    shape.extend(match window {
        Some(window) => window.all_positions(c, spatial, false),
        None => c.symbols.fresh_shape(spatial.len()),
    });
    Some(shape)
}

/// Input and weights have the same rank.
fn like_weights(c: &mut Context<'_>, weights: Option<&[Size]>) -> Shape {
    let weights = weights?;
    let mut shape = c.symbols.fresh_shape(weights.len());
    *shape.get_mut(1)? = weights.first()?.clone();
    Some(shape)
}

pub(super) fn pool(c: &mut Context<'_>) -> Shape {
    let data = c.shape(0)?;
    let spatial = data.get(2..)?;
    let mut shape = data[..2].to_vec();
    // Version 1 of LpPool had neither dilations nor this way to round.
    let round_up = c.int("ceil_mode", 0)? != 0;
    let window = kernel(c, None, spatial.len()).and_then(|kernel| Window::new(c, kernel));
    // Runtimes do not agree on how wide a window with gaps is here.
    let window = window.filter(|it| it.auto_pad != AutoPad::Same || it.is_dense());
    shape.extend(match window {
        Some(window) => window.all_positions(c, spatial, round_up),
        None => c.symbols.fresh_shape(spatial.len()),
    });
    Some(shape)
}

pub(super) fn global_pool(c: &Context<'_>) -> Shape {
    let data = c.shape(0)?;
    let mut shape = data.get(..2)?.to_vec();
    shape.resize(data.len(), Size::from(1));
    Some(shape)
}

pub(super) fn conv_transpose(c: &mut Context<'_>) -> Shape {
    let weights = c.shape(1);
    let data = c.shape(0)?;
    let spatial = data.get(2..)?;
    let axes = spatial.len();
    // The weights are (input channels, output channels per group, kernel ...).
    let group = c.int("group", 1)?;
    let channels = weights.and_then(|weights| weights.get(1)?.mul(&Size::from(group)));
    let mut shape = vec![data[0].clone(), c.symbols.or_fresh(channels)];
    if let Some(sizes) = c.given_ints("output_shape")? {
        // Writers list either all axes or only the spatial axes.
        let skipped = sizes
            .len()
            .checked_sub(axes)
            .filter(|skipped| [0, 2].contains(skipped))?;
        shape.extend(sizes[skipped..].iter().map(|size| Size::from(*size)));
        return Some(shape);
    }
    let extra = c.ints("output_padding", axes, 0)?;
    let window = kernel(c, weights, axes).and_then(|kernel| Window::new(c, kernel));
    let Some(window) = window else {
        shape.extend(c.symbols.fresh_shape(axes));
        return Some(shape);
    };
    for (axis, size) in spatial.iter().enumerate() {
        let stride = Size::from(window.strides[axis]);
        let length = match window.auto_pad {
            AutoPad::Same => {
                // If windows leave gaps, runtimes disagree about elements after the
                // last window.
                let span = window.span(c.symbols, axis);
                let reach = c.symbols.sum(&span, &Size::from(extra[axis]));
                if stride.known_less(&reach) == Some(true) || reach == stride {
                    c.symbols.product(size, &stride)
                } else {
                    c.symbols.fresh_extent()
                }
            }
            _ => {
                let steps = c.symbols.difference(size, &Size::from(1));
                let moved = c.symbols.product(&steps, &stride);
                let span = window.span(c.symbols, axis);
                let full = c.symbols.sum(&moved, &span);
                let change = window
                    .padding(axis)
                    .and_then(|pads| extra[axis].checked_sub(pads));
                match change {
                    Some(change) => c.symbols.sum(&full, &Size::from(change)),
                    None => c.symbols.fresh_extent(),
                }
            }
        };
        shape.push(length);
    }
    Some(shape)
}

pub(super) fn max_unpool(c: &mut Context<'_>) -> Shape {
    let data = c.shape(0)?;
    let spatial = data.get(2..)?;
    if c.has(2) {
        let sizes = c.elements(2).filter(|sizes| sizes.len() == data.len());
        return match sizes {
            Some(sizes) => Some(sizes.to_vec()),
            None => Some(c.symbols.fresh_shape(data.len())),
        };
    }
    let mut shape = data[..2].to_vec();
    let window = kernel(c, None, spatial.len()).and_then(|kernel| Window::new(c, kernel))?;
    for (axis, size) in spatial.iter().enumerate() {
        let steps = c.symbols.difference(size, &Size::from(1));
        let moved = c.symbols.product(&steps, &Size::from(window.strides[axis]));
        let full = c.symbols.sum(&moved, &window.kernel[axis]);
        let pads = window.padding(axis).and_then(i64::checked_neg);
        shape.push(match pads {
            Some(pads) => c.symbols.sum(&full, &Size::from(pads)),
            None => c.symbols.fresh_extent(),
        });
    }
    Some(shape)
}

pub(super) fn col2im(c: &mut Context<'_>) -> Shape {
    let [batch, columns, _] = c.shape(0)? else {
        return None;
    };
    let (image, block) = (c.elements(1)?, c.elements(2)?);
    let block = c.symbols.product_of(block);
    let mut shape = vec![batch.clone(), c.symbols.exact_quotient(columns, &block)];
    shape.extend_from_slice(image);
    Some(shape)
}
