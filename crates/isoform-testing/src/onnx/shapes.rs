//! Draws arithmetic on shapes in the style of exporters, and operators that take
//! shapes.

use isoform_onnx::ElemType;

use super::calls::Op;
use super::elementwise::cast_to;
use super::generator::{Draw, Generator};
use super::values::{Size, Val, is_float, product};
use super::{pieces, reshapes};

/// The arithmetic on shapes and the operators that take shapes, by name.
pub(super) const DRAWS: &[(&str, Draw)] = &[
    ("shape", shape),
    ("shape element", shape_element),
    ("shape arithmetic", shape_arithmetic),
    ("pattern: reshape to computed shape", reshape_computed),
    ("pattern: reshape to own shape", reshape_to_own),
    ("pattern: expand to own shape", expand_to_own),
    ("pattern: expand to where of shape", expand_by_where),
    ("pattern: slice to a size", slice_to_size),
    ("pattern: range of a size", range_of_size),
    ("constant of shape", constant_of_shape),
    ("range", range),
    ("size", size),
    ("pattern: shape through floats", through_floats),
    ("pattern: tile by computed numbers", tile_computed),
    ("shape comparison", shape_comparison),
];

/// Any tensor, preferably a tensor with unknown sizes.
fn shaped(g: &mut Generator<'_>, most: usize) -> Val {
    let elems = g.base_elems();
    if g.source.chance(60)
        && let Some(known) = g.known(|x| !x.is_fixed() && x.rank() <= most)
    {
        return known;
    }
    g.operand_where(&elems, |x| x.rank() > 0, most)
}

/// The shape of a tensor, or a part of the shape.
pub(super) fn shape_of(g: &mut Generator<'_>, x: &Val, range: Option<(usize, usize)>) -> Val {
    let mut op = Op::new("Shape").on(x);
    let (start, end) = range.unwrap_or((0, x.rank()));
    if range.is_some() {
        let written = g.written(start, x.rank().max(1));
        op = op.attr("start", if x.rank() == 0 { 0 } else { written });
        // A missing end, or an end beyond the rank, means the rank.
        if end == x.rank() {
            if g.source.chance(30) {
                op = op.attr("end", 100);
            }
        } else {
            op = op.attr("end", end as i64);
        }
    }
    let ints = [0, 1].map(|which| x.shape(which)[start..end].to_vec());
    let count = (end - start) as i64;
    g.make_ints(op, vec![[count, count]], ints)
}

fn shape(g: &mut Generator<'_>) -> Option<()> {
    let x = shaped(g, 4);
    let range = if g.since(15) && g.source.chance(40) {
        let start = g.source.below(x.rank() + 1);
        let end = start + g.source.below(x.rank() - start + 1);
        g.note("shape: start and end");
        Some((start.min(x.rank()), end))
    } else {
        None
    };
    // A start of the rank itself is written literally.
    let range = range.filter(|(start, _)| *start < x.rank());
    shape_of(g, &x, range);
    Some(())
}

/// One size of a tensor by Shape and Gather, a scalar.
fn element_of(g: &mut Generator<'_>, x: &Val, axis: usize) -> Val {
    let shape = shape_of(g, x, None);
    let written = g.written(axis, x.rank());
    let index = g.int_constant(&[], &[written]);
    let ints = x.dims[axis].map(|size| vec![size]);
    let op = Op::new("Gather").on(&shape).on(&index);
    g.make_ints(op, vec![], ints)
}

/// A known scalar: a size, or arithmetic on sizes.
pub(super) fn known_scalar(g: &mut Generator<'_>) -> Option<Val> {
    if g.source.chance(50)
        && let Some(known) = g.known(|x| x.ints.is_some() && x.rank() == 0)
    {
        return Some(known);
    }
    let x = shaped(g, 4);
    if x.rank() == 0 {
        return None;
    }
    let axis = g.source.below(x.rank());
    Some(element_of(g, &x, axis))
}

fn shape_element(g: &mut Generator<'_>) -> Option<()> {
    known_scalar(g).map(drop)
}

