//! The number of nodes of a program, counted in the same way for every report.

use std::collections::{HashMap, HashSet};

use isoform::{Str, Value};

use crate::layout::{Body, Listing};
use crate::values::{ValueKey, constant};

impl Listing {
    /// The number of nodes shown by every command: the nodes of the main graph, of
    /// nested bodies and of the called functions, with every function counted once.
    ///
    /// Constants are not counted, and neither are nodes that no output needs. A node
    /// that only copies a value is counted, since a file needs the node for an output
    /// that is an input, an outer value or another output under a separate name.
    /// O(nodes and results).
    pub fn node_count(&self) -> usize {
        self.bodies.iter().map(Body::node_count).sum()
    }
}

impl Body {
    /// The nodes listed by the body, and the body's copies of values.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len() + self.copies()
    }

    /// The results of a body that are computed outside of it, or repeat another result
    /// under a separate name.
    pub(crate) fn copies(&self) -> usize {
        let listed: HashSet<u64> = self.nodes.iter().map(|node| node.call.identity()).collect();
        let params: HashMap<u64, &Str> = self
            .kind
            .params()
            .iter()
            .map(|param| (param.identity(), &param.name))
            .collect();
        let mut seen = HashMap::new();
        let results = self.kind.results().values().iter().enumerate();
        let is_copy = |(position, value): &(usize, &Value)| {
            let name = self.kind.result_names().get(*position);
            match ValueKey::of(value) {
                ValueKey::Output(call, index) => {
                    let first = *seen.entry((call, index)).or_insert(name);
                    !listed.contains(&call) || first != name
                }
                ValueKey::Object(input) if constant(value).is_none() => {
                    params.get(&input).copied() != name
                }
                _ => false,
            }
        };
        results.filter(is_copy).count()
    }
}
