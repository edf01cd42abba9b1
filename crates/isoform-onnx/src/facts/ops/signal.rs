//! Signals: windows and spectra.

use super::context::{Context, axis_of};
use crate::elem_type::ElemType;
use crate::facts::fact::Fact;
use crate::facts::size::Size;

type Shape = Option<Vec<Size>>;

pub(super) fn window(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let elem = c.elem_attr("output_datatype")?.unwrap_or(ElemType::Float);
    let length = c.element(0).cloned();
    let length = c.symbols.or_fresh(length);
    Some(vec![Fact::tensor(Some(elem), Some(vec![length]))])
}

/// The number of frequencies of a real signal: half of the length, plus one.
fn one_sided(c: &mut Context<'_>, length: &Size) -> Size {
    let half = c.symbols.floor_div(length, 2);
    c.symbols.sum(&half, &Size::from(1))
}

pub(super) fn mel(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let elem = c.elem_attr("output_datatype")?.unwrap_or(ElemType::Float);
    let bins = c.element(0).cloned();
    let spectrum = c.element(1).map(|length| one_sided(&mut *c, length));
    let shape = vec![c.symbols.or_fresh(spectrum), c.symbols.or_fresh(bins)];
    Some(vec![Fact::tensor(Some(elem), Some(shape))])
}

pub(super) fn stft(c: &mut Context<'_>) -> Shape {
    let signal = c.shape(0);
    let batch = signal.and_then(|shape| shape.first()).cloned();
    let length = signal.and_then(|shape| shape.get(1));
    // The frame has the length of the window, if it is not given.
    let frame = match (c.has(3), c.has(2)) {
        (true, _) => c.element(3).cloned(),
        (false, true) => c.shape(2).and_then(|shape| shape.first()).cloned(),
        (false, false) => None,
    };
    let frames = match (length, &frame, c.const_element(1)) {
        (Some(length), Some(frame), Some(step)) if step > 0 => {
            let room = c.symbols.difference(length, frame);
            let steps = c.symbols.floor_div(&room, step);
            Some(c.symbols.sum(&steps, &Size::from(1)))
        }
        _ => None,
    };
    let bins = match (frame, c.int("onesided", 1)? != 0) {
        (Some(frame), true) => Some(one_sided(c, &frame)),
        (Some(frame), false) => Some(frame),
        _ => None,
    };
    Some(vec![
        c.symbols.or_fresh(batch),
        c.symbols.or_fresh(frames),
        c.symbols.or_fresh(bins),
        Size::from(2),
    ])
}

pub(super) fn dft(c: &mut Context<'_>) -> Shape {
    let mut shape = c.shape(0)?.to_vec();
    let rank = shape.len();
    // The axis is an input since version 20.
    let axis = match c.version() {
        ..=19 => c.int("axis", 1)?,
        _ if c.has(2) => match c.const_element(2) {
            Some(axis) => axis,
            None => return Some(c.symbols.fresh_shape(rank)),
        },
        _ => -2,
    };
    let axis = axis_of(axis, rank)?;
    let (inverse, onesided) = (c.int("inverse", 0)? != 0, c.int("onesided", 0)? != 0);
    if inverse && onesided {
        // From half of the frequencies back to a real signal.
        let length = if c.has(1) {
            c.element(1).cloned()
        } else {
            let others = c.symbols.difference(&shape[axis], &Size::from(1));
            Some(c.symbols.product(&others, &Size::from(2)))
        };
        shape[axis] = c.symbols.or_fresh(length);
        *shape.last_mut()? = Size::from(1);
        return Some(shape);
    }
    if c.has(1) {
        let length = c.element(1).cloned();
        shape[axis] = c.symbols.or_fresh(length);
    }
    if onesided {
        let length = shape[axis].clone();
        shape[axis] = one_sided(c, &length);
    }
    *shape.last_mut()? = Size::from(2);
    Some(shape)
}
