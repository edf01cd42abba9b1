//! `a*x*x + b*x*y + c*y*y` as `a*(x + s*y)*(x + t*y)`.

use crate::Constant;
use crate::eval::{numbers, scalar};
use crate::op;
use crate::passes::simplify::rule_match::{Expr, RuleMatch, call_of, is_integer};
use isoform::Result;
use isoform::values::Tensor;

/// A product of two expressions, and of a number.
struct Term<'e> {
    number: f64,
    factors: [&'e Expr; 2],
}

impl Term<'_> {
    fn is_square(&self) -> bool {
        self.factors[0].same_as(self.factors[1])
    }
}

/// The product for a sum of three terms; None unless the terms are a quadratic form of
/// two expressions with real roots.
pub(super) fn factored(rule_match: &RuleMatch<'_>) -> Result<Option<Expr>> {
    let mut terms = Vec::with_capacity(3);
    // In the order of evaluation of the sum.
    for operand in operands(rule_match)? {
        let Some(term) = term(operand) else {
            return Ok(None);
        };
        terms.push(term);
    }
    let Some((x, y, [a, b, c])) = form(&terms) else {
        return Ok(None);
    };
    let Some([s, t]) = roots(a, b, c) else {
        return Ok(None);
    };
    if is_integer(rule_match.dtype()?) && !are_exact([a, b, c], [s, t]) {
        return Ok(None);
    }
    let linear = |root: f64| match times(rule_match, y, root)? {
        Some(part) => rule_match.call(&op::add(x, part)),
        None => Ok(None),
    };
    let Some(first) = linear(s)? else {
        return Ok(None);
    };
    // Equal factors are one expression.
    let second = if s.to_bits() == t.to_bits() {
        Some(first.clone())
    } else {
        linear(t)?
    };
    let Some(second) = second else {
        return Ok(None);
    };
    match rule_match.call(&op::multiply(first, second))? {
        Some(product) => times(rule_match, &product, a),
        None => Ok(None),
    }
}

/// The three terms of the sum.
fn operands<'a>(found: &RuleMatch<'a>) -> Result<Vec<&'a Expr>> {
    let [p, q, r] = &found.holes.only;
    let [p, q, r] = [found.part(p)?, found.part(q)?, found.part(r)?];
    let is_last = found
        .root()?
        .args
        .get(1)
        .is_some_and(|last| last.same_as(r));
    Ok(if is_last {
        vec![p, q, r]
    } else {
        vec![r, p, q]
    })
}

/// The number of a scalar constant.
fn number(expr: &Expr) -> Option<f64> {
    let constant = expr.downcast_ref::<Constant>()?;
    if constant.data.shape().iter().all(|size| *size == 1) {
        numbers(&constant.data)?.first().copied()
    } else {
        None
    }
}

/// The factors of a product of two.
fn product(expr: &Expr) -> Option<[&Expr; 2]> {
    let call = call_of(expr, "multiply")?;
    Some([call.args.get(0)?, call.args.get(1)?])
}

/// A number and the expression multiplied by the number.
fn scaled(expr: &Expr) -> Option<(f64, &Expr)> {
    let [left, right] = product(expr)?;
    match (number(left), number(right)) {
        (Some(number), _) => Some((number, right)),
        (_, Some(number)) => Some((number, left)),
        _ => None,
    }
}

/// An expression as a product of two expressions and a number.
fn term(expr: &Expr) -> Option<Term<'_>> {
    let (outer, rest) = scaled(expr).unwrap_or((1.0, expr));
    if let Some(power) = call_of(rest, "power") {
        let base = power.args.get(0)?;
        let is_square = number(power.args.get(1)?) == Some(2.0);
        return is_square.then_some(Term {
            number: outer,
            factors: [base, base],
        });
    }
    let [left, right] = product(rest)?;
    let (one, left) = scaled(left).unwrap_or((1.0, left));
    let (other, right) = scaled(right).unwrap_or((1.0, right));
    Some(Term {
        number: outer * one * other,
        factors: [left, right],
    })
}

/// The expressions of a quadratic form in the order of evaluation, and its
/// coefficients. The coefficients belong to the square of the first expression, the
/// mixed term, and the square of the second expression.
fn form<'e>(terms: &[Term<'e>]) -> Option<(&'e Expr, &'e Expr, [f64; 3])> {
    let mixed = terms.iter().find(|term| !term.is_square())?;
    let [left, right] = mixed.factors;
    let x = terms.first()?.factors[0];
    let y = if x.same_as(left) { right } else { left };
    let square = |of: &Expr| {
        let mut squares = terms.iter().filter(|term| term.is_square());
        squares.find(|term| term.factors[0].same_as(of))
    };
    let are_all = terms.len() == 3 && (x.same_as(left) || x.same_as(right));
    let numbers = [square(x)?.number, mixed.number, square(y)?.number];
    (are_all && numbers.iter().all(|number| number.is_finite())).then_some((x, y, numbers))
}

/// The numbers `s` and `t` with `s + t = b/a` and `s*t = c/a`.
fn roots(a: f64, b: f64, c: f64) -> Option<[f64; 2]> {
    let discriminant = b * b - 4.0 * a * c;
    if discriminant.is_nan() || discriminant < 0.0 || a == 0.0 || c == 0.0 {
        return None;
    }
    // The sum of two numbers with the same sign, without loss of digits.
    let double = b + discriminant.sqrt().copysign(b);
    let s = double / (2.0 * a);
    let t = c / (a * s);
    let is_usable = |root: &f64| root.is_normal() && (1e-4..1e4).contains(&root.abs());
    [s, t].iter().all(is_usable).then_some([s, t])
}

/// True if all numbers are integers and `a*(x + s*y)*(x + t*y)` has these coefficients exactly,
/// so that it equals the form even where integers wrap around.
fn are_exact([a, b, c]: [f64; 3], [s, t]: [f64; 2]) -> bool {
    // Products of three integers below this bound do not overflow.
    let is_small = |number: &f64| number.fract() == 0.0 && number.abs() < f64::from(1 << 20);
    let [d, e, f, g, h] = [a, b, c, s, t].map(|number| number as i64);
    [a, b, c, s, t].iter().all(is_small) && d * (g + h) == e && d * g * h == f
}

/// An expression multiplied by a number.
fn times(found: &RuleMatch<'_>, expr: &Expr, number: f64) -> Result<Option<Expr>> {
    if number.to_bits() == 1.0_f64.to_bits() {
        return Ok(Some(expr.clone()));
    }
    let dtype = found.dtype()?;
    // Integers saturate, for example at 0.
    let is_it = |made: &Tensor| !is_integer(dtype) || numbers(made) == Some(vec![number]);
    match scalar(number, dtype).filter(is_it) {
        Some(scalar) => found.call(&op::multiply(found.constant(scalar)?, expr)),
        None => Ok(None),
    }
}
