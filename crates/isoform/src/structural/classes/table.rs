//! The table of classes.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::comparison::{engine_equal, engine_hash};
use super::summary::{HOOKED, IRREGULAR, Node, Walked};
use super::walk::Walk;
use crate::kernel::error::Result;
use crate::kernel::object::access;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::pages::Pages;
use crate::kernel::rows::Rows;
use crate::kernel::types::Kind;
use crate::kernel::value::Value;

/// The number of a class, below [`SubtermClasses::len`]; classes are numbered in the
/// order in which their first members are finished, parts before wholes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Class(pub(super) u32);

impl Class {
    /// The number.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// The class of every subterm of one or more values.
///
/// Two subterms have the same class if and only if they are structurally equal as
/// separate values, with the stated [options](ClassOptions); the table describes the
/// moment of its creation. The objects visited by comparison are subterms, and keys of
/// maps are, too; plain values are not. A subterm that cannot be compared is alone in
/// its class.
///
/// Summaries are 64-bit hashes that differ from process to process: two different
/// subterms share a hash with a probability of about n²/2⁶⁵ for n subterms.
/// [`confirm`](Self::confirm) rules that out; call it before you rewrite any value.
pub struct SubtermClasses {
    options: ClassOptions,
    pub(super) nodes: Vec<Node>,
    table: Pages<u32, 16>,
    /// The numbers of the nodes of each class, in order.
    members: Rows,
    costs: ClassCosts,
    // The identity numbers in `table` belong to live objects.
    pub(super) roots: Vec<Value>,
}

/// Returns the class of every subterm of a value.
///
/// Compiler passes use the classes to share equal computations, to find clones or to
/// number values. For n visited objects with few free variables at a time, the function
/// takes O(n) time and memory. With many free variables, maps are updated at most n
/// log2 n times, at O(log n) per update. A subterm with m variables that occurs k times
/// adds k m updates, where a variable counts as one, independent of its fields. Closed
/// subterms cost no more than in a hash. [`ClassCosts`] counts all of these.
///
/// The classes describe the current value: make them again after a write to a list,
/// dict or mutable object inside, or let [`ClassOptions`] take such objects as equal to
/// themselves alone.
///
/// Source: K. Maziarz, T. Ellis, A. Lawrence, A. Fitzgibbon and S. Peyton Jones,
/// "Hashing modulo alpha-equivalence", PLDI 2021.
///
/// # Errors
///
/// `ValueError` with the path for a value that contains itself; any error of a custom
/// comparison, except for `TypeError`.
///
/// ```
/// use isoform::compare::subterm_classes;
/// use isoform::{Array, Value};
///
/// let pair = || Value::from(Array::from(vec![1i64, 2]));
/// let (left, right) = (pair(), pair());
/// let classes = subterm_classes(vec![left.clone(), right.clone()])?;
/// assert_eq!(classes.class_of(&left), classes.class_of(&right));
/// assert_eq!(classes.len(), 2);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn subterm_classes(value: impl Into<Value>) -> Result<SubtermClasses> {
    ClassOptions::default().classes(value)
}

impl ClassOptions {
    /// [`subterm_classes`] with these options.
    ///
    /// # Errors
    ///
    /// As [`subterm_classes`].
    pub fn classes(self, value: impl Into<Value>) -> Result<SubtermClasses> {
        self.classes_of_all(&[value.into()])
    }

    /// The classes of every subterm of several values, in one table.
    ///
    /// # Errors
    ///
    /// As [`subterm_classes`].
    pub fn classes_of_all(self, values: &[Value]) -> Result<SubtermClasses> {
        let mut walked = access::traversing(|section| {
            let mut walk = Walk::new(self);
            let mut outcome = Ok(());
            for value in values {
                outcome = outcome.and_then(|()| walk.value(section, value));
            }
            // The results leave the section, because dropping results may run foreign
            // code.
            (outcome, walk.finish())
        });
        walked.0?;
        walked.1.decide()?;
        Ok(SubtermClasses::new(walked.1, values.to_vec()))
    }
}

impl SubtermClasses {
    pub(super) fn new(walked: Walked, roots: Vec<Value>) -> Self {
        let mut made = SubtermClasses {
            options: walked.options,
            nodes: walked.nodes,
            table: walked.table,
            members: Rows::new(0, std::iter::empty()),
            costs: walked.costs,
            roots,
        };
        made.renumber();
        made
    }

