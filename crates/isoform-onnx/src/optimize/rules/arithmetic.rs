//! Element-wise calls.

use isoform::Value;
use isoform::values::Tensor;

use super::super::constants::uniform_element;
use super::super::rule::{Row, Site};
use super::common::{result_shape, same_shape};
use crate::elem_type::ElemType;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "drop-zero",
        versions: 7..=i64::MAX,
        patterns: &[
            "Add|Or|Xor|BitwiseOr|BitwiseXor(x, #c)",
            "Sub|BitShift(x, #c)",
        ],
        replacement: "x",
        reason: "adding nothing; of floats only x + -0.0 and x - 0.0, because -0.0 + 0.0 is 0.0; \
                 the constant must not broadcast x",
        rewrite: zero,
    },
    Row {
        name: "drop-one",
        versions: 7..=i64::MAX,
        patterns: &["Mul|And(x, #c)", "Div|Pow(x, #c)"],
        replacement: "x",
        reason: "multiplying by one; the constant must not broadcast x. Powers of 64-bit integers \
                 stay, because some runtimes compute them in floats",
        rewrite: one,
    },
    Row {
        name: "undo-twice",
        versions: 1..=i64::MAX,
        patterns: &["Not(Not(x))", "Neg(Neg(x))", "BitwiseNot(BitwiseNot(x))"],
        replacement: "x",
        reason: "the second undoes the first, bit by bit",
        rewrite: input,
    },
    Row {
        name: "once-is-enough",
        versions: 6..=i64::MAX,
        patterns: &[
            "Abs(y:Abs(_))",
            "Relu(y:Relu(_))",
            "Ceil(y:Ceil(_))",
            "Floor(y:Floor(_))",
            "Round(y:Round(_))",
            "Sign(y:Sign(_))",
        ],
        replacement: "the inner call",
        reason: "applying it again changes nothing",
        rewrite: inner,
    },
    Row {
        name: "drop-cast",
        versions: 6..=i64::MAX,
        patterns: &["Cast(x)"],
        replacement: "x",
        reason: "a cast to the type that the elements have copies them",
        rewrite: own_cast,
    },
    Row {
        name: "merge-casts",
        versions: 6..=i64::MAX,
        patterns: &["Cast(inner:Cast(x))"],
        replacement: "Cast(x)",
        reason: "the inner type holds every value of the first one, so it changes none",
        rewrite: casts,
    },
    Row {
        name: "drop-clip",
        versions: 11..=i64::MAX,
        patterns: &["Clip(x)"],
        replacement: "x",
        reason: "there is no limit; on integers only, because without limits Clip makes the \
                 largest number of an infinity",
        rewrite: no_limits,
    },
    Row {
        name: "decided-where",
        versions: 9..=i64::MAX,
        patterns: &["Where(#c, x, y)"],
        replacement: "x or y",
        reason: "every element of the condition is the same, and the chosen input is not broadcast",
        rewrite: decided_where,
    },
    Row {
        name: "where-equal",
        versions: 9..=i64::MAX,
        patterns: &["Where(_, x, x)"],
        replacement: "x",
        reason: "both choices are the same value, which is not broadcast",
        rewrite: where_equal,
    },
    Row {
        name: "drop-expand",
        versions: 8..=i64::MAX,
        patterns: &[
            "Add|Sub|Mul|Div|Pow|And|Or|Xor|Equal|Less|Greater|LessOrEqual|GreaterOrEqual(x, Expand(y, _))",
            "Sub|Div|Pow|Less|Greater|LessOrEqual|GreaterOrEqual(Expand(y, _), x)",
        ],
        replacement: "the same without Expand",
        reason: "the operator broadcasts by itself, to the same shape",
        rewrite: expanded_operand,
    },
];

fn input(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    Some(vec![site.value("x")?])
}

fn inner(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    Some(vec![root.input(0)?.clone()])
}

fn no_limits(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    integer(site.fact(&x).elem?)?;
    Some(vec![x])
}

