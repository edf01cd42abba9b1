//! Draws the patterns of rewriting rules, and near misses.

use isoform_onnx::ElemType;

use super::calls::Op;
use super::elementwise::{arithmetic_elems, cast_to, clip_elems, clip_to, extreme_elems};
use super::generator::{Draw, Generator};
use super::pieces::{self, slice_by, slice_part};
use super::reshapes::{self, reshape_to, transpose_by, transpose_by_any};
use super::values::{Val, broadcast, is_float, is_integer};

/// The patterns with rewriting rules, by name.
pub(super) const DRAWS: &[(&str, Draw)] = &[
    ("pattern: neutral operand", neutral),
    ("pattern: transpose of transpose", transposes),
    ("pattern: transpose of axes of size 1", transpose_ones),
    ("pattern: reshape of reshape", reshapes),
    ("pattern: slice of slice", slices),
    ("pattern: slice over everything", whole_slice),
    ("pattern: limits of limits", limits),
    ("pattern: cast and back", casts),
    ("pattern: cast to own type", cast_to_own),
    ("pattern: identities", identities),
    ("pattern: where with constant mask", masked),
    ("pattern: twice the same", twice),
    ("pattern: concat of one", concat_one),
    ("pattern: equal constants", equal_constants),
    ("pattern: equal calls", equal_calls),
    ("pattern: resize by 1", resize),
    ("pattern: transpose, work, transpose", transpose_around),
    ("pattern: computed from constants", folded),
    ("pattern: operand cancels", cancels),
    ("pattern: integer constants twice", integer_constants),
    ("pattern: expand before arithmetic", expand_before),
    ("pattern: large uniform constant", large_uniform),
    ("pattern: gather of concat", gather_of_concat),
];

/// `x + 0`, `x * 1` and the like: of the type and shape of x, or a larger one.
fn neutral(g: &mut Generator<'_>) -> Option<()> {
    let elems = arithmetic_elems(g);
    let x = g.operand(&elems);
    let rows: &[(&str, f64)] = &[
        ("Add", 0.0),
        ("Mul", 1.0),
        ("Sub", 0.0),
        ("Div", 1.0),
        ("Add", -0.0),
        ("Sub", -0.0),
        ("Mul", 0.0),
        ("Mul", -1.0),
        ("Pow", 1.0),
    ];
    let &(name, number) = g.source.pick(rows);
    if name == "Pow" && !(x.elem == ElemType::Float || x.elem == ElemType::Double) {
        return None;
    }
    let shape = match g.source.below(5) {
        0 => vec![],
        1 => vec![1; x.rank()],
        2 if x.is_fixed() => x.shape(0),
        // One that makes the result larger.
        3 => vec![2],
        4 => vec![1; x.rank() + 1],
        _ => vec![1],
    };
    let other = g.uniform(x.elem, &shape, number);
    let dims = broadcast(&x.dims, &other.dims)?;
    if !g.is_small(&dims) {
        return None;
    }
    let commutes = matches!(name, "Add" | "Mul");
    let op = if commutes && g.source.chance(40) {
        Op::new(name).on(&other).on(&x)
    } else {
        Op::new(name).on(&x).on(&other)
    };
    g.make_tame(op, x.elem, dims, x.tame);
    Some(())
}

fn transposes(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.wide_elems();
    let x = g.operand_where(&elems, |x| x.rank() > 0, 4);
    let mut order: Vec<usize> = (0..x.rank()).collect();
    g.source.shuffle(&mut order);
    let once = transpose_by(g, &x, &order);
    if g.source.chance(50) {
        let mut back = vec![0; order.len()];
        for (at, &axis) in order.iter().enumerate() {
            back[axis] = at;
        }
        transpose_by(g, &once, &back);
    } else {
        let twice = transpose_by_any(g, &once);
        transpose_by_any(g, &twice);
    }
    Some(())
}

