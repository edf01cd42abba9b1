//! Programs of Relay, and the same programs as an enum in `Arc` with the visitor and the
//! mutator that one would write for it by hand.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use isoform::Ref;
use isoform::values::{DType, Tensor};
use isoform_ir::ir::{Op, RelayExpr};
use isoform_relay::analysis::post_order_visit;
use isoform_relay::{AsExpr, Call, Constant, Function, If, Let, Tuple, TupleGetItem, Var, op};
use rapidhash::fast::RandomState;

/// The constructors of a representation of programs.
pub(crate) trait Build {
    type Expr: Clone;

    fn var(&self, name: &str) -> Self::Expr;
    fn constant(&self, number: i64) -> Self::Expr;
    /// A sum.
    fn sum(&self, left: &Self::Expr, right: &Self::Expr) -> Self::Expr;
    fn bind(&self, var: &Self::Expr, value: &Self::Expr, body: &Self::Expr) -> Self::Expr;
    fn choose(&self, cond: &Self::Expr, yes: &Self::Expr, no: &Self::Expr) -> Self::Expr;
    fn pair(&self, left: &Self::Expr, right: &Self::Expr) -> Self::Expr;
    fn first(&self, tuple: &Self::Expr) -> Self::Expr;
    fn function(&self, param: &Self::Expr, body: &Self::Expr) -> Self::Expr;
}

/// A function whose body is a tree of this depth, mostly of sums, with a `let`, an `if`, a
/// tuple and a sum of a shared part among each eight of them. It is built children first.
pub(crate) fn program<B: Build>(build: &B, depth: u32) -> B::Expr {
    let x = build.var("x");
    let body = tree(build, &x, depth, &mut 0);
    build.function(&x, &body)
}

fn tree<B: Build>(build: &B, x: &B::Expr, depth: u32, count: &mut i64) -> B::Expr {
    *count += 1;
    let number = *count;
    if depth == 0 {
        return match number % 2 {
            0 => x.clone(),
            _ => build.constant(number),
        };
    }
    let left = tree(build, x, depth - 1, count);
    let right = tree(build, x, depth - 1, count);
    match number % 8 {
        0 => {
            let var = build.var("v");
            build.bind(&var, &left, &build.sum(&var, &right))
        }
        1 => build.choose(x, &left, &right),
        2 => build.first(&build.pair(&left, &right)),
        3 => {
            let shared = build.sum(&left, &right);
            build.sum(&shared, &shared)
        }
        _ => build.sum(&left, &right),
    }
}

/// Makes programs of Relay.
pub(crate) struct Nodes(Ref<Op>);

impl Nodes {
    pub(crate) fn new() -> Nodes {
        // Registers the operators.
        drop(op::add(Var::new("x"), Var::new("y")));
        Nodes(Op::get("add").expect("an operator"))
    }
}

impl Build for Nodes {
    type Expr = Ref<RelayExpr>;

    fn var(&self, name: &str) -> Self::Expr {
        Var::new(name).expr()
    }

    fn constant(&self, number: i64) -> Self::Expr {
        let tensor = Tensor::new(DType::INT64, vec![], number.to_le_bytes().to_vec());
        Constant::new(tensor.expect("a scalar")).expr()
    }

    fn sum(&self, left: &Self::Expr, right: &Self::Expr) -> Self::Expr {
        Call::new(&self.0, [left.clone(), right.clone()]).expr()
    }

    fn bind(&self, var: &Self::Expr, value: &Self::Expr, body: &Self::Expr) -> Self::Expr {
        Let::new(variable(var), value, body).expr()
    }

    fn choose(&self, cond: &Self::Expr, yes: &Self::Expr, no: &Self::Expr) -> Self::Expr {
        If::new(cond, yes, no).expr()
    }

    fn pair(&self, left: &Self::Expr, right: &Self::Expr) -> Self::Expr {
        Tuple::new([left.clone(), right.clone()]).expr()
    }

    fn first(&self, tuple: &Self::Expr) -> Self::Expr {
        TupleGetItem::new(tuple, 0).expr()
    }

    fn function(&self, param: &Self::Expr, body: &Self::Expr) -> Self::Expr {
        Function::new([variable(param)], body).expr()
    }
}

fn variable(expr: &Ref<RelayExpr>) -> Ref<Var> {
    expr.downcast_ref::<Var>().expect("a variable").clone()
}

/// The number of distinct expressions.
pub(crate) fn expressions(root: &Ref<RelayExpr>) -> u64 {
    let mut count = 0;
    post_order_visit(root, |_| {
        count += 1;
        Ok(())
    })
    .expect("the function does not fail");
    count
}

