//! The scopes of the lines, and their order.
//!
//! A line belongs to the innermost scope with all its uses, found as the nearest common
//! ancestor, and comes before the first use. In contrast to the scopes of passes, any
//! value has scopes: variables may be used outside of their scope.

use isoform::plumbing::AncestorTree;

use super::graph::{Graph, Id, for_parts};
use super::pieces::Piece;

/// The number of a scope; 0 is the outermost scope.
pub(super) type Scope = u32;

const NONE: Scope = Scope::MAX;

/// A line of a scope.
#[derive(Clone, Copy)]
pub(super) enum Line {
    /// A node with its number.
    Numbered(Id),
    /// A node without a number: a `let`, or the introduction of a variable.
    Plain(Id),
    /// The result of the scope.
    Result(Id),
}

/// The lines of a graph.
pub(super) struct Places {
    /// The first scopes opened by the nodes.
    inner: Vec<Scope>,
    /// The lines of the scopes.
    pub(super) lines: Vec<Vec<Line>>,
}

impl Places {
    /// The lines of all scopes. O(n log n).
    pub(super) fn of(graph: &Graph) -> Places {
        let mut tree = AncestorTree::new(1, 0, ());
        let mut scopes = vec![NONE; graph.nodes.len()];
        let mut inner = vec![NONE; graph.nodes.len()];
        for id in graph.headers.iter().chain([&graph.root]) {
            scopes[*id as usize] = 0;
        }
        // Users come after their parts.
        for id in (0..graph.nodes.len()).rev() {
            let node = &graph.nodes[id];
            let mut here = scopes[id];
            if here == NONE {
                continue;
            }
            inner[id] = tree.node_count();
            if node.is_braced() {
                tree.add(here, ());
                here = inner[id];
            }
            for piece in &node.pieces {
                let scope = if matches!(piece, Piece::Block(_)) {
                    tree.add(here, ());
                    tree.node_count() - 1
                } else {
                    here
                };
                for_parts(piece, |part| {
                    let known = &mut scopes[*part as usize];
                    *known = match *known {
                        NONE => scope,
                        old => tree.common(old, scope),
                    };
                });
            }
        }
        let lines = vec![Vec::new(); tree.node_count() as usize];
        let mut places = Places { inner, lines };
        places.arrange(graph, &scopes);
        places
    }

    /// The first scope opened by a node.
    pub(super) fn inner(&self, id: Id) -> Scope {
        self.inner[id as usize]
    }

    /// Arranges the lines in the order of a depth-first visit.
    fn arrange(&mut self, graph: &Graph, scopes: &[Scope]) {
        /// A pending step of the visit.
        enum Step {
            Visit(Id),
            Add(Scope, Line),
        }
        let mut steps = vec![
            Step::Add(0, Line::Result(graph.root)),
            Step::Visit(graph.root),
        ];
        for header in graph.headers.iter().rev() {
            steps.extend([Step::Add(0, Line::Plain(*header)), Step::Visit(*header)]);
        }
        let mut is_visited = vec![false; graph.nodes.len()];
        while let Some(step) = steps.pop() {
            let id = match step {
                Step::Visit(id) => id,
                Step::Add(_, Line::Result(id)) if graph.nodes[id as usize].is_joined() => continue,
                Step::Add(scope, line) => {
                    self.lines[scope as usize].push(line);
                    continue;
                }
            };
            if std::mem::replace(&mut is_visited[id as usize], true) {
                continue;
            }
            let node = &graph.nodes[id as usize];
            let scope = scopes[id as usize];
            if node.is_numbered {
                steps.push(Step::Add(scope, Line::Numbered(id)));
            }
            let first = steps.len();
            let mut block = self.inner(id);
            for piece in &node.pieces {
                for_parts(piece, |part| steps.push(Step::Visit(*part)));
                match piece {
                    Piece::Block(part) => {
                        steps.push(Step::Add(block, Line::Result(*part)));
                        block += 1;
                    }
                    Piece::Rest(part) => {
                        let scope = if node.is_braced() { block } else { scope };
                        let visit = steps.pop();
                        steps.push(Step::Add(scope, Line::Plain(id)));
                        steps.extend(visit);
                        steps.push(Step::Add(scope, Line::Result(*part)));
                    }
                    _ => {}
                }
            }
            steps[first..].reverse();
        }
    }
}
