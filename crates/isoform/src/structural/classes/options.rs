//! The options of subterm classes, and their costs.

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
