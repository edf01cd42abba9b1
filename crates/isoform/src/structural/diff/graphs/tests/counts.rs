//! The number of nodes without a partner is that of the edit, in graphs whose inputs are
//! variables.

use std::collections::HashSet;

use super::super::align;
use super::families::{ALL, Family, OPS};
use super::model::{INPUT, Model, Random, check};

/// Nodes without a partner on the left and on the right, apart from those that were replaced in
/// place.
type Alone = [usize; 2];

/// Counts in an alignment.
fn alone(left: &Model, right: &Model) -> Alone {
    let ((l, _), (r, _)) = (left.graph_of_calls(), right.graph_of_calls());
    let found = align(&l, &r, &[]);
    check(&l, &r, &[], &found);
    let count = |side: &[Option<u32>]| side.iter().filter(|partner| partner.is_none()).count();
    [&found.left, &found.right].map(|side| count(side) - found.replaced.len())
}

/// Counts by identity.
fn truth(left: &Model, right: &Model) -> Alone {
    let calls = [left, right].map(|model| {
        let (graph, nodes) = model.graph_of_calls();
        // A node with another operator or arity may count as removed and added.
        let keys = nodes.iter().map(|node| node.id).zip(graph.ops);
        keys.collect::<HashSet<_>>()
    });
    [0, 1].map(|side| calls[side].difference(&calls[1 - side]).count())
}

/// The share of edits after which as few nodes as necessary are without a partner.
fn share(
    rounds: u64,
    mut left_of: impl FnMut(&mut Random) -> Model,
    mut edit: impl FnMut(&mut Random, &mut Model),
) -> f64 {
    let (mut few, mut all) = (0, 0);
    for seed in 0..rounds {
        let mut random = Random(seed * 7919 + 5);
        let mut left = left_of(&mut random);
        let mut right = left.clone();
        right.next_id += 1_000_000;
        edit(&mut random, &mut right);
        left.shuffle(&mut random);
        right.shuffle(&mut random);
        let (ours, edited) = (alone(&left, &right), truth(&left, &right));
        all += 1;
        if (0..2).all(|side| ours[side] <= edited[side]) {
            few += 1;
        }
    }
    f64::from(few) / f64::from(all)
}

/// A graph of few nodes, of which most use an input.
fn tiny(random: &mut Random) -> Model {
    let size = 2 + random.below(7);
    Family::Dag.make(random, size)
}

/// Puts the operands of a node into another order.
fn swap(random: &mut Random, model: &mut Model) {
    let several = |node: &&mut super::model::Node| node.operands.len() > 1;
    let mut nodes: Vec<_> = model.nodes.iter_mut().filter(several).collect();
    if !nodes.is_empty() {
        let place = random.below(nodes.len());
        nodes[place].operands.reverse();
    }
}

#[test]
fn the_last_node_of_two_comes_and_goes() {
    let mut short = Model::default();
    let inputs = [0, 1].map(|_| short.add(INPUT, 0, &[]));
    let sum = short.add(1, 0, &inputs);
    short.results = vec![sum];
    for operands in [&[sum][..], &[sum, inputs[0]]] {
        let mut long = short.clone();
        let last = long.add(2, 0, operands);
        long.results = vec![last];
        assert_eq!(alone(&short, &long), [0, 1]);
        assert_eq!(alone(&long, &short), [1, 0]);
    }
}

#[test]
fn an_edit_of_a_tiny_graph_leaves_few_nodes_alone() {
    let few = share(2000, tiny, |random, right| right.edit(random, OPS));
    assert!(few >= 0.999, "{few}");
}

#[test]
fn swapped_operands_keep_their_partners() {
    let few = share(2000, tiny, swap);
    assert!(few >= 0.999, "{few}");
    for family in ALL {
        // Without weights, swapped branches may be alike but for a few nodes.
        let least = match family {
            Family::BareTransformer | Family::Branches => 0.9,
            _ => 1.0,
        };
        let few = share(40, |random| family.make(random, 200), swap);
        assert!(few >= least, "{family:?}: {few}");
    }
}

#[test]
fn an_edit_of_a_graph_leaves_few_nodes_alone() {
    for family in ALL {
        let few = share(
            60,
            |random| family.make(random, 200),
            |random, right| right.edit(random, OPS),
        );
        assert!(few >= 0.98, "{family:?}: {few}");
    }
}
