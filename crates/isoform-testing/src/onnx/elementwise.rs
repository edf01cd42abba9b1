//! Draws calls of element-wise operators.

use isoform_onnx::ElemType;

use super::calls::Op;
use super::generator::{Draw, Generator};
use super::values::{SIGNED, UNSIGNED, Val, broadcast, is_float, is_integer};

/// The element-wise operators, by name.
pub(super) const DRAWS: &[(&str, Draw)] = &[
    ("arithmetic", arithmetic),
    ("unary", unary),
    ("comparison", comparison),
    ("logic", logic),
    ("where", choose),
    ("cast", cast),
    ("float unary", float_unary),
    ("least and most", extremes),
    ("integer division", division),
    ("power", power),
    ("bits", bits),
    ("variadic", variadic),
    ("clip", clip),
];

/// The element types of addition and the like.
pub(super) fn arithmetic_elems(g: &Generator<'_>) -> Vec<ElemType> {
    use ElemType::{Double, Float, Float16, Int32, Int64, Uint32, Uint64};
    let mut elems = vec![Float, Int64, Double, Float16, Int32, Uint32, Uint64];
    if g.since(13) {
        elems.push(ElemType::Bfloat16);
    }
    if g.since(14) {
        elems.extend([
            ElemType::Int8,
            ElemType::Uint8,
            ElemType::Int16,
            ElemType::Uint16,
        ]);
    }
    elems
}

/// A call on two operands that broadcast.
fn binary(g: &mut Generator<'_>, op: Op, left: &Val, right: &Val, elem: ElemType) -> Option<Val> {
    let dims = broadcast(&left.dims, &right.dims)?;
    if !g.is_small(&dims) {
        return None;
    }
    // The order of operands matters to rules of commutative operators.
    Some(g.make(op.on(left).on(right), elem, dims))
}

fn arithmetic(g: &mut Generator<'_>) -> Option<()> {
    let elems = arithmetic_elems(g);
    let left = g.operand(&elems);
    let right = g.matching(&left);
    let names: &[&str] = if is_float(left.elem) {
        &["Add", "Mul", "Sub", "Div"]
    } else {
        &["Add", "Mul", "Sub"]
    };
    let name = *g.source.pick(names);
    let (left, right) = if g.source.chance(40) {
        (right, left)
    } else {
        (left, right)
    };
    let elem = left.elem;
    let result = binary(g, Op::new(name), &left, &right, elem)?;
    // The same subexpression again: by the same call, and by an equal one.
    if g.source.chance(12) {
        let again = if g.source.chance(50) && name != "Sub" && name != "Div" {
            binary(g, Op::new(name), &right, &left, elem)?
        } else {
            binary(g, Op::new(name), &left, &right, elem)?
        };
        g.note("pattern: equal subexpressions");
        let elem = result.elem;
        binary(g, Op::new("Add"), &result, &again, elem)?;
    }
    Some(())
}

fn unary(g: &mut Generator<'_>) -> Option<()> {
    let signed = [&SIGNED[..], &g.floats()[..]].concat();
    let mut all = [&signed[..], &UNSIGNED[..]].concat();
    // Before 13, neither knew the small integers of either sign but int8 and int16.
    let (name, elems) = match g.source.below(5) {
        0 => ("Neg", signed),
        1 => ("Abs", all),
        2 => ("Sign", all),
        3 if g.since(14) => ("Relu", signed),
        3 => ("Relu", g.floats()),
        _ => {
            all.extend([ElemType::Bool, ElemType::String]);
            ("Identity", all)
        }
    };
    let x = g.operand(&elems);
    let tame = x.tame;
    let mut op = Op::new(name).on(&x);
    if let ("Identity", Some(ints)) = (name, x.ints.clone()) {
        op = Op::new(name).on(&x);
        g.make_ints(op, x.dims, ints);
        return Some(());
    }
    g.make_tame(op, x.elem, x.dims, tame);
    Some(())
}

