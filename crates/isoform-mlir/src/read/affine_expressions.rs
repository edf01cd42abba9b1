//! Affine expressions, simplified as MLIR does while it parses.
//!
//! Expressions are kept once, so equal ones have the same number. The rules are those of
//! `AffineExpr.cpp`: constants fold and stand on the right, like terms are joined, multiples
//! divide, `e - e floordiv c * c` is `e mod c`.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::values::Object;
use crate::nodes::{AffineBinary, AffineConstant, AffineDim, AffineSymbol};

/// The number of an expression.
pub(super) type Id = usize;

/// An operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Op {
    Add,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
}

impl Op {
    fn text(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Mul => "*",
            Op::FloorDiv => "floordiv",
            Op::CeilDiv => "ceildiv",
            Op::Mod => "mod",
        }
    }
}

/// An expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Expression {
    Dim(i64),
    Symbol(i64),
    Constant(i64),
    Binary(Op, Id, Id),
}

/// Facts about an expression.
#[derive(Clone, Copy)]
struct Facts {
    /// True if no dimension occurs.
    is_symbolic: bool,
    /// A number that divides all values.
    divisor: i64,
}

impl Facts {
    const SYMBOL: Facts = Facts {
        is_symbolic: true,
        divisor: 1,
    };
}

/// How deep rules may apply inside of parts; deeper parts stay as written.
const DEPTH: usize = 100;

/// The expressions of a map or set.
#[derive(Default)]
pub(super) struct Expressions {
    all: Vec<(Expression, Facts)>,
    ids: HashMap<Expression, Id, RandomState>,
    /// The number of rules that apply inside of each other.
    depth: usize,
}

impl Expressions {
    fn expression(&self, id: Id) -> Expression {
        self.all
            .get(id)
            .map_or(Expression::Constant(0), |(expression, _)| *expression)
    }

    fn facts(&self, id: Id) -> Facts {
        self.all.get(id).map_or(Facts::SYMBOL, |(_, facts)| *facts)
    }

    /// True if no dimension occurs.
    pub(super) fn is_symbolic(&self, id: Id) -> bool {
        self.facts(id).is_symbolic
    }

