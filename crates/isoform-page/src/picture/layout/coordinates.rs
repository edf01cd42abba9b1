//! Places across: each layer in its order, every item as near as possible to its neighbours.

use super::graph::{Graph, Link};
use super::order::Chart;

/// Space between two items, and beside a line.
const GAP: f64 = 22.0;
const LINE_GAP: f64 = 12.0;

/// Passes down and up.
const MOST_PASSES: usize = 12;

/// Steps over links that all passes take together.
const MOST_STEPS: usize = 2_000_000;

/// A pull of a neighbour: the neighbour, its distance, and the strength.
struct Pull {
    vertex: usize,
    distance: f64,
    strength: f64,
}

/// Middles of all vertices across, from 0 at the left edge of the leftmost one; and the width.
/// O(vertices + links) for each pass.
pub(super) fn across(graph: &Graph, chart: &Chart) -> (Vec<f64>, f64) {
    let items = graph.sizes.len();
    let width = |vertex: usize| graph.sizes.get(vertex).map_or(0.0, |size| size[0]);
    let pulls = pulls(graph, chart);
    let mut places = vec![0.0; chart.positions.len()];
    for layer in &chart.layers {
        let mut right = 0.0;
        for &vertex in layer {
            places[vertex] = right + width(vertex) / 2.0;
            right += width(vertex) + GAP;
        }
    }
    let distances: Vec<Vec<f64>> = (chart.layers.iter())
        .map(|layer| {
            let pairs = layer.iter().zip(layer.iter().skip(1));
            let gap = |left: usize, right: usize| {
                if left.max(right) < items {
                    GAP
                } else {
                    LINE_GAP
                }
            };
            let distance = |left, right| (width(left) + width(right)) / 2.0 + gap(left, right);
            pairs.map(|(&left, &right)| distance(left, right)).collect()
        })
        .collect();
    let steps = 1 + chart.pairs.len() + chart.positions.len();
    let passes = (MOST_STEPS / steps).clamp(2, MOST_PASSES);
    for pass in 0..passes {
        let count = chart.layers.len();
        for step in 0..count {
            let is_down = pass % 2 == 0;
            let layer = if is_down { step } else { count - 1 - step };
            // The last passes weigh both sides.
            let sides = if pass + 2 < passes {
                &pulls[usize::from(!is_down)..][..1]
            } else {
                &pulls[..]
            };
            place_layer(&chart.layers[layer], &distances[layer], sides, &mut places);
        }
    }
    let edges = |vertex: usize| {
        [
            places[vertex] - width(vertex) / 2.0,
            places[vertex] + width(vertex) / 2.0,
        ]
    };
    let all = || (0..places.len()).map(edges);
    let left = all().map(|edge| edge[0]).fold(f64::INFINITY, f64::min);
    let right = all().map(|edge| edge[1]).fold(f64::NEG_INFINITY, f64::max);
    if places.is_empty() {
        return (places, 0.0);
    }
    places.iter_mut().for_each(|place| *place -= left);
    (places, right - left)
}

/// The pulls of the neighbours above and below on each vertex. Lines pull each other
/// strongly, so that long links are straight.
fn pulls(graph: &Graph, chart: &Chart) -> [Vec<Vec<Pull>>; 2] {
    let items = graph.sizes.len();
    let count = chart.positions.len();
    let mut pulls = [(); 2].map(|()| (0..count).map(|_| Vec::new()).collect::<Vec<Vec<Pull>>>());
    for (link, bends) in graph.links.iter().zip(&chart.bends) {
        let Some(bends) = bends else {
            continue;
        };
        let Link { from, to, offsets } = *link;
        let ways: Vec<usize> = [from]
            .into_iter()
            .chain(bends.clone())
            .chain([to])
            .collect();
        for (step, pair) in ways.windows(2).enumerate() {
            let start = if step == 0 { offsets[0] } else { None };
            let end = if step + 2 == ways.len() {
                offsets[1]
            } else {
                None
            };
            let distance = start.unwrap_or(0.0) - end.unwrap_or(0.0);
            let strength = match (pair[0] < items, pair[1] < items) {
                (true, true) => 1.0,
                (false, false) => 8.0,
                _ => 2.0,
            };
            let pull = |vertex, distance| Pull {
                vertex,
                distance,
                strength,
            };
            pulls[0][pair[1]].push(pull(pair[0], distance));
            pulls[1][pair[0]].push(pull(pair[1], -distance));
        }
    }
    pulls
}

/// Moves the vertices of a layer towards their neighbours: the places with the least sum of
/// squared distances among those that keep the order and the distances. O(layer + pulls).
fn place_layer(layer: &[usize], distances: &[f64], sides: &[Vec<Vec<Pull>>], places: &mut [f64]) {
    // A block of vertices that touch each other: wanted place, strength, and size.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (position, &vertex) in layer.iter().enumerate() {
        if position > 0 {
            offset += distances[position - 1];
        }
        let (mut sum, mut strength) = (0.0, 0.0);
        for pull in sides.iter().flat_map(|side| &side[vertex]) {
            sum += pull.strength * (places[pull.vertex] + pull.distance);
            strength += pull.strength;
        }
        if strength == 0.0 {
            strength = 0.1;
            sum = strength * places[vertex];
        }
        blocks.push((sum / strength - offset, strength, 1));
        while let [.., (place, weight, size), (next, heavier, more)] = blocks[..]
            && next < place
        {
            blocks.pop();
            let total = weight + heavier;
            let joined = (place * weight + next * heavier) / total;
            if let Some(last) = blocks.last_mut() {
                *last = (joined, total, size + more);
            }
        }
    }
    let mut offset = 0.0;
    let mut position = 0;
    for (place, _, size) in blocks {
        for _ in 0..size {
            if position > 0 {
                offset += distances[position - 1];
            }
            places[layer[position]] = place + offset;
            position += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_keeps_its_order_and_distances() {
        let pull = |vertex| Pull {
            vertex,
            distance: 0.0,
            strength: 1.0,
        };
        // Items 0 and 1 both want to be at the place of item 2; item 3 wants to be far right.
        let side = vec![vec![pull(2)], vec![pull(2)], Vec::new(), vec![pull(4)]];
        let mut places = [0.0, 10.0, 50.0, 20.0, 200.0];
        place_layer(&[0, 1, 3], &[10.0, 10.0], &[side], &mut places);
        assert_eq!(places, [45.0, 55.0, 50.0, 200.0, 200.0]);
    }
}
