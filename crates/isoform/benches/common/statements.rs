//! A program of many statements, in the statement dialect and as one would
//! write it without Isoform.

use std::sync::Arc;

use hashbrown::HashMap;
use isoform::Ref;
use isoform_pto::{
    Add, AssignStmt, ConstInt, DataType, ForStmt, Function, Mul, ReturnStmt, ScalarType, SeqStmts,
    Stmt, Var,
};

/// How many statements a loop has.
const BODY: usize = 99;

/// How many statements a program of so many loops has.
pub(crate) fn count(loops: usize) -> u64 {
    (loops * (BODY + 1)) as u64
}

/// Loops one after the other, each with assignments `next = last * i + number`.
pub(crate) fn program(loops: usize) -> Ref<Function> {
    let ty = ScalarType::new(DataType::Int64);
    let number = |number: usize| ConstInt::new(number as i64, DataType::Int64);
    let x = Var::new("x", &ty);
    let mut stmts: Vec<Ref<Stmt>> = Vec::with_capacity(loops + 1);
    for _ in 0..loops {
        let i = Var::new("i", &ty);
        let mut last = x.clone();
        let mut body: Vec<Ref<Stmt>> = Vec::with_capacity(BODY);
        for index in 0..BODY {
            let product = Mul::new(&last, &i, DataType::Int64);
            let sum = Add::new(product, number(index), DataType::Int64);
            last = Var::new("t", &ty);
            body.push(AssignStmt::new(&last, sum).upcast());
        }
        let body = SeqStmts::new(body);
        let bounds = [number(0), number(16), number(1)];
        let [start, stop, step] = bounds;
        stmts.push(ForStmt::new(i, start, stop, step, body).upcast());
    }
    stmts.push(ReturnStmt::new([x.clone().upcast()]).upcast());
    Function::new("f", [x], [ty.upcast()], SeqStmts::new(stmts))
}

/// The format of a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Format {
    Int64,
}

#[derive(PartialEq, Eq, Hash)]
enum Expr {
    Var(u32, Format),
    Int(i64, Format),
    Add(Arc<Expr>, Arc<Expr>, Format),
    Mul(Arc<Expr>, Arc<Expr>, Format),
}

#[derive(PartialEq, Eq, Hash)]
enum PlainStmt {
    Assign(Arc<Expr>, Arc<Expr>),
    For {
        var: Arc<Expr>,
        bounds: [Arc<Expr>; 3],
        body: Vec<Arc<PlainStmt>>,
    },
    Return(Arc<Expr>),
}

/// A function as an enum in `Arc`, with derived equality and hash.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct PlainFunction {
    param: Arc<Expr>,
    body: Vec<Arc<PlainStmt>>,
}

/// The same program.
pub(crate) fn plain_program(loops: usize) -> Arc<PlainFunction> {
    let ty = Format::Int64;
    let number = |number: usize| Arc::new(Expr::Int(number as i64, ty));
    let mut vars = 0;
    let mut var = || {
        vars += 1;
        Arc::new(Expr::Var(vars, ty))
    };
    let x = var();
    let mut stmts = Vec::with_capacity(loops + 1);
    for _ in 0..loops {
        let i = var();
        let mut last = Arc::clone(&x);
        let mut body = Vec::with_capacity(BODY);
        for index in 0..BODY {
            let product = Arc::new(Expr::Mul(last, Arc::clone(&i), ty));
            let sum = Arc::new(Expr::Add(product, number(index), ty));
            last = var();
            body.push(Arc::new(PlainStmt::Assign(Arc::clone(&last), sum)));
        }
        let bounds = [number(0), number(16), number(1)];
        stmts.push(Arc::new(PlainStmt::For {
            var: i,
            bounds,
            body,
        }));
    }
    stmts.push(Arc::new(PlainStmt::Return(Arc::clone(&x))));
    Arc::new(PlainFunction {
        param: x,
        body: stmts,
    })
}

/// The pairing of the variables of two programs.
#[derive(Default)]
struct Pairs {
    forth: HashMap<u32, u32>,
    back: HashMap<u32, u32>,
}

impl Pairs {
    fn bind(&mut self, left: &Expr, right: &Expr) -> bool {
        let (Expr::Var(left, ty), Expr::Var(right, other)) = (left, right) else {
            return false;
        };
        let is_new = self.forth.insert(*left, *right).is_none();
        ty == other && is_new && self.back.insert(*right, *left).is_none()
    }

    fn exprs(&self, left: &Expr, right: &Expr) -> bool {
        match (left, right) {
            (Expr::Var(left, ty), Expr::Var(right, other)) => {
                ty == other && self.forth.get(left) == Some(right)
            }
            (Expr::Int(left, ty), Expr::Int(right, other)) => left == right && ty == other,
            (Expr::Add(a, b, ty), Expr::Add(c, d, other))
            | (Expr::Mul(a, b, ty), Expr::Mul(c, d, other)) => {
                ty == other && self.exprs(a, c) && self.exprs(b, d)
            }
            _ => false,
        }
    }

    fn stmts(&mut self, left: &[Arc<PlainStmt>], right: &[Arc<PlainStmt>]) -> bool {
        let mut pairs = left.iter().zip(right);
        left.len() == right.len()
            && pairs.all(|(left, right)| match (&**left, &**right) {
                (PlainStmt::Assign(var, value), PlainStmt::Assign(other, other_value)) => {
                    self.bind(var, other) && self.exprs(value, other_value)
                }
                (
                    PlainStmt::For { var, bounds, body },
                    PlainStmt::For {
                        var: other,
                        bounds: others,
                        body: other_body,
                    },
                ) => {
                    self.bind(var, other)
                        && bounds.iter().zip(others).all(|(l, r)| self.exprs(l, r))
                        && self.stmts(body, other_body)
                }
                (PlainStmt::Return(value), PlainStmt::Return(other)) => self.exprs(value, other),
                _ => false,
            })
    }
}

/// Equality up to renaming, written by hand: maps of variables in both
/// directions, as PyPTO has them.
pub(crate) fn equal_renamed(left: &PlainFunction, right: &PlainFunction) -> bool {
    let mut pairs = Pairs::default();
    pairs.bind(&left.param, &right.param) && pairs.stmts(&left.body, &right.body)
}
