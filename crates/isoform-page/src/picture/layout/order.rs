//! The order inside of layers, with few crossings of lines.

use super::graph::{Graph, Lists};
use super::layers::Layers;

/// Sweeps over all layers at most, and sweeps without a better order before the end.
const MOST_SWEEPS: usize = 24;
const IDLE_SWEEPS: usize = 4;

/// Steps over links that all sweeps take together, which bounds the time for large graphs.
const MOST_STEPS: usize = 3_000_000;

/// Bends of long links, for each item and link. Longer links are drawn as one curve, so that
/// memory grows with the graph and not with the product of links and layers.
const BENDS_PER_PART: usize = 8;

/// Items and bends in layers. Vertices are the items, followed by the bends of long links.
pub(super) struct Chart {
    /// The vertices of each layer from left to right.
    pub(super) layers: Vec<Vec<usize>>,
    /// Neighbours one layer above, and one layer below.
    pub(super) neighbours: [Lists; 2],
    /// The bends of each link from top to bottom; None for links without a way through the
    /// layers.
    pub(super) bends: Vec<Option<std::ops::Range<usize>>>,
    pub(super) positions: Vec<usize>,
    /// The pairs of neighbours, upper vertex first.
    pub(super) pairs: Vec<(usize, usize)>,
}

impl Chart {
    /// O(items + links): bends are bounded by both together.
    pub(super) fn new(graph: &Graph, layers: &Layers) -> Self {
        let items = graph.sizes.len();
        let mut of = layers.of.clone();
        let mut bends = vec![None; graph.links.len()];
        let mut pairs = Vec::with_capacity(graph.links.len());
        let span = |link: usize| {
            let link = &graph.links[link];
            layers.of[link.to].saturating_sub(layers.of[link.from])
        };
        let mut links: Vec<usize> = (0..graph.links.len()).collect();
        links.retain(|&link| !layers.is_back[link]);
        links.sort_by_key(|&link| span(link));
        let mut budget = BENDS_PER_PART * (items + graph.links.len());
        for link in links {
            let count = span(link).saturating_sub(1);
            if count > budget {
                break;
            }
            budget -= count;
            let first = of.len();
            let mut above = graph.links[link].from;
            for bend in first..first + count {
                of.push(of[above] + 1);
                pairs.push((above, bend));
                above = bend;
            }
            pairs.push((above, graph.links[link].to));
            bends[link] = Some(first..first + count);
        }
        let down = Lists::new(of.len(), pairs.iter().copied());
        let up = Lists::new(of.len(), pairs.iter().map(|&(above, below)| (below, above)));
        let mut chart = Chart {
            layers: vec![Vec::new(); of.iter().max().map_or(0, |&last| last + 1)],
            neighbours: [up, down],
            bends,
            positions: vec![0; of.len()],
            pairs,
        };
        for vertex in chart.first_order() {
            chart.layers[of[vertex]].push(vertex);
        }
        chart.number_all();
        chart
    }

    /// All vertices, neighbours near to each other: a depth-first order.
    fn first_order(&self) -> Vec<usize> {
        let count = self.positions.len();
        let mut is_seen = vec![false; count];
        let mut order = Vec::with_capacity(count);
        let is_source = |&vertex: &usize| self.neighbours[0].of(vertex).len() == 0;
        for root in (0..count).filter(is_source).chain(0..count) {
            let mut stack = vec![root];
            while let Some(vertex) = stack.pop() {
                if std::mem::replace(&mut is_seen[vertex], true) {
                    continue;
                }
                order.push(vertex);
                let below: Vec<usize> = self.neighbours[1].of(vertex).collect();
                stack.extend(below.into_iter().rev().filter(|&next| !is_seen[next]));
            }
        }
        order
    }

    fn number_all(&mut self) {
        for layer in 0..self.layers.len() {
            self.number(layer);
        }
    }

    fn number(&mut self, layer: usize) {
        for (position, &vertex) in self.layers[layer].iter().enumerate() {
            self.positions[vertex] = position;
        }
    }

