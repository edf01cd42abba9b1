//! Groups of expressions to become kernels.

use hashbrown::HashSet;
use rapidhash::fast::RandomState;

use super::dataflow::Dataflow;
use super::dominators::Dominators;
use crate::op::OpPattern;
use crate::passes::graph::{Graph, Id, Step};
use isoform::plumbing::UnionFind;

/// The groups of a graph. Every group has a sink, the only expression whose value
/// leaves the group.
pub(super) struct Groups {
    classes: UnionFind<()>,
    /// By the member that represents the class.
    groups: Vec<Group>,
    /// The pattern of each expression, and of the whole group for the sink of a group.
    patterns: Vec<OpPattern>,
}

#[derive(Clone, Copy)]
struct Group {
    sink: Id,
    pattern: OpPattern,
    /// True if the group has an anchor: a complex computation, at most one per group.
    has_anchor: bool,
    count: usize,
}

impl Groups {
    /// The groups; separate groups for all expressions if `fuses` is false.
    pub(super) fn of(graph: &Graph, flow: &Dataflow, fuses: bool, max_depth: usize) -> Groups {
        let mut groups = Groups {
            classes: UnionFind::default(),
            groups: Vec::with_capacity(graph.len()),
            patterns: flow.patterns.clone(),
        };
        for id in 0..graph.len() as Id {
            groups.classes.add(());
            let pattern = flow.patterns[id as usize];
            groups.groups.push(Group {
                sink: id,
                pattern,
                has_anchor: pattern == OpPattern::OutEWiseFusable,
                count: 1,
            });
        }
        if fuses {
            let dominators = Dominators::of(graph, flow);
            for phase in 0..3 {
                for step in &graph.steps {
                    if let Step::Done(id) = *step {
                        groups.fuse(flow, &dominators, id, phase, max_depth);
                    }
                }
            }
        }
        groups
    }

    /// The sink of the group of an expression.
    pub(super) fn sink(&mut self, id: Id) -> Id {
        self.group(id).sink
    }

    fn group(&mut self, id: Id) -> Group {
        self.groups[self.classes.root(id) as usize]
    }

    /// Joins an expression with its post-dominator, in the phase for the expression.
    fn fuse(
        &mut self,
        flow: &Dataflow,
        dominators: &Dominators,
        id: Id,
        phase: u8,
        max_depth: usize,
    ) {
        use OpPattern::{
            Broadcast, CommReduce, ElemWise, Injective, Opaque, OutEWiseFusable, Tuple,
        };
        let pattern = self.patterns[id as usize];
        let Some((sink, on_the_way)) = dominators.of_expr(id) else {
            return;
        };
        if pattern == Opaque || self.classes.root(id) == self.classes.root(sink) {
            return;
        }
        let own_sink = self.patterns[sink as usize];
        let allowed: fn(OpPattern, bool) -> bool = match (phase, pattern) {
            (2, _) => {
                let around = self.group(sink).pattern;
                if pattern > Injective || own_sink != Tuple || around > Injective {
                    return;
                }
                |kind, _| kind <= Injective
            }
            _ if own_sink == Tuple => return,
            (0, OutEWiseFusable) if on_the_way == ElemWise => |kind, _| kind <= Broadcast,
            (_, ElemWise | Broadcast) if on_the_way <= CommReduce => |kind, is_sink| {
                if is_sink {
                    kind <= OutEWiseFusable
                } else {
                    kind <= Injective
                }
            },
            (1, Injective | Tuple) => |kind, _| kind <= Injective,
            _ => return,
        };
        if let Some(members) = self.members(flow, id, sink, allowed, max_depth) {
            self.join(&members, sink);
        }
    }

    /// The expressions on all paths to the sink, if the patterns of their groups allow
    /// the join and the number of expressions is within the limit.
    fn members(
        &mut self,
        flow: &Dataflow,
        id: Id,
        sink: Id,
        allowed: fn(OpPattern, bool) -> bool,
        max_depth: usize,
    ) -> Option<Vec<Id>> {
        if !allowed(self.group(sink).pattern, true) {
            return None;
        }
        let target = self.classes.root(sink);
        let mut count = self.groups[target as usize].count;
        let mut counted: HashSet<u32, RandomState> = HashSet::default();
        let mut seen: HashSet<Id, RandomState> = HashSet::default();
        let (mut members, mut stack) = (Vec::new(), vec![id]);
        while let Some(next) = stack.pop() {
            if next == sink || !seen.insert(next) {
                continue;
            }
            let class = self.classes.root(next);
            let group = self.groups[class as usize];
            if next != id && !allowed(group.pattern, false) {
                return None;
            }
            if class != target && counted.insert(class) {
                count += group.count;
            }
            // The number of members of the existing group is within the limit.
            if count > max_depth || seen.len() > 2 * max_depth {
                return None;
            }
            members.push(next);
            stack.extend(flow.users[next as usize].iter().map(|(user, _)| *user));
        }
        Some(members)
    }

    fn join(&mut self, members: &[Id], sink: Id) {
        let mut group = self.group(sink);
        for member in members {
            let other = self.group(*member);
            if self.classes.join(*member, sink) {
                group.count += other.count;
                if other.has_anchor {
                    group.has_anchor = true;
                    group.pattern = group.pattern.max(other.pattern);
                }
            }
        }
        // The sink stands for its group when the sink is joined in turn: a group with an
        // anchor joins no other group that has one.
        self.patterns[group.sink as usize] = group.pattern;
        let root = self.classes.root(sink);
        self.groups[root as usize] = group;
    }
}