fn float_unary(g: &mut Generator<'_>) -> Option<()> {
    // The name, the first version with bfloat16, and whether small numbers stay small.
    let rows: &[(&str, i64, bool)] = &[
        ("Sqrt", 13, false),
        ("Exp", 13, false),
        ("Floor", 13, true),
        ("Ceil", 13, true),
        ("Reciprocal", 13, false),
        ("Sigmoid", 13, true),
        ("Tanh", 13, true),
        ("Log", 13, false),
        ("Erf", 13, true),
        ("Sin", 22, true),
        ("Cos", 22, true),
        ("Tan", 22, false),
        ("Asin", 22, false),
        ("Acos", 22, false),
        ("Atan", 22, true),
        ("Sinh", 22, false),
        ("Cosh", 22, false),
        ("Asinh", 22, true),
        ("Acosh", 22, false),
        ("Atanh", 22, false),
        ("Softplus", 22, true),
        ("Softsign", 22, true),
        ("Round", 22, true),
        ("Elu", 22, true),
        ("Selu", 22, true),
        ("LeakyRelu", 16, true),
        ("HardSigmoid", 22, true),
        ("IsNaN", 13, false),
        ("IsInf", 20, false),
    ];
    let &(name, bfloat16, keeps) = g.source.pick(rows);
    let mut elems = vec![ElemType::Float, ElemType::Double, ElemType::Float16];
    if g.since(bfloat16) && g.since(13) {
        elems.push(ElemType::Bfloat16);
    }
    if name == "Round" && !g.since(11) || name == "IsInf" && !g.since(10) {
        return None;
    }
    if name == "IsInf" && !g.since(20) {
        elems.truncate(2);
    }
    let x = g.operand(&elems);
    let mut op = Op::new(name).on(&x);
    match name {
        "LeakyRelu" | "Elu" if g.source.chance(60) => op = op.attr("alpha", 0.5),
        "HardSigmoid" if g.source.chance(60) => op = op.attr("beta", 0.25),
        "IsInf" if g.source.chance(60) => op = op.attr("detect_negative", 0),
        _ => {}
    }
    if name.starts_with("Is") {
        g.make_tame(op, ElemType::Bool, x.dims, true);
    } else {
        g.make_tame(op, x.elem, x.dims, keeps && x.tame);
    }
    Some(())
}

