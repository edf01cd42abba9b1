//! Draws calls that take pieces of tensors and join pieces: slices, joins and splits.

use isoform_onnx::ElemType;

use super::calls::Op;
use super::generator::Generator;
use super::values::{Size, Val};

/// The places of a slice along an axis of a size.
fn sliced(size: i64, start: i64, end: i64, step: i64) -> i64 {
    let (low, high) = if step > 0 { (0, size) } else { (0, size - 1) };
    let place = |position: i64| {
        let position = if position < 0 {
            position.saturating_add(size)
        } else {
            position
        };
        position.clamp(if step > 0 { low } else { -1 }, high)
    };
    let start = if step < 0 {
        place(start).max(0)
    } else {
        place(start)
    };
    // With a negative step, a start before the first place is the first place, and an end
    // stays there.
    let end = place(end);
    if size == 0 {
        return 0;
    }
    let span = if step > 0 { end - start } else { start - end };
    let step = step.unsigned_abs() as i64;
    span.max(0)
        .checked_add(step - 1)
        .map_or(0, |span| span / step)
}

/// A slice along some axes, given by axis, start, end and step.
pub(super) fn slice_by(g: &mut Generator<'_>, x: &Val, parts: &[(usize, i64, i64, i64)]) -> Val {
    let mut dims = x.dims.clone();
    for &(axis, start, end, step) in parts {
        dims[axis] = dims[axis].map(|size| sliced(size, start, end, step));
    }
    let axes: Vec<i64> = parts
        .iter()
        .map(|&(axis, ..)| {
            if g.since(10) {
                g.written(axis, x.rank())
            } else {
                axis as i64
            }
        })
        .collect();
    let starts: Vec<i64> = parts.iter().map(|part| part.1).collect();
    let ends: Vec<i64> = parts.iter().map(|part| part.2).collect();
    let steps: Vec<i64> = parts.iter().map(|part| part.3).collect();
    let mut op = Op::new("Slice").on(x);
    if g.since(10) {
        let (starts, ends) = (g.axes(&starts), g.axes(&ends));
        op = op.on(&starts).on(&ends);
        let all = parts.len() == x.rank()
            && parts
                .iter()
                .enumerate()
                .all(|(index, part)| index == part.0);
        let leave_axes = all && g.source.chance(50);
        op = if leave_axes {
            op.skip()
        } else {
            let axes = g.axes(&axes);
            op.on(&axes)
        };
        if steps.iter().any(|&step| step != 1) || g.source.chance(30) {
            let steps = g.axes(&steps);
            op = op.on(&steps);
        }
    } else {
        op = op
            .ints("starts", &starts)
            .ints("ends", &ends)
            .ints("axes", &axes);
    }
    let piece = g.make_tame(op, x.elem, dims, x.tame);
    let Some(ints) = x.ints.clone().filter(|_| x.rank() == 1 && parts.len() == 1) else {
        return piece;
    };
    // Pieces of shapes stay known.
    let (_, start, _, step) = parts[0];
    let ints = [0, 1].map(|which| {
        let size = ints[which].len() as i64;
        let count = piece.dims[0][which];
        let first = if start < 0 {
            start.saturating_add(size).max(0)
        } else {
            start
        };
        let first = if step < 0 { first.min(size - 1) } else { first };
        (0..count)
            .map(|n| ints[which][(first + n * step) as usize])
            .collect()
    });
    g.scope.pop();
    g.keep(Val {
        ints: Some(ints),
        ..piece
    })
}

/// One part of a slice.
pub(super) fn slice_part(g: &mut Generator<'_>, axis: usize) -> (usize, i64, i64, i64) {
    let start = *g.source.pick(&[0, 1, -1, -2, -100, 2, 100]);
    let end = *g
        .source
        .pick(&[i64::MAX, 2, 1, -1, 3, 1000, i64::from(i32::MAX), 0]);
    if g.since(10) && g.source.chance(20) {
        let start = *g.source.pick(&[-1, 100, 1, i64::MAX]);
        let end = *g.source.pick(&[i64::MIN + 1, 0, -100, -2]);
        return (axis, start, end, *g.source.pick(&[-1, -2, -1]));
    }
    let step = if g.since(10) && g.source.chance(20) {
        2
    } else {
        1
    };
    (axis, start, end, step)
}

pub(super) fn slice(g: &mut Generator<'_>) -> Option<()> {
    let mut elems = g.base_elems();
    elems.retain(|elem| *elem != ElemType::Bfloat16 || g.since(13));
    let x = g.operand_where(&elems, |x| x.rank() > 0, 4);
    let mut axes: Vec<usize> = (0..x.rank()).collect();
    g.source.shuffle(&mut axes);
    let count = 1 + g.source.below(x.rank().min(2));
    let parts: Vec<_> = axes[..count]
        .iter()
        .map(|&axis| slice_part(g, axis))
        .collect();
    slice_by(g, &x, &parts);
    Some(())
}

