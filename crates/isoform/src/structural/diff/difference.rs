//! The result: changes in groups, a summary, and the patch for the way there and back.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::change::{Change, ChangeKind};
use super::findings::{grouped, occurrences, whole};
use super::flow::Flow;
use super::graphs::PairReason;
use super::maker::{Maker, Trust};
use super::options::DiffOptions;
use super::patch::Patch;
use super::places::Places;
use super::tables::{Tables, can_change};
use super::walk::Walk;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::types::Kind;
use crate::kernel::value::Value;
use crate::structural::CompareOptions;

/// The work done for a difference; the measure of the complexity tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct DiffCosts {
    /// The pairs and parts visited.
    pub visits: u64,
    /// The distinct objects of both sides.
    pub objects: u64,
    /// True if the patch relies on no pairs, because the pairs found did not build the
    /// right value.
    pub is_whole: bool,
}

/// Connected dag nodes of either side that have no partner, or were replaced: a part of
/// a graph that became another part.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Hunk {
    /// The nodes of the left side, operands before users.
    pub left: Vec<Value>,
    /// The nodes of the right side.
    pub right: Vec<Value>,
    /// True if the nodes of one side do the work of the other side's nodes: the same
    /// places use them.
    pub is_enclosed: bool,
    /// Equal for hunks of the same operators, wired alike.
    pub group: u64,
}

/// All differences of two values, made by [`diff`](super::diff).
#[derive(Clone)]
pub struct Difference {
    pub(crate) left: Value,
    pub(crate) right: Value,
    changes: Vec<Change>,
    pub(crate) patch: Patch,
    /// The tables of both values; none if both values are equal.
    tables: Option<[Arc<Tables>; 2]>,
    flow: Option<Arc<Flow>>,
    options: DiffOptions,
    costs: DiffCosts,
    contents: Contents,
    /// True if no pairing of the variables explains the whole difference: one variable
    /// has several partners, or is also used outside of its bindings.
    pub(super) has_unclear_variables: bool,
}

impl Difference {
    /// The difference of two equal values.
    pub(super) fn none(options: &DiffOptions, left: Value, right: Value) -> Self {
        let patch = Patch::default();
        Difference {
            contents: Contents::of_equal(&left, &right),
            left,
            right,
            changes: Vec::new(),
            patch,
            tables: None,
            flow: None,
            options: options.clone(),
            costs: DiffCosts::default(),
            has_unclear_variables: false,
        }
    }

    /// True if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes, in the order in which comparison visits the right value, moves
    /// last. Equal changes are one change, with all of their places.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The value at which the difference starts.
    pub fn left(&self) -> &Value {
        &self.left
    }

    /// The value to which the difference leads.
    pub fn right(&self) -> &Value {
        &self.right
    }

    /// The work that was done.
    pub fn costs(&self) -> DiffCosts {
        self.costs
    }

    /// The patch that builds the right value out of the left one.
    pub fn patch(&self) -> &Patch {
        &self.patch
    }

    /// The tables of the left value; none if both values are equal.
    pub(super) fn base_tables(&self) -> Option<&Arc<Tables>> {
        self.tables.as_ref().map(|[left, _]| left)
    }

    /// Pairs of corresponding dag nodes, by the left node's place in the visit; none if
    /// one side has no dag nodes, or the values are equal.
    pub fn node_pairs(&self) -> impl Iterator<Item = (Value, Value)> {
        let both = self.tables.as_ref().zip(self.flow.as_ref());
        both.into_iter().flat_map(|(tables, flow)| {
            let value = |side: usize, node| Value::from(&tables[side].node(node).object);
            flow.pairs()
                .map(move |(left, right)| (value(0, left), value(1, right)))
        })
    }

    /// Pairs of corresponding dag nodes as in [`node_pairs`](Self::node_pairs), and then
    /// pairs of a node and the node that replaced it, each with the reason for the pair.
    ///
    /// ```
    /// use isoform::compare::diff;
    /// // Integers are no dag nodes.
    /// let difference = diff([1, 2], [1, 3])?;
    /// assert!(difference.node_pairs_with_reasons().next().is_none());
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn node_pairs_with_reasons(&self) -> impl Iterator<Item = (Value, Value, PairReason)> {
        let both = self.tables.as_ref().zip(self.flow.as_ref());
        both.into_iter().flat_map(|(tables, flow)| {
            let value = |side: usize, node| Value::from(&tables[side].node(node).object);
            let replaced = flow.replaced().map(|pair| (pair, PairReason::Replaced));
            let pairs = flow.pairs().zip(flow.reasons()).chain(replaced);
            pairs.map(move |((left, right), reason)| (value(0, left), value(1, right), reason))
        })
    }

