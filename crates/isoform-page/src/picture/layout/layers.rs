//! Cycles and layers: which edges lead upwards, and how far down each item is.

use super::graph::{Graph, Lists, Pin};

/// The layers of the items.
pub(super) struct Layers {
    /// The layer of each item, from 0 without gaps.
    pub(super) of: Vec<usize>,
    /// True for links that lead from an item to itself or upwards.
    pub(super) is_back: Vec<bool>,
}

impl Layers {
    /// Layers in which every link leads down, except for one link of each cycle. Items are as
    /// high as possible, and then lower where links become shorter. O(items + links).
    pub(super) fn of(graph: &Graph) -> Self {
        let count = graph.sizes.len();
        let outgoing = Lists::new(count, graph.links.iter().map(|link| link.from).zip(0..));
        let (order, is_back) = order_without_cycles(graph, &outgoing);
        let incoming = Lists::new(count, graph.links.iter().map(|link| link.to).zip(0..));
        let mut layers = Layers {
            of: vec![0; count],
            is_back,
        };
        let is_loop = |link: usize| graph.links[link].from == graph.links[link].to;
        // Neighbours above and below; links that lead upwards count the other way round.
        let neighbours = |item: usize, is_above: bool, is_back: &[bool]| -> Vec<usize> {
            let ends = |link: usize, is_start: bool| {
                let link = &graph.links[link];
                if is_start { link.from } else { link.to }
            };
            let forward = if is_above { &incoming } else { &outgoing };
            let backward = if is_above { &outgoing } else { &incoming };
            let forward = forward.of(item).filter(|&link| !is_back[link]);
            let backward = backward
                .of(item)
                .filter(|&link| is_back[link] && !is_loop(link));
            let forward = forward.map(|link| ends(link, is_above));
            forward
                .chain(backward.map(|link| ends(link, !is_above)))
                .collect()
        };
        let first = usize::from(graph.pins.contains(&Pin::Top));
        for &item in &order {
            let above = neighbours(item, true, &layers.is_back);
            let lowest = above.iter().map(|&other| layers.of[other] + 1).max();
            layers.of[item] = match graph.pins[item] {
                Pin::Top => 0,
                Pin::Free | Pin::Bottom => lowest.unwrap_or(first).max(first),
            };
        }
        for &item in order
            .iter()
            .rev()
            .filter(|&&item| graph.pins[item] == Pin::Free)
        {
            let above = neighbours(item, true, &layers.is_back);
            let mut below = neighbours(item, false, &layers.is_back);
            below.retain(|&other| graph.pins[other] == Pin::Free);
            let highest = below.iter().map(|&other| layers.of[other]).min();
            if below.len() >= above.len()
                && let Some(highest) = highest
            {
                layers.of[item] = layers.of[item].max(highest.saturating_sub(1));
            }
        }
        layers.close_gaps(&graph.pins);
        layers
    }

    /// Numbers the used layers from 0, and gives the last layer to the items pinned there.
    fn close_gaps(&mut self, pins: &[Pin]) {
        let last = self.of.iter().max().map_or(0, |&layer| layer + 1);
        let is_bottom = |item: usize| pins[item] == Pin::Bottom;
        (0..self.of.len())
            .filter(|&item| is_bottom(item))
            .for_each(|item| self.of[item] = last);
        let mut is_used = vec![false; last + 1];
        self.of.iter().for_each(|&layer| is_used[layer] = true);
        let mut numbers = Vec::with_capacity(is_used.len());
        let mut next = 0;
        for used in is_used {
            numbers.push(next);
            next += usize::from(used);
        }
        for layer in &mut self.of {
            *layer = numbers[*layer];
        }
    }
}

/// The items in an order in which links lead forward, except for the links of the second
/// result: those that a depth-first search finds to close a cycle.
fn order_without_cycles(graph: &Graph, outgoing: &Lists) -> (Vec<usize>, Vec<bool>) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let count = graph.sizes.len();
    let mut is_source = vec![true; count];
    graph
        .links
        .iter()
        .for_each(|link| is_source[link.to] = false);
    let mut is_back = vec![false; graph.links.len()];
    let mut states = vec![State::New; count];
    let mut order = Vec::with_capacity(count);
    // Reversed, because the order is turned round in the end.
    let sources = (0..count).rev().filter(|&item| is_source[item]);
    for root in sources.chain((0..count).filter(|&item| !is_source[item])) {
        if states[root] != State::New {
            continue;
        }
        states[root] = State::Open;
        let mut stack = vec![(root, 0)];
        while let Some((item, position)) = stack.pop() {
            let Some(link) = outgoing.get(item, position) else {
                states[item] = State::Done;
                order.push(item);
                continue;
            };
            stack.push((item, position + 1));
            let next = graph.links[link].to;
            match states[next] {
                State::New => {
                    states[next] = State::Open;
                    stack.push((next, 0));
                }
                State::Open => is_back[link] = true,
                State::Done => {}
            }
        }
    }
    order.reverse();
    (order, is_back)
}
