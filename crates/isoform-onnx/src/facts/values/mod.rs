//! Elements of small tensors of integers and bools, for use in shapes.
//!
//! This module does not evaluate constants exactly, and does not follow floats.

mod arithmetic;
mod moves;
mod reductions;
mod small;

use self::small::{Small, dims_of, range_of};
use super::fact::{Fact, Kind, MAX_ELEMENTS};
use super::ops::Context;
use super::size::Size;
use super::symbols::Symbols;
use crate::elem_type::ElemType;

/// In tensors of up to this many elements, unknown elements become symbols, to keep the
/// known elements beside them.
const MAX_UNKNOWN: usize = 8;

/// Adds the elements to the facts of the results of a call.
pub(super) fn fill(c: &mut Context<'_>, op: &str, facts: &mut [Fact]) {
    if facts.iter().all(|fact| !may_have_elements(fact)) {
        return;
    }
    if op == "Split" {
        moves::split(c, facts);
    } else if let Some(fact) = facts.first_mut()
        && fact.elements.is_none()
        && let Some(dims) = dims_of(fact)
        && let Some(elements) = elements(c, op, fact.elem, &dims)
        && elements.len() == dims.iter().product::<usize>()
    {
        fact.elements = Some(elements);
    }
    for fact in facts {
        name_unknown(c.symbols, fact);
    }
}

fn may_have_elements(fact: &Fact) -> bool {
    fact.kind == Kind::Tensor && fact.elem.is_some_and(is_integer)
}

/// True for the types whose elements are followed.
fn is_integer(elem: ElemType) -> bool {
    range_of(elem).is_some()
}

/// Makes symbols for the elements of a very small tensor with unknown elements.
pub(super) fn name_unknown(symbols: &mut Symbols, fact: &mut Fact) {
    if !may_have_elements(fact) || fact.elements.is_some() {
        return;
    }
    let Some(dims) = dims_of(fact) else {
        return;
    };
    let count: usize = dims.iter().product();
    if let Some((lower, upper)) = fact.elem.and_then(range_of)
        && count <= MAX_UNKNOWN
    {
        let limit = |bound: i128| i64::try_from(bound).ok();
        // The limits of 64 bits are not worth being compared with.
        let (lower, upper) = if upper == i64::MAX.into() {
            (None, None)
        } else {
            (limit(lower), limit(upper))
        };
        fact.elements = Some((0..count).map(|_| symbols.fresh(lower, upper)).collect());
    }
}

/// The elements of the first result with these extents.
fn elements(
    c: &mut Context<'_>,
    op: &str,
    elem: Option<ElemType>,
    dims: &[usize],
) -> Option<Vec<Size>> {
    let elem = elem?;
    match op {
        "Shape" => moves::shape(c),
        "Size" => Some(vec![{
            let shape = c.shape(0)?.to_vec();
            c.symbols.product_of(&shape)
        }]),
        "Identity" | "Squeeze" | "Unsqueeze" | "Reshape" | "Flatten" => {
            Some(c.elements(0)?.to_vec())
        }
        "Cast" | "CastLike" => arithmetic::cast(c, elem),
        "Gather" => moves::gather(c),
        "GatherElements" => moves::gather_elements(c),
        "GatherND" => moves::gather_nd(c),
        "Slice" => moves::slice(c, dims),
        "Concat" => moves::concat(c, dims),
        "Transpose" => moves::transpose(c, dims),
        "Expand" | "Tile" => moves::repeat(c, dims),
        "ConstantOfShape" => moves::constant_of_shape(c, dims),
        "Range" => moves::range(c, elem, dims),
        "ScatterND" => moves::scatter_nd(c),
        "ScatterElements" | "Scatter" => moves::scatter_elements(c),
        "Add" | "Sub" | "Mul" | "Div" | "Mod" | "And" | "Or" | "Xor" | "Equal" | "Greater"
        | "Less" | "GreaterOrEqual" | "LessOrEqual" => arithmetic::binary(c, op, elem, dims),
        "Min" | "Max" | "Sum" => arithmetic::variadic(c, op, elem, dims),
        "Neg" | "Abs" | "Sign" | "Not" => arithmetic::unary(c, op, elem),
        "Clip" => arithmetic::clip(c),
        "Where" => arithmetic::choose(c, dims),
        "ReduceSum" | "ReduceProd" | "ReduceMin" | "ReduceMax" => {
            reductions::reduce(c, op, elem, dims)
        }
        "CumSum" => reductions::cumulative(c, elem),
        _ => None,
    }
}

impl<'a> Small<'a> {
    /// A small tensor whose elements are known.
    fn of(c: &Context<'a>, at: usize) -> Option<Self> {
        let fact = c.fact(at)?;
        let dims = dims_of(fact)?;
        let elements = fact.elements.as_deref()?;
        (elements.len() <= MAX_ELEMENTS && elements.len() == dims.iter().product::<usize>())
            .then_some(Small { dims, elements })
    }
}