    /// Numbers classes by their first members, and lists the members of every class.
    pub(super) fn renumber(&mut self) {
        const UNKNOWN: u32 = u32::MAX;
        let last = self.nodes.iter().map(|node| node.class).max();
        let mut numbers = vec![UNKNOWN; last.map_or(0, |last| last as usize + 1)];
        let mut count = 0;
        for node in &mut self.nodes {
            let number = &mut numbers[node.class as usize];
            if *number == UNKNOWN {
                *number = count;
                count += 1;
            }
            node.class = *number;
        }
        let members = (0..)
            .zip(&self.nodes)
            .map(|(number, node)| (node.class, number));
        self.members = Rows::new(count as usize, members);
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.members.list_count()
    }

    /// True if no value contains an object.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The class of a subterm; None for a value that is not an object, or not part of
    /// the values from which the table was made. O(1).
    pub fn class_of(&self, value: impl Into<Value>) -> Option<Class> {
        self.class_of_object(value.into().as_object()?)
    }

    /// [`class_of`](Self::class_of) for an object.
    pub fn class_of_object(&self, object: &Ref<Obj>) -> Option<Class> {
        let number = self.number_of(object.identity())?;
        Some(Class(self.nodes[number].class))
    }

    pub(super) fn number_of(&self, ident: u64) -> Option<usize> {
        let number = self.table.peek(ident)?.checked_sub(1)? as usize;
        (number < self.nodes.len()).then_some(number)
    }

    /// The class with a number; None unless the number is below [`len`](Self::len).
    pub fn class(&self, number: usize) -> Option<Class> {
        (number < self.len()).then_some(Class(number as u32))
    }

    /// All classes, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Class> + use<> {
        (0..self.len() as u32).map(Class)
    }

    /// The members of a class, in the order in which they were finished. An object
    /// counts once, however often it occurs.
    ///
    /// # Panics
    ///
    /// If the class belongs to a larger table.
    pub fn members(&self, class: Class) -> impl ExactSizeIterator<Item = &Ref<Obj>> {
        self.numbers(class)
            .iter()
            .map(|&number| &self.nodes[number as usize].object)
    }

    pub(super) fn numbers(&self, class: Class) -> &[u32] {
        self.members.of(class.0)
    }

    /// The number of nodes in a member, itself included and every occurrence counted;
    /// `u64::MAX` if there are more. Containers, strings, tensors and the fields of a
    /// variable do not count; an object with a custom comparison, such as a module,
    /// counts as one node with all objects inside.
    ///
    /// # Panics
    ///
    /// If the class belongs to a larger table.
    pub fn size(&self, class: Class) -> u64 {
        let first = self.numbers(class).first();
        first.map_or(0, |&number| self.nodes[number as usize].summary.size)
    }

    /// The number of members that are nodes, other than variables.
    pub(super) fn node_count(&self, class: Class) -> u64 {
        let is_node = |&&number: &&u32| {
            let info = self.nodes[number as usize].object.type_info();
            !info.is_builtin() && info.kind() != Kind::Var
        };
        self.numbers(class).iter().filter(is_node).count() as u64
    }

    /// True if the class was found by comparison rather than by summaries: the members
    /// contain an object whose equality depends on more than the parts.
    ///
    /// Such a class respects the sharing of dag nodes, independent of the options. The
    /// class has a single member if a mutable object is inside and contents are not
    /// compared.
    ///
    /// # Panics
    ///
    /// If the class belongs to a larger table.
    pub fn is_decided_by_comparison(&self, class: Class) -> bool {
        let mut numbers = self.numbers(class).iter();
        numbers.any(|&number| self.nodes[number as usize].summary.flags & (IRREGULAR | HOOKED) != 0)
    }

    /// The options used to make the table.
    pub fn options(&self) -> ClassOptions {
        self.options
    }

    /// The values from which the table was made.
    pub fn roots(&self) -> &[Value] {
        &self.roots
    }

    /// The work done to this point.
    pub fn costs(&self) -> ClassCosts {
        self.costs
    }

    /// Compares every member with the first member of its class, and moves differing
    /// members to new classes. Returns the number of members moved.
    ///
    /// Without [`sharing`](ClassOptions::sharing), members that share dag nodes in
    /// different ways are separated, too. Linear in the sizes of all members that are
    /// not alone: n times the depth at most.
    ///
    /// # Errors
    ///
    /// As [`subterm_classes`].
    pub fn confirm(&mut self) -> Result<usize> {
        let classes: Vec<Class> = self.iter().collect();
        let moved = self.confirm_some(&classes)?;
        if moved > 0 {
            self.renumber();
        }
        Ok(moved)
    }

    /// Splits some classes by comparison; the caller renumbers.
    pub(super) fn confirm_some(&mut self, classes: &[Class]) -> Result<usize> {
        let mut next = self.len() as u32;
        let mut moved = 0;
        for &class in classes {
            let numbers = self.numbers(class).to_vec();
            let Some((&first, others)) = numbers.split_first() else {
                continue;
            };
            // For each hash, the first members of the new classes.
            let mut firsts: HashMap<u64, Vec<u32>, RandomState> = HashMap::default();
            for &number in others {
                if self.are_equal(first, number)? {
                    continue;
                }
                moved += 1;
                let value = Value::from(&self.nodes[number as usize].object);
                let hash = engine_hash(&value, self.options.map_free_vars, &mut self.costs)?;
                let bucket = firsts.entry(hash.unwrap_or_default()).or_default();
                let mut equal_class = None;
                for &other in bucket.iter() {
                    if self.are_equal(other, number)? {
                        equal_class = Some(self.nodes[other as usize].class);
                        break;
                    }
                }
                if equal_class.is_none() {
                    bucket.push(number);
                    next += 1;
                }
                self.nodes[number as usize].class = equal_class.unwrap_or(next - 1);
            }
        }
        Ok(moved)
    }

    fn are_equal(&mut self, one: u32, other: u32) -> Result<bool> {
        let [one, other] =
            [one, other].map(|number| Value::from(&self.nodes[number as usize].object));
        engine_equal(&one, &other, self.options.map_free_vars, &mut self.costs)
    }
}