/// Computes with known integers.
fn shape_arithmetic(g: &mut Generator<'_>) -> Option<()> {
    let x = match g.known(|x| x.ints.is_some() && x.rank() <= 1) {
        Some(val) => val,
        None => known_scalar(g)?,
    };
    let ints = x.ints.clone()?;
    let count = ints[0].len();
    if ints[1].len() != count {
        return None;
    }
    let number = *g.source.pick(&[2, 1, 3, 4]);
    let (mut other, mut numbers) = (g.int_constant(&[], &[number]), [vec![number], vec![number]]);
    if g.source.chance(35)
        && let Some(val) = g.known(|y| {
            y.ints
                .as_ref()
                .is_some_and(|ints| ints.iter().all(|ints| ints.len() == count))
                && y.rank() == x.rank()
        })
    {
        numbers = val.ints.clone()?;
        other = val;
    }
    let element = |numbers: &[i64], index: usize| numbers[index.min(numbers.len() - 1)];
    let nonzero = numbers.iter().flatten().all(|&number| number > 0);
    if numbers.iter().any(Vec::is_empty) {
        return None;
    }
    let mut names = vec!["Mul", "Add", "Sub"];
    if nonzero {
        names.push("Div");
        if g.since(10) {
            names.push("Mod");
        }
    }
    if g.since(12) {
        names.extend(["Max", "Min"]);
    }
    let name = *g.source.pick(&names);
    let swap = !matches!(name, "Div" | "Mod") && g.source.chance(30);
    let compute = |left: i64, right: i64| {
        let (left, right) = if swap { (right, left) } else { (left, right) };
        match name {
            "Mul" => left.checked_mul(right),
            "Add" => left.checked_add(right),
            "Sub" => left.checked_sub(right),
            "Div" => left.checked_div(right),
            // The result has the sign of the divisor, which is positive.
            "Mod" => left.checked_rem_euclid(right),
            "Max" => Some(left.max(right)),
            _ => Some(left.min(right)),
        }
    };
    let mut results = [Vec::new(), Vec::new()];
    for which in 0..2 {
        for (position, left) in ints[which].iter().enumerate().take(count) {
            results[which].push(compute(*left, element(&numbers[which], position))?);
        }
    }
    let (left, right) = if swap {
        (other, x.clone())
    } else {
        (x.clone(), other)
    };
    let op = Op::new(name).on(&left).on(&right);
    g.make_ints(op, x.dims.clone(), results);
    g.note("pattern: arithmetic on sizes");
    Some(())
}

/// A shape, joined from sizes of `x` and numbers, that describes `sizes`.
fn shape_from_parts(g: &mut Generator<'_>, x: &Val, sizes: &[Size]) -> Option<Val> {
    let mut parts = Vec::new();
    let mut free = false;
    for (position, size) in sizes.iter().enumerate() {
        let fixed = size[0] == size[1];
        let rest: Vec<Size> = (0..sizes.len())
            .filter(|&other| other != position)
            .map(|other| sizes[other])
            .collect();
        let determined = product(&rest).iter().all(|&count| count > 0);
        if !free && determined && g.source.chance(25) {
            free = true;
            parts.push(g.int_constant(&[1], &[-1]));
        } else if fixed && size[0] != 0 && g.source.chance(75) {
            parts.push(g.int_constant(&[1], &[size[0]]));
        } else if let Some(axis) = x.dims.iter().position(|dim| dim == size) {
            let scalar = element_of(g, x, axis);
            parts.push(reshapes::unsqueeze_at(g, &scalar, &[0]));
        } else if !free && determined {
            free = true;
            parts.push(g.int_constant(&[1], &[-1]));
        } else {
            return None;
        }
    }
    if parts.is_empty() || sizes.iter().any(|size| size.contains(&0)) && !free && sizes != x.dims {
        // A computed zero copies by position and is right only at its own place.
        return None;
    }
    let zero_elsewhere = sizes
        .iter()
        .enumerate()
        .any(|(position, size)| size.contains(&0) && x.dims.get(position) != Some(size));
    if zero_elsewhere {
        return None;
    }
    let joined = pieces::concat_all(g, &parts, 0)?;
    // A written -1 means an inferred size, so `joined` may differ from `sizes`.
    Some(joined)
}

fn reshape_computed(g: &mut Generator<'_>) -> Option<()> {
    let x = shaped(g, 4);
    let (_, sizes) = reshapes::target(g, &x.dims)?;
    let shape = shape_from_parts(g, &x, &sizes)?;
    let op = Op::new("Reshape").on(&x).on(&shape);
    g.make_tame(op, x.elem, sizes, x.tame);
    Some(())
}

fn reshape_to_own(g: &mut Generator<'_>) -> Option<()> {
    let x = shaped(g, 4);
    let y = match g.known(|y| y.dims == x.dims) {
        Some(other) if g.source.chance(40) => other,
        _ => x.clone(),
    };
    let shape = shape_of(g, &y, None);
    let op = Op::new("Reshape").on(&x).on(&shape);
    g.make_tame(op, x.elem, x.dims.clone(), x.tame);
    Some(())
}

