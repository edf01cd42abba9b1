//! Draws calls of operators that only move elements.

use isoform_onnx::ElemType;

use super::generate::{Draw, Generator, Op};
use super::values::{Size, Val, product};

/// What this file draws.
pub(super) const DRAWS: &[(&str, Draw)] = &[
    ("transpose", transpose),
    ("reshape", reshape),
    ("slice", slice),
    ("concat", concat),
    ("split", split),
    ("unsqueeze", unsqueeze),
    ("squeeze", squeeze),
    ("gather", gather),
    ("expand", expand),
    ("pad", pad),
    ("tile", tile),
    ("flatten", flatten),
    ("one hot", one_hot),
    ("gather elements", gather_elements),
    ("scatter", scatter),
    ("triangle", triangle),
    ("blocks", blocks),
    ("running sum", running_sum),
];

fn transpose(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.wide_elems();
    let x = g.operand(&elems);
    transpose_by_any(g, &x);
    Some(())
}

/// A transposition by a drawn order.
pub(super) fn transpose_by_any(g: &mut Generator<'_>, x: &Val) -> Val {
    if g.source.chance(15) {
        let dims = x.dims.iter().rev().copied().collect();
        return g.make_tame(Op::new("Transpose").on(x), x.elem, dims, x.tame);
    }
    let mut order: Vec<usize> = (0..x.rank()).collect();
    g.source.shuffle(&mut order);
    transpose_by(g, x, &order)
}

pub(super) fn transpose_by(g: &mut Generator<'_>, x: &Val, order: &[usize]) -> Val {
    let numbers: Vec<i64> = order.iter().map(|&axis| axis as i64).collect();
    let dims = order.iter().map(|&axis| x.dims[axis]).collect();
    let op = Op::new("Transpose").on(x).ints("perm", &numbers);
    g.make_tame(op, x.elem, dims, x.tame)
}

/// A shape with as many elements: the numbers to write, and the sizes they mean.
///
/// At most one size that differs between the assignments is written as -1, and others as
/// 0, which copies by position.
pub(super) fn target(g: &mut Generator<'_>, dims: &[Size]) -> Option<(Vec<i64>, Vec<Size>)> {
    let mut sizes: Vec<Size> = dims.to_vec();
    for _ in 0..1 + g.source.below(3) {
        match g.source.below(3) {
            0 if sizes.len() > 1 => {
                let at = g.source.below(sizes.len() - 1);
                let next = sizes.remove(at + 1);
                sizes[at] = [sizes[at][0] * next[0], sizes[at][1] * next[1]];
            }
            1 if sizes.len() < 5 => {
                let at = g.source.below(sizes.len() + 1);
                sizes.insert(at, [1, 1]);
            }
            _ => {
                let even = |size: &Size| size[0] == size[1] && size[0] > 0 && size[0] % 2 == 0;
                if let Some(at) = sizes.iter().position(even)
                    && sizes.len() < 5
                {
                    sizes[at] = [sizes[at][0] / 2; 2];
                    sizes.insert(at, [2, 2]);
                }
            }
        }
    }
    let numbers = written(g, dims, &sizes)?;
    Some((numbers, sizes))
}

/// How a shape is written as the target of a Reshape; None if it cannot be a constant.
pub(super) fn written(g: &mut Generator<'_>, from: &[Size], to: &[Size]) -> Option<Vec<i64>> {
    let differs = |size: &Size| size[0] != size[1];
    let mut free = None;
    let mut numbers = Vec::new();
    for (at, size) in to.iter().enumerate() {
        let copies = from.get(at) == Some(size);
        // A zero always means a copy here.
        let is_zero = size[0] == 0 && size[1] == 0;
        if copies && (is_zero || differs(size) || g.source.chance(20)) {
            numbers.push(0);
        } else if differs(size) {
            if free.replace(at).is_some() {
                return None;
            }
            numbers.push(-1);
        } else if is_zero {
            return None;
        } else {
            numbers.push(size[0]);
        }
    }
    let others = |free: usize| {
        let others: Vec<Size> = (0..to.len())
            .filter(|&at| at != free)
            .map(|at| to[at])
            .collect();
        product(&others).iter().all(|&count| count > 0)
    };
    if let Some(at) = free {
        return others(at).then_some(numbers);
    }
    if !to.is_empty() && g.source.chance(25) {
        let at = g.source.below(to.len());
        if others(at) {
            numbers[at] = -1;
        }
    }
    Some(numbers)
}