/// A transposition that keeps the order of the elements.
fn transpose_ones(g: &mut Generator<'_>) -> Option<()> {
    let elem = g.any_elem();
    let (size, other) = (g.size(), g.size());
    let x = if g.source.chance(50) {
        g.fresh(elem, vec![size, [1, 1], other])
    } else {
        let x = g.operand_where(&[elem], |_| true, 2);
        reshapes::unsqueeze_at(g, &x, &[1.min(x.rank())])
    };
    let one = x.dims.iter().position(|size| *size == [1, 1])?;
    let mut order: Vec<usize> = (0..x.rank()).filter(|&at| at != one).collect();
    let at = g.source.below(x.rank());
    order.insert(at, one);
    let moved = transpose_by(g, &x, &order);
    if g.source.chance(40) {
        let (numbers, sizes) = reshapes::target(g, &moved.dims)?;
        reshape_to(g, &moved, &numbers, sizes);
    }
    Some(())
}

fn reshapes(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.wide_elems();
    let x = g.operand(&elems);
    let (numbers, sizes) = reshapes::target(g, &x.dims)?;
    let once = reshape_to(g, &x, &numbers, sizes);
    let (numbers, sizes) = if g.source.chance(40) {
        (reshapes::written(g, &once.dims, &x.dims)?, x.dims.clone())
    } else {
        reshapes::target(g, &once.dims)?
    };
    reshape_to(g, &once, &numbers, sizes);
    Some(())
}

fn slices(g: &mut Generator<'_>) -> Option<()> {
    let elems = [
        ElemType::Float,
        ElemType::Int64,
        ElemType::Bool,
        ElemType::Int8,
    ];
    let x = g.operand_where(&elems, |x| x.rank() > 0, 3);
    let axis = g.source.below(x.rank().max(1));
    if x.rank() == 0 {
        return None;
    }
    let part = slice_part(g, axis);
    let once = slice_by(g, &x, &[part]);
    let axis = if g.source.chance(70) {
        axis
    } else {
        g.source.below(x.rank())
    };
    let part = slice_part(g, axis);
    slice_by(g, &once, &[part]);
    Some(())
}

fn whole_slice(g: &mut Generator<'_>) -> Option<()> {
    let elems = [ElemType::Float, ElemType::Int64, ElemType::Double];
    let x = g.operand_where(&elems, |x| x.rank() > 0, 4);
    if x.rank() == 0 {
        return None;
    }
    let axis = g.source.below(x.rank());
    let end = match g.source.below(4) {
        0 => i64::MAX,
        1 => x.dims[axis][0].max(x.dims[axis][1]),
        2 => i64::from(i32::MAX),
        // Everything under one assignment alone.
        _ => x.dims[axis][0],
    };
    let start = *g.source.pick(&[0, i64::MIN + 1, 0, -100]);
    slice_by(g, &x, &[(axis, start, end, 1)]);
    Some(())
}

/// Chains of Clip, Relu, Min and Max.
fn limits(g: &mut Generator<'_>) -> Option<()> {
    let elems: Vec<ElemType> = clip_elems(g)
        .into_iter()
        .filter(|elem| extreme_elems(g).contains(elem))
        .collect();
    let mut x = g.operand(&elems);
    for _ in 0..2 + g.source.below(2) {
        let choices = [None, Some(0.0), Some(1.0), Some(3.0), Some(2.0)];
        x = match g.source.below(4) {
            0 | 1 => {
                let (least, most) = (*g.source.pick(&choices), *g.source.pick(&choices));
                clip_to(g, &x, least, most)
            }
            2 if is_float(x.elem) => {
                let op = Op::new("Relu").on(&x);
                g.make_tame(op, x.elem, x.dims.clone(), x.tame)
            }
            _ => {
                let number = *g.source.pick(&[0.0, 1.0, 3.0]);
                let limit = g.uniform(x.elem, &[], number);
                let name = *g.source.pick(&["Min", "Max"]);
                let op = if g.source.chance(50) {
                    Op::new(name).on(&x).on(&limit)
                } else {
                    Op::new(name).on(&limit).on(&x)
                };
                g.make_tame(op, x.elem, x.dims.clone(), x.tame)
            }
        };
    }
    Some(())
}

