//! Operators that move elements.

use super::arithmetic;
use super::small::{Small, dims_of, indices, position, wrapped};
use crate::elem_type::ElemType;
use crate::facts::fact::Fact;
use crate::facts::ops::Context;
use crate::facts::ops::rules;
use crate::facts::size::Size;

type Elements = Option<Vec<Size>>;

pub(super) fn shape(c: &Context<'_>) -> Elements {
    let shape = c.shape(0)?;
    let (start, end) = rules::shape_bounds(c, shape.len())?;
    Some(shape.get(start..end)?.to_vec())
}

pub(super) fn gather(c: &Context<'_>) -> Elements {
    let data = Small::of(c, 0)?;
    let axis = rules::axis_of(c.int("axis", 0)?, data.dims.len())?;
    let places = c.consts(1)?;
    let (outer, inner) = (&data.dims[..axis], &data.dims[axis + 1..]);
    let mut result = Vec::new();
    for before in indices(outer) {
        for place in &places {
            let place = wrapped(*place, data.dims[axis])?;
            for after in indices(inner) {
                let index = [&*before, &[place], &*after].concat();
                result.push(data.at(&index)?.clone());
            }
        }
    }
    Some(result)
}

pub(super) fn gather_elements(c: &Context<'_>) -> Elements {
    let (data, places) = (Small::of(c, 0)?, Small::of(c, 1)?);
    let axis = rules::axis_of(c.int("axis", 0)?, data.dims.len())?;
    let mut result = Vec::new();
    for (mut index, place) in indices(&places.dims).into_iter().zip(places.elements) {
        *index.get_mut(axis)? = wrapped(place.as_const()?, data.dims[axis])?;
        result.push(data.at(&index)?.clone());
    }
    Some(result)
}

pub(super) fn gather_nd(c: &Context<'_>) -> Elements {
    let (data, places) = (Small::of(c, 0)?, Small::of(c, 1)?);
    let batch = usize::try_from(c.int("batch_dims", 0)?).ok()?;
    let (depth, outer) = places.dims.split_last()?;
    let tail = data.dims.get(batch.checked_add(*depth)?..)?;
    let mut result = Vec::new();
    for at in indices(outer) {
        let mut start = at.get(..batch)?.to_vec();
        for entry in 0..*depth {
            let place = places.at(&[&*at, &[entry]].concat())?.as_const()?;
            start.push(wrapped(place, *data.dims.get(batch + entry)?)?);
        }
        for rest in indices(tail) {
            result.push(data.at(&[&*start, &*rest].concat())?.clone());
        }
    }
    Some(result)
}

pub(super) fn slice(c: &mut Context<'_>, dims: &[usize]) -> Elements {
    let data = Small::of(c, 0)?;
    let mut starts = vec![(0_i64, 1_i64); dims.len()];
    for range in rules::slice_ranges(c)? {
        *starts.get_mut(range.axis)? = (range.start?.as_const()?, range.step?);
    }
    let mut result = Vec::new();
    for index in indices(dims) {
        let mut from = Vec::with_capacity(index.len());
        for (at, (start, step)) in index.iter().zip(&starts) {
            let at = i64::try_from(*at).ok()?.checked_mul(*step)?;
            from.push(usize::try_from(start.checked_add(at)?).ok()?);
        }
        result.push(data.at(&from)?.clone());
    }
    Some(result)
}

pub(super) fn concat(c: &Context<'_>, dims: &[usize]) -> Elements {
    let parts: Option<Vec<Small<'_>>> = (0..c.inputs.len()).map(|at| Small::of(c, at)).collect();
    let parts = parts?;
    let axis = rules::axis_of(c.int("axis", 1)?, dims.len())?;
    let mut result = Vec::new();
    for mut index in indices(dims) {
        let mut part = parts.iter();
        let found = loop {
            let part = part.next()?;
            let length = *part.dims.get(axis)?;
            if index[axis] < length {
                break part.at(&index)?;
            }
            index[axis] -= length;
        };
        result.push(found.clone());
    }
    Some(result)
}

pub(super) fn split(c: &mut Context<'_>, facts: &mut [Fact]) {
    let Some(data) = Small::of(c, 0) else {
        return;
    };
    let axis = c.int("axis", 0);
    let Some(axis) = axis.and_then(|axis| rules::axis_of(axis, data.dims.len())) else {
        return;
    };
    let mut start = 0;
    for fact in facts {
        let Some(dims) = dims_of(fact).filter(|dims| dims.len() == data.dims.len()) else {
            return;
        };
        let part: Elements = indices(&dims)
            .into_iter()
            .map(|mut index| {
                index[axis] += start;
                data.at(&index).cloned()
            })
            .collect();
        fact.elements = part;
        start += dims[axis];
    }
}

