//! Affine maps and sets. Operators wait on a stack, so parentheses take no native stack.

use hashbrown::HashMap;
use isoform::{Array, Ref};
use rapidhash::fast::RandomState;

use super::Reader;
use super::affine_expressions::{Expression, Expressions, Id, Op};
use super::fault::{Read, refuse};
use super::lexer::{Kind, Token};
use super::values::Object;
use crate::nodes::{AffineConstraint, AffineMapAttr, AffineSetAttr};

/// The names of a map or set, and its expressions.
#[derive(Default)]
struct Scope<'t> {
    names: HashMap<&'t [u8], Id, RandomState>,
    expressions: Expressions,
    dims: i64,
    symbols: i64,
}

/// An operator that waits for its right operand.
#[derive(Clone, Copy)]
enum Waiting {
    Parenthesis,
    Negation,
    Subtraction,
    Binary(Op, Token),
}

impl Waiting {
    fn precedence(self) -> u8 {
        match self {
            Waiting::Parenthesis => 0,
            Waiting::Subtraction | Waiting::Binary(Op::Add, _) => 1,
            Waiting::Binary(..) => 2,
            Waiting::Negation => 3,
        }
    }
}

impl<'t> Reader<'t> {
    pub(super) fn read_affine_map(&mut self) -> Read<Object> {
        let mut scope = self.read_affine_head()?;
        self.cursor.expect_kind(Kind::Arrow, "'->'")?;
        self.cursor.expect(b'(')?;
        let results = self.list(b')', |reader| reader.read_affine(&mut scope))?;
        self.cursor.expect(b'>')?;
        let results = scope.expressions.nodes(&results);
        Ok(AffineMapAttr::new(scope.dims, scope.symbols, results).into_object())
    }

    pub(super) fn read_affine_set(&mut self) -> Read<Object> {
        let mut scope = self.read_affine_head()?;
        self.cursor.expect(b':')?;
        self.cursor.expect(b'(')?;
        let mut constraints = self.list(b')', |reader| reader.read_constraint(&mut scope))?;
        if constraints.is_empty() {
            constraints.push((scope.expressions.constant(0), true));
        }
        self.cursor.expect(b'>')?;
        let roots: Vec<Id> = constraints.iter().map(|constraint| constraint.0).collect();
        let nodes = scope.expressions.nodes(&roots).into_iter();
        let constraints = nodes.zip(constraints);
        let constraints: Array<Ref<AffineConstraint>> = constraints
            .map(|(node, (_, is_equality))| AffineConstraint::new(node, is_equality))
            .collect();
        Ok(AffineSetAttr::new(scope.dims, scope.symbols, constraints).into_object())
    }