/// An expression as an enum.
pub(crate) enum Expr {
    Var(String),
    Constant(i64),
    Op(&'static str),
    Call {
        op: Arc<Expr>,
        args: Vec<Arc<Expr>>,
    },
    Let {
        var: Arc<Expr>,
        value: Arc<Expr>,
        body: Arc<Expr>,
    },
    If {
        cond: Arc<Expr>,
        yes: Arc<Expr>,
        no: Arc<Expr>,
    },
    Tuple(Vec<Arc<Expr>>),
    Item(Arc<Expr>, usize),
    Function {
        params: Vec<Arc<Expr>>,
        body: Arc<Expr>,
    },
}

/// Makes programs of the enum.
pub(crate) struct Plain(Arc<Expr>);

impl Plain {
    pub(crate) fn new() -> Plain {
        Plain(Arc::new(Expr::Op("add")))
    }
}

impl Build for Plain {
    type Expr = Arc<Expr>;

    fn var(&self, name: &str) -> Self::Expr {
        Arc::new(Expr::Var(name.to_owned()))
    }

    fn constant(&self, number: i64) -> Self::Expr {
        Arc::new(Expr::Constant(number))
    }

    fn sum(&self, left: &Self::Expr, right: &Self::Expr) -> Self::Expr {
        Arc::new(Expr::Call {
            op: Arc::clone(&self.0),
            args: vec![Arc::clone(left), Arc::clone(right)],
        })
    }

    fn bind(&self, var: &Self::Expr, value: &Self::Expr, body: &Self::Expr) -> Self::Expr {
        Arc::new(Expr::Let {
            var: Arc::clone(var),
            value: Arc::clone(value),
            body: Arc::clone(body),
        })
    }

    fn choose(&self, cond: &Self::Expr, yes: &Self::Expr, no: &Self::Expr) -> Self::Expr {
        Arc::new(Expr::If {
            cond: Arc::clone(cond),
            yes: Arc::clone(yes),
            no: Arc::clone(no),
        })
    }

    fn pair(&self, left: &Self::Expr, right: &Self::Expr) -> Self::Expr {
        Arc::new(Expr::Tuple(vec![Arc::clone(left), Arc::clone(right)]))
    }

    fn first(&self, tuple: &Self::Expr) -> Self::Expr {
        Arc::new(Expr::Item(Arc::clone(tuple), 0))
    }

    fn function(&self, param: &Self::Expr, body: &Self::Expr) -> Self::Expr {
        Arc::new(Expr::Function {
            params: vec![Arc::clone(param)],
            body: Arc::clone(body),
        })
    }
}

/// The expressions that a traversal by hand remembers, and so meets once.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Remembered {
    /// All, as visitors of compilers do.
    All,
    /// Those with several owners: the others are met once anyway.
    Shared,
}

impl Remembered {
    pub(crate) const EACH: [(&str, Remembered); 2] = [
        ("", Remembered::All),
        (
            ", against one that remembers only shared parts",
            Remembered::Shared,
        ),
    ];

    fn has(self, expr: &Arc<Expr>) -> bool {
        self == Remembered::All || Arc::strong_count(expr) > 1
    }
}

/// A visitor by hand: each expression once, and a method to override for calls.
pub(crate) trait Visitor {
    /// True for an expression that was not met before.
    fn enter(&mut self, expr: &Arc<Expr>) -> bool;

    fn visit_call(&mut self, op: &Arc<Expr>, args: &[Arc<Expr>]) {
        self.visit(op);
        args.iter().for_each(|arg| self.visit(arg));
    }

    fn visit(&mut self, expr: &Arc<Expr>) {
        if !self.enter(expr) {
            return;
        }
        match &**expr {
            Expr::Var(_) | Expr::Constant(_) | Expr::Op(_) => {}
            Expr::Call { op, args } => self.visit_call(op, args),
            Expr::Let { var, value, body } => {
                self.visit(value);
                self.visit(var);
                self.visit(body);
            }
            Expr::If { cond, yes, no } => {
                self.visit(cond);
                self.visit(yes);
                self.visit(no);
            }
            Expr::Tuple(items) => items.iter().for_each(|item| self.visit(item)),
            Expr::Item(tuple, _) => self.visit(tuple),
            Expr::Function { params, body } => {
                params.iter().for_each(|param| self.visit(param));
                self.visit(body);
            }
        }
    }
}

/// Counts calls.
pub(crate) struct CountCalls {
    remembered: Remembered,
    seen: HashSet<*const Expr, RandomState>,
    pub(crate) calls: u64,
}

