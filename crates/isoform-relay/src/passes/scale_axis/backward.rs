//! Factors of results go into the weights of the products before.

use super::kinds::{Kind, Kinds};
use super::plan::{Factors, Plan, Take};
use crate::passes::graph::{Id, Step};
use isoform::Result;

/// An expression that can leave a factor to the weights below it.
#[derive(Clone, Copy)]
struct Leaves {
    /// The axis of the factor.
    axis: usize,
    /// True if the factor must be positive.
    positive: bool,
}

/// The places of the factors.
pub(super) fn plan(kinds: &Kinds<'_>) -> Result<Plan> {
    let graph = kinds.graph;
    let leaves = leaves(kinds);
    let mut plan = Plan::new(graph.len());
    let mut waiting: Vec<Option<Factors>> = vec![None; graph.len()];
    for id in graph.users_first() {
        let mut factors = waiting[id as usize];
        if let Some((below, factor, count)) = folded(kinds, &leaves, id)? {
            plan.gone[id as usize] = Some(below);
            waiting[below as usize] = Some(plan.times(factor, count, factors.take()));
        }
        let (Some(factors), Some(own)) = (factors, leaves[id as usize]) else {
            continue;
        };
        match kinds.kind(id) {
            Kind::Product(_) => plan.taken[id as usize] = kinds.weight(id, factors, true),
            Kind::Add => {
                for arg in [0, 1] {
                    let operand = kinds.arg(id, arg);
                    if leaves[operand as usize].is_some_and(|leaves| leaves.axis == own.axis)
                        && kinds.shape(operand) == kinds.shape(id)
                    {
                        waiting[operand as usize] = Some(factors);
                    } else {
                        plan.taken[id as usize] = Some(Take {
                            factors,
                            arg,
                            rank: kinds.shape(id).map_or(0, |shape| shape.len()),
                            axis: own.axis,
                            divides: false,
                        });
                    }
                }
            }
            Kind::Bias(_) => {
                waiting[kinds.arg(id, 0) as usize] = Some(factors);
                plan.taken[id as usize] = Some(Take::of_bias(factors, false));
            }
            Kind::Positive => waiting[kinds.arg(id, 0) as usize] = Some(factors),
            Kind::Multiply => {
                if let Some((whole, _)) = kinds.whole_and_other(id) {
                    waiting[kinds.arg(id, whole) as usize] = Some(factors);
                }
            }
            Kind::Other => {}
        }
    }
    Ok(plan)
}

/// The operand, the factor and the number of its elements, for a multiplication that
/// disappears.
fn folded(kinds: &Kinds<'_>, leaves: &[Option<Leaves>], id: Id) -> Result<Option<(Id, Id, i64)>> {
    if !matches!(kinds.kind(id), Kind::Multiply) {
        return Ok(None);
    }
    let Some((whole, other)) = kinds.whole_and_other(id) else {
        return Ok(None);
    };
    let (below, factor) = (kinds.arg(id, whole), kinds.arg(id, other));
    let Some(Leaves { axis, positive }) = leaves[below as usize] else {
        return Ok(None);
    };
    let Some(count) = kinds.factor(factor, id, axis) else {
        return Ok(None);
    };
    let may_fold = kinds.may_be_factor(factor, positive)?;
    Ok(may_fold.then_some((below, factor, count)))
}

/// The expressions that can leave factors to weights: their only use is in this chain.
fn leaves(kinds: &Kinds<'_>) -> Vec<Option<Leaves>> {
    let graph = kinds.graph;
    let mut uses = vec![0_u32; graph.len()];
    for id in 0..graph.len() as Id {
        for operand in graph.operands(id) {
            uses[*operand as usize] += 1;
        }
    }
    let mut leaves: Vec<Option<Leaves>> = vec![None; graph.len()];
    for step in &graph.steps {
        if let Step::Done(id) = *step
            && uses[id as usize] == 1
        {
            leaves[id as usize] = own(kinds, &leaves, id);
        }
    }
    leaves
}

fn own(kinds: &Kinds<'_>, leaves: &[Option<Leaves>], id: Id) -> Option<Leaves> {
    let of_arg = |arg: usize| leaves[kinds.arg(id, arg) as usize];
    match kinds.kind(id) {
        Kind::Product(product) => Some(Leaves {
            axis: product.out_axis,
            positive: false,
        }),
        Kind::Positive => of_arg(0).map(|leaves| Leaves {
            positive: true,
            ..leaves
        }),
        Kind::Multiply => of_arg(kinds.whole_and_other(id)?.0),
        Kind::Bias(axis) => of_arg(0).filter(|leaves| leaves.axis == *axis),
        Kind::Add => {
            let shape = kinds.shape(id)?;
            let whole = |arg: usize| {
                let is_whole = kinds.shape(kinds.arg(id, arg)).as_ref() == Some(&shape);
                of_arg(arg).filter(|_| is_whole)
            };
            match (whole(0), whole(1)) {
                (Some(left), Some(right)) if left.axis == right.axis => Some(Leaves {
                    axis: left.axis,
                    positive: left.positive || right.positive,
                }),
                (Some(one), None) => bias(kinds, id, 1, one),
                (None, Some(one)) => bias(kinds, id, 0, one),
                _ => None,
            }
        }
        Kind::Other => None,
    }
}

/// A sum with a bias leaves what its other operand leaves.
fn bias(kinds: &Kinds<'_>, id: Id, arg: usize, other: Leaves) -> Option<Leaves> {
    kinds
        .factor(kinds.arg(id, arg), id, other.axis)
        .map(|_| other)
}