    /// Reorders the layers. Deterministic; at most [`MOST_STEPS`] steps over links, and one
    /// sweep in any case.
    pub(super) fn reduce_crossings(&mut self) {
        let steps = 1 + self.pairs.len() + self.positions.len();
        let sweeps = (MOST_STEPS / steps).clamp(1, MOST_SWEEPS);
        let mut best = (self.crossings(), self.layers.clone());
        let mut idle = 0;
        for sweep in 0..sweeps {
            if best.0 == 0 || idle == IDLE_SWEEPS {
                break;
            }
            self.sort_by_medians(sweep % 2);
            self.exchange_neighbours();
            let crossings = self.crossings();
            idle += 1;
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
                idle = 0;
            }
        }
        self.layers = best.1;
        self.number_all();
    }

    /// Sorts each layer by the medians of the neighbours above (0) or below (1). Vertices
    /// without such neighbours stay in their places.
    fn sort_by_medians(&mut self, side: usize) {
        let count = self.layers.len();
        for step in 0..count {
            let layer = if side == 0 { step } else { count - 1 - step };
            let medians: Vec<Option<usize>> = (self.layers[layer].iter())
                .map(|&vertex| self.median(vertex, side))
                .collect();
            let mut moved: Vec<(usize, usize)> = (self.layers[layer].iter().zip(&medians))
                .filter_map(|(&vertex, median)| Some(((*median)?, vertex)))
                .collect();
            moved.sort_by_key(|&(median, vertex)| (median, self.positions[vertex]));
            let mut moved = moved.into_iter();
            for (place, median) in self.layers[layer].iter_mut().zip(&medians) {
                if median.is_some()
                    && let Some((_, vertex)) = moved.next()
                {
                    *place = vertex;
                }
            }
            self.number(layer);
        }
    }

    /// Twice the median of the positions of the neighbours on a side.
    fn median(&self, vertex: usize, side: usize) -> Option<usize> {
        let positions = self.sorted_neighbours(vertex, side);
        let middle = positions.len() / 2;
        match positions.len() {
            0 => None,
            count if count % 2 == 1 => Some(2 * positions[middle]),
            _ => Some(positions[middle - 1] + positions[middle]),
        }
    }

    fn sorted_neighbours(&self, vertex: usize, side: usize) -> Vec<usize> {
        let neighbours = self.neighbours[side].of(vertex);
        let mut positions: Vec<usize> = neighbours.map(|other| self.positions[other]).collect();
        positions.sort_unstable();
        positions
    }

    /// Exchanges vertices beside each other where fewer lines cross then: one pass over each
    /// layer. O(links log links).
    fn exchange_neighbours(&mut self) {
        for layer in 0..self.layers.len() {
            for left in 1..self.layers[layer].len() {
                let pair = [self.layers[layer][left - 1], self.layers[layer][left]];
                let [mut kept, mut exchanged] = [0, 0];
                for side in 0..2 {
                    let [first, second] = pair.map(|vertex| self.sorted_neighbours(vertex, side));
                    kept += inversions(&first, &second);
                    exchanged += inversions(&second, &first);
                }
                if exchanged < kept {
                    self.layers[layer].swap(left - 1, left);
                    self.positions.swap(pair[0], pair[1]);
                }
            }
        }
    }

    /// The number of crossings of lines between layers. O(links log links).
    fn crossings(&self) -> u64 {
        let mut crossings = 0;
        for (above, below) in self.layers.iter().zip(self.layers.iter().skip(1)) {
            // A tree of sums over the positions of the lower layer.
            let mut sums = vec![0u64; below.len() + 1];
            let mut count = 0;
            for &vertex in above {
                let ends = self.sorted_neighbours(vertex, 1);
                for &end in &ends {
                    let mut index = end + 1;
                    let mut before = 0;
                    while index > 0 {
                        before += sums[index];
                        index &= index - 1;
                    }
                    crossings += count - before;
                }
                for &end in &ends {
                    let mut index = end + 1;
                    while index < sums.len() {
                        sums[index] += 1;
                        index += index & index.wrapping_neg();
                    }
                    count += 1;
                }
            }
        }
        crossings
    }
}

/// The pairs of a sorted list with a smaller number of the second list. O(lengths).
fn inversions(first: &[usize], second: &[usize]) -> usize {
    let mut smaller = 0;
    let mut pairs = 0;
    for &number in first {
        while second.get(smaller).is_some_and(|&other| other < number) {
            smaller += 1;
        }
        pairs += smaller;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::layout::graph::{Link, Pin};

    fn chart(items: usize, links: &[(usize, usize)]) -> Chart {
        let graph = Graph {
            sizes: vec![[10.0, 10.0]; items],
            pins: vec![Pin::Free; items],
            links: (links.iter())
                .map(|&(from, to)| Link {
                    from,
                    to,
                    offsets: [None; 2],
                })
                .collect(),
        };
        Chart::new(&graph, &Layers::of(&graph))
    }

    #[test]
    fn crossings_are_counted_and_removed() {
        let mut crossed = chart(4, &[(0, 3), (1, 2), (0, 2)]);
        crossed.layers = vec![vec![0, 1], vec![2, 3]];
        crossed.number_all();
        assert_eq!(crossed.crossings(), 1);
        crossed.reduce_crossings();
        assert_eq!(crossed.crossings(), 0);
        // Each of three upper items leads to each of three lower items.
        let complete: Vec<(usize, usize)> = (0..9).map(|pair| (pair / 3, 3 + pair % 3)).collect();
        assert_eq!(chart(6, &complete).crossings(), 9);
    }

    #[test]
    fn a_long_link_has_a_bend_in_each_layer_between() {
        let chart = chart(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]);
        assert_eq!(chart.bends[3], Some(4..6));
        assert_eq!(chart.layers.len(), 4);
        assert_eq!(chart.pairs.len(), 6);
    }

    #[test]
    fn bends_grow_with_the_graph_and_not_with_its_layers() {
        // A chain, and links from its first item to every other one.
        let count = 2_000;
        let chain = (1..count).map(|item| (item - 1, item));
        let links: Vec<_> = chain.chain((2..count).map(|item| (0, item))).collect();
        let chart = chart(count, &links);
        let bends = chart.positions.len() - count;
        assert!(bends <= BENDS_PER_PART * (count + links.len()));
        assert!(chart.bends.iter().any(Option::is_none));
    }
}
