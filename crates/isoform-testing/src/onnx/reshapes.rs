//! Draws calls that keep all elements and change the axes: transposes and reshapes.

use super::calls::Op;
use super::generator::Generator;
use super::values::{Size, Val, product};

pub(super) fn transpose(g: &mut Generator<'_>) -> Option<()> {
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

/// A shape with an equal number of elements: the numbers to write, and the sizes meant
/// by them.
///
/// Of the sizes that differ between the assignments, at most one is written -1; the
/// remaining sizes become 0, which copies the size at the same position.
pub(super) fn target(g: &mut Generator<'_>, dims: &[Size]) -> Option<(Vec<i64>, Vec<Size>)> {
    let mut sizes: Vec<Size> = dims.to_vec();
    for _ in 0..1 + g.source.below(3) {
        match g.source.below(3) {
            0 if sizes.len() > 1 => {
                let index = g.source.below(sizes.len() - 1);
                let next = sizes.remove(index + 1);
                sizes[index] = [sizes[index][0] * next[0], sizes[index][1] * next[1]];
            }
            1 if sizes.len() < 5 => {
                let index = g.source.below(sizes.len() + 1);
                sizes.insert(index, [1, 1]);
            }
            _ => {
                let even = |size: &Size| size[0] == size[1] && size[0] > 0 && size[0] % 2 == 0;
                if let Some(index) = sizes.iter().position(even)
                    && sizes.len() < 5
                {
                    sizes[index] = [sizes[index][0] / 2; 2];
                    sizes.insert(index, [2, 2]);
                }
            }
        }
    }
    let numbers = written(g, dims, &sizes)?;
    Some((numbers, sizes))
}

/// The form of a shape as the target of a Reshape; None if no constant can express the
/// shape.
pub(super) fn written(g: &mut Generator<'_>, from: &[Size], to: &[Size]) -> Option<Vec<i64>> {
    let differs = |size: &Size| size[0] != size[1];
    let mut free = None;
    let mut numbers = Vec::new();
    for (axis, size) in to.iter().enumerate() {
        let copies = from.get(axis) == Some(size);
        // A zero always means a copy here.
        let is_zero = size[0] == 0 && size[1] == 0;
        if copies && (is_zero || differs(size) || g.source.chance(20)) {
            numbers.push(0);
        } else if differs(size) {
            if free.replace(axis).is_some() {
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
            .filter(|&axis| axis != free)
            .map(|axis| to[axis])
            .collect();
        product(&others).iter().all(|&count| count > 0)
    };
    if let Some(axis) = free {
        return others(axis).then_some(numbers);
    }
    if !to.is_empty() && g.source.chance(25) {
        let axis = g.source.below(to.len());
        if others(axis) {
            numbers[axis] = -1;
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

pub(super) fn reshape(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.wide_elems();
    let x = g.operand(&elems);
    let (numbers, sizes) = target(g, &x.dims)?;
    reshape_to(g, &x, &numbers, sizes);
    Some(())
}

pub(super) fn unsqueeze_at(g: &mut Generator<'_>, x: &Val, axes: &[usize]) -> Val {
    let rank = x.rank() + axes.len();
    let mut dims = Vec::new();
    let mut rest = x.dims.iter();
    for axis in 0..rank {
        dims.push(if axes.contains(&axis) {
            [1, 1]
        } else {
            *rest.next().expect("as many axes as the operand has")
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
        .filter(|axis| !axes.contains(axis))
        .map(|axis| x.dims[axis])
        .collect();
    let written: Vec<i64> = axes.iter().map(|&axis| g.written(axis, rank)).collect();
    let op = Op::new("Squeeze").on(x);
    // Without axes, every axis of size 1 is removed, and all sizes have to be known.
    let ones = (0..rank).filter(|&axis| x.dims[axis].contains(&1)).count();
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

pub(super) fn unsqueeze(g: &mut Generator<'_>) -> Option<()> {
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

pub(super) fn squeeze(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.wide_elems();
    let ones = |x: &Val| {
        (0..x.rank())
            .filter(|&axis| x.dims[axis] == [1, 1])
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

pub(super) fn flatten(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.wide_elems();
    let x = g.operand(&elems);
    let axis = g.source.below(x.rank() + 1);
    let written = if axis < x.rank() {
        g.written(axis, x.rank())
    } else {
        axis as i64
    };
    let dims = vec![product(&x.dims[..axis]), product(&x.dims[axis..])];
    let op = Op::new("Flatten").on(&x).attr("axis", written);
    g.make_tame(op, x.elem, dims, x.tame);
    Some(())
}