fn casts(g: &mut Generator<'_>) -> Option<()> {
    let mut elems = g.base_elems();
    elems.retain(|elem| *elem != ElemType::String);
    let x = g.operand(&elems);
    let other = *g.source.pick(&elems);
    let there = cast_to(g, &x, other)?;
    let last = if g.source.chance(60) {
        x.elem
    } else {
        *g.source.pick(&elems)
    };
    cast_to(g, &there, last)?;
    Some(())
}

fn cast_to_own(g: &mut Generator<'_>) -> Option<()> {
    let mut elems = g.base_elems();
    elems.retain(|elem| *elem != ElemType::String);
    let x = g.operand(&elems);
    cast_to(g, &x, x.elem)?;
    Some(())
}

fn identities(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.base_elems();
    let mut x = g.operand(&elems);
    for _ in 0..1 + g.source.below(3) {
        let op = Op::new("Identity").on(&x);
        x = match x.ints.clone() {
            Some(ints) => g.make_ints(op, x.dims.clone(), ints),
            None => g.make_tame(op, x.elem, x.dims.clone(), x.tame),
        };
    }
    Some(())
}

fn masked(g: &mut Generator<'_>) -> Option<()> {
    let mut elems = g.base_elems();
    elems.retain(|elem| *elem != ElemType::Bfloat16 || g.since(16));
    let left = g.operand(&elems);
    let right = g.matching(&left);
    let shape = match g.source.below(4) {
        0 => vec![],
        1 if left.is_fixed() => left.shape(0),
        2 => vec![1; left.rank()],
        _ => vec![2],
    };
    let mask = match g.source.below(3) {
        0 => g.uniform(ElemType::Bool, &shape, 1.0),
        1 => g.uniform(ElemType::Bool, &shape, 0.0),
        _ => g.constant(ElemType::Bool, &shape),
    };
    let dims = broadcast(&broadcast(&left.dims, &right.dims)?, &mask.dims)?;
    if !g.is_small(&dims) {
        return None;
    }
    let op = Op::new("Where").on(&mask).on(&left).on(&right);
    let tame = left.tame && right.tame;
    g.make_tame(op, left.elem, dims, tame);
    Some(())
}

/// An operator applied twice: an inverse of itself, or idempotent.
fn twice(g: &mut Generator<'_>) -> Option<()> {
    let names = [
        "Neg",
        "Not",
        "Abs",
        "Relu",
        "Floor",
        "Ceil",
        "Sign",
        "Reciprocal",
    ];
    let name = *g.source.pick(&names);
    let elems = match name {
        "Not" => vec![ElemType::Bool],
        "Neg" | "Abs" | "Sign" => vec![
            ElemType::Float,
            ElemType::Int64,
            ElemType::Int8,
            ElemType::Double,
        ],
        _ => vec![ElemType::Float, ElemType::Double, ElemType::Float16],
    };
    let x = g.operand(&elems);
    let keeps = name != "Reciprocal" && x.tame;
    let once = g.make_tame(Op::new(name).on(&x), x.elem, x.dims.clone(), keeps);
    g.make_tame(Op::new(name).on(&once), x.elem, x.dims, keeps);
    Some(())
}

fn concat_one(g: &mut Generator<'_>) -> Option<()> {
    let elems = g.base_elems();
    let x = g.operand_where(&elems, |x| x.rank() > 0, 4);
    if x.rank() == 0 {
        return None;
    }
    let axis = g.source.below(x.rank());
    pieces::concat_all(g, &[x], axis)?;
    Some(())
}

/// Constants with the same bytes, and a few near misses.
fn equal_constants(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand(&[ElemType::Float, ElemType::Double]);
    let number = *g.source.pick(&[1.5, 0.0, f64::NAN]);
    let second = match number {
        0.0 if g.source.chance(50) => -0.0,
        number => number,
    };
    let shapes: [&[i64]; 3] = [&[1], &[], &[1, 1]];
    let (left, right) = (*g.source.pick(&shapes), *g.source.pick(&shapes));
    let left = g.uniform(x.elem, left, number);
    let right = g.uniform(x.elem, right, second);
    let names = ["Mul", "Div", "Add"];
    let (first, last) = (*g.source.pick(&names), *g.source.pick(&names));
    let dims = broadcast(&x.dims, &left.dims)?;
    let once = g.make(Op::new(first).on(&x).on(&left), x.elem, dims);
    let dims = broadcast(&once.dims, &right.dims)?;
    g.make(Op::new(last).on(&once).on(&right), x.elem, dims);
    Some(())
}