pub(super) fn reshape_to(g: &mut Generator<'_>, x: &Val, numbers: &[i64], sizes: Vec<Size>) -> Val {
    let shape = g.axes(numbers);
    let mut op = Op::new("Reshape").on(x).on(&shape);
    if g.since(14) && !numbers.contains(&0) && g.source.chance(10) {
        op = op.attr("allowzero", i64::from(!numbers.contains(&-1)));
    }
    g.make_tame(op, x.elem, sizes, x.tame)
}

fn reshape(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.wide_elems();
    let x = g.operand(&elems);
    let (numbers, sizes) = target(g, &x.dims)?;
    reshape_to(g, &x, &numbers, sizes);
    Some(())
}

/// The places of a slice along an axis of a size.
fn sliced(size: i64, start: i64, end: i64, step: i64) -> i64 {
    let (low, high) = if step > 0 { (0, size) } else { (0, size - 1) };
    let place = |at: i64| {
        let at = if at < 0 { at.saturating_add(size) } else { at };
        at.clamp(if step > 0 { low } else { -1 }, high)
    };
    let start = if step < 0 {
        place(start).max(0)
    } else {
        place(start)
    };
    // From the end, a start before the first place is that place, and an end stays there.
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

/// A slice along some axes; each is given as axis, start, end and step.
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
        let all =
            parts.len() == x.rank() && parts.iter().enumerate().all(|(at, part)| at == part.0);
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
    let made = g.make_tame(op, x.elem, dims, x.tame);
    let Some(ints) = x.ints.clone().filter(|_| x.rank() == 1 && parts.len() == 1) else {
        return made;
    };
    // Pieces of shapes stay known.
    let (_, start, _, step) = parts[0];
    let ints = [0, 1].map(|which| {
        let size = ints[which].len() as i64;
        let count = made.dims[0][which];
        let at = if start < 0 {
            start.saturating_add(size).max(0)
        } else {
            start
        };
        let at = if step < 0 { at.min(size - 1) } else { at };
        (0..count)
            .map(|n| ints[which][(at + n * step) as usize])
            .collect()
    });
    g.scope.pop();
    g.keep(Val {
        ints: Some(ints),
        ..made
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

fn slice(g: &mut Generator<'_>) -> Option<()> {
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

/// Values that can be joined to one along an axis.
fn joinable(g: &mut Generator<'_>, x: &Val, axis: usize) -> Val {
    let rank = x.rank();
    let fits = |val: &Val| {
        val.elem == x.elem
            && val.rank() == rank
            && (0..rank).all(|at| at == axis || val.dims[at] == x.dims[at])
    };
    if g.source.chance(80)
        && let Some(known) = g.known(fits)
    {
        return known;
    }
    let mut dims = x.dims.clone();
    dims[axis] = [1, 1];
    // A joined tensor of no elements is one that rules drop.
    if g.source.chance(30) {
        dims[axis] = [0, 0];
    }
    let made = g.fresh(x.elem, dims.clone());
    // Inside a function, there is nothing of a symbolic size to be had.
    if made.dims == dims { made } else { x.clone() }
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

fn concat(g: &mut Generator<'_>) -> Option<()> {
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
pub(super) fn split_into(
    g: &mut Generator<'_>,
    x: &Val,
    axis: usize,
    sizes: &[Size],
) -> Option<Vec<Val>> {
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

fn split(g: &mut Generator<'_>) -> Option<()> {
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

pub(super) fn unsqueeze_at(g: &mut Generator<'_>, x: &Val, axes: &[usize]) -> Val {
    let rank = x.rank() + axes.len();
    let mut dims = Vec::new();
    let mut rest = x.dims.iter();
    for at in 0..rank {
        dims.push(match axes.contains(&at) {
            true => [1, 1],
            false => *rest.next().expect("as many axes as the operand has"),
        });
    }
    let written: Vec<i64> = axes.iter().map(|&axis| g.written(axis, rank)).collect();
    let op = Op::new("Unsqueeze").on(x);
    let op = if g.since(13) {
        let axes = g.axes(&written);
        op.on(&axes)
    } else {
        op.ints("axes", &written)
    };
    match x.ints.clone() {
        Some(ints) => g.make_ints(op, dims, ints),
        None => g.make_tame(op, x.elem, dims, x.tame),
    }
}

pub(super) fn squeeze_at(g: &mut Generator<'_>, x: &Val, axes: &[usize]) -> Val {
    let rank = x.rank();
    let dims = (0..rank)
        .filter(|at| !axes.contains(at))
        .map(|at| x.dims[at])
        .collect();
    let written: Vec<i64> = axes.iter().map(|&axis| g.written(axis, rank)).collect();
    let op = Op::new("Squeeze").on(x);
    // Without axes it is every axis whose size is 1, which has to be known.
    let ones = (0..rank).filter(|&at| x.dims[at].contains(&1)).count();
    let op = if ones == axes.len() && g.source.chance(25) {
        op
    } else if g.since(13) {
        let axes = g.axes(&written);
        op.on(&axes)
    } else {
        op.ints("axes", &written)
    };
    match x.ints.clone() {
        Some(ints) => g.make_ints(op, dims, ints),
        None => g.make_tame(op, x.elem, dims, x.tame),
    }
}

fn unsqueeze(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.wide_elems();
    let x = g.operand_where(&elems, |_| true, 3);
    let axis = g.source.below(x.rank() + 1);
    let mut axes = vec![axis];
    if g.source.chance(25) && x.rank() < 3 {
        axes.push((axis + 1) % (x.rank() + 2));
    }
    axes.sort_unstable();
    let wide = unsqueeze_at(g, &x, &axes);
    match g.source.below(4) {
        0 => {
            squeeze_at(g, &wide, &axes);
            g.note("pattern: squeeze of unsqueeze");
        }
        1 if wide.rank() < 5 => {
            let axis = g.source.below(wide.rank() + 1);
            unsqueeze_at(g, &wide, &[axis]);
            g.note("pattern: unsqueeze of unsqueeze");
        }
        _ => {}
    }
    Some(())
}

fn squeeze(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.wide_elems();
    let ones = |x: &Val| {
        (0..x.rank())
            .filter(|&at| x.dims[at] == [1, 1])
            .collect::<Vec<_>>()
    };
    let x = g.known(|x| elems.contains(&x.elem) && !ones(x).is_empty())?;
    let all = ones(&x);
    let axes = if g.source.chance(50) {
        all.clone()
    } else {
        vec![*g.source.pick(&all)]
    };
    let narrow = squeeze_at(g, &x, &axes);
    if g.source.chance(30) {
        unsqueeze_at(g, &narrow, &axes);
        g.note("pattern: unsqueeze of squeeze");
    } else if g.source.chance(20) {
        let more = ones(&narrow);
        if let Some(&axis) = more.first() {
            squeeze_at(g, &narrow, &[axis]);
            g.note("pattern: squeeze of squeeze");
        }
    }
    Some(())
}

fn gather(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.base_elems();
    let x = g.operand_where(&elems, |x| x.rank() > 0 && !x.may_be_empty(), 3);
    if x.may_be_empty() || x.rank() == 0 {
        return None;
    }
    let (axis, written) = g.axis(x.rank());
    let least = x.dims[axis][0].min(x.dims[axis][1]);
    let count = g.source.below(4);
    let scalar = g.source.chance(35);
    let numbers: Vec<i64> = (0..if scalar { 1 } else { count })
        .map(|_| {
            let at = g.source.below(least as usize) as i64;
            if g.since(11) && g.source.chance(25) {
                -1 - at
            } else {
                at
            }
        })
        .collect();
    let shape: Vec<i64> = if scalar { vec![] } else { vec![count as i64] };
    let mut indices = g.int_constant(&shape, &numbers);
    if g.source.chance(20) {
        indices = super::elementwise::cast_to(g, &indices, ElemType::Int32)?;
    }
    let mut dims = x.dims.clone();
    dims.splice(axis..=axis, shape.iter().map(|&size| [size, size]));
    let op = Op::new("Gather").on(&x).on(&indices).attr("axis", written);
    if let Some(ints) = x.ints.clone().filter(|_| x.rank() == 1) {
        let ints = ints.map(|ints| {
            let at = |&at: &i64| ints[if at < 0 { at + ints.len() as i64 } else { at } as usize];
            numbers.iter().map(at).collect()
        });
        g.make_ints(op, dims, ints);
    } else {
        g.make_tame(op, x.elem, dims, x.tame);
    }
    Some(())
}

fn expand(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.base_elems();
    let x = g.operand_where(&elems, |_| true, 3);
    let mut numbers: Vec<i64> = x
        .dims
        .iter()
        .map(|size| {
            if size[0] == size[1] && size[0] != 1 {
                size[0]
            } else {
                1
            }
        })
        .collect();
    let mut dims = x.dims.clone();
    for at in 0..dims.len() {
        if dims[at] == [1, 1] && g.source.chance(40) {
            numbers[at] = *g.source.pick(&[2, 3, 0]);
            dims[at] = [numbers[at]; 2];
        }
    }
    if g.source.chance(30) {
        let more = *g.source.pick(&[1, 2]);
        numbers.insert(0, more);
        dims.insert(0, [more, more]);
    } else if g.source.chance(20) && !numbers.is_empty() && numbers[0] == 1 {
        numbers.remove(0);
    }
    if !g.is_small(&dims) {
        return None;
    }
    let shape = g.axes(&numbers);
    let op = Op::new("Expand").on(&x).on(&shape);
    g.make_tame(op, x.elem, dims, x.tame);
    Some(())
}

fn pad(g: &mut Generator<'_>) -> Option<()> {
    let elems = match (g.since(13), g.since(11)) {
        (true, _) => g.base_elems(),
        (_, true) => [&g.floats()[..], &g.integers()[..]].concat(),
        _ => g.floats(),
    };
    let x = g.operand_where(&elems, |x| x.rank() > 0, 3);
    let rank = x.rank();
    let zero = g.source.chance(25);
    let modes: &[&str] = if g.since(19) {
        &["constant", "constant", "edge", "reflect", "wrap"]
    } else {
        &["constant", "constant", "edge", "reflect"]
    };
    let mode = if x.may_be_empty() {
        "constant"
    } else {
        *g.source.pick(modes)
    };
    let mut pads = vec![0; 2 * rank];
    let mut dims = x.dims.clone();
    for axis in 0..rank {
        let least = x.dims[axis][0].min(x.dims[axis][1]);
        for side in 0..2 {
            // A negative pad removes elements; a reflection needs others to take.
            let most = if mode == "reflect" { least - 1 } else { 2 };
            let mut amount = if zero { 0 } else { g.source.below(3) as i64 }.min(most.max(0));
            if mode == "constant" && g.source.chance(8) && least >= 3 {
                amount = -1;
            }
            pads[side * rank + axis] = amount;
            dims[axis] = dims[axis].map(|size| size + amount);
        }
    }
    if !g.is_small(&dims) {
        return None;
    }
    if zero {
        g.note("pattern: pad by nothing");
    }
    let mut op = Op::new("Pad").on(&x);
    if g.since(11) {
        let pads = g.axes(&pads);
        op = op.on(&pads);
        if mode == "constant" && g.source.chance(50) {
            let value = g.constant(x.elem, &[]);
            op = op.on(&value);
        }
    } else {
        op = op.ints("pads", &pads);
        if mode == "constant" && g.source.chance(50) {
            op = op.attr("value", 1.5);
        }
    }
    if mode != "constant" || g.source.chance(30) {
        op = op.attr("mode", mode);
    }
    // The default of strings is the empty one, and constants may be wild.
    g.make(op, x.elem, dims);
    Some(())
}

fn tile(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.base_elems();
    let x = g.operand_where(&elems, |_| true, 3);
    let numbers: Vec<i64> = (0..x.rank())
        .map(|_| *g.source.pick(&[1, 2, 1, 3, 0]))
        .collect();
    let dims: Vec<Size> = x
        .dims
        .iter()
        .zip(&numbers)
        .map(|(size, by)| size.map(|size| size * by))
        .collect();
    if !g.is_small(&dims) {
        return None;
    }
    let repeats = g.axes(&numbers);
    let op = Op::new("Tile").on(&x).on(&repeats);
    g.make_tame(op, x.elem, dims, x.tame);
    Some(())
}

fn flatten(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.wide_elems();
    let x = g.operand(&elems);
    let axis = g.source.below(x.rank() + 1);
    let written = match axis < x.rank() {
        true => g.written(axis, x.rank()),
        false => axis as i64,
    };
    let dims = vec![product(&x.dims[..axis]), product(&x.dims[axis..])];
    let op = Op::new("Flatten").on(&x).attr("axis", written);
    g.make_tame(op, x.elem, dims, x.tame);
    Some(())
}

fn one_hot(g: &mut Generator<'_>) -> Option<()> {
    let count = g.source.below(4) as i64;
    // A negative index counts from the end since version 11, and before, it was off
    // everywhere, on which runtimes do not agree.
    let least = if g.since(11) { -1 } else { 0 };
    let numbers: Vec<i64> = (0..count)
        .map(|_| g.source.below(5) as i64 + least)
        .collect();
    let indices = g.int_constant(&[count], &numbers);
    let depth = 1 + g.source.below(4) as i64;
    let depth_val = g.int_constant(&[], &[depth]);
    let elem = *g
        .source
        .pick(&[ElemType::Float, ElemType::Int64, ElemType::Int32]);
    let values = g.constant(elem, &[2]);
    let mut op = Op::new("OneHot").on(&indices).on(&depth_val).on(&values);
    let dims = if g.source.chance(30) {
        op = op.attr("axis", 0);
        vec![[depth; 2], [count; 2]]
    } else {
        vec![[count; 2], [depth; 2]]
    };
    g.make_tame(op, elem, dims, values.tame);
    Some(())
}

fn gather_elements(g: &mut Generator<'_>) -> Option<()> {
    if !g.since(11) {
        return None;
    }
    let elems = g.base_elems();
    let fits = |x: &Val| x.rank() > 0 && x.is_fixed() && !x.may_be_empty();
    let x = g.operand_where(&elems, fits, 3);
    if !fits(&x) {
        return None;
    }
    if g.source.chance(40) {
        let (first, last) = (x.dims[0][0], x.rank() - 1);
        let numbers: Vec<i64> = (0..2)
            .map(|_| g.source.below(first as usize) as i64)
            .collect();
        let indices = g.int_constant(&[2, 1], &numbers);
        let dims = [vec![[2, 2]], x.dims[x.rank() - last..].to_vec()].concat();
        g.make_tame(
            Op::new("GatherND").on(&x).on(&indices),
            x.elem,
            dims,
            x.tame,
        );
        return Some(());
    }
    let (axis, written) = g.axis(x.rank());
    let size = x.dims[axis][0];
    let count: i64 = x.count()[0];
    let numbers: Vec<i64> = (0..count)
        .map(|at| (at * 7 + 1) % size - size * (at % 2))
        .collect();
    let indices = g.int_constant(&x.shape(0), &numbers);
    let op = Op::new("GatherElements")
        .on(&x)
        .on(&indices)
        .attr("axis", written);
    g.make_tame(op, x.elem, x.dims.clone(), x.tame);
    Some(())
}

fn scatter(g: &mut Generator<'_>) -> Option<()> {
    if !g.since(11) {
        return None;
    }
    let mut elems = g.base_elems();
    elems.retain(|elem| *elem != ElemType::Bfloat16 || g.since(13));
    let fits = |x: &Val| x.rank() > 0 && x.is_fixed() && !x.may_be_empty();
    let x = g.operand_where(&elems, fits, 3);
    if !fits(&x) {
        return None;
    }
    if g.source.chance(50) {
        let at = g.source.below(x.dims[0][0] as usize) as i64;
        let indices = g.int_constant(&[1, 1], &[at]);
        let updates = g.constant(x.elem, &[&[1], &x.shape(0)[1..]].concat());
        let op = Op::new("ScatterND").on(&x).on(&indices).on(&updates);
        g.make_tame(op, x.elem, x.dims.clone(), x.tame && updates.tame);
        return Some(());
    }
    let (axis, written) = g.axis(x.rank());
    let at = g.source.below(x.dims[axis][0] as usize) as i64;
    let ones = vec![1; x.rank()];
    let indices = g.int_constant(&ones, &[at]);
    let updates = g.constant(x.elem, &ones);
    let op = Op::new("ScatterElements").on(&x).on(&indices).on(&updates);
    g.make_tame(
        op.attr("axis", written),
        x.elem,
        x.dims.clone(),
        x.tame && updates.tame,
    );
    Some(())
}

fn triangle(g: &mut Generator<'_>) -> Option<()> {
    let elems = [&g.floats()[..], &g.integers()[..], &[ElemType::Bool]].concat();
    let x = g.operand_where(&elems, |x| x.rank() >= 2, 3);
    if !g.since(14) || x.rank() < 2 {
        return None;
    }
    let mut op = Op::new("Trilu").on(&x);
    if g.source.chance(50) {
        let k = g.source.below(3) as i64 - 1;
        let k = g.int_constant(&[], &[k]);
        op = op.on(&k);
    }
    if g.source.chance(50) {
        op = op.attr("upper", 0);
    }
    g.make_tame(op, x.elem, x.dims.clone(), x.tame);
    Some(())
}

fn blocks(g: &mut Generator<'_>) -> Option<()> {
    let mut elems = g.base_elems();
    elems.retain(|elem| *elem != ElemType::Bfloat16 || g.since(13));
    let elem = *g.source.pick(&elems);
    let batch = g.size();
    if g.source.chance(50) {
        let x = g.fresh(elem, vec![batch, [4, 4], [1, 1], [2, 2]]);
        let mut op = Op::new("DepthToSpace").on(&x).attr("blocksize", 2);
        if g.since(11) && g.source.chance(50) {
            op = op.attr("mode", "CRD");
        }
        g.make_tame(op, elem, vec![batch, [1, 1], [2, 2], [4, 4]], x.tame);
    } else {
        let x = g.fresh(elem, vec![batch, [1, 1], [2, 2], [4, 4]]);
        let op = Op::new("SpaceToDepth").on(&x).attr("blocksize", 2);
        g.make_tame(op, elem, vec![batch, [4, 4], [1, 1], [2, 2]], x.tame);
    }
    Some(())
}

fn running_sum(g: &mut Generator<'_>) -> Option<()> {
    if !g.since(11) {
        return None;
    }
    let elems = [
        ElemType::Float,
        ElemType::Int64,
        ElemType::Int32,
        ElemType::Double,
    ];
    let x = g.operand_where(&elems, |x| x.rank() > 0, 3);
    let axis = g.source.below(x.rank().max(1)) as i64;
    let axis = g.int_constant(&[], &[axis]);
    let mut op = Op::new("CumSum").on(&x).on(&axis);
    if g.source.chance(30) {
        op = op.attr("exclusive", 1);
    }
    if g.source.chance(30) {
        op = op.attr("reverse", 1);
    }
    g.make(op, x.elem, x.dims.clone());
    Some(())
}
