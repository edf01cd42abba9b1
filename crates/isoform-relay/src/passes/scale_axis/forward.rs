//! Factors of data go into the weights of the following products.

use super::kinds::{Kind, Kinds};
use super::plan::{Factors, Plan, Take};
use crate::passes::graph::{Id, Step};
use crate::passes::scopes::Scopes;
use isoform::Result;

/// The factors that the users of an expression take.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    /// There is no user so far.
    Anything,
    Nothing,
    /// A factor along an axis, which may have to be positive.
    Factor {
        axis: usize,
        positive: bool,
    },
}

impl Takes {
    fn and(self, other: Takes) -> Takes {
        match (self, other) {
            (Takes::Anything, one) | (one, Takes::Anything) => one,
            (
                Takes::Factor { axis, positive },
                Takes::Factor {
                    axis: other,
                    positive: also,
                },
            ) if axis == other => Takes::Factor {
                axis,
                positive: positive || also,
            },
            _ => Takes::Nothing,
        }
    }
}

/// The places of the factors.
pub(super) fn plan(kinds: &Kinds<'_>) -> Result<Plan> {
    let graph = kinds.graph;
    let takes = takes(kinds)?;
    let mut plan = Plan::new(graph.len());
    let mut carried: Vec<Option<Factors>> = vec![None; graph.len()];
    for step in &graph.steps {
        let Step::Done(id) = *step else {
            continue;
        };
        let of_arg = |arg: usize| carried[kinds.arg(id, arg) as usize];
        match kinds.kind(id) {
            Kind::Product(_) => {
                if let Some(factors) = of_arg(0) {
                    plan.taken[id as usize] = kinds.weight(id, factors, false);
                }
            }
            Kind::Positive => carried[id as usize] = of_arg(0),
            Kind::Multiply => {
                let Some((whole, other)) = kinds.whole_and_other(id) else {
                    continue;
                };
                let (below, factor) = (kinds.arg(id, whole), kinds.arg(id, other));
                carried[id as usize] = of_arg(whole);
                if let Takes::Factor { axis, positive } = takes[id as usize]
                    && let Some(count) = kinds.factor(factor, id, axis)
                    && kinds.may_be_factor(factor, positive)?
                {
                    let rest = carried[below as usize];
                    plan.gone[id as usize] = Some(below);
                    carried[id as usize] = Some(plan.times(factor, count, rest));
                }
            }
            Kind::Add => {
                let (Some((whole, other)), Takes::Factor { axis, .. }) =
                    (kinds.whole_and_other(id), takes[id as usize])
                else {
                    continue;
                };
                let of_whole = of_arg(whole);
                carried[id as usize] = of_whole;
                plan.taken[id as usize] = of_whole.map(|factors| Take {
                    factors,
                    arg: other,
                    rank: kinds.shape(id).map_or(0, |shape| shape.len()),
                    axis,
                    divides: true,
                });
            }
            Kind::Bias(_) => {
                let of_data = of_arg(0);
                carried[id as usize] = of_data;
                plan.taken[id as usize] = of_data.map(|factors| Take::of_bias(factors, true));
            }
            Kind::Other => {}
        }
    }
    Ok(plan)
}

/// The factors that the users of every expression take.
fn takes(kinds: &Kinds<'_>) -> Result<Vec<Takes>> {
    let graph = kinds.graph;
    let scopes = Scopes::of(graph, false)?;
    let mut takes = vec![Takes::Anything; graph.len()];
    takes[0] = Takes::Nothing;
    for id in graph.users_first() {
        for (position, operand) in graph.operands(id).iter().enumerate() {
            let use_takes = match position.checked_sub(1) {
                Some(arg) if scopes.scope(*operand) == scopes.scope(id) => {
                    of_use(kinds, id, arg, takes[id as usize])
                }
                _ => Takes::Nothing,
            };
            let known = &mut takes[*operand as usize];
            *known = known.and(use_takes);
        }
    }
    Ok(takes)
}

/// The factors that an argument of a call takes, if its result takes `own`.
fn of_use(kinds: &Kinds<'_>, id: Id, arg: usize, own: Takes) -> Takes {
    let is_whole = || {
        let found = kinds.whole_and_other(id);
        found.is_some_and(|(whole, _)| whole == arg)
    };
    match (kinds.kind(id), own) {
        (Kind::Product(product), _) if arg == 0 && product.data_weight.is_some() => Takes::Factor {
            axis: product.data_axis,
            positive: false,
        },
        (Kind::Positive, Takes::Factor { axis, .. }) => Takes::Factor {
            axis,
            positive: true,
        },
        (Kind::Multiply, Takes::Factor { .. }) if is_whole() => own,
        (Kind::Bias(bias), Takes::Factor { axis, .. }) if arg == 0 && *bias == axis => {
            Takes::Factor {
                axis,
                positive: true,
            }
        }
        (Kind::Add, Takes::Factor { axis, .. })
            if is_whole() && kinds.factor(kinds.arg(id, 1 - arg), id, axis).is_some() =>
        {
            Takes::Factor {
                axis,
                positive: true,
            }
        }
        _ => Takes::Nothing,
    }
}