    fn constant_of(&self, id: Id) -> Option<i64> {
        match self.expression(id) {
            Expression::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The operands, if the expression is of this operator.
    fn operands(&self, id: Id, op: Op) -> Option<(Id, Id)> {
        match self.expression(id) {
            Expression::Binary(found, left, right) if found == op => Some((left, right)),
            _ => None,
        }
    }

    /// An expression as it is.
    pub(super) fn add_expression(&mut self, expression: Expression) -> Id {
        if let Some(&id) = self.ids.get(&expression) {
            return id;
        }
        let facts = self.derive(expression);
        let id = self.all.len();
        self.all.push((expression, facts));
        self.ids.insert(expression, id);
        id
    }

    fn derive(&self, expression: Expression) -> Facts {
        match expression {
            Expression::Dim(_) => Facts {
                is_symbolic: false,
                divisor: 1,
            },
            Expression::Symbol(_) => Facts::SYMBOL,
            Expression::Constant(value) => Facts {
                is_symbolic: true,
                divisor: value.wrapping_abs(),
            },
            Expression::Binary(op, left, right) => {
                let (left, right_facts) = (self.facts(left), self.facts(right));
                let divisor = match (op, self.constant_of(right)) {
                    (Op::Mul, _) => left.divisor.wrapping_mul(right_facts.divisor),
                    (Op::Add | Op::Mod, _) => gcd(left.divisor, right_facts.divisor),
                    (Op::FloorDiv | Op::CeilDiv, Some(value))
                        if value != 0 && left.divisor.wrapping_rem(value) == 0 =>
                    {
                        left.divisor.wrapping_div(value).wrapping_abs()
                    }
                    _ => 1,
                };
                Facts {
                    is_symbolic: left.is_symbolic && right_facts.is_symbolic,
                    divisor,
                }
            }
        }
    }

    pub(super) fn constant(&mut self, value: i64) -> Id {
        self.add_expression(Expression::Constant(value))
    }

    fn binary(&mut self, op: Op, left: Id, right: Id) -> Id {
        self.add_expression(Expression::Binary(op, left, right))
    }

    /// The simplified operation.
    pub(super) fn apply(&mut self, op: Op, left: Id, right: Id) -> Id {
        if self.depth > DEPTH {
            return self.binary(op, left, right);
        }
        self.depth += 1;
        let found = match op {
            Op::Add => self.sum(left, right),
            Op::Mul => self.product(left, right),
            Op::FloorDiv | Op::CeilDiv => self.quotient(op, left, right),
            Op::Mod => self.remainder(left, right),
        };
        self.depth -= 1;
        found.unwrap_or_else(|| self.binary(op, left, right))
    }

    /// True if two single dimensions or symbols are in the wrong order.
    fn is_unsorted(&self, left: Id, right: Id) -> bool {
        match (self.expression(left), self.expression(right)) {
            (Expression::Dim(left), Expression::Dim(right))
            | (Expression::Symbol(left), Expression::Symbol(right)) => left > right,
            _ => false,
        }
    }

    fn sum(&mut self, left: Id, right: Id) -> Option<Id> {
        let (left_constant, right_constant) = (self.constant_of(left), self.constant_of(right));
        if let (Some(left), Some(right)) = (left_constant, right_constant) {
            return left.checked_add(right).map(|sum| self.constant(sum));
        }
        let is_symbol_first = self.is_symbolic(left) && !self.is_symbolic(right);
        if left_constant.is_some() || is_symbol_first || self.is_unsorted(left, right) {
            return Some(self.apply(Op::Add, right, left));
        }
        // MLIR prints no parentheses here, so that its own text is read in this form.
        if let Some((first, second)) = self.operands(right, Op::Add) {
            let first = self.apply(Op::Add, left, first);
            return Some(self.apply(Op::Add, first, second));
        }
        if right_constant == Some(0) {
            return Some(left);
        }
        let left_sum = self.operands(left, Op::Add);
        let constant_tail = left_sum
            .and_then(|(head, tail)| self.constant_of(tail).map(|value| (head, tail, value)));
        if let (Some((head, _, value)), Some(more)) = (constant_tail, right_constant) {
            let value = self.constant(value.wrapping_add(more));
            return Some(self.apply(Op::Add, head, value));
        }
        let (first, first_factor) = self.term(left);
        let (second, second_factor) = self.term(right);
        if first == second {
            let factor = self.constant(first_factor.wrapping_add(second_factor));
            return Some(self.apply(Op::Mul, first, factor));
        }
        if let Some((head, tail, _)) = constant_tail {
            let head = self.apply(Op::Add, head, right);
            return Some(self.apply(Op::Add, head, tail));
        }
        self.as_remainder(left, right)
    }

    /// An expression without its constant factor, and the factor.
    fn term(&self, id: Id) -> (Id, i64) {
        match self.operands(id, Op::Mul) {
            Some((left, right)) => match self.constant_of(right) {
                Some(factor) => (left, factor),
                None => (id, 1),
            },
            None => (id, 1),
        }
    }

    /// `e + (e floordiv q) * -q` as `e mod q`.
    fn as_remainder(&mut self, left: Id, right: Id) -> Option<Id> {
        let (product, factor) = self.operands(right, Op::Mul)?;
        if self.constant_of(factor) == Some(-1)
            && let Some((quotient, divisor)) = self.operands(product, Op::Mul)
        {
            let (dividend, by) = self.operands(quotient, Op::FloorDiv)?;
            if by == divisor && dividend == left {
                return Some(self.apply(Op::Mod, left, divisor));
            }
        }
        let (dividend, divisor) = self.operands(product, Op::FloorDiv)?;
        let is_opposite = match (self.constant_of(divisor), self.constant_of(factor)) {
            (Some(divisor), Some(factor)) => divisor > 0 && factor == -divisor,
            _ => false,
        };
        if is_opposite && dividend == left {
            return Some(self.apply(Op::Mod, left, divisor));
        }
        let (first, second) = self.operands(left, Op::Add)?;
        if is_opposite && dividend == second {
            let second = self.apply(Op::Mod, second, divisor);
            return Some(self.apply(Op::Add, first, second));
        }
        // Symbols stay on the right.
        if self.is_symbolic(second) && !self.is_symbolic(right) {
            let first = self.apply(Op::Add, first, right);
            return Some(self.apply(Op::Add, first, second));
        }
        None
    }

    fn product(&mut self, left: Id, right: Id) -> Option<Id> {
        let (left_constant, right_constant) = (self.constant_of(left), self.constant_of(right));
        if let (Some(left), Some(right)) = (left_constant, right_constant) {
            return left
                .checked_mul(right)
                .map(|product| self.constant(product));
        }
        let is_dim_last = !self.is_symbolic(right);
        if is_dim_last || left_constant.is_some() || self.is_unsorted(left, right) {
            return Some(self.apply(Op::Mul, right, left));
        }
        match right_constant {
            Some(1) => return Some(left),
            Some(0) => return Some(right),
            _ => {}
        }
        let (head, tail) = self.operands(left, Op::Mul)?;
        let value = self.constant_of(tail)?;
        if let Some(more) = right_constant {
            let value = self.constant(value.wrapping_mul(more));
            return Some(self.apply(Op::Mul, head, value));
        }
        let head = self.apply(Op::Mul, head, right);
        Some(self.apply(Op::Mul, head, tail))
    }

    fn quotient(&mut self, op: Op, left: Id, right: Id) -> Option<Id> {
        if left == right && self.constant_of(right) != Some(0) {
            return Some(self.constant(1));
        }
        let divisor = self.constant_of(right).filter(|&divisor| divisor != 0)?;
        if let Some(value) = self.constant_of(left) {
            let (quotient, remainder) = (value.checked_div(divisor)?, value % divisor);
            // The division has rounded to zero.
            let is_positive = (remainder < 0) == (divisor < 0);
            let correction = match op {
                _ if remainder == 0 => 0,
                Op::CeilDiv => i64::from(is_positive),
                _ => -i64::from(!is_positive),
            };
            return Some(self.constant(quotient.checked_add(correction)?));
        }
        if divisor == 1 {
            return Some(left);
        }
        // `(e * k) / c` is `e * (k / c)` if `c` divides `k`.
        if let Some((head, tail)) = self.operands(left, Op::Mul)
            && let Some(factor) = self.constant_of(tail)
            && factor.wrapping_rem(divisor) == 0
        {
            let factor = self.constant(factor.wrapping_div(divisor));
            return Some(self.apply(Op::Mul, head, factor));
        }
        let (first, second) = self.operands(left, Op::Add)?;
        let divides = |id: Id| self.facts(id).divisor.wrapping_rem(divisor) == 0;
        if op == Op::CeilDiv || !(divides(first) || divides(second)) {
            return None;
        }
        let first = self.apply(op, first, right);
        let second = self.apply(op, second, right);
        Some(self.apply(Op::Add, first, second))
    }

    fn remainder(&mut self, left: Id, right: Id) -> Option<Id> {
        if left == right && self.constant_of(right).is_none() {
            return Some(self.constant(0));
        }
        let divisor = self.constant_of(right).filter(|&divisor| divisor >= 1)?;
        if let Some(value) = self.constant_of(left) {
            return Some(self.constant(value.rem_euclid(divisor)));
        }
        let is_multiple = |id: Id| self.facts(id).divisor.wrapping_rem(divisor) == 0;
        if is_multiple(left) {
            return Some(self.constant(0));
        }
        if let Some((first, second)) = self.operands(left, Op::Add) {
            let rest = if is_multiple(first) {
                Some(second)
            } else {
                is_multiple(second).then_some(first)
            };
            return rest.map(|rest| self.apply(Op::Mod, rest, right));
        }
        let (head, tail) = self.operands(left, Op::Mod)?;
        let inner = self.constant_of(tail).filter(|&inner| inner >= 1)?;
        (inner % divisor == 0).then(|| self.apply(Op::Mod, head, right))
    }

    /// The nodes of these expressions.
    pub(super) fn nodes(&self, roots: &[Id]) -> Vec<Object> {
        // Operands have lower numbers.
        let mut is_needed = vec![false; self.all.len()];
        roots.iter().for_each(|&root| is_needed[root] = true);
        for id in (0..self.all.len()).rev() {
            if let (true, Expression::Binary(_, left, right)) = (is_needed[id], self.all[id].0) {
                is_needed[left] = true;
                is_needed[right] = true;
            }
        }
        let mut nodes: HashMap<Id, Object, RandomState> = HashMap::default();
        for (id, (expression, _)) in self.all.iter().enumerate().filter(|(id, _)| is_needed[*id]) {
            let node = match *expression {
                Expression::Dim(position) => AffineDim::new(position).into_object(),
                Expression::Symbol(position) => AffineSymbol::new(position).into_object(),
                Expression::Constant(value) => AffineConstant::new(value).into_object(),
                Expression::Binary(op, left, right) => {
                    AffineBinary::new(op.text(), &nodes[&left], &nodes[&right]).into_object()
                }
            };
            nodes.insert(id, node);
        }
        roots.iter().map(|root| nodes[root].clone()).collect()
    }
}

fn gcd(left: i64, right: i64) -> i64 {
    let (mut left, mut right) = (left.unsigned_abs(), right.unsigned_abs());
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left as i64
}