/// Values that can be joined to `x` along an axis.
fn joinable(g: &mut Generator<'_>, x: &Val, axis: usize) -> Val {
    let rank = x.rank();
    let fits = |val: &Val| {
        val.elem == x.elem
            && val.rank() == rank
            && (0..rank).all(|index| index == axis || val.dims[index] == x.dims[index])
    };
    if g.source.chance(80)
        && let Some(val) = g.known(fits)
    {
        return val;
    }
    let mut dims = x.dims.clone();
    dims[axis] = [1, 1];
    // Rules drop a joined tensor without elements.
    if g.source.chance(30) {
        dims[axis] = [0, 0];
    }
    let val = g.fresh(x.elem, dims.clone());
    // Inside a function, no value of a symbolic size is available.
    if val.dims == dims { val } else { x.clone() }
}

pub(super) fn concat_all(g: &mut Generator<'_>, parts: &[Val], axis: usize) -> Option<Val> {
    let mut dims = parts[0].dims.clone();
    for part in &parts[1..] {
        dims[axis] = [0, 1].map(|which| dims[axis][which] + part.dims[axis][which]);
    }
    if !g.is_small(&dims) {
        return None;
    }
    let written = g.written(axis, dims.len());
    let mut op = Op::new("Concat").attr("axis", written);
    for part in parts {
        op = op.on(part);
    }
    let tame = parts.iter().all(|part| part.tame);
    let ints: Option<Vec<[Vec<i64>; 2]>> = parts.iter().map(|part| part.ints.clone()).collect();
    match ints.filter(|_| dims.len() == 1) {
        Some(ints) => {
            let ints =
                [0, 1].map(|which| ints.iter().flat_map(|ints| ints[which].clone()).collect());
            Some(g.make_ints(op, dims, ints))
        }
        None => Some(g.make_tame(op, parts[0].elem, dims, tame)),
    }
}

pub(super) fn concat(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.base_elems();
    let x = g.operand_where(&elems, |x| x.rank() > 0, 4);
    let axis = g.source.below(x.rank());
    let mut parts = vec![x.clone()];
    for _ in 0..g.source.below(4) {
        parts.push(joinable(g, &x, axis));
    }
    g.source.shuffle(&mut parts);
    let joined = concat_all(g, &parts, axis)?;
    if g.source.chance(35) {
        let next = joinable(g, &joined, axis);
        concat_all(g, &[joined, next], axis)?;
        g.note("pattern: concat of concat");
    }
    Some(())
}

/// A split into parts of these sizes.
fn split_into(g: &mut Generator<'_>, x: &Val, axis: usize, sizes: &[Size]) -> Option<Vec<Val>> {
    let fixed = sizes.iter().all(|size| size[0] == size[1]);
    let equal = sizes.iter().all(|size| *size == sizes[0]);
    let written = g.written(axis, x.rank());
    let mut op = Op::new("Split").on(x).attr("axis", written);
    let numbers: Vec<i64> = sizes.iter().map(|size| size[0]).collect();
    if !equal || fixed && g.source.chance(50) {
        if !fixed {
            return None;
        }
        op = if g.since(13) {
            let numbers = g.axes(&numbers);
            op.on(&numbers)
        } else {
            op.ints("split", &numbers)
        };
    } else if g.since(18) {
        op = op.attr("num_outputs", sizes.len() as i64);
    }
    let outputs: Vec<_> = sizes
        .iter()
        .map(|size| {
            let mut dims = x.dims.clone();
            dims[axis] = *size;
            (x.elem, dims)
        })
        .collect();
    Some(g.make_all(op, &outputs))
}

pub(super) fn split(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.base_elems();
    let x = g.operand_where(&elems, |x| x.rank() > 0, 4);
    let axis = g.source.below(x.rank());
    let size = x.dims[axis];
    if g.source.chance(30) {
        split_into(g, &x, axis, &[size])?;
        g.note("pattern: split into one");
        return Some(());
    }
    let parts = if size[0] == size[1] && size[0] >= 2 && g.source.chance(60) {
        let first = 1 + g.source.below(size[0] as usize - 1) as i64;
        split_into(g, &x, axis, &[[first; 2], [size[0] - first; 2]])?
    } else if size.iter().all(|size| size % 2 == 0) {
        let half = size.map(|size| size / 2);
        split_into(g, &x, axis, &[half, half])?
    } else {
        return None;
    };
    if g.source.chance(40) {
        concat_all(g, &parts, axis)?;
        g.note("pattern: concat of split");
    }
    Some(())
}
