//! The program with factors in their new places.

use super::kinds::{Kind, Kinds};
use crate::attrs::{ReshapeAttrs, sizes};
use crate::passes::form::with_operands;
use crate::passes::graph::Id;
use crate::{AsExpr, op};
use isoform::{Error, Ref, Result};
use isoform_ir::ir::RelayExpr;

type Expr = Ref<RelayExpr>;

/// A product of factors by its position in a plan.
pub(super) type Factors = u32;

/// Where the factors of a program go.
pub(super) struct Plan {
    /// The products: a factor, and the rest of the product.
    products: Vec<(Id, i64, Option<Factors>)>,
    /// The operands that come in place of their multiplication with a factor.
    pub(super) gone: Vec<Option<Id>>,
    /// The factors taken by expressions.
    pub(super) taken: Vec<Option<Take>>,
}

/// An operand that takes a factor.
#[derive(Clone, Copy)]
pub(super) struct Take {
    pub(super) factors: Factors,
    /// The position of the argument.
    pub(super) arg: usize,
    /// The number of axes and the axis of the argument along which the factor lies.
    pub(super) rank: usize,
    pub(super) axis: usize,
    /// True if the operand is divided by the factor.
    pub(super) divides: bool,
}

impl Take {
    /// The vector of a call of `nn.bias_add`.
    pub(super) fn of_bias(factors: Factors, divides: bool) -> Take {
        Take {
            factors,
            arg: 1,
            rank: 1,
            axis: 0,
            divides,
        }
    }
}

impl Plan {
    pub(super) fn new(count: usize) -> Plan {
        Plan {
            products: Vec::new(),
            gone: vec![None; count],
            taken: vec![None; count],
        }
    }

    /// The product of a factor with this number of elements and other factors.
    pub(super) fn times(&mut self, factor: Id, count: i64, rest: Option<Factors>) -> Factors {
        self.products.push((factor, count, rest));
        self.products.len() as Factors - 1
    }

    /// The program with the factors in their places; the same object without factors.
    pub(super) fn rewritten(&self, kinds: &Kinds<'_>) -> Result<Expr> {
        let graph = kinds.graph;
        if self.gone.iter().all(Option::is_none) {
            return Ok(graph.expr(0).clone());
        }
        let count = graph.len();
        // The products follow the expressions.
        let mut results: Vec<Expr> = graph.exprs.clone();
        results.resize(count + self.products.len(), graph.expr(0).clone());
        let mut sizes_of = vec![1; self.products.len()];
        let mut is_done = vec![false; results.len()];
        let mut stack = vec![(0, false)];
        // A factor may be evaluated after the expression that takes it now, so the order is
        // that of the new program.
        while let Some((place, is_ready)) = stack.pop() {
            if is_done[place] {
                continue;
            }
            if !is_ready {
                stack.push((place, true));
                self.for_each_need(kinds, place, |need| {
                    if !is_done[need] {
                        stack.push((need, false));
                    }
                });
                continue;
            }
            is_done[place] = true;
            results[place] = match place.checked_sub(count) {
                None => self.expression(kinds, place as Id, &results, &sizes_of)?,
                Some(product) => {
                    let (factor, size, rest) = self.products[product];
                    let vector = reshaped(&results[factor as usize], &[size]);
                    sizes_of[product] = size;
                    match rest {
                        None => vector,
                        Some(rest) => {
                            sizes_of[product] = size.max(sizes_of[rest as usize]);
                            op::multiply(vector, &results[count + rest as usize]).expr()
                        }
                    }
                }
            };
        }
        results
            .into_iter()
            .next()
            .ok_or_else(|| Error::value_error("expected an expression"))
    }

    /// The places whose results another place needs.
    fn for_each_need(&self, kinds: &Kinds<'_>, place: usize, mut need: impl FnMut(usize)) {
        let count = kinds.graph.len();
        if let Some(product) = place.checked_sub(count) {
            let (factor, _, rest) = self.products[product];
            need(factor as usize);
            if let Some(rest) = rest {
                need(count + rest as usize);
            }
            return;
        }
        if let Some(operand) = self.gone[place] {
            need(operand as usize);
            return;
        }
        if let Some(take) = &self.taken[place] {
            need(count + take.factors as usize);
        }
        for operand in kinds.graph.operands(place as Id) {
            need(*operand as usize);
        }
    }

    fn expression(
        &self,
        kinds: &Kinds<'_>,
        id: Id,
        results: &[Expr],
        sizes_of: &[i64],
    ) -> Result<Expr> {
        let graph = kinds.graph;
        if let Some(operand) = self.gone[id as usize] {
            return Ok(results[operand as usize].clone());
        }
        let operands = graph.operands(id).iter();
        let mut operands: Vec<Expr> = operands.map(|id| results[*id as usize].clone()).collect();
        if let Some(take) = &self.taken[id as usize] {
            let mut shape = vec![1; take.rank];
            shape[take.axis] = sizes_of[take.factors as usize];
            let product = &results[graph.len() + take.factors as usize];
            let factor = reshaped(product, &shape);
            let operand = &mut operands[take.arg + 1];
            *operand = if take.divides {
                op::divide(&*operand, factor).expr()
            } else {
                op::multiply(&*operand, factor).expr()
            };
        }
        with_operands(graph.expr(id), &operands)
    }
}

fn reshaped(expr: &Expr, shape: &[i64]) -> Expr {
    let attrs = ReshapeAttrs::new(sizes(shape.iter().copied()));
    op::reshape(expr, attrs).expr()
}

impl Kinds<'_> {
    /// The weight of a product, which takes the factor of its result or of its data.
    pub(super) fn weight(&self, id: Id, factors: Factors, of_result: bool) -> Option<Take> {
        let Kind::Product(product) = self.kind(id) else {
            return None;
        };
        let (rank, axis) = if of_result {
            product.out_weight
        } else {
            product.data_weight?
        };
        Some(Take {
            factors,
            arg: 1,
            rank,
            axis,
            divides: false,
        })
    }
}
