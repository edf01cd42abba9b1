//! Ensembles of decision trees in the form before version 5: lists of nodes and leaves,
//! with the numbers of their trees.

use std::collections::{HashMap, HashSet};

use isoform_kernels::ElementType;

use super::inputs::{observations, tensor_numbers};
use super::linear::classified;
use super::scores::{Classes, PostTransform};
use crate::eval::args::Args;
use crate::eval::ops::dense::{Dense, Work};
use crate::eval::ops::kernel::Kernel;
use crate::eval::refusal::Refusal;
use crate::eval::results::Outcome;

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "TreeEnsembleClassifier" => classifier,
        "TreeEnsembleRegressor" => regressor,
        _ => return None,
    })
}

/// How the number of a feature is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    AtMost,
    Below,
    AtLeast,
    Above,
    Equal,
    Unequal,
    /// With each of a list of numbers.
    Member,
}

/// The continuation after a comparison.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    Node(usize),
    Leaf(usize),
}

pub(super) struct Node {
    pub(super) feature: usize,
    pub(super) comparison: Comparison,
    pub(super) value: f64,
    pub(super) members: Vec<f64>,
    /// True if a missing number (a NaN) continues like a true comparison.
    pub(super) follows_missing: bool,
    pub(super) yes: Next,
    pub(super) no: Next,
}

pub(super) struct Forest {
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<Next>,
}

impl Forest {
    /// The leaves reached by an observation, one for each tree. O(nodes passed).
    pub(super) fn leaves(
        &self,
        args: &Args<'_>,
        row: &[f64],
        work: &mut Work<'_>,
    ) -> Result<Vec<usize>, Refusal> {
        let mut leaves = Vec::with_capacity(self.roots.len());
        for root in &self.roots {
            let (mut next, mut steps) = (*root, 0);
            leaves.push(loop {
                let index = match next {
                    Next::Leaf(index) => break index,
                    Next::Node(index) => index,
                };
                steps += 1;
                let node = self
                    .nodes
                    .get(index)
                    .filter(|_| steps <= self.nodes.len())
                    .ok_or_else(|| args.fault("expected trees, got a cycle of nodes"))?;
                let value = row.get(node.feature).copied().ok_or_else(|| {
                    args.fault(format!(
                        "expected features below {}, got {}",
                        row.len(),
                        node.feature
                    ))
                })?;
                next = if node.holds(args, value)? {
                    node.yes
                } else {
                    node.no
                };
                work.advance(1 + node.members.len())?;
            });
        }
        Ok(leaves)
    }
}

impl Node {
    fn holds(&self, args: &Args<'_>, x: f64) -> Result<bool, Refusal> {
        if x.is_nan() {
            if self.comparison == Comparison::Unequal && !self.follows_missing {
                return Err(args.fault("runtimes differ in whether NaN is unequal"));
            }
            return Ok(self.follows_missing);
        }
        Ok(match self.comparison {
            Comparison::AtMost => x <= self.value,
            Comparison::Below => x < self.value,
            Comparison::AtLeast => x >= self.value,
            Comparison::Above => x > self.value,
            Comparison::Equal => x == self.value,
            Comparison::Unequal => x != self.value,
            Comparison::Member => self.members.contains(&x),
        })
    }
}

/// The weights added by leaves: for each leaf, targets and weights.
type Weights = Vec<Vec<(usize, f64)>>;

/// A list of numbers, given as a tensor of doubles if more precision is needed.
fn numbers(args: &Args<'_>, name: &str) -> Result<Option<Vec<f64>>, Refusal> {
    match args.floats(name)? {
        Some(numbers) if !numbers.is_empty() => Ok(Some(numbers)),
        _ => tensor_numbers(args, &format!("{name}_as_tensor")),
    }
}