    /// The connected parts of a graph of dag nodes that became other parts. O(n log n).
    pub fn hunks(&self) -> Vec<Hunk> {
        let Some((tables, flow)) = self.tables.as_ref().zip(self.flow.as_ref()) else {
            return Vec::new();
        };
        let values = |side: usize, nodes: &[u32]| {
            let numbers = nodes
                .iter()
                .map(|&node| flow.sides[side].nodes[node as usize]);
            numbers
                .map(|number| Value::from(&tables[side].node(number).object))
                .collect()
        };
        let hunks = flow.hunks().into_iter();
        hunks
            .map(|hunk| Hunk {
                left: values(0, &hunk.left),
                right: values(1, &hunk.right),
                is_enclosed: hunk.is_enclosed,
                group: hunk.hash,
            })
            .collect()
    }

    /// Checks a patch after reading: the patch must build `built`, the right value or
    /// its equivalent if parts are ignored.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply), and `ValueError` if reading made other objects than
    /// the objects of the right value: free variables, or objects that are equal to
    /// themselves alone.
    pub(crate) fn check_read(&self, read: &Patch, built: &Value) -> Result<()> {
        let Some([left, _]) = &self.tables else {
            return Ok(());
        };
        let other = read.build(left)?;
        let mismatch = match self.options.compare.explain_mismatch(other, built) {
            // A value that cannot be compared with itself cannot be judged.
            Err(error) if error.kind() == ErrorKind::Type => None,
            mismatch => mismatch?,
        };
        let Some(mismatch) = mismatch else {
            return Ok(());
        };
        let part = mismatch.right.unwrap_or(Value::NONE);
        let is_var = (part.as_object()).is_some_and(|object| object.type_info().kind == Kind::Var);
        Err(Error::value_error(if is_var {
            format!(
                "a patch cannot be written for {part:?}: the variable is free on the right, and \
                 the left value does not have it; bind it in both values, or compare with \
                 map_free_vars"
            )
        } else {
            format!(
                "a patch cannot be written for {part:?} at {}, which no file keeps: {}",
                mismatch.right_path, mismatch.reason
            )
        }))
    }

    /// The number of changes per occurring kind, in the order of the kinds, with every
    /// occurrence counted.
    pub fn counts(&self) -> Vec<(ChangeKind, u64)> {
        let count = |kind: ChangeKind| {
            let of_kind = self.changes.iter().filter(|change| change.kind() == kind);
            of_kind.fold(0u64, |sum, change| sum.saturating_add(change.count()))
        };
        let all = ChangeKind::ALL.into_iter().map(|kind| (kind, count(kind)));
        all.filter(|(_, count)| *count > 0).collect()
    }