fn expand_to_own(g: &mut Generator<'_>) -> Option<()> {
    let x = shaped(g, 4);
    let shape = shape_of(g, &x, None);
    let op = Op::new("Expand").on(&x).on(&shape);
    g.make_tame(op, x.elem, x.dims.clone(), x.tame);
    if g.source.chance(40) {
        // A scalar as large as something else.
        let scalar = g.constant(x.elem, &[]);
        let op = Op::new("Expand").on(&scalar).on(&shape);
        g.make_tame(op, x.elem, x.dims.clone(), scalar.tame);
    }
    Some(())
}

/// `Expand(x, Where(Equal(shape, -1), ones, shape))`, in the form written by a tracer
/// of PyTorch.
fn expand_by_where(g: &mut Generator<'_>) -> Option<()> {
    let x = shaped(g, 3);
    let rank = x.rank() as i64;
    let shape = shape_of(g, &x, None);
    let mut wanted = shape.ints.clone()?;
    let mut written = vec![1; x.rank()];
    for axis in 0..x.rank() {
        if g.source.chance(40) {
            written[axis] = -1;
            for numbers in &mut wanted {
                numbers[axis] = 1;
            }
        }
    }
    let numbers = g.int_constant(&[rank], &written);
    let minus = g.int_constant(&[], &[-1]);
    let mask = Op::new("Equal").on(&numbers).on(&minus);
    let mask = g.make(mask, ElemType::Bool, vec![[rank, rank]]);
    let ones = if g.source.chance(50) {
        g.axes(&vec![1; x.rank()])
    } else {
        let count = g.int_constant(&[1], &[rank]);
        let fill = g.uniform(ElemType::Int64, &[1], 1.0);
        let op = Op::new("ConstantOfShape")
            .on(&count)
            .attr("value", fill.value);
        g.make_ints(
            op,
            vec![[rank, rank]],
            [vec![1; x.rank()], vec![1; x.rank()]],
        )
    };
    let op = Op::new("Where").on(&mask).on(&ones).on(&shape);
    let target = g.make_ints(op, vec![[rank, rank]], wanted);
    let op = Op::new("Expand").on(&x).on(&target);
    g.make_tame(op, x.elem, x.dims.clone(), x.tame);
    Some(())
}

fn slice_to_size(g: &mut Generator<'_>) -> Option<()> {
    let x = shaped(g, 4);
    if !g.since(10) || x.rank() == 0 {
        return None;
    }
    let axis = g.source.below(x.rank());
    let from = shaped(g, 4);
    let (other, other_axis) = if from.rank() > 0 && g.source.chance(40) {
        let other_axis = g.source.below(from.rank());
        (from, other_axis)
    } else {
        (x.clone(), axis)
    };
    let end = element_of(g, &other, other_axis);
    let end = reshapes::unsqueeze_at(g, &end, &[0]);
    let limit = other.dims[other_axis];
    let start = g.axes(&[0]);
    let axes = g.axes(&[axis as i64]);
    let mut dims = x.dims.clone();
    dims[axis] = [0, 1].map(|which| dims[axis][which].min(limit[which]));
    let op = Op::new("Slice").on(&x).on(&start).on(&end).on(&axes);
    g.make_tame(op, x.elem, dims, x.tame);
    Some(())
}

fn range_of_size(g: &mut Generator<'_>) -> Option<()> {
    if !g.since(11) {
        return None;
    }
    let limit = known_scalar(g)?;
    let ints = limit.ints.clone()?;
    if ints.iter().flatten().any(|&limit| limit > 20) {
        return None;
    }
    let (start, step) = (g.int_constant(&[], &[0]), g.int_constant(&[], &[1]));
    let op = Op::new("Range").on(&start).on(&limit).on(&step);
    let ints = ints.map(|ints| (0..ints[0].max(0)).collect::<Vec<i64>>());
    let size = [ints[0].len() as i64, ints[1].len() as i64];
    g.make_ints(op, vec![size], ints);
    Some(())
}

fn range(g: &mut Generator<'_>) -> Option<()> {
    if !g.since(11) {
        return None;
    }
    let elem = *g.source.pick(&[
        ElemType::Int64,
        ElemType::Float,
        ElemType::Int32,
        ElemType::Double,
        ElemType::Int16,
    ]);
    let start = g.source.below(3) as i64;
    let count = g.source.below(5) as i64;
    let step = *g.source.pick(&[1, 2, -1]);
    let mut op = Op::new("Range");
    for number in [start, start + count * step, step] {
        let number = g.uniform(elem, &[], number as f64);
        op = op.on(&number);
    }
    g.make_tame(op, elem, vec![[count, count]], true);
    Some(())
}