    /// The keyword, `<`, and the names of dimensions and symbols.
    fn read_affine_head(&mut self) -> Read<Scope<'t>> {
        let mut scope = Scope::default();
        self.cursor.take()?;
        self.cursor.expect(b'<')?;
        self.cursor.expect(b'(')?;
        scope.dims = self.read_affine_names(&mut scope, b')', Expression::Dim)?;
        if self.cursor.eat(b'[')? {
            scope.symbols = self.read_affine_names(&mut scope, b']', Expression::Symbol)?;
        }
        Ok(scope)
    }

    fn read_affine_names(
        &mut self,
        scope: &mut Scope<'t>,
        end: u8,
        make: fn(i64) -> Expression,
    ) -> Read<i64> {
        let mut count = 0;
        self.list(end, |reader| {
            let expected = "the name of a dimension or symbol";
            let token = reader.cursor.expect_kind(Kind::Word, expected)?;
            let id = scope.expressions.add_expression(make(count));
            count += 1;
            match scope.names.insert(reader.cursor.slice(token), id) {
                None => Ok(()),
                Some(_) => refuse(token, "expected different names of dimensions and symbols"),
            }
        })?;
        Ok(count)
    }

    /// An expression that is compared with zero, and true for an equality.
    fn read_constraint(&mut self, scope: &mut Scope<'t>) -> Read<(Id, bool)> {
        let left = self.read_affine(scope)?;
        let mark = self.cursor.token.kind;
        if !matches!(mark, Kind::Mark(b'>' | b'<' | b'=')) {
            return Err(self.cursor.unexpected("'>=', '<=' or '=='"));
        }
        self.cursor.take()?;
        self.cursor.expect(b'=')?;
        let right = self.read_affine(scope)?;
        let (left, right) = match mark {
            Kind::Mark(b'<') => (right, left),
            _ => (left, right),
        };
        let difference = subtracted(&mut scope.expressions, left, right);
        Ok((difference, mark == Kind::Mark(b'=')))
    }

    fn read_affine(&mut self, scope: &mut Scope<'t>) -> Read<Id> {
        let mut operators: Vec<Waiting> = Vec::new();
        let mut operands: Vec<Id> = Vec::new();
        loop {
            // An operand, after prefixes.
            let token = self.cursor.token;
            match token.kind {
                Kind::Mark(b'(') => {
                    operators.push(Waiting::Parenthesis);
                    self.cursor.take()?;
                    continue;
                }
                Kind::Mark(b'-') => {
                    operators.push(Waiting::Negation);
                    self.cursor.take()?;
                    continue;
                }
                Kind::Integer | Kind::Hex => {
                    let value = self.cursor.expect_number("a constant")?;
                    operands.push(scope.expressions.constant(value));
                }
                Kind::Word => match scope.names.get(self.cursor.slice(token)) {
                    Some(&id) => {
                        operands.push(id);
                        self.cursor.take()?;
                    }
                    None => {
                        return Err(self.cursor.unexpected("a dimension or symbol of the list"));
                    }
                },
                _ => return Err(self.cursor.unexpected("an affine expression")),
            }
            // Closing parentheses, and the next operator.
            loop {
                let token = self.cursor.token;
                let next = match token.kind {
                    Kind::Mark(b'+') => Some(Waiting::Binary(Op::Add, token)),
                    Kind::Mark(b'-') => Some(Waiting::Subtraction),
                    Kind::Mark(b'*') => Some(Waiting::Binary(Op::Mul, token)),
                    Kind::Word => match self.cursor.slice(token) {
                        b"floordiv" => Some(Waiting::Binary(Op::FloorDiv, token)),
                        b"ceildiv" => Some(Waiting::Binary(Op::CeilDiv, token)),
                        b"mod" => Some(Waiting::Binary(Op::Mod, token)),
                        _ => return Err(self.cursor.unexpected("an operator")),
                    },
                    _ => None,
                };
                let precedence = next.map_or(1, Waiting::precedence);
                while let Some(&top) = operators.last()
                    && top.precedence() >= precedence
                {
                    operators.pop();
                    combine(&mut scope.expressions, &mut operands, top)?;
                }
                if let Some(next) = next {
                    operators.push(next);
                    self.cursor.take()?;
                    break;
                }
                if operators.is_empty() {
                    return Ok(operands.pop().unwrap_or_default());
                }
                self.cursor.expect(b')')?;
                operators.pop();
            }
        }
    }
}

fn subtracted(expressions: &mut Expressions, left: Id, right: Id) -> Id {
    let minus = expressions.constant(-1);
    let right = expressions.apply(Op::Mul, right, minus);
    expressions.apply(Op::Add, left, right)
}

/// Applies an operator to the operands on the stack.
fn combine(expressions: &mut Expressions, operands: &mut Vec<Id>, op: Waiting) -> Read<()> {
    let right = operands.pop().unwrap_or_default();
    let result = match op {
        Waiting::Parenthesis => right,
        Waiting::Negation => {
            let minus = expressions.constant(-1);
            expressions.apply(Op::Mul, right, minus)
        }
        Waiting::Subtraction => {
            let left = operands.pop().unwrap_or_default();
            subtracted(expressions, left, right)
        }
        Waiting::Binary(op, token) => {
            let left = operands.pop().unwrap_or_default();
            let is_affine = match op {
                Op::Add => true,
                Op::Mul => expressions.is_symbolic(left) || expressions.is_symbolic(right),
                _ => expressions.is_symbolic(right),
            };
            if !is_affine {
                let message = "expected an operand without dimensions, as affine expressions need";
                return refuse(token, message);
            }
            expressions.apply(op, left, right)
        }
    };
    operands.push(result);
    Ok(())
}
