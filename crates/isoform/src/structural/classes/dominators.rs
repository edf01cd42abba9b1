//! Dominators of an acyclic graph.

use crate::kernel::ancestors::AncestorTree;
use crate::kernel::rows::Rows;

/// The dominator tree of a graph: the vertices on every path from the root.
pub(super) struct Dominators {
    tree: AncestorTree,
    /// The reachable vertices, dominators first.
    pub(super) order: Vec<u32>,
}

impl Dominators {
    /// The dominators of the vertices reachable from a root, with edges as (from, to).
    /// An edge that closes a cycle counts as an edge from the root.
    ///
    /// O((vertices + edges) log vertices): in topological order, the dominator of a
    /// vertex is the nearest common ancestor of its predecessors.
    pub(super) fn new(vertices: usize, root: u32, edges: &[(u32, u32)]) -> Self {
        let forward = Rows::new(vertices, edges.iter().copied());
        let backward = Rows::new(vertices, edges.iter().map(|&(from, to)| (to, from)));
        let order = reverse_postorder(&forward, root);
        let mut is_reachable = vec![false; vertices];
        for &vertex in &order {
            is_reachable[vertex as usize] = true;
        }
        let mut tree = AncestorTree::new(vertices, root, ());
        for &vertex in &order[1..] {
            let mut dominator = None;
            for &from in backward.of(vertex) {
                if !is_reachable[from as usize] {
                    continue;
                }
                // A later predecessor closes a cycle.
                let from = if tree.is_attached(from) { from } else { root };
                dominator = Some(dominator.map_or(from, |ancestor| tree.common(ancestor, from)));
            }
            // A reachable vertex has a predecessor.
            tree.attach(vertex, dominator.unwrap_or(root), ());
        }
        Dominators { tree, order }
    }

    /// The immediate dominator; the root's is the root.
    pub(super) fn of(&self, vertex: u32) -> u32 {
        self.tree.parent(vertex)
    }
}

/// The vertices reached from a root, predecessors first unless an edge closes a cycle.
fn reverse_postorder(forward: &Rows, root: u32) -> Vec<u32> {
    let mut entered = vec![false; forward.list_count()];
    let mut order = Vec::new();
    let mut stack = vec![(root, 0)];
    entered[root as usize] = true;
    while let Some((vertex, next)) = stack.last_mut() {
        match forward.of(*vertex).get(*next) {
            Some(&to) => {
                *next += 1;
                if !std::mem::replace(&mut entered[to as usize], true) {
                    stack.push((to, 0));
                }
            }
            None => {
                order.push(*vertex);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::Dominators;

    /// By definition: the vertices without which the vertex cannot be reached.
    fn by_removal(vertices: u32, edges: &[(u32, u32)], vertex: u32) -> Vec<u32> {
        let reaches = |without: Option<u32>| {
            let mut seen = vec![false; vertices as usize];
            let mut stack = vec![0u32];
            while let Some(at) = stack.pop() {
                if Some(at) == without || std::mem::replace(&mut seen[at as usize], true) {
                    continue;
                }
                stack.extend(edges.iter().filter(|edge| edge.0 == at).map(|edge| edge.1));
            }
            seen[vertex as usize]
        };
        if !reaches(None) {
            return Vec::new();
        }
        (0..vertices)
            .filter(|one| *one != vertex && !reaches(Some(*one)))
            .collect()
    }

    #[test]
    fn every_dominator_is_an_ancestor_and_no_other_vertex() {
        let mut state = 1u64;
        let mut below = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 33) % limit) as u32
        };
        for _ in 0..300 {
            let vertices = 2 + below(14);
            let mut edges = Vec::new();
            for _ in 0..below(30) {
                let (first, second) = (below(u64::from(vertices)), below(u64::from(vertices)));
                if first != second {
                    edges.push((first.min(second), first.max(second)));
                }
            }
            let dominators = Dominators::new(vertices as usize, 0, &edges);
            for vertex in 1..vertices {
                let expected = by_removal(vertices, &edges, vertex);
                let mut ancestors = Vec::new();
                if dominators.order.contains(&vertex) {
                    let mut ancestor = vertex;
                    while ancestor != 0 {
                        ancestor = dominators.of(ancestor);
                        ancestors.push(ancestor);
                    }
                }
                ancestors.sort_unstable();
                assert_eq!(ancestors, expected, "{vertex} in {edges:?}");
            }
        }
    }

    #[test]
    fn a_cycle_ends_at_the_root() {
        let dominators = Dominators::new(4, 0, &[(0, 1), (1, 2), (2, 1), (2, 3)]);
        assert_eq!([1, 2, 3].map(|vertex| dominators.of(vertex)), [0, 1, 2]);
    }

    #[test]
    fn long_chains_with_a_common_end_take_no_quadratic_time() {
        let count = 200_000u32;
        let mut edges: Vec<_> = (0..count).map(|vertex| (vertex, vertex + 1)).collect();
        edges.extend((0..count).map(|vertex| (vertex, count)));
        let dominators = Dominators::new(count as usize + 1, 0, &edges);
        assert_eq!(dominators.of(count), 0);
        assert_eq!(dominators.of(count - 1), count - 2);
    }
}