fn comparison(g: &mut Generator<'_>) -> Option<()> {
    let name = *g
        .source
        .pick(&["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]);
    let mut elems = [&g.integers()[..], &g.floats()[..]].concat();
    match name {
        "Equal" if !g.since(11) => elems = vec![ElemType::Int64, ElemType::Int32, ElemType::Bool],
        "Equal" => {
            elems.push(ElemType::Bool);
            if g.since(19) {
                elems.push(ElemType::String);
            }
        }
        "LessOrEqual" | "GreaterOrEqual" if !g.since(12) => return None,
        "LessOrEqual" | "GreaterOrEqual" if !g.since(16) => {
            elems.retain(|elem| *elem != ElemType::Bfloat16);
        }
        _ => {}
    }
    let left = g.operand(&elems);
    let right = g.matching(&left);
    binary(g, Op::new(name), &left, &right, ElemType::Bool)?;
    Some(())
}

fn logic(g: &mut Generator<'_>) -> Option<()> {
    let left = g.operand(&[ElemType::Bool]);
    let name = *g.source.pick(&["And", "Or", "Xor", "Not"]);
    if name == "Not" {
        g.make(Op::new("Not").on(&left), ElemType::Bool, left.dims.clone());
        return Some(());
    }
    let right = g.matching(&left);
    binary(g, Op::new(name), &left, &right, ElemType::Bool)?;
    Some(())
}

fn choose(g: &mut Generator<'_>) -> Option<()> {
    let mut elems = g.base_elems();
    if !g.since(16) {
        elems.retain(|elem| *elem != ElemType::Bfloat16);
    }
    let left = g.operand(&elems);
    let right = g.matching(&left);
    let mask = Val {
        elem: ElemType::Bool,
        ..left.clone()
    };
    let mask = g.matching(&mask);
    let dims = broadcast(&broadcast(&left.dims, &right.dims)?, &mask.dims)?;
    if !g.is_small(&dims) {
        return None;
    }
    let tame = left.tame && right.tame;
    let op = Op::new("Where").on(&mask).on(&left).on(&right);
    g.make_tame(op, left.elem, dims, tame);
    Some(())
}

/// Casts an operand, if the result is defined for all its values.
pub(super) fn cast_to(g: &mut Generator<'_>, x: &Val, elem: ElemType) -> Option<Val> {
    use ElemType::{Int4, String, Uint4};
    if x.elem == String || elem == String {
        return None;
    }
    let mut x = x.clone();
    let tiny = |elem| matches!(elem, Int4 | Uint4);
    let is_eight = |elem| super::values::FLOAT8.contains(&elem);
    if is_float(x.elem) && (is_integer(elem) || tiny(elem)) {
        if !x.tame || tiny(elem) {
            return None;
        }
        if UNSIGNED.contains(&elem) {
            let op = Op::new("Abs").on(&x);
            x = g.make_tame(op, x.elem, x.dims, true);
        }
    }
    if (is_eight(x.elem) && (is_integer(elem) || tiny(elem)))
        || (tiny(elem) && !x.constant && !tiny(x.elem))
        || (is_eight(elem) && !is_float(x.elem))
    {
        return None;
    }
    let mut op = Op::new("Cast").on(&x).attr("to", i64::from(elem.code()));
    if is_eight(elem) && g.source.chance(50) {
        op = op.attr("saturate", 0);
    }
    let tame = x.tame && !is_eight(elem);
    if let (ElemType::Int64, Some(ints)) = (elem, x.ints.clone()) {
        return Some(g.make_ints(op, x.dims, ints));
    }
    Some(g.make_tame(op, elem, x.dims, tame))
}

fn cast(g: &mut Generator<'_>) -> Option<()> {
    let mut elems = g.base_elems();
    if g.since(19) {
        elems.extend(super::values::FLOAT8);
    }
    if g.since(21) {
        elems.extend([ElemType::Int4, ElemType::Uint4]);
    }
    let mut x = g.operand(&elems);
    // Rules look for chains of casts.
    for _ in 0..1 + g.source.below(3) {
        let elem = *g.source.pick(&elems);
        match cast_to(g, &x, elem) {
            Some(made) => x = made,
            None => break,
        }
    }
    Some(())
}

fn extremes(g: &mut Generator<'_>) -> Option<()> {
    let name = *g.source.pick(&["Max", "Min"]);
    let elems = extreme_elems(g);
    let left = g.operand(&elems);
    let mut op = Op::new(name).on(&left);
    let (mut dims, mut tame) = (left.dims.clone(), left.tame);
    for _ in 0..g.source.below(3) {
        let more = g.matching(&left);
        if let Some(sizes) = broadcast(&dims, &more.dims)
            && g.is_small(&sizes)
        {
            (dims, tame) = (sizes, tame && more.tame);
            op = op.on(&more);
        }
    }
    g.make_tame(op, left.elem, dims, tame);
    Some(())
}

/// The element types of Max and Min.
pub(super) fn extreme_elems(g: &Generator<'_>) -> Vec<ElemType> {
    if g.since(12) {
        [&g.floats()[..], &g.integers()[..]].concat()
    } else {
        g.floats()
    }
}

/// A constant without zeros that broadcasts against an operand.
pub(super) fn divisor(g: &mut Generator<'_>, x: &Val) -> Val {
    let number = *g.source.pick(&[2.0, 1.0, 3.0, 7.0]);
    let negative = SIGNED.contains(&x.elem) && g.source.chance(30);
    let shape: &[i64] = if g.source.chance(50) { &[] } else { &[1] };
    g.uniform(x.elem, shape, if negative { -number } else { number })
}

fn division(g: &mut Generator<'_>) -> Option<()> {
    let mut elems = arithmetic_elems(g);
    elems.retain(|elem| is_integer(*elem));
    let name = if g.since(10) && g.source.chance(40) {
        "Mod"
    } else {
        "Div"
    };
    let x = g.operand(&elems);
    let by = divisor(g, &x);
    let mut op = Op::new(name);
    if name == "Mod" && g.source.chance(40) {
        op = op.attr("fmod", 1);
    }
    let elem = x.elem;
    binary(g, op, &x, &by, elem)?;
    Some(())
}

fn power(g: &mut Generator<'_>) -> Option<()> {
    let mut elems = vec![ElemType::Float, ElemType::Double];
    if g.since(12) {
        elems.extend([ElemType::Int64, ElemType::Int32]);
    }
    let x = g.operand(&elems);
    let exponent = *g.source.pick(&[2.0, 1.0, 0.0, 3.0]);
    let exponent = if is_float(x.elem) && g.source.chance(30) {
        0.5
    } else {
        exponent
    };
    let by = g.uniform(x.elem, &[], exponent);
    let elem = x.elem;
    binary(g, Op::new("Pow"), &x, &by, elem)?;
    Some(())
}

fn bits(g: &mut Generator<'_>) -> Option<()> {
    if g.since(11) && g.source.chance(50) {
        let x = g.operand(&UNSIGNED);
        let by = g.uniform(x.elem, &[], 2.0);
        let direction = *g.source.pick(&["LEFT", "RIGHT"]);
        let elem = x.elem;
        binary(
            g,
            Op::new("BitShift").attr("direction", direction),
            &x,
            &by,
            elem,
        )?;
        return Some(());
    }
    if !g.since(18) {
        return None;
    }
    let elems = g.integers();
    let x = g.operand(&elems);
    let name = *g
        .source
        .pick(&["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"]);
    if name == "BitwiseNot" {
        g.make(Op::new(name).on(&x), x.elem, x.dims.clone());
        return Some(());
    }
    let other = g.matching(&x);
    let elem = x.elem;
    binary(g, Op::new(name), &x, &other, elem)?;
    Some(())
}

fn variadic(g: &mut Generator<'_>) -> Option<()> {
    let name = *g.source.pick(&["Sum", "Mean"]);
    let elems = g.floats();
    let first = g.operand(&elems);
    let mut op = Op::new(name).on(&first);
    let mut dims = first.dims.clone();
    for _ in 0..g.source.below(3) {
        let more = g.matching(&first);
        if let Some(sizes) = broadcast(&dims, &more.dims)
            && g.is_small(&sizes)
        {
            dims = sizes;
            op = op.on(&more);
        }
    }
    g.make(op, first.elem, dims);
    Some(())
}

/// A call of Clip with limits, ordered or not.
pub(super) fn clip_to(
    g: &mut Generator<'_>,
    x: &Val,
    least: Option<f64>,
    most: Option<f64>,
) -> Val {
    let mut op = Op::new("Clip").on(x);
    if g.since(11) {
        op = match least {
            Some(least) => {
                let least = g.uniform(x.elem, &[], least);
                op.on(&least)
            }
            None => op.skip(),
        };
        if let Some(most) = most {
            let most = g.uniform(x.elem, &[], most);
            op = op.on(&most);
        }
    } else {
        for (name, limit) in [("min", least), ("max", most)] {
            if let Some(limit) = limit {
                op = op.attr(name, limit);
            }
        }
    }
    g.make_tame(op, x.elem, x.dims.clone(), x.tame)
}

/// The element types of Clip.
pub(super) fn clip_elems(g: &Generator<'_>) -> Vec<ElemType> {
    if g.since(12) {
        [&g.floats()[..], &g.integers()[..]].concat()
    } else {
        vec![ElemType::Float, ElemType::Double, ElemType::Float16]
    }
}

fn clip(g: &mut Generator<'_>) -> Option<()> {
    let elems = clip_elems(g);
    let x = g.operand(&elems);
    let limits = [None, Some(0.0), Some(1.0), Some(3.0)];
    let (least, most) = (*g.source.pick(&limits), *g.source.pick(&limits));
    clip_to(g, &x, least, most);
    Some(())
}
