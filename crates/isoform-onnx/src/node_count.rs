//! The number of nodes of a program, which is the same in every report.

use std::collections::{HashMap, HashSet};

use isoform::{Str, Value};

use crate::layout::{Body, Listing};
use crate::values::{ValueKey, constant};

impl Listing {
    /// The number of nodes, as every command counts them: those of the main graph, of the
    /// bodies in it and of each function that it calls, each function once.
    ///
    /// Constants are not counted, and neither are nodes that no output needs. Nodes that only
    /// copy a value are, since a file cannot do without them: an output may be an input, an
    /// outer value or another output, under a name of its own. O(nodes and results).
    pub fn node_count(&self) -> usize {
        self.bodies.iter().map(Body::node_count).sum()
    }
}

impl Body {
    /// The nodes that the body lists, and its copies of values.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len() + self.copies()
    }

    /// The results of a body that are not computed in it, or are results already, under names of
    /// their own.
    pub(crate) fn copies(&self) -> usize {
        let listed = self.nodes.iter().map(|node| node.call.identity());
        let listed: HashSet<u64> = listed.collect();
        let params = self.kind.params().iter();
        let params: HashMap<u64, &Str> = params.map(|it| (it.identity(), &it.name)).collect();
        let mut seen = HashMap::new();
        let results = self.kind.results().values().iter().enumerate();
        let is_copy = |(at, value): &(usize, &Value)| {
            let name = self.kind.result_names().get(*at);
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
