//! Draws calls of operators for moving elements.

use isoform_onnx::ElemType;

use super::calls::Op;
use super::elementwise::cast_to;
use super::generator::{Draw, Generator};
use super::pieces::{concat, slice, split};
use super::reshapes::{flatten, reshape, squeeze, transpose, unsqueeze};
use super::values::{Size, Val};

/// The operators for moving elements, by name.
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
            let index = g.source.below(least as usize) as i64;
            if g.since(11) && g.source.chance(25) {
                -1 - index
            } else {
                index
            }
        })
        .collect();
    let shape: Vec<i64> = if scalar { vec![] } else { vec![count as i64] };
    let mut indices = g.int_constant(&shape, &numbers);
    if g.source.chance(20) {
        indices = cast_to(g, &indices, ElemType::Int32)?;
    }
    let mut dims = x.dims.clone();
    dims.splice(axis..=axis, shape.iter().map(|&size| [size, size]));
    let op = Op::new("Gather").on(&x).on(&indices).attr("axis", written);
    if let Some(ints) = x.ints.clone().filter(|_| x.rank() == 1) {
        let ints = ints.map(|ints| {
            let element = |&index: &i64| {
                ints[if index < 0 {
                    index + ints.len() as i64
                } else {
                    index
                } as usize]
            };
            numbers.iter().map(element).collect()
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
    for axis in 0..dims.len() {
        if dims[axis] == [1, 1] && g.source.chance(40) {
            numbers[axis] = *g.source.pick(&[2, 3, 0]);
            dims[axis] = [numbers[axis]; 2];
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
            // A negative pad removes elements; a reflection needs enough elements to
            // copy.
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
        .map(|index| (index * 7 + 1) % size - size * (index % 2))
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
        let index = g.source.below(x.dims[0][0] as usize) as i64;
        let indices = g.int_constant(&[1, 1], &[index]);
        let updates = g.constant(x.elem, &[&[1], &x.shape(0)[1..]].concat());
        let op = Op::new("ScatterND").on(&x).on(&indices).on(&updates);
        g.make_tame(op, x.elem, x.dims.clone(), x.tame && updates.tame);
        return Some(());
    }
    let (axis, written) = g.axis(x.rank());
    let index = g.source.below(x.dims[axis][0] as usize) as i64;
    let ones = vec![1; x.rank()];
    let indices = g.int_constant(&ones, &[index]);
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