/// The trees of a call, and the weights that their leaves add to targets; the prefix is
/// `target` or `class`.
fn forest(args: &Args<'_>, prefix: &str) -> Result<(Forest, Weights), Refusal> {
    let ints = |name: &str| {
        let ints = args.ints(name)?;
        ints.ok_or_else(|| args.fault(format!("expected attribute '{name}'")))
    };
    let (trees, ids) = (ints("nodes_treeids")?, ints("nodes_nodeids")?);
    let (yes, no) = (ints("nodes_truenodeids")?, ints("nodes_falsenodeids")?);
    let features = ints("nodes_featureids")?;
    let missing = args.ints("nodes_missing_value_tracks_true")?;
    let missing = missing.filter(|missing| !missing.is_empty());
    let values = numbers(args, "nodes_values")?.unwrap_or_default();
    let modes = args.text_list("nodes_modes")?.unwrap_or_default();
    let count = trees.len();
    let lengths = [
        ids.len(),
        yes.len(),
        no.len(),
        features.len(),
        values.len(),
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
    let mut places = HashMap::with_capacity(count);
    for (index, id) in trees.iter().copied().zip(ids).enumerate() {
        if places.insert(id, index).is_some() {
            return Err(args.fault(format!("expected different nodes, got {id:?} twice")));
        }
    }
    let is_leaf = |index: usize| modes[index][..] == *b"LEAF";
    let next = |index: usize| {
        if is_leaf(index) {
            Next::Leaf(index)
        } else {
            Next::Node(index)
        }
    };
    let mut nodes = Vec::with_capacity(count);
    let (mut roots, mut seen) = (Vec::new(), HashSet::new());
    let mut children = HashSet::new();
    let mut mode = None;
    for index in 0..count {
        if seen.insert(trees[index]) {
            roots.push(index);
        }
        if !is_leaf(index) && **mode.get_or_insert(&modes[index][..]) != modes[index][..] {
            return Err(args.fault("runtimes differ in trees with several modes of nodes"));
        }
        let comparison = match &modes[index][..] {
            b"BRANCH_LEQ" => Comparison::AtMost,
            b"BRANCH_LT" => Comparison::Below,
            b"BRANCH_GTE" => Comparison::AtLeast,
            b"BRANCH_GT" => Comparison::Above,
            b"BRANCH_EQ" | b"LEAF" => Comparison::Equal,
            b"BRANCH_NEQ" => Comparison::Unequal,
            other => {
                return Err(args.fault(format!(
                    "expected a known mode of a node, got '{}'",
                    String::from_utf8_lossy(other)
                )));
            }
        };
        let child = |id: i64| {
            let place = places.get(&(trees[index], id)).copied();
            place
                .ok_or_else(|| args.fault(format!("expected a node {id} in tree {}", trees[index])))
        };
        let (yes, no) = if is_leaf(index) {
            (index, index)
        } else {
            let both = (child(yes[index])?, child(no[index])?);
            children.extend([both.0, both.1]);
            both
        };
        let feature = usize::try_from(features[index]);
        nodes.push(Node {
            feature: feature.map_err(|_| {
                args.fault(format!(
                    "expected a feature of 0 or more, got {}",
                    features[index]
                ))
            })?,
            comparison,
            value: values[index],
            members: Vec::new(),
            follows_missing: missing.as_ref().is_some_and(|missing| missing[index] != 0),
            yes: next(yes),
            no: next(no),
        });
    }
    if roots.iter().any(|root| children.contains(root)) {
        return Err(args.fault("expected the root of each tree before its other nodes"));
    }
    let roots = roots.into_iter().map(next).collect();

    let named = |suffix: &str| format!("{prefix}_{suffix}");
    let (trees, ids) = (ints(&named("treeids"))?, ints(&named("nodeids"))?);
    let targets = ints(&named("ids"))?;
    let weights = numbers(args, &named("weights"))?.unwrap_or_default();
    let lengths = [ids.len(), targets.len(), weights.len()];
    if lengths.iter().any(|length| *length != trees.len()) {
        return Err(args.fault(format!(
            "expected {} entries in each of the attributes '{prefix}_…', got {lengths:?}",
            trees.len()
        )));
    }
    let mut all: Weights = vec![Vec::new(); count];
    for (index, id) in trees.into_iter().zip(ids).enumerate() {
        let place = places
            .get(&id)
            .copied()
            .ok_or_else(|| args.fault(format!("expected a leaf {id:?}")))?;
        let target = usize::try_from(targets[index])
            .map_err(|_| args.fault("expected targets of 0 or more"))?;
        all[place].push((target, weights[index]));
    }
    Ok((Forest { nodes, roots }, all))
}

/// How the weights of leaves combine for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregate {
    Sum,
    Average,
    Min,
    Max,
}

impl Aggregate {
    /// The numbers of the targets of an observation.
    pub(super) fn of(
        self,
        args: &Args<'_>,
        leaves: &[usize],
        weights: &[Vec<(usize, f64)>],
        to: &mut [f64],
    ) -> Result<(), Refusal> {
        let mut is_set = vec![false; to.len()];
        for (target, weight) in leaves.iter().flat_map(|leaf| &weights[*leaf]) {
            let Some(sum) = to.get_mut(*target) else {
                return Err(args.fault(format!(
                    "expected targets below {}, got {target}",
                    is_set.len()
                )));
            };
            *sum = match self {
                _ if !is_set[*target] => *weight,
                Aggregate::Sum | Aggregate::Average => *sum + weight,
                Aggregate::Min => sum.min(*weight),
                Aggregate::Max => sum.max(*weight),
            };
            is_set[*target] = true;
        }
        match self {
            Aggregate::Sum => {}
            Aggregate::Average => to
                .iter_mut()
                .for_each(|sum| *sum /= leaves.len().max(1) as f64),
            Aggregate::Min | Aggregate::Max if is_set.contains(&false) => {
                return Err(args.fault("runtimes differ in the extreme of no weights"));
            }
            Aggregate::Min | Aggregate::Max => {}
        }
        Ok(())
    }
}

