//! Operators that take elements by index or by condition.

use super::context::{Context, axis_of};
use super::create::unknown_shape;
use crate::elem_type::ElemType;
use crate::facts::fact::Fact;
use crate::facts::size::Size;

type Shape = Option<Vec<Size>>;

pub(super) fn gather(c: &mut Context<'_>) -> Shape {
    let (data, indices) = (c.shape(0)?, c.shape(1)?);
    let axis = axis_of(c.int("axis", 0)?, data.len())?;
    let mut shape = data[..axis].to_vec();
    shape.extend_from_slice(indices);
    shape.extend_from_slice(&data[axis + 1..]);
    Some(shape)
}

pub(super) fn gather_nd(c: &mut Context<'_>) -> Shape {
    let (data, indices) = (c.shape(0)?, c.shape(1)?);
    let batch = usize::try_from(c.int("batch_dims", 0)?).ok()?;
    let (depth, outer) = indices.split_last()?;
    let depth = usize::try_from(depth.as_const()?).ok()?;
    let mut shape = outer.to_vec();
    shape.extend_from_slice(data.get(batch.checked_add(depth)?..)?);
    Some(shape)
}

pub(super) fn compress(c: &mut Context<'_>) -> Shape {
    let axis = c.call.int("axis").ok()?;
    let extent = match axis {
        Some(axis) => {
            let shape = c.shape(0)?;
            Some(shape[axis_of(axis, shape.len())?].clone())
        }
        None => c.shape(0).and_then(Size::product),
    };
    // A condition may be shorter than the axis; elements beyond the condition are
    // dropped. Given a longer condition, some runtimes ignore the excess, and others
    // fail.
    let fits = |bits: &Vec<i64>| {
        let least = extent.as_ref().and_then(Size::lower_bound);
        least.is_some_and(|least| i64::try_from(bits.len()).is_ok_and(|length| length <= least))
    };
    let kept = c
        .consts(1)
        .filter(fits)
        .map(|bits| bits.iter().filter(|bit| **bit != 0).count());
    let kept = kept
        .and_then(|kept| i64::try_from(kept).ok())
        .map(Size::from);
    let kept = c.symbols.or_fresh(kept);
    let Some(axis) = axis else {
        return Some(vec![kept]);
    };
    let mut shape = c.shape(0)?.to_vec();
    let axis = axis_of(axis, shape.len())?;
    shape[axis] = kept;
    Some(shape)
}

pub(super) fn non_zero(c: &mut Context<'_>) -> Shape {
    // There is one row per axis. Runtimes disagree about scalars.
    let rank = c.rank(0).filter(|rank| *rank > 0);
    let rank = rank
        .and_then(|rank| i64::try_from(rank).ok())
        .map(Size::from);
    Some(vec![c.symbols.or_fresh(rank), c.symbols.fresh_extent()])
}

pub(super) fn unique(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let count = c.symbols.fresh_extent();
    let values = match c.call.int("axis").ok()? {
        None => Some(vec![count.clone()]),
        Some(axis) => c.shape(0).and_then(|shape| {
            let mut shape = shape.to_vec();
            shape[axis_of(axis, c.rank(0)?)?] = count.clone();
            Some(shape)
        }),
    };
    let indices = || Fact::tensor(Some(ElemType::Int64), Some(vec![count.clone()]));
    // The length of the inverse is the size of the input, or the extent of the axis.
    let inverse = match c.call.int("axis").ok()? {
        None => c
            .shape(0)
            .map(<[Size]>::to_vec)
            .map(|shape| c.symbols.product_of(&shape)),
        Some(axis) => c
            .shape(0)
            .and_then(|shape| Some(shape[axis_of(axis, shape.len())?].clone())),
    };
    let inverse = vec![c.symbols.or_fresh(inverse)];
    Some(vec![
        Fact::tensor(c.elem(0), values),
        indices(),
        Fact::tensor(Some(ElemType::Int64), Some(inverse)),
        indices(),
    ])
}

pub(super) fn top_k(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let elem = c.elem(0);
    let shape = (|| {
        let mut shape = c.shape(0)?.to_vec();
        let axis = axis_of(c.int("axis", -1)?, shape.len())?;
        // The number was an attribute before version 10.
        let count = match c.version() {
            ..=9 => Some(Size::from(c.call.int("k").ok()??)),
            _ => c.element(1).cloned(),
        };
        shape[axis] = c.symbols.or_fresh(count);
        Some(shape)
    })();
    Some(vec![
        Fact::tensor(elem, shape.clone()),
        Fact::tensor(Some(ElemType::Int64), shape),
    ])
}

pub(super) fn one_hot(c: &mut Context<'_>) -> Shape {
    let indices = c.shape(0)?;
    let axis = axis_of(c.int("axis", -1)?, indices.len() + 1)?;
    let mut shape = indices.to_vec();
    let depth = c.element(1).cloned().or_else(|| {
        // The depth may be a float, of which the whole part counts.
        let depth = c.floats(1)?.first().copied()?;
        (0.0..1e15)
            .contains(&depth)
            .then(|| Size::from(depth as i64))
    });
    shape.insert(axis, c.symbols.or_fresh(depth));
    Some(shape)
}

pub(super) fn non_max_suppression(c: &mut Context<'_>) -> Shape {
    let mut shape = unknown_shape(c, 1)?;
    shape.push(Size::from(3));
    Some(shape)
}