pub(super) fn transpose(c: &Context<'_>, dims: &[usize]) -> Elements {
    let data = Small::of(c, 0)?;
    let perm = rules::permutation(c, data.dims.len())?;
    let take = |index: Vec<usize>| {
        let mut from = vec![0; index.len()];
        for (at, axis) in index.into_iter().zip(&perm) {
            from[*axis] = at;
        }
        data.at(&from).cloned()
    };
    indices(dims).into_iter().map(take).collect()
}

/// Expand and Tile: each index of the result is an index of the input, modulo the
/// input's extents.
pub(super) fn repeat(c: &Context<'_>, dims: &[usize]) -> Elements {
    let data = Small::of(c, 0)?;
    let take = |index: Vec<usize>| {
        let missing = index.len().checked_sub(data.dims.len())?;
        let own: Option<Vec<usize>> = index[missing..]
            .iter()
            .zip(&data.dims)
            .map(|(at, dim)| at.checked_rem(*dim))
            .collect();
        data.at(&own?).cloned()
    };
    indices(dims).into_iter().map(take).collect()
}

pub(super) fn constant_of_shape(c: &Context<'_>, dims: &[usize]) -> Elements {
    let value = c.call.attribute("value").ok()??;
    let fill = Fact::of_constant(value).elements?;
    let [fill] = &*fill else {
        return None;
    };
    Some(vec![fill.clone(); dims.iter().product()])
}

pub(super) fn range(c: &mut Context<'_>, elem: ElemType, dims: &[usize]) -> Elements {
    let (start, delta) = (c.element(0)?, c.element(2)?);
    let count: usize = dims.iter().product();
    let mut result = Vec::with_capacity(count);
    for at in 0..i64::try_from(count).ok()? {
        let moved = c.symbols.product(delta, &Size::from(at));
        let sum = c.symbols.sum(start, &moved);
        result.push(arithmetic::fit(c.symbols, &sum, elem));
    }
    Some(result)
}

/// True if updates replace elements, rather than being added to them.
fn replaces(c: &Context<'_>) -> Option<bool> {
    Some(c.str("reduction", "none")? == "none")
}

pub(super) fn scatter_nd(c: &Context<'_>) -> Elements {
    let (data, places, updates) = (Small::of(c, 0)?, Small::of(c, 1)?, Small::of(c, 2)?);
    let (depth, outer) = places.dims.split_last()?;
    let tail = data.dims.get(*depth..)?;
    if !replaces(c)? {
        return None;
    }
    let mut result = data.elements.to_vec();
    let mut written = vec![false; result.len()];
    for index in indices(outer) {
        let mut start = Vec::with_capacity(*depth);
        for entry in 0..*depth {
            let place = places.at(&[&*index, &[entry]].concat())?.as_const()?;
            start.push(wrapped(place, *data.dims.get(entry)?)?);
        }
        for rest in indices(tail) {
            let target = position(&data.dims, &[&*start, &*rest].concat())?;
            let update = updates.at(&[&*index, &*rest].concat())?;
            write(&mut result, &mut written, target, update)?;
        }
    }
    Some(result)
}

pub(super) fn scatter_elements(c: &Context<'_>) -> Elements {
    let (data, places, updates) = (Small::of(c, 0)?, Small::of(c, 1)?, Small::of(c, 2)?);
    let axis = rules::axis_of(c.int("axis", 0)?, data.dims.len())?;
    if !replaces(c)? {
        return None;
    }
    let mut result = data.elements.to_vec();
    let mut written = vec![false; result.len()];
    for (index, place) in indices(&places.dims).into_iter().zip(places.elements) {
        let mut target = index.clone();
        *target.get_mut(axis)? = wrapped(place.as_const()?, data.dims[axis])?;
        let target = position(&data.dims, &target)?;
        write(&mut result, &mut written, target, updates.at(&index)?)?;
    }
    Some(result)
}

/// Writes one update. Runtimes may write two to one place in any order.
fn write(result: &mut [Size], written: &mut [bool], target: usize, update: &Size) -> Option<()> {
    let (held, seen) = (result.get_mut(target)?, written.get_mut(target)?);
    if *seen && held != update {
        return None;
    }
    *seen = true;
    held.clone_from(update);
    Some(())
}
