//! Ensembles of decision trees in the form of version 5: nodes that name the nodes and
//! leaves below.

use super::inputs::tensor_numbers;
use super::scores::PostTransform;
use super::trees::{Aggregate, Comparison, Forest, Next, Node, aggregated};
use crate::eval::args::Args;
use crate::eval::ops::kernel::Kernel;
use crate::eval::refusal::Refusal;
use crate::eval::results::Outcome;
use crate::eval::strings::sizes;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "TreeEnsemble" => tree_ensemble,
        _ => return None,
    })
}

fn tree_ensemble(args: &Args<'_>) -> Outcome {
    let ints = |name: &str| {
        let ints = args.ints(name)?;
        ints.ok_or_else(|| args.fault(format!("expected attribute '{name}'")))
    };
    let forest = forest(args, &ints)?;
    let leaf_targets = sizes(&ints("leaf_targetids")?)?;
    let leaf_weights = tensor_numbers(args, "leaf_weights")?.unwrap_or_default();
    if leaf_weights.len() != leaf_targets.len() {
        return Err(args.fault(format!(
            "expected {} leaf_weights, got {}",
            leaf_targets.len(),
            leaf_weights.len()
        )));
    }
    let weights: Vec<Vec<(usize, f64)>> = leaf_targets
        .into_iter()
        .zip(leaf_weights)
        .map(|leaf| vec![leaf])
        .collect();
    let all = forest.nodes.iter().flat_map(|node| [node.yes, node.no]);
    for next in all.chain(forest.roots.iter().copied()) {
        if let Next::Leaf(leaf) = next
            && leaf >= weights.len()
        {
            return Err(args.fault(format!(
                "expected leaves below {}, got {leaf}",
                weights.len()
            )));
        }
    }
    let aggregate = match args.int("aggregate_function", 1)? {
        0 => Aggregate::Average,
        1 => Aggregate::Sum,
        2 => Aggregate::Min,
        3 => Aggregate::Max,
        other => {
            return Err(args.fault(format!(
                "expected an aggregate_function of 0 to 3, got {other}"
            )));
        }
    };
    let transform = match args.int("post_transform", 0)? {
        0 => PostTransform::None,
        1 => PostTransform::Softmax,
        2 => PostTransform::Logistic,
        3 => PostTransform::SoftmaxZero,
        4 => PostTransform::Probit,
        other => {
            return Err(args.fault(format!("expected a post_transform of 0 to 4, got {other}")));
        }
    };
    let targets = args.size("n_targets", 0)?;
    if targets == 1 && transform != PostTransform::None {
        return Err(args.fault("runtimes differ in what a post_transform makes of one score"));
    }
    let mut scores = aggregated(args, &forest, &weights, aggregate, targets)?;
    for row in scores.data.chunks_exact_mut(targets.max(1)) {
        transform.apply(args, row)?;
    }
    Ok(vec![
        scores.made(args.input(0)?.element_type(), args.control)?,
    ])
}

fn forest(
    args: &Args<'_>,
    ints: &dyn Fn(&str) -> Result<Vec<i64>, Refusal>,
) -> Result<Forest, Refusal> {
    let features = sizes(&ints("nodes_featureids")?)?;
    let (yes, no) = (
        sizes(&ints("nodes_truenodeids")?)?,
        sizes(&ints("nodes_falsenodeids")?)?,
    );
    let (yes_leaf, no_leaf) = (ints("nodes_trueleafs")?, ints("nodes_falseleafs")?);
    let splits = tensor_numbers(args, "nodes_splits")?.unwrap_or_default();
    let modes = tensor_numbers(args, "nodes_modes")?.unwrap_or_default();
    let missing = args.ints("nodes_missing_value_tracks_true")?;
    let missing = missing.filter(|missing| !missing.is_empty());
    let count = features.len();
    let lengths = [
        yes.len(),
        no.len(),
        yes_leaf.len(),
        no_leaf.len(),
        splits.len(),
        modes.len(),
    ];
    if lengths.iter().any(|length| *length != count)
        || missing
            .as_ref()
            .is_some_and(|missing| missing.len() != count)
    {
        return Err(args.fault(format!(
            "expected {count} entries in each of the attributes 'nodes_…', got {lengths:?}"
        )));
    }
    // The lists of all nodes that compare with several numbers. A NaN ends a list.
    let members = tensor_numbers(args, "membership_values")?.unwrap_or_default();
    let mut members = members.split(|member| member.is_nan());
    let next = |index: usize, leaf: i64| match leaf {
        0 => Next::Node(index),
        _ => Next::Leaf(index),
    };
    let mut nodes = Vec::with_capacity(count);
    for index in 0..count {
        let comparison = match modes[index] {
            0.0 => Comparison::AtMost,
            1.0 => Comparison::Below,
            2.0 => Comparison::AtLeast,
            3.0 => Comparison::Above,
            4.0 => Comparison::Equal,
            5.0 => Comparison::Unequal,
            6.0 => Comparison::Member,
            other => {
                return Err(args.fault(format!("expected a mode of 0 to 6, got {other}")));
            }
        };
        let members = match comparison {
            Comparison::Member => members
                .next()
                .filter(|members| !members.is_empty())
                .ok_or_else(|| {
                    args.fault("expected membership_values for each node that needs them")
                })?
                .to_vec(),
            _ => Vec::new(),
        };
        nodes.push(Node {
            feature: features[index],
            comparison,
            value: splits[index],
            members,
            follows_missing: missing.as_ref().is_some_and(|missing| missing[index] != 0),
            yes: next(yes[index], yes_leaf[index]),
            no: next(no[index], no_leaf[index]),
        });
    }
    let roots = sizes(&ints("tree_roots")?)?.into_iter().map(|root| {
        let node = nodes
            .get(root)
            .ok_or_else(|| args.fault(format!("expected roots below {count}, got {root}")))?;
        Ok(match (node.yes, node.no) {
            // A tree of one leaf has a node that leads to the leaf either way.
            (Next::Leaf(yes), Next::Leaf(no)) if yes == no => Next::Leaf(yes),
            _ => Next::Node(root),
        })
    });
    let roots = roots.collect::<Result<Vec<Next>, Refusal>>()?;
    Ok(Forest { nodes, roots })
}