fn equal_calls(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand(&[ElemType::Float, ElemType::Int64, ElemType::Double]);
    let y = g.matching(&x);
    let dims = broadcast(&x.dims, &y.dims)?;
    let name = *g.source.pick(&["Add", "Mul", "Sub"]);
    let left = g.make(Op::new(name).on(&x).on(&y), x.elem, dims.clone());
    let right = if name != "Sub" && g.source.chance(40) {
        Op::new(name).on(&y).on(&x)
    } else {
        Op::new(name).on(&x).on(&y)
    };
    let right = g.make(right, x.elem, dims.clone());
    g.make(Op::new("Sub").on(&left).on(&right), x.elem, dims);
    Some(())
}

fn resize(g: &mut Generator<'_>) -> Option<()> {
    let fits = |x: &Val| x.elem == ElemType::Float && x.rank() == 4 && !x.may_be_empty();
    let x = match g.known(fits) {
        Some(val) => val,
        None => {
            let size = g.size();
            let size = if size.contains(&0) { [1, 1] } else { size };
            g.fresh(ElemType::Float, vec![[1, 1], [2, 2], [2, 2], size])
        }
    };
    // By a factor of 1, and sometimes by 2.
    let double = g.source.chance(30);
    let factors = [1.0, 1.0, 1.0, if double { 2.0 } else { 1.0 }];
    let elements: Vec<Vec<u8>> = factors
        .iter()
        .map(|factor: &f32| factor.to_le_bytes().to_vec())
        .collect();
    let scales = super::build::tensor(ElemType::Float, &[4], &elements);
    let scales = Val::new(scales, ElemType::Float, vec![[4, 4]]);
    let mut dims = x.dims.clone();
    if double {
        dims[3] = dims[3].map(|size| size * 2);
    }
    if !g.is_small(&dims) {
        return None;
    }
    let op = match (g.since(11), g.since(10)) {
        (true, _) => {
            let op = Op::new("Resize").on(&x).skip().on(&scales);
            op.attr("coordinate_transformation_mode", "asymmetric")
                .attr("nearest_mode", "floor")
        }
        (_, true) => Op::new("Resize").on(&x).on(&scales),
        _ => Op::new("Upsample").on(&x).on(&scales),
    };
    g.make_tame(op.attr("mode", "nearest"), x.elem, dims, x.tame);
    Some(())
}

fn transpose_around(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand_where(&[ElemType::Float, ElemType::Double], |x| x.rank() > 1, 4);
    if x.rank() < 2 {
        return None;
    }
    let mut order: Vec<usize> = (0..x.rank()).collect();
    g.source.shuffle(&mut order);
    let mut back = vec![0; order.len()];
    for (at, &axis) in order.iter().enumerate() {
        back[axis] = at;
    }
    let there = transpose_by(g, &x, &order);
    let name = *g.source.pick(&["Relu", "Neg", "Abs"]);
    let op = Op::new(name).on(&there);
    let worked = g.make_tame(op, x.elem, there.dims.clone(), x.tame);
    transpose_by(g, &worked, &back);
    Some(())
}

/// A little computation on constants alone.
fn folded(g: &mut Generator<'_>) -> Option<()> {
    let elems = arithmetic_elems(g);
    let elem = *g.source.pick(&elems);
    let shape = [vec![2, 3], vec![3], vec![], vec![1]];
    let (left, right) = (g.source.pick(&shape).clone(), g.source.pick(&shape).clone());
    let (left, right) = (g.constant(elem, &left), g.constant(elem, &right));
    let dims = broadcast(&left.dims, &right.dims)?;
    let name = *g.source.pick(&["Add", "Mul", "Sub"]);
    let made = g.make(Op::new(name).on(&left).on(&right), elem, dims);
    let target = *g
        .source
        .pick(&[ElemType::Double, ElemType::Float, ElemType::Int32]);
    let made = if is_float(elem) && !is_float(target) {
        made
    } else {
        cast_to(g, &made, target)?
    };
    transpose_by_any(g, &made);
    Some(())
}

