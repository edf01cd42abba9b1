//! Slice, with ends that may be negative, beyond the axis, or symbols.

use super::context::{Context, axes_of};
use crate::facts::size::Size;
use crate::facts::symbols::Symbols;

/// The part of an axis taken by a Slice.
#[derive(Clone, Debug)]
pub(in crate::facts) struct Range {
    pub(in crate::facts) axis: usize,
    /// The first position, and the position at which the range stops, clamped to the
    /// axis; None if unknown.
    pub(in crate::facts) start: Option<Size>,
    pub(in crate::facts) length: Option<Size>,
    pub(in crate::facts) step: Option<i64>,
}

/// The ranges of a Slice; None if not even the axes are known.
pub(in crate::facts) fn ranges(c: &mut Context<'_>) -> Option<Vec<Range>> {
    let shape = c.shape(0)?;
    let rank = shape.len();
    let constants = |ints: Vec<i64>| ints.into_iter().map(Size::from).collect::<Vec<_>>();
    let (starts, ends, axes, steps);
    if c.version() < 10 {
        starts = Some(constants(c.given_ints("starts")??));
        ends = Some(constants(c.given_ints("ends")??));
        axes = c.given_ints("axes")?;
        steps = None;
    } else {
        starts = c.elements(1).map(<[Size]>::to_vec);
        ends = c.elements(2).map(<[Size]>::to_vec);
        axes = if c.has(3) { Some(c.consts(3)?) } else { None };
        steps = c.has(4).then(|| c.elements(4).map(<[Size]>::to_vec));
    }
    let axes = match axes {
        Some(axes) => axes_of(&axes, rank)?,
        None => {
            let lengths = [starts.as_ref(), ends.as_ref()];
            let count = match lengths.into_iter().flatten().next() {
                Some(elements) => elements.len(),
                None => match (c.shape(1)?, c.shape(2)?) {
                    ([count], _) => usize::try_from(count.as_const()?).ok()?,
                    _ => return None,
                },
            };
            (count <= rank).then(|| (0..count).collect())?
        }
    };
    let mut ranges = Vec::with_capacity(axes.len());
    for (index, axis) in axes.into_iter().enumerate() {
        let size = &shape[axis];
        let step = match &steps {
            None => Some(1),
            Some(steps) => steps
                .as_ref()
                .and_then(|steps| steps.get(index)?.as_const())
                .filter(|step| *step != 0),
        };
        let start = starts.as_ref().and_then(|starts| starts.get(index));
        let end = ends.as_ref().and_then(|ends| ends.get(index));
        let mut range = Range {
            axis,
            start: None,
            length: None,
            step,
        };
        if let (Some(start), Some(end), Some(step)) = (start, end, step)
            && let Some((start, length)) = extent(c.symbols, size, start, end, step)
        {
            range.start = Some(start);
            range.length = Some(length);
        }
        ranges.push(range);
    }
    Some(ranges)
}

/// The first position and the length of a range.
fn extent(
    symbols: &mut Symbols,
    size: &Size,
    start: &Size,
    end: &Size,
    step: i64,
) -> Option<(Size, Size)> {
    let zero = Size::from(0);
    let last = symbols.difference(size, &Size::from(1));
    if step > 0 {
        // A start beyond the end leaves nothing, however far away, and neither does an
        // end before the axis. Only the other two limits matter.
        let start = position(symbols, size, start)?;
        let start = symbols.max(&start, &zero);
        let end = position(symbols, size, end)?;
        let end = symbols.min(&end, size);
        let distance = symbols.difference(&end, &start);
        let length = symbols.ceil_div(&distance, step);
        return Some((start, symbols.max(&length, &zero)));
    }
    // Runtimes disagree about a start before the axis, and about an end beyond any
    // axis, which some runtimes take as the far end of the axis.
    if end.as_const().is_some_and(is_far) {
        return None;
    }
    let start = position(symbols, size, start)?;
    let start = if start == last {
        start
    } else if start.is_nonneg() {
        symbols.min(&start, &last)
    } else {
        return None;
    };
    let end = position(symbols, size, end)?;
    let end = symbols.max(&end, &Size::from(-1));
    let distance = symbols.difference(&start, &end);
    let length = symbols.ceil_div(&distance, step.checked_neg()?);
    Some((start, symbols.max(&length, &zero)))
}

/// True for the numbers that writers of models take for the end of any axis.
pub(crate) fn is_far(end: i64) -> bool {
    end == i64::from(i32::MAX) || end == i64::MAX
}

/// A position that counts from the end if negative; None if the sign is unknown.
fn position(symbols: &mut Symbols, size: &Size, at: &Size) -> Option<Size> {
    // Numbers beyond all extents stay below the limits of 64 bits here.
    const FAR: i64 = 1 << 62;
    if let Some(number) = at.as_const() {
        let number = number.clamp(-FAR, FAR);
        return if number < 0 {
            size.add(&Size::from(number))
        } else {
            Some(Size::from(number))
        };
    }
    if at.is_nonneg() {
        Some(at.clone())
    } else if at.upper_bound().is_some_and(|bound| bound < 0) {
        Some(symbols.sum(size, at))
    } else {
        None
    }
}

pub(super) fn slice(c: &mut Context<'_>) -> Option<Vec<Size>> {
    let shape = c.shape(0)?;
    let Some(ranges) = ranges(c) else {
        return Some(c.symbols.fresh_shape(shape.len()));
    };
    let mut result = shape.to_vec();
    for range in ranges {
        result[range.axis] = c.symbols.or_fresh(range.length);
    }
    Some(result)
}