impl CountCalls {
    pub(crate) fn new(remembered: Remembered) -> Self {
        CountCalls {
            remembered,
            seen: HashSet::default(),
            calls: 0,
        }
    }
}

impl Visitor for CountCalls {
    fn enter(&mut self, expr: &Arc<Expr>) -> bool {
        !self.remembered.has(expr) || self.seen.insert(Arc::as_ptr(expr))
    }

    fn visit_call(&mut self, op: &Arc<Expr>, args: &[Arc<Expr>]) {
        self.calls += 1;
        self.visit(op);
        args.iter().for_each(|arg| self.visit(arg));
    }
}

/// A mutator by hand: what does not change stays the same object, and what is shared stays
/// so. `rewrite` may replace a call after its parts.
pub(crate) struct Mutator<F> {
    remembered: Remembered,
    memo: HashMap<*const Expr, Arc<Expr>, RandomState>,
    rewrite: F,
}

impl<F: FnMut(&Arc<Expr>) -> Option<Arc<Expr>>> Mutator<F> {
    pub(crate) fn new(remembered: Remembered, rewrite: F) -> Self {
        Mutator {
            remembered,
            memo: HashMap::default(),
            rewrite,
        }
    }

    pub(crate) fn mutate(&mut self, expr: &Arc<Expr>) -> Arc<Expr> {
        let is_remembered = self.remembered.has(expr);
        if is_remembered && let Some(known) = self.memo.get(&Arc::as_ptr(expr)) {
            return Arc::clone(known);
        }
        let made = self.rebuilt(expr);
        if is_remembered {
            self.memo.insert(Arc::as_ptr(expr), Arc::clone(&made));
        }
        made
    }

    fn all(&mut self, exprs: &[Arc<Expr>]) -> Option<Vec<Arc<Expr>>> {
        let made: Vec<_> = exprs.iter().map(|expr| self.mutate(expr)).collect();
        let mut pairs = made.iter().zip(exprs);
        pairs
            .any(|(made, expr)| !Arc::ptr_eq(made, expr))
            .then_some(made)
    }

    fn rebuilt(&mut self, expr: &Arc<Expr>) -> Arc<Expr> {
        match &**expr {
            Expr::Var(_) | Expr::Constant(_) | Expr::Op(_) => Arc::clone(expr),
            Expr::Call { op, args } => {
                let made_op = self.mutate(op);
                let made_args = self.all(args);
                let call = if made_args.is_none() && Arc::ptr_eq(&made_op, op) {
                    Arc::clone(expr)
                } else {
                    Arc::new(Expr::Call {
                        op: made_op,
                        args: made_args.unwrap_or_else(|| args.clone()),
                    })
                };
                (self.rewrite)(&call).unwrap_or(call)
            }
            Expr::Let { var, value, body } => {
                let parts = [var, value, body].map(|part| self.mutate(part));
                let [new_var, new_value, new_body] = parts;
                if Arc::ptr_eq(&new_var, var)
                    && Arc::ptr_eq(&new_value, value)
                    && Arc::ptr_eq(&new_body, body)
                {
                    Arc::clone(expr)
                } else {
                    Arc::new(Expr::Let {
                        var: new_var,
                        value: new_value,
                        body: new_body,
                    })
                }
            }
            Expr::If { cond, yes, no } => {
                let [new_cond, new_yes, new_no] = [cond, yes, no].map(|part| self.mutate(part));
                if Arc::ptr_eq(&new_cond, cond)
                    && Arc::ptr_eq(&new_yes, yes)
                    && Arc::ptr_eq(&new_no, no)
                {
                    Arc::clone(expr)
                } else {
                    Arc::new(Expr::If {
                        cond: new_cond,
                        yes: new_yes,
                        no: new_no,
                    })
                }
            }
            Expr::Tuple(items) => match self.all(items) {
                None => Arc::clone(expr),
                Some(items) => Arc::new(Expr::Tuple(items)),
            },
            Expr::Item(tuple, index) => {
                let new_tuple = self.mutate(tuple);
                if Arc::ptr_eq(&new_tuple, tuple) {
                    Arc::clone(expr)
                } else {
                    Arc::new(Expr::Item(new_tuple, *index))
                }
            }
            Expr::Function { params, body } => {
                let (made_params, made_body) = (self.all(params), self.mutate(body));
                if made_params.is_none() && Arc::ptr_eq(&made_body, body) {
                    Arc::clone(expr)
                } else {
                    Arc::new(Expr::Function {
                        params: made_params.unwrap_or_else(|| params.clone()),
                        body: made_body,
                    })
                }
            }
        }
    }
}