/// The input `name`, if the result has its shape and element type.
fn unchanged(site: &mut Site<'_, '_>, name: &str) -> Option<Value> {
    let x = site.value(name)?;
    let (from, to) = (site.shape(&x)?, result_shape(site)?);
    let result = site.result();
    let same_type = site.fact(&x).elem? == site.fact(&result).elem?;
    (same_type && same_shape(&from, &to)).then_some(x)
}

/// The common element of a constant whose elements are all equal, and the element type.
fn uniform(site: &mut Site<'_, '_>, name: &str) -> Option<(ElemType, Vec<u8>)> {
    let value = site.value(name)?;
    let elem = site.fact(&value).elem?;
    Some((elem, uniform_element(&value)?.to_vec()))
}

/// The bytes of 1, or of zero with a sign.
fn number(elem: ElemType, is_one: bool, negative: bool) -> Option<Vec<u8>> {
    use ElemType as E;
    let float = if is_one { 1.0_f64 } else { 0.0 };
    let float = if negative { -float } else { float };
    Some(match elem {
        E::Float => (float as f32).to_le_bytes().to_vec(),
        E::Double => float.to_le_bytes().to_vec(),
        E::Float16 => {
            let bits: u16 = if is_one { 0x3c00 } else { 0 };
            (bits | u16::from(negative) << 15).to_le_bytes().to_vec()
        }
        E::Bfloat16 => {
            let bits: u16 = if is_one { 0x3f80 } else { 0 };
            (bits | u16::from(negative) << 15).to_le_bytes().to_vec()
        }
        E::Bool | E::Int8 | E::Uint8 => vec![u8::from(is_one)],
        E::Int16 | E::Uint16 => u16::from(is_one).to_le_bytes().to_vec(),
        E::Int32 | E::Uint32 => u32::from(is_one).to_le_bytes().to_vec(),
        E::Int64 | E::Uint64 => u64::from(is_one).to_le_bytes().to_vec(),
        _ => return None,
    })
}

/// The scalar 0 of a type.
pub(super) fn scalar_zero(elem: ElemType) -> Option<Tensor> {
    Tensor::new(elem.dtype()?, Vec::new(), number(elem, false, false)?).ok()
}

/// A scalar of one of the larger float types.
pub(super) fn scalar_float(elem: ElemType, number: f64) -> Option<Tensor> {
    let bytes = match elem {
        ElemType::Float => (number as f32).to_le_bytes().to_vec(),
        ElemType::Double => number.to_le_bytes().to_vec(),
        _ => return None,
    };
    Tensor::new(elem.dtype()?, Vec::new(), bytes).ok()
}

fn zero(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (elem, bytes) = uniform(site, "c")?;
    // Only -0.0 can be added to every float, and only 0.0 be taken away.
    let negative = is_float(elem) && site.root().is("Add");
    if bytes != number(elem, false, negative)? {
        return None;
    }
    Some(vec![unchanged(site, "x")?])
}

fn one(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (elem, bytes) = uniform(site, "c")?;
    if bytes != number(elem, true, false)? {
        return None;
    }
    let x = unchanged(site, "x")?;
    // Some runtimes compute powers of integers by way of floats of 64 bits.
    let wide = matches!(site.fact(&x).elem?, ElemType::Int64 | ElemType::Uint64);
    (!wide || !site.root().is("Pow")).then(|| vec![x])
}

pub(super) fn is_float(elem: ElemType) -> bool {
    matches!(
        elem,
        ElemType::Float | ElemType::Double | ElemType::Float16 | ElemType::Bfloat16
    )
}

fn own_cast(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let to = site.root().elem("to").ok()??;
    let x = site.value("x")?;
    (site.fact(&x).elem == Some(to)).then(|| vec![x])
}

