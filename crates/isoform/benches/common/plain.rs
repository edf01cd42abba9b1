//! The alternative to Isoform: an enum in `Arc`, with derived
//! equality and hash. It recurses, and supports neither sharing nor renaming.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rapidhash::fast::RapidHasher;
use serde::{Deserialize, Serialize};

use super::orders::Order;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Expr {
    Var(u32),
    Int(i64),
    Add(Arc<Expr>, Arc<Expr>),
    Lambda(Vec<u32>, Arc<Expr>),
}

/// The workload W.
pub(crate) fn lambda(depth: u32) -> Arc<Expr> {
    lambda_in(Order::ChildrenFirst, depth)
}

/// W built in an order.
pub(crate) fn lambda_in(order: Order, depth: u32) -> Arc<Expr> {
    let var = Arc::new(Expr::Var(0));
    let mut leaf = |number: i64| {
        if number % 2 == 1 {
            Arc::clone(&var)
        } else {
            Arc::new(Expr::Int(number))
        }
    };
    let mut inner = |lhs, rhs| Arc::new(Expr::Add(lhs, rhs));
    let body = order.tree(depth, &mut leaf, &mut inner);
    Arc::new(Expr::Lambda(vec![0], body))
}

/// An array of numbers.
pub(crate) fn wide(count: usize) -> Vec<Expr> {
    (0..count as i64).map(Expr::Int).collect()
}

pub(crate) fn hash<T: Hash>(value: &T) -> u64 {
    let mut hasher = RapidHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Equality up to renaming, written by hand.
pub(crate) fn equal_renamed(left: &Expr, right: &Expr) -> bool {
    fn equal(left: &Expr, right: &Expr, bound: &mut Vec<(u32, u32)>) -> bool {
        match (left, right) {
            (Expr::Var(left), Expr::Var(right)) => {
                let pair = bound.iter().rev().find(|(l, r)| l == left || r == right);
                pair.map_or(left == right, |pair| *pair == (*left, *right))
            }
            (Expr::Int(left), Expr::Int(right)) => left == right,
            (Expr::Add(left, lhs), Expr::Add(right, rhs)) => {
                equal(left, right, bound) && equal(lhs, rhs, bound)
            }
            (Expr::Lambda(left, lhs), Expr::Lambda(right, rhs)) => {
                if left.len() != right.len() {
                    return false;
                }
                let outer = bound.len();
                bound.extend(left.iter().copied().zip(right.iter().copied()));
                let equal = equal(lhs, rhs, bound);
                bound.truncate(outer);
                equal
            }
            _ => false,
        }
    }
    equal(left, right, &mut Vec::new())
}

/// A walk over all nodes with a callback, written by hand.
pub(crate) fn walk(expr: &Expr, callback: &mut impl FnMut(&Expr)) {
    match expr {
        Expr::Var(_) | Expr::Int(_) => {}
        Expr::Add(lhs, rhs) => {
            walk(lhs, callback);
            walk(rhs, callback);
        }
        Expr::Lambda(_, body) => walk(body, callback),
    }
    callback(expr);
}
