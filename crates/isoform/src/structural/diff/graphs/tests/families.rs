//! Random graphs of several kinds.

use super::model::{INPUT, Model, Random};

/// The number of operators available to edits.
pub(super) const OPS: u32 = 14;

/// A kind of graph.
#[derive(Clone, Copy, Debug)]
pub(super) enum Family {
    /// Any node may use any earlier node, mostly near nodes.
    Dag,
    /// A block of ten operators, many times in a row, without any distinguishing
    /// feature.
    Blocks,
    /// Layers with attention, residual connections and a separate weight for every
    /// product.
    Transformer,
    /// Layers without weights that would tell them apart.
    BareTransformer,
    /// Several branches that are joined again, as in networks for images.
    Branches,
}

pub(super) const ALL: [Family; 5] = [
    Family::Dag,
    Family::Blocks,
    Family::Transformer,
    Family::BareTransformer,
    Family::Branches,
];

impl Family {
    /// A graph with about this many nodes.
    pub(super) fn make(self, random: &mut Random, size: usize) -> Model {
        match self {
            Family::Dag => dag(random, size),
            Family::Blocks => blocks(random, size),
            Family::Transformer => transformer(random, size, true),
            Family::BareTransformer => transformer(random, size, false),
            Family::Branches => branches(random, size),
        }
    }
}

fn dag(random: &mut Random, size: usize) -> Model {
    let mut model = Model::default();
    for _ in 0..4 {
        model.add(INPUT, 0, &[]);
    }
    for _ in 0..size {
        let op = 1 + random.below(OPS as usize) as u32;
        let count = 1 + random.below(2) + usize::from(random.below(10) == 0);
        let operands: Vec<u32> = (0..count)
            .map(|_| {
                let reach = if random.below(4) == 0 {
                    model.nodes.len()
                } else {
                    30
                };
                let back = 1 + random.below(reach.min(model.nodes.len()));
                model.nodes[model.nodes.len() - back].id
            })
            .collect();
        let attribute = random.word() % 4;
        model.add(op, attribute, &operands);
    }
    model.finish()
}

fn blocks(random: &mut Random, size: usize) -> Model {
    let mut model = Model::default();
    let mut value = model.add(INPUT, 0, &[]);
    // Every node of the block uses the node before, and some nodes use a second node of
    // the block.
    let mut pattern: Vec<(u32, usize)> = Vec::new();
    for place in 0..10usize {
        let op = loop {
            let op = 1 + random.below(OPS as usize) as u32;
            if pattern.last().is_none_or(|(last, _)| *last != op) {
                break op;
            }
        };
        let second = if random.below(3) == 0 {
            random.below(place + 1)
        } else {
            usize::MAX
        };
        pattern.push((op, second));
    }
    for _ in 0..size / 10 {
        let mut block = vec![value];
        for &(op, second) in &pattern {
            let mut operands = vec![block[block.len() - 1]];
            operands.extend(block.get(second));
            block.push(model.add(op, 0, &operands));
        }
        value = block[10];
    }
    model.results = vec![value];
    model
}

fn transformer(random: &mut Random, size: usize, has_weights: bool) -> Model {
    const MATMUL: u32 = 1;
    const ADD: u32 = 2;
    const NORM: u32 = 3;
    const RESHAPE: u32 = 4;
    const TRANSPOSE: u32 = 5;
    const SCALE: u32 = 6;
    const SOFTMAX: u32 = 7;
    const GELU: u32 = 8;
    const WEIGHT: u32 = 9;
    let mut model = Model::default();
    let mut value = model.add(INPUT, 0, &[]);
    let mask = model.add(INPUT, 0, &[]);
    let linear = |model: &mut Model, random: &mut Random, value: u32| {
        let (weight, bias) = if has_weights {
            (random.word(), random.word())
        } else {
            (0, 0)
        };
        let weight = model.add(WEIGHT, weight, &[]);
        let product = model.add(MATMUL, 0, &[value, weight]);
        let bias = model.add(WEIGHT, bias, &[]);
        model.add(ADD, 0, &[product, bias])
    };
    while model.nodes.len() < size {
        let normal = model.add(NORM, 0, &[value]);
        let heads = [0, 1, 2].map(|_| {
            let head = linear(&mut model, random, normal);
            let head = model.add(RESHAPE, 0, &[head]);
            model.add(TRANSPOSE, 0, &[head])
        });
        let keys = model.add(TRANSPOSE, 1, &[heads[1]]);
        let scores = model.add(MATMUL, 0, &[heads[0], keys]);
        let scores = model.add(SCALE, 0, &[scores]);
        let scores = model.add(ADD, 0, &[scores, mask]);
        let scores = model.add(SOFTMAX, 0, &[scores]);
        let mixed = model.add(MATMUL, 0, &[scores, heads[2]]);
        let mixed = model.add(TRANSPOSE, 0, &[mixed]);
        let mixed = model.add(RESHAPE, 0, &[mixed]);
        let mixed = linear(&mut model, random, mixed);
        value = model.add(ADD, 0, &[value, mixed]);
        let normal = model.add(NORM, 0, &[value]);
        let wide = linear(&mut model, random, normal);
        let wide = model.add(GELU, 0, &[wide]);
        let narrow = linear(&mut model, random, wide);
        value = model.add(ADD, 0, &[value, narrow]);
    }
    model.results = vec![value];
    model
}

fn branches(random: &mut Random, size: usize) -> Model {
    let mut model = Model::default();
    let mut value = model.add(INPUT, 0, &[]);
    while model.nodes.len() < size {
        let ends: Vec<u32> = (0..4)
            .map(|branch| {
                let mut end = value;
                for step in 0..=branch {
                    end = model.add(1, random.word() % 3, &[end]);
                    end = model.add(2 + (step % 2), 0, &[end]);
                }
                end
            })
            .collect();
        let joined = model.add(4, 0, &ends);
        value = model.add(5, 0, &[joined, value]);
    }
    model.results = vec![value];
    model
}
