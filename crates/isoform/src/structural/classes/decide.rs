//! The classes of subterms that only comparison can tell apart.
//!
//! Few programs have such subterms: custom comparisons among variables, maps with bound
//! keys, variables that outlive another variable mentioned by their type, and, with
//! exact sharing, equal dag nodes. The hash of the whole subterm finds candidates, and
//! comparison decides; the costs are counted.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::ask::{engine_equal, engine_hash};
use super::summary::{HOOKED, INCOMPARABLE, IRREGULAR, MUTABLE, Node, UNDECIDED, Walked};
use crate::kernel::error::Result;
use crate::kernel::types::Kind;
use crate::kernel::value::Value;

/// A property of equal subterms that is known without comparison: the type and, unless
/// a custom comparison may ignore parts, the size.
type QuickKey = (u32, u64);

impl Walked {
    /// Decides all classes.
    ///
    /// # Errors
    ///
    /// Errors of custom comparisons, except for `TypeError`; errors from the host that
    /// end the operation.
    pub(super) fn decide(&mut self) -> Result<()> {
        self.classify()?;
        if self.options.sharing {
            self.mark_repeated_sharing();
        }
        let undecided: Vec<usize> = (0..self.nodes.len())
            .filter(|number| self.nodes[*number].class == UNDECIDED)
            .collect();
        if undecided.is_empty() {
            return Ok(());
        }
        let outlines: HashSet<QuickKey, RandomState> = undecided
            .iter()
            .map(|number| outline(&self.nodes[*number]))
            .collect();
        // For each hash, one member per class.
        let mut buckets: HashMap<u64, Vec<usize>, RandomState> = HashMap::default();
        let mut seen = vec![false; self.classes as usize];
        for number in 0..self.nodes.len() {
            let node = &self.nodes[number];
            if node.class == UNDECIDED || std::mem::replace(&mut seen[node.class as usize], true) {
                continue;
            }
            if outlines.contains(&outline(node))
                && let Some(hash) = self.hash_of(number)?
            {
                buckets.entry(hash).or_default().push(number);
            }
        }
        for number in undecided {
            self.nodes[number].class = self.find(number, &mut buckets)?;
        }
        Ok(())
    }

    /// The class of a node with a class decided by comparison.
    fn find(
        &mut self,
        number: usize,
        buckets: &mut HashMap<u64, Vec<usize>, RandomState>,
    ) -> Result<u32> {
        let flags = self.nodes[number].summary.flags;
        let alone =
            flags & INCOMPARABLE != 0 || (flags & MUTABLE != 0 && self.options.mutable_by_identity);
        if !alone && let Some(hash) = self.hash_of(number)? {
            let bucket = buckets.entry(hash).or_default();
            let value = Value::from(&self.nodes[number].object);
            for &other in bucket.iter() {
                let other = &self.nodes[other];
                let representative = Value::from(&other.object);
                let renames = self.options.map_free_vars;
                if engine_equal(&representative, &value, renames, &mut self.costs)? {
                    return Ok(other.class);
                }
            }
            bucket.push(number);
        }
        self.classes += 1;
        Ok(self.classes - 1)
    }

    fn hash_of(&mut self, number: usize) -> Result<Option<u64>> {
        let node = &self.nodes[number];
        if node.summary.flags & MUTABLE != 0 && self.options.mutable_by_identity {
            return Ok(None);
        }
        let value = Value::from(&node.object);
        engine_hash(&value, self.options.map_free_vars, &mut self.costs)
    }

    /// Marks every object that contains one of several equal dag nodes: the equality of
    /// another value with the same contents depends on the dag node shared.
    fn mark_repeated_sharing(&mut self) {
        let is_dag = |node: &Node| node.object.type_info().kind() == Kind::Dag;
        let mut counts: HashMap<u32, u32, RandomState> = HashMap::default();
        for node in self.nodes.iter().filter(|node| is_dag(node)) {
            *counts.entry(node.class).or_default() += 1;
        }
        let mut parents: HashMap<u64, Vec<u64>, RandomState> = HashMap::default();
        for &(child, parent) in &self.edges {
            parents.entry(child).or_default().push(parent);
        }
        let mut stack: Vec<u64> = self
            .nodes
            .iter()
            .filter(|node| is_dag(node) && counts[&node.class] > 1)
            .map(|node| node.object.identity())
            .collect();
        while let Some(child) = stack.pop() {
            for parent in parents.remove(&child).unwrap_or_default() {
                let number = match self.table.get(parent) {
                    None | Some(0) => continue,
                    Some(number) => number as usize - 1,
                };
                let Some(node) = self.nodes.get_mut(number) else {
                    continue;
                };
                if node.class != UNDECIDED {
                    node.class = UNDECIDED;
                    node.summary.flags |= IRREGULAR;
                }
                stack.push(parent);
            }
        }
        self.edges = Vec::new();
    }
}

fn outline(node: &Node) -> QuickKey {
    let ty = node.object.type_info().index().0;
    match node.summary.flags & HOOKED {
        0 => (ty, node.summary.size),
        _ => (ty, u64::MAX),
    }
}
