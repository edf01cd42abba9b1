//! The classes of subterms that only comparison can tell apart.
//!
//! Few programs have such subterms: custom comparisons among variables, maps with bound
//! keys, variables that outlive another variable mentioned by their type, and, with
//! exact sharing, equal dag nodes. The hash of the whole subterm finds candidates, and
//! comparison decides; the costs are counted.
//!
//! An object with a custom comparison is *ground* if it mentions no object bound elsewhere.
//! If such an object equals another object in one place, they are equal in every place.
//! Other hashes therefore represent the object by the number of its class, and
//! comparison runs once per object.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::super::last_visit_count;
use super::summary::{HOOKED, INCOMPARABLE, IRREGULAR, MUTABLE, Node, UNDECIDED, Walked};
use super::table::ClassCosts;
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::class::Payload;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::types::Kind;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;
use crate::structural::CompareOptions;
use crate::traverse::cursor::{Cursor, Part, View};

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

/// The objects known to be ground, and the classes of objects with custom comparisons.
#[derive(Default)]
pub(super) struct Ground {
    known: HashSet<u64, RandomState>,
    buckets: HashMap<u64, Vec<u32>, RandomState>,
    representatives: Vec<Ref<Obj>>,
}

impl Ground {
    /// True if no variable, dag node or callable is reachable through any field, and no
    /// mutable object either unless contents are compared.
    pub(super) fn contains(
        &mut self,
        section: &Section,
        object: ObjRef<'_>,
        mutable_by_identity: bool,
    ) -> bool {
        let depends = |reached: ObjRef<'_>| {
            let info = reached.info();
            let by_context = match info.class() {
                Payload::Incomparable => true,
                Payload::Plain | Payload::Node => matches!(info.kind, Kind::Var | Kind::Dag),
                _ => false,
            };
            by_context || mutable_by_identity && can_change(reached)
        };
        let mut seen = HashSet::default();
        let depends_on_context = search(section, object, &mut seen, &self.known, depends);
        if !depends_on_context {
            self.known.extend(seen);
        }
        !depends_on_context
    }

    /// True if a mutable object is reachable.
    pub(super) fn has_mutable(&self, section: &Section, object: ObjRef<'_>) -> bool {
        let mut seen = HashSet::default();
        search(section, object, &mut seen, &self.known, can_change)
    }

    /// The number of the class of a ground object; None if the object cannot be
    /// compared.
    ///
    /// # Errors
    ///
    /// Errors of custom comparisons, except for `TypeError`.
    pub(super) fn class(
        &mut self,
        section: &mut Section,
        object: ObjRef<'_>,
        costs: &mut ClassCosts,
    ) -> Result<Option<u32>> {
        access::outside(section, || {
            let value = Value::from(object.to_ref());
            let Some(hash) = engine_hash(&value, false, costs)? else {
                return Ok(None);
            };
            let bucket = self.buckets.entry(hash).or_default();
            for &class in bucket.iter() {
                let other = &self.representatives[class as usize];
                if engine_equal(&Value::from(other), &value, false, costs)? {
                    return Ok(Some(class));
                }
            }
            let class = self.representatives.len() as u32;
            bucket.push(class);
            self.representatives.push(object.to_ref());
            Ok(Some(class))
        })
    }
}

/// True if the contents of an object may change.
fn can_change(object: ObjRef<'_>) -> bool {
    let info = object.info();
    info.class() == Payload::Mutable || info.may_change()
}

/// True if an object with this property is reachable. The search skips objects known to
/// have no such object below.
fn search<'a>(
    section: &Section,
    root: ObjRef<'a>,
    seen: &mut HashSet<u64, RandomState>,
    excluded: &HashSet<u64, RandomState>,
    wanted: impl Fn(ObjRef<'a>) -> bool,
) -> bool {
    let mut stack = vec![root];
    while let Some(object) = stack.pop() {
        if excluded.contains(&object.ident()) || !seen.insert(object.ident()) {
            continue;
        }
        if wanted(object) {
            return true;
        }
        let part = Part::object(object, RegionKind::Use);
        let Some(mut cursor) = Cursor::open(section, object, part, View::Declared) else {
            continue;
        };
        while let Some(part) = cursor.next(section) {
            if let PartRef::Object(below) = part.met {
                stack.push(below);
            }
        }
    }
    false
}

/// The structural hash of a value; None if the value cannot be compared.
///
/// # Errors
///
/// Errors of custom hashes, except for `TypeError`; `ValueError` for a cycle; errors
/// from the host that end the operation.
pub(super) fn engine_hash(
    value: &Value,
    map_free_vars: bool,
    costs: &mut ClassCosts,
) -> Result<Option<u64>> {
    let hash = options(map_free_vars).hash(value);
    count(costs)?;
    match hash {
        Ok(hash) => Ok(Some(hash)),
        Err(error) if error.kind() == ErrorKind::Type => Ok(None),
        Err(error) => Err(error),
    }
}

/// True if two values are structurally equal; false if they cannot be compared.
///
/// # Errors
///
/// Errors of custom comparisons, except for `TypeError`; `ValueError` for a cycle;
/// errors from the host that end the operation.
pub(super) fn engine_equal(
    left: &Value,
    right: &Value,
    map_free_vars: bool,
    costs: &mut ClassCosts,
) -> Result<bool> {
    let equal = options(map_free_vars).equal(left, right);
    count(costs)?;
    match equal {
        Err(error) if error.kind() == ErrorKind::Type => Ok(false),
        equal => equal,
    }
}

/// The objects visited between two checks with the host. A call with more visits checks
/// by itself.
const BETWEEN_CHECKS: u64 = 1 << 14;

/// Counts the last call, and checks with the host now and then.
fn count(costs: &mut ClassCosts) -> Result<()> {
    let work = |costs: &ClassCosts| (costs.comparisons + costs.compared) / BETWEEN_CHECKS;
    let before = work(costs);
    costs.comparisons += 1;
    costs.compared += last_visit_count();
    if work(costs) == before {
        Ok(())
    } else {
        Poll::now()
    }
}

fn options(map_free_vars: bool) -> CompareOptions {
    CompareOptions {
        map_free_vars,
        ..CompareOptions::default()
    }
}