    /// One line: the number of changes per kind.
    ///
    /// ```
    /// let difference = isoform::compare::diff([1, 2, 3], [1, 4])?;
    /// assert_eq!(difference.summary(), "1 value, 1 deleted");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn summary(&self) -> String {
        if self.is_empty() {
            return "equal".to_owned();
        }
        let counts = self.counts().into_iter();
        let texts: Vec<_> = counts
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        texts.join(", ")
    }

    /// Builds the right value out of the left one. Unchanged parts are taken over from
    /// `value` and shared with the result, lists and dicts included.
    ///
    /// O(n) for n parts of the value, plus the size of the patch.
    ///
    /// # Errors
    ///
    /// `ValueError` if `value` is not structurally equal to the left value, or if one
    /// of the two values has changed since the difference was made; errors of making
    /// objects from fields.
    ///
    /// ```
    /// use isoform::{Value, structural_equal};
    /// let (left, right) = (Value::from([1, 2]), Value::from([1, 3]));
    /// let difference = isoform::compare::diff(left.clone(), right.clone())?;
    /// assert!(structural_equal(difference.apply(&left)?, right)?);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn apply(&self, value: impl Into<Value>) -> Result<Value> {
        self.applied(&value.into())
    }

    fn applied(&self, value: &Value) -> Result<Value> {
        self.contents.check(&self.left, &self.right)?;
        let is_left = match (value.as_object(), self.left.as_object()) {
            (Some(value), Some(left)) => value.same_as(left),
            _ => false,
        };
        if !is_left {
            self.check(value)?;
        }
        let Some([left, _]) = &self.tables else {
            return Ok(value.clone());
        };
        if is_left {
            return self.patch.build(left);
        }
        let ignored = self.options.ignored()?;
        let tables = Tables::of(value, self.options.compare, &ignored)?;
        // An equal value may share its parts in another way, and then has other
        // numbers.
        if !tables.has_layout_of(left) {
            return self.patch.build(left);
        }
        let built = self.patch.build(&tables)?;
        // A right object that is equal to itself alone, such as the key of a map or a
        // variable bound on the left, is not the object in its place.
        let is_right =
            !self.options.is_exact() || is_right(&built, self.options_for(value)?, &self.right)?;
        if is_right {
            Ok(built)
        } else {
            self.patch.build(left)
        }
    }

    /// The options for comparing the right value with a result built from `value`,
    /// which may have other free variables than the left value.
    fn options_for(&self, value: &Value) -> Result<CompareOptions> {
        let options = self.options.compare;
        Ok(CompareOptions {
            map_free_vars: options.map_free_vars || !options.equal(value, &self.left)?,
            ..options
        })
    }

    fn check(&self, value: &Value) -> Result<()> {
        let options = CompareOptions {
            map_free_vars: true,
            ..self.options.compare
        };
        match options.explain_mismatch(value, &self.left)? {
            None => Ok(()),
            Some(mismatch) => Err(Error::value_error(format!(
                "the difference applies to a value that is structurally equal to its left \
                 one, and this one differs at {}: {}",
                mismatch.left_path, mismatch.reason
            ))),
        }
    }

    /// The difference of the values at the time when it was made. If one of the values
    /// has changed since, this is the difference of copies, at the cost of another
    /// difference and O(n) for the copies.
    ///
    /// # Errors
    ///
    /// As [`diff`](super::diff); `ValueError` if one of two equal values has changed since.
    pub(crate) fn as_made(&self) -> Result<Cow<'_, Difference>> {
        let Err(error) = self.contents.check(&self.left, &self.right) else {
            return Ok(Cow::Borrowed(self));
        };
        let Some([left, right]) = &self.tables else {
            return Err(error);
        };
        let values = [left, right].map(|tables| Patch::value_when_read(tables));
        let [left, right] = values;
        self.options.diff(left?, right?).map(Cow::Owned)
    }

    /// The way back: from the right value to the left one, at the time when the
    /// difference was made.
    ///
    /// # Errors
    ///
    /// As [`diff`](super::diff), which makes the patch of the way back.
    pub fn invert(&self) -> Result<Difference> {
        if let Cow::Owned(made) = self.as_made()? {
            return made.invert();
        }
        let back = DiffOptions {
            ignore: Vec::new(),
            ..self.options.clone()
        };
        let mut back = back.diff(self.right.clone(), self.left.clone())?;
        back.changes = self.changes.iter().map(Change::inverted).collect();
        back.options = self.options.clone();
        Ok(back)
    }
}

impl fmt::Display for Difference {
    /// The summary and a line per change, up to a hundred.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 100;
        write!(f, "{}", self.summary())?;
        for change in self.changes.iter().take(SHOWN) {
            write!(f, "\n{change}")?;
        }
        match self.changes.len().checked_sub(SHOWN) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, "\n... and {more} more"),
        }
    }
}

impl fmt::Debug for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Difference: {}>", self.summary())
    }
}