/// Signedness and width of an integer type; bool counts as an unsigned integer of one
/// bit.
fn integer(elem: ElemType) -> Option<(bool, u32)> {
    use ElemType as E;
    Some(match elem {
        E::Bool => (false, 1),
        E::Uint8 => (false, 8),
        E::Uint16 => (false, 16),
        E::Uint32 => (false, 32),
        E::Uint64 => (false, 64),
        E::Int8 => (true, 8),
        E::Int16 => (true, 16),
        E::Int32 => (true, 32),
        E::Int64 => (true, 64),
        _ => return None,
    })
}

/// True if every value of the narrow integer type is a value of the wide type.
fn holds_integers(narrow: (bool, u32), wide: (bool, u32)) -> bool {
    match (narrow.0, wide.0) {
        (false, true) => narrow.1 < wide.1,
        (true, false) => false,
        _ => narrow.1 <= wide.1,
    }
}

/// Bits of the significand and of the exponent.
fn float(elem: ElemType) -> Option<(u32, u32)> {
    use ElemType as E;
    Some(match elem {
        E::Float16 => (11, 5),
        E::Bfloat16 => (8, 8),
        E::Float => (24, 8),
        E::Double => (53, 11),
        _ => return None,
    })
}

fn casts(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let x = site.value("x")?;
    let inner = site.labelled("inner")?;
    let from = site.fact(&x).elem?;
    let (by, to) = (inner.elem("to").ok()??, site.root().elem("to").ok()??);
    let is_exact = match (integer(from), integer(by), float(from), float(by)) {
        // Beyond the last type, integers wrap around in one step as in two.
        (Some(from), Some(by), ..) => {
            holds_integers(from, by) && (integer(to).is_some() || float(to).is_some())
        }
        (.., Some(from), Some(by)) => {
            from.0 <= by.0 && from.1 <= by.1 && (integer(to).is_some() || float(to).is_some())
        }
        // An integer by way of a float type that holds it exactly.
        (Some((_, bits)), _, _, Some((significand, exponent))) => {
            let fits = bits <= significand && (bits < 16 || exponent > 5);
            let stays = float(to).is_some()
                || integer(to)
                    .is_some_and(|to| integer(from).is_some_and(|from| holds_integers(from, to)));
            fits && stays
        }
        _ => false,
    };
    if !is_exact {
        return None;
    }
    let root = site.root().clone();
    site.replace("Cast", vec![x], &Site::attrs(&root))
}

fn decided_where(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (_, bytes) = uniform(site, "c")?;
    let chosen = if bytes == [0] { "y" } else { "x" };
    Some(vec![unchanged(site, chosen)?])
}

fn where_equal(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    Some(vec![unchanged(site, "x")?])
}

fn expanded_operand(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    let (x, y) = (site.value("x")?, site.value("y")?);
    let to = result_shape(site)?;
    let (left, right) = (site.shape(&x)?, site.shape(&y)?);
    // Counted from the back, each axis of the result has to be an axis of an operand.
    let covered = to.iter().rev().enumerate().all(|(position, size)| {
        let of = |shape: &[crate::facts::Size]| {
            let axis = shape.len().checked_sub(position + 1)?;
            Some(shape[axis].clone())
        };
        let (left, right) = (of(&left), of(&right));
        let is = |extent: &Option<crate::facts::Size>, size: &crate::facts::Size| {
            extent
                .as_ref()
                .is_some_and(|extent| extent.known_eq(size) == Some(true))
        };
        let is_one = |extent: &Option<crate::facts::Size>| {
            extent
                .as_ref()
                .is_none_or(|extent| extent.as_const() == Some(1))
        };
        // If an axis may be 1 or larger, the other operand decides.
        (is(&left, size) && (is(&right, size) || is_one(&right)))
            || (is(&right, size) && (is(&left, size) || is_one(&left)))
    });
    if !covered {
        return None;
    }
    let x_is_first = root
        .inputs
        .values()
        .first()
        .map(crate::values::ValueKey::of)
        == Some(crate::values::ValueKey::of(&x));
    let inputs = if x_is_first { vec![x, y] } else { vec![y, x] };
    site.replace(&root.op, inputs, &Site::attrs(&root))
}