/// The numbers of the targets for each observation.
pub(super) fn aggregated(
    args: &Args<'_>,
    forest: &Forest,
    weights: &[Vec<(usize, f64)>],
    aggregate: Aggregate,
    targets: usize,
) -> Result<Dense, Refusal> {
    let x = observations(args)?;
    let (rows, features) = (x.shape[0], x.shape[1]);
    let mut result = Dense::filled(vec![rows, targets], 0.0, args.control)?;
    let mut work = Work::new(args.control);
    for (row, to) in result.data.chunks_exact_mut(targets.max(1)).enumerate() {
        let values = &x.data[row * features..][..features];
        let leaves = forest.leaves(args, values, &mut work)?;
        aggregate.of(args, &leaves, weights, to)?;
        work.advance(targets + leaves.len() + 1)?;
    }
    Ok(result)
}

/// Adds the base values, one for each target, to all rows.
fn with_base(args: &Args<'_>, scores: &mut Dense) -> Result<(), Refusal> {
    let Some(base) = numbers(args, "base_values")? else {
        return Ok(());
    };
    let width = scores.shape[1];
    if base.len() != width {
        return Err(args.fault(format!("expected {width} base_values, got {}", base.len())));
    }
    for row in scores.data.chunks_exact_mut(width.max(1)) {
        row.iter_mut()
            .zip(&base)
            .for_each(|(score, base)| *score += base);
    }
    Ok(())
}

fn regressor(args: &Args<'_>) -> Outcome {
    let (forest, weights) = forest(args, "target")?;
    let aggregate = match &*args.text("aggregate_function", "SUM")? {
        "SUM" => Aggregate::Sum,
        "AVERAGE" => Aggregate::Average,
        "MIN" => Aggregate::Min,
        "MAX" => Aggregate::Max,
        other => {
            return Err(args.fault(format!("expected SUM, AVERAGE, MIN or MAX, got '{other}'")));
        }
    };
    let targets = args.size("n_targets", 0)?;
    let transform = PostTransform::of(args)?;
    if targets == 1 && transform != PostTransform::None {
        return Err(args.fault("runtimes differ in what a post_transform makes of one score"));
    }
    let mut scores = aggregated(args, &forest, &weights, aggregate, targets)?;
    with_base(args, &mut scores)?;
    for row in scores.data.chunks_exact_mut(targets.max(1)) {
        transform.apply(args, row)?;
    }
    Ok(vec![scores.made(ElementType::Float32, args.control)?])
}

fn classifier(args: &Args<'_>) -> Outcome {
    let (forest, weights) = forest(args, "class")?;
    let classes = Classes::of(args, "classlabels_int64s")?;
    let scored_classes: HashSet<usize> =
        weights.iter().flatten().map(|(class, _)| *class).collect();
    let count = classes.len();
    if count < 2 {
        return Err(args.fault("expected two classes or more"));
    }
    if count == 2 {
        if scored_classes.len() != 1 {
            return Err(args.fault("runtimes differ in two classes with scores of their own"));
        }
        return binary(args, &forest, &weights, &classes);
    }
    let mut scores = aggregated(args, &forest, &weights, Aggregate::Sum, count)?;
    let mut leaves = forest.nodes.iter().flat_map(|node| [node.yes, node.no]);
    let is_sparse = numbers(args, "base_values")?.is_none()
        && leaves.any(|next| matches!(next, Next::Leaf(leaf) if weights[leaf].len() < count));
    if is_sparse {
        return Err(
            args.fault("runtimes differ in whether a class without a weight can be largest")
        );
    }
    with_base(args, &mut scores)?;
    classified(args, scores, &classes)
}

/// Two classes with one score, either the probability of the second class, or a number
/// above 0 for the second class.
fn binary(
    args: &Args<'_>,
    forest: &Forest,
    weights: &[Vec<(usize, f64)>],
    classes: &Classes,
) -> Outcome {
    let is_first = weights.iter().flatten().all(|(class, _)| *class == 0);
    if !is_first {
        return Err(args.fault("runtimes differ unless the scores are those of class 0"));
    }
    let is_probability = weights.iter().flatten().all(|(_, weight)| *weight >= 0.0);
    let transform = PostTransform::of(args)?;
    let agrees = match transform {
        PostTransform::None => is_probability,
        other => other == PostTransform::Logistic,
    };
    if !agrees {
        return Err(args.fault(
            "runtimes differ unless the post_transform is LOGISTIC, or NONE for weights of 0 or more",
        ));
    }
    let mut single = aggregated(args, forest, weights, Aggregate::Sum, 1)?;
    with_base(args, &mut single)?;
    let rows = single.shape[0];
    let mut scores = Dense::filled(vec![rows, 2], 0.0, args.control)?;
    let mut labels = Vec::with_capacity(rows);
    for (score, to) in single.data.iter().zip(scores.data.chunks_exact_mut(2)) {
        let threshold = if is_probability { 0.5 } else { 0.0 };
        let is_second = *score > threshold;
        if transform == PostTransform::Logistic && is_second != (*score > 0.0) {
            return Err(args.fault("runtimes differ in the class of a score of 0.5 or less"));
        }
        labels.push(usize::from(is_second));
        to.copy_from_slice(&match transform {
            PostTransform::None => [1.0 - score, *score],
            _ => [-score, *score],
        });
        transform.apply(args, to)?;
    }
    Ok(vec![
        classes.labels(args, &labels)?,
        scores.made(ElementType::Float32, args.control)?,
    ])
}