/// Makes the result from the findings of a walk.
pub(super) fn finish(
    options: &DiffOptions,
    left: Value,
    right: Value,
    mut walk: Walk<'_>,
) -> Result<Difference> {
    let occurrences = occurrences(&walk);
    let mut costs = DiffCosts {
        visits: walk.visits,
        objects: (walk.left.nodes.len() + walk.right.nodes.len()) as u64,
        is_whole: false,
    };
    let tables = walk.places.sides.clone();
    let places = std::mem::replace(&mut walk.places, Places::new(tables.clone()));
    let flow = walk.flow.take().map(Arc::new);
    let mut findings = std::mem::take(&mut walk.findings);
    if findings.is_empty() && options.is_exact() {
        findings.push(whole(&left, &right));
    }
    let changes = grouped(findings, &occurrences, Arc::new(places));
    let mut kept = Vec::with_capacity(changes.len());
    for change in changes {
        let mut is_ignored = false;
        for ignore in &options.ignore {
            is_ignored = is_ignored || ignore(&change)?;
        }
        if !is_ignored {
            kept.push(change);
        }
    }
    let mut patch = None;
    let mut has_unclear_variables = walk.bindings.epoch > 0;
    // Patches that rely on fewer pairs are tried in turn: a variable bound in one place
    // and free in another must keep its identity at the free use.
    for trust in [Trust::All, Trust::Objects, Trust::Nothing] {
        costs.is_whole = trust == Trust::Nothing;
        has_unclear_variables |= trust != Trust::All;
        let candidate = Maker::new(&walk, trust).make();
        if !options.is_exact() || builds(&candidate, &tables[0], options, &right)? {
            patch = Some(candidate);
            break;
        }
    }
    let patch = patch.unwrap_or_else(|| Patch::whole(&right));
    Ok(Difference {
        contents: Contents::of([&left, &right], &tables),
        left,
        right,
        changes: kept,
        patch,
        tables: Some(tables),
        flow,
        options: options.clone(),
        costs,
        has_unclear_variables,
    })
}

/// True if a patch makes the right value of the left one.
///
/// # Errors
///
/// Errors of custom comparisons.
fn builds(patch: &Patch, left: &Tables, options: &DiffOptions, right: &Value) -> Result<bool> {
    let Ok(built) = patch.build(left) else {
        return Ok(false);
    };
    is_right(&built, options.compare, right)
}

/// True if the built value is the right value.
///
/// # Errors
///
/// Errors of custom comparisons.
fn is_right(built: &Value, options: CompareOptions, right: &Value) -> Result<bool> {
    match options.equal(built, right) {
        // A value that cannot be compared with itself cannot be judged.
        Err(error) if error.kind() == ErrorKind::Type => Ok(true),
        equal => equal,
    }
}

/// The contents of both values when a difference was made. The difference keeps the
/// values, but lists, dicts and mutable objects inside may change.
///
/// Hashes of both values; None for a value that cannot change, or has no hash.
#[derive(Clone, Copy)]
struct Contents([Option<u64>; 2]);

impl Contents {
    /// The contents of values with these tables. Linear if any object inside can
    /// change.
    fn of(values: [&Value; 2], tables: &[impl AsRef<Tables>; 2]) -> Self {
        let changes = |tables: &Tables| {
            let mut nodes = tables.nodes.iter();
            nodes.any(|node| can_change(node.object.type_info()))
        };
        let hash = |side: usize| {
            if changes(tables[side].as_ref()) {
                hash_of(values[side])
            } else {
                None
            }
        };
        Contents([hash(0), hash(1)])
    }

    /// The contents of two equal values. Linear, O(1) for one object.
    fn of_equal(left: &Value, right: &Value) -> Self {
        if left == right {
            // The value stays equal to itself.
            Contents([None, None])
        } else {
            Contents([hash_of(left), hash_of(right)])
        }
    }

    /// Fails if one of the values has changed since.
    ///
    /// # Errors
    ///
    /// `ValueError`.
    fn check(self, left: &Value, right: &Value) -> Result<()> {
        let sides = [("left", left, self.0[0]), ("right", right, self.0[1])];
        for (side, value, hash) in sides {
            if hash.is_some() && hash_of(value) != hash {
                return Err(Error::value_error(format!(
                    "the {side} value has changed since the difference was made, so it does not \
                     describe the values any more: compare them again, or compare deep copies"
                )));
            }
        }
        Ok(())
    }
}

/// The hash of all contents that can change; the elements of tensors cannot.
fn hash_of(value: &Value) -> Option<u64> {
    let options = CompareOptions {
        skip_tensor_content: true,
        ..CompareOptions::default()
    };
    options.hash(value).ok()
}
