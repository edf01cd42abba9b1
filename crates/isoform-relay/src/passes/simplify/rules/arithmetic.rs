//! Identities of arithmetic, and combinations of constants.

use super::quadratic;
use crate::eval::{numbers, scalar};
use crate::op::dims;
use crate::passes::fold_constant_expr;
use crate::passes::simplify::row::{Exact, Row, keep};
use crate::passes::simplify::rule_match::{
    Expr, Holes, RuleMatch, is_covered, is_float, is_number, tensor_type,
};
use crate::{AsExpr, Call, Constant, TupleGetItem, op};
use isoform::pattern::InteriorUses;
use isoform::types::IsA;
use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Ref, Result};
use isoform_ir::ir::{Op, RelayExpr};

pub(in super::super) const IDENTITIES: &[Row] = &[
    Row {
        name: "add_itself",
        exact: Exact::Always,
        reason: "doubling a number by a sum or by a product rounds, overflows and wraps alike",
        templates: |h| Ok(vec![op::add(&h.x, &h.y)]),
        inner: InteriorUses::Auto,
        guard: |f| Ok(is_number(f.dtype()?) && is_same(f.x()?, f.y()?)),
        drops: None,
        replacement: |f| match f.number(2.0)? {
            Some(two) => f.call(&op::multiply(f.x()?, two)),
            None => Ok(None),
        },
    },
    Row {
        name: "divide_by_sqrt",
        exact: Exact::Never,
        reason: "equal for real numbers; the reciprocal and the product are rounded one by one",
        templates: |h| Ok(vec![op::divide(&h.x, op::sqrt(&h.y))]),
        inner: InteriorUses::Auto,
        guard: |f| Ok(is_float(f.dtype()?)),
        drops: None,
        replacement: |f| match f.call(&op::rsqrt(f.y()?))? {
            Some(root) => f.call(&op::multiply(f.x()?, root)),
            None => Ok(None),
        },
    },
    Row {
        name: "add_zero",
        exact: Exact::Integers,
        reason: "0 is neutral; only a float -0 becomes 0",
        templates: |h| either_order("add", &h.x, &h.y),
        inner: InteriorUses::Auto,
        guard: |f| is_neutral(f, 0.0),
        drops: Some(|h| &h.y),
        replacement: |f| keep(f.x()?),
    },
    Row {
        name: "add_negative_zero",
        exact: Exact::Always,
        reason: "-0 is neutral for every float, also for -0",
        templates: |h| either_order("add", &h.x, &h.y),
        inner: InteriorUses::Auto,
        guard: |f| Ok(is_float(f.dtype()?) && is_neutral(f, -0.0)?),
        drops: Some(|h| &h.y),
        replacement: |f| keep(f.x()?),
    },
    Row {
        name: "subtract_zero",
        exact: Exact::Always,
        reason: "taking away 0 is neutral for every number, also for -0",
        templates: |h| Ok(vec![op::subtract(&h.x, &h.y)]),
        inner: InteriorUses::Auto,
        guard: |f| is_neutral(f, 0.0),
        drops: Some(|h| &h.y),
        replacement: |f| keep(f.x()?),
    },
    Row {
        name: "subtract_negative_zero",
        exact: Exact::Never,
        reason: "taking away -0 is neutral; only -0 becomes 0",
        templates: |h| Ok(vec![op::subtract(&h.x, &h.y)]),
        inner: InteriorUses::Auto,
        guard: |f| Ok(is_float(f.dtype()?) && is_neutral(f, -0.0)?),
        drops: Some(|h| &h.y),
        replacement: |f| keep(f.x()?),
    },
    Row {
        name: "multiply_one",
        exact: Exact::Always,
        reason: "a factor or divisor of 1 is neutral for every number",
        templates: |h| either_order("multiply", &h.x, &h.y),
        inner: InteriorUses::Auto,
        guard: |f| is_neutral(f, 1.0),
        drops: Some(|h| &h.y),
        replacement: |f| keep(f.x()?),
    },
    Row {
        name: "divide_one",
        exact: Exact::Always,
        reason: "a factor or divisor of 1 is neutral for every number",
        templates: |h| Ok(vec![op::divide(&h.x, &h.y)]),
        inner: InteriorUses::Auto,
        guard: |f| is_neutral(f, 1.0),
        drops: Some(|h| &h.y),
        replacement: |f| keep(f.x()?),
    },
];