/// `x - x`, `x / x` and the like, which no rule may decide for floats.
fn cancels(g: &mut Generator<'_>) -> Option<()> {
    let names = ["Sub", "Div", "Equal", "Less", "Max", "And"];
    let name = *g.source.pick(&names);
    let elems = match name {
        "Div" => vec![ElemType::Float, ElemType::Double],
        "And" => vec![ElemType::Bool],
        "Max" | "Equal" if !g.since(12) => vec![ElemType::Float],
        _ => vec![ElemType::Float, ElemType::Int64, ElemType::Int32],
    };
    if name == "Equal" && !g.since(11) {
        return None;
    }
    let x = g.operand(&elems);
    let elem = match name {
        "Equal" | "Less" => ElemType::Bool,
        _ => x.elem,
    };
    g.make(Op::new(name).on(&x).on(&x), elem, x.dims.clone());
    Some(())
}

fn integer_constants(g: &mut Generator<'_>) -> Option<()> {
    let mut elems = arithmetic_elems(g);
    elems.retain(|elem| is_integer(*elem));
    let mut x = g.operand(&elems);
    for _ in 0..2 {
        let number = *g.source.pick(&[2.0, 3.0, 100.0]);
        let other = g.uniform(x.elem, &[], number);
        let name = *g.source.pick(&["Add", "Mul", "Sub", "Div"]);
        let op = Op::new(name).on(&x).on(&other);
        x = g.make(op, x.elem, x.dims.clone());
    }
    Some(())
}

/// An Expand with a user that would broadcast by itself.
fn expand_before(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand_where(&[ElemType::Float, ElemType::Int64], |x| x.rank() > 0, 3);
    if x.rank() == 0 {
        return None;
    }
    let scalar = g.constant(x.elem, &[]);
    let shape = Op::new("Shape").on(&x);
    let ints = [0, 1].map(|which| x.shape(which));
    let rank = x.rank() as i64;
    let shape = g.make_ints(shape, vec![[rank, rank]], ints);
    let op = Op::new("Expand").on(&scalar).on(&shape);
    let large = g.make_tame(op, x.elem, x.dims.clone(), scalar.tame);
    g.make(Op::new("Mul").on(&x).on(&large), x.elem, x.dims.clone());
    Some(())
}

/// A constant larger than the call for making it.
fn large_uniform(g: &mut Generator<'_>) -> Option<()> {
    let elem = *g.source.pick(&[ElemType::Float, ElemType::Int64]);
    let large = g.uniform(elem, &[24, 25], 1.0);
    match g.source.below(3) {
        0 => {
            g.make(Op::new("Identity").on(&large), elem, large.dims.clone());
        }
        1 => {
            let element = g.constant(elem, &[1]);
            let shape = g.axes(&[24, 25]);
            let op = Op::new("Expand").on(&element).on(&shape);
            g.make(op, elem, large.dims.clone());
        }
        _ => {
            let shape = g.axes(&[24, 25]);
            let value = g.constant(elem, &[1]);
            let op = Op::new("ConstantOfShape")
                .on(&shape)
                .attr("value", value.value);
            g.make(op, elem, large.dims.clone());
        }
    }
    Some(())
}

fn gather_of_concat(g: &mut Generator<'_>) -> Option<()> {
    let first = g.operand_where(&[ElemType::Float, ElemType::Int64], |x| x.rank() == 0, 0);
    let second = g.matching(&first);
    if first.rank() != 0 || second.rank() != 0 {
        return None;
    }
    let parts = [&first, &second].map(|part| reshapes::unsqueeze_at(g, part, &[0]));
    let joined = pieces::concat_all(g, &parts, 0)?;
    let at = g.source.below(2) as i64;
    let index = g.int_constant(&[], &[at]);
    let op = Op::new("Gather").on(&joined).on(&index);
    match joined.ints.clone() {
        Some(ints) => {
            g.make_ints(op, vec![], ints.map(|ints| vec![ints[at as usize]]));
        }
        None => {
            g.make_tame(op, first.elem, vec![], first.tame && second.tame);
        }
    }
    Some(())
}
