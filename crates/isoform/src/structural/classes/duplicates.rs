//! Repeated subterms of one or more values.

use hashbrown::HashSet;
use rapidhash::fast::RandomState;

use super::dominators::Dominators;
use super::table::{Class, ClassOptions, SubtermClasses};
use super::walk::Walk;
use crate::kernel::error::Result;
use crate::kernel::object::access;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::attributes::{self, Lookup};
use crate::kernel::types::role_attributes::PROJECTION;
use crate::kernel::value::Value;

/// A group of structurally equal subterms.
#[derive(Clone, Debug)]
pub struct Duplicate {
    /// The objects in the order in which they are finished, with the number of the
    /// first value that contains the object.
    pub members: Vec<(usize, Ref<Obj>)>,
    /// The number of nodes in a member, counting every occurrence, as in
    /// [`SubtermClasses::size`].
    pub size: u64,
    /// The number of nodes saved if a single object replaces all members. Parts already
    /// shared by the members, or also occurring elsewhere, do not count.
    pub saved: u64,
}

/// Returns the subterms that occur several times in values, up to renaming of free
/// variables. The groups are confirmed by comparison, and sorted by the number of nodes
/// saved, highest first.
///
/// Every group has at least `min_count` members (two, if less) of at least `min_size`
/// nodes (two, if less). Groups are maximal: a group is left out if all occurrences of
/// its members are inside members of another group. Objects that select a result of a
/// node, by [`PROJECTION`](crate::traverse::PROJECTION), are in no group: the node counts.
///
/// Takes a table of [classes](super::subterm_classes), O(n log n) for n subterms, and
/// time linear in the sizes of all members of the result.
///
/// # Errors
///
/// As [`subterm_classes`](super::subterm_classes).
///
/// ```
/// use isoform::compare::duplicates;
/// use isoform::{Node, Value};
///
/// /// A product.
/// #[derive(Node)]
/// #[node(key = "doc.duplicates.Mul")]
/// #[repr(C)]
/// pub struct Mul {
///     /// The left operand.
///     pub lhs: Value,
///     /// The right operand.
///     pub rhs: Value,
/// }
///
/// let cube = |x: i64| Mul::new(x, Mul::new(x, x));
/// let programs = [Value::from(cube(2)), Value::from(vec![cube(3), cube(2)])];
/// let groups = duplicates(&programs, 2, 2)?;
/// assert_eq!(groups.len(), 1);
/// assert_eq!((groups[0].size, groups[0].saved), (2, 2));
/// assert_eq!(groups[0].members[1].0, 1);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn duplicates(values: &[Value], min_size: u64, min_count: usize) -> Result<Vec<Duplicate>> {
    let options = ClassOptions {
        map_free_vars: true,
        ..ClassOptions::default()
    };
    options.duplicates(values, min_size, min_count)
}

impl ClassOptions {
    /// [`duplicates`] with these options.
    ///
    /// # Errors
    ///
    /// As [`subterm_classes`](super::subterm_classes).
    pub fn duplicates(
        self,
        values: &[Value],
        min_size: u64,
        min_count: usize,
    ) -> Result<Vec<Duplicate>> {
        let (outcome, mut walked, ends) = access::traversing(|section| {
            let mut walk = Walk::new(self).with_edges();
            let mut ends = Vec::new();
            let mut outcome = Ok(());
            for value in values {
                outcome = outcome.and_then(|()| walk.value(section, value));
                ends.push(walk.nodes.len());
            }
            (outcome, walk.finish(), ends)
        });
        outcome?;
        let edges = walked.edges.clone();
        walked.decide()?;
        let mut classes = SubtermClasses::new(walked, values.to_vec());
        let (min_size, min_count) = (min_size.max(2), min_count.max(2));
        loop {
            let groups = maximal(&classes, &edges, min_size, min_count);
            // Rewriting on a hash alone would be wrong one day.
            let candidates: Vec<Class> = groups.iter().map(|(class, _)| *class).collect();
            if classes.confirm_some(&candidates)? > 0 {
                classes.renumber();
                continue;
            }
            let mut duplicates: Vec<Duplicate> = groups
                .into_iter()
                .map(|(class, saved)| group(&classes, class, saved, &ends))
                .collect();
            // Stable: groups with equal savings stay in the order of classes.
            duplicates.sort_by_key(|group| std::cmp::Reverse((group.saved, group.size)));
            return Ok(duplicates);
        }
    }
}