pub(in super::super) const CONSTANTS: &[Row] = &[
    Row {
        name: "uniform_right",
        exact: Exact::Always,
        reason: "a scalar is repeated to the tensor of equal elements that it replaces",
        templates: |h| binary_ops(&h.x, &h.y),
        inner: InteriorUses::Auto,
        guard: |f| Ok(has_uniform(f.y()?, f.x()?)),
        drops: Some(|h| &h.y),
        replacement: |f| with_uniform(f, 1, f.y()?),
    },
    Row {
        name: "uniform_left",
        exact: Exact::Always,
        reason: "a scalar is repeated to the tensor of equal elements that it replaces",
        templates: |h| binary_ops(&h.x, &h.y),
        inner: InteriorUses::Auto,
        guard: |f| Ok(has_uniform(f.x()?, f.y()?)),
        drops: Some(|h| &h.x),
        replacement: |f| with_uniform(f, 0, f.x()?),
    },
    Row {
        name: "add_multiply",
        exact: Exact::Integers,
        reason: "products distribute over sums; floats are rounded differently",
        templates: |h| {
            let mut templates = Vec::new();
            for sum in either_order("add", &h.x, &h.c)? {
                templates.extend(either_order("multiply", &sum, &h.d)?);
            }
            Ok(templates)
        },
        inner: InteriorUses::Auto,
        guard: |f| {
            let [c, d] = f.constants()?;
            // The second constant must not make the tensor larger, which would be more work.
            let is_as_large = is_covered(&d.expr(), f.x()?) || is_covered(&d.expr(), &c.expr());
            Ok(is_as_large && may_combine(f)? && is_bounded("multiply", [c, d]))
        },
        drops: None,
        replacement: |f| {
            let [c, d] = f.constants()?;
            let (Some(product), Some(constant)) = (
                f.call(&op::multiply(f.x()?, d))?,
                combined(f, &op::multiply(c, d))?,
            ) else {
                return Ok(None);
            };
            f.call(&op::add(product, constant))
        },
    },
    Row {
        name: "multiply_multiply",
        exact: Exact::Integers,
        reason: "products are associative; floats are rounded differently",
        templates: |h| twice("multiply", h),
        inner: InteriorUses::Auto,
        guard: |f| Ok(may_combine(f)? && is_bounded("multiply", f.constants()?)),
        drops: None,
        replacement: |f| {
            let [c, d] = f.constants()?;
            match combined(f, &op::multiply(c, d))? {
                Some(constant) => f.call(&op::multiply(f.x()?, constant)),
                None => Ok(None),
            }
        },
    },
    Row {
        name: "add_add",
        exact: Exact::Integers,
        reason: "sums are associative; floats are rounded differently",
        templates: |h| twice("add", h),
        inner: InteriorUses::Auto,
        guard: |f| Ok(may_combine(f)? && is_bounded("add", f.constants()?)),
        drops: None,
        replacement: |f| {
            let [c, d] = f.constants()?;
            match combined(f, &op::add(c, d))? {
                Some(constant) => f.call(&op::add(f.x()?, constant)),
                None => Ok(None),
            }
        },
    },
    Row {
        name: "quadratic",
        exact: Exact::Integers,
        reason: "a quadratic form with real roots is the product of two linear ones; integers \
                 need integer roots, as they wrap around, and floats are rounded differently",
        templates: |h| {
            let [p, q, r] = &h.only;
            either_order("add", &op::add(p, q), r)
        },
        inner: InteriorUses::Auto,
        guard: |f| Ok(is_number(f.dtype()?)),
        drops: None,
        replacement: quadratic::factored,
    },
];

/// The templates of a call with its arguments in both orders.
fn either_order<A: IsA<RelayExpr>, B: IsA<RelayExpr>>(
    name: &str,
    left: &Ref<A>,
    right: &Ref<B>,
) -> Result<Vec<Ref<Call>>> {
    let op = Op::get(name)?;
    let orders = [[left.expr(), right.expr()], [right.expr(), left.expr()]];
    Ok(orders.map(|args| Call::new(&op, args)).into())
}

/// The templates of an operator on `x` and two constants.
fn twice(name: &str, holes: &Holes) -> Result<Vec<Ref<Call>>> {
    let mut templates = Vec::new();
    for inner in either_order(name, &holes.x, &holes.c)? {
        templates.extend(either_order(name, &inner, &holes.d)?);
    }
    Ok(templates)
}

/// The element-wise operators on two tensors, with broadcasting.
const BINARY: [&str; 26] = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "mod",
    "floor_divide",
    "floor_mod",
    "trunc_divide",
    "trunc_mod",
    "power",
    "maximum",
    "minimum",
    "right_shift",
    "left_shift",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "logical_and",
    "logical_or",
    "logical_xor",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
];

fn binary_ops<A: IsA<RelayExpr>>(left: &Ref<A>, right: &Ref<A>) -> Result<Vec<Ref<Call>>> {
    let names = BINARY.iter();
    names
        .map(|name| Ok(Call::new(Op::get(name)?, [left.expr(), right.expr()])))
        .collect()
}

/// True if two expressions are the same: one vertex of the graph, or equal items of one
/// vertex.
fn is_same(left: &Expr, right: &Expr) -> bool {
    let (mut left, mut right) = (left, right);
    loop {
        if left.same_as(right) {
            return true;
        }
        match (
            left.downcast_ref::<TupleGetItem>(),
            right.downcast_ref::<TupleGetItem>(),
        ) {
            (Some(one), Some(other)) if one.index == other.index => {
                (left, right) = (&one.tuple_value, &other.tuple_value);
            }
            _ => return false,
        }
    }
}

