//! Polynomials against numbers: whatever is said of sizes holds for random assignments.

use std::collections::HashMap;

use super::build::{Dims, fact, int, op};
use isoform_onnx::facts::{Size, Symbols};
use proptest::prelude::*;

/// A way to compute a size, symbolically or for an assignment of numbers.
#[derive(Clone, Debug)]
enum Expr {
    Number(i64),
    Symbol(usize),
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-20_i64..20).prop_map(Expr::Number),
        (0_usize..3).prop_map(Expr::Symbol),
    ];
    leaf.prop_recursive(4, 12, 2, |inner| {
        let pair = (inner.clone(), inner);
        let pair = pair.prop_map(|(left, right)| (Box::new(left), Box::new(right)));
        prop_oneof![
            pair.clone()
                .prop_map(|(left, right)| Expr::Add(left, right)),
            pair.clone()
                .prop_map(|(left, right)| Expr::Sub(left, right)),
            pair.prop_map(|(left, right)| Expr::Mul(left, right)),
        ]
    })
}

impl Expr {
    fn size(&self, symbols: &[Size]) -> Option<Size> {
        match self {
            Expr::Number(number) => Some(Size::from(*number)),
            Expr::Symbol(at) => Some(symbols[*at].clone()),
            Expr::Add(left, right) => left.size(symbols)?.add(&right.size(symbols)?),
            Expr::Sub(left, right) => left.size(symbols)?.sub(&right.size(symbols)?),
            Expr::Mul(left, right) => left.size(symbols)?.mul(&right.size(symbols)?),
        }
    }

    fn number(&self, values: &[i64]) -> i128 {
        match self {
            Expr::Number(number) => i128::from(*number),
            Expr::Symbol(at) => i128::from(values[*at]),
            Expr::Add(left, right) => left.number(values) + right.number(values),
            Expr::Sub(left, right) => left.number(values) - right.number(values),
            Expr::Mul(left, right) => left.number(values) * right.number(values),
        }
    }
}

fn three_symbols() -> Vec<Size> {
    let mut symbols = Symbols::new();
    ["a", "b", "c"].map(|name| symbols.named(name)).to_vec()
}

fn evaluate(size: &Size, symbols: &[Size], values: &[i64]) -> i128 {
    let known: HashMap<u64, i64> = symbols
        .iter()
        .zip(values)
        .map(|(size, value)| (size.as_symbol().unwrap().ident(), *value))
        .collect();
    let number = size.evaluate(|symbol| known.get(&symbol.ident()).copied());
    number.unwrap().into()
}

proptest! {
    #[test]
    fn a_size_is_the_number_of_its_expression(
        expr in expr(),
        values in prop::array::uniform3(0_i64..9),
    ) {
        let symbols = three_symbols();
        if let Some(size) = expr.size(&symbols) {
            prop_assert_eq!(evaluate(&size, &symbols, &values), expr.number(&values));
        }
    }

    #[test]
    fn what_is_known_of_two_sizes_holds(
        left in expr(),
        right in expr(),
        values in prop::array::uniform3(0_i64..9),
    ) {
        let symbols = three_symbols();
        let (Some(a), Some(b)) = (left.size(&symbols), right.size(&symbols)) else {
            return Ok(());
        };
        let (x, y) = (left.number(&values), right.number(&values));
        if let Some(equal) = a.known_eq(&b) {
            prop_assert_eq!(equal, x == y);
        }
        if let Some(less) = a.known_less(&b) {
            prop_assert_eq!(less, x < y);
        }
        prop_assert!(!a.is_nonneg() || x >= 0);
        prop_assert!(!a.is_positive() || x > 0);
        prop_assert!(a.lower_bound().is_none_or(|bound| i128::from(bound) <= x));
        prop_assert!(a.upper_bound().is_none_or(|bound| i128::from(bound) >= x));
        if y != 0 && let Some(quotient) = a.div_exact(&b) {
            prop_assert_eq!(evaluate(&quotient, &symbols, &values) * y, x);
        }
    }

    #[test]
    fn equal_polynomials_are_equal_sizes(left in expr(), right in expr(), third in expr()) {
        let symbols = three_symbols();
        let [Some(a), Some(b), Some(c)] = [&left, &right, &third].map(|e| e.size(&symbols)) else {
            return Ok(());
        };
        if let (Some(one), Some(other)) = (a.add(&b), b.add(&a)) {
            prop_assert_eq!(one, other);
        }
        let left = a.add(&b).and_then(|sum| sum.mul(&c));
        let right = a.mul(&c).zip(b.mul(&c)).and_then(|(x, y)| x.add(&y));
        if let (Some(one), Some(other)) = (left, right) {
            prop_assert_eq!(one, other);
        }
    }
}