fn group(classes: &SubtermClasses, class: Class, saved: u64, ends: &[usize]) -> Duplicate {
    let numbers = classes.numbers(class).iter();
    let members = numbers.map(|&number| {
        let value = ends.partition_point(|end| *end <= number as usize);
        (value, classes.nodes[number as usize].object.clone())
    });
    Duplicate {
        members: members.collect(),
        size: classes.size(class),
        saved,
    }
}

/// True for the results of nodes. One node has several results, and may have an object for
/// each use of a result, so their number says nothing about the number of nodes.
fn selects_a_result(classes: &SubtermClasses, class: Class) -> bool {
    let first = classes.numbers(class).first();
    first.is_some_and(|&number| {
        let ty = classes.nodes[number as usize].object.type_index();
        attributes::get(ty, PROJECTION, Lookup::Nearest).is_some()
    })
}

/// The classes that are large and frequent enough, with the number of nodes saved by
/// the class. A class is left out if all its occurrences are inside another class of
/// the result.
fn maximal(
    classes: &SubtermClasses,
    edges: &[(u64, u64)],
    min_size: u64,
    min_count: usize,
) -> Vec<(Class, u64)> {
    let is_group = |class: &Class| {
        classes.numbers(*class).len() >= min_count
            && classes.size(*class) >= min_size
            && !selects_a_result(classes, *class)
    };
    let groups: Vec<Class> = classes.iter().filter(is_group).collect();
    if groups.is_empty() {
        return Vec::new();
    }
    // A class leads to the classes of its members' parts, and the root to all top-level
    // objects.
    let root = classes.len() as u32;
    let mut arrows = Vec::new();
    let mut is_inside = vec![false; classes.nodes.len()];
    let class_of = |number: usize| classes.nodes[number].class;
    for &(child, parent) in edges {
        let (child, parent) = (classes.number_of(child), classes.number_of(parent));
        if let (Some(child), Some(parent)) = (child, parent) {
            is_inside[child] = true;
            arrows.push((class_of(parent), class_of(child)));
        }
    }
    let roots = classes
        .roots
        .iter()
        .filter_map(Value::as_object)
        .filter_map(|object| classes.number_of(object.identity()));
    arrows.extend(roots.map(|number| (root, class_of(number))));
    let alone = (0..classes.nodes.len()).filter(|number| !is_inside[*number]);
    arrows.extend(alone.map(|number| (root, class_of(number))));
    arrows.sort_unstable();
    arrows.dedup();
    let dominators = Dominators::new(classes.len() + 1, root, &arrows);
    let chosen: HashSet<u32, RandomState> = groups.iter().map(|class| class.0).collect();
    // True for classes that only occur inside a group.
    let mut covered = vec![false; classes.len() + 1];
    for &vertex in dominators.order.iter().skip(1) {
        let above = dominators.of(vertex);
        covered[vertex as usize] = covered[above as usize] || chosen.contains(&above);
    }
    // Per class, the objects and the classes that only occur inside the class, itself
    // included.
    let mut inside = vec![(0u64, 0u64); classes.len() + 1];
    for &vertex in dominators.order.iter().skip(1).rev() {
        let own = classes.node_count(Class(vertex));
        let (objects, kinds) = &mut inside[vertex as usize];
        *objects += own;
        *kinds += u64::from(own > 0);
        let below = inside[vertex as usize];
        let above = &mut inside[dominators.of(vertex) as usize];
        *above = (above.0 + below.0, above.1 + below.1);
    }
    let saved = |class: Class| {
        let (objects, kinds) = inside[class.number()];
        let copies = classes.numbers(class).len() as u64;
        (class, objects - kinds.max(objects / copies))
    };
    let is_maximal = |class: &Class| !covered[class.number()];
    groups.into_iter().filter(is_maximal).map(saved).collect()
}