/// The common value of all elements of an expression, as a scalar of its data type.
fn uniform(expr: &Expr) -> Option<Tensor> {
    let dtype = tensor_type(expr)?.dtype;
    let scalar_of = |constant: &Expr| {
        let data = &constant.downcast_ref::<Constant>()?.data;
        let is_one = data.shape().iter().all(|size| *size == 1) && data.dtype() == dtype;
        let scalar = || Tensor::new(dtype, Vec::new(), data.data().clone()).ok();
        is_one.then(scalar).flatten()
    };
    if expr.isa::<Constant>() {
        return scalar_of(expr);
    }
    let call = expr.downcast_ref::<Call>()?;
    match &*call.op.downcast_ref::<Op>()?.name {
        "zeros" | "zeros_like" => scalar(0.0, dtype),
        "ones" | "ones_like" => scalar(1.0, dtype),
        "full" => scalar_of(call.args.get(0)?),
        "full_like" => scalar_of(call.args.get(1)?),
        _ => None,
    }
}

/// True if all elements of `y` are this number, to the sign of a zero, and dropping it
/// leaves the shape of `x`. For truth values, a sum is "or" and a product is "and".
fn is_neutral(found: &RuleMatch<'_>, number: f64) -> Result<bool> {
    let (x, y, dtype) = (found.x()?, found.y()?, found.dtype()?);
    if !is_number(dtype) && dtype != DType::BOOL {
        return Ok(false);
    }
    let is_it = || Some(uniform(y)?.data() == scalar(number, dtype)?.data());
    Ok(is_it() == Some(true) && is_covered(y, x))
}

/// True if an operand is a call with equal elements, and the other operand gives the
/// result its shape.
fn has_uniform(operand: &Expr, other: &Expr) -> bool {
    operand.isa::<Call>() && is_covered(operand, other) && uniform(operand).is_some()
}

/// The call that is replaced, with a scalar in the place of an operand.
fn with_uniform(found: &RuleMatch<'_>, position: usize, operand: &Expr) -> Result<Option<Expr>> {
    let Some(number) = uniform(operand) else {
        return Ok(None);
    };
    let root = found.root()?;
    let mut args: Vec<Expr> = root.args.iter().cloned().collect();
    if let Some(arg) = args.get_mut(position) {
        *arg = found.constant(number)?;
    }
    found.call(&Call::new(&root.op, args))
}

/// True if two constants can be combined, and there is another operand.
fn may_combine(found: &RuleMatch<'_>) -> Result<bool> {
    Ok(is_number(found.dtype()?) && !found.x()?.isa::<Constant>())
}

/// True if the result for two constants keeps their precision: no element overflows, or
/// is so small that digits are lost. Integers wrap around instead.
fn is_bounded(operator: &str, constants: [&Ref<Constant>; 2]) -> bool {
    let dtype = constants[0].data.dtype();
    let [least, most] = match (dtype.code(), dtype.bits()) {
        (DTypeCode::Int | DTypeCode::UInt, _) => return true,
        (DTypeCode::Float, 16) => [2_f64.powi(-14), 65504.0],
        (DTypeCode::Float, 64) => [f64::MIN_POSITIVE, f64::MAX],
        _ => [f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)],
    };
    let [c, d] = constants.map(|constant| magnitudes(&constant.data));
    let (Some(c), Some(d)) = (c, d) else {
        return false;
    };
    match operator {
        "multiply" => c[1] * d[1] <= most && c[0] * d[0] >= least,
        _ => c[1] + d[1] <= most,
    }
}

/// The smallest and the largest magnitude of the nonzero numbers of a tensor, or [1, 1] if
/// all numbers are 0. None if a number is infinite or NaN.
fn magnitudes(tensor: &Tensor) -> Option<[f64; 2]> {
    let mut found: Option<[f64; 2]> = None;
    for number in numbers(tensor)? {
        let size = number.abs();
        if !size.is_finite() {
            return None;
        }
        if size > 0.0 {
            let [least, most] = found.unwrap_or([size, size]);
            found = Some([least.min(size), most.max(size)]);
        }
    }
    Some(found.unwrap_or([1.0, 1.0]))
}

/// The value of a call on two constants, unless it takes more memory than both.
fn combined(found: &RuleMatch<'_>, call: &Ref<Call>) -> Result<Option<Expr>> {
    let count = |expr: &Expr| tensor_type(expr).and_then(|ty| dims::known_product(ty.shape.iter()));
    let largest = call.args.iter().filter_map(count).max();
    let Some(call) = found.call(call)? else {
        return Ok(None);
    };
    if count(&call) > largest {
        return Ok(None);
    }
    let folded = fold_constant_expr(&call)?;
    Ok(folded.isa::<Constant>().then_some(folded))
}
