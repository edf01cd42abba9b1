//! Small identities of arithmetic, as rules of [`pattern`](isoform::pattern).

use std::sync::{Arc, Mutex, PoisonError};

use isoform::pattern::{Hole, Match, Pattern, RewriteOptions, Rewritten, Rule};
use isoform::traverse::{WalkResult, walk_objects};
use isoform::types::IntoField;
use isoform::{Node, Ref, Result, Value, export};

use super::datatype::DataType;
use super::expr::{ConstBool, ConstFloat, ConstInt, Expr, Var};
use super::operation::{
    Add, And, BitAnd, BitNot, BitOr, BitShiftLeft, BitShiftRight, BitXor, Cast, FloatDiv, FloorDiv,
    FloorMod, Max, Min, Mul, Neg, Not, Or, Sub, Xor,
};
use super::purity::Purity;
use super::ty::ScalarType;

/// Applies the [rules](peephole_rules) of all number formats in a value until no rule
/// applies.
///
/// Works on programs, functions, statements and expressions. If nothing applies, the
/// result is the same object.
///
/// # Errors
///
/// As [`rewrite`](isoform::pattern::rewrite), without a limit of steps: every rule makes
/// a value smaller or cheaper.
///
/// ```
/// use isoform_pto::{Add, ConstInt, DataType, Mul, ScalarType, Var, simplify};
///
/// let dtype = DataType::Int32;
/// let x = Var::new("x", ScalarType::new(dtype));
/// let sum = Add::new(Mul::new(&x, ConstInt::new(1, dtype), dtype), ConstInt::new(0, dtype), dtype);
/// assert_eq!(simplify(sum)?.value, x.into());
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn simplify(root: impl Into<Value>) -> Result<Rewritten> {
    simplified(&root.into())
}