fn constant_of_shape(g: &mut Generator<'_>) -> Option<()> {
    let small = |g: &Generator<'_>, ints: &[Vec<i64>; 2]| {
        let fits = ints.iter().flatten().all(|&size| (0..=20).contains(&size));
        fits && g.is_small(&sizes_of(ints))
    };
    let shape = match g.known(|x| x.ints.is_some() && x.rank() == 1 && x.is_fixed()) {
        Some(val) if small(g, val.ints.as_ref()?) => val,
        _ => {
            let numbers = [vec![2, 3], vec![], vec![1], vec![0, 2], vec![8, 9]];
            let numbers = g.source.pick(&numbers).clone();
            g.axes(&numbers)
        }
    };
    let dims = sizes_of(shape.ints.as_ref()?);
    let op = Op::new("ConstantOfShape").on(&shape);
    if g.source.chance(25) {
        g.make_tame(op, ElemType::Float, dims, true);
        return Some(());
    }
    let mut elems = [&g.integers()[..], &[ElemType::Bool]].concat();
    elems.extend([ElemType::Float, ElemType::Double, ElemType::Float16]);
    let elem = *g.source.pick(&elems);
    let value = g.constant(elem, &[1]);
    let tame = value.tame;
    g.make_tame(op.attr("value", value.value), elem, dims, tame);
    Some(())
}

/// The sizes that a known shape means.
fn sizes_of(ints: &[Vec<i64>; 2]) -> Vec<Size> {
    ints[0]
        .iter()
        .zip(&ints[1])
        .map(|(&left, &right)| [left, right])
        .collect()
}

fn size(g: &mut Generator<'_>) -> Option<()> {
    let x = shaped(g, 4);
    let ints = x.count().map(|count| vec![count]);
    g.make_ints(Op::new("Size").on(&x), vec![], ints);
    Some(())
}

/// `Cast(Floor(Mul(Cast(size), scale)))`, as written for resizing.
fn through_floats(g: &mut Generator<'_>) -> Option<()> {
    let x = known_scalar(g)?;
    let ints = x.ints.clone()?;
    let float = cast_to(g, &x, ElemType::Float)?;
    let scale = g.uniform(ElemType::Float, &[], 2.0);
    let scaled = Op::new("Mul").on(&float).on(&scale);
    let scaled = g.make_tame(scaled, ElemType::Float, vec![], true);
    let floor = Op::new("Floor").on(&scaled);
    let floor = g.make_tame(floor, ElemType::Float, vec![], true);
    let op = Op::new("Cast")
        .on(&floor)
        .attr("to", i64::from(ElemType::Int64.code()));
    let doubled = ints.map(|ints| vec![ints[0] * 2]);
    if doubled.iter().flatten().any(|number| number.abs() > 1000) {
        return None;
    }
    g.make_ints(op, vec![], doubled);
    Some(())
}

fn tile_computed(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand_where(&[ElemType::Float, ElemType::Int64], |x| x.rank() == 1, 1);
    let by = known_scalar(g)?;
    let by = reshapes::unsqueeze_at(g, &by, &[0]);
    let ints = by.ints.clone()?;
    if x.rank() != 1 || ints.iter().flatten().any(|count| !(0..10).contains(count)) {
        return None;
    }
    let dims = vec![[0, 1].map(|which| x.dims[0][which] * ints[which][0])];
    if !g.is_small(&dims) {
        return None;
    }
    let op = Op::new("Tile").on(&x).on(&by);
    g.make_tame(op, x.elem, dims, x.tame);
    Some(())
}

/// A truth that depends on a size; rules may decide a known size.
pub(super) fn shape_truth(g: &mut Generator<'_>) -> Option<(Val, [bool; 2])> {
    let x = known_scalar(g)?;
    let ints = x.ints.clone()?;
    let number = *g.source.pick(&[1, 2, 0, 3]);
    let name = *g.source.pick(&["Equal", "Less", "Greater"]);
    let other = g.int_constant(&[], &[number]);
    let truth = ints.map(|ints| match name {
        "Equal" => ints[0] == number,
        "Less" => ints[0] < number,
        _ => ints[0] > number,
    });
    let op = Op::new(name).on(&x).on(&other);
    let made = g.make_tame(op, ElemType::Bool, vec![], true);
    Some((made, truth))
}

fn shape_comparison(g: &mut Generator<'_>) -> Option<()> {
    let (truth, _) = shape_truth(g)?;
    if g.source.chance(40) {
        let elems = g.floats();
        let left = g.operand(&elems);
        debug_assert!(is_float(left.elem));
        let op = Op::new("Where").on(&truth).on(&left).on(&left);
        g.make_tame(op, left.elem, left.dims.clone(), left.tame);
    }
    Some(())
}