#[test]
fn numbers_that_do_not_fit_are_not_claimed() {
    let most = Size::from(i64::MAX);
    assert_eq!(most.add(&Size::from(1)), None);
    assert_eq!(most.mul(&Size::from(2)), None);
    assert_eq!(Size::from(i64::MIN).sub(&Size::from(1)), None);
    assert_eq!(Size::from(i64::MIN).div_exact(&Size::from(-1)), None);
    let symbol = Symbols::new().named("n");
    assert_eq!(symbol.mul(&most).and_then(|size| size.add(&size)), None);
}

#[test]
fn sizes_stay_small() {
    let mut symbols = Symbols::new();
    let mut sum = Some(Size::from(0));
    for at in 0..100 {
        let next = symbols.named(&format!("n{at}"));
        sum = sum.and_then(|sum| sum.add(&next));
    }
    assert_eq!(sum, None);
    let symbol = symbols.named("n");
    let power = (0..100).try_fold(Size::from(1), |power, _| power.mul(&symbol));
    assert_eq!(power, None);
}

#[test]
fn sizes_read_like_formulas() {
    let symbols = three_symbols();
    let [a, b, _] = &*symbols else { unreachable!() };
    let size = a.mul(a).unwrap().mul(&Size::from(-2)).unwrap();
    let size = size.add(&b.add(&Size::from(7)).unwrap()).unwrap();
    assert_eq!(size.to_string(), "-a*a*2 + b + 7");
    assert_eq!(a.sub(&Size::from(1)).unwrap().to_string(), "a - 1");
    assert_eq!(Size::from(0).to_string(), "0");
}

#[test]
fn the_order_of_extents_is_known_where_it_is_certain() {
    let mut symbols = Symbols::new();
    let n = symbols.named("n");
    let next = n.add(&Size::from(1)).unwrap();
    assert_eq!(n.known_less(&next), Some(true));
    assert_eq!(next.known_less(&n), Some(false));
    assert_eq!(n.known_eq(&Size::from(-1)), Some(false));
    assert_eq!(n.known_eq(&Size::from(0)), None);
    // An arbitrary element may be the greatest number there is.
    let any = symbols.fresh(None, None);
    let after = any.add(&Size::from(1)).unwrap();
    assert_eq!(any.known_less(&after), None);
    assert_eq!(any.known_eq(&after), Some(false));
}

/// How a model computes a number from an extent.
#[derive(Clone, Debug)]
enum Extreme {
    Number(i64),
    Extent,
    Op(&'static str, Box<(Extreme, Extreme)>),
}

fn extreme() -> impl Strategy<Value = Extreme> {
    let leaf = prop_oneof![
        (-9_i64..10).prop_map(Extreme::Number),
        Just(Extreme::Extent),
    ];
    leaf.prop_recursive(4, 10, 2, |inner| {
        let name = prop::sample::select(vec!["Add", "Sub", "Max", "Min", "Max", "Min"]);
        (name, inner.clone(), inner)
            .prop_map(|(name, left, right)| Extreme::Op(name, Box::new((left, right))))
    })
}

impl Extreme {
    fn value(&self, extent: &isoform::Value) -> isoform::Value {
        match self {
            Extreme::Number(number) => int(*number),
            Extreme::Extent => extent.clone(),
            Extreme::Op(name, sides) => op(name, &[&sides.0.value(extent), &sides.1.value(extent)]),
        }
    }

    fn number(&self, extent: i64) -> i64 {
        match self {
            Extreme::Number(number) => *number,
            Extreme::Extent => extent,
            Extreme::Op(name, sides) => {
                let (left, right) = (sides.0.number(extent), sides.1.number(extent));
                match *name {
                    "Add" => left + right,
                    "Sub" => left - right,
                    "Max" => left.max(right),
                    _ => left.min(right),
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn what_is_known_of_smaller_and_larger_sizes_holds(left in extreme(), right in extreme()) {
        let x = Dims::default().input("x", "float32 n");
        let extent = op("Squeeze", &[&op("Shape", &[&(&x).into()])]);
        let (a, b) = (left.value(&extent), right.value(&extent));
        let known = |name: &str| {
            let found = fact(&[&x], &op(name, &[&a, &b]));
            Some(found.elements_const()?[0])
        };
        let (difference, less, equal) = (known("Sub"), known("Less"), known("Equal"));
        let bounds = fact(&[&x], &a).elements.map(|a| (a[0].lower_bound(), a[0].upper_bound()));
        for extent in 0..30 {
            let (x, y) = (left.number(extent), right.number(extent));
            prop_assert!(difference.is_none_or(|known| known == x - y), "{extent}");
            prop_assert!(less.is_none_or(|known| known == i64::from(x < y)), "{extent}");
            prop_assert!(equal.is_none_or(|known| known == i64::from(x == y)), "{extent}");
            if let Some((lower, upper)) = bounds {
                prop_assert!(lower.is_none_or(|lower| lower <= x), "{extent}");
                prop_assert!(upper.is_none_or(|upper| upper >= x), "{extent}");
            }
        }
    }
}