fn simplified(root: &Value) -> Result<Rewritten> {
    let mut formats: Vec<DataType> = Vec::new();
    walk_objects(root, |object, _| {
        if let Some(scalar) = object.downcast_ref::<ScalarType>() {
            let format = scalar.dtype.get();
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    let purity = Arc::new(Mutex::new(Purity::default()));
    let mut rules = Vec::new();
    for format in formats {
        rules.extend(rules_of(format, &purity)?);
    }
    RewriteOptions::default()
        .max_steps(u64::MAX)
        .rewrite(root, &rules)
}

/// The identities for numbers of one format.
///
/// Overflow wraps around, divisions round down.
///
/// | formats | identities |
/// |---|---|
/// | all | `min(x, x)`, `max(x, x)` are `x`; a cast to the same format is its operand |
/// | integers | `x + 0`, `x - 0`, `x * 1`, `x // 1`, `x \| 0`, `x ^ 0`, `x << 0`, `x >> 0`, `x & x`, `x \| x`, `-(-x)`, `~~x` are `x` |
/// | integers | `x - x`, `x * 0`, `x % 1`, `x ^ x`, `x & 0` are `0` |
/// | integers | `x * 8` is `x << 3`, `x // 8` is `x >> 3`, `x % 8` is `x & 7`, for every power of two |
/// | floats | `x - 0.0`, `x + -0.0`, `x * 1.0`, `x / 1.0`, `-(-x)` are `x` |
/// | BOOL | `not not x`, `x and x`, `x or x`, `x and True`, `x or False`, `x ^ False` are `x`; `x and False` is `False`, `x or True` is `True` |
///
/// Commutative operations are recognised in both orders. An identity that computes an
/// operand less often applies only to a pure operand: every call in the operand is of
/// an operator whose attribute [`TOpIsStateful`](super::STATEFUL) is false.
///
/// # Errors
///
/// No errors; the construction of rules is fallible in general.
pub fn peephole_rules(format: DataType) -> Result<Vec<Rule>> {
    rules_of(format, &Arc::new(Mutex::new(Purity::default())))
}

/// The rules for one format under construction.
struct Rules<'p> {
    format: DataType,
    /// The hole of the templates.
    x: Ref<Expr>,
    purity: &'p Arc<Mutex<Purity>>,
    rules: Vec<Rule>,
}

fn rules_of(format: DataType, purity: &Arc<Mutex<Purity>>) -> Result<Vec<Rule>> {
    let mut rules = Rules {
        format,
        x: Var::new("x", ScalarType::new(format)).upcast(),
        purity,
        rules: Vec::new(),
    };
    rules.for_all()?;
    if format.is_int() {
        rules.for_integers()?;
        rules.for_powers_of_two()?;
    } else if format.is_float() {
        rules.for_floats()?;
    } else if format == DataType::Bool {
        rules.for_truth()?;
    }
    Ok(rules.rules)
}

/// Calls a method for an operation on a pair in both orders.
macro_rules! both_orders {
    ($rules:ident . $method:ident($node:ident, $other:expr, $result:expr)) => {{
        let (x, other, format) = ($rules.x.clone(), $other, $rules.format);
        $rules.$method($node::new(&x, &other, format), $result)?;
        $rules.$method($node::new(&other, &x, format), $result)?;
    }};
}

impl Rules<'_> {
    /// The hole may be any expression.
    fn add(&mut self, template: impl IntoField<Ref<Expr>>, result: &Ref<Expr>) -> Result<()> {
        let pattern = Pattern::new(template.into_field(), [&self.x])?;
        self.rules.push(Rule::new(pattern, result)?);
        Ok(())
    }

    /// The hole must be pure, because the result contains the hole less often.
    fn add_pure(&mut self, template: impl IntoField<Ref<Expr>>, result: &Ref<Expr>) -> Result<()> {
        let pattern = Pattern::new(template.into_field(), [&self.x])?;
        let (x, purity) = (Value::from(&self.x), self.purity.clone());
        let rule = Rule::new(pattern, result)?.guard(move |found| {
            let part = found.get(&x).cloned().unwrap_or_default();
            let mut purity = purity.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(purity.is_pure(&part.extract()?))
        });
        self.rules.push(rule);
        Ok(())
    }

    fn int(&self, value: i64) -> Ref<Expr> {
        ConstInt::new(value, self.format).upcast()
    }

    fn float(&self, value: f64) -> Ref<Expr> {
        ConstFloat::new(value, self.format).upcast()
    }

    fn for_all(&mut self) -> Result<()> {
        let (x, format) = (self.x.clone(), self.format);
        self.add_pure(Min::new(&x, &x, format), &x)?;
        self.add_pure(Max::new(&x, &x, format), &x)?;
        self.add(Cast::new(&x, format), &x)
    }

    fn for_integers(&mut self) -> Result<()> {
        let (x, format) = (self.x.clone(), self.format);
        let (zero, one) = (self.int(0), self.int(1));
        both_orders!(self.add(Add, zero.clone(), &x));
        both_orders!(self.add(Mul, one.clone(), &x));
        both_orders!(self.add(BitOr, zero.clone(), &x));
        both_orders!(self.add(BitXor, zero.clone(), &x));
        both_orders!(self.add_pure(Mul, zero.clone(), &zero));
        both_orders!(self.add_pure(BitAnd, zero.clone(), &zero));
        self.add(Sub::new(&x, &zero, format), &x)?;
        self.add(FloorDiv::new(&x, &one, format), &x)?;
        self.add(BitShiftLeft::new(&x, &zero, format), &x)?;
        self.add(BitShiftRight::new(&x, &zero, format), &x)?;
        self.add(Neg::new(Neg::new(&x, format), format), &x)?;
        self.add(BitNot::new(BitNot::new(&x, format), format), &x)?;
        self.add_pure(Sub::new(&x, &x, format), &zero)?;
        self.add_pure(FloorMod::new(&x, &one, format), &zero)?;
        self.add_pure(BitXor::new(&x, &x, format), &zero)?;
        self.add_pure(BitAnd::new(&x, &x, format), &x)?;
        self.add_pure(BitOr::new(&x, &x, format), &x)
    }

    /// Products, quotients and remainders by a power of two other than 1.
    fn for_powers_of_two(&mut self) -> Result<()> {
        type Make = fn(&Ref<Expr>, &Ref<Expr>, DataType) -> Ref<Expr>;
        type Operand = fn(i64) -> i64;
        let (x, format) = (self.x.clone(), self.format);
        let power = Var::new("power", ScalarType::new(format)).upcast();
        let exponent: Operand = |value| i64::from(value.trailing_zeros());
        let cases: [(Ref<Expr>, Make, Operand); 4] = [
            (
                expr(Mul::new(&x, &power, format)),
                |x, by, format| expr(BitShiftLeft::new(x, by, format)),
                exponent,
            ),
            (
                expr(Mul::new(&power, &x, format)),
                |x, by, format| expr(BitShiftLeft::new(x, by, format)),
                exponent,
            ),
            (
                expr(FloorDiv::new(&x, &power, format)),
                |x, by, format| expr(BitShiftRight::new(x, by, format)),
                exponent,
            ),
            (
                expr(FloorMod::new(&x, &power, format)),
                |x, mask, format| expr(BitAnd::new(x, mask, format)),
                |value| value - 1,
            ),
        ];
        for (template, make, operand) in cases {
            let hole = Hole::new(&power).class::<ConstInt>().guard(|part| {
                let literal: Ref<ConstInt> = part.extract()?;
                Ok(literal.value > 1 && literal.value.count_ones() == 1)
            });
            let pattern = Pattern::new(template, [Hole::new(&x), hole])?;
            let (x, power) = (Value::from(&x), Value::from(&power));
            self.rules
                .push(Rule::computed(pattern, move |rule_match: &Match| {
                    let literal: Ref<ConstInt> = part(rule_match, &power)?;
                    let operand = expr(ConstInt::new(operand(literal.value), format));
                    let replacement = make(&part::<Expr>(rule_match, &x)?, &operand, format);
                    Ok(Some(replacement.into()))
                }));
        }
        Ok(())
    }

    fn for_floats(&mut self) -> Result<()> {
        let (x, format) = (self.x.clone(), self.format);
        let one = self.float(1.0);
        both_orders!(self.add(Mul, one.clone(), &x));
        // `x + 0.0` is not `x`, if `x` is -0.0.
        both_orders!(self.add(Add, self.float(-0.0), &x));
        self.add(Sub::new(&x, self.float(0.0), format), &x)?;
        self.add(FloatDiv::new(&x, &one, format), &x)?;
        self.add(Neg::new(Neg::new(&x, format), format), &x)
    }

    fn for_truth(&mut self) -> Result<()> {
        let (x, format) = (self.x.clone(), self.format);
        let truth = |value| expr(ConstBool::new(value));
        both_orders!(self.add(And, truth(true), &x));
        both_orders!(self.add(Or, truth(false), &x));
        both_orders!(self.add(Xor, truth(false), &x));
        both_orders!(self.add_pure(And, truth(false), &truth(false)));
        both_orders!(self.add_pure(Or, truth(true), &truth(true)));
        self.add(Not::new(Not::new(&x, format), format), &x)?;
        self.add_pure(And::new(&x, &x, format), &x)?;
        self.add_pure(Or::new(&x, &x, format), &x)
    }
}

fn expr(node: impl IntoField<Ref<Expr>>) -> Ref<Expr> {
    node.into_field()
}

fn part<T: Node>(found: &Match, hole: &Value) -> Result<Ref<T>> {
    found.get(hole).cloned().unwrap_or_default().extract()
}

/// Applies small identities of arithmetic until no identity applies.
#[export("pto.simplify")]
fn simplify_exported(program: Value) -> Result<Value> {
    Ok(simplify(&program)?.value)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![simplify_exported]
}