impl std::fmt::Debug for SubtermClasses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SubtermClasses")
            .field("subterms", &self.nodes.len())
            .field("classes", &self.len())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The options for membership of subterms in a class.
///
/// The methods are the functions of this module with these options.
///
/// ```
/// use isoform::compare::ClassOptions;
///
/// let options = ClassOptions { map_free_vars: true, ..ClassOptions::default() };
/// assert_eq!(options.classes([[1, 2], [1, 2]])?.len(), 2);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ClassOptions {
    /// Free variables of a subterm are equal up to renaming, as in
    /// [`CompareOptions::map_free_vars`](super::super::CompareOptions::map_free_vars):
    /// for finding clones. Otherwise they match by identity: for sharing computations.
    pub map_free_vars: bool,
    /// Dag nodes are equal only if they are shared in the same way, exactly as in
    /// comparison. Otherwise they are compared by contents, like trees.
    ///
    /// Two kinds of subterms are then hashed and compared as a whole, which is
    /// quadratic in the depth of such nesting. A subterm of the first kind contains one
    /// of several equal dag nodes. A subterm of the second kind contains a dag node
    /// and, around the node, the binding of a variable used in the node.
    pub sharing: bool,
    /// Lists, dicts and objects with mutable fields are only equal to themselves, which
    /// keeps a class right after later writes. Otherwise they are equal if their
    /// contents are equal at this moment.
    pub mutable_by_identity: bool,
}

/// The work done for a table of classes; the measure of the complexity tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassCosts {
    /// The objects visited, counted once per kind of region.
    pub visits: u64,
    /// The entries made or changed in maps from variables to positions. At most n log2
    /// n for n visits, if no subterm with many variables occurs several times; a
    /// variable counts as one entry, independent of its fields.
    pub map_updates: u64,
    /// The entries and nodes of maps copied because several subterms have them: at most
    /// eight for each visit, and the logarithm of the number of variables for each
    /// update.
    pub map_copies: u64,
    /// The calls of hash and comparison, for subterms that only these calls can decide.
    pub comparisons: u64,
    /// The objects visited by these calls.
    pub compared: u64,
}
